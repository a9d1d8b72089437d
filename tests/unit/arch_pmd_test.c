/* SPDX-License-Identifier: GPL-2.0-only */
/* Huge PMD entries: their bits, and what changing one costs and leaves behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arch/pgtable_generic.h"
#include "arch/tlb.h"
#include "arch_world.h"

#define PFN 0x12400u

static const struct softleaf_types types_7_3 = { .max_swapfiles = 24, .nr_device = 3 };
static const struct arch *const both[] = { &arm64_arch, &x86_arch };

static pmd_t rw(const struct pte_ops *ops)
{
	return ops->mkwrite(ops->mkdirty(ops->pfn_pte(PFN, PAGE_READONLY)));
}

/* --- bits ------------------------------------------------------------------ */

struct bits {
	const struct pte_ops *ops;
	pmd_t rw, invalid, ro, wrprotected, protnone, hw_dirty;
};

static const struct bits bits[] = {
	{ .ops = &x86_pmd_ops,
	  .rw = 0x80000000124008e7, .invalid = 0x800fffffeda008e6, .ro = 0x80000000124000a5,
	  .wrprotected = 0x84000000124008a5, .protnone = 0x040fffffeda009a0,
	  .hw_dirty = 0x80000000124008e7 },
	{ .ops = &arm64_pmd_ops,
	  .rw = 0x00e8000012400f41, .invalid = 0x00e8000012400f40, .ro = 0x0060000012400fc1,
	  .wrprotected = 0x00e0000012400fc1, .protnone = 0x00e0000012400f80,
	  .hw_dirty = 0x0068000012400f41 },
};

static void test_bits(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(bits); i++) {
		const struct pte_ops *ops = bits[i].ops;

		assert_int_equal(rw(ops), bits[i].rw);
		assert_int_equal(ops->mkinvalid(bits[i].rw), bits[i].invalid);
		assert_int_equal(ops->pfn_pte(PFN, PAGE_READONLY), bits[i].ro);
		assert_int_equal(ops->wrprotect(bits[i].rw), bits[i].wrprotected);
		assert_int_equal(ops->modify(bits[i].rw, PAGE_NONE), bits[i].protnone);
		assert_int_equal(ops->hw_dirty(ops->mkold(ops->mkclean(bits[i].rw))),
				 bits[i].hw_dirty);
	}
}

/* What stays true from the invalidation to the page table: present, huge, its page. */
static void test_invalid_is_present_but_not_for_the_hardware(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(bits); i++) {
		const struct pte_ops *ops = bits[i].ops;

		assert_true(ops->present(bits[i].invalid));
		assert_true(ops->trans_huge(bits[i].invalid));
		assert_true(ops->dirty(bits[i].invalid));
		assert_true(ops->write(bits[i].invalid));
		assert_false(ops->accessible(bits[i].invalid));
		assert_false(ops->protnone(bits[i].invalid));
		assert_true(ops->protnone(bits[i].protnone));
		assert_int_equal(ops->pfn(bits[i].invalid), PFN);
		assert_int_equal(ops->pfn(bits[i].protnone), PFN);
		assert_int_equal(ops->pfn(bits[i].rw), PFN);
	}
}

static void decodes_as(const struct pte_ops *ops, pmd_t pmd, enum pte_kind kind, const char *want)
{
	struct pte_desc desc;
	char text[80];

	ops->decode(pmd, &types_7_3, &desc);
	assert_int_equal(desc.kind, kind);
	assert_string_equal(pte_text(ops, &types_7_3, pmd, text, sizeof(text)), want);
	if (kind != PTE_TABLE)
		assert_int_equal(ops->encode(&desc), pmd);
}

static void test_decode(void **state)
{
	(void)state;
	decodes_as(&x86_pmd_ops, bits[0].rw, PTE_PRESENT,
		   "huge pfn 0x12400 RW young dirty soft-dirty");
	decodes_as(&x86_pmd_ops, bits[0].invalid, PTE_INVALID,
		   "invalid huge pfn 0x12400 RW young dirty soft-dirty");
	decodes_as(&x86_pmd_ops, bits[0].protnone, PTE_PROTNONE,
		   "prot-none huge pfn 0x12400 RO exec young dirty soft-dirty");
	decodes_as(&x86_pmd_ops, 0x12345067, PTE_TABLE, "page table at pfn 0x12345");
	decodes_as(&x86_pmd_ops, x86_pmd_ops.swp_entry(27, PFN), PTE_MIGRATION,
		   "migration_write pfn 0x12400");
	decodes_as(&x86_pmd_ops, 0, PTE_NONE, "none");
	decodes_as(&arm64_pmd_ops, bits[1].rw, PTE_PRESENT, "huge pfn 0x12400 RW young dirty");
	decodes_as(&arm64_pmd_ops, bits[1].invalid, PTE_INVALID,
		   "invalid huge pfn 0x12400 RW young dirty");
	decodes_as(&arm64_pmd_ops, bits[1].protnone, PTE_PROTNONE,
		   "prot-none huge pfn 0x12400 RO young dirty");
	decodes_as(&arm64_pmd_ops, 0x0800000012345403, PTE_TABLE, "page table at pfn 0x12345");
	decodes_as(&arm64_pmd_ops, 0, PTE_NONE, "none");
	/* One level down bit 1 and PSE mean something else. */
	decodes_as(&arm64_pte_ops, 0x00e8000012400f43, PTE_PRESENT, "pfn 0x12400 RW young dirty");
	assert_false(x86_pte_ops.present(bits[0].invalid));
}

static void test_fields_cover_all_bits(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(bits); i++)
		for (u32 kind = 0; kind < NR_PTE_KINDS; kind++) {
			const struct pte_fields *fields = &bits[i].ops->fields[kind];
			u32 next = 64;

			for (u32 n = 0; n < fields->nr; n++) {
				assert_int_equal(fields->field[n].hi, next - 1);
				next = fields->field[n].lo;
			}
			assert_int_equal(next, 0);
		}
}

/* --- what it costs ---------------------------------------------------------- */

static struct world huge_world(const struct arch *arch, u32 features)
{
	struct world w = world_new(arch, features, 9, 0);
	struct machine *m = &w.m;

	set_pmd_at(m, 0, rw(arch->pmd));
	put64(m, &m->mm->cpumask, 3);
	for (u32 cpu = 0; cpu < 2; cpu++)
		assert_int_not_equal(tlb_fill(m, cpu, 77), NONE);
	world_reset_counts(m);
	return w;
}

static void assert_count(const struct machine *m, enum counter counter, u64 want)
{
	if (m->s->count[counter] != want)
		fail_msg("%s: %lu, expected %lu", counter_names[counter],
			 (unsigned long)m->s->count[counter], (unsigned long)want);
}

static void test_fill_takes_the_whole_pmd(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(both); i++) {
		struct world w = huge_world(both[i], 1u << FEATURE_tlbi_range);
		struct machine *m = &w.m;

		assert_int_equal(m->tlb[0].span, 512);
		assert_int_equal(m->tlb[0].va, WORLD_VA);
		assert_int_equal(m->tlb[0].pfn, PFN);
		assert_int_equal(m->tlb[0].flags, TLB_WRITABLE | TLB_DIRTY);
		assert_false(tlb_stale(m->s, m->arch, &m->tlb[0]));
		set_pmd_at(m, 0, m->arch->pmd->wrprotect(pmdp_get(m, 0)));
		assert_true(tlb_stale(m->s, m->arch, &m->tlb[0]));
		world_free(&w);
	}
}

/* Split in the kernel's order: what a CPU held of the huge mapping is still right after. */
static void test_split_into_equal_ptes_leaves_nothing_stale(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(both); i++) {
		struct world w = huge_world(both[i], 1u << FEATURE_tlbi_range);
		struct machine *m = &w.m;

		m->arch->set_ptes(m, 0, world_pte(m, BOTH, 0), 512);
		m->arch->pmd_populate(m, 0);
		assert_int_equal(m->table->pmd, 0);
		assert_int_equal(m->table->populated, 1);
		assert_false(tlb_stale(m->s, m->arch, &m->tlb[0]));
		m->arch->wrprotect_ptes(m, 400, 1);
		assert_true(tlb_stale(m->s, m->arch, &m->tlb[0]));
		world_free(&w);
	}
}

static void invalidate_arm64(u32 features, u64 page, u64 range)
{
	struct world w = huge_world(&arm64_arch, features);
	struct machine *m = &w.m;

	assert_int_equal(pmdp_invalidate(m, 0, 0), bits[1].rw);
	assert_int_equal(pmdp_get(m, 0), bits[1].invalid);
	assert_count(m, COUNT_pmd_xchg, 1);
	assert_count(m, COUNT_tlbi_page, page);
	assert_count(m, COUNT_tlbi_range, range);
	assert_count(m, COUNT_tlbi_asid, 0);
	assert_count(m, COUNT_dsb_ishst, 1);
	assert_count(m, COUNT_dsb_ish, 1);
	assert_int_equal(m->cpu[0].nr_tlb + m->cpu[1].nr_tlb, 0);
	m->arch->pmd_populate(m, NONE);
	m->arch->pmd_populate(m, 0);
	assert_count(m, COUNT_dsb_ishst, 3);
	assert_count(m, COUNT_dsb_ish, 1);
	world_free(&w);
}

/* One entry of 2 MiB: one TLBI either way. */
static void test_arm64_invalidate(void **state)
{
	(void)state;
	invalidate_arm64(1u << FEATURE_tlbi_range, 0, 1);
	invalidate_arm64(0, 1, 0);
}

/* 512 pages are past the limit of 33: everything goes, on every CPU of the mask. */
static void test_x86_invalidate(void **state)
{
	struct world w = huge_world(&x86_arch, 0);
	struct machine *m = &w.m;

	(void)state;
	assert_int_equal(pmdp_invalidate(m, 0, 0), bits[0].rw);
	assert_int_equal(pmdp_get(m, 0), bits[0].invalid);
	assert_count(m, COUNT_pmd_xchg, 1);
	assert_count(m, COUNT_tlb_gen_inc, 1);
	assert_count(m, COUNT_ipi_sent, 1);
	assert_count(m, COUNT_ipi_ubc_flush, 0);
	assert_count(m, COUNT_cr3_write, 2);
	assert_count(m, COUNT_invlpg, 0);
	assert_int_equal(m->cpu[0].nr_tlb + m->cpu[1].nr_tlb, 0);
	m->arch->pmd_populate(m, NONE);
	m->arch->pmd_populate(m, 0);
	assert_count(m, COUNT_dsb_ishst, 0);
	world_free(&w);
}

/* One INVLPG of any page inside drops a huge translation. */
static void test_x86_page_flush_drops_a_huge_entry(void **state)
{
	struct world w = huge_world(&x86_arch, 0);
	struct machine *m = &w.m;

	(void)state;
	put64(m, &m->mm->cpumask, 1);
	m->arch->flush_tlb_range(m, 0, WORLD_VA + 100 * PAGE_SIZE, WORLD_VA + 101 * PAGE_SIZE);
	assert_count(m, COUNT_invlpg, 1);
	assert_int_equal(m->cpu[0].nr_tlb, 0);
	assert_int_equal(m->cpu[1].nr_tlb, 1);
	world_free(&w);
}

static void test_clear_flush_and_set_back(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(both); i++) {
		struct world w = huge_world(both[i], 1u << FEATURE_tlbi_range);
		struct machine *m = &w.m;
		pmd_t old = pmdp_huge_clear_flush(m, 0, 0);

		assert_int_equal(old, rw(both[i]->pmd));
		assert_int_equal(m->table->pmd, 0);
		assert_int_equal(m->table->populated, 0);
		assert_count(m, COUNT_pmd_xchg, 1);
		assert_count(m, COUNT_tlb_flush, 1);
		assert_int_equal(m->cpu[0].nr_tlb + m->cpu[1].nr_tlb, 0);
		set_pmd_at(m, 0, old);
		assert_int_equal(pmdp_get(m, 0), old);
		assert_int_equal(m->table->populated, 1);
		assert_count(m, COUNT_pmd_xchg, 1);
		world_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_invalid_is_present_but_not_for_the_hardware),
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_fields_cover_all_bits),
		cmocka_unit_test(test_fill_takes_the_whole_pmd),
		cmocka_unit_test(test_split_into_equal_ptes_leaves_nothing_stale),
		cmocka_unit_test(test_arm64_invalidate),
		cmocka_unit_test(test_x86_invalidate),
		cmocka_unit_test(test_x86_page_flush_drops_a_huge_entry),
		cmocka_unit_test(test_clear_flush_and_set_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
