/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bundled.h"

char *bundled_or_small(u32 i)
{
	const char *name = bundled_scenarios[i].name;
	char *file = malloc(128);
	struct machine m;
	struct error err;
	u32 *words = NULL;
	struct scenario *s = scenario_open(name, &err);

	if (!s || !world_build(s, &s->lanes[0], &m, &words, &err))
		fail_msg("%s", err.text);
	snprintf(file, 128, m.s->words > CHECK_EACH_STEP_WORDS ? "tests/small/%s.json" : "%s",
		 name);
	free(words);
	scenario_free(s);
	return file;
}
