#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No paths of one machine, no notes to ourselves, clean white space.
set -u
. tests/tap.sh

files=$(find . -path ./.git -prune -o -path "./${O#./}" -prune -o -path './build*' -prune -o -type f \
	! -name COPYING ! -path './tests/golden/*' ! -path './tests/screens/*' ! -path './tests/bad/*' \
	! -path './tests/groundtruth/data/*' ! -path ./tests/lint/words.sh -print | sort)
none() {
	local what=$1 found
	shift
	# shellcheck disable=SC2086
	found=$(grep -nIE "$@" $files)
	if [[ -z $found ]]; then pass "$what"; else fail "$what" "$found"; fi
}
none "no paths of one machine" '/(work|root|home)/[a-z]|/tmp/[a-z]*(src|brief|build)'
none "nothing about how it was made" -i '\b(issue #?[0-9]+|language model|assistant|AI|LLM)\b'
none "no open ends" '\b(TODO|FIXME|XXX|HACK)\b'
none "no white space at line ends" '[[:space:]]+$'
crlf=$(printf '\r')
none "no carriage returns" "$crlf\$"
done_testing
