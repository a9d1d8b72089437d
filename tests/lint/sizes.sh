#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Files of at most 800 lines, functions of at most 80, lines of at most 100 columns.
set -u
. tests/tap.sh

files=$(find engine tui tests -name '*.[ch]' | sort)
check "there are files to measure" test -n "$files"
# shellcheck disable=SC2086
{
	long=$(wc -l $files | awk '$1 > 800 && $2 != "total"')
	wide=$(for f in $files; do expand "$f" | awk -v f="$f" 'length > 100 { print f ":" FNR ": " length " columns" }'; done)
	functions=$(awk '
		FNR == 1 { start = 0 }
		/^[a-z_].*\)$/ || /^[ \t].*\)$/ { head = $0 }
		/^\{$/ { start = FNR; name = head }
		/^\}$/ && start { if (FNR - start > 81) print FILENAME ":" start ": " FNR - start - 1 " lines: " name; start = 0 }
	' $files)
}
if [[ -z $long ]]; then pass "no file over 800 lines"; else fail "no file over 800 lines" "$long"; fi
if [[ -z $functions ]]; then pass "no function over 80 lines"; else fail "no function over 80 lines" "$functions"; fi
if [[ -z $wide ]]; then pass "no line over 100 columns"; else fail "no line over 100 columns" "$wide"; fi
done_testing
