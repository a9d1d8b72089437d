#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh FUZZER SECONDS: run a libFuzzer executable; TAP for one case. One that has a dictionary
# reads scenarios, and begins with all there are. The others read bytes, each of which decides
# something: few make a plain case, so they begin with many at random.
set -u
cd "$(dirname "$0")/../.." || exit 1
fuzzer=$1 seconds=$2
name=$(basename "$fuzzer" _fuzz)
corpus=$(dirname "$fuzzer")/corpus-$name
mkdir -p "$corpus"
how=(-max_len=512 -len_control=0 "$corpus")
if [[ -f tests/fuzz/$name.dict ]]; then
	how=(-dict="tests/fuzz/$name.dict" "$corpus" scenarios tests/bad)
else
	for i in {1..100}; do head -c 400 /dev/urandom >"$corpus/random-$i"; done
fi
"$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
	-artifact_prefix="$corpus/../" "${how[@]}" >"$corpus.log" 2>&1 </dev/null
status=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log")
if [[ $status -eq 0 && ${runs:-0} -gt 0 ]]; then
	echo "# note: $runs executions in $seconds s"
	echo "ok 1 - fuzz $name"
else
	tail -n 80 "$corpus.log" | sed 's/^/# /'
	echo "not ok 1 - fuzz $name: exit status $status"
	exit 1
fi
