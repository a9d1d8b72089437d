/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page-table accesses of x86: each entry for itself, nothing read before it is changed.
 * include/linux/pgtable.h and arch/x86/include/asm/pgtable.h (7.3), inline there.
 */
#include "arch/access.h"
#include "arch/x86/pgtable.h"
#include "arch/x86/pte.h"
#include "arch/x86/tlb.h"

static pte_t ptep_get(struct machine *m, u32 pte)
{
	pte_t val = pte_load(m, pte);

	step_pte(m, EV_ptep_get, pte, val, 1);
	return val;
}

static pte_t ptep_get_lockless(struct machine *m, u32 pte)
{
	pte_t val = pte_load(m, pte);

	step_pte(m, EV_ptep_get_lockless, pte, val, 1);
	return val;
}

static void set_ptes(struct machine *m, u32 pte, pte_t val, u32 nr)
{
	enum event event = set_event(m, val);

	for (u32 i = 0; i < nr; i++)
		pte_store(m, pte + i, i ? x86_pte_advance_pfn(val, i) : val, event);
}

static pte_t get_and_clear_ptes(struct machine *m, u32 pte, u32 nr)
{
	pte_t val = pte_exchange(m, pte, EV_pte_cleared);

	for (u32 i = 1; i < nr; i++) {
		pte_t old = pte_exchange(m, pte + i, EV_pte_cleared);

		if (x86_pte_dirty(old))
			val = x86_pte_ops.mkdirty(val);
		if (x86_pte_young(old))
			val = x86_pte_ops.mkyoung(val);
	}
	return val;
}

/* When the whole address space goes, plain accesses do: no CPU uses it any more. */
static void clear_full_ptes(struct machine *m, u32 pte, u32 nr, bool full)
{
	for (u32 i = 0; i < nr; i++) {
		if (full) {
			pte_load(m, pte + i);
			pte_store_none(m, pte + i);
		} else {
			pte_exchange(m, pte + i, EV_pte_cleared);
		}
	}
}

static u32 pte_batch_hint(pte_t val, u32 pte)
{
	(void)val;
	(void)pte;
	return 1;
}

/* arch/x86/mm/pgtable.c:ptep_set_access_flags; same */
__mirrored bool ptep_set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty)
{
	pte_t val;

	enter(m, EV_ptep_set_access_flags, watched_page(m, entry), 1);
	val = ptep_get(m, pte);
	if (val != entry && dirty)
		pte_store(m, pte, entry, EV_pte_set);
	return val != entry;
}

static void wrprotect_ptes(struct machine *m, u32 pte, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		pte_t val = pte_load(m, pte + i), old;

		do {
			old = val;
			val = pte_cmpxchg(m, pte + i, old, x86_pte_wrprotect(old));
		} while (val != old);
	}
}

/* A locked bit reset, counted as a compare-and-exchange, if the bit was set. */
static bool test_and_clear_young(struct machine *m, u32 pte)
{
	pte_t val = pte_load(m, pte);

	if (!x86_pte_young(val)) {
		step_pte(m, EV_ptep_get, pte, val, 1);
		return false;
	}
	pte_cmpxchg(m, pte, val, x86_pte_mkold(val));
	return true;
}

static bool test_and_clear_young_ptes(struct machine *m, u32 pte, u32 nr)
{
	bool young = false;

	for (u32 i = 0; i < nr; i++)
		young |= test_and_clear_young(m, pte + i);
	return young;
}

static void clear_young_dirty_ptes(struct machine *m, u32 pte, u32 nr, u32 cydp)
{
	for (u32 i = 0; i < nr; i++) {
		pte_t val;

		if (cydp == CYDP_CLEAR_YOUNG) {
			test_and_clear_young(m, pte + i);
			continue;
		}
		val = pte_exchange(m, pte + i, EV_pte_cleared);
		if (cydp & CYDP_CLEAR_YOUNG)
			val = x86_pte_mkold(val);
		if (cydp & CYDP_CLEAR_DIRTY)
			val = x86_pte_mkclean(val);
		pte_store(m, pte + i, val, EV_pte_set);
	}
}

/* asm/tlbflush.h:pte_flags_need_flush: hardware sets accessed and dirty without a fault */
static bool flags_need_flush(pte_t old, pte_t new, u64 ignored)
{
	const u64 on_clear = X86_PTE_P | X86_PTE_A | X86_PTE_D;
	const u64 on_change = X86_PTE_RW | X86_PTE_US | X86_PTE_PWT | X86_PTE_PCD | X86_PTE_PAT |
			      X86_PTE_G | X86_PTE_PKEY | X86_PTE_NX;
	u64 changed = (old ^ new) & ~ignored;

	return old & X86_PTE_P && changed & ((old & on_clear) | on_change);
}

static bool x86_pte_needs_flush(const struct kernel *kernel, pte_t old, pte_t new)
{
	(void)kernel;
	return flags_need_flush(old, new, X86_PTE_A);
}

static bool x86_huge_pmd_needs_flush(const struct kernel *kernel, pmd_t old, pmd_t new)
{
	(void)kernel;
	return flags_need_flush(old, new, 0);
}

const struct arch x86_arch = {
	.name = "x86_64",
	.title = "x86-64, 4K pages",
	.pte = &x86_pte_ops,
	.pmd = &x86_pmd_ops,
	.deref_loads = 2,
	.ptep_get = ptep_get,
	.ptep_get_lockless = ptep_get_lockless,
	.set_ptes = set_ptes,
	.get_and_clear_ptes = get_and_clear_ptes,
	.clear_full_ptes = clear_full_ptes,
	.pte_clear = pte_store_none,
	.pte_batch_hint = pte_batch_hint,
	.ptep_set_access_flags = ptep_set_access_flags,
	.wrprotect_ptes = wrprotect_ptes,
	.test_and_clear_young_ptes = test_and_clear_young_ptes,
	/* A stale young bit in a TLB is not worth a flush here. */
	.clear_flush_young_ptes = test_and_clear_young_ptes,
	.clear_young_dirty_ptes = clear_young_dirty_ptes,
	.pmd_populate = pmd_point_to_table,
	.tlbbatch_should_defer = x86_tlbbatch_should_defer,
	.tlbbatch_add_pending = x86_tlbbatch_add_pending,
	.tlbbatch_flush = arch_tlbbatch_flush,
	.flush_tlb_page = x86_flush_tlb_page,
	.flush_tlb_range = x86_flush_tlb_range,
	/* The stride stays 4K: 512 pages are more than the limit, all goes. */
	.flush_pmd_tlb_range = x86_flush_tlb_range,
	.flush_tlb_mm = x86_flush_tlb_mm,
	.pte_needs_flush = x86_pte_needs_flush,
	.huge_pmd_needs_flush = x86_huge_pmd_needs_flush,
	.tlb_flush = x86_tlb_flush,
};
