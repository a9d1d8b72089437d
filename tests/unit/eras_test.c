/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The older kernels: what a slot looks like in each, where slots come from and go to, and
 * what unmapping leaves when it fails. The values follow from 6.12.117, not from the engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "core/slot.h"
#include "scenario/ops.h"
#include "scenario/run.h"
#include "toy.h"

static const char frame[] =
	"{\"$schema\": \"scenario-1.json\", \"title\": \"t\","
	" \"machine\": {\"cpus\": 2, \"swap\": [{\"id\": \"z\", \"slots\": %u}]},"
	" \"lanes\": [{\"arch\": \"arm64\", \"path\": \"a\", \"kernel\": \"%s\"%s}],"
	" \"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
	" \"folios\": [{\"id\": \"A\", \"order\": %u, \"count\": %u, \"pfn\": \"0x12400\"%s}],"
	" \"vmas\": [{\"mm\": \"app\", \"start\": \"0x7f0000010000\", \"end\": \"0x7f0000400000\","
	" \"locked\": %s}],"
	" \"maps\": [{\"mm\": \"app\", \"va\": \"0x7f0000010000\", \"folio\": \"A\"}]},"
	" \"script\": [%s]}";

#define PAGEOUT(va, pages)                                                      \
	"{\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"" va "\", \"pages\": " \
	pages "}"

struct world {
	const char *kernel, *lane;	/* more of the lane */
	u32 slots, order, nr;
	const char *folio, *locked, *script;

	struct scenario *s;
	struct run run;
	const struct machine *m;
};

static void run_world(struct world *w)
{
	static char text[4096];
	struct error err;

	snprintf(text, sizeof(text), frame, w->slots ? w->slots : 1024, w->kernel,
		 w->lane ? w->lane : "", w->order, w->nr ? w->nr : 1, w->folio ? w->folio : "",
		 w->locked ? w->locked : "false", w->script);
	w->s = scenario_load("test", text, strlen(text), &err);
	if (!w->s || !run_scenario(&w->run, w->s, RUN_RECORD, true, &err))
		fail_msg("%s", err.text);
	w->m = &w->run.lanes[0].m;
}

static void end_world(struct world *w)
{
	run_free(&w->run);
	scenario_free(w->s);
}

static u32 entered(const struct world *w, enum event event)
{
	const struct trace *t = w->run.lanes[0].trace;
	u32 nr = 0;

	for (u32 i = 0; i < trace_nr_steps(t); i++)
		nr += trace_step(t, i)->event == event;
	return nr;
}

/* How many slots read so. */
static u32 slots_that_read(const struct world *w, u64 raw)
{
	u32 nr = 0;

	for (u32 i = 0; i < w->m->s->nr[ARRAY_SLOT]; i++)
		nr += slot_raw(w->m->s, w->m->kernel, i) == raw;
	return nr;
}

/* --- how a slot is written down ------------------------------------------- */

static void set_slot(struct toy *toy, u32 kind, u32 count, u32 zero)
{
	const struct slot *slot = toy->m.slot + 7;

	put(&toy->m, &slot->kind, kind);
	put(&toy->m, &slot->count, count);
	put(&toy->m, &slot->zero, zero);
	put(&toy->m, &slot->folio, kind == SLOT_FOLIO ? 0 : NONE);
}

static void test_raw_slots(void **state)
{
	static const struct {
		u32 kind, count, zero;
		u64 map, table;
	} rows[] = {
		{ SLOT_FREE, 0, 0, 0, 0 },
		{ SLOT_BAD, 0, 0, 0x3f, 0xfffffffffffffff8 },
		{ SLOT_SHADOW, 1, 0, 0x01, 0x1000000000000001 },
		{ SLOT_SHADOW, 2, 1, 0x02, 0x2800000000000001 },
		{ SLOT_SHADOW, 14, 0, 0x0e, 0xe000000000000001 },
		{ SLOT_SHADOW, 15, 0, 0x0f, 0xf000000000000001 },
		{ SLOT_SHADOW, 62, 0, 0x3e, 0xf000000000000001 },
		{ SLOT_SHADOW, 63, 0, 0x80, 0xf000000000000001 },
		{ SLOT_SHADOW, 64, 0, 0x81, 0xf000000000000001 },
		{ SLOT_SHADOW, 126, 0, 0x80, 0xf000000000000001 },
		{ SLOT_FOLIO, 0, 0, 0x40, 2 },
		{ SLOT_FOLIO, 3, 0, 0x43, 0x3000000000000002 },
		{ SLOT_RESERVED, 0, 0, 0x40, 0 },
		{ SLOT_RESERVED, 1, 0, 0x41, 0 },
	};
	struct toy toy;

	(void)state;
	toy_open(&toy);
	for (u32 i = 0; i < NR_OF(rows); i++) {
		u64 pfn = rows[i].kind == SLOT_FOLIO ? toy.m.folio[0].pfn : 0;

		set_slot(&toy, rows[i].kind, rows[i].count, rows[i].zero);
		assert_int_equal(slot_raw(toy.m.s, kernel_find("6.12"), 7), rows[i].map);
		if (rows[i].kind != SLOT_RESERVED)
			assert_int_equal(slot_raw(toy.m.s, kernel_find("7.3"), 7),
					 rows[i].table | pfn << 2);
	}
	toy_close(&toy);
}

/* --- slots of 6.12 and 6.16 ------------------------------------------------ */

/* 6.12 fills the CPU's cache with 64; 70 small folios fill it twice and leave 58. */
static void test_slot_cache(void **state)
{
	struct world w = { .kernel = "6.12", .nr = 70, .script = PAGEOUT("0x7f0000010000", "70") };

	(void)state;
	run_world(&w);
	assert_int_equal(entered(&w, EV_get_swap_pages), 2);
	assert_int_equal(entered(&w, EV_swap_range_alloc), 128);
	assert_int_equal(w.m->slot_cache[0].nr, 58);
	assert_int_equal(w.m->slot_cache[0].cur, 6);
	assert_int_equal(w.m->device[0].inuse, 128);
	assert_int_equal(slots_that_read(&w, 0x01), 70);
	assert_int_equal(slots_that_read(&w, 0x40), 58);
	end_world(&w);
}

/* 6.16 takes each when it needs it. */
static void test_no_slot_cache(void **state)
{
	struct world w = { .kernel = "6.16", .nr = 70, .script = PAGEOUT("0x7f0000010000", "70") };

	(void)state;
	run_world(&w);
	assert_int_equal(w.m->device[0].inuse, 70);
	assert_int_equal(slots_that_read(&w, 0x01), 70);
	assert_int_equal(slots_that_read(&w, 0x40), 0);
	end_world(&w);
}

/* Fewer than 2 * 64 free slots a CPU: the cache is off, and what it held is given back. */
static void test_slot_cache_of_a_small_device(void **state)
{
	struct world w = { .kernel = "6.12",
			   .slots = 1024,
			   .nr = 800,
			   .script = PAGEOUT("0x7f0000010000", "800") };
	struct world small = { .kernel = "6.12",
			       .slots = 512,
			       .nr = 3,
			       .script = PAGEOUT("0x7f0000010000", "3") };

	(void)state;
	run_world(&small); /* 511 free slots are fewer than 5 * 64 for each of two CPUs */
	assert_int_equal(entered(&small, EV_get_swap_pages), 3);
	assert_int_equal(small.m->device[0].inuse, 3);
	end_world(&small);
	run_world(&w); /* 12 * 64 slots on 255 are left: 63 of the last 64 go back */
	assert_int_equal(entered(&w, EV_slot_caches_drained), 1);
	assert_int_equal(entered(&w, EV_swap_entry_range_free), 63);
	assert_int_equal(entered(&w, EV_get_swap_pages), 12 + 800 - (11 * 64 + 1));
	assert_int_equal(w.m->s->slot_cache_active, 0);
	assert_int_equal(w.m->device[0].inuse, 800);
	end_world(&w);
}

/* A large folio goes past the cache, and into the swap cache after its slots are taken. */
static void test_large_folio(void **state)
{
	static const char *const kernels_[] = { "6.12", "6.16" };

	(void)state;
	for (u32 i = 0; i < NR_OF(kernels_); i++) {
		struct world w = { .kernel = kernels_[i],
				   .order = 4,
				   .script = PAGEOUT("0x7f0000010000", "16") };

		run_world(&w);
		assert_int_equal(entered(&w, EV_swap_map_reserved), 1);
		assert_int_equal(entered(&w, EV_add_to_swap_cache), 1);
		assert_int_equal(entered(&w, EV_add_to_swap), i == 0);
		assert_int_equal(entered(&w, EV_swap_writepage), i == 0);
		assert_int_equal(entered(&w, EV_swap_writeout), i == 1);
		assert_int_equal(entered(&w, EV___swap_duplicate), 16);
		assert_int_equal(w.m->s->count[COUNT_swap_slot_write], 16 + 16 + 16);
		assert_int_equal(slots_that_read(&w, 0x01), 16);
		assert_int_equal(w.m->folio[0].refcount, 0);
		end_world(&w);
	}
}

/* A pin in the middle: the counts of the page that failed go back, its slot stays cached. */
static void test_pinned(void **state)
{
	static const char *const kernels_[] = { "6.12", "6.16" };

	(void)state;
	for (u32 i = 0; i < NR_OF(kernels_); i++) {
		struct world w = { .kernel = kernels_[i],
				   .order = 4,
				   .script = PAGEOUT("0x7f0000010000", "16")
				   ", {\"cpu\": 1, \"do\": \"pin\", \"folio\": \"A\","
				   " \"when\": {\"event\": \"smp_mb\", \"page\": 5}}" };

		run_world(&w);
		assert_int_equal(slots_that_read(&w, 0x41), 5);
		assert_int_equal(slots_that_read(&w, 0x40), 11);
		assert_int_equal(entered(&w, EV_swap_free_nr), 1);
		assert_int_equal(entered(&w, EV_cluster_swap_free_nr), i == 0);
		assert_int_equal(entered(&w, EV_swap_entries_put_map), i == 1);
		assert_int_equal(w.m->folio[0].mapcount, 11);
		end_world(&w);
	}
}

/* --- unmapping ------------------------------------------------------------- */

/* 6.12 looks behind a folio's last page, also behind a small one's. */
static void test_walk_steps(void **state)
{
	static const struct {
		const char *kernel;
		u32 order, steps;
	} rows[] = {
		{ "6.12", 0, 2 }, { "6.16", 0, 1 }, { "7.3", 0, 1 },
		{ "6.12", 4, 17 }, { "6.16", 4, 17 }, { "7.3", 4, 17 },
	};

	(void)state;
	for (u32 i = 0; i < NR_OF(rows); i++) {
		struct world w = { .kernel = rows[i].kernel,
				   .order = rows[i].order,
				   .script = rows[i].order ? PAGEOUT("0x7f0000010000", "16") :
							     PAGEOUT("0x7f0000010000", "1") };

		run_world(&w);
		assert_int_equal(w.m->s->count[COUNT_walk_step], rows[i].steps);
		end_world(&w);
	}
}

/* Without slots swapbacked and swapcache disagree: 7.3 puts the PTE back, the others do not. */
static void test_flag_mismatch(void **state)
{
	static const char *const kernels_[] = { "7.3", "6.16", "6.12" };

	(void)state;
	for (u32 i = 0; i < NR_OF(kernels_); i++) {
		struct world w = { .kernel = kernels_[i],
				   .lane = ", \"bugs\": [\"slots_forgotten\"]",
				   .order = 2,
				   .script = PAGEOUT("0x7f0000010000", "4") };
		u32 pte;

		run_world(&w);
		pte = va_pte(w.m->s, 0, 0x7f0000010000);
		assert_int_equal(w.m->arch->pte->none(w.m->pte[pte]), i > 0);
		assert_true(w.m->arch->pte->present(w.m->pte[pte + 1]));
		assert_int_equal(entered(&w, EV_unmap_lost), i > 0);
		assert_int_equal(w.m->folio[0].mapcount, 4);
		end_world(&w);
	}
}

/* A locked VMA: a large folio that was missed is marked by 7.3 alone, a small one by all. */
static void test_mlock_missed(void **state)
{
	static const char *const kernels_[] = { "7.3", "6.16", "6.12" };

	(void)state;
	for (u32 i = 0; i < 2 * NR_OF(kernels_); i++) {
		bool large = i % 2, old = i / 2 > 0;
		struct world w = { .kernel = kernels_[i / 2],
				   .order = large ? 4 : 0,
				   .folio = ", \"isolated\": true",
				   .locked = "true",
				   .script = "{\"do\": \"reclaim_folio_list\"}" };

		run_world(&w);
		assert_int_equal(folio_flag(w.m->folio, PG_mlocked), !large || !old);
		assert_int_equal(w.m->folio[0].mapcount, large ? 16 : 1);
		assert_int_equal(entered(&w, EV_page_vma_mapped_walk), large && !old ? 16 : 1);
		end_world(&w);
	}
}

/* --- 6.1: pages one by one ------------------------------------------------- */

/* MADV_PAGEOUT of 6.1 makes pages old; one that is used before reclaim asks again stays. */
static void test_used_since(void **state)
{
	static const char *const kernels_[] = { "6.1", "6.12" };

	(void)state;
	for (u32 i = 0; i < NR_OF(kernels_); i++) {
		struct world w = { .kernel = kernels_[i],
				   .nr = 2,
				   .script = PAGEOUT("0x7f0000010000", "2")
				   ", {\"cpu\": 1, \"do\": \"read\", \"mm\": \"app\","
				   " \"va\": \"0x7f0000011000\","
				   " \"when\": {\"enter\": \"reclaim_pages\"}}" };
		u32 pte;

		run_world(&w);
		pte = va_pte(w.m->s, 0, 0x7f0000010000);
		assert_int_equal(entered(&w, EV_isolate_lru_page), i ? 0 : 2);
		assert_int_equal(entered(&w, EV_folio_referenced), i ? 0 : 2);
		assert_false(w.m->arch->pte->present(w.m->pte[pte]));
		assert_int_equal(w.m->arch->pte->present(w.m->pte[pte + 1]), i == 0);
		assert_int_equal(w.m->s->count[COUNT_walk_step], i ? 4 : 6);
		end_world(&w);
	}
}

/* What PTEs map of a large folio is split before anything of it is isolated. */
static void test_large_is_split(void **state)
{
	struct world w = { .kernel = "6.1",
			   .order = 9,
			   .slots = 2048,
			   .script = PAGEOUT("0x7f0000010000", "512") };

	(void)state;
	run_world(&w);
	assert_int_equal(entered(&w, EV_split_huge_page_to_list_to_order), 1);
	assert_int_equal(entered(&w, EV_isolate_lru_page), 512);
	assert_int_equal(entered(&w, EV_add_to_swap), 512);
	assert_int_equal(slots_that_read(&w, 0x01), 512);
	end_world(&w);
}

/* A CPU of 6.1 begins a cluster that is free; if none is, it takes the lowest free slot. */
static void test_scan(void **state)
{
	static const struct { u32 slots, offset; } rows[] = { { 1024, 512 }, { 512, 1 } };

	(void)state;
	for (u32 i = 0; i < NR_OF(rows); i++) {
		struct world w = { .kernel = "6.1",
				   .slots = rows[i].slots,
				   .script = PAGEOUT("0x7f0000010000", "1") };

		run_world(&w);
		assert_int_equal(slot_raw(w.m->s, w.m->kernel, rows[i].offset), 0x01);
		assert_int_equal(slots_that_read(&w, 0x01), 1);
		end_world(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw_slots),
		cmocka_unit_test(test_slot_cache),
		cmocka_unit_test(test_no_slot_cache),
		cmocka_unit_test(test_slot_cache_of_a_small_device),
		cmocka_unit_test(test_large_folio),
		cmocka_unit_test(test_pinned),
		cmocka_unit_test(test_walk_steps),
		cmocka_unit_test(test_flag_mismatch),
		cmocka_unit_test(test_mlock_missed),
		cmocka_unit_test(test_used_since),
		cmocka_unit_test(test_large_is_split),
		cmocka_unit_test(test_scan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
