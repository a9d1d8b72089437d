#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh FUZZER SECONDS: run a libFuzzer executable on its dictionary and seeds; TAP for one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
fuzzer=$1 seconds=$2
name=$(basename "$fuzzer" _fuzz)
corpus=$(dirname "$fuzzer")/corpus-$name
mkdir -p "$corpus"
dict=tests/fuzz/$name.dict
# shellcheck disable=SC2046  # a list of flags
"$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
	-artifact_prefix="$corpus/../" $([[ -f $dict ]] && echo "-dict=$dict") \
	"$corpus" scenarios tests/bad >"$corpus.log" 2>&1 </dev/null
status=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log")
if [[ $status -eq 0 && ${runs:-0} -gt 0 ]]; then
	echo "ok 1 - fuzz $name: $runs executions in $seconds s"
else
	tail -n 40 "$corpus.log" | sed 's/^/# /'
	echo "not ok 1 - fuzz $name: exit status $status"
	exit 1
fi
