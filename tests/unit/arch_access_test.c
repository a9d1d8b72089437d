/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults on contpte blocks, reads of them without the lock, and one page made read-only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arm64/contpte.h"
#include "arch/tlb.h"
#include "arch_world.h"

#define FIRST 16u
#define RANGE (1u << FEATURE_tlbi_range)

static const struct pte_ops *const ops = &arm64_pte_ops;

static u64 counted(const struct machine *m, enum counter counter)
{
	return m->s->count[counter];
}

/* A folded block of writable PTEs in that state. */
static struct world block_world(const char *kernel, u32 features, u32 ad)
{
	struct world w = world_new(&arm64_arch, features, 4, FIRST);
	struct machine *m = &w.m;

	m->kernel = kernel_find(kernel);
	m->arch->set_ptes(m, FIRST, world_pte(m, ad, 0), 16);
	assert_true(ops->valid_cont(m->pte[FIRST]));
	world_reset_counts(m);
	return w;
}

static void assert_block(const struct machine *m, bool cont, bool young, bool dirty)
{
	for (u32 i = 0; i < 16; i++) {
		assert_int_equal(ops->valid_cont(m->pte[FIRST + i]), cont);
		assert_int_equal(ops->young(m->pte[FIRST + i]), young);
		assert_int_equal(ops->dirty(m->pte[FIRST + i]), dirty);
		assert_int_equal(ops->pfn(m->pte[FIRST + i]), WORLD_PFN + i);
	}
}

/*
 * PTE 3 is accessed and dirty, the others are neither. A walker that sets no bits itself
 * writes to page 9 and faults. What was gathered has all it wants, PTE 9 itself has not.
 */
static void fault_on_a_block(const char *kernel, u64 local, u64 broadcast)
{
	struct world w = block_world(kernel, RANGE, 0);
	struct machine *m = &w.m;
	pte_t entry;

	world_put_pte(m, FIRST + 3, ops->hw_dirty(m->pte[FIRST + 3]));
	entry = ops->mkyoung(ops->mkdirty(m->arch->ptep_get(m, FIRST + 9)));
	assert_false(ops->young(m->pte[FIRST + 9]));
	world_reset_counts(m);
	assert_true(m->arch->ptep_set_access_flags(m, FIRST + 9, entry, true));
	assert_block(m, true, true, true);
	assert_int_equal(counted(m, COUNT_pte_read), 1 + 1 + 1 + 16);
	assert_int_equal(counted(m, COUNT_pte_cmpxchg), 16);
	assert_int_equal(counted(m, COUNT_contpte_unfold), 0);
	assert_int_equal(counted(m, COUNT_tlbi_local), local);
	assert_int_equal(counted(m, COUNT_tlbi_range), broadcast);
	assert_int_equal(counted(m, COUNT_dsb_ish), broadcast);
	/* Nothing is left to do. */
	assert_false(m->arch->ptep_set_access_flags(m, FIRST + 9, entry, true));
	assert_int_equal(counted(m, COUNT_pte_cmpxchg), 16);
	assert_int_equal(counted(m, COUNT_tlbi_local), local);
	world_free(&w);
}

static void test_fault_compares_raw_entries(void **state)
{
	(void)state;
	fault_on_a_block("7.3", 1, 0);
	fault_on_a_block("6.12", 0, 1);
}

/* Before it was mended: what was gathered has it all, so nothing is done, for ever. */
static void test_fault_compared_with_what_was_gathered(void **state)
{
	struct world w = block_world("6.16", RANGE, 0);
	struct machine *m = &w.m;
	pte_t entry;

	(void)state;
	world_put_pte(m, FIRST + 3, ops->mkdirty(ops->mkyoung(m->pte[FIRST + 3])));
	entry = ops->mkyoung(ops->mkdirty(m->arch->ptep_get(m, FIRST + 9)));
	assert_false(m->arch->ptep_set_access_flags(m, FIRST + 9, entry, true));
	assert_false(ops->young(m->pte[FIRST + 9]));
	assert_false(ops->dirty(m->pte[FIRST + 9]));
	world_free(&w);
}

/* 6.1: each entry stands for itself, and costs what it costs alone. */
static void test_without_blocks(void **state)
{
	struct world w = world_new(&arm64_arch, RANGE, 4, FIRST);
	struct kernel kernel = *kernel_find("6.12");
	struct machine *m = &w.m;
	pte_t entry;

	(void)state;
	kernel.contpte = CONTPTE_NONE;
	m->kernel = &kernel;
	m->arch->set_ptes(m, FIRST, world_pte(m, BOTH, 0), 16);
	assert_false(ops->valid_cont(m->pte[FIRST]));
	m->arch->set_ptes(m, FIRST + 15, world_pte(m, BOTH, 15), 1);
	assert_int_equal(counted(m, COUNT_pte_store), 17);
	assert_int_equal(counted(m, COUNT_pte_read), 0);
	m->arch->ptep_get(m, FIRST + 3);
	m->arch->wrprotect_ptes(m, FIRST + 2, 2);
	assert_true(m->arch->test_and_clear_young_ptes(m, FIRST + 4, 1));
	assert_int_equal(counted(m, COUNT_pte_read), 1 + 2 + 1);
	assert_int_equal(counted(m, COUNT_pte_cmpxchg), 2 + 1);
	entry = ops->mkyoung(m->pte[FIRST + 4]);
	assert_true(m->arch->ptep_set_access_flags(m, FIRST + 4, entry, false));
	assert_int_equal(counted(m, COUNT_pte_read), 5);
	assert_int_equal(counted(m, COUNT_pte_cmpxchg), 4);
	m->arch->get_and_clear_ptes(m, FIRST + 5, 4);
	assert_int_equal(counted(m, COUNT_pte_xchg), 4);
	assert_int_equal(counted(m, COUNT_pte_read), 5);
	assert_int_equal(counted(m, COUNT_contpte_unfold) + counted(m, COUNT_tlbi_range), 0);
	world_free(&w);
}

/* A read fault sets accessed in all 16 and flushes nothing. */
static void test_read_fault_flushes_nothing(void **state)
{
	struct world w = block_world("7.3", RANGE, DIRTY);
	struct machine *m = &w.m;
	pte_t entry = ops->mkyoung(m->arch->ptep_get(m, FIRST + 9));

	(void)state;
	world_reset_counts(m);
	assert_true(m->arch->ptep_set_access_flags(m, FIRST + 9, entry, false));
	assert_block(m, true, true, true);
	assert_int_equal(counted(m, COUNT_tlbi_local) + counted(m, COUNT_tlbi_range), 0);
	world_free(&w);
}

/* Write permission for one page: the block is unfolded, and this CPU forgets the old entry. */
static void test_write_permission_unfolds(void **state)
{
	struct world w = block_world("7.3", RANGE, YOUNG);
	struct machine *m = &w.m;
	pte_t entry;

	(void)state;
	m->arch->wrprotect_ptes(m, FIRST, 16);
	entry = ops->mkwrite(ops->mkdirty(m->arch->ptep_get(m, FIRST + 5)));
	world_reset_counts(m);
	assert_true(m->arch->ptep_set_access_flags(m, FIRST + 5, entry, true));
	for (u32 i = 0; i < 16; i++) {
		assert_false(ops->valid_cont(m->pte[FIRST + i]));
		assert_int_equal(ops->write(m->pte[FIRST + i]), i == 5);
		assert_int_equal(ops->dirty(m->pte[FIRST + i]), i == 5);
	}
	assert_int_equal(counted(m, COUNT_contpte_unfold), 1);
	assert_int_equal(counted(m, COUNT_tlbi_range), 1);
	assert_int_equal(counted(m, COUNT_tlbi_local), 1);
	assert_int_equal(counted(m, COUNT_pte_cmpxchg), 1);
	world_free(&w);
}

/* The local flush reaches nobody else: who still has the read-only translation faults again. */
static void test_local_flush_is_local(void **state)
{
	struct world w = world_new(&arm64_arch, RANGE, 4, FIRST + 4);
	struct machine *m = &w.m;
	u32 pte = FIRST + 4;

	(void)state;
	m->arch->set_ptes(m, pte, ops->wrprotect(world_pte(m, BOTH, 0)), 1);
	for (u32 cpu = 0; cpu < 2; cpu++)
		tlb_fill(m, cpu, pte);
	assert_true(m->arch->ptep_set_access_flags(m, pte, ops->mkwrite(m->pte[pte]), true));
	assert_int_equal(m->cpu[0].nr_tlb, 0);
	assert_int_equal(m->cpu[1].nr_tlb, 1);
	assert_false(m->tlb[m->s->nr_tlb].flags & TLB_WRITABLE);
	assert_false(tlb_stale(m->s, m->arch, &m->tlb[m->s->nr_tlb]));
	world_free(&w);
}

static void test_x86_stores_for_writes_only(void **state)
{
	struct world w = world_new(&x86_arch, 0, 0, FIRST);
	struct machine *m = &w.m;
	pte_t old, entry;

	(void)state;
	m->arch->set_ptes(m, FIRST, world_pte(m, 0, 0), 1);
	world_reset_counts(m);
	old = m->pte[FIRST];
	entry = x86_pte_ops.mkyoung(x86_pte_ops.mkdirty(old));
	assert_true(m->arch->ptep_set_access_flags(m, FIRST, entry, false));
	assert_int_equal(m->pte[FIRST], old);
	assert_true(m->arch->ptep_set_access_flags(m, FIRST, entry, true));
	assert_int_equal(m->pte[FIRST], entry);
	assert_false(m->arch->ptep_set_access_flags(m, FIRST, entry, true));
	assert_int_equal(counted(m, COUNT_pte_read), 3);
	assert_int_equal(counted(m, COUNT_pte_store), 1);
	assert_int_equal(counted(m, COUNT_pte_cmpxchg), 0);
	assert_int_equal(counted(m, COUNT_tlb_gen_inc), 0);
	world_free(&w);
}

/* Only PTE 11 is dirty, only PTE 14 accessed: whoever reads PTE 2 must hear of both. */
static void lockless_read(const char *kernel, u32 loads)
{
	struct world w = block_world(kernel, RANGE, 0);
	struct machine *m = &w.m;
	pte_t val;

	world_put_pte(m, FIRST + 11, ops->mkold(ops->hw_dirty(m->pte[FIRST + 11])));
	world_put_pte(m, FIRST + 14, ops->mkyoung(m->pte[FIRST + 14]));
	val = m->arch->ptep_get_lockless(m, FIRST + 2);
	assert_int_equal(ops->pfn(val), WORLD_PFN + 2);
	assert_true(ops->young(val));
	assert_true(ops->dirty(val));
	assert_false(ops->young(m->pte[FIRST + 2]));
	assert_false(ops->dirty(m->pte[FIRST + 2]));
	assert_int_equal(counted(m, COUNT_pte_read), loads);
	__contpte_try_unfold(m, FIRST + 2, m->pte[FIRST + 2]);
	assert_block(m, false, true, true);
	world_free(&w);
}

static void test_lockless_read_gathers(void **state)
{
	(void)state;
	lockless_read("7.3", 1 + 1 + 12 + 4);	/* PTE 11 is read twice, then up to 14 */
	lockless_read("6.12", 1 + 1 + 16);
}

/* CPU 1 holds the block; CPU 0 makes page 15 read-only and flushes it. */
static void wrprotect_one(u32 features, u64 flushes)
{
	struct world w = block_world("7.3", RANGE | features, YOUNG);
	struct machine *m = &w.m;

	world_put_pte(m, FIRST + 5, ops->hw_dirty(m->pte[FIRST + 5]));
	tlb_fill(m, 1, FIRST + 15);
	assert_int_equal(m->tlb[m->s->nr_tlb].span, 16);
	m->arch->wrprotect_ptes(m, FIRST + 15, 1);
	assert_int_equal(m->cpu[1].nr_tlb, flushes == 1);
	m->arch->flush_tlb_range(m, 0, pte_va(m->s, FIRST + 15), pte_va(m->s, FIRST + 16));
	assert_int_equal(m->cpu[1].nr_tlb, 0);
	assert_int_equal(counted(m, COUNT_tlbi_range) + counted(m, COUNT_tlbi_page), flushes);
	assert_int_equal(counted(m, COUNT_dsb_ish), flushes);
	assert_int_equal(counted(m, COUNT_pte_xchg), 16);
	assert_int_equal(counted(m, COUNT_pte_store), 16);
	assert_block(m, false, true, true);
	for (u32 i = 0; i < 16; i++)
		assert_int_equal(ops->write(m->pte[FIRST + i]), i != 15);
	world_free(&w);
}

static void test_unfold_with_and_without_bbml3(void **state)
{
	(void)state;
	wrprotect_one(0, 2);
	wrprotect_one(1u << FEATURE_bbml3, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault_compares_raw_entries),
		cmocka_unit_test(test_fault_compared_with_what_was_gathered),
		cmocka_unit_test(test_without_blocks),
		cmocka_unit_test(test_read_fault_flushes_nothing),
		cmocka_unit_test(test_write_permission_unfolds),
		cmocka_unit_test(test_local_flush_is_local),
		cmocka_unit_test(test_x86_stores_for_writes_only),
		cmocka_unit_test(test_lockless_read_gathers),
		cmocka_unit_test(test_unfold_with_and_without_bbml3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
