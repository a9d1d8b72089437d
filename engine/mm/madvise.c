/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MADV_PAGEOUT: walk the page table, isolate what can go, reclaim it. One PMD range
 * after the other, so a batch of reclaim is at most 512 pages. MADV_FREE is in madvise_free.c.
 */
#include "arch/mmu_gather.h"
#include "mm/internal.h"

/* mm/madvise.c:madvise_folio_pte_batch */
u32 madvise_folio_pte_batch(struct machine *m, const struct folio *folio, u32 pte, pte_t *pteval,
			    u64 addr, u64 end)
{
	return folio_pte_batch_flags(m, folio, pte, pteval, (u32)((end - addr) >> PAGE_SHIFT),
				     FPB_MERGE_YOUNG_DIRTY);
}

/* Take one folio off the LRU. */
static void isolate_for_pageout(struct machine *m, const struct folio *folio)
{
	if (folio_flag(folio, PG_referenced)) {
		folio_clear_flag(m, folio, PG_referenced);
		step(m, EV_folio_referenced_cleared, folio->page, 0);
	}
	if (m->kernel->page_api == API_PAGE) {
		if (!isolate_lru_page(m, folio))
			return;
	} else {
		if (folio_flag(folio, PG_active))
			folio_set_flag(m, folio, PG_workingset);
		if (!folio_isolate_lru(m, folio))
			return;
	}
	if (folio_flag(folio, PG_unevictable))
		folio_putback_lru(m, folio);
	else
		list_add(m, folio, LIST_FOLIO_LIST);
}

bool split_folio_locked(struct machine *m, const struct folio *folio)
{
	u32 ptl = m->task->ptl;
	bool split;

	folio_get(m, folio);
	put(m, &m->task->ptl, NONE);
	split = split_folio_to_list(m, folio, LIST_NONE);
	folio_unlock(m, folio);
	folio_put(m, folio);
	put(m, &m->task->ptl, ptl);
	return split;
}

bool mapped_shared(struct machine *m, const struct folio *folio)
{
	if (!folio_maybe_mapped_shared(m, folio))
		return false;
	step(m, EV_folio_not_isolated, folio->page, folio->mapcount);
	return true;
}

/* 6.1: no CPU may set the accessed bit while it is being cleared. */
static void age_pmd(struct machine *m, struct mmu_gather *tlb, const struct vma *vma, u32 table)
{
	const struct pte_ops *ops = m->arch->pmd;
	pmd_t pmd = pmdp_get(m, table);

	if (m->kernel->pageout_young == PAGEOUT_IGNORES_YOUNG || !ops->young(pmd))
		return;
	pmd = pmdp_invalidate(m, vma_idx(m, vma), table);
	set_pmd_at(m, table, ops->mkold(pmd));
	tlb_remove_pmd_tlb_entry(m, tlb, m->table[table].va);
}

static void age_pte(struct machine *m, struct mmu_gather *tlb, u64 addr, u32 pte, pte_t ptent)
{
	if (m->kernel->pageout_young == PAGEOUT_IGNORES_YOUNG || !m->arch->pte->young(ptent))
		return;
	ptent = m->arch->get_and_clear_ptes(m, pte, 1);
	m->arch->set_ptes(m, pte, m->arch->pte->mkold(ptent), 1);
	tlb_remove_tlb_entries(m, tlb, addr, 1);
}

/* A range under a huge entry. True: it was split, go on with its PTEs. */
static bool pageout_huge_pmd(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			     u32 table, u64 addr, u64 end)
{
	const struct folio *folio = pmd_folio(m, table);

	put(m, &m->task->folio, folio_idx(m, folio));
	lock_pte_table(m, table);
	if (!mapped_shared(m, folio)) {
		if (end - addr == PMD_SIZE) {
			age_pmd(m, tlb, vma, table);
			isolate_for_pageout(m, folio);
		} else if (folio_trylock(m, folio)) {
			unlock_pte_table(m);
			return split_folio_locked(m, folio);
		}
	}
	unlock_pte_table(m);
	put(m, &m->task->folio, NONE);
	reclaim_pages(m);
	return false;
}

u32 split_partly_mapped(struct machine *m, const struct vma *vma, const struct folio *folio, u32 nr)
{
	if (mapped_shared(m, folio) || !folio_trylock(m, folio))
		return nr;
	if (split_folio_locked(m, folio))
		nr = 0;
	flush_tlb_batched_pending(m, vma->mm);
	return nr;
}

static u32 not_isolated(struct machine *m, const struct folio *folio, u32 nr)
{
	step(m, EV_folio_not_isolated, folio->page, folio->mapcount);
	return nr;
}

u32 split_or_stop(struct machine *m, const struct folio *folio, u32 page, u32 left)
{
	if (m->page[page].mapcount + folio->entire_mapcount != 1)
		return not_isolated(m, folio, left);
	return folio_trylock(m, folio) && split_folio_locked(m, folio) ? 0 : left;
}

/* The same page by page, up to 6.1. */
static u32 pageout_page(struct machine *m, struct mmu_gather *tlb, const struct vma *vma, u64 addr,
			u64 end)
{
	u32 pte = vma_pte(vma, addr), page, left = (u32)((end - addr) >> PAGE_SHIFT);
	pte_t ptent = m->arch->ptep_get(m, pte);
	const struct folio *folio;

	if (!m->arch->pte->present(ptent))
		return 1;
	page = vm_normal_page(m, ptent);
	if (page == NONE)
		return 1;
	folio = m->folio + page_folio(m->s, page);
	put(m, &m->task->folio, folio_idx(m, folio));
	if (folio_test_large(folio))
		return split_or_stop(m, folio, page, left);
	if (!folio_flag(folio, PG_lru) || folio->mapcount != 1)
		return not_isolated(m, folio, 1);
	age_pte(m, tlb, addr, pte, ptent);
	isolate_for_pageout(m, folio);
	return 1;
}

/* How many entries from this one on are dealt with. */
static u32 pageout_pte(struct machine *m, const struct vma *vma, u64 addr, u64 end)
{
	u32 pte = vma_pte(vma, addr), nr = 1;
	pte_t ptent = m->arch->ptep_get(m, pte);
	const struct folio *folio;

	if (!m->arch->pte->present(ptent))
		return 1;
	folio = vm_normal_folio(m, ptent);
	if (!folio)
		return 1;
	put(m, &m->task->folio, folio_idx(m, folio));
	if (folio_test_large(folio)) {
		nr = madvise_folio_pte_batch(m, folio, pte, &ptent, addr, end);
		if (nr < folio_nr_pages(folio))
			return split_partly_mapped(m, vma, folio, nr);
	}
	if (!folio_flag(folio, PG_lru) || folio->mapcount != folio_nr_pages(folio))
		return not_isolated(m, folio, nr);
	isolate_for_pageout(m, folio);
	return nr;
}

/* mm/madvise.c:madvise_cold_or_pageout_pte_range */
__mirrored void madvise_cold_or_pageout_pte_range(struct machine *m, struct mmu_gather *tlb,
						  const struct vma *vma, u64 addr, u64 end)
{
	u32 table = vma_pte(vma, addr) / PTRS_PER_PTE;

	enter_phase(m, PHASE_isolate);
	enter(m, EV_madvise_cold_or_pageout_pte_range, NONE, (u32)((end - addr) >> PAGE_SHIFT));
	if (m->table[table].pmd && !pageout_huge_pmd(m, tlb, vma, table, addr, end))
		return;
	lock_pte_table(m, table);
	flush_tlb_batched_pending(m, vma->mm);
	while (addr < end)
		addr += PAGE_SIZE * (m->kernel->page_api == API_PAGE ?
					     pageout_page(m, tlb, vma, addr, end) :
					     pageout_pte(m, vma, addr, end));
	put(m, &m->task->folio, NONE);
	unlock_pte_table(m);
	reclaim_pages(m);
}

/* mm/madvise.c:madvise_pageout */
__mirrored bool madvise_pageout(struct machine *m, const struct vma *vma, u64 start, u64 end)
{
	struct mmu_gather tlb;

	enter(m, EV_madvise_pageout, NONE, (u32)((end - start) >> PAGE_SHIFT));
	if (vma->flags & VM_LOCKED) {
		step(m, EV_madvise_refused, NONE, 0);
		return false;
	}
	tlb_gather_mmu(m, &tlb, vma->mm, false);
	put64(m, &m->task->madvise_address, start);
	while (m->task->madvise_address < end) {
		u64 next;

		rest(m, vma_idx(m, vma));
		start = m->task->madvise_address;
		next = (start | (PMD_SIZE - 1)) + 1;
		if (next > end)
			next = end;
		if (m->table[vma_pte(vma, start) / PTRS_PER_PTE].populated)
			madvise_cold_or_pageout_pte_range(m, &tlb, vma, start, next);
		put64(m, &m->task->madvise_address, next);
	}
	tlb_finish_mmu(m, &tlb);
	return true;
}
