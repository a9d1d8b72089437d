/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What unmapping a whole folio costs on arm64: every row of section "folio" in
 * tests/data/op-counts.json, 6.12 and 7.3, made a scenario and run.
 *
 *   N=32 misaligned VA+4 perPTE swap old+dirty
 *   ^    ^               ^      ^    ^
 *   |    |               |      |    state of the PTEs
 *   |    |               |      a swap entry is written, or nothing (lazyfree)
 *   |    |               one PTE a turn, or runs
 *   |    may it be contpte?
 *   pages
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/run.h"
#include "vectors.h"

struct want {
	const char *key;			/* in the JSON row */
	enum counter counter, other;		/* their sum */
};

static const struct want wants[] = {
	{ "reads", COUNT_pte_read, NR_COUNTERS },
	{ "xchg", COUNT_pte_xchg, NR_COUNTERS },
	{ "stores", COUNT_pte_store, NR_COUNTERS },
	{ "cmpxchg", COUNT_pte_cmpxchg, NR_COUNTERS },
	{ "tlbi_single", COUNT_tlbi_page, COUNT_tlbi_asid },
	{ "tlbi_range_ops", COUNT_tlbi_range, NR_COUNTERS },
	{ "dsb_ishst", COUNT_dsb_ishst, NR_COUNTERS },
	{ "dsb_ish", COUNT_dsb_ish, NR_COUNTERS },
};

struct situation {
	u32 pages;
	bool aligned, swap, young, dirty;
	struct kernel kernel;
	u32 features;
};

static bool says(const cJSON *row, const char *word)
{
	return strstr(text_of(row, "case"), word) != NULL;
}

/*
 * Rows that no released kernel is in: lazyfree folios of 7.3 one PTE a turn, as 6.12 has
 * them; swap-out in runs, as in the proposed series.
 */
static struct kernel kernel_of(const cJSON *row)
{
	struct kernel kernel = *kernel_find(text_of(row, "tree"));

	if (says(row, "HYPO BATCH swap"))
		return *kernel_find("7.3+anon-batch");
	if (says(row, "perPTE noswap"))
		kernel.unmap = UNMAP_PTE;
	return kernel;
}

static struct situation situation_of(const cJSON *row)
{
	struct situation s = {
		.aligned = !says(row, "misaligned"),
		.swap = !says(row, "noswap"),
		.young = says(row, "young+"),
		.dirty = says(row, "+dirty"),
		.kernel = kernel_of(row),
		.features = (u32)flag_of(row, "tlbi_range", 0) << FEATURE_tlbi_range |
			    (u32)flag_of(row, "bbml3", 0) << FEATURE_bbml3,
	};

	if (sscanf(text_of(row, "case"), "N=%u", &s.pages) != 1)
		fail_msg("no pages in %s", text_of(row, "case"));
	return s;
}

/* Dirty pages that are not written out: only those of a droppable mapping can go. */
static char *scenario_text(const struct situation *s)
{
	static const char *const kinds[] = {
		[false] = "\"lazyfree\": true",
		[true] = "\"swap\": {\"device\": \"zram0\", \"slot\": 512}",
	};
	char *text = malloc(4096);
	u32 order = 0;

	while (1u << order < s->pages)
		order++;
	snprintf(text, 4096,
		 "{\"$schema\": \"schema/scenario-1.json\", \"title\": \"T\","
		 " \"summary\": \"S\", \"level\": \"core\", \"teaches\": [\"x\"],"
		 " \"refs\": [\"mm/rmap.c\"],"
		 " \"machine\": {\"cpus\": 1, \"swap\": [{\"id\": \"zram0\", \"slots\": 2048}]},"
		 " \"lanes\": [{\"arch\": \"arm64\", \"path\": \"x\", \"kernel\": \"7.3\"}],"
		 " \"world\": {\"mms\": [{\"id\": \"app\"}],"
		 " \"vmas\": [{\"mm\": \"app\", \"start\": \"0x7f0000000000\","
		 " \"end\": \"0x7f0000400000\", \"droppable\": %s}],"
		 " \"folios\": [{\"id\": \"A\", \"order\": %u, \"isolated\": true,"
		 " \"flags\": [\"locked\"], %s}],"
		 " \"maps\": [{\"mm\": \"app\", \"folio\": \"A\", \"va\": \"0x7f00000%c%c000\","
		 " \"young\": %s, \"dirty\": %s}]},"
		 " \"script\": [{\"cpu\": 0, \"do\": \"try_to_unmap\", \"folio\": \"A\"},"
		 " {\"cpu\": 0, \"do\": \"try_to_unmap_flush\"}]}",
		 s->dirty && !s->swap ? "true" : "false", order, kinds[s->swap],
		 s->pages == 512 ? '0' : '1', s->aligned ? '0' : '4', s->young ? "true" : "false",
		 s->dirty ? "true" : "false");
	return text;
}

static void check_row(const cJSON *row)
{
	struct situation situation = situation_of(row);
	char *text = scenario_text(&situation);
	struct error err = { .text = "" };
	struct scenario *s = scenario_load("row", text, strlen(text), &err);
	struct run run;

	if (!s)
		fail_msg("%s\n%s", err.text, text);
	s->lanes[0].kernel = &situation.kernel;
	s->lanes[0].features = situation.features;
	if (!run_scenario(&run, s, RUN_COUNT, true, &err))
		fail_msg("%s", err.text);
	assert_string_equal(run.lanes[0].invariant.text, "");
	assert_int_equal(run.lanes[0].m.folio->mapcount, 0);
	for (u32 i = 0; i < NR_OF(wants); i++) {
		const u64 *count = run.lanes[0].m.s->count;
		u64 got = count[wants[i].counter] +
			  (wants[i].other < NR_COUNTERS ? count[wants[i].other] : 0);
		u64 want = u64_of(row, wants[i].key);

		if (got != want)
			fail_msg("%s, range %d, bbml3 %d, %s: %s %lu, expected %lu",
				 text_of(row, "tree"), flag_of(row, "tlbi_range", 0),
				 flag_of(row, "bbml3", 0), text_of(row, "case"), wants[i].key,
				 (unsigned long)got, (unsigned long)want);
	}
	run_free(&run);
	scenario_free(s);
	free(text);
}

static void test_folio_rows(void **state)
{
	cJSON *rows = read_json("tests/data/op-counts.json");
	const cJSON *row;
	u32 nr = 0;

	(void)state;
	cJSON_ArrayForEach(row, rows) {
		if (strcmp(text_of(row, "section"), "folio") != 0)
			continue;
		check_row(row);
		nr++;
	}
	assert_int_equal(nr, 190);
	cJSON_Delete(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folio_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
