# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts that run other tests and add up how they went: source it at the top of the tree.
#
#	section TITLE
#	suite COMMAND...	a command whose last such line is "N passed, N failed"
#	one WHAT COMMAND...	a command that is one test by itself
#	summed			"N passed, N failed" of all that; false when anything failed
#
# What the last command printed is in $out/log.

passed=0 failed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

section() { printf '\n== %s\n' "$*"; }

count() {
	passed=$((passed + $1)) failed=$((failed + $2))
}

# One that does not get to its last line has failed once.
suite() {
	section "$*"
	"$@" </dev/null 2>&1 | tee "$out/log"
	local status=${PIPESTATUS[0]} line
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$out/log" | tail -n 1)
	if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
		[[ $status -eq 0 || ${BASH_REMATCH[2]} -ne 0 ]] || count 0 1
	else
		echo "No result: exit status $status"
		count 0 1
	fi
}

one() {
	local what=$1
	shift
	if "$@" </dev/null >"$out/log" 2>&1; then
		echo "ok - $what"
		count 1 0
	else
		tail -n 40 "$out/log" | sed 's/^/# /'
		echo "not ok - $what"
		count 0 1
	fi
}

summed() {
	echo
	echo "$passed passed, $failed failed"
	[[ $failed -eq 0 ]]
}
