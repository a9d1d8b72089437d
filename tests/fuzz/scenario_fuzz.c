/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any bytes are a scenario or one line of what is wrong with them. Conditions of a good
 * one are evaluated in its world, where that can be built and is small.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/expr.h"
#include "scenario/run.h"

#define SMALL (1u << 16)	/* pages, slots: a world that costs little to build */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static bool is_small(const struct scenario *s)
{
	u64 pages = 0, slots = 0, span = 0;

	for (u32 i = 0; i < s->nr_folios; i++)
		pages += (u64)s->folios[i].count << s->folios[i].order;
	for (u32 i = 0; i < s->nr_devices; i++)
		slots += s->devices[i].slots;
	for (u32 i = 0; i < s->nr_vmas; i++)
		span += (s->vmas[i].end - s->vmas[i].start) >> 12;
	return pages <= SMALL && slots <= SMALL && span <= SMALL &&
	       (u64)s->cpus * s->tlb_entries <= SMALL;
}

static void judge_world(const struct scenario *s)
{
	struct error err;
	struct machine m;
	u32 *words = NULL;
	bool built = is_small(s) && world_build(s, &s->lanes[0], &m, &words, &err);

	for (u32 i = 0; built && i < s->nr_expects; i++) {
		const struct expr_env env = { .scenario = s, .state = m.s, .lane = &s->lanes[0] };
		char buf[64];
		s64 value;

		if (!s->expects[i].expr)
			continue;
		expr_eval(s->expects[i].expr, &env, &value, &err);
		expr_explain(s->expects[i].expr, &env, buf, sizeof(buf));
	}
	free(words);
}

/* "file:line:column: ..."; anything else says that the two readers of JSON disagree. */
static bool is_message(const char *text)
{
	u32 line, column;

	return sscanf(text, "fuzz.json:%u:%u: /", &line, &column) == 2 && line && column &&
	       !strchr(text, '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct error err = { .text = "" };
	struct scenario *s = scenario_load("fuzz.json", (const char *)bytes, len, &err);

	if (s)
		judge_world(s);
	else if (!is_message(err.text))
		abort();
	scenario_free(s);
	return 0;
}
