/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * T11: 512 dirty pages of a process that runs on six CPUs. A flush for each, one for the list,
 * or one for each 31. What is derived here comes from the designs, not from the engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/run.h"

#define CPUS 6u

static const struct design {
	const char *kernel;
	u32 batch;		/* folios that a flush is for */
} designs[] = {
	{ "7.3", 1 }, { "7.3+flush-batch-v2", 512 }, { "7.3+flush-batch-31", 31 },
};

static u64 counted(const struct lane *lane, enum counter counter)
{
	return lane->m.s->count[counter];
}

static void check_lane(const struct lane *lane, u32 pages, u32 batch)
{
	u32 flushes = (pages + batch - 1) / batch;
	bool x86 = strcmp(lane->spec->arch, "x86_64") == 0;

	assert_int_equal(counted(lane, COUNT_folio_freed), pages);
	assert_int_equal(counted(lane, COUNT_folio_write_start), pages);
	assert_int_equal(counted(lane, COUNT_tlb_pending), pages);
	assert_int_equal(counted(lane, COUNT_tlb_flush), flushes);
	assert_int_equal(counted(lane, COUNT_ipi_ubc_flush), x86 ? flushes * (CPUS - 1) : 0);
	assert_int_equal(counted(lane, COUNT_ipi_sent), x86 ? flushes * (CPUS - 1) : 0);
	assert_int_equal(counted(lane, COUNT_cr3_write), x86 ? flushes * CPUS : 0);
	assert_int_equal(counted(lane, COUNT_dsb_ish), x86 ? 0 : flushes);
	assert_int_equal(counted(lane, COUNT_tlbi_page), x86 ? 0 : pages);
}

static void flushes(u32 pages, const struct design *design)
{
	static const char world[] =
		"{\"$schema\": \"scenario-1.json\", \"title\": \"T11\", \"machine\": {\"cpus\": %u,"
		" \"swap\": [{\"id\": \"z\", \"kind\": \"sync\", \"slots\": 1536}]},"
		"\"lanes\": [{\"arch\": \"x86_64\", \"path\": \"a\", \"kernel\": \"%s\"},"
		" {\"arch\": \"arm64\", \"path\": \"a\", \"kernel\": \"%s\"}],"
		"\"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..%u\"}],"
		" \"folios\": [{\"id\": \"A\", \"count\": %u, \"pfn\": \"0x20000\","
		"  \"fill\": \"data\"}],"
		" \"maps\": [{\"mm\": \"app\", \"va\": \"0x200000\", \"folio\": \"A\"}]},"
		"\"script\": [{\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"0x200000\","
		" \"pages\": %u}]}";
	char text[1024];
	struct error err = { .text = "" };
	struct scenario *s;
	struct run run;

	snprintf(text, sizeof(text), world, CPUS, design->kernel, design->kernel, CPUS - 1,
		 pages > 1 ? pages : 2, pages);
	s = scenario_load("T11", text, strlen(text), &err);
	if (!s || !run_scenario(&run, s, RUN_COUNT, false, &err))
		fail_msg("%s", err.text);
	for (u32 i = 0; i < run.nr_lanes; i++)
		check_lane(&run.lanes[i], pages, design->batch);
	run_free(&run);
	scenario_free(s);
}

static void test_design(void **state)
{
	static const u32 sizes[] = { 1, 30, 31, 32, 62, 63, 512 };

	for (u32 i = 0; i < NR_OF(sizes); i++)
		flushes(sizes[i], *state);
}

int main(void)
{
	struct CMUnitTest tests[NR_OF(designs)];

	for (u32 i = 0; i < NR_OF(designs); i++)
		tests[i] = (struct CMUnitTest){ .name = designs[i].kernel,
						.test_func = test_design,
						.initial_state = (void *)(uintptr_t)&designs[i] };
	return _cmocka_run_group_tests("T11", tests, NR_OF(tests), NULL, NULL);
}
