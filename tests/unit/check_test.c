/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each invariant can fail: a sound world in the middle of reclaim, one thing wrong with
 * it, and the invariant that has to notice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "arch/tlb.h"
#include "mm/check.h"
#include "mm/internal.h"
#include "scenario/run.h"

#define FIRST_SLOT 512u
#define BLOCK 16u

static u32 first_pte(const struct machine *m)
{
	return va_pte(m->s, 0, 0x7f0000010000);
}

static void break_V1(struct machine *m)
{
	put(m, &m->folio[0].refcount, m->folio[0].refcount - 1);
}

static void break_V2(struct machine *m)
{
	put(m, &m->folio[0].refcount, m->folio[0].refcount - 1);
	put(m, &m->folio[0].mapcount, m->folio[0].mapcount - 1);
}

/* A swap PTE whose slot was never counted; the mm is on the list, the page not exclusive. */
static void put_swap_pte(struct machine *m, u32 page)
{
	put(m, &m->mm[0].on_mmlist, 1);
	put(m, &m->page[page].anon_exclusive, 0);
	for (u32 i = 0; i < BLOCK; i++)
		put64(m, &m->pte[first_pte(m) + i],
		      m->arch->pte->mknoncont(m->pte[first_pte(m) + i]));
	put64(m, &m->pte[first_pte(m) + page], m->arch->pte->swp_entry(0, FIRST_SLOT + page));
	put(m, &m->folio[0].mapcount, m->folio[0].mapcount - 1);
	put(m, &m->folio[0].refcount, m->folio[0].refcount - 1);
	put(m, &m->mm[0].anonpages, m->mm[0].anonpages - 1);
	put(m, &m->mm[0].swapents, m->mm[0].swapents + 1);
}

static void break_V3(struct machine *m)
{
	put_swap_pte(m, 3);
}

static void break_V4(struct machine *m)
{
	put(m, &m->slot[FIRST_SLOT + 100].count, 1);
}

static void break_V5(struct machine *m)
{
	put(m, &m->device[0].inuse, m->device[0].inuse + 1);
}

static void break_V6(struct machine *m)
{
	put(m, &m->mm[0].anonpages, m->mm[0].anonpages - 1);
}

/* Everything unmapped and written, but one CPU was never told. */
static void forget_all_mappings(struct machine *m)
{
	for (u32 i = 0; i < BLOCK; i++)
		put64(m, &m->pte[first_pte(m) + i], 0);
	put(m, &m->folio[0].refcount, m->folio[0].refcount - BLOCK);
	put(m, &m->folio[0].mapcount, 0);
	put(m, &m->mm[0].anonpages, 0);
}

static void break_V7(struct machine *m)
{
	forget_all_mappings(m);
	folio_clear_flag(m, m->folio, PG_dirty);
}

static void break_V8(struct machine *m)
{
	forget_all_mappings(m);
	for (u32 i = 0; i < BLOCK; i++)
		put(m, &m->slot[FIRST_SLOT + i].kind, SLOT_BAD);
	put(m, &m->device[0].inuse, 0);
	put(m, &m->folio[0].flags, 0);
	put(m, &m->folio[0].swap, NONE);
	put(m, &m->folio[0].refcount, 0);
}

static void break_V9(struct machine *m)
{
	put_swap_pte(m, 3);
	put(m, &m->slot[FIRST_SLOT + 3].count, 1);
	put(m, &m->page[3].anon_exclusive, 1);
}

/* The walk has cleared a run of one PTE, of a page as it was before. */
static void put_run(struct machine *m, u32 page)
{
	put(m, &m->task->folio, 0);
	put(m, &m->task->walk_vma, 0);
	put(m, &m->task->walk_pte, first_pte(m) + page);
	put(m, &m->task->run.pte, first_pte(m) + page);
	put(m, &m->task->run.nr, 1);
}

static void break_V10(struct machine *m)
{
	u32 pte = first_pte(m) + 3;

	put_swap_pte(m, 3);
	put(m, &m->slot[FIRST_SLOT + 3].count, 1);
	put64(m, &m->pte[pte], m->arch->pte->swp_mkexclusive(m->pte[pte]));
	put_run(m, 3);
	put(m, &m->task->run.pins, 1);
}

static void break_V11(struct machine *m)
{
	put(m, &m->task->folio, 0);
	put(m, &m->task->phase, PHASE_unmap);
	put(m, &m->task->walk_pte, first_pte(m));
	folio_clear_flag(m, m->folio, PG_swapbacked);
}

static void break_V12(struct machine *m)
{
	put(m, &m->page[3].anon_exclusive, 0);
}

static void break_V13(struct machine *m)
{
	put_run(m, 3);
}

static void break_V14(struct machine *m)
{
	put(m, &m->slot[FIRST_SLOT + 3].kind, SLOT_SHADOW);
	put(m, &m->slot[FIRST_SLOT + 3].count, 1);
}

static void break_V15(struct machine *m)
{
	put(m, &m->task->folio, 0);
	put(m, &m->task->walk_pte, first_pte(m));
	put(m, &m->task->nr_pages, PTRS_PER_PTE);
}

static void break_V16(struct machine *m)
{
	put_swap_pte(m, 3);
	put(m, &m->slot[FIRST_SLOT + 3].count, 1);
	put(m, &m->mm[0].on_mmlist, 0);
}

static void break_V17(struct machine *m)
{
	u32 pte = first_pte(m) + 3;

	put64(m, &m->pte[pte], m->arch->pte->mknoncont(m->pte[pte]));
}

/* A PTE is gone, and nobody knows that a CPU may still hold its translation. */
static void break_V18(struct machine *m)
{
	tlb_fill(m, 0, first_pte(m) + 3);
	put_swap_pte(m, 3);
	put(m, &m->slot[FIRST_SLOT + 3].count, 1);
}

static void drop_what_was_written(struct machine *m)
{
	put_run(m, 3);
	put(m, &m->task->dropped_dirty, 1);
}

/* MADV_FREE has made it lazyfree, but one CPU was never told. */
static void break_V21(struct machine *m)
{
	const struct pte_ops *ops = m->arch->pte;

	for (u32 i = 0; i < BLOCK; i++)
		put64(m, &m->pte[first_pte(m) + i], ops->mkclean(m->pte[first_pte(m) + i]));
	folio_clear_flag(m, m->folio, PG_swapbacked);
	folio_clear_flag(m, m->folio, PG_dirty);
}

static void break_V19(struct machine *m)
{
	put(m, &m->mm[0].tlb_pending, 1);
	tlb_fill(m, 0, first_pte(m));
	put(m, &m->cpu[0].nr_tlb, 2);
	put64(m, &m->tlb[1].va, m->tlb[0].va + PAGE_SIZE);
	put(m, &m->tlb[1].mm, 0);
	put(m, &m->tlb[1].pfn, m->tlb[0].pfn + 1);
	put(m, &m->tlb[1].span, m->tlb[0].span == 1 ? BLOCK : 1);
	if (m->tlb[0].span == 1)
		put64(m, &m->tlb[1].va, m->tlb[0].va);
}

/* munmap is over, but a CPU has not heard of it. */
static void break_V20(struct machine *m)
{
	tlb_fill(m, 0, first_pte(m));
	put(m, &m->vma[0].flags, m->vma[0].flags & ~(u32)VM_WRITE);
}

static void write_a_shared_thp(struct machine *m)
{
	put(m, &m->page[0].anon_exclusive, 0);
}

static void lose_a_huge_mapping(struct machine *m)
{
	put64(m, &m->table[0].pmd, 0);
}

static void count_a_huge_mapping_twice(struct machine *m)
{
	put(m, &m->folio[0].entire_mapcount, 2);
}

static void forget_that_it_is_mapped_entirely(struct machine *m)
{
	put(m, &m->folio[0].nr_pages_mapped, 0);
}

static void free_a_tail_that_a_huge_translation_reaches(struct machine *m)
{
	u32 own = page_own_folio(m->s, 300);

	tlb_fill(m, 0, va_pte(m->s, 0, 0x7f0000200000));
	put(m, &m->page[300].folio, own);
	put(m, &m->folio[own].flags, 0);
}

/* An exclusive swap PTE of a slot that somebody else has too. */
static void share_exclusive(struct machine *m)
{
	u32 pte = first_pte(m) + 3;

	put_swap_pte(m, 3);
	put64(m, &m->pte[pte], m->arch->pte->swp_mkexclusive(m->pte[pte]));
	put(m, &m->slot[FIRST_SLOT + 3].count, 2);
	put(m, &m->slot[FIRST_SLOT + 3].others, 1);
	put(m, &m->mm[0].tlb_pending, 1);
}

/* A page that userfaultfd watches is unmapped, and nothing says so. */
static void lose_uffd_mark(struct machine *m)
{
	put_swap_pte(m, 3);
	put(m, &m->slot[FIRST_SLOT + 3].count, 1);
	put_run(m, 3);
	put(m, &m->task->run.done, 1);
	put(m, &m->task->run.uffd[0], 1);
}

static void miscount_shmem(struct machine *m)
{
	put(m, &m->mm[0].shmempages, 1);
}

static const struct fault {
	enum invariant invariant;
	void (*inflict)(struct machine *m);
	const char *scenario;
} faults[] = {
#define INVARIANT(id, text) { INVARIANT_##id, break_##id, "unmap-64k" },
#include "mm/invariants.def"
#undef INVARIANT
	{ INVARIANT_V6, miscount_shmem, "unmap-64k" },
	{ INVARIANT_V9, share_exclusive, "unmap-64k" },
	{ INVARIANT_V13, lose_uffd_mark, "unmap-64k" },
	{ INVARIANT_V21, drop_what_was_written, "unmap-64k" },
	{ INVARIANT_V12, write_a_shared_thp, "swapout-thp" },
	{ INVARIANT_V2, lose_a_huge_mapping, "swapout-thp" },
	{ INVARIANT_V2, count_a_huge_mapping_twice, "swapout-thp" },
	{ INVARIANT_V2, forget_that_it_is_mapped_entirely, "swapout-thp" },
	{ INVARIANT_V8, free_a_tail_that_a_huge_translation_reaches, "swapout-thp" },
};

static void test_fault(void **state)
{
	const struct fault *fault = *state;
	struct error err;
	struct scenario *s = scenario_open(fault->scenario, &err);

	assert_non_null(s);
	for (u32 i = 0; i < s->nr_lanes; i++) {
		struct violation v = { .invariant = NR_INVARIANTS };
		struct machine m;
		u32 *words = NULL, *scratch;

		assert_true(world_build(s, &s->lanes[i], &m, &words, &err));
		if (fault->invariant == INVARIANT_V17 && !m.arch->pte->has_cont) {
			free(words);
			continue;
		}
		scratch = calloc(check_scratch_words(m.s), sizeof(*scratch));
		assert_true(check_invariants(&m, scratch, true, &v));
		fault->inflict(&m);
		assert_false(check_invariants(&m, scratch, true, &v));
		assert_string_equal(invariants[v.invariant].name,
				    invariants[fault->invariant].name);
		free(scratch);
		free(words);
	}
	scenario_free(s);
}

struct looked {
	bool sound;
	struct violation v;
};

static struct looked look(const struct machine *m, u32 *scratch, bool entries)
{
	struct looked l = { .sound = false };

	l.sound = check_invariants(m, scratch, entries, &l.v);
	return l;
}

/* What check_concern() says of a word is true: a change of it is seen, or makes no difference. */
static void no_change_is_missed(const struct machine *m, u32 *words, u32 *scratch)
{
	const struct looked before = look(m, scratch, true);

	for (u32 word = m->s->at[0]; word < m->s->words; word++) {
		u32 concern = check_concern(m->s, word);
		struct looked fast, whole;

		/* another shape of a swap device would lead astray */
		if (concern & CONCERNS_ENTRIES ||
		    word - m->s->at[ARRAY_DEVICE] <
			    m->s->at[ARRAY_DEVICE + 1] - m->s->at[ARRAY_DEVICE])
			continue;
		words[word] ^= 1;
		fast = concern ? look(m, scratch, false) : before;
		whole = look(m, scratch, true);
		if (fast.sound != whole.sound ||
		    (!fast.sound && (fast.v.invariant != whole.v.invariant ||
				     fast.v.index != whole.v.index)))
			fail_msg("word %u: concern %u, but %s", word, concern, whole.sound ?
				 "now all hold" : invariants[whole.v.invariant].name);
		words[word] ^= 1;
		look(m, scratch, true);
	}
}

static void test_concerns(void **state)
{
	struct error err;
	struct scenario *s = scenario_open("swapout-64k", &err);
	struct run run;

	(void)state;
	assert_non_null(s);
	assert_true(run_scenario(&run, s, RUN_RECORD, false, &err));
	for (u32 i = 0; i < run.nr_lanes; i++) {
		struct machine m = run.lanes[i].m;
		u32 *scratch = calloc(check_scratch_words(m.s), sizeof(*scratch));
		struct cursor c;

		assert_true(scratch && cursor_open(&c, run.lanes[i].trace));
		for (u32 pos = 0; pos < run.lanes[i].steps; pos += 61) {
			cursor_seek(&c, pos);
			machine_attach(&m, c.words);
			no_change_is_missed(&m, c.words, scratch);
		}
		cursor_close(&c);
		free(scratch);
	}
	run_free(&run);
	scenario_free(s);
}

int main(void)
{
	struct CMUnitTest tests[NR_OF(faults) + 1];

	for (u32 i = 0; i < NR_OF(faults); i++)
		tests[i] = (struct CMUnitTest){ .name = invariants[faults[i].invariant].name,
						.test_func = test_fault,
						.initial_state = (void *)(uintptr_t)&faults[i] };
	tests[NR_OF(faults)] = (struct CMUnitTest)cmocka_unit_test(test_concerns);
	return _cmocka_run_group_tests("invariants", tests, NR_OF(tests), NULL, NULL);
}
