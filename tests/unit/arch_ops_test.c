/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What touching page tables costs on arm64, row by row of tests/data/op-counts.json
 * (section "primitive", 7.3 and 6.12), and what it leaves in the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch_world.h"
#include "mm/internal.h"
#include "vectors.h"

struct want {
	const char *key;		/* in the JSON row */
	enum counter counter;
};

static const struct want wants[] = {
	{ "reads", COUNT_pte_read },
	{ "xchg", COUNT_pte_xchg },
	{ "stores", COUNT_pte_store },
	{ "cmpxchg", COUNT_pte_cmpxchg },
	{ "tlbi_single", COUNT_tlbi_page },
	{ "tlbi_range_ops", COUNT_tlbi_range },
	{ "dsb_ishst", COUNT_dsb_ishst },
	{ "dsb_ish", COUNT_dsb_ish },
};

/* A row: a folio mapped at first in a table, and what is done to it. */
struct primitive {
	const char *name;
	u32 order, first, state;	/* state: enum ad */
	void (*run)(struct machine *m, const struct primitive *p);
	u32 start, nr;			/* of the run, in pages of the folio */
	u32 special;			/* enum special */
};

enum special {
	EMPTY = 1,	/* nothing is mapped beforehand */
	PEEKS = 2,	/* the walk peeks at the first entry: not in the table's count */
};

static u32 at(const struct primitive *p)
{
	return p->first + p->start;
}

static void run_get(struct machine *m, const struct primitive *p)
{
	m->arch->ptep_get(m, at(p));
}

static void run_get_lockless(struct machine *m, const struct primitive *p)
{
	m->arch->ptep_get_lockless(m, at(p));
}

static void run_clear(struct machine *m, const struct primitive *p)
{
	m->arch->get_and_clear_ptes(m, at(p), p->nr);
}

static void run_wrprotect(struct machine *m, const struct primitive *p)
{
	m->arch->wrprotect_ptes(m, at(p), p->nr);
}

static void run_young(struct machine *m, const struct primitive *p)
{
	assert_true(m->arch->test_and_clear_young_ptes(m, at(p), p->nr));
}

static void run_flush_young(struct machine *m, const struct primitive *p)
{
	assert_true(m->arch->clear_flush_young_ptes(m, at(p), p->nr));
}

static void run_clear_both(struct machine *m, const struct primitive *p)
{
	m->arch->clear_young_dirty_ptes(m, at(p), p->nr, CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY);
}

static void run_clear_young(struct machine *m, const struct primitive *p)
{
	m->arch->clear_young_dirty_ptes(m, at(p), p->nr, CYDP_CLEAR_YOUNG);
}

static void run_set(struct machine *m, const struct primitive *p)
{
	m->arch->set_ptes(m, at(p), world_pte(m, p->state, p->start), p->nr);
}

/* Pages 0..14 are there one by one; the last one completes the block. */
static void run_fold(struct machine *m, const struct primitive *p)
{
	for (u32 i = 0; i < 15; i++)
		m->arch->set_ptes(m, p->first + i, world_pte(m, p->state, i), 1);
	world_reset_counts(m);
	m->arch->set_ptes(m, p->first + 15, world_pte(m, p->state, 15), 1);
	assert_true(m->arch->pte->valid_cont(m->pte[p->first]));
}

static void run_referenced(struct machine *m, const struct primitive *p)
{
	struct folio_referenced_arg pra = { .mapcount = m->folio->mapcount };

	(void)p;
	folio_referenced_one(m, m->folio, m->vma, &pra);
	assert_int_equal(pra.referenced, 1);
}

/* The unmap loop of 7.3 for a lazyfree folio: runs are cleared, nothing is written back. */
static void run_lazyfree(struct machine *m, const struct primitive *p)
{
	const struct page_vma_mapped_walk pvmw = { .folio = m->folio, .vma = m->vma };
	u64 va;
	u32 nr;

	m->arch->wrprotect_ptes(m, p->first + 16, 1);
	world_put_pte(m, p->first + 16, m->arch->pte->mkwrite(m->pte[p->first + 16]));
	world_reset_counts(m);
	page_vma_mapped_walk_start(m, &pvmw, PVMW_SYNC);
	while (page_vma_mapped_walk(m, &pvmw)) {
		pte_t pteval = m->arch->ptep_get(m, m->task->walk_pte);

		nr = folio_pte_batch_flags(m, m->folio, m->task->walk_pte, &pteval, 32,
					   FPB_RESPECT_WRITE | FPB_RESPECT_SOFT_DIRTY);
		va = m->task->walk_address;
		pteval = m->arch->get_and_clear_ptes(m, m->task->walk_pte, nr);
		set_tlb_ubc_flush_pending(m, 0, pteval, va, va + nr * PAGE_SIZE);
		m->arch->ptep_get(m, m->task->walk_pte);
	}
	try_to_unmap_flush(m);
}

static const struct primitive primitives[] = {
	{ "ptep_get young+dirty", 4, 16, BOTH, run_get, 5, 1, 0 },
	{ "ptep_get young+clean", 4, 16, YOUNG, run_get, 5, 1, 0 },
	{ "ptep_get old+dirty", 4, 16, DIRTY, run_get, 5, 1, 0 },
	{ "ptep_get old+clean", 4, 16, 0, run_get, 5, 1, 0 },
	{ "ptep_get_lockless young+dirty", 4, 16, BOTH, run_get_lockless, 5, 1, 0 },
	{ "ptep_get_lockless young+clean", 4, 16, YOUNG, run_get_lockless, 5, 1, 0 },
	{ "ptep_get_lockless old+dirty", 4, 16, DIRTY, run_get_lockless, 5, 1, 0 },
	{ "ptep_get_lockless old+clean", 4, 16, 0, run_get_lockless, 5, 1, 0 },
	{ "ptep_get_and_clear 1 pte mid-block (unfold)", 4, 16, BOTH, run_clear, 5, 1, 0 },
	{ "same with bbml3 (7.3 only)", 4, 16, BOTH, run_clear, 5, 1, 0 },
	{ "get_and_clear_full_ptes 16/16", 4, 16, BOTH, run_clear, 0, 16, 0 },
	{ "get_and_clear_full_ptes first 8", 4, 16, BOTH, run_clear, 0, 8, 0 },
	{ "get_and_clear_full_ptes mid 8 (4..11)", 4, 16, BOTH, run_clear, 4, 8, 0 },
	{ "get_and_clear_full_ptes last 8", 4, 16, BOTH, run_clear, 8, 8, 0 },
	{ "get_and_clear_full_ptes 24 of 32 at +4 (both edges)", 5, 32, BOTH, run_clear, 4, 24, 0 },
	{ "get_and_clear_full_ptes 48 of 64 at +8", 6, 64, BOTH, run_clear, 8, 48, 0 },
	{ "get_and_clear_full_ptes 16 straddling 2 blocks at +8",
	  5, 32, BOTH, run_clear, 8, 16, 0 },
	{ "wrprotect_ptes 16/16", 4, 16, BOTH, run_wrprotect, 0, 16, 0 },
	{ "wrprotect_ptes 4 mid", 4, 16, BOTH, run_wrprotect, 6, 4, 0 },
	{ "wrprotect_ptes 1", 4, 16, BOTH, run_wrprotect, 6, 1, 0 },
	{ "ptep_test_and_clear_young 1 (expands to block)", 4, 16, BOTH, run_young, 6, 1, 0 },
	{ "ptep_clear_flush_young 1 (expands to block)", 4, 16, BOTH, run_flush_young, 6, 1, 0 },
	{ "clear_young_dirty_ptes 16 both flags", 4, 16, BOTH, run_clear_both, 0, 16, 0 },
	{ "clear_young_dirty_ptes 4 mid both flags", 4, 16, BOTH, run_clear_both, 6, 4, 0 },
	{ "clear_young_dirty_ptes 16 young only", 4, 16, BOTH, run_clear_young, 0, 16, 0 },
	{ "folio_referenced_one 16 cont young dirty=0 (non-MGLRU)",
	  4, 16, YOUNG, run_referenced, 0, 16, PEEKS },
	{ "folio_referenced_one 16 cont young dirty=1 (non-MGLRU)",
	  4, 16, BOTH, run_referenced, 0, 16, PEEKS },
	{ "folio_referenced_one 512 young+dirty", 9, 0, BOTH, run_referenced, 0, 512, PEEKS },
	{ "folio_referenced_one 16 misaligned young+dirty",
	  4, 20, BOTH, run_referenced, 0, 16, PEEKS },
	{ "set_ptes nr=1 on last pte -> fold", 4, 16, BOTH, run_fold, 0, 1, EMPTY },
	{ "fold with bbml3(7.3)", 4, 16, BOTH, run_fold, 0, 1, EMPTY },
	{ "set_ptes nr=16 aligned", 4, 16, BOTH, run_set, 0, 16, EMPTY },
	{ "set_ptes nr=32 at +8", 5, 40, BOTH, run_set, 0, 32, EMPTY },
	{ "7.3 BATCH lazyfree N=32, 2nd block unfolded", 5, 32, 0, run_lazyfree, 0, 32, 0 },
};

static const struct primitive *primitive_of(const char *name)
{
	for (u32 i = 0; i < NR_OF(primitives); i++)
		if (strcmp(primitives[i].name, name) == 0)
			return &primitives[i];
	fail_msg("no test for %s", name);
	return NULL;
}

static u32 features_of(const cJSON *row)
{
	return (u32)flag_of(row, "tlbi_range", 0) << FEATURE_tlbi_range |
	       (u32)flag_of(row, "bbml3", 0) << FEATURE_bbml3;
}

static void check_row(const cJSON *row)
{
	const struct primitive *p = primitive_of(text_of(row, "case"));
	struct world w = world_new(&arm64_arch, features_of(row), p->order, p->first);
	struct machine *m = &w.m;
	u64 peek = 0;

	m->kernel = kernel_find(text_of(row, "tree"));
	if (!(p->special & EMPTY))
		m->arch->set_ptes(m, p->first, world_pte(m, p->state, 0), 1u << p->order);
	world_reset_counts(m);
	if (p->special & PEEKS) {
		m->arch->ptep_get_lockless(m, p->first);
		peek = m->s->count[COUNT_pte_read];
		world_reset_counts(m);
	}
	p->run(m, p);
	for (u32 i = 0; i < NR_OF(wants); i++) {
		u64 want = u64_of(row, wants[i].key);

		if (wants[i].counter == COUNT_pte_read)
			want += peek;
		if (m->s->count[wants[i].counter] != want)
			fail_msg("%s: %s %lu, expected %lu", p->name, wants[i].key,
				 (unsigned long)m->s->count[wants[i].counter], (unsigned long)want);
	}
	world_free(&w);
}

static void test_primitive_rows(void **state)
{
	cJSON *rows = read_json("tests/data/op-counts.json");
	const cJSON *row;
	u32 nr[2] = { 0 };

	(void)state;
	cJSON_ArrayForEach(row, rows) {
		if (strcmp(text_of(row, "section"), "primitive") != 0)
			continue;
		check_row(row);
		nr[strcmp(text_of(row, "tree"), "7.3") == 0]++;
	}
	assert_int_equal(nr[1], NR_OF(primitives));
	assert_int_equal(nr[0], 31);
	cJSON_Delete(rows);
}

/* --- what is left behind -------------------------------------------------- */

static void test_unfold_smears_dirty_over_the_block(void **state)
{
	struct world w = world_new(&arm64_arch, 1u << FEATURE_tlbi_range, 4, 16);
	struct machine *m = &w.m;

	(void)state;
	m->arch->set_ptes(m, 16, world_pte(m, YOUNG, 0), 16);
	world_put_pte(m, 16 + 5, m->arch->pte->hw_dirty(m->pte[16 + 5]));
	assert_true(m->arch->pte->dirty(m->arch->ptep_get(m, 16)));
	m->arch->wrprotect_ptes(m, 16 + 9, 1);
	for (u32 i = 0; i < 16; i++) {
		assert_false(m->arch->pte->valid_cont(m->pte[16 + i]));
		assert_true(m->arch->pte->dirty(m->pte[16 + i]));
		assert_int_equal(m->arch->pte->pfn(m->pte[16 + i]), WORLD_PFN + i);
		assert_int_equal(m->arch->pte->write(m->pte[16 + i]), i != 9);
	}
	assert_int_equal(m->s->count[COUNT_contpte_unfold], 1);
	world_free(&w);
}

/* The worked example: one page of a folded block becomes a swap entry. */
static void test_swap_out_of_one_page_bit_by_bit(void **state)
{
	struct world w = world_new(&arm64_arch, 1u << FEATURE_tlbi_range, 4, 16);
	struct machine *m = &w.m;
	pte_t swap = arm64_pte_ops.swp_mkexclusive(arm64_pte_ops.swp_entry(0, 0x1000));

	(void)state;
	m->arch->set_ptes(m, 16, world_pte(m, BOTH, 0), 16);
	assert_int_equal(m->pte[16], 0x00f8000012340f43);
	assert_int_equal(m->pte[31], 0x00f800001234ff43);
	assert_int_equal(m->arch->get_and_clear_ptes(m, 16, 1), 0x00e8000012340f43);
	assert_int_equal(m->pte[16], 0);
	assert_int_equal(m->pte[17], 0x00e8000012341f43);
	m->arch->set_ptes(m, 16, swap, 1);
	assert_int_equal(m->pte[16], 0x01000004);
	world_free(&w);
}

static void test_no_block_where_address_and_frame_disagree(void **state)
{
	struct world w = world_new(&arm64_arch, 1u << FEATURE_tlbi_range, 5, 20);
	struct machine *m = &w.m;

	(void)state;
	m->arch->set_ptes(m, 20, world_pte(m, BOTH, 0), 32);
	for (u32 i = 0; i < 32; i++)
		assert_false(m->arch->pte->valid_cont(m->pte[20 + i]));
	world_free(&w);
}

static void test_run_ors_young_and_dirty(void **state)
{
	const struct arch *both[] = { &arm64_arch, &x86_arch };

	(void)state;
	for (u32 i = 0; i < NR_OF(both); i++) {
		struct world w = world_new(both[i], 1u << FEATURE_tlbi_range, 4, 20);
		struct machine *m = &w.m;
		pte_t old;

		m->arch->set_ptes(m, 20, world_pte(m, 0, 0), 16);
		world_put_pte(m, 27, m->arch->pte->hw_dirty(m->arch->pte->mkyoung(m->pte[27])));
		old = m->arch->get_and_clear_ptes(m, 20, 16);
		assert_true(m->arch->pte->dirty(old));
		assert_true(m->arch->pte->young(old));
		assert_int_equal(m->arch->pte->pfn(old), WORLD_PFN);
		world_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_primitive_rows),
		cmocka_unit_test(test_unfold_smears_dirty_over_the_block),
		cmocka_unit_test(test_swap_out_of_one_page_bit_by_bit),
		cmocka_unit_test(test_no_block_where_address_and_frame_disagree),
		cmocka_unit_test(test_run_ors_young_and_dirty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
