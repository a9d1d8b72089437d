/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What core code calls on arm64: each looks whether the entry is in a contpte block and
 * goes to contpte.c if so. arch/arm64/include/asm/pgtable.h (7.3), inline there.
 */
#include "arch/access.h"
#include "arch/arm64/contpte.h"
#include "arch/arm64/pte.h"
#include "arch/arm64/tlbflush.h"

static pte_t ptep_get(struct machine *m, u32 pte)
{
	pte_t val = pte_load(m, pte);

	step_pte(m, EV_ptep_get, pte, val, 1);
	return arm64_pte_valid_cont(val) ? contpte_ptep_get(m, pte, val) : val;
}

static pte_t ptep_get_lockless(struct machine *m, u32 pte)
{
	pte_t val = pte_load(m, pte);

	step_pte(m, EV_ptep_get_lockless, pte, val, 1);
	return arm64_pte_valid_cont(val) ? contpte_ptep_get_lockless(m, pte) : val;
}

static bool has_blocks(const struct machine *m)
{
	return m->kernel->contpte != CONTPTE_NONE;
}

/* Worth a look only when the last entry of an aligned block was set. */
static void try_fold(struct machine *m, u32 pte, pte_t val)
{
	const u32 last = CONT_PTES - 1;

	if ((pte & last) == last && (arm64_pte_pfn(val) & last) == last && arm64_pte_valid(val) &&
	    !(val & (ARM64_PTE_CONT | ARM64_PTE_SPECIAL)))
		__contpte_try_fold(m, pte, val);
}

static void set_ptes(struct machine *m, u32 pte, pte_t val, u32 nr)
{
	val = arm64_pte_mknoncont(val);
	if (!has_blocks(m)) {
		__set_ptes(m, pte, val, nr);
		return;
	}
	if (nr > 1) {
		contpte_set_ptes(m, pte, val, nr);
		return;
	}
	contpte_try_unfold(m, pte);
	__set_ptes(m, pte, val, 1);
	try_fold(m, pte, val);
}

static pte_t get_and_clear_ptes(struct machine *m, u32 pte, u32 nr)
{
	if (!has_blocks(m))
		return __get_and_clear_full_ptes(m, pte, nr);
	if (nr > 1)
		return contpte_get_and_clear_full_ptes(m, pte, nr);
	contpte_try_unfold(m, pte);
	return __get_and_clear_full_ptes(m, pte, 1);
}

static void clear_full_ptes(struct machine *m, u32 pte, u32 nr, bool full)
{
	(void)full;
	if (nr > 1) {
		contpte_clear_full_ptes(m, pte, nr);
		return;
	}
	if (has_blocks(m))
		contpte_try_unfold(m, pte);
	__get_and_clear_full_ptes(m, pte, 1);
}

static void pte_clear(struct machine *m, u32 pte)
{
	if (has_blocks(m))
		contpte_try_unfold(m, pte);
	pte_store_none(m, pte);
}

static u32 pte_batch_hint(pte_t val, u32 pte)
{
	return arm64_pte_valid_cont(val) ? CONT_PTES - pte % CONT_PTES : 1;
}

static bool ptep_set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty)
{
	entry = arm64_pte_mknoncont(entry);
	if (has_blocks(m) && arm64_pte_valid_cont(contpte_check(m, pte)))
		return contpte_ptep_set_access_flags(m, pte, entry, dirty);
	return arm64_set_access_flags(m, pte, entry, dirty);
}

static void wrprotect_ptes(struct machine *m, u32 pte, u32 nr)
{
	if (!has_blocks(m))
		__wrprotect_ptes(m, pte, nr);
	else if (nr > 1)
		contpte_wrprotect_ptes(m, pte, nr);
	else
		___ptep_set_wrprotect(m, pte, arm64_pte_mknoncont(contpte_try_unfold(m, pte)));
}

static bool single(struct machine *m, u32 pte, u32 nr)
{
	return nr == 1 && (!has_blocks(m) || !(contpte_check(m, pte) & ARM64_PTE_CONT));
}

static bool test_and_clear_young_ptes(struct machine *m, u32 pte, u32 nr)
{
	if (single(m, pte, nr))
		return __ptep_test_and_clear_young(m, pte);
	if (m->kernel->contpte == CONTPTE_FULL_READ)
		return contpte_ptep_test_and_clear_young(m, pte);
	return contpte_test_and_clear_young_ptes(m, pte, nr);
}

static bool clear_flush_young_ptes(struct machine *m, u32 pte, u32 nr)
{
	u64 va = pte_va(m->s, pte);

	if (!single(m, pte, nr))
		return m->kernel->contpte == CONTPTE_FULL_READ ?
			       contpte_ptep_clear_flush_young(m, pte) :
			       contpte_clear_flush_young_ptes(m, pte, nr);
	if (!__ptep_test_and_clear_young(m, pte))
		return false;
	__flush_tlb_range(m, m->table[pte / PTRS_PER_PTE].mm, va, va + PAGE_SIZE, PAGE_SIZE,
			  TLBF_NOWALKCACHE | TLBF_NOSYNC, watched_page(m, m->pte[pte]));
	return true;
}

static void clear_young_dirty_ptes(struct machine *m, u32 pte, u32 nr, u32 cydp)
{
	if (single(m, pte, nr))
		__clear_young_dirty_ptes(m, pte, 1, cydp);
	else
		contpte_clear_young_dirty_ptes(m, pte, nr, cydp);
}

/* set_pmd() of a valid entry ends with a barrier; the ISB after it is left out. */
static void pmd_populate(struct machine *m, u32 table)
{
	pmd_point_to_table(m, table);
	arm64_dsb_ishst(m);
}

const struct arch arm64_arch = {
	.name = "arm64",
	.title = "arm64, 4K pages",
	.pte = &arm64_pte_ops,
	.pmd = &arm64_pmd_ops,
	.tlb_keeps_asids = true,
	.tlb_flush_each_vma = true,
	.invalidate_ad_flushes = true,
	.late = true,
	.deref_loads = 1,
	.ptep_get = ptep_get,
	.ptep_get_lockless = ptep_get_lockless,
	.set_ptes = set_ptes,
	.get_and_clear_ptes = get_and_clear_ptes,
	.clear_full_ptes = clear_full_ptes,
	.pte_clear = pte_clear,
	.pte_batch_hint = pte_batch_hint,
	.ptep_set_access_flags = ptep_set_access_flags,
	.wrprotect_ptes = wrprotect_ptes,
	.test_and_clear_young_ptes = test_and_clear_young_ptes,
	.clear_flush_young_ptes = clear_flush_young_ptes,
	.clear_young_dirty_ptes = clear_young_dirty_ptes,
	.pmd_populate = pmd_populate,
	.tlbbatch_should_defer = arm64_tlbbatch_should_defer,
	.tlbbatch_add_pending = arm64_tlbbatch_add_pending,
	.tlbbatch_flush = arm64_tlbbatch_flush,
	.flush_tlb_page = arm64_flush_tlb_page,
	.flush_tlb_range = arm64_flush_tlb_range,
	.flush_pmd_tlb_range = arm64_flush_pmd_tlb_range,
	.flush_tlb_mm = arm64_flush_tlb_mm,
	.pte_needs_flush = arm64_pte_needs_flush,
	.huge_pmd_needs_flush = arm64_pte_needs_flush,
	.tlb_flush = arm64_tlb_flush,
};
