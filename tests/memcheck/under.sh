#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# under.sh COMMAND...: run it under valgrind's memcheck. Exits with 99 if that found anything.
exec valgrind -q --error-exitcode=99 --leak-check=full \
	--suppressions="$(dirname "$0")/suppressions" "$@"
