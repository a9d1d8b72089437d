/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whatever the loader accepts runs: counted, recorded and rewound, all lanes, with the
 * invariants looked at after every step. A stranger's world may break one; it may not
 * crash anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/run.h"

#define SMALL 64u	/* pages, table entries; slots: a cluster or two */

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
	for (u32 i = 0; i < s->nr_ops; i++)
		span += s->ops[i].pages;
	return pages <= SMALL && slots <= 1024 && span <= SMALL && s->nr_ops <= 8 &&
	       s->nr_lanes <= 4 && (u64)s->cpus * s->tlb_entries <= 1024;
}

static void rewind_lane(const struct lane *lane)
{
	struct cursor c;

	if (!cursor_open(&c, lane->trace))
		abort();
	cursor_seek(&c, UINT32_MAX);
	if (memcmp(c.words, lane->words, lane->m.s->words * sizeof(u32)) != 0)
		abort();
	for (u32 i = c.pos; i-- > 0;)
		cursor_seek(&c, i);
	if (memcmp(c.words, trace_start(lane->trace), lane->m.s->words * sizeof(u32)) != 0)
		abort();
	cursor_close(&c);
}

static void run(struct scenario *s)
{
	struct run counted, recorded;
	struct error err;

	if (!run_scenario(&counted, s, RUN_COUNT, true, &err)) {
		if (strchr(err.text, '\n') || !err.text[0])
			abort();
		return;
	}
	if (!run_scenario(&recorded, s, RUN_RECORD, false, &err))
		abort();
	for (u32 i = 0; i < s->nr_lanes; i++) {
		if (memcmp(counted.lanes[i].words, recorded.lanes[i].words,
			   counted.lanes[i].m.s->words * sizeof(u32)) != 0)
			abort();
		rewind_lane(&recorded.lanes[i]);
	}
	run_free(&counted);
	run_free(&recorded);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct error err;
	struct scenario *s = scenario_load("fuzz.json", (const char *)bytes, len, &err);

	if (s && is_small(s))
		run(s);
	scenario_free(s);
	return 0;
}
