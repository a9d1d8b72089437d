/* SPDX-License-Identifier: GPL-2.0-only */
/* What flushes cost, and what they leave in the TLBs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arm64/tlbflush.h"
#include "arch/tlb.h"
#include "arch_world.h"

static u64 counted(const struct machine *m, enum counter counter)
{
	return m->s->count[counter];
}

/* A mapped folio of 16 pages at pte[16], cached by all four CPUs; CPU 0 runs. */
static struct world cached(const struct arch *arch, u32 features)
{
	struct world w = world_new(arch, features, 4, 16);

	w.m.arch->set_ptes(&w.m, 16, world_pte(&w.m, BOTH, 0), 16);
	for (u32 cpu = 0; cpu < WORLD_CPUS; cpu++)
		tlb_fill(&w.m, cpu, 16 + 3);
	world_reset_counts(&w.m);
	return w;
}

static u64 va_of(u32 pte)
{
	return WORLD_VA + pte * PAGE_SIZE;
}

/* --- arm64 ---------------------------------------------------------------- */

static void test_block_is_one_entry_and_any_of_its_pages_drops_it(void **state)
{
	struct world w = cached(&arm64_arch, 1u << FEATURE_tlbi_range);
	struct machine *m = &w.m;

	(void)state;
	assert_int_equal(m->tlb[0].span, 16);
	assert_int_equal(m->tlb[0].va, va_of(16));
	assert_int_equal(m->tlb[0].pfn, WORLD_PFN);
	assert_int_equal(m->tlb[0].flags, TLB_WRITABLE | TLB_DIRTY);
	m->arch->tlbbatch_add_pending(m, 0, va_of(31), va_of(32));
	assert_int_equal(counted(m, COUNT_tlbi_page), 1);
	assert_int_equal(counted(m, COUNT_dsb_ish), 0);
	assert_int_equal(counted(m, COUNT_tlb_flush), 0);
	assert_true(tlb_invalidated(&m->tlb[0]));

	/* another CPU's barrier does not wait for it, this one's does */
	machine_run_on(m, 1);
	m->arch->tlbbatch_flush(m);
	assert_int_equal(m->cpu[0].nr_tlb, 1);
	machine_run_on(m, 0);
	m->arch->tlbbatch_flush(m);
	for (u32 cpu = 0; cpu < WORLD_CPUS; cpu++)
		assert_int_equal(m->cpu[cpu].nr_tlb, 0);
	assert_int_equal(counted(m, COUNT_dsb_ish), 2);
	assert_int_equal(counted(m, COUNT_tlb_flush), 2);
	assert_int_equal(counted(m, COUNT_ipi_sent), 0);
	world_free(&w);
}

/* Two CPUs broadcast a TLBI for the same block: the first DSB ISH to end is enough. */
static void test_either_issuer_waits_for_its_own(void **state)
{
	(void)state;
	for (u32 waits = 0; waits < 2; waits++) {
		struct world w = cached(&arm64_arch, 1u << FEATURE_tlbi_range);
		struct machine *m = &w.m;

		for (u32 cpu = 0; cpu < 2; cpu++) {
			machine_run_on(m, cpu);
			m->arch->tlbbatch_add_pending(m, 0, va_of(16), va_of(32));
		}
		machine_run_on(m, 2);
		m->arch->tlbbatch_flush(m);
		assert_int_equal(m->cpu[3].nr_tlb, 1);
		machine_run_on(m, waits);
		m->arch->tlbbatch_flush(m);
		for (u32 cpu = 0; cpu < WORLD_CPUS; cpu++)
			assert_int_equal(m->cpu[cpu].nr_tlb, 0);
		world_free(&w);
	}
}

struct split {
	u64 pages;
	u32 ranges, singles, asids;
};

static void check_splits(u32 features, const struct split *split, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		struct world w = world_new(&arm64_arch, features, 4, 16);
		struct machine *m = &w.m;

		__flush_tlb_range(m, 0, WORLD_VA, WORLD_VA + split[i].pages * PAGE_SIZE,
				  PAGE_SIZE, TLBF_NOWALKCACHE | TLBF_NOSYNC, NONE);
		assert_int_equal(counted(m, COUNT_tlbi_range), split[i].ranges);
		assert_int_equal(counted(m, COUNT_tlbi_page), split[i].singles);
		assert_int_equal(counted(m, COUNT_tlbi_asid), split[i].asids);
		/* Falling back to the whole address space waits, asked or not. */
		assert_int_equal(counted(m, COUNT_dsb_ish), split[i].asids);
		world_free(&w);
	}
}

static void test_ranges_are_split(void **state)
{
	static const struct split with[] = {
		{ 1, 0, 1, 0 }, { 2, 1, 0, 0 }, { 3, 1, 1, 0 }, { 16, 1, 0, 0 }, { 33, 1, 1, 0 },
		{ 48, 1, 0, 0 }, { 64, 1, 0, 0 }, { 66, 2, 0, 0 }, { 67, 2, 1, 0 },
		{ 512, 1, 0, 0 }, { 1u << 21, 1, 0, 0 }, { (1u << 21) + 1, 0, 0, 1 },
	};
	static const struct split without[] = {
		{ 1, 0, 1, 0 }, { 16, 0, 16, 0 }, { 511, 0, 511, 0 }, { 512, 0, 0, 1 },
	};

	(void)state;
	check_splits(1u << FEATURE_tlbi_range, with, NR_OF(with));
	check_splits(0, without, NR_OF(without));
}

/* neoverse-n1: one dummy TLBI and one DSB ISH more for each wait. */
static void test_repeat_tlbi(void **state)
{
	struct world w = cached(&arm64_arch, 1u << FEATURE_repeat_tlbi);
	struct machine *m = &w.m;

	(void)state;
	m->arch->get_and_clear_ptes(m, 16, 1);
	m->arch->tlbbatch_add_pending(m, 0, va_of(16), va_of(17));
	m->arch->tlbbatch_flush(m);
	m->arch->flush_tlb_mm(m, 0);
	assert_int_equal(counted(m, COUNT_tlbi_page), 16 + 1 + 1 + 1 + 1);
	assert_int_equal(counted(m, COUNT_tlbi_asid), 1);
	assert_int_equal(counted(m, COUNT_dsb_ish), 6);
	assert_int_equal(counted(m, COUNT_dsb_ishst), 3);
	assert_int_equal(counted(m, COUNT_tlb_flush), 3);
	world_free(&w);
}

/* --- x86 ------------------------------------------------------------------ */

static void test_alone_is_not_deferred(void **state)
{
	struct world w = cached(&x86_arch, 0);
	struct machine *m = &w.m;

	(void)state;
	assert_true(m->arch->tlbbatch_should_defer(m, 0));
	put64(m, &m->mm->cpumask, 1);
	assert_false(m->arch->tlbbatch_should_defer(m, 0));
	m->arch->flush_tlb_range(m, 0, va_of(16), va_of(16 + 16));
	assert_int_equal(counted(m, COUNT_invlpg), 16);
	assert_int_equal(counted(m, COUNT_cr3_write), 0);
	assert_int_equal(counted(m, COUNT_ipi_sent), 0);
	assert_int_equal(counted(m, COUNT_tlb_flush), 1);
	assert_int_equal(m->cpu[0].tlb_gen, 1);
	assert_int_equal(m->cpu[0].nr_tlb, 0);
	assert_int_equal(m->cpu[1].nr_tlb, 1);
	world_free(&w);
}

static void test_more_than_33_pages_flush_everything(void **state)
{
	(void)state;
	for (u32 pages = 33; pages <= 34; pages++) {
		struct world w = cached(&x86_arch, 0);
		struct machine *m = &w.m;

		put64(m, &m->mm->cpumask, 1);
		m->arch->flush_tlb_range(m, 0, va_of(16), va_of(16 + pages));
		assert_int_equal(counted(m, COUNT_invlpg), pages == 33 ? 33 : 0);
		assert_int_equal(counted(m, COUNT_cr3_write), pages == 33 ? 0 : 1);
		world_free(&w);
	}
}

static void pend(struct machine *m, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		m->arch->tlbbatch_add_pending(m, 0, va_of(16 + i), va_of(17 + i));
}

static void test_deferred_flush_interrupts_each_cpu_once(void **state)
{
	struct world w = cached(&x86_arch, 0);
	struct machine *m = &w.m;

	(void)state;
	pend(m, 16);
	assert_int_equal(counted(m, COUNT_tlb_gen_inc), 16);
	assert_int_equal(counted(m, COUNT_ipi_sent), 0);
	assert_int_equal(m->task->ubc_cpumask, 0xf);
	m->arch->tlbbatch_flush(m);
	assert_int_equal(counted(m, COUNT_ipi_sent), 3);
	assert_int_equal(counted(m, COUNT_ipi_ubc_flush), 3);
	assert_int_equal(counted(m, COUNT_cr3_write), 4);
	assert_int_equal(counted(m, COUNT_invlpg), 0);
	assert_int_equal(m->task->ubc_cpumask, 0);
	for (u32 cpu = 0; cpu < WORLD_CPUS; cpu++) {
		assert_int_equal(m->cpu[cpu].nr_tlb, 0);
		assert_int_equal(m->cpu[cpu].tlb_gen, 16);
	}
	world_free(&w);
}

static void test_lazy_and_foreign_cpus(void **state)
{
	struct world w = cached(&x86_arch, 0);
	struct machine *m = &w.m;

	(void)state;
	put(m, &m->cpu[1].lazy, 1);
	put(m, &m->cpu[2].mm, 1);
	pend(m, 1);
	m->arch->tlbbatch_flush(m);
	/* CPU 2 is interrupted and finds its own mm up to date. */
	assert_int_equal(counted(m, COUNT_ipi_sent), 2);
	assert_int_equal(counted(m, COUNT_cr3_write), 2);
	assert_int_equal(m->cpu[1].nr_tlb, 1);
	assert_int_equal(m->cpu[2].nr_tlb, 1);
	assert_int_equal(m->cpu[1].tlb_gen, 0);

	/* Tables may go: everybody is told; who runs another mm leaves the mask. */
	m->arch->flush_tlb_mm(m, 0);
	assert_int_equal(counted(m, COUNT_ipi_sent), 5);
	assert_int_equal(counted(m, COUNT_ipi_ubc_flush), 2);
	assert_int_equal(m->cpu[1].mm, NONE);
	assert_int_equal(m->cpu[1].nr_tlb, 0);
	assert_int_equal(m->mm->cpumask, 0xf & ~4u);
	world_free(&w);
}

/* One generation behind is caught up page by page, two only by flushing everything. */
static void test_generations_decide_how_much(void **state)
{
	struct world w = cached(&x86_arch, 0);
	struct machine *m = &w.m;

	(void)state;
	put64(m, &m->mm->tlb_gen, 1);
	for (u32 cpu = 0; cpu < WORLD_CPUS; cpu++)
		put64(m, &m->cpu[cpu].tlb_gen, cpu == 3 ? 0 : 1);
	m->arch->flush_tlb_range(m, 0, va_of(16), va_of(18));
	assert_int_equal(counted(m, COUNT_invlpg), 3 * 2);
	assert_int_equal(counted(m, COUNT_cr3_write), 1);
	assert_int_equal(m->cpu[3].tlb_gen, 2);
	world_free(&w);
}

static void test_invlpgb_needs_no_interrupt(void **state)
{
	struct world w = cached(&x86_arch, 1u << FEATURE_invlpgb);
	struct machine *m = &w.m;

	(void)state;
	pend(m, 2);
	m->arch->tlbbatch_flush(m);
	assert_int_equal(counted(m, COUNT_invlpgb), 1);
	assert_int_equal(counted(m, COUNT_ipi_sent), 0);
	assert_int_equal(m->cpu[2].nr_tlb, 0);
	assert_int_equal(m->task->ubc_unmapped_pages, 0);
	world_free(&w);
}

/* 6.12 does not know INVLPGB, and a CPU that has left an mm is told nothing of it. */
static void test_6_12_interrupts_who_runs_the_mm(void **state)
{
	struct world w = cached(&x86_arch, 1u << FEATURE_invlpgb);
	struct machine *m = &w.m;

	(void)state;
	m->kernel = kernel_find("6.12");
	machine_run_on(m, 2);
	switch_mm(m, 1);
	assert_int_equal(m->mm[0].cpumask, 0xf & ~4u);
	assert_int_equal(m->mm[1].cpumask & 4, 4);
	machine_run_on(m, 0);
	pend(m, 2);
	m->arch->tlbbatch_flush(m);
	assert_int_equal(counted(m, COUNT_invlpgb), 0);
	assert_int_equal(counted(m, COUNT_ipi_sent), 2);
	for (u32 cpu = 0; cpu < WORLD_CPUS; cpu++)
		assert_int_equal(m->cpu[cpu].nr_tlb, 0);
	world_free(&w);
}

/* 7.3 leaves its bit behind: one more interrupt, for a CPU that finds nothing to do. */
static void test_7_3_interrupts_who_left_the_mm(void **state)
{
	struct world w = cached(&x86_arch, 0);
	struct machine *m = &w.m;

	(void)state;
	machine_run_on(m, 2);
	switch_mm(m, 1);
	assert_int_equal(m->mm[0].cpumask, 0xf);
	machine_run_on(m, 0);
	pend(m, 2);
	m->arch->tlbbatch_flush(m);
	assert_int_equal(counted(m, COUNT_ipi_sent), 3);
	assert_int_equal(counted(m, COUNT_cr3_write), 3);
	world_free(&w);
}

/* --- contents ------------------------------------------------------------- */

static void test_stale_entries(void **state)
{
	struct world w = cached(&arm64_arch, 1u << FEATURE_tlbi_range);
	struct machine *m = &w.m;
	const struct pte_ops *ops = m->arch->pte;

	(void)state;
	assert_false(tlb_stale(m->s, m->arch, &m->tlb[0]));
	for (u32 i = 16; i < 32; i++)
		world_put_pte(m, i, ops->mkclean(m->pte[i]));
	assert_true(tlb_stale(m->s, m->arch, &m->tlb[0]));
	tlb_fill(m, 0, 16 + 9);
	assert_int_equal(m->cpu[0].nr_tlb, 1);
	assert_false(tlb_stale(m->s, m->arch, &m->tlb[0]));
	world_put_pte(m, 20, ops->wrprotect(m->pte[20]));
	assert_true(tlb_stale(m->s, m->arch, &m->tlb[0]));
	world_put_pte(m, 20, 0);
	assert_true(tlb_stale(m->s, m->arch, &m->tlb[0]));
	world_free(&w);
}

static void test_full_tlb_forgets_one(void **state)
{
	struct world w = world_new(&x86_arch, 0, 4, 16);
	struct machine *m = &w.m;

	(void)state;
	m->arch->set_ptes(m, 16, world_pte(m, BOTH, 0), 16);
	for (u32 i = 16; i < 16 + WORLD_TLB + 1; i++)
		assert_int_not_equal(tlb_fill(m, 1, i), NONE);
	assert_int_equal(m->cpu[1].nr_tlb, WORLD_TLB);
	assert_int_not_equal(tlb_find(m->s, 1, 0, va_of(16 + WORLD_TLB) + 0xfff), NONE);
	assert_int_equal(tlb_find(m->s, 1, 0, va_of(16)), NONE);
	assert_int_equal(tlb_find(m->s, 1, 1, va_of(17)), NONE);
	tlb_drop_range(m, 1, 0, va_of(18), va_of(20));
	assert_int_equal(m->cpu[1].nr_tlb, WORLD_TLB - 2);
	assert_int_equal(tlb_find(m->s, 1, 0, va_of(19)), NONE);
	assert_int_not_equal(tlb_find(m->s, 1, 0, va_of(20)), NONE);
	tlb_drop_range(m, 1, 1, 0, UINT64_MAX);
	assert_int_equal(m->cpu[1].nr_tlb, WORLD_TLB - 2);
	tlb_drop_range(m, 1, 0, 0, UINT64_MAX);
	assert_int_equal(m->cpu[1].nr_tlb, 0);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block_is_one_entry_and_any_of_its_pages_drops_it),
		cmocka_unit_test(test_either_issuer_waits_for_its_own),
		cmocka_unit_test(test_ranges_are_split),
		cmocka_unit_test(test_repeat_tlbi),
		cmocka_unit_test(test_alone_is_not_deferred),
		cmocka_unit_test(test_more_than_33_pages_flush_everything),
		cmocka_unit_test(test_deferred_flush_interrupts_each_cpu_once),
		cmocka_unit_test(test_lazy_and_foreign_cpus),
		cmocka_unit_test(test_generations_decide_how_much),
		cmocka_unit_test(test_invlpgb_needs_no_interrupt),
		cmocka_unit_test(test_6_12_interrupts_who_runs_the_mm),
		cmocka_unit_test(test_7_3_interrupts_who_left_the_mm),
		cmocka_unit_test(test_stale_entries),
		cmocka_unit_test(test_full_tlb_forgets_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
