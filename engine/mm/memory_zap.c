/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zapping: a range of addresses is to map nothing any more.
 *
 *	present     cleared in runs; mapcounts fall; the pages are gathered: they keep their
 *	            references until one flush for all of them is over
 *	swap        the counts of a run of slots fall, then its entries are cleared; no TLB
 *	            holds them, so nothing is flushed
 *
 * The mm's counters move once for each page table.
 */
#include "arch/mmu_gather.h"
#include "mm/internal.h"

/* What one page table's worth has changed: rss[] of the kernel. */
struct zapped {
	u32 anonpages, swapents;
};

/* mm/mlock.c:munlock_folio, at once. How many locked VMAs map it is not kept. */
static void munlock_vma_folio(struct machine *m, const struct folio *folio, const struct vma *vma)
{
	if (!(vma->flags & VM_LOCKED) || !folio_flag(folio, PG_mlocked))
		return;
	folio_clear_flag(m, folio, PG_mlocked);
	if (folio_flag(folio, PG_lru) && folio_flag(folio, PG_unevictable)) {
		list_del(m, folio);
		folio_clear_flag(m, folio, PG_unevictable);
		list_add(m, folio, folio_lru_list(folio));
	}
	step(m, EV_folio_munlocked, folio->page, 0);
}

/* mm/memory.c:zap_present_folio_ptes, anonymous folios. True: flush before going on. */
static bool zap_present_folio_ptes(struct machine *m, struct mmu_gather *tlb,
				   const struct vma *vma, const struct folio *folio, u32 page,
				   u32 pte, u32 nr, struct zapped *zapped)
{
	m->arch->clear_full_ptes(m, pte, nr, tlb->fullmm);
	zapped->anonpages += nr;
	tlb_remove_tlb_entries(m, tlb, pte_va(m->s, pte), nr);
	folio_remove_rmap_ptes(m, folio, page, nr);
	munlock_vma_folio(m, folio, vma);
	return __tlb_remove_folio_pages(m, tlb, page, nr);
}

/* mm/memory.c:zap_present_ptes. How many; *force_break: flush before going on. */
static u32 zap_present_ptes(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			    u32 pte, pte_t ptent, u32 max, struct zapped *zapped, bool *force_break)
{
	u32 page = vm_normal_page(m, ptent), nr = 1;
	const struct folio *folio;

	if (page == NONE) {
		m->arch->clear_full_ptes(m, pte, 1, tlb->fullmm);
		zapped->anonpages += !is_zero_pfn(m->arch->pte->pfn(ptent));
		tlb_remove_tlb_entries(m, tlb, pte_va(m->s, pte), 1);
		return 1;
	}
	folio = m->folio + page_folio(m->s, page);
	put(m, &m->task->folio, folio_idx(m, folio));
	if (folio_test_large(folio) && max > 1 && m->kernel->page_api == API_FOLIO)
		nr = folio_pte_batch_flags(m, folio, pte, &ptent, max, 0);
	*force_break = zap_present_folio_ptes(m, tlb, vma, folio, page, pte, nr, zapped);
	return nr;
}

u32 free_swap_ptes(struct machine *m, u32 pte, pte_t ptent, u32 max)
{
	u32 slot = pte_slot(m, ptent), nr = 1;

	if (m->kernel->swap_zap != SWAP_ZAP_PTES)
		nr = swap_pte_batch(m, pte, ptent, max);
	switch (m->kernel->swap_zap) {
	case SWAP_ZAP_RUNS:
		swap_put_entries_direct(m, slot, nr);
		break;
	case SWAP_ZAP_UNIFORM:
	case SWAP_ZAP_SLOTS:
		free_swap_and_cache_nr(m, slot, nr);
		break;
	case SWAP_ZAP_PTES:
		free_swap_and_cache(m, slot);
		break;
	}
	return nr;
}

/* mm/memory.c:zap_nonpresent_ptes. Of markers and of what is broken nothing is counted. */
static u32 zap_nonpresent_ptes(struct machine *m, u32 pte, pte_t ptent, u32 max,
			       struct zapped *zapped)
{
	const struct pte_ops *ops = m->arch->pte;
	u32 nr = 1;
	u64 pfn;

	if (pte_slot(m, ptent) != NONE) {
		nr = free_swap_ptes(m, pte, ptent, max);
		zapped->swapents += nr;
	} else if (softleaf_device_exclusive_pfn(ops, &m->kernel->types, ptent, &pfn)) {
		const struct folio *folio = m->folio + pfn_folio(m->s, pfn);

		zapped->anonpages++;
		folio_remove_rmap_ptes(m, folio, pfn_page(m->s, pfn), 1);
		folio_put_refs(m, folio, pfn_page(m->s, pfn), 1);
	} else if (softleaf_migration_pfn(ops, &m->kernel->types, ptent, &pfn)) {
		zapped->anonpages++;
	}
	for (u32 i = pte; i < pte + nr; i++)
		m->arch->pte_clear(m, i);
	return nr;
}

/* mm/memory.c:do_zap_pte_range: the empty entries from here on, and the next run of others */
static u32 do_zap_pte_range(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			    u32 pte, u32 max, struct zapped *zapped, bool *force_break)
{
	pte_t ptent = m->arch->ptep_get(m, pte);
	u32 nr = 0;

	while (m->arch->pte->none(ptent)) {
		if (++nr == max)
			return nr;
		ptent = m->arch->ptep_get(m, pte + nr);
	}
	if (m->arch->pte->present(ptent))
		return nr + zap_present_ptes(m, tlb, vma, pte + nr, ptent, max - nr, zapped,
					     force_break);
	return nr + zap_nonpresent_ptes(m, pte + nr, ptent, max - nr, zapped);
}

/* mm/memory.c:add_mm_rss_vec */
static void sub_mm_rss(struct machine *m, u32 mm, const struct zapped *zapped)
{
	if (!zapped->anonpages && !zapped->swapents)
		return;
	if (zapped->anonpages)
		put(m, &m->mm[mm].anonpages, m->mm[mm].anonpages - zapped->anonpages);
	if (zapped->swapents)
		put(m, &m->mm[mm].swapents, m->mm[mm].swapents - zapped->swapents);
	count(m, COUNT_mm_counter_op, (u32)(zapped->anonpages > 0) + (zapped->swapents > 0));
	step(m, EV_mm_counters_lowered, NONE, zapped->anonpages + zapped->swapents);
}

/* mm/memory.c:zap_pte_table_if_empty: the lock was dropped in between, so look again */
static bool zap_pte_table_if_empty(struct machine *m, u32 table)
{
	for (u32 i = 0; i < PTRS_PER_PTE; i++)
		if (!m->arch->pte->none(m->arch->ptep_get(m, table * PTRS_PER_PTE + i)))
			return false;
	return true;
}

/* mm/memory.c:zap_pte_range. reclaim_pt: free the table too, if the range is all of it. */
__mirrored void zap_pte_range(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			      u64 addr, u64 end, bool reclaim_pt)
{
	u32 pte = vma_pte(vma, addr), table = pte / PTRS_PER_PTE, nr;
	bool whole = end - addr == PMD_SIZE, broken = false;

	while (addr != end) {
		struct zapped zapped = { 0, 0 };
		bool force_break = false;

		enter(m, EV_zap_pte_range, NONE, (u32)((end - addr) >> PAGE_SHIFT));
		lock_pte_table(m, table);
		flush_tlb_batched_pending(m, tlb->mm);
		for (; addr != end && !force_break; pte += nr) {
			nr = do_zap_pte_range(m, tlb, vma, pte, (u32)((end - addr) >> PAGE_SHIFT),
					      &zapped, &force_break);
			addr += nr * PAGE_SIZE;
		}
		sub_mm_rss(m, tlb->mm, &zapped);
		if (force_break)
			tlb_flush_mmu_tlbonly(m, tlb);
		unlock_pte_table(m);
		if (force_break)
			tlb_flush_mmu(m, tlb);
		broken |= force_break;
	}
	if (reclaim_pt && whole && (!broken || zap_pte_table_if_empty(m, table)))
		pte_free_tlb(m, tlb, table);
}

/* mm/huge_memory.c:zap_huge_pmd, anonymous memory */
__mirrored void zap_huge_pmd(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			     u32 table)
{
	const struct folio *folio = pmd_folio(m, table);
	const struct mm *mm = m->mm + tlb->mm;

	enter(m, EV_zap_huge_pmd, folio->page, PTRS_PER_PTE);
	put(m, &m->task->folio, folio_idx(m, folio));
	lock_pte_table(m, table);
	pmdp_huge_get_and_clear(m, table);
	tlb_remove_pmd_tlb_entry(m, tlb, m->table[table].va);
	folio_remove_rmap_pmd(m, folio);
	munlock_vma_folio(m, folio, vma);
	put(m, &mm->anonpages, mm->anonpages - PTRS_PER_PTE);
	count(m, COUNT_mm_counter_op, 1);
	step(m, EV_mm_counters_lowered, NONE, PTRS_PER_PTE);
	unlock_pte_table(m);
	if (__tlb_remove_folio_pages(m, tlb, folio->page, 1))
		tlb_flush_mmu(m, tlb);
}

/* mm/memory.c:zap_pmd_range, for one entry. A huge one that goes only in part is split first. */
static void zap_pmd(struct machine *m, struct mmu_gather *tlb, const struct vma *vma, u64 start,
		    u64 end, bool reclaim_pt)
{
	u32 table = vma_pte(vma, start) / PTRS_PER_PTE;

	if (m->table[table].pmd && end - start == PMD_SIZE) {
		zap_huge_pmd(m, tlb, vma, table);
		return;
	}
	if (m->table[table].pmd)
		__split_huge_pmd(m, vma, table, false);
	if (m->table[table].populated)
		zap_pte_range(m, tlb, vma, start, end, reclaim_pt);
}

static void zap_pmds(struct machine *m, struct mmu_gather *tlb, const struct vma *vma, u64 start,
		     u64 end, bool reclaim_pt)
{
	for (u64 next; start < end; start = next) {
		next = (start | (PMD_SIZE - 1)) + 1;
		if (next > end)
			next = end;
		zap_pmd(m, tlb, vma, start, next, reclaim_pt);
	}
	if (!tlb->fullmm && m->arch->tlb_flush_each_vma)
		tlb_flush_mmu_tlbonly(m, tlb);
}

/* mm/memory.c:__zap_vma_range */
__mirrored void __zap_vma_range(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				u64 start, u64 end, bool reclaim_pt)
{
	enter(m, EV___zap_vma_range, NONE, (u32)((end - start) >> PAGE_SHIFT));
	zap_pmds(m, tlb, vma, start, end, reclaim_pt);
}

/* mm/memory.c:unmap_page_range (6.12) */
__mirrored void unmap_page_range(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				 u64 start, u64 end, bool reclaim_pt)
{
	enter(m, EV_unmap_page_range, NONE, (u32)((end - start) >> PAGE_SHIFT));
	zap_pmds(m, tlb, vma, start, end, reclaim_pt);
}

/* mm/memory.c:unmap_single_vma (6.12) */
__mirrored void unmap_single_vma(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				 u64 start, u64 end, bool reclaim_pt)
{
	enter(m, EV_unmap_single_vma, NONE, (u32)((end - start) >> PAGE_SHIFT));
	unmap_page_range(m, tlb, vma, start, end, reclaim_pt);
}

static void zap_vma(struct machine *m, struct mmu_gather *tlb, const struct vma *vma, u64 start,
		    u64 end, bool reclaim_pt)
{
	if (m->kernel->zap_names == ZAP_PAGE_RANGE)
		unmap_single_vma(m, tlb, vma, start, end, reclaim_pt);
	else
		__zap_vma_range(m, tlb, vma, start, end, reclaim_pt);
}

/* mm/memory.c:unmap_vmas: all VMAs of the mm, as far as they are inside */
__mirrored void unmap_vmas(struct machine *m, struct mmu_gather *tlb, u64 start, u64 end)
{
	u32 i;

	enter(m, EV_unmap_vmas, NONE, (u32)((end - start) >> PAGE_SHIFT));
	while ((i = find_vma(m->s, tlb->mm, start)) != NONE && m->vma[i].start < end) {
		const struct vma *vma = m->vma + i;

		zap_vma(m, tlb, vma, start > vma->start ? start : vma->start,
			end < vma->end ? end : vma->end, false);
		start = vma->end;
	}
}

/* mm/memory.c:free_pgd_range: the tables of a range that nothing outside of it uses */
static void free_pgd_range(struct machine *m, struct mmu_gather *tlb, u64 start, u64 end,
			   u64 floor, u64 ceiling)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_TABLE]; i++) {
		const struct table *table = m->table + i;

		if (table->mm == tlb->mm && table->populated && table->va < end &&
		    table->va + PMD_SIZE > start && table->va >= floor &&
		    table->va + PMD_SIZE <= ceiling)
			pte_free_tlb(m, tlb, i);
	}
}

/* mm/memory.c:free_pgtables. No VMA is in the range any more. */
__mirrored void free_pgtables(struct machine *m, struct mmu_gather *tlb, u64 start, u64 end)
{
	u64 floor = 0, ceiling = UINT64_MAX;

	enter(m, EV_free_pgtables, NONE, (u32)((end - start) >> PAGE_SHIFT));
	for (u32 i = 0; i < m->s->nr[ARRAY_VMA]; i++) {
		const struct vma *vma = m->vma + i;

		if (vma->mm != tlb->mm)
			continue;
		if (vma->end <= start && vma->end > floor)
			floor = vma->end;
		if (vma->start >= end && vma->start < ceiling)
			ceiling = vma->start;
	}
	free_pgd_range(m, tlb, start, end, floor, ceiling);
}

/* mm/memory.c:zap_vma_range_batched: for MADV_DONTNEED */
__mirrored void zap_vma_range_batched(struct machine *m, struct mmu_gather *tlb,
				      const struct vma *vma, u64 start, u64 end)
{
	enter(m, EV_zap_vma_range_batched, NONE, (u32)((end - start) >> PAGE_SHIFT));
	update_hiwater_rss(m, tlb->mm);
	__zap_vma_range(m, tlb, vma, start, end, true);
}

/* mm/memory.c:zap_page_range_single (6.12): the same */
__mirrored void zap_page_range_single(struct machine *m, struct mmu_gather *tlb,
				      const struct vma *vma, u64 start, u64 end)
{
	enter(m, EV_zap_page_range_single, NONE, (u32)((end - start) >> PAGE_SHIFT));
	update_hiwater_rss(m, tlb->mm);
	unmap_single_vma(m, tlb, vma, start, end, true);
}
