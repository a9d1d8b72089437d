/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page-table walk of the reverse map: find the next PTE, in one VMA, that
 * maps the folio. It stands on a PTE between calls:
 *
 *	walk_pte NONE   not in a page table yet: look it up, take its lock
 *	walk_pte p      go on behind p; empty entries are skipped, each for one read
 *	walk_pmd t      on the huge entry of table t, which maps the folio whole
 *
 * With PVMW_SYNC (large folios) the lock is taken at once; without, the first PTE
 * is peeked at first.
 */
#include "mm/internal.h"

u64 vma_address(const struct vma *vma, const struct folio *folio, u64 *end)
{
	u64 first = folio->index > vma->pgoff ? folio->index : vma->pgoff;
	u64 last = folio->index + folio_nr_pages(folio);
	u64 vma_last = vma->pgoff + ((vma->end - vma->start) >> PAGE_SHIFT);

	if (last > vma_last)
		last = vma_last;
	*end = vma->start + ((last - vma->pgoff) << PAGE_SHIFT);
	return vma->start + ((first - vma->pgoff) << PAGE_SHIFT);
}

u32 walk_page(const struct machine *m, const struct page_vma_mapped_walk *pvmw)
{
	u64 pgoff = pvmw->vma->pgoff + ((m->task->walk_address - pvmw->vma->start) >> PAGE_SHIFT);

	return pvmw->folio->page + (u32)(pgoff - pvmw->folio->index);
}

void page_vma_mapped_walk_start(struct machine *m, const struct page_vma_mapped_walk *pvmw,
				u32 flags)
{
	u64 end;

	put64(m, &m->task->walk_address, vma_address(pvmw->vma, pvmw->folio, &end));
	put(m, &m->task->walk_vma, vma_idx(m, pvmw->vma));
	page_vma_mapped_walk_restart(m);
	put(m, &m->task->walk_flags, flags);
}

void page_vma_mapped_walk_restart(struct machine *m)
{
	put(m, &m->task->walk_pte, NONE);
	put(m, &m->task->walk_pmd, NONE);
}

void page_vma_mapped_walk_done(struct machine *m)
{
	page_vma_mapped_walk_restart(m);
	put(m, &m->task->walk_vma, NONE);
	put(m, &m->task->run.nr, 0);
	put(m, &m->task->nr_pages, 0);
}

static bool not_found(struct machine *m)
{
	page_vma_mapped_walk_done(m);
	step(m, EV_walk_not_found, NONE, 0);
	return false;
}

/* mm/page_vma_mapped.c:check_pmd: does the huge entry map the folio? Never with PVMW_MIGRATION. */
static bool check_pmd(const struct machine *m, const struct page_vma_mapped_walk *pvmw, u32 table)
{
	u64 pfn = m->arch->pmd->pfn(m->table[table].pmd);

	return !(m->task->walk_flags & PVMW_MIGRATION) &&
	       pvmw->folio->pfn - pfn < PTRS_PER_PTE;
}

static void take_ptl(struct machine *m)
{
	const struct task *task = m->task;

	if (task->walk_flags & PVMW_PTL)
		return;
	pte_lock(m, task->walk_pte);
	put(m, &task->walk_flags, task->walk_flags | PVMW_PTL);
}

/* mm/page_vma_mapped.c:map_pte. False: nothing here, go on behind it. */
static bool map_pte(struct machine *m, const struct page_vma_mapped_walk *pvmw)
{
	pte_t pteval;
	u64 pfn;

	put(m, &m->task->walk_pte, vma_pte(pvmw->vma, m->task->walk_address));
	if (m->task->walk_flags & PVMW_SYNC) {
		take_ptl(m);
		return true;
	}
	pteval = m->arch->ptep_get_lockless(m, m->task->walk_pte);
	if (!m->arch->pte->present(pteval) &&
	    !softleaf_device_exclusive_pfn(m->arch->pte, &m->kernel->types, pteval, &pfn))
		return false;
	take_ptl(m);
	return true;
}

/* mm/page_vma_mapped.c:check_pte */
__mirrored bool check_pte(struct machine *m, const struct page_vma_mapped_walk *pvmw)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t pteval;
	u64 pfn;

	enter(m, EV_check_pte, walk_page(m, pvmw), 1);
	pteval = m->arch->ptep_get(m, m->task->walk_pte);
	if (m->task->walk_flags & PVMW_MIGRATION) {
		if (!softleaf_migration_pfn(ops, &m->kernel->types, pteval, &pfn))
			return false;
	} else if (ops->present(pteval)) {
		pfn = ops->pfn(pteval);
	} else if (!softleaf_device_exclusive_pfn(ops, &m->kernel->types, pteval, &pfn)) {
		return false;
	}
	return pfn - pvmw->folio->pfn < folio_nr_pages(pvmw->folio);
}

/* To the next PTE of this table that is not empty. False: the range or the table ends. */
static bool next_pte(struct machine *m, const struct page_vma_mapped_walk *pvmw, u64 end)
{
	const struct task *task = m->task;

	for (;;) {
		put64(m, &task->walk_address, task->walk_address + PAGE_SIZE);
		if (task->walk_address >= end)
			return false;
		if (task->walk_address % PMD_SIZE == 0) {
			put(m, &task->walk_pte, NONE);
			put(m, &task->walk_flags,
			    (task->walk_flags & ~(u32)PVMW_PTL) | PVMW_PGTABLE_CROSSED);
			return false;
		}
		put(m, &task->walk_pte, task->walk_pte + 1);
		put(m, &task->page, walk_page(m, pvmw));
		if (!m->arch->pte->none(m->arch->ptep_get(m, task->walk_pte))) {
			take_ptl(m);
			return true;
		}
		step(m, EV_pte_none_skipped, walk_page(m, pvmw), 1);
	}
}

/* mm/page_vma_mapped.c:page_vma_mapped_walk, page tables of 4K pages */
__mirrored bool page_vma_mapped_walk(struct machine *m, const struct page_vma_mapped_walk *pvmw)
{
	const struct task *task = m->task;
	bool at_pte = false;
	u64 end;

	vma_address(pvmw->vma, pvmw->folio, &end);
	count(m, COUNT_walk_step, 1);
	enter(m, EV_page_vma_mapped_walk, NONE, 0);
	if (task->walk_pmd != NONE)
		return not_found(m);
	do {
		if (task->walk_pte == NONE) {
			u32 table = vma_pte(pvmw->vma, task->walk_address) / PTRS_PER_PTE;

			if (m->table[table].pmd && check_pmd(m, pvmw, table)) {
				put(m, &task->walk_pmd, table);
				put(m, &task->page, walk_page(m, pvmw));
				step(m, EV_walk_found_pmd, walk_page(m, pvmw), PTRS_PER_PTE);
				return true;
			}
			if (m->table[table].pmd || !m->table[table].populated) {
				put64(m, &task->walk_address,
				      (task->walk_address | (PMD_SIZE - 1)) + 1);
				continue;
			}
			put(m, &task->page, walk_page(m, pvmw));
			at_pte = map_pte(m, pvmw);
		}
		while (at_pte || next_pte(m, pvmw, end)) {
			at_pte = false;
			if (check_pte(m, pvmw)) {
				step(m, EV_walk_found, walk_page(m, pvmw), 1);
				return true;
			}
			step(m, EV_pte_mismatch, walk_page(m, pvmw), 1);
		}
	} while (task->walk_address < end);
	return not_found(m);
}
