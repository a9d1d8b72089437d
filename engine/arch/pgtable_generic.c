/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/access.h"
#include "arch/pgtable_generic.h"

void set_pmd_at(struct machine *m, u32 table, pmd_t pmd)
{
	pmd_store(m, table, pmd, pmd != 0);
	step(m, EV_pmd_set, watched_pmd_page(m, pmd), PTRS_PER_PTE);
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

/* mm/pgtable-generic.c:pmdp_huge_clear_flush; same */
__mirrored pmd_t pmdp_huge_clear_flush(struct machine *m, u32 vma, u32 table)
{
	pmd_t old;

	enter(m, EV_pmdp_huge_clear_flush, watched_pmd_page(m, pmdp_get(m, table)), PTRS_PER_PTE);
	old = pmdp_huge_get_and_clear(m, table);
	flush_pmd(m, vma, table);
	return old;
}
