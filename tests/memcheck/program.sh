#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The program under valgrind: memcheck finds nothing, and it says what it says without.
set -u
. tests/tap.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A command line of folioscope.
memcheck() {
	local status with
	"$FOLIOSCOPE" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	tests/memcheck/under.sh "$FOLIOSCOPE" "$@" >"$dir/out.memcheck" 2>"$dir/err.memcheck" </dev/null
	with=$?
	if [[ $with -ne $status ]]; then
		fail "$*" "exit status $with, without memcheck $status"$'\n'"$(cat "$dir/err.memcheck")"
	elif ! cmp -s "$dir/out" "$dir/out.memcheck"; then
		fail "$*" "$(diff "$dir/out" "$dir/out.memcheck")"
	else
		same "$*" "$dir/err" "$dir/err.memcheck"
	fi
}

lanes() {
	"$FOLIOSCOPE" counts "$1" --format json | grep -o '"name": *"[^"]*"' | sed 's/.*"\(.*\)"/\1/'
}

memcheck list
memcheck pte arm64 0x00e80000434c0f43 0
memcheck counts no-such-scenario
for scenario in swapout-64k swapout-partial swapout-refault swapout-lru swapout-fork-dead \
	unmap-64k-misaligned bug-no-flush-before-free case-uffd-wp-shmem tests/data/fails.json; do
	mapfile -t lane < <(lanes "$scenario")
	memcheck run "$scenario"
	memcheck run "$scenario" --format calls --lane "${lane[1]}"
	memcheck counts "$scenario" --under try_to_unmap --format json
	memcheck state "$scenario" --at end
	memcheck check "$scenario"
	memcheck diff "$scenario" "${lane[0]}" "${lane[1]}"
	memcheck screen "$scenario" --at end --size 100x30 --format ansi --color always
done
# A lane that is recorded from the middle on.
memcheck state swapout-256m --at 1000000 --format json
done_testing
