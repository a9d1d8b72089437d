/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reference run of one 64 KiB folio, moment by moment, with values that follow
 * from the kernel's rules: 16 exclusive, writable, dirty, young pages of one process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "scenario/run.h"

#define N 16u
#define FIRST_SLOT 512u

struct moment {
	struct cursor c;
	const struct lane *lane;
	const struct pte_ops *ops;
	const struct folio *folio;
	u32 first_pte;
};

static void open_moment(struct moment *at, const struct lane *lane)
{
	at->lane = lane;
	at->ops = lane->m.arch->pte;
	assert_true(cursor_open(&at->c, lane->trace));
	at->folio = state_folio(at->c.live, 0);
	at->first_pte = va_pte(at->c.live, 0, 0x7f0000010000);
}

/* Go on to the next step of this kind. */
static void next(struct moment *at, enum event event)
{
	do {
		if (at->c.pos == trace_nr_steps(at->lane->trace))
			fail_msg("%s: no %s", at->lane->spec->name, event_info[event].name);
		cursor_seek(&at->c, at->c.pos + 1);
	} while (cursor_step(&at->c)->event != event);
}

static void counts_are(const struct moment *at, u32 ref, u32 map, u32 mapped)
{
	assert_int_equal(at->folio->refcount, ref);
	assert_int_equal(at->folio->mapcount, map);
	assert_int_equal(at->folio->nr_pages_mapped, mapped);
}

static pte_t pte_of(const struct moment *at, u32 page)
{
	return *state_pte(at->c.live, at->first_pte + page);
}

static void slots_are(const struct moment *at, u32 from, u32 to, u32 kind, u32 count)
{
	for (u32 i = from; i < to; i++) {
		assert_int_equal(state_slot(at->c.live, FIRST_SLOT + i)->kind, kind);
		assert_int_equal(state_slot(at->c.live, FIRST_SLOT + i)->count, count);
	}
}

static void exclusive_from(const struct moment *at, u32 from)
{
	for (u32 i = 0; i < N; i++)
		assert_int_equal(state_page(at->c.live, i)->anon_exclusive, i >= from);
}

static pte_t swap_pte(const struct moment *at, u32 page)
{
	pte_t pte = at->ops->swp_mkexclusive(at->ops->swp_entry(0, FIRST_SLOT + page));

	return at->ops->has_soft_dirty ? at->ops->swp_mksoft_dirty(pte) : pte;
}

static void rss_is(const struct moment *at, u32 anon, u32 swap)
{
	assert_int_equal(state_mm(at->c.live, 0)->anonpages, anon);
	assert_int_equal(state_mm(at->c.live, 0)->swapents, swap);
}

/* One turn of the loop on nr pages from page i on: the order of T1's rows. */
static void one_turn(struct moment *at, u32 i, u32 nr)
{
	const struct task *task = state_task(at->c.live, 0);
	u32 pending = state_mm(at->c.live, 0)->tlb_pending;

	next(at, EV_tlb_flush_pending);
	for (u32 k = 0; k < nr; k++)
		assert_true(at->ops->none(pte_of(at, i + k)));
	counts_are(at, 33 - i, 16 - i, 16 - i);
	slots_are(at, i, N, SLOT_FOLIO, 0);
	assert_int_equal(state_mm(at->c.live, 0)->tlb_pending, pending + 1);
	assert_true(task->ubc_flush_required && task->ubc_writable);

	next(at, EV_swap_cluster_unlocked);
	slots_are(at, i, i + nr, SLOT_FOLIO, 1);
	slots_are(at, i + nr, N, SLOT_FOLIO, 0);
	exclusive_from(at, i);

	next(at, EV_anon_exclusive_cleared);
	exclusive_from(at, i + nr);
	rss_is(at, N - i, i);

	next(at, EV_mm_counters_moved);
	rss_is(at, N - i - nr, i + nr);
	assert_true(state_mm(at->c.live, 0)->on_mmlist);

	for (u32 k = 0; k < nr; k++)
		next(at, EV_swap_pte_set);
	for (u32 k = 0; k < nr; k++)
		assert_int_equal(pte_of(at, i + k), swap_pte(at, i + k));
	counts_are(at, 33 - i, 16 - i, 16 - i);

	next(at, EV_mapcount_removed);
	counts_are(at, 33 - i, 16 - i - nr, 16 - i - nr);
	next(at, EV_folio_put_refs);
	counts_are(at, 33 - i - nr, 16 - i - nr, 16 - i - nr);
}

static void ending(struct moment *at)
{
	const struct task *task = state_task(at->c.live, 0);

	next(at, EV_tlb_flush_done);
	assert_false(task->ubc_flush_required || task->ubc_writable);
	for (u32 cpu = 0; cpu < 2; cpu++)
		assert_int_equal(state_cpu(at->c.live, cpu)->nr_tlb, 0);
	next(at, EV_refcount_alone);
	counts_are(at, 17, 0, 0);
	next(at, EV_folio_reclaim_set);
	assert_false(folio_flag(at->folio, PG_dirty));
	next(at, EV_swap_zero_filled);
	next(at, EV_folio_reclaim_cleared);
	next(at, EV_folio_ref_frozen);
	counts_are(at, 0, 0, 0);
	next(at, EV_swap_cache_removed);
	assert_false(folio_flag(at->folio, PG_swapcache));
	slots_are(at, 0, N, SLOT_SHADOW, 1);

	cursor_seek(&at->c, UINT32_MAX);
	rss_is(at, 0, N);
	slots_are(at, 0, N, SLOT_SHADOW, 1);
	assert_int_equal(state_cluster(at->c.live, 1)->count, N);
	assert_int_equal(state_device(at->c.live, 0)->inuse, N);
	for (u32 i = 0; i < N; i++)
		assert_int_equal(pte_of(at, i), swap_pte(at, i));
	counts_are(at, 0, 0, 0);
	assert_true(state_folio(at->c.live, 0)->list == NONE);
}

static void check_lane(const struct lane *lane)
{
	bool batched = lane->spec->kernel->anon_batch == ANON_RUN;
	struct moment at;

	open_moment(&at, lane);
	counts_are(&at, 16, 16, 16);
	next(&at, EV_folio_isolated);
	counts_are(&at, 17, 16, 16);
	next(&at, EV_swap_slots_allocated);
	counts_are(&at, 33, 16, 16);
	slots_are(&at, 0, N, SLOT_FOLIO, 0);
	exclusive_from(&at, 0);
	if (batched)
		one_turn(&at, 0, N);
	for (u32 i = 0; !batched && i < N; i++)
		one_turn(&at, i, 1);
	assert_int_equal(state_mm(at.c.live, 0)->tlb_pending, batched ? 1 : N);
	ending(&at);
	cursor_close(&at.c);
}

static void test_t1(void **state)
{
	struct error err;
	struct scenario *s = scenario_open("swapout-64k", &err);
	struct run run;

	(void)state;
	if (!s || !run_scenario(&run, s, RUN_RECORD, true, &err))
		fail_msg("%s", err.text);
	assert_int_equal(run.nr_lanes, 4);
	for (u32 i = 0; i < run.nr_lanes; i++)
		check_lane(&run.lanes[i]);
	run_free(&run);
	scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_t1) };

	return cmocka_run_group_tests_name("golden T1", tests, NULL, NULL);
}
