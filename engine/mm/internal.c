/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/*
 * mm/internal.h:__pte_batch_clear_ignored: what two entries of a run may differ in is
 * taken out with the kernel's own helpers, side effects included.
 */
static pte_t pte_batch_clear_ignored(const struct pte_ops *ops, pte_t pte, u32 flags)
{
	if (!(flags & FPB_RESPECT_DIRTY))
		pte = ops->mkclean(pte);
	if (!(flags & FPB_RESPECT_SOFT_DIRTY))
		pte = ops->clear_soft_dirty(pte);
	if (!(flags & FPB_RESPECT_WRITE))
		pte = ops->wrprotect(pte);
	return ops->mkold(pte);
}

u32 folio_pte_batch_flags(struct machine *m, const struct folio *folio, u32 pte, pte_t pteval,
			  u32 max, u32 flags)
{
	const struct pte_ops *ops = m->arch->pte;
	u32 page = folio->page + (u32)(ops->pfn(pteval) - folio->pfn);
	u32 left = folio_nr_pages(folio) - (page - folio->page);
	u32 nr = m->arch->pte_batch_hint(pteval, pte);
	pte_t key = pte_batch_clear_ignored(ops, ops->advance_pfn(pteval, nr), flags);
	pte_t next;
	u32 hint;

	if (max > left)
		max = left;
	while (nr < max) {
		next = m->arch->ptep_get(m, pte + nr);
		if (pte_batch_clear_ignored(ops, next, flags) != key) {
			step(m, EV_pte_run_ends, page + nr, nr);
			break;
		}
		step(m, EV_pte_compared, page + nr, 1);
		hint = m->arch->pte_batch_hint(next, pte + nr);
		key = ops->advance_pfn(key, hint);
		nr += hint;
	}
	return nr < max ? nr : max;
}
