#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# embed.sh FILE...: the scenarios as a C table (engine/scenario/scenario.h), in the order given.
set -eu

echo '#include "scenario/scenario.h"'
i=0
for file; do
	echo "static const char scenario_${i}[] = {"
	od -An -v -tu1 "$file" | awk '{ for (i = 1; i <= NF; i++) printf "%d,", $i; print "" }'
	echo "0};"
	i=$((i + 1))
done
echo "const struct bundled bundled_scenarios[] = {"
i=0
for file; do
	name=${file##*/}
	echo "	{ .name = \"${name%.json}\", .bytes = scenario_$i, .len = sizeof(scenario_$i) - 1 },"
	i=$((i + 1))
done
echo "};"
echo "const u32 nr_bundled_scenarios = $i;"
