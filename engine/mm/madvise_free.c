/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MADV_FREE: the process does not need what is in a range, but keeps the range. Nothing is
 * freed yet:
 *
 *	swap entries   go, and their slots
 *	swap cache     left: a lazyfree folio is never written out
 *	dirty, young   cleared in PTEs and folio: from here on dirty means written to again
 *	one flush      a CPU with a dirty translation would write without leaving a mark
 *	swapbacked     cleared: to reclaim the folio may be dropped
 */
#include "arch/mmu_gather.h"
#include "mm/internal.h"

/* All of its pages are mapped by this range: any further mapping is somebody else's. */
static bool mapped_elsewhere(struct machine *m, const struct folio *folio)
{
	if (folio->mapcount == folio_nr_pages(folio))
		return false;
	step(m, EV_folio_not_isolated, folio->page, folio->mapcount);
	return true;
}

/*
 * The swap cache's copy and the dirty flag go. False: others map the folio, or it cannot leave
 * the swap cache.
 */
static bool forget_content(struct machine *m, const struct folio *folio)
{
	bool forgotten;

	if (!folio_flag(folio, PG_swapcache) && !folio_flag(folio, PG_dirty))
		return true;
	if (!folio_trylock(m, folio))
		return false;
	forgotten = !mapped_elsewhere(m, folio) &&
		    (!folio_flag(folio, PG_swapcache) || folio_free_swap(m, folio));
	if (forgotten) {
		folio_clear_flag(m, folio, PG_dirty);
		step(m, EV_folio_dirty_cleared, folio->page, 0);
	}
	folio_unlock(m, folio);
	return forgotten;
}

/* 6.1 has no function for it. */
static void clear_young_dirty(struct machine *m, struct mmu_gather *tlb, u64 addr, u32 pte,
			      u32 nr)
{
	pte_t ptent;

	if (m->kernel->page_api == API_PAGE) {
		ptent = m->arch->get_and_clear_ptes(m, pte, 1);
		m->arch->set_ptes(m, pte, m->arch->pte->mkclean(m->arch->pte->mkold(ptent)), 1);
	} else {
		m->arch->clear_young_dirty_ptes(m, pte, nr, CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY);
	}
	if (!bug(m, BUG_free_not_flushed))
		tlb_remove_tlb_entries(m, tlb, addr, nr);
}

/* Of a present entry; 6.1 asks for the page. */
static const struct folio *pte_folio(struct machine *m, pte_t ptent)
{
	u32 page;

	if (m->kernel->page_api == API_FOLIO)
		return vm_normal_folio(m, ptent);
	page = vm_normal_page(m, ptent);
	return page == NONE ? NULL : m->folio + page_folio(m->s, page);
}

/* How many entries from this one on are dealt with. */
static u32 free_present_ptes(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			     u64 addr, u64 end, pte_t ptent)
{
	const struct folio *folio = pte_folio(m, ptent);
	u32 pte = vma_pte(vma, addr), nr = 1;

	if (!folio)
		return 1;
	put(m, &m->task->folio, folio_idx(m, folio));
	if (folio_test_large(folio) && m->kernel->page_api == API_PAGE)
		return split_or_stop(m, folio, pte_page(m, ptent),
				     (u32)((end - addr) >> PAGE_SHIFT));
	if (folio_test_large(folio)) {
		nr = madvise_folio_pte_batch(m, folio, pte, &ptent, addr, end);
		if (nr < folio_nr_pages(folio))
			return split_partly_mapped(m, vma, folio, nr);
	}
	if (!forget_content(m, folio))
		return nr;
	if (m->arch->pte->young(ptent) || m->arch->pte->dirty(ptent))
		clear_young_dirty(m, tlb, addr, pte, nr);
	mark_lazyfree(m, folio);
	return nr;
}

static bool is_hwpoison(const struct machine *m, pte_t pte)
{
	return m->arch->pte->swp_type(pte) == softleaf_type(&m->kernel->types, "hwpoison");
}

/* Empty entries are cheaper than swapping in: who touches the page again gets zeroes. */
static u32 free_nonpresent_ptes(struct machine *m, u32 pte, pte_t ptent, u32 max)
{
	u32 nr = 1;

	if (pte_slot(m, ptent) != NONE) {
		nr = free_swap_ptes(m, pte, ptent, max);
		put(m, &m->task->nr_swap, m->task->nr_swap + nr);
	} else if (!is_hwpoison(m, ptent)) {
		return 1;
	}
	for (u32 i = pte; i < pte + nr; i++)
		m->arch->pte_clear(m, i);
	return nr;
}

static u32 free_ptes(struct machine *m, struct mmu_gather *tlb, const struct vma *vma, u64 addr,
		     u64 end)
{
	u32 pte = vma_pte(vma, addr);
	pte_t ptent = m->arch->ptep_get(m, pte);

	if (m->arch->pte->none(ptent))
		return 1;
	if (m->arch->pte->present(ptent))
		return free_present_ptes(m, tlb, vma, addr, end, ptent);
	return free_nonpresent_ptes(m, pte, ptent, (u32)((end - addr) >> PAGE_SHIFT));
}

/* mm/madvise.c:madvise_free_pte_range */
__mirrored void madvise_free_pte_range(struct machine *m, struct mmu_gather *tlb,
				       const struct vma *vma, u64 addr, u64 end)
{
	const struct mm *mm = m->mm + vma->mm;
	const u32 *nr_swap = &m->task->nr_swap;
	u32 table = vma_pte(vma, addr) / PTRS_PER_PTE;

	enter(m, EV_madvise_free_pte_range, NONE, (u32)((end - addr) >> PAGE_SHIFT));
	if (m->table[table].pmd && madvise_free_huge_pmd(m, tlb, vma, table, addr, end))
		return;
	if (m->table[table].pmd)
		return;
	lock_pte_table(m, table);
	flush_tlb_batched_pending(m, vma->mm);
	while (addr < end)
		addr += PAGE_SIZE * free_ptes(m, tlb, vma, addr, end);
	if (*nr_swap) {
		put(m, &mm->swapents, mm->swapents - *nr_swap);
		count(m, COUNT_mm_counter_op, 1);
		step(m, EV_mm_counters_lowered, NONE, *nr_swap);
		put(m, nr_swap, 0);
	}
	put(m, &m->task->folio, NONE);
	unlock_pte_table(m);
}

/* mm/madvise.c:madvise_free_single_vma */
__mirrored void madvise_free_single_vma(struct machine *m, struct mmu_gather *tlb,
					const struct vma *vma, u64 start, u64 end)
{
	enter(m, EV_madvise_free_single_vma, NONE, (u32)((end - start) >> PAGE_SHIFT));
	update_hiwater_rss(m, vma->mm);
	for (u64 next; start < end; start = next) {
		next = (start | (PMD_SIZE - 1)) + 1;
		if (next > end)
			next = end;
		if (m->table[vma_pte(vma, start) / PTRS_PER_PTE].populated)
			madvise_free_pte_range(m, tlb, vma, start, next);
	}
	if (m->arch->tlb_flush_each_vma)
		tlb_flush_mmu_tlbonly(m, tlb);
}
