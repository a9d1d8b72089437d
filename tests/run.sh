#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh SUITE...: run suites, two at a time or as many as there are CPUs, and sum up.
#
# A suite is a program that prints TAP: a unit test, a script or a fuzzer, which runs for
# $FUZZ_SECONDS. Its output is kept in $O/tests/log/. Shown are the cases that fail and lines
# that begin with "# note: "; the last line is "N passed, N failed". A suite that dies, or has
# fewer cases than it planned, has failed that many more. Unit tests run under $UNDER if it is set.
set -u
cd "$(dirname "$0")/.." || exit 1
export O=${O:-build}
export FOLIOSCOPE=${FOLIOSCOPE:-$O/folioscope}
export LC_ALL=C.UTF-8 CMOCKA_MESSAGE_OUTPUT=TAP
unset NO_COLOR COLORTERM
log=$O/tests/log
mkdir -p "$log"

log_of() {
	local name=${1#"$O"/tests/}
	name=${name#tests/}
	echo "$log/${name//\//-}.tap"
}

run_suite() {
	local out
	out=$(log_of "$1")
	case $1 in
	*.sh) set -- bash "$1" ;;
	*_fuzz) set -- tests/fuzz/run.sh "$1" "$FUZZ_SECONDS" ;;
	*) set -- ${UNDER:+"$UNDER"} "$1" ;;
	esac
	timeout -k 10 "${SUITE_SECONDS:-300}" "$@" >"$out" 2>&1 </dev/null
	echo $? >"$out.status"
}

jobs=$(nproc 2>/dev/null || echo 2)
for suite; do
	while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
	run_suite "$suite" &
done
wait

# One line a suite, then what failed; prints "passed failed" at the end.
summarise() {
	awk -v suite="$1" -v status="$2" '
		/^1\.\.[0-9]+/ { planned += substr($1, 4); next }
		/^(not )?ok .*# *[Ss][Kk][Ii][Pp]/ { skipped++; skips = skips "\n  skipped: " $0; next }
		/^ok / { passed++; showing = 0; next }
		/^not ok / { failed++; showing = 1; shown = shown "\n  " $0; next }
		/^# note: / { notes = notes "\n  " substr($0, 9); next }
		/^#/ && showing { shown = shown "\n  " $0; next }
		{ showing = 0; tail = tail "\n  | " $0; if (++lines > 30) sub(/^\n[^\n]*/, "", tail) }
		END {
			missing = planned - passed - failed - skipped
			if (missing > 0) {
				failed += missing
				shown = shown "\n  " missing " of " planned " cases never ran" tail
			} else if (status != 0 && !failed) {
				failed++
				shown = shown "\n  exit status " status tail
			} else if (!passed && !failed && !skipped) {
				failed++
				shown = shown "\n  no cases" tail
			}
			printf "%-44s %5d passed", suite, passed
			if (failed) printf ", %d failed", failed
			if (skipped) printf ", %d skipped", skipped
			print notes skips shown
			print passed + 0, failed + 0
		}' "$3"
}

passed=0 failed=0
for suite; do
	out=$(log_of "$suite")
	text=$(summarise "${suite#"$O"/}" "$(cat "$out.status")" "$out")
	read -r p f <<<"${text##*$'\n'}"
	passed=$((passed + p)) failed=$((failed + f))
	echo "${text%$'\n'*}"
done
echo "$passed passed, $failed failed"
((failed == 0))
