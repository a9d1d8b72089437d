/* SPDX-License-Identifier: GPL-2.0-only */
/* Reclaim of lazyfree folios: dropped, or kept because somebody wrote or holds on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "scenario/run.h"

struct situation {
	const char *arch, *kernel;
	const char *va;			/* of page 0; NULL: in one table, aligned */
	bool droppable;
	s32 dirty_page;			/* the one page that was written to, -1: none */
	const char *trigger;		/* in the middle, a script operation; NULL: none */
};

struct outcome {
	struct scenario *s;
	struct run run;
	const struct machine *m;
	const struct folio *folio;
};

static struct outcome reclaim(const struct situation *situation)
{
	static const char format[] =
		"{\"$schema\": \"schema/scenario-1.json\", \"title\": \"T\", \"summary\": \"S\","
		" \"level\": \"core\", \"teaches\": [\"x\"], \"refs\": [\"mm/rmap.c\"],"
		" \"lanes\": [{\"arch\": \"%s\", \"path\": \"x\", \"kernel\": \"%s\"}],"
		" \"machine\": {\"cpus\": 2},"
		" \"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
		" \"vmas\": [{\"mm\": \"app\", \"start\": \"0x7f0000000000\","
		" \"end\": \"0x7f0000400000\", \"droppable\": %s}],"
		" \"folios\": [{\"id\": \"A\", \"order\": 4, \"isolated\": true,"
		" \"lazyfree\": true}],"
		" \"maps\": [{\"mm\": \"app\", \"folio\": \"A\", \"va\": \"%s\","
		" \"young\": false, \"dirty\": false}]},"
		" \"script\": [%s{\"cpu\": 0, \"do\": \"reclaim_folio_list\"}%s]}";
	struct outcome o;
	struct error err = { .text = "" };
	char text[4096], write[128] = "";
	const char *va = situation->va ? situation->va : "0x7f0000010000";

	if (situation->dirty_page >= 0)
		snprintf(write, sizeof(write),
			 "{\"cpu\": 1, \"do\": \"write\", \"mm\": \"app\", \"va\": \"0x%llx\"}, ",
			 strtoull(va, NULL, 16) + (u64)situation->dirty_page * PAGE_SIZE);
	snprintf(text, sizeof(text), format, situation->arch, situation->kernel,
		 situation->droppable ? "true" : "false", va, write,
		 situation->trigger ? situation->trigger : "");
	o.s = scenario_load("text", text, strlen(text), &err);
	if (!o.s)
		fail_msg("%s\n%s", err.text, text);
	if (!run_scenario(&o.run, o.s, RUN_RECORD, true, &err))
		fail_msg("%s", err.text);
	assert_string_equal(o.run.lanes[0].invariant.text, "");
	o.m = &o.run.lanes[0].m;
	o.folio = o.m->folio;
	return o;
}

static void done(struct outcome *o)
{
	run_free(&o->run);
	scenario_free(o->s);
}

static u64 counted(const struct outcome *o, enum counter counter)
{
	return o->m->s->count[counter];
}

/* Entries in use, and how many of them are dirty. */
static u32 present(const struct outcome *o, u32 *dirty)
{
	const struct pte_ops *ops = o->m->arch->pte;
	u32 nr = 0;

	*dirty = 0;
	for (u32 i = 0; i < o->m->s->nr[ARRAY_PTE]; i++) {
		nr += ops->present(o->m->pte[i]);
		*dirty += ops->present(o->m->pte[i]) && ops->dirty(o->m->pte[i]);
	}
	return nr;
}

static void assert_gone(const struct outcome *o)
{
	u32 dirty;

	assert_int_equal(present(o, &dirty), 0);
	assert_int_equal(o->folio->refcount, 0);
	assert_int_equal(o->folio->mapcount, 0);
	assert_int_equal(o->m->mm->anonpages, 0);
	assert_int_equal(o->m->mm->swapents, 0);
	assert_int_equal(counted(o, COUNT_folio_freed), 1);
	assert_int_equal(counted(o, COUNT_folio_write_start), 0);
}

static void assert_stays(const struct outcome *o, bool swapbacked, u32 dirty_ptes)
{
	u32 dirty;

	assert_int_equal(present(o, &dirty), 16);
	assert_int_equal(dirty, dirty_ptes);
	assert_int_equal(o->folio->mapcount, 16);
	assert_int_equal(o->m->mm->anonpages, 16);
	assert_int_equal(folio_flag(o->folio, PG_swapbacked), swapbacked);
	assert_true(folio_flag(o->folio, PG_active));
	assert_int_equal(o->folio->list, swapbacked ? LRU_ACTIVE_ANON : LRU_ACTIVE_FILE);
	assert_int_equal(counted(o, COUNT_folio_freed), 0);
}

static const char *const archs_of[] = { "arm64", "x86_64" };

static void test_clean_is_dropped_in_one_run(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(archs_of); i++) {
		struct outcome o = reclaim(&(struct situation){ archs_of[i], "7.3",
								.dirty_page = -1 });

		assert_gone(&o);
		assert_int_equal(counted(&o, COUNT_tlb_pending), 1);
		assert_int_equal(counted(&o, COUNT_smp_mb), 1);
		assert_int_equal(counted(&o, COUNT_mm_counter_op), 1);
		assert_int_equal(counted(&o, COUNT_rmap_remove), 1);
		done(&o);
	}
}

/* 6.12 goes page by page, and finds the folio partially mapped on the way. */
static void test_clean_is_dropped_page_by_page(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(archs_of); i++) {
		struct outcome o = reclaim(&(struct situation){ archs_of[i], "6.12",
								.dirty_page = -1 });

		assert_gone(&o);
		assert_int_equal(counted(&o, COUNT_tlb_pending), 16);
		assert_int_equal(counted(&o, COUNT_smp_mb), 16);
		assert_int_equal(counted(&o, COUNT_mm_counter_op), 16);
		assert_int_equal(counted(&o, COUNT_rmap_remove), 16);
		assert_false(folio_flag(o.folio, PG_deferred_list));
		done(&o);
	}
}

/* The exchange brings dirty back for the whole run: all 16 PTEs are restored dirty. */
static void test_redirtied_stays(void **state)
{
	static const char *const kernels_of[] = { "7.3", "6.16", "6.12" };

	(void)state;
	for (u32 i = 0; i < NR_OF(archs_of); i++)
		for (u32 k = 0; k < NR_OF(kernels_of); k++) {
			struct outcome o = reclaim(&(struct situation){
				archs_of[i], kernels_of[k], .dirty_page = 3 });

			if (k < 2) {
				assert_stays(&o, true, 16);
			} else {
				u32 dirty;

				assert_int_equal(present(&o, &dirty), i ? 13 : 16);
				assert_true(folio_flag(o.folio, PG_swapbacked));
			}
			assert_true(folio_flag(o.folio, PG_dirty));
			done(&o);
		}
}

/* A reference that is taken after the PTEs were cleared: nobody wrote, nobody may drop it. */
static void test_held_stays_lazyfree(void **state)
{
	static const char get[] = ", {\"cpu\": 1, \"do\": \"get_ref\", \"folio\": \"A\","
				  " \"when\": {\"event\": \"smp_mb_before_refcount\"}}";

	(void)state;
	for (u32 i = 0; i < NR_OF(archs_of); i++) {
		struct outcome o = reclaim(&(struct situation){ archs_of[i], "7.3",
								.dirty_page = -1,
								.trigger = get });

		assert_stays(&o, false, 0);
		done(&o);
		o = reclaim(&(struct situation){ archs_of[i], "6.16", .dirty_page = -1,
						 .trigger = get });
		assert_stays(&o, false, 0);
		done(&o);
		o = reclaim(&(struct situation){ archs_of[i], "6.12", .dirty_page = -1,
						 .trigger = get });
		assert_stays(&o, true, 0);
		done(&o);
	}
}

/* Page 0 is the last of one table, pages 1 to 15 are the first of the next: two runs. */
static void test_two_tables_make_two_runs(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(archs_of); i++) {
		struct outcome o = reclaim(&(struct situation){ archs_of[i], "7.3",
								.va = "0x7f00001ff000",
								.dirty_page = -1 });

		assert_gone(&o);
		assert_int_equal(counted(&o, COUNT_tlb_pending), 2);
		assert_int_equal(counted(&o, COUNT_rmap_remove), 2);
		assert_int_equal(counted(&o, COUNT_tlb_flush), 1);
		assert_false(folio_flag(o.folio, PG_deferred_list));
		done(&o);
	}
}

/*
 * Written to, but droppable: unmapped all the same. As its dirty flag is set it is not
 * freed there but put back, which drops the last reference.
 */
static void test_droppable_may_be_dirty(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(archs_of); i++) {
		struct outcome o = reclaim(&(struct situation){ archs_of[i], "7.3",
								.droppable = true,
								.dirty_page = 3 });

		assert_gone(&o);
		assert_false(folio_flag(o.folio, PG_swapbacked));
		done(&o);
	}
}

/*
 * Four folios, MADV_PAGEOUT by a process that ran on one CPU: what real kernels did under
 * QEMU. Their order of calls was compared too, by hand: the same.
 */
struct recorded {
	const char *lane;
	bool redirtied;
	u32 loads, stores, xchg, walks, rmap_removes, unfolds, pendings, invlpgs;
};

static const struct recorded recorded[] = {
	{ "arm64/7.3", false, 208, 0, 64, 4, 4, 0, 4, 0 },
	{ "arm64/7.3", true, 40, 64, 64, 4, 0, 0, 4, 0 },
	{ "arm64/6.16", false, 208, 0, 64, 4, 4, 0, 4, 0 },
	{ "arm64/6.16", true, 208, 64, 64, 4, 0, 0, 4, 0 },
	{ "arm64/6.12", false, 512, 64, 128, 68, 64, 4, 64, 0 },
	{ "arm64/6.12", true, 216, 68, 68, 4, 0, 4, 4, 0 },
	{ "x86_64/7.3", false, 136, 0, 64, 4, 4, 0, 0, 64 },
	{ "x86_64/7.3", true, 136, 64, 64, 4, 0, 0, 0, 64 },
	{ "x86_64/6.16", false, 136, 0, 64, 4, 4, 0, 0, 64 },
	{ "x86_64/6.16", true, 136, 64, 64, 4, 0, 0, 0, 64 },
	{ "x86_64/6.12", false, 316, 0, 64, 68, 64, 0, 0, 64 },
	{ "x86_64/6.12", true, 76, 4, 4, 4, 0, 0, 0, 4 },
};

static void check_recorded(const struct recorded *r)
{
	static const char format[] =
		"{\"$schema\": \"schema/scenario-1.json\", \"title\": \"T\", \"summary\": \"S\","
		" \"level\": \"core\", \"teaches\": [\"x\"], \"refs\": [\"mm/rmap.c\"],"
		" \"lanes\": [{\"arch\": \"%.*s\", \"path\": \"x\", \"kernel\": \"%s\"}],"
		" \"machine\": {\"cpus\": 1}, \"world\": {\"mms\": [{\"id\": \"app\"}],"
		" \"folios\": [{\"id\": \"A\", \"order\": 4, \"count\": 4, \"lazyfree\": true}],"
		" \"maps\": [{\"mm\": \"app\", \"va\": \"0x7f0000010000\", \"folio\": \"A\","
		" \"dirty\": %s, \"young\": %s}]},"
		" \"script\": [{\"cpu\": 0, \"do\": \"madvise_pageout\", \"mm\": \"app\","
		" \"va\": \"0x7f0000010000\", \"pages\": 64}]}";
	const char *kernel = strchr(r->lane, '/') + 1, *word = r->redirtied ? "true" : "false";
	const struct { enum counter counter; u32 want; } wants[] = {
		{ COUNT_pte_read, r->loads }, { COUNT_pte_store, r->stores },
		{ COUNT_pte_xchg, r->xchg }, { COUNT_walk_step, r->walks },
		{ COUNT_rmap_remove, r->rmap_removes }, { COUNT_contpte_unfold, r->unfolds },
		{ COUNT_tlb_pending, r->pendings }, { COUNT_invlpg, r->invlpgs },
		{ COUNT_folio_freed, r->redirtied ? 0 : 4 },
	};
	struct error err = { .text = "" };
	struct scenario *s;
	struct run run;
	char text[4096];

	snprintf(text, sizeof(text), format, (int)(kernel - r->lane - 1), r->lane, kernel, word,
		 word);
	s = scenario_load("text", text, strlen(text), &err);
	if (!s || !run_scenario(&run, s, RUN_COUNT, true, &err))
		fail_msg("%s", err.text);
	assert_string_equal(run.lanes[0].invariant.text, "");
	for (u32 i = 0; i < NR_OF(wants); i++) {
		u64 got = run.lanes[0].m.s->count[wants[i].counter];

		if (got != wants[i].want)
			fail_msg("%s %d: %s %lu, expected %u", r->lane, r->redirtied,
				 counter_names[wants[i].counter], (unsigned long)got,
				 wants[i].want);
	}
	run_free(&run);
	scenario_free(s);
}

static void test_real_kernels_counted_the_same(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(recorded); i++)
		check_recorded(&recorded[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean_is_dropped_in_one_run),
		cmocka_unit_test(test_clean_is_dropped_page_by_page),
		cmocka_unit_test(test_redirtied_stays),
		cmocka_unit_test(test_held_stays_lazyfree),
		cmocka_unit_test(test_two_tables_make_two_runs),
		cmocka_unit_test(test_droppable_may_be_dirty),
		cmocka_unit_test(test_real_kernels_counted_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
