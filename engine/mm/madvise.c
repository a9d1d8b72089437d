/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MADV_PAGEOUT: walk the page table, isolate what can go, reclaim it. One PMD range
 * after the other, so a batch of reclaim is at most 512 pages.
 */
#include "mm/internal.h"

/* mm/madvise.c:madvise_folio_pte_batch */
static u32 madvise_folio_pte_batch(struct machine *m, const struct folio *folio, u32 pte,
				   pte_t pteval, u64 addr, u64 end)
{
	return folio_pte_batch_flags(m, folio, pte, pteval, (u32)((end - addr) >> PAGE_SHIFT), 0);
}

/* Take one folio off the LRU if nobody else maps it. */
static void isolate_for_pageout(struct machine *m, const struct folio *folio)
{
	if (!folio_flag(folio, PG_lru) || folio->mapcount != folio_nr_pages(folio)) {
		step(m, EV_folio_not_isolated, folio->page, folio->mapcount);
		return;
	}
	if (folio_flag(folio, PG_referenced)) {
		folio_clear_flag(m, folio, PG_referenced);
		step(m, EV_folio_referenced_cleared, folio->page, 0);
	}
	if (folio_flag(folio, PG_active))
		folio_set_flag(m, folio, PG_workingset);
	if (!folio_isolate_lru(m, folio))
		return;
	if (folio_flag(folio, PG_unevictable))
		folio_putback_lru(m, folio);
	else
		list_add(m, folio, LIST_FOLIO_LIST);
}

/*
 * A large folio of which this range maps only a part: pages that nobody maps can be freed
 * at once, the others one by one. True: it was split, look at the same address again.
 */
static bool split_partly_mapped(struct machine *m, const struct vma *vma,
				const struct folio *folio)
{
	bool split;

	if (folio_maybe_mapped_shared(m, folio)) {
		step(m, EV_folio_not_isolated, folio->page, folio->mapcount);
		return false;
	}
	if (!folio_trylock(m, folio))
		return false;
	folio_get(m, folio);
	split = split_folio_to_list(m, folio, NONE);
	folio_unlock(m, folio);
	folio_put(m, folio);
	flush_tlb_batched_pending(m, vma->mm);
	return split;
}

/* mm/madvise.c:madvise_cold_or_pageout_pte_range */
__mirrored void madvise_cold_or_pageout_pte_range(struct machine *m, const struct vma *vma,
						  u64 addr, u64 end)
{
	const struct folio *folio;
	u32 nr;

	enter_phase(m, PHASE_isolate);
	enter(m, EV_madvise_cold_or_pageout_pte_range, NONE, (u32)((end - addr) >> PAGE_SHIFT));
	flush_tlb_batched_pending(m, vma->mm);
	for (; addr < end; addr += nr * PAGE_SIZE) {
		u32 pte = vma_pte(vma, addr);
		pte_t ptent = m->arch->ptep_get(m, pte);

		nr = 1;
		if (!m->arch->pte->present(ptent))
			continue;
		folio = vm_normal_folio(m, ptent);
		if (!folio)
			continue;
		put(m, &m->task->folio, folio_idx(m, folio));
		if (folio_test_large(folio)) {
			nr = madvise_folio_pte_batch(m, folio, pte, ptent, addr, end);
			if (nr < folio_nr_pages(folio)) {
				if (split_partly_mapped(m, vma, folio))
					nr = 0;
				continue;
			}
		}
		isolate_for_pageout(m, folio);
	}
	put(m, &m->task->folio, NONE);
	reclaim_pages(m);
}

/* mm/madvise.c:madvise_pageout */
__mirrored bool madvise_pageout(struct machine *m, const struct vma *vma, u64 start, u64 end)
{
	enter(m, EV_madvise_pageout, NONE, (u32)((end - start) >> PAGE_SHIFT));
	if (vma->flags & VM_LOCKED) {
		step(m, EV_madvise_refused, NONE, 0);
		return false;
	}
	while (start < end) {
		u64 next = (start | (PMD_SIZE - 1)) + 1;

		if (next > end)
			next = end;
		if (m->table[vma_pte(vma, start) / PTRS_PER_PTE].populated)
			madvise_cold_or_pageout_pte_range(m, vma, start, next);
		start = next;
	}
	return true;
}
