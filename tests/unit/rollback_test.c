/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unmapping that fails half-way, and runs that end early: what is undone, by whom, and
 * what stays. The values follow from the kernel's rules (7.3), not from the engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "scenario/ops.h"
#include "scenario/run.h"

#define VA	   "0x7f0000010000"
#define N	   16u
#define FIRST_SLOT 512u

static const char frame[] =
	"{\"$schema\": \"scenario-1.json\", \"title\": \"t\","
	" \"machine\": {\"cpus\": 2, \"swap\": [{\"id\": \"z\", \"slots\": 1024}]},"
	" \"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
	" \"folios\": [{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\"}], \"maps\": [%s]},"
	" \"script\": [{\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"" VA
	"\", \"pages\": 16}%s]}";
static const char whole[] = "{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\"}";

struct world {
	struct scenario *s;
	struct run run;
};

static struct world run_world(const char *maps, const char *script)
{
	static char text[4096];
	struct world w;
	struct error err;

	snprintf(text, sizeof(text), frame, maps, script);
	w.s = scenario_load("test", text, strlen(text), &err);
	if (!w.s || !run_scenario(&w.run, w.s, RUN_RECORD, true, &err))
		fail_msg("%s", err.text);
	for (u32 i = 0; i < w.run.nr_lanes; i++)
		assert_string_equal(w.run.lanes[i].invariant.text, "");
	return w;
}

static void end_world(struct world *w)
{
	run_free(&w->run);
	scenario_free(w->s);
}

static bool is_batched(const struct lane *lane)
{
	return lane->spec->kernel->anon_batch == ANON_RUN;
}

static pte_t pte_of(const struct lane *lane, u32 page)
{
	return *state_pte(lane->m.s, va_pte(lane->m.s, 0, 0x7f0000010000) + page);
}

/* Pages below `from` are swap entries of their slots; those from it on are mapped. */
static void converted_below(const struct lane *lane, u32 from)
{
	const struct pte_ops *ops = lane->m.arch->pte;

	for (u32 i = 0; i < N; i++) {
		pte_t pte = pte_of(lane, i);

		assert_int_equal(ops->present(pte), i >= from);
		if (i >= from)
			assert_int_equal(ops->pfn(pte), 0x12340 + i);
		else
			assert_int_equal(ops->swp_offset(pte), FIRST_SLOT + i);
		assert_int_equal(state_slot(lane->m.s, FIRST_SLOT + i)->count, i < from);
		assert_int_equal(state_page(lane->m.s, i)->anon_exclusive, i >= from);
	}
	assert_int_equal(state_mm(lane->m.s, 0)->anonpages, N - from);
	assert_int_equal(state_mm(lane->m.s, 0)->swapents, from);
}

/* A pin that comes between the clear and the check: pages before it stay swapped out. */
static void pinned_at(u32 page)
{
	char script[256];
	struct world w;

	snprintf(script, sizeof(script),
		 ", {\"cpu\": 1, \"do\": \"pin\", \"folio\": \"A\","
		 " \"when\": {\"event\": \"smp_mb\", \"page\": %u, \"nth\": 1}}",
		 page);
	w = run_world(whole, script);
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct lane *lane = &w.run.lanes[i];
		const struct folio *folio = state_folio(lane->m.s, 0);
		u32 done = is_batched(lane) ? 0 : page;

		if (is_batched(lane) && page)
			continue; /* its run is one: there is no such moment */
		converted_below(lane, done);
		assert_int_equal(folio->mapcount, N - done);
		assert_int_equal(folio->refcount, N - done + N + 1); /* maps, cache, pin */
		assert_true(folio_flag(folio, PG_swapcache) && folio_flag(folio, PG_dirty) &&
			    folio_flag(folio, PG_active) && folio_flag(folio, PG_lru));
		/* the restored entry may write no more than before, and no less */
		assert_true(lane->m.arch->pte->write(pte_of(lane, done)));
		/* arm64: folded again as it was by the batch, not after an unfolding */
		assert_int_equal(lane->m.arch->pte->valid_cont(pte_of(lane, N - 1)),
				 lane->m.arch->pte->has_cont && is_batched(lane));
	}
	end_world(&w);
}

static void test_pin_before_the_first_page(void **state)
{
	(void)state;
	pinned_at(0);
}

static void test_pin_in_the_middle(void **state)
{
	(void)state;
	pinned_at(5);
}

/* Page 7 read-only: runs of 7, 1 and 8. */
static void test_write_bit_ends_a_run(void **state)
{
	struct world w = run_world("{\"mm\": \"app\", \"va\": \"" VA
				   "\", \"folio\": \"A\", \"pages\": \"0..6\"},"
				   "{\"mm\": \"app\", \"va\": \"0x7f0000017000\", \"folio\": \"A\","
				   " \"pages\": \"7..7\", \"write\": false},"
				   "{\"mm\": \"app\", \"va\": \"0x7f0000018000\", \"folio\": \"A\","
				   " \"pages\": \"8..15\"}",
				   "");

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct mm_state *s = w.run.lanes[i].m.s;

		converted_below(&w.run.lanes[i], N);
		if (!is_batched(&w.run.lanes[i]))
			continue;
		assert_int_equal(s->count[COUNT_walk_step], 4);
		assert_int_equal(s->count[COUNT_tlb_pending], 3);
		assert_int_equal(s->count[COUNT_swap_dup_lock], 3);
		assert_int_equal(s->count[COUNT_mm_counter_op], 6);
		assert_int_equal(s->count[COUNT_rmap_remove], 3);
	}
	end_world(&w);
}

/* The refcount is looked at before the dirty flag: a reference in between keeps the folio. */
static void test_reference_before_the_freeze(void **state)
{
	struct world w = run_world(whole, ", {\"cpu\": 1, \"do\": \"get_ref\", \"folio\": \"A\","
					  " \"when\": {\"enter\": \"__remove_mapping\"}}");

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct folio *folio = state_folio(w.run.lanes[i].m.s, 0);

		assert_int_equal(folio->refcount, N + 1); /* cache, the new one */
		assert_int_equal(folio->mapcount, 0);
		assert_true(folio_flag(folio, PG_swapcache) && folio_flag(folio, PG_lru));
	}
	end_world(&w);
}

/* mlock: MADV_PAGEOUT refuses the VMA, and unmapping leaves its PTEs and marks the folio. */
static void test_locked_vma(void **state)
{
	static const char text[] =
		"{\"$schema\": \"scenario-1.json\", \"title\": \"t\","
		" \"world\": {\"mms\": [{\"id\": \"app\"}],"
		" \"vmas\": [{\"mm\": \"app\", \"start\": \"" VA "\","
		" \"end\": \"0x7f0000020000\", \"locked\": true}],"
		" \"folios\": [{\"id\": \"A\", \"order\": 4, \"isolated\": true,"
		" \"flags\": [\"locked\"], \"swap\": {\"device\": \"zram0\", \"slot\": 512}}],"
		" \"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\"}]},"
		" \"script\": [{\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"" VA "\","
		" \"pages\": 16}, {\"do\": \"try_to_unmap\", \"folio\": \"A\"}]}";
	struct world w;
	struct error err;

	(void)state;
	w.s = scenario_load("test", text, strlen(text), &err);
	if (!w.s || !run_scenario(&w.run, w.s, RUN_RECORD, true, &err))
		fail_msg("%s", err.text);
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct lane *lane = &w.run.lanes[i];

		assert_string_equal(lane->invariant.text, "");
		assert_int_equal(state_folio(lane->m.s, 0)->mapcount, N);
		assert_true(folio_flag(state_folio(lane->m.s, 0), PG_mlocked));
		assert_int_equal(state_mm(lane->m.s, 0)->swapents, 0);
		assert_int_equal(lane->m.s->count[COUNT_pte_xchg], 0);
	}
	end_world(&w);
}

/* Slots that somebody outside this world uses are no fault of the engine. */
static void test_slots_of_others(void **state)
{
	struct world w = run_world(whole, "");
	struct scn_slot slot = { .device = 0, .first = 1, .last = 4, .count = 3 };
	struct run run;
	struct error err;

	(void)state;
	w.s->slots = &slot;
	w.s->nr_slots = 1;
	assert_true(run_scenario(&run, w.s, RUN_COUNT, true, &err));
	for (u32 i = 0; i < run.nr_lanes; i++) {
		assert_string_equal(run.lanes[i].invariant.text, "");
		assert_int_equal(state_slot(run.lanes[i].m.s, 4)->count, 3);
		assert_int_equal(state_device(run.lanes[i].m.s, 0)->inuse, N + 4);
	}
	run_free(&run);
	w.s->slots = NULL;
	w.s->nr_slots = 0;
	end_world(&w);
}

/* A CPU that uses an mm has loaded it: x86 must interrupt it like any other. */
static void test_cpu_that_comes_to_an_mm(void **state)
{
	struct world w = run_world(whole, "");
	struct scn_op ops[2] = { w.s->ops[0], w.s->ops[0] };
	struct scn_op *script = w.s->ops;
	struct run run;
	struct error err;

	(void)state;
	w.s->mms[0].ran_on = 1;
	ops[0].cpu = 1;
	ops[0].op = op_find("write");
	w.s->ops = ops;
	w.s->nr_ops = 2;
	assert_true(run_scenario(&run, w.s, RUN_COUNT, true, &err));
	for (u32 i = 0; i < run.nr_lanes; i++) {
		const struct mm_state *s = run.lanes[i].m.s;

		assert_string_equal(run.lanes[i].invariant.text, "");
		assert_int_equal(state_cpu(s, 1)->nr_tlb, 0);
		assert_int_equal(s->count[COUNT_ipi_sent], !run.lanes[i].m.arch->tlb_keeps_asids);
	}
	run_free(&run);
	w.s->ops = script;
	w.s->nr_ops = 1;
	end_world(&w);
}

/* Reclaim of folios that are isolated already, the way shrink_folio_list() meets them. */
static void test_reclaim_of_isolated_folios(void **state)
{
	struct world w = run_world(whole, "");
	struct run run;
	struct error err;

	(void)state;
	w.s->folios[0].isolated = true;
	w.s->ops[0].op = op_find("reclaim_folio_list");
	assert_true(run_scenario(&run, w.s, RUN_COUNT, true, &err));
	for (u32 i = 0; i < run.nr_lanes; i++) {
		assert_string_equal(run.lanes[i].invariant.text, "");
		converted_below(&run.lanes[i], N);
		assert_int_equal(state_folio(run.lanes[i].m.s, 0)->refcount, 0);
	}
	run_free(&run);
	end_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pin_before_the_first_page),
		cmocka_unit_test(test_pin_in_the_middle),
		cmocka_unit_test(test_write_bit_ends_a_run),
		cmocka_unit_test(test_reference_before_the_freeze),
		cmocka_unit_test(test_locked_vma),
		cmocka_unit_test(test_slots_of_others),
		cmocka_unit_test(test_cpu_that_comes_to_an_mm),
		cmocka_unit_test(test_reclaim_of_isolated_folios),
	};

	return cmocka_run_group_tests_name("rollback", tests, NULL, NULL);
}
