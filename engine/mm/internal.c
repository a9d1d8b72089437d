/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* Does an entry of this VMA map the folio? */
static bool vma_maps(const struct machine *m, const struct vma *vma, const struct folio *folio)
{
	u64 last = vma->pgoff + ((vma->end - vma->start) >> PAGE_SHIFT), va, end;

	if (!vma_in_anon_vma(m, vma, folio->anon_vma) || last <= folio->index ||
	    vma->pgoff >= folio->index + folio_nr_pages(folio))
		return false;
	for (va = vma_address(vma, folio, &end); va < end; va += PAGE_SIZE) {
		struct leaf leaf = leaf_of(m->s, m->arch, vma_pte(vma, va));

		if (leaf.ops->present(*leaf.entry) &&
		    leaf.ops->pfn(*leaf.entry) - folio->pfn < folio_nr_pages(folio))
			return true;
	}
	return false;
}

bool folio_maybe_mapped_shared(const struct machine *m, const struct folio *folio)
{
	u32 mm = NONE;

	if (folio->mapcount <= 1 || !folio_test_large(folio))
		return folio->mapcount > 1;
	for (u32 i = 0; i < m->s->nr[ARRAY_VMA]; i++) {
		const struct vma *vma = m->vma + i;

		if (!vma_maps(m, vma, folio))
			continue;
		if (mm != NONE && mm != vma->mm)
			return true;
		mm = vma->mm;
	}
	return false;
}

pte_t pte_move_swp_offset(const struct machine *m, pte_t pte, s64 delta)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t new = ops->swp_entry(ops->swp_type(pte), ops->swp_offset(pte) + (u64)delta);

	if (ops->has_soft_dirty && ops->swp_soft_dirty(pte))
		new = ops->swp_mksoft_dirty(new);
	if (ops->swp_exclusive(pte))
		new = ops->swp_mkexclusive(new);
	return ops->swp_uffd(pte) ? ops->swp_mkuffd(new) : new;
}

u32 swap_pte_batch(struct machine *m, u32 pte, pte_t ptent, u32 max)
{
	u32 nr = 1;

	while (nr < max && m->arch->ptep_get(m, pte + nr) == pte_move_swp_offset(m, ptent, nr))
		nr++;
	return nr;
}

pte_t pte_batch_clear_ignored(const struct pte_ops *ops, pte_t pte, u32 flags)
{
	if (!(flags & FPB_RESPECT_DIRTY))
		pte = ops->mkclean(pte);
	if (!(flags & FPB_RESPECT_SOFT_DIRTY))
		pte = ops->clear_soft_dirty(pte);
	if (!(flags & FPB_RESPECT_WRITE))
		pte = ops->wrprotect(pte);
	return ops->mkold(pte);
}

u32 folio_pte_batch_flags(struct machine *m, const struct folio *folio, u32 pte, pte_t *pteval,
			  u32 max, u32 flags)
{
	const struct pte_ops *ops = m->arch->pte;
	u32 page = folio->page + (u32)(ops->pfn(*pteval) - folio->pfn);
	u32 left = folio_nr_pages(folio) - (page - folio->page);
	u32 nr = m->arch->pte_batch_hint(*pteval, pte);
	pte_t key = pte_batch_clear_ignored(ops, ops->advance_pfn(*pteval, nr), flags);
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
		if (flags & FPB_MERGE_YOUNG_DIRTY && ops->young(next))
			*pteval = ops->mkyoung(*pteval);
		if (flags & FPB_MERGE_YOUNG_DIRTY && ops->dirty(next))
			*pteval = ops->mkdirty(*pteval);
		hint = m->arch->pte_batch_hint(next, pte + nr);
		key = ops->advance_pfn(key, hint);
		nr += hint;
	}
	return nr < max ? nr : max;
}

u32 mapped_page(const struct machine *m, const struct folio *folio, pte_t pteval)
{
	u64 pfn;

	if (m->arch->pte->present(pteval) ||
	    !softleaf_device_exclusive_pfn(m->arch->pte, &m->kernel->types, pteval, &pfn))
		pfn = m->arch->pte->pfn(pteval);
	return folio->page + (u32)(pfn - folio->pfn);
}

void page_fill(struct machine *m, u32 page, bool zero)
{
	const struct folio *folio = m->folio + page_folio(m->s, page);

	put(m, &m->page[page].zero, zero);
	for (u32 i = folio->page; zero && i < folio->page + folio_nr_pages(folio); i++)
		zero = m->page[i].zero;
	if (zero)
		folio_set_flag(m, folio, PG_zero_filled);
	else
		folio_clear_flag(m, folio, PG_zero_filled);
}

void pte_clear(struct machine *m, u32 pte)
{
	m->arch->set_ptes(m, pte, 0, 1);
}

void keep_pte(struct machine *m, u32 pte)
{
	const struct task *task = m->task;

	put(m, &m->table[pte / PTRS_PER_PTE].ptl, m->s->cpu + 1);
	put(m, &task->kept_pte, pte);
	put64(m, &task->kept, m->pte[pte]);
	put64(m, &m->pte[pte], 0);
	step(m, EV_pte_kept, pte_page(m, task->kept), m->s->cpu);
}

void pte_lock(struct machine *m, u32 pte)
{
	const struct table *table = m->table + pte / PTRS_PER_PTE;
	u32 cpu = table->ptl - 1;
	const struct task *task;

	if (!table->ptl)
		return;
	task = state_task(m->s, cpu);
	step(m, EV_ptl_contended, pte_page(m, task->kept), cpu);
	if (!table->ptl)
		return;		/* who came in between has waited for it too */
	put64(m, &m->pte[task->kept_pte], task->kept);
	put(m, &table->ptl, 0);
	step(m, EV_pte_let_go, pte_page(m, task->kept), cpu);
}

void sub_mm_counter(struct machine *m, u32 mm, const struct folio *folio, u32 page, u32 nr)
{
	const u32 *counter = mm_counter(m->mm + mm, folio);
	enum event event = folio_flag(folio, PG_anon)	    ? EV_mm_counter_lowered :
			   folio_flag(folio, PG_swapbacked) ? EV_mm_shmem_lowered :
							      EV_mm_file_lowered;

	put(m, counter, *counter - nr);
	count(m, COUNT_mm_counter_op, 1);
	step(m, event, page, nr);
}
