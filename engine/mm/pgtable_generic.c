/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* mm/pgtable-generic.c:ptep_clear_flush */
__mirrored pte_t ptep_clear_flush(struct machine *m, const struct vma *vma, u64 address, u32 pte)
{
	pte_t pteval;

	enter(m, EV_ptep_clear_flush, m->task->page, 1);
	pteval = m->arch->get_and_clear_ptes(m, pte, 1);
	if (m->arch->pte->accessible(pteval))
		m->arch->flush_tlb_page(m, vma_idx(m, vma), address);
	return pteval;
}
