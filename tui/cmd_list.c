/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>

#include "cmd.h"
#include "names.h"

int cmd_list(const struct options *opt)
{
	(void)opt;
	for (u32 i = 0; i < nr_bundled_scenarios; i++) {
		const struct bundled *b = &bundled_scenarios[i];
		struct error err = { .text = "" };
		struct scenario *s = scenario_open(b->name, &err);

		if (!s)
			return complain(STATUS_INTERNAL, "%s", err.text);
		printf("%s\t%s\t%s\n", s->name, level_names[s->level], s->title);
		scenario_free(s);
	}
	return STATUS_OK;
}
