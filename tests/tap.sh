# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For test scripts: source it, report each case, end with `done_testing`.
#
#	check "what must hold" command args...     passes when the command does; shows its output when not
#	same "what" EXPECTED_FILE ACTUAL_FILE      passes when they are equal; shows the difference
#	pass "what"; fail "what" ["detail"]; skip "what" "reason"
#
# run.sh sets O and FOLIOSCOPE and starts scripts at the top of the tree.

: "${O:=build}" "${FOLIOSCOPE:=$O/folioscope}"
tap_nr=0
tap_failed=0

pass() {
	tap_nr=$((tap_nr + 1))
	echo "ok $tap_nr - $1"
}

fail() {
	tap_nr=$((tap_nr + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_nr - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | head -n 40 | sed 's/^/# /'
}

skip() {
	tap_nr=$((tap_nr + 1))
	echo "ok $tap_nr - $1 # SKIP $2"
}

check() {
	tap_what=$1
	shift
	if tap_out=$("$@" 2>&1); then pass "$tap_what"; else fail "$tap_what" "$tap_out"; fi
}

same() {
	check "$1" diff -u "$2" "$3"
}

done_testing() {
	echo "1..$tap_nr"
	[ $tap_failed -eq 0 ]
	exit
}
