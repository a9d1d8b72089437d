/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "bundled.h"

char *bundled_or_small(u32 i)
{
	char *file = malloc(128);

	assert_non_null(file);
	snprintf(file, 128, "tests/small/%s.json", bundled_scenarios[i].name);
	if (access(file, R_OK) != 0)
		snprintf(file, 128, "%s", bundled_scenarios[i].name);
	return file;
}
