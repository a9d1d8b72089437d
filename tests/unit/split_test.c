/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Splitting a large folio: what becomes of its pages, PTEs, references and slots, and what
 * is put back when it cannot be split. The values follow from the kernel's rules (7.3).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "scenario/run.h"

#define VA "0x7f0000010000"
#define N  16u

struct world {
	struct scenario *s;
	struct run run;
};

static struct world run_world(const char *world, const char *script)
{
	static char text[4096];
	struct world w;
	struct error err;

	snprintf(text, sizeof(text),
		 "{\"$schema\": \"scenario-1.json\", \"title\": \"t\","
		 " \"machine\": {\"cpus\": 2, \"swap\": [{\"id\": \"z\", \"slots\": 1024}]},"
		 " \"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"},"
		 " {\"id\": \"kid\"}], %s}, \"script\": [%s]}",
		 world, script);
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

#define FOLIO(more) "\"folios\": [{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\"" more "}],"
#define MAP(more) "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\"" more "}]"
#define HALF	  MAP(", \"pages\": \"0..7\"")
#define PAGEOUT(pages) \
	"{\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": " pages "}"
#define AT_PAGE_3(op, event) \
	", {\"cpu\": 1, \"do\": \"" op "\", \"folio\": \"A\"," \
	" \"when\": {\"event\": \"" event "\", \"page\": 3}}"

static const struct folio *folio_of_page(const struct mm_state *s, u32 page)
{
	return state_folio(s, page_folio(s, page));
}

static pte_t pte_at(const struct mm_state *s, u32 page)
{
	return *state_pte(s, va_pte(s, 0, 0x7f0000010000) + page);
}

static bool is_free(const struct folio *folio)
{
	return !folio->refcount && !folio->mapcount && folio->list == LIST_NONE &&
	       !folio_flag(folio, PG_anon) && !folio_flag(folio, PG_lru);
}

/* Pages that nobody maps are freed without being written, the others go one by one. */
static void test_data(void **state)
{
	struct world w = run_world(FOLIO(", \"fill\": \"data\"") HALF, PAGEOUT("8"));

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct lane *lane = &w.run.lanes[i];
		const struct mm_state *s = lane->m.s;

		for (u32 page = 0; page < N; page++) {
			assert_int_equal(folio_of_page(s, page)->page, page);
			assert_true(is_free(folio_of_page(s, page)));
		}
		for (u32 page = 0; page < 8; page++) {
			assert_int_equal(lane->m.arch->pte->swp_offset(pte_at(s, page)), page + 1);
			assert_true(lane->m.arch->pte->swp_exclusive(pte_at(s, page)));
		}
		assert_int_equal(state_mm(s, 0)->anonpages, 0);
		assert_int_equal(state_mm(s, 0)->swapents, 8);
		assert_int_equal(s->count[COUNT_folio_write_start], 8);
		assert_int_equal(s->count[COUNT_folio_freed], 16);
		assert_int_equal(s->count[COUNT_folio_split], 1);
	}
	end_world(&w);
}

/* A page of zeroes is replaced by the shared one: nothing is left to reclaim. */
static void test_zeroes(void **state)
{
	struct world w = run_world(FOLIO("") HALF, PAGEOUT("8"));

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct pte_ops *ops = w.run.lanes[i].m.arch->pte;
		const struct mm_state *s = w.run.lanes[i].m.s;

		for (u32 page = 0; page < N; page++)
			assert_true(is_free(folio_of_page(s, page)));
		for (u32 page = 0; page < 8; page++) {
			struct pte_desc desc;

			ops->decode(pte_at(s, page), &w.run.lanes[i].spec->kernel->types, &desc);
			assert_true(desc.kind == PTE_PRESENT && desc.special && !desc.write);
			assert_int_equal(desc.pfn, ZERO_PFN);
		}
		assert_int_equal(state_mm(s, 0)->anonpages, 0);
		assert_int_equal(state_mm(s, 0)->swapents, 0);
		assert_int_equal(s->count[COUNT_folio_write_start], 0);
	}
	end_world(&w);
}

/* Pages of zeroes among others */
static void test_some_zeroes(void **state)
{
	struct world w = run_world(FOLIO(", \"fill\": \"data\", \"zeroes\": \"1..3\"") HALF,
				   PAGEOUT("8"));

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct pte_ops *ops = w.run.lanes[i].m.arch->pte;
		const struct mm_state *s = w.run.lanes[i].m.s;

		for (u32 page = 0; page < 8; page++) {
			assert_true(is_free(folio_of_page(s, page)));
			assert_int_equal(ops->present(pte_at(s, page)), page >= 1 && page <= 3);
		}
		assert_int_equal(state_mm(s, 0)->swapents, 5);
		assert_int_equal(s->count[COUNT_folio_write_start], 5);
	}
	end_world(&w);
}

/* A split that comes to nothing leaves every entry as it was, and the folio whole. */
static void put_back(const char *script, u32 refs, u32 pins)
{
	struct world w = run_world(
		FOLIO(", \"fill\": \"data\"")
		"\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\","
		" \"pages\": \"0..3\"},"
		" {\"mm\": \"app\", \"va\": \"0x7f0000014000\", \"folio\": \"A\","
		" \"pages\": \"4..5\","
		" \"write\": false, \"dirty\": false, \"young\": false, \"soft_dirty\": false},"
		" {\"mm\": \"app\", \"va\": \"0x7f0000016000\", \"folio\": \"A\","
		" \"pages\": \"6..7\","
		" \"write\": false, \"exclusive\": false, \"uffd\": true}]",
		script);

	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct lane *lane = &w.run.lanes[i];
		const struct mm_state *s = lane->m.s, *was = trace_start(lane->trace);
		const struct folio *folio = state_folio(s, 0);

		assert_int_equal(s->count[COUNT_folio_split], 0);
		for (u32 page = 0; page < 8; page++) {
			assert_int_equal(pte_at(s, page), pte_at(was, page));
			assert_int_equal(page_folio(s, page), 0);
			assert_int_equal(state_page(s, page)->mapcount, 1);
			assert_int_equal(state_page(s, page)->anon_exclusive, page < 6);
		}
		assert_int_equal(folio->refcount, 8 + refs);
		assert_int_equal(folio->pincount, pins);
		assert_int_equal(folio->held, 0);
		assert_int_equal(folio->mapcount, 8);
		assert_int_equal(folio->order, 4);
		assert_true(folio_flag(folio, PG_partially_mapped));
		assert_true(folio_flag(folio, PG_lru) && !folio_flag(folio, PG_locked));
		assert_int_equal(state_mm(s, 0)->anonpages, 8);
	}
	end_world(&w);
}

static void test_put_back(void **state)
{
	(void)state;
	put_back(PAGEOUT("8") AT_PAGE_3("get_ref", "migration_pte_set"), 1, 0);
	put_back(PAGEOUT("8") AT_PAGE_3("pin", "smp_mb"), 1, 1);
	put_back("{\"do\": \"get_ref\", \"folio\": \"A\"}, " PAGEOUT("8"), 1, 0);
}

/* Whose pages others map too is not touched. */
static void test_shared(void **state)
{
	struct world w = run_world(
		FOLIO("") "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\","
			  " \"pages\": \"0..7\", \"write\": false, \"exclusive\": false},"
			  " {\"mm\": \"kid\", \"va\": \"" VA "\", \"folio\": \"A\","
			  " \"pages\": \"0..7\", \"write\": false, \"exclusive\": false}]",
		PAGEOUT("8"));

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct mm_state *s = w.run.lanes[i].m.s;

		assert_int_equal(s->count[COUNT_folio_split], 0);
		assert_int_equal(state_folio(s, 0)->refcount, 16);
	}
	end_world(&w);
}

/* Sixteen slots in a row are not to be had, single ones are. */
static void test_no_room(void **state)
{
	struct world w = run_world(
		FOLIO(", \"fill\": \"data\"") MAP("")
		", \"slots\": [{\"device\": \"z\", \"slots\": \"1..500\"},"
		" {\"device\": \"z\", \"slots\": \"512..520\"}]",
		PAGEOUT("16"));

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct mm_state *s = w.run.lanes[i].m.s;
		const struct pte_ops *ops = w.run.lanes[i].m.arch->pte;

		assert_int_equal(s->count[COUNT_swpout_fallback], 1);
		assert_int_equal(s->count[COUNT_folio_freed], 16);
		assert_int_equal(state_mm(s, 0)->swapents, 16);
		/* the head goes on, then the tails from the end of the list */
		assert_int_equal(ops->swp_offset(pte_at(s, 0)), 501);
		assert_int_equal(ops->swp_offset(pte_at(s, 15)), 502);
		assert_int_equal(ops->swp_offset(pte_at(s, 6)), 511);
		assert_int_equal(ops->swp_offset(pte_at(s, 5)), 521);
	}
	end_world(&w);
}

/* Reclaim splits a folio that waits for it anyway: only what is mapped gets slots. */
static void test_reclaim_partially_mapped(void **state)
{
	struct world w = run_world(FOLIO(", \"fill\": \"data\", \"isolated\": true") HALF,
				   "{\"do\": \"reclaim_folio_list\"}");

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct mm_state *s = w.run.lanes[i].m.s;

		assert_int_equal(s->count[COUNT_folio_split], 1);
		assert_int_equal(s->count[COUNT_swpout_fallback], 0);
		assert_int_equal(state_device(s, 0)->inuse, 8);
		assert_int_equal(s->count[COUNT_folio_freed], 16);
	}
	end_world(&w);
}

/* In the swap cache each page takes its slot along; those of unmapped pages are freed. */
static void test_swap_cache(void **state)
{
	struct world w = run_world(
		FOLIO(", \"fill\": \"data\", \"swap\": {\"device\": \"z\", \"slot\": 32}")
		"\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\","
		" \"pages\": \"0..7\"},"
		" {\"mm\": \"app\", \"va\": \"0x7f0000018000\", \"folio\": \"A\","
		" \"pages\": \"8..15\"}],"
		" \"vmas\": [{\"mm\": \"app\", \"start\": \"0x7f0000000000\","
		" \"end\": \"0x7f0000018000\"}, {\"mm\": \"app\", \"start\": \"0x7f0000018000\","
		" \"end\": \"0x7f0000020000\", \"locked\": true}]",
		PAGEOUT("8"));

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct mm_state *s = w.run.lanes[i].m.s;

		for (u32 page = 0; page < 8; page++)
			assert_true(is_free(folio_of_page(s, page)));
		for (u32 page = 8; page < N; page++) {
			const struct folio *folio = folio_of_page(s, page);

			assert_int_equal(folio->swap, 32 + page);
			assert_int_equal(state_slot(s, 32 + page)->folio, page_folio(s, page));
			assert_int_equal(folio->refcount, 2); /* its PTE, the swap cache */
			assert_int_equal(folio->index, state_folio(s, 0)->index + page);
		}
		assert_int_equal(state_device(s, 0)->inuse, 16);
	}
	end_world(&w);
}

/* Tails stand in front of the head on its LRU list, in order, with its flags. */
static void test_tails(void **state)
{
	struct world w = run_world(
		FOLIO(", \"fill\": \"data\", \"flags\": [\"active\", \"workingset\"]") HALF,
		PAGEOUT("8"));

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct trace *t = w.run.lanes[i].trace;
		struct cursor c;
		u32 at = 0;

		while (trace_step(t, at)->event != EV_remove_migration_ptes)
			at++;
		assert_true(cursor_open(&c, t));
		cursor_seek(&c, at + 1);
		assert_int_equal(c.live->list[LRU_ACTIVE_ANON].nr, N);
		for (u32 page = 0, f = c.live->list[LRU_ACTIVE_ANON].first; page < N; page++) {
			const struct folio *folio = state_folio(c.live, f);

			assert_int_equal(folio->page, (page + 1) % N);
			assert_int_equal(folio->order, 0);
			assert_int_equal(folio->refcount, 1);
			assert_int_equal(folio->held, 1);
			assert_true(folio_flag(folio, PG_locked) && folio_flag(folio, PG_dirty));
			assert_true(folio_flag(folio, PG_active) &&
				    folio_flag(folio, PG_workingset));
			assert_false(folio_flag(folio, PG_partially_mapped) ||
				     folio_flag(folio, PG_deferred_list));
			f = folio->next;
		}
		cursor_close(&c);
	}
	end_world(&w);
}

#define THP \
	"\"folios\": [{\"id\": \"A\", \"order\": 9, \"pfn\": \"0x12400\", \"fill\": \"data\"}],"
#define HUGE(mm, more) \
	"{\"mm\": \"" mm "\", \"va\": \"0x7f0000200000\", \"folio\": \"A\"," \
	" \"pmd\": true" more "}"
#define PAGEOUT_THP(pages) \
	"{\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"0x7f0000200000\"," \
	" \"pages\": " pages "}"

static pte_t thp_pte(const struct mm_state *s, u32 page)
{
	return *state_pte(s, va_pte(s, 0, 0x7f0000200000) + page);
}

/* A part of a huge mapping: the folio itself is split, its entry straight to migration entries. */
static void test_part_of_a_thp(void **state)
{
	struct world w = run_world(THP "\"maps\": [" HUGE("app", "") "]", PAGEOUT_THP("100"));

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct lane *lane = &w.run.lanes[i];
		const struct mm_state *s = lane->m.s;
		const struct pte_ops *ops = lane->m.arch->pte;

		assert_int_equal(s->count[COUNT_pmd_split], 1);
		assert_int_equal(s->count[COUNT_folio_split], 1);
		assert_int_equal(state_table(s, 0)->pmd, 0);
		for (u32 page = 0; page < 512; page++) {
			const struct folio *folio = folio_of_page(s, page);

			assert_int_equal(folio->order, 0);
			assert_int_equal(is_free(folio), page < 100);
			assert_int_equal(ops->present(thp_pte(s, page)), page >= 100);
			if (page < 100)
				continue;
			assert_int_equal(ops->pfn(thp_pte(s, page)), 0x12400 + page);
			assert_true(ops->write(thp_pte(s, page)) && ops->dirty(thp_pte(s, page)));
			assert_true(state_page(s, page)->anon_exclusive);
			assert_int_equal(folio->refcount, 1);
		}
		assert_int_equal(state_mm(s, 0)->anonpages, 412);
	}
	end_world(&w);
}

/* A pin that comes when the huge entry is gone: the folio stays whole, mapped by PTEs. */
static void test_pinned_thp(void **state)
{
	struct world w = run_world(
		THP "\"maps\": [" HUGE("app", "") "]",
		PAGEOUT_THP("100") ", {\"cpu\": 1, \"do\": \"pin\", \"folio\": \"A\","
				   " \"when\": {\"event\": \"pmd_invalidated\"}}");

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct mm_state *s = w.run.lanes[i].m.s;
		const struct pte_ops *ops = w.run.lanes[i].m.arch->pte;
		const struct folio *folio = state_folio(s, 0);

		assert_int_equal(s->count[COUNT_folio_split], 0);
		assert_int_equal(folio->refcount, 513);
		assert_int_equal(folio->mapcount, 512);
		assert_int_equal(folio->entire_mapcount, 0);
		assert_int_equal(folio->nr_pages_mapped, 512);
		for (u32 page = 0; page < 512; page++) {
			assert_true(ops->write(thp_pte(s, page)));
			assert_true(state_page(s, page)->anon_exclusive);
		}
	}
	end_world(&w);
}

/* Shared with another mm by a huge entry each: MADV_PAGEOUT leaves it, reclaim splits both. */
static void test_shared_thp(void **state)
{
	static const char maps[] =
		"\"maps\": [" HUGE("app", ", \"write\": false, \"exclusive\": false") ","
		HUGE("kid", ", \"write\": false, \"exclusive\": false") "]";
	static char world[1024];
	struct world w;

	(void)state;
	snprintf(world, sizeof(world), THP "%s", maps);
	w = run_world(world, PAGEOUT_THP("512"));
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct mm_state *s = w.run.lanes[i].m.s;

		assert_int_equal(s->count[COUNT_pmd_split], 0);
		assert_int_equal(state_folio(s, 0)->refcount, 2);
	}
	end_world(&w);
	snprintf(world, sizeof(world),
		 "\"folios\": [{\"id\": \"A\", \"order\": 9, \"isolated\": true}], %s", maps);
	w = run_world(world, "{\"do\": \"reclaim_folio_list\"}");
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct mm_state *s = w.run.lanes[i].m.s;

		assert_int_equal(s->count[COUNT_pmd_split], 2);
		assert_true(is_free(state_folio(s, 0)));
		assert_int_equal(state_mm(s, 0)->swapents, 512);
		assert_int_equal(state_mm(s, 1)->swapents, 512);
		assert_int_equal(state_slot(s, 512 + 7)->count, 2);
	}
	end_world(&w);
}

/* Locked memory stays, and stays mapped by its huge entry. */
static void test_locked_thp(void **state)
{
	struct world w = run_world(
		"\"folios\": [{\"id\": \"A\", \"order\": 9, \"isolated\": true}],"
		" \"maps\": [" HUGE("app", "") "], \"vmas\": [{\"mm\": \"app\","
		" \"start\": \"0x7f0000200000\", \"end\": \"0x7f0000400000\", \"locked\": true}]",
		"{\"do\": \"reclaim_folio_list\"}");

	(void)state;
	for (u32 i = 0; i < w.run.nr_lanes; i++) {
		const struct mm_state *s = w.run.lanes[i].m.s;

		assert_int_equal(s->count[COUNT_pmd_split], 0);
		assert_int_equal(state_folio(s, 0)->mapcount, 1);
		assert_true(folio_flag(state_folio(s, 0), PG_mlocked));
	}
	end_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_zeroes),
		cmocka_unit_test(test_some_zeroes),
		cmocka_unit_test(test_put_back),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_reclaim_partially_mapped),
		cmocka_unit_test(test_swap_cache),
		cmocka_unit_test(test_tails),
		cmocka_unit_test(test_part_of_a_thp),
		cmocka_unit_test(test_pinned_thp),
		cmocka_unit_test(test_shared_thp),
		cmocka_unit_test(test_locked_thp),
	};

	return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
