#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# extra.sh "MAKE": what finds misuse of memory and takes minutes: `make check-extra`.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/sum.sh

for target in check-asan check-memory check-valgrind fuzz; do
	# shellcheck disable=SC2086  # a command and its options
	suite $1 $target
done
summed
