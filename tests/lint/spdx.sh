#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every source file says what its licence is; the licence itself is there.
set -u
. tests/tap.sh

missing=$(find engine tui tests scenarios docs .ci Makefile \
	\( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.[15]' -o -path '.ci/*' -o -name Makefile \) \
	-type f -print | while read -r file; do
	head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only' || echo "$file"
done)
if [[ -z $missing ]]; then pass "SPDX lines"; else fail "SPDX lines" "$missing"; fi
check "COPYING is the GPL, version 2" sh -c \
	"grep -q 'GNU GENERAL PUBLIC LICENSE' COPYING && grep -q 'Version 2, June 1991' COPYING"
done_testing
