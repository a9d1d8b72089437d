/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* How many PTEs from the one the walk stands on continue it. */
static u32 run_length(struct machine *m, const struct page_vma_mapped_walk *pvmw)
{
	u64 address = m->task->walk_address, end = (address | (PMD_SIZE - 1)) + 1;
	pte_t pteval;

	if (!folio_test_large(pvmw->folio) || m->kernel->referenced == REFERENCED_PTE)
		return 1;
	if (end > pvmw->vma->end)
		end = pvmw->vma->end;
	pteval = m->arch->ptep_get(m, m->task->walk_pte);
	return folio_pte_batch_flags(m, pvmw->folio, m->task->walk_pte, &pteval,
				     (u32)((end - address) >> PAGE_SHIFT), 0);
}

/*
 * mm/rmap.c:folio_referenced_one; reduced: no MGLRU, no exiting process. A device-exclusive
 * entry is passed over: it has no accessed bit.
 */
__mirrored bool folio_referenced_one(struct machine *m, const struct folio *folio,
				     const struct vma *vma, void *arg)
{
	const struct page_vma_mapped_walk pvmw = { .folio = folio, .vma = vma };
	const struct task *task = m->task;
	struct folio_referenced_arg *pra = arg;
	bool referenced = false;
	u32 nr, ptes = 0;

	enter(m, EV_folio_referenced_one, folio->page, folio_nr_pages(folio));
	page_vma_mapped_walk_start(m, &pvmw, 0);
	while (page_vma_mapped_walk(m, &pvmw)) {
		if (vma->flags & VM_LOCKED) {
			pra->mapcount--;
			ptes += task->walk_pmd == NONE ? 1 : PTRS_PER_PTE;
			if (!mlock_missed_folio(m, folio, ptes) ||
			    task->walk_flags & PVMW_PGTABLE_CROSSED)
				continue;
			page_vma_mapped_walk_done(m);
			pra->vm_flags |= VM_LOCKED;
			return false;
		}
		if (task->walk_pmd != NONE) {
			referenced |= pmdp_clear_flush_young(m, vma_idx(m, vma), task->walk_pmd);
			pra->mapcount--;
			continue;
		}
		if (!m->arch->pte->present(m->pte[task->walk_pte])) {
			pra->mapcount--;
			ptes++;
			continue;
		}
		nr = run_length(m, &pvmw);
		referenced |= m->arch->clear_flush_young_ptes(m, task->walk_pte, nr);
		ptes += nr;
		pra->mapcount -= nr;
		if (m->kernel->referenced == REFERENCED_RUN && ptes == folio_nr_pages(folio)) {
			page_vma_mapped_walk_done(m);
			break;
		}
		put(m, &task->walk_pte, task->walk_pte + nr - 1);
		put64(m, &task->walk_address, task->walk_address + (nr - 1) * PAGE_SIZE);
	}
	if (referenced) {
		pra->referenced++;
		pra->vm_flags |= vma->flags & ~(u32)VM_LOCKED;
	}
	return pra->mapcount > 0;
}

/* mm/rmap.c:folio_referenced: in how many VMAs. A folio that somebody else locks counts as used. */
__mirrored u32 folio_referenced(struct machine *m, const struct folio *folio, bool is_locked,
				u32 *vm_flags)
{
	struct folio_referenced_arg pra = { .mapcount = folio->mapcount };
	const struct rmap_walk_control rwc = { .rmap_one = folio_referenced_one, .arg = &pra };

	enter(m, EV_folio_referenced, folio->page, 0);
	*vm_flags = 0;
	if (!folio_mapped(folio))
		return 0;
	if (!is_locked && !folio_trylock(m, folio))
		return 1;
	rmap_walk(m, folio, &rwc);
	put(m, &m->task->page, NONE);
	if (!is_locked)
		folio_unlock(m, folio);
	*vm_flags = pra.vm_flags;
	return pra.referenced;
}
