/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reference runs T1 to T6 of one 64 KiB folio, moment by moment. What each turn of the
 * loop does to counts, marks, slots and PTEs follows here from the kernel's rules, not from
 * the engine: the values are compared whole at each station of a turn, and between two
 * stations each value is still the old one or already the new one.
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
#define FIRST_PFN 0x12340u
#define FIRST_SLOT 512u
#define VA 0x7f0000010000u

/* The values, in one array: of the folio, of its pages, of each mm. */
enum { REF, MAP, MAPPED, COUNT, EXCLUSIVE = COUNT + N, MM = EXCLUSIVE + N };
enum { ANON, SWAP, PENDING, PTE, MM_VALUES = PTE + N };
#define NR_MMS 2u
#define NR_VALUES (MM + NR_MMS * MM_VALUES)

struct moment {
	struct cursor c;
	const struct lane *lane;
	const struct pte_ops *ops;
	bool batched, unfolding;
	u32 nr_mms;
	u64 before[NR_VALUES], want[NR_VALUES];
};

/* What becomes of a sub-batch. */
enum outcome { DONE, PINNED, NO_MEMORY };
struct sub {
	u32 mm, first, nr;
	enum outcome outcome;
	u32 run;	/* PTEs of the run that it begins; 0: it goes on with the one before */
};

static const struct golden {
	const char *name, *scenario;	/* bundled, or the world's */
	const char *world;
	struct sub sub[6];		/* batched */
	struct sub fails;		/* unbatched, page by page up to here; nr 0: never */
} goldens[] = {
	{ .name = "T1 success", .scenario = "swapout-64k", .sub = { { 0, 0, 16, DONE, 16 } } },
	{ .name = "T2 mixed exclusivity, writable", .scenario = "swapout-mixed-exclusive",
	  .sub = { { 0, 0, 6, DONE, 6 }, { 0, 6, 4, DONE, 4 }, { 0, 10, 6, DONE, 6 },
		   { 1, 6, 4, DONE, 4 } } },
	{ .name = "T2 mixed exclusivity, read-only", .scenario = "swapout-mixed-readonly",
	  .sub = { { 0, 0, 6, DONE, 16 }, { 0, 6, 4, DONE, 0 }, { 0, 10, 6, DONE, 0 },
		   { 1, 6, 4, DONE, 4 } } },
	{ .name = "T3 a pin arrives during the unmap", .scenario = "swapout-pinned",
	  .sub = { { 0, 0, 16, PINNED, 16 } }, .fails = { 0, 5, 1, PINNED, 1 } },
	{ .name = "T4 one read-only PTE", .scenario = "swapout-readonly-pte",
	  .sub = { { 0, 0, 7, DONE, 7 }, { 0, 7, 1, DONE, 1 }, { 0, 8, 8, DONE, 8 } } },
	{ .name = "T5 a hole",
	  .world = "\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}], \"vmas\": ["
		   "{\"mm\": \"app\", \"start\": \"0x7f0000010000\","
		   " \"end\": \"0x7f0000020000\"}], \"folios\": ["
		   "{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\", \"isolated\": true,"
		   " \"flags\": [\"dirty\"], \"swap\": {\"device\": \"zram0\", \"slot\": 512}}],"
		   "\"maps\": [{\"mm\": \"app\", \"va\": \"0x7f0000010000\", \"folio\": \"A\","
		   " \"pages\": \"0..4\"}, {\"mm\": \"app\", \"va\": \"0x7f0000016000\","
		   " \"folio\": \"A\", \"pages\": \"6..15\"}]",
	  .sub = { { 0, 0, 5, DONE, 5 }, { 0, 6, 10, DONE, 10 } } },
	{ .name = "T6 a slot count cannot rise", .scenario = "swapout-dup-fails",
	  .sub = { { 0, 0, 6, DONE, 16 }, { 0, 6, 4, NO_MEMORY, 0 } },
	  .fails = { 0, 9, 1, NO_MEMORY, 1 } },
};

/* A present PTE without what a run may merge: young, dirty, and the fold of a block. */
static u64 plain(const struct moment *at, pte_t pte)
{
	if (!at->ops->present(pte))
		return pte;
	return at->ops->mkold(at->ops->mkclean(at->ops->mknoncont(pte)));
}

static void look(const struct moment *at, u64 *v)
{
	const struct mm_state *s = at->c.live;
	const struct folio *folio = state_folio(s, 0);

	v[REF] = folio->refcount;
	v[MAP] = folio->mapcount;
	v[MAPPED] = folio->nr_pages_mapped;
	for (u32 i = 0; i < N; i++) {
		v[COUNT + i] = state_slot(s, FIRST_SLOT + i)->count;
		v[EXCLUSIVE + i] = state_page(s, i)->anon_exclusive;
	}
	for (u32 mm = 0; mm < at->nr_mms; mm++) {
		u64 *of = v + MM + mm * MM_VALUES;

		of[ANON] = state_mm(s, mm)->anonpages;
		of[SWAP] = state_mm(s, mm)->swapents;
		of[PENDING] = state_mm(s, mm)->tlb_pending;
		for (u32 i = 0; i < N; i++) {
			u32 pte = va_pte(s, mm, VA + i * PAGE_SIZE);

			of[PTE + i] = pte == NONE ? 0 : plain(at, *state_pte(s, pte));
		}
	}
}

static u64 *mm_value(struct moment *at, u32 mm, u32 value)
{
	return &at->want[MM + mm * MM_VALUES + value];
}

/* While a block is unfolded all of its PTEs are cleared and set once more. */
static bool in_flux(const struct moment *at, u32 value)
{
	return at->unfolding && value >= MM && (value - MM) % MM_VALUES >= PTE;
}

/* The values are those wanted; on the way there they may still be the old ones. */
static void compare(const struct moment *at, bool arrived)
{
	u64 now[NR_VALUES] = { 0 };

	look(at, now);
	for (u32 i = 0; i < NR_VALUES; i++)
		if (now[i] != at->want[i] && !in_flux(at, i) &&
		    (arrived || now[i] != at->before[i]))
			fail_msg("%s step %u: value %u is 0x%llx, expected 0x%llx",
				 at->lane->spec->name, at->c.pos, i, (unsigned long long)now[i],
				 (unsigned long long)at->want[i]);
}

/* Go on to the next step of this kind: there the values are those wanted. */
static void next(struct moment *at, enum event event)
{
	enum event now;

	do {
		if (at->c.pos == trace_nr_steps(at->lane->trace))
			fail_msg("%s: no %s", at->lane->spec->name, event_info[event].name);
		cursor_seek(&at->c, at->c.pos + 1);
		now = (enum event)cursor_step(&at->c)->event;
		at->unfolding |= now == EV_contpte_block_cleared;
		at->unfolding &= now != EV_contpte_unfolded;
		compare(at, now == event);
	} while (now != event);
	memcpy(at->before, at->want, sizeof(at->before));
}

static pte_t swap_pte(const struct moment *at, u32 page, bool exclusive)
{
	pte_t pte = at->ops->swp_entry(0, FIRST_SLOT + page);

	if (exclusive)
		pte = at->ops->swp_mkexclusive(pte);
	return at->ops->has_soft_dirty ? at->ops->swp_mksoft_dirty(pte) : pte;
}

static void pin(struct moment *at)
{
	at->want[REF]++;
	next(at, EV_folio_pinned);
}

/* The counts rise. False: not all of them can, so that none has in the end. */
static bool dup(struct moment *at, const struct sub *sub)
{
	u32 nr = sub->nr;

	if (sub->outcome == NO_MEMORY)
		nr = 9 - sub->first;	/* page 9 is the one with a count of 14 */
	for (u32 i = 0; i < nr; i++)
		at->want[COUNT + sub->first + i]++;
	if (sub->outcome == NO_MEMORY) {
		next(at, EV_swap_extend_table_failed);
		for (u32 i = 0; i < nr; i++)
			at->want[COUNT + sub->first + i]--;
	}
	next(at, EV_swap_cluster_unlocked);
	return sub->outcome != NO_MEMORY;
}

/* False: pinned, and the counts have fallen again. */
static bool share(struct moment *at, const struct sub *sub)
{
	if (sub->outcome == PINNED) {
		if (!at->batched)
			pin(at);
		next(at, EV_pinned);
		for (u32 i = 0; i < sub->nr; i++)
			at->want[COUNT + sub->first + i]--;
		next(at, EV_swap_cluster_unlocked);
		return false;
	}
	for (u32 i = 0; i < sub->nr; i++)
		at->want[EXCLUSIVE + sub->first + i] = 0;
	next(at, EV_anon_exclusive_cleared);
	return true;
}

/* The order of a sub-batch: slots, marks, counters, PTEs, mapcounts, references. */
static bool one_sub_batch(struct moment *at, const struct sub *sub, u32 maps[N])
{
	bool exclusive = at->want[EXCLUSIVE + sub->first];
	u32 unmapped = 0;

	if (sub->outcome == PINNED && at->batched)
		pin(at);
	if (!dup(at, sub) || (exclusive && !share(at, sub)))
		return false;
	*mm_value(at, sub->mm, ANON) -= sub->nr;
	*mm_value(at, sub->mm, SWAP) += sub->nr;
	next(at, EV_mm_counters_moved);
	assert_true(state_mm(at->c.live, sub->mm)->on_mmlist);
	for (u32 i = sub->first; i < sub->first + sub->nr; i++) {
		*mm_value(at, sub->mm, PTE + i) = swap_pte(at, i, exclusive);
		next(at, EV_swap_pte_set);
		unmapped += --maps[i] == 0;
	}
	at->want[MAP] -= sub->nr;
	at->want[MAPPED] -= unmapped;
	next(at, EV_mapcount_removed);
	at->want[REF] -= sub->nr;
	next(at, EV_folio_put_refs);
	return true;
}

/* A run: cleared and noted together, then its sub-batches. Returns how many of those. */
static u32 one_run(struct moment *at, const struct sub *sub, u32 maps[N], bool *failed)
{
	const struct task *task = state_task(at->c.live, 0);
	u32 first = sub->first, end = first + sub->run, i = 0;
	u64 old[N];

	memcpy(old, mm_value(at, sub->mm, PTE), sizeof(old));
	for (u32 k = first; k < end; k++) {
		*mm_value(at, sub->mm, PTE + k) = 0;
		next(at, EV_pte_cleared);
	}
	++*mm_value(at, sub->mm, PENDING);
	next(at, EV_tlb_flush_pending);
	assert_true(task->ubc_flush_required && task->ubc_writable);
	do {
		*failed = !one_sub_batch(at, &sub[i], maps);
		if (*failed) {
			for (u32 k = sub[i].first; k < end; k++)
				*mm_value(at, sub->mm, PTE + k) = old[k];
			next(at, EV_unmap_restored);
			return i + 1;
		}
		i++;
	} while (sub[i].nr && !sub[i].run);
	return i;
}

/* Batched: as the table says. */
static bool all_runs(struct moment *at, const struct golden *g, u32 maps[N])
{
	bool failed = false;
	u32 i = 0;

	while (!failed && g->sub[i].nr)
		i += one_run(at, &g->sub[i], maps, &failed);
	return !failed;
}

/* Unbatched: each PTE is a run, up to the one that fails. */
static bool all_pages(struct moment *at, const struct golden *g, u32 maps[N])
{
	bool failed = false;

	for (u32 mm = 0; mm < at->nr_mms; mm++)
		for (u32 i = 0; i < N && !failed; i++) {
			struct sub sub[2] = { { mm, i, 1, DONE, 1 } };

			if (!*mm_value(at, mm, PTE + i))
				continue;
			if (g->fails.nr && g->fails.mm == mm && g->fails.first == i)
				sub[0] = g->fails;
			one_run(at, sub, maps, &failed);
		}
	return !failed;
}

/* Unmapped: flushed, its slots full of zeroes without a write, frozen, forgotten, freed. */
static void freed(struct moment *at)
{
	const struct folio *folio = state_folio(at->c.live, 0);
	const struct task *task = state_task(at->c.live, 0);

	assert_int_equal(at->want[REF], N + 1);
	assert_int_equal(at->want[MAP] + at->want[MAPPED], 0);
	next(at, EV_tlb_flush_done);
	assert_false(task->ubc_flush_required || task->ubc_writable);
	for (u32 cpu = 0; cpu < 2; cpu++)
		assert_int_equal(state_cpu(at->c.live, cpu)->nr_tlb, 0);
	next(at, EV_refcount_alone);
	next(at, EV_folio_reclaim_set);
	assert_false(folio_flag(folio, PG_dirty));
	next(at, EV_swap_zero_filled);
	next(at, EV_folio_reclaim_cleared);
	at->want[REF] = 0;
	next(at, EV_folio_ref_frozen);
	next(at, EV_swap_cache_removed);
	assert_false(folio_flag(folio, PG_swapcache));
	for (u32 i = 0; i < N; i++)
		assert_int_equal(state_slot(at->c.live, FIRST_SLOT + i)->kind, SLOT_SHADOW);
	next(at, EV_op_end);
	assert_true(folio->list == LIST_NONE);
	for (u32 i = 0, used = 0; i < N; i++) {
		used += at->want[COUNT + i] > 0;
		assert_int_equal(state_slot(at->c.live, FIRST_SLOT + i)->kind,
				 at->want[COUNT + i] ? SLOT_SHADOW : SLOT_FREE);
		if (i == N - 1)
			assert_int_equal(state_cluster(at->c.live, 1)->count, used);
	}
}

/* Given up: active, in the swap cache and dirty, back on the list. */
static void kept(struct moment *at)
{
	const struct folio *folio = state_folio(at->c.live, 0);

	next(at, EV_still_mapped);
	next(at, EV_folio_activated);
	at->want[REF]--;
	next(at, EV_folio_put_back);
	next(at, EV_op_end);
	assert_true(folio_flag(folio, PG_active) && folio_flag(folio, PG_swapcache) &&
		    folio_flag(folio, PG_dirty) && folio_flag(folio, PG_lru));
	for (u32 i = 0; i < N; i++)
		assert_int_equal(state_slot(at->c.live, FIRST_SLOT + i)->kind, SLOT_FOLIO);
}

/* As it stands before the first step, which must be what the run is about. */
static void begin(struct moment *at, u32 maps[N])
{
	u32 mapped = 0;

	look(at, at->want);
	memcpy(at->before, at->want, sizeof(at->before));
	for (u32 i = 0; i < N; i++) {
		for (u32 mm = 0; mm < at->nr_mms; mm++) {
			pte_t pte = *mm_value(at, mm, PTE + i);

			maps[i] += pte != 0;
			assert_true(!pte || at->ops->pfn(pte) == FIRST_PFN + i);
		}
		assert_int_equal(state_page(at->c.live, i)->mapcount, maps[i]);
		mapped += maps[i];
	}
	assert_int_equal(at->want[MAP], mapped);
}

static void check_lane(const struct golden *g, const struct lane *lane)
{
	struct moment at = { .lane = lane, .ops = lane->m.arch->pte };
	const struct folio *folio;
	u32 maps[N] = { 0 };
	bool done;

	assert_true(cursor_open(&at.c, lane->trace));
	at.nr_mms = at.c.live->nr[ARRAY_MM];
	at.batched = lane->spec->kernel->anon_batch == ANON_RUN;
	folio = state_folio(at.c.live, 0);
	begin(&at, maps);
	if (!folio_isolated(folio)) {
		at.want[REF]++;
		next(&at, EV_folio_isolated);
	}
	if (!folio_flag(folio, PG_swapcache)) {
		at.want[REF] += N;
		next(&at, EV_swap_slots_allocated);
	}
	assert_int_equal(at.want[REF], at.want[MAP] + N + 1);
	done = at.batched ? all_runs(&at, g, maps) : all_pages(&at, g, maps);
	if (done)
		freed(&at);
	else
		kept(&at);
	cursor_close(&at.c);
}

static struct scenario *open_golden(const struct golden *g)
{
	static const char frame[] =
		"{\"$schema\": \"scenario-1.json\", \"title\": \"t\","
		" \"machine\": {\"cpus\": 2, \"swap\": [{\"id\": \"zram0\", \"slots\": 1024}]},"
		" \"world\": {%s}, \"script\": [{\"do\": \"reclaim_folio_list\"}]}";
	struct error err = { .text = "" };
	struct scenario *s;
	char text[2048];

	if (g->world)
		snprintf(text, sizeof(text), frame, g->world);
	s = g->world ? scenario_load(g->name, text, strlen(text), &err) :
		       scenario_open(g->scenario, &err);
	if (!s)
		fail_msg("%s", err.text);
	return s;
}

static void test_golden(void **state)
{
	const struct golden *g = *state;
	struct scenario *s = open_golden(g);
	struct error err;
	struct run run;
	u32 batched = 0;

	if (!run_scenario(&run, s, RUN_RECORD, true, &err))
		fail_msg("%s", err.text);
	for (u32 i = 0; i < run.nr_lanes; i++) {
		assert_string_equal(run.lanes[i].invariant.text, "");
		check_lane(g, &run.lanes[i]);
		batched += run.lanes[i].spec->kernel->anon_batch == ANON_RUN;
	}
	assert_true(batched >= 2 && run.nr_lanes - batched >= 2);
	run_free(&run);
	scenario_free(s);
}

int main(void)
{
	struct CMUnitTest tests[NR_OF(goldens)];

	for (u32 i = 0; i < NR_OF(goldens); i++)
		tests[i] = (struct CMUnitTest){ .name = goldens[i].name,
						.test_func = test_golden,
						.initial_state = (void *)(uintptr_t)&goldens[i] };
	return _cmocka_run_group_tests("golden", tests, NR_OF(goldens), NULL, NULL);
}
