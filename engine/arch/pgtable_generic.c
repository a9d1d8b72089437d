/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/access.h"
#include "arch/pgtable_generic.h"

/* mm/pgtable-generic.c:ptep_clear_flush; same */
__mirrored pte_t ptep_clear_flush(struct machine *m, const struct vma *vma, u64 address, u32 pte)
{
	pte_t pteval;

	enter(m, EV_ptep_clear_flush, m->task->page, 1);
	pteval = m->arch->get_and_clear_ptes(m, pte, 1);
	if (m->arch->pte->accessible(pteval))
		m->arch->flush_tlb_page(m, (u32)(vma - m->vma), address);
	return pteval;
}

void set_pmd_at(struct machine *m, u32 table, pmd_t pmd)
{
	pmd_store(m, table, pmd, pmd != 0);
	step(m, EV_pmd_set, watched_pmd_page(m, pmd), PTRS_PER_PTE);
}

void pmdp_set_wrprotect(struct machine *m, u32 table)
{
	pmd_t pmd = m->arch->pmd->wrprotect(pmdp_get(m, table));

	pmd_store(m, table, pmd, true);
	step(m, EV_pmd_wrprotected, watched_pmd_page(m, pmd), PTRS_PER_PTE);
}

pmd_t pmdp_huge_get_and_clear(struct machine *m, u32 table)
{
	return pmd_exchange(m, table, 0, EV_pmd_cleared);
}

static void flush_pmd(struct machine *m, u32 vma, u32 table)
{
	u64 va = m->table[table].va;

	m->arch->flush_pmd_tlb_range(m, vma, va, va + PMD_SIZE);
}

/* mm/pgtable-generic.c:pmdp_invalidate; same */
__mirrored pmd_t pmdp_invalidate(struct machine *m, u32 vma, u32 table)
{
	pmd_t old = pmdp_get(m, table);

	enter(m, EV_pmdp_invalidate, watched_pmd_page(m, old), PTRS_PER_PTE);
	pmd_exchange(m, table, m->arch->pmd->mkinvalid(old), EV_pmd_invalidated);
	flush_pmd(m, vma, table);
	return old;
}

/* mm/pgtable-generic.c:pmdp_invalidate_ad; x86's own does without the flush */
__mirrored pmd_t pmdp_invalidate_ad(struct machine *m, u32 vma, u32 table)
{
	pmd_t old = pmdp_get(m, table);

	enter(m, EV_pmdp_invalidate_ad, watched_pmd_page(m, old), PTRS_PER_PTE);
	if (m->arch->invalidate_ad_flushes)
		return pmdp_invalidate(m, vma, table);
	return pmd_exchange(m, table, m->arch->pmd->mkinvalid(old), EV_pmd_invalidated);
}

/* mm/pgtable-generic.c:pmdp_huge_clear_flush; same */
__mirrored pmd_t pmdp_huge_clear_flush(struct machine *m, u32 vma, u32 table)
{
	pmd_t old;

	enter(m, EV_pmdp_huge_clear_flush, watched_pmd_page(m, pmdp_get(m, table)), PTRS_PER_PTE);
	old = pmdp_huge_get_and_clear(m, table);
	flush_pmd(m, vma, table);
	return old;
}

/* mm/pgtable-generic.c:pmdp_clear_flush_young; same */
__mirrored bool pmdp_clear_flush_young(struct machine *m, u32 vma, u32 table)
{
	pmd_t pmd = pmdp_get(m, table);
	u32 page = watched_pmd_page(m, pmd);

	enter(m, EV_pmdp_clear_flush_young, page, PTRS_PER_PTE);
	if (!m->arch->pmd->young(pmd))
		return false;
	pmd_store(m, table, m->arch->pmd->mkold(pmd), true);
	step(m, EV_pmd_made_old, page, PTRS_PER_PTE);
	flush_pmd(m, vma, table);
	return true;
}
