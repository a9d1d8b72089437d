/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where runs end: eight pages of a folio, something else at one of them, and how many PTEs
 * each turn of the loop takes. Unbatched each turn takes one, whatever stands there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "scenario/run.h"

#define MAP(va, pages, more) \
	"{\"mm\": \"app\", \"va\": \"" va "\", \"folio\": \"A\", \"pages\": \"" pages "\"" more "}"
#define LOW MAP("0x7f0000010000", "0..4", "")
#define HIGH MAP("0x7f0000016000", "6..7", "")
#define ENTRY(kind) \
	"], \"entries\": [{\"mm\": \"app\", \"va\": \"0x7f0000015000\", \"kind\": " kind "}"
#define VMA(start, end) "{\"mm\": \"app\", \"start\": \"" start "\", \"end\": \"" end "\"}"

enum { ARM64 = 1, X86 = 2, BOTH = ARM64 | X86 };

static const struct cut {
	const char *name, *vmas, *maps;
	u32 archs;		/* where the run is cut; elsewhere it is one */
	u32 run[4];
} cuts[] = {
	{ .name = "nothing", .maps = MAP("0x7f0000010000", "0..7", ""), .run = { 8 } },
	{ .name = "young and dirty are ignored", .run = { 8 },
	  .maps = LOW "," MAP("0x7f0000015000", "5..7", ", \"young\": false, \"dirty\": false") },
	{ .name = "the write bit", .archs = BOTH, .run = { 5, 3 },
	  .maps = LOW "," MAP("0x7f0000015000", "5..7", ", \"write\": false") },
	{ .name = "the soft-dirty bit", .archs = X86, .run = { 5, 3 },
	  .maps = LOW "," MAP("0x7f0000015000", "5..7", ", \"soft_dirty\": false") },
	{ .name = "the userfaultfd bit", .archs = BOTH, .run = { 5, 3 },
	  .maps = LOW "," MAP("0x7f0000015000", "5..7", ", \"uffd\": true") },
	{ .name = "a hole", .archs = BOTH, .run = { 5, 2 }, .maps = LOW "," HIGH,
	  .vmas = VMA("0x7f0000010000", "0x7f0000018000") },
	{ .name = "a foreign page", .archs = BOTH, .run = { 5, 2 },
	  .maps = LOW "," HIGH
		      ", {\"mm\": \"app\", \"va\": \"0x7f0000015000\", \"folio\": \"B\"}" },
	{ .name = "a swap entry", .archs = BOTH, .run = { 5, 2 },
	  .maps = LOW "," HIGH ENTRY("\"swap\", \"device\": \"z\", \"slot\": 7") },
	{ .name = "a migration entry", .archs = BOTH, .run = { 5, 2 },
	  .maps = LOW "," HIGH ENTRY("\"migration\", \"folio\": \"B\"") },
	{ .name = "a broken page", .archs = BOTH, .run = { 5, 2 },
	  .maps = LOW "," HIGH ENTRY("\"hwpoison\", \"pfn\": \"0x99999\"") },
	{ .name = "a marker", .archs = BOTH, .run = { 5, 2 },
	  .maps = LOW "," HIGH ENTRY("\"uffd_wp\"") },
	{ .name = "a device-exclusive page", .archs = BOTH, .run = { 5, 1, 2 },
	  .maps = LOW "," HIGH
		      "," MAP("0x7f0000015000", "5..5", ", \"device_exclusive\": true") },
	{ .name = "the end of the VMA", .archs = BOTH, .run = { 5, 3 },
	  .vmas = VMA("0x7f0000010000", "0x7f0000015000") ","
		  VMA("0x7f0000015000", "0x7f0000018000"),
	  .maps = LOW "," MAP("0x7f0000015000", "5..7", "") },
	{ .name = "the end of the page table", .archs = BOTH, .run = { 5, 3 },
	  .maps = MAP("0x7f00001fb000", "0..7", "") },
};

static struct scenario *load(const struct cut *cut)
{
	static const char frame[] =
		"{\"$schema\": \"scenario-1.json\", \"title\": \"t\","
		" \"machine\": {\"cpus\": 2, \"swap\": [{\"id\": \"z\", \"slots\": 1024}]},"
		" \"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}], \"vmas\": [%s],"
		" \"folios\": [{\"id\": \"A\", \"order\": 3, \"pfn\": \"0x12340\","
		" \"isolated\": true, \"swap\": {\"device\": \"z\", \"slot\": 512},"
		" \"flags\": [\"dirty\", \"locked\"]}, {\"id\": \"B\", \"refs\": 1}],"
		" \"maps\": [%s]}, \"script\": [{\"do\": \"try_to_unmap\", \"folio\": \"A\"}]}";
	struct error err;
	struct scenario *s;
	char text[2048];

	snprintf(text, sizeof(text), frame, cut->vmas ? cut->vmas : "", cut->maps);
	s = scenario_load(cut->name, text, strlen(text), &err);
	if (!s)
		fail_msg("%s", err.text);
	return s;
}

static void check_lane(const struct cut *cut, const struct lane *lane)
{
	bool batched = lane->spec->kernel->anon_batch == ANON_RUN;
	u32 here = strcmp(lane->spec->arch, "arm64") == 0 ? ARM64 : X86, turns = 0, pages = 0;

	assert_string_equal(lane->invariant.text, "");
	for (u32 i = 0; i < trace_nr_steps(lane->trace); i++) {
		const struct step *step = trace_step(lane->trace, i);
		u32 want = batched && (cut->archs & here || !cut->archs) ? cut->run[turns] :
			   batched					 ? 8 :
									   1;

		if (step->event != EV_unmap_batch)
			continue;
		if (step->arg != want)
			fail_msg("%s: %s: turn %u takes %u, expected %u", cut->name,
				 lane->spec->name, turns, step->arg, want);
		pages += step->arg;
		turns++;
	}
	assert_int_equal(pages, state_folio(trace_start(lane->trace), 0)->mapcount);
	assert_int_equal(state_folio(lane->m.s, 0)->mapcount, 0);
}

static void test_cut(void **state)
{
	const struct cut *cut = *state;
	struct scenario *s = load(cut);
	struct error err;
	struct run run;

	if (!run_scenario(&run, s, RUN_RECORD, true, &err))
		fail_msg("%s", err.text);
	assert_int_equal(run.nr_lanes, 4);
	for (u32 i = 0; i < run.nr_lanes; i++)
		check_lane(cut, &run.lanes[i]);
	run_free(&run);
	scenario_free(s);
}

/*
 * What a run is restored from, or its swap entries are made from, is its first entry with
 * the dirty bits of all: on x86 to set that bit is to set soft-dirty too.
 */
static void test_soft_dirty_spreads(void **state)
{
	static const struct cut cut = {
		.name = "soft-dirty",
		.maps = MAP("0x7f0000010000", "0..7", ", \"soft_dirty\": false"),
	};
	struct scenario *s = load(&cut);
	struct error err;
	struct run run;

	(void)state;
	if (!run_scenario(&run, s, RUN_COUNT, true, &err))
		fail_msg("%s", err.text);
	for (u32 i = 0; i < run.nr_lanes; i++) {
		const struct lane *lane = &run.lanes[i];
		const struct pte_ops *ops = lane->m.arch->pte;
		u32 pte = va_pte(lane->m.s, 0, 0x7f0000010000);

		for (u32 k = 0; ops->has_soft_dirty && k < 8; k++)
			assert_int_equal(ops->swp_soft_dirty(*state_pte(lane->m.s, pte + k)),
					 lane->spec->kernel->anon_batch == ANON_RUN);
	}
	run_free(&run);
	scenario_free(s);
}

/* Whoever shares a huge entry clears one mark: that of the folio's first page. */
static void test_huge_entry_has_one_mark(void **state)
{
	static const char text[] =
		"{\"$schema\": \"scenario-1.json\", \"title\": \"t\","
		" \"world\": {\"mms\": [{\"id\": \"app\"}],"
		" \"folios\": [{\"id\": \"A\", \"order\": 9, \"pfn\": \"0x12400\"}],"
		" \"maps\": [{\"mm\": \"app\", \"va\": \"0x7f0000200000\", \"folio\": \"A\","
		" \"pmd\": true}]}, \"script\": [{\"do\": \"madvise_pageout\", \"mm\": \"app\","
		" \"va\": \"0x7f0000200000\", \"pages\": 100}]}";
	struct error err;
	struct scenario *s = scenario_load("huge", text, strlen(text), &err);
	struct run run;

	(void)state;
	if (!s || !run_scenario(&run, s, RUN_RECORD, true, &err))
		fail_msg("%s", err.text);
	for (u32 i = 0; i < run.nr_lanes; i++) {
		const struct trace *trace = run.lanes[i].trace;
		u32 k = 0;

		assert_string_equal(run.lanes[i].invariant.text, "");
		while (k < trace_nr_steps(trace) &&
		       trace_step(trace, k)->event != EV_anon_exclusive_cleared)
			k++;
		assert_true(k < trace_nr_steps(trace));
		assert_int_equal(trace_step(trace, k)->page, 0);
		assert_int_equal(trace_step(trace, k)->arg, 1);
	}
	run_free(&run);
	scenario_free(s);
}

int main(void)
{
	struct CMUnitTest tests[NR_OF(cuts) + 2] = {
		[NR_OF(cuts)] = cmocka_unit_test(test_soft_dirty_spreads),
		cmocka_unit_test(test_huge_entry_has_one_mark),
	};

	for (u32 i = 0; i < NR_OF(cuts); i++)
		tests[i] = (struct CMUnitTest){ .name = cuts[i].name,
						.test_func = test_cut,
						.initial_state = (void *)(uintptr_t)&cuts[i] };
	return _cmocka_run_group_tests("runs", tests, NR_OF(tests), NULL, NULL);
}
