#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each file in tests/bad is refused by the program: status 2, no data, and its message, which is
# "FILE:LINE:COLUMN: /POINTER: what was expected".
set -u
. tests/tap.sh

refused() {
	local out status
	out=$("$FOLIOSCOPE" check "$1" 2>&1 >"$O/tests/bad.out")
	status=$?
	[[ $status -eq 2 ]] || { echo "exit status $status"; return 1; }
	[[ ! -s $O/tests/bad.out ]] || { echo "data on standard output"; return 1; }
	[[ $(wc -l <<<"$out") -eq 1 && $out =~ ^tests/bad/[^:]+:[0-9]+:[0-9]+:\ / ]] || {
		echo "$out"
		return 1
	}
}

nr=0
for file in tests/bad/*.json; do
	check "$file is refused" refused "$file"
	nr=$((nr + 1))
done
check "there are at least 60 of them" test $nr -ge 60
done_testing
