/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unmapping: every PTE that maps a folio becomes a swap entry.
 *
 * One turn of the loop in try_to_unmap_one() takes a run of nr pages, 1 in 7.3
 * and as many as possible in the proposed series:
 *
 *	page table      TLBs                folio and slots
 *	----------      ----                ---------------
 *	clear nr PTEs
 *	                note the flush
 *	                                    dirty bit -> folio
 *	                                    slot counts + nr
 *	                                    AnonExclusive off, if nobody pins
 *	                                    MM_ANONPAGES - nr, MM_SWAPENTS + nr
 *	set nr swap PTEs
 *	                                    mapcount - nr
 *	                                    refcount - nr
 *	                one flush before write-out
 *
 * The order is the point: a slot is counted before an entry shows it, a mapping is
 * uncounted after it is gone, and no one writes through an old translation once
 * the content is on its way to the device.
 */
#include "mm/internal.h"

/* mm/rmap.c:try_to_unmap_flush */
__mirrored void try_to_unmap_flush(struct machine *m)
{
	const struct task *task = m->task;

	if (!arch_has_tlbbatch(m))
		return;
	enter(m, EV_try_to_unmap_flush, NONE, 0);
	if (!task->ubc_flush_required) {
		step(m, EV_tlb_nothing_pending, NONE, 0);
		return;
	}
	m->arch->tlbbatch_flush(m);
	put(m, &task->ubc_flush_required, 0);
	put(m, &task->ubc_writable, 0);
	step(m, EV_tlb_flush_done, NONE, 0);
}

/* mm/rmap.c:try_to_unmap_flush_dirty */
__mirrored void try_to_unmap_flush_dirty(struct machine *m)
{
	if (!arch_has_tlbbatch(m))
		return;
	enter(m, EV_try_to_unmap_flush_dirty, NONE, 0);
	if (m->task->ubc_writable)
		try_to_unmap_flush(m);
}

#define TLB_GENERATION_MAX 0x3fffu /* TLB_FLUSH_BATCH_PENDING_LARGE */

/* mm/rmap.c:set_tlb_ubc_flush_pending */
__mirrored void set_tlb_ubc_flush_pending(struct machine *m, u32 mm, pte_t pteval, u64 start,
					  u64 end)
{
	const struct mm *mms = m->mm + mm;
	u32 nr = (u32)((end - start) >> PAGE_SHIFT);

	count(m, COUNT_tlb_pending, 1);
	enter(m, EV_set_tlb_ubc_flush_pending, m->task->page, nr);
	if (!m->arch->pte->accessible(pteval))
		return;
	m->arch->tlbbatch_add_pending(m, mm, start, end);
	put(m, &m->task->ubc_flush_required, 1);
	if (mms->tlb_pending > TLB_GENERATION_MAX) {
		put(m, &mms->tlb_pending, 1);
		put(m, &mms->tlb_flushed, 0);
	} else {
		put(m, &mms->tlb_pending, mms->tlb_pending + 1);
	}
	if (m->arch->pte->dirty(pteval))
		put(m, &m->task->ubc_writable, 1);
	step(m, EV_tlb_flush_pending, m->task->page, nr);
}

/* mm/rmap.c:should_defer_flush */
bool should_defer_flush(const struct machine *m, u32 mm, u32 flags)
{
	return flags & TTU_BATCH_FLUSH && m->arch->tlbbatch_should_defer(m, mm);
}

/* mm/rmap.c:flush_tlb_batched_pending */
__mirrored void flush_tlb_batched_pending(struct machine *m, u32 mm)
{
	const struct mm *mms = m->mm + mm;

	if (!arch_has_tlbbatch(m))
		return;
	enter(m, EV_flush_tlb_batched_pending, NONE, mm);
	if (mms->tlb_pending == mms->tlb_flushed || bug(m, BUG_batched_pending_ignored))
		return;
	if (bug(m, BUG_batched_pending_own))
		m->arch->tlbbatch_flush(m);
	else
		m->arch->flush_tlb_mm(m, mm);
	put(m, &mms->tlb_flushed, mms->tlb_pending);
	step(m, EV_tlb_flush_caught_up, NONE, mm);
}

static bool is_anon_swapbacked(const struct folio *folio)
{
	return folio_flag(folio, PG_anon) && folio_flag(folio, PG_swapbacked);
}

/* mm/rmap.c:folio_unmap_pte_batch */
__mirrored u32 folio_unmap_pte_batch(struct machine *m, const struct folio *folio,
				     const struct page_vma_mapped_walk *pvmw, pte_t pteval)
{
	u32 first = walk_page(m, pvmw);
	u64 pages_to_end = folio->page + folio_nr_pages(folio) - first;
	u64 address = m->task->walk_address;
	u64 end = (address | (PMD_SIZE - 1)) + 1;
	u64 max;

	enter(m, EV_folio_unmap_pte_batch, first, 0);
	if (!folio_test_large(folio))
		return 1;
	if (m->kernel->anon_batch == ANON_SINGLE && is_anon_swapbacked(folio))
		return 1;
	if (m->kernel->unmap == UNMAP_RUN && !folio_flag(folio, PG_anon))
		return 1;
	if (end > pvmw->vma->end)
		end = pvmw->vma->end;
	max = (end - address) >> PAGE_SHIFT;
	if (bug(m, BUG_batch_past_table))
		max = m->s->nr[ARRAY_PTE] - m->task->walk_pte;
	if (max > pages_to_end)
		max = pages_to_end;
	return folio_pte_batch_flags(m, folio, m->task->walk_pte, &pteval, (u32)max,
				     bug(m, BUG_write_bit_ignored) ?
					     FPB_RESPECT_SOFT_DIRTY :
					     FPB_RESPECT_WRITE | FPB_RESPECT_SOFT_DIRTY);
}

/* mm/rmap.c:folio_add_anon_rmap_ptes and __folio_add_rmap */
__mirrored void folio_add_anon_rmap_ptes(struct machine *m, const struct folio *folio, u32 page,
					 u32 nr, const struct vma *vma, bool exclusive)
{
	u32 first = 0;

	enter(m, EV_folio_add_anon_rmap_ptes, page, nr);
	for (u32 i = page; i < page + nr; i++) {
		first += m->page[i].mapcount == 0;
		put(m, &m->page[i].mapcount, m->page[i].mapcount + 1);
		if (exclusive)
			put(m, &m->page[i].anon_exclusive, 1);
	}
	count(m, COUNT_mapcount_op, nr);
	put(m, &folio->mapcount, folio->mapcount + nr);
	put(m, &folio->nr_pages_mapped, folio->nr_pages_mapped + first);
	step(m, EV_mapcount_added, page, nr);
	if (nr == folio_nr_pages(folio) && vma->flags & VM_LOCKED &&
	    !folio_flag(folio, PG_mlocked)) {
		folio_set_flag(m, folio, PG_mlocked);
		step(m, EV_folio_mlocked, folio->page, 0);
	}
}

/* mm/rmap.c:folio_add_new_anon_rmap, one page: from here on it is anonymous memory */
__mirrored void folio_add_new_anon_rmap(struct machine *m, const struct folio *folio,
					const struct vma *vma, u64 address, bool exclusive)
{
	enter(m, EV_folio_add_new_anon_rmap, folio->page, 1);
	folio_set_flag(m, folio, PG_anon);
	if (!(vma->flags & VM_DROPPABLE))
		folio_set_flag(m, folio, PG_swapbacked);
	put64(m, &folio->index, vma->pgoff + ((address - vma->start) >> PAGE_SHIFT));
	put(m, &folio->anon_vma, exclusive ? vma->anon_vma : anon_vma_root(m, vma->anon_vma));
	put(m, &m->page[folio->page].mapcount, 1);
	put(m, &m->page[folio->page].anon_exclusive, exclusive);
	put(m, &folio->mapcount, 1);
	put(m, &folio->nr_pages_mapped, 1);
	count(m, COUNT_mapcount_op, 1);
	step(m, EV_mapcount_added, folio->page, 1);
}

/* mm/rmap.c:__folio_remove_rmap */
static void __folio_remove_rmap(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	u32 unmapped = 0;

	for (u32 i = page; i < page + nr; i++) {
		put(m, &m->page[i].mapcount, m->page[i].mapcount - 1);
		unmapped += m->page[i].mapcount == 0;
	}
	count(m, COUNT_mapcount_op, nr);
	put(m, &folio->mapcount, folio->mapcount - nr);
	put(m, &folio->nr_pages_mapped, folio->nr_pages_mapped - unmapped);
	step(m, EV_mapcount_removed, page, nr);
	if (!folio_flag(folio, PG_anon) || !folio_test_large(folio) || !unmapped)
		return;
	if (m->kernel->page_api == API_PAGE)
		deferred_split_huge_page(m, folio);
	else if (folio->nr_pages_mapped && folio->nr_pages_mapped < ENTIRELY_MAPPED &&
		 !folio_flag(folio, PG_partially_mapped))
		deferred_split_folio(m, folio, true);
}

/* mm/rmap.c:folio_remove_rmap_ptes */
__mirrored void folio_remove_rmap_ptes(struct machine *m, const struct folio *folio, u32 page,
				       u32 nr)
{
	count(m, COUNT_rmap_remove, 1);
	enter(m, EV_folio_remove_rmap_ptes, page, nr);
	__folio_remove_rmap(m, folio, page, nr);
}

/* mm/rmap.c:page_remove_rmap, a PTE of it */
__mirrored void page_remove_rmap(struct machine *m, const struct folio *folio, u32 page)
{
	count(m, COUNT_rmap_remove, 1);
	enter(m, EV_page_remove_rmap, page, 1);
	__folio_remove_rmap(m, folio, page, 1);
}

void remove_rmap_ptes(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	if (m->kernel->page_api == API_PAGE)
		page_remove_rmap(m, folio, page);
	else
		folio_remove_rmap_ptes(m, folio, page, nr);
}

/* PTEs may map the pages too. */
static void __folio_remove_rmap_pmd(struct machine *m, const struct folio *folio)
{
	put(m, &folio->entire_mapcount, folio->entire_mapcount - 1);
	put(m, &folio->mapcount, folio->mapcount - 1);
	if (!folio->entire_mapcount)
		put(m, &folio->nr_pages_mapped, folio->nr_pages_mapped - ENTIRELY_MAPPED);
	step(m, EV_mapcount_removed, folio->page, 1);
	if (folio->nr_pages_mapped && folio->nr_pages_mapped < folio_nr_pages(folio) &&
	    !folio_flag(folio, PG_partially_mapped))
		deferred_split_folio(m, folio, true);
}

/* mm/rmap.c:folio_remove_rmap_pmd */
__mirrored void folio_remove_rmap_pmd(struct machine *m, const struct folio *folio)
{
	enter(m, EV_folio_remove_rmap_pmd, folio->page, PTRS_PER_PTE);
	__folio_remove_rmap_pmd(m, folio);
}

/* 6.1 does it where it splits the PMD. */
void remove_rmap_pmd(struct machine *m, const struct folio *folio)
{
	if (m->kernel->page_api == API_PAGE)
		__folio_remove_rmap_pmd(m, folio);
	else
		folio_remove_rmap_pmd(m, folio);
}

bool folio_try_share_anon_rmap_ptes(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	count(m, COUNT_smp_mb, 1);
	step(m, EV_smp_mb_before_pin_check, page, 0);
	if (!bug(m, BUG_pin_check_early) && folio_maybe_dma_pinned(m, folio, page))
		return true;
	for (u32 i = page; i < page + nr; i++)
		put(m, &m->page[i].anon_exclusive, 0);
	step(m, EV_anon_exclusive_cleared, page, nr);
	count(m, COUNT_smp_mb, 1);
	step(m, EV_smp_mb_after_share, page, 0);
	return false;
}

/* mm/internal.h:mm_prepare_for_swap_entries */
void mm_prepare_for_swap_entries(struct machine *m, u32 mm)
{
	enum event event = m->mm[mm].on_mmlist ? EV_mmlist_checked : EV_mmlist_added;

	if (bug(m, BUG_mmlist_forgotten))
		return;
	put(m, &m->mm[mm].on_mmlist, 1);
	step(m, event, NONE, mm);
}

/* mm/rmap.c:swp_pte_prepare */
static pte_t swp_pte_prepare(const struct machine *m, const struct folio *folio, u32 page,
			     pte_t pteval, bool exclusive)
{
	const struct pte_ops *ops = m->arch->pte;
	u32 slot = folio->swap + (page - folio->page);
	const struct swap_device *si = m->device + slot_device(m->s, slot);
	pte_t pte = ops->swp_entry(si->type, slot - si->first_slot);

	if (exclusive)
		pte = ops->swp_mkexclusive(pte);
	if (pte_or_swp_soft_dirty(ops, pteval))
		pte = ops->swp_mksoft_dirty(pte);
	if (pte_or_swp_uffd(ops, pteval))
		pte = ops->swp_mkuffd(pte);
	return pte;
}

static bool dup_swap(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	if (m->kernel->swap_slots == SLOTS_MAP)
		return swap_duplicate(m, folio->swap + (page - folio->page), page);
	if (m->kernel->anon_batch == ANON_RUN)
		return folio_dup_swap_pages(m, folio, page, nr);
	return folio_dup_swap(m, folio, page);
}

static void put_swap(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	u32 slot = folio->swap + (page - folio->page);

	if (m->kernel->swap_slots == SLOTS_TABLE)
		folio_put_swap(m, folio, page, nr);
	else if (m->kernel->page_api == API_PAGE)
		swap_free(m, slot, page);
	else
		swap_free_nr(m, slot, page, nr);
}

/*
 * Swap entries take the place of nr cleared PTEs whose pages agree in AnonExclusive.
 * False: nothing has changed, the caller restores the PTEs.
 */
static bool swap_out_ptes(struct machine *m, const struct folio *folio, u32 mm, u32 page, u32 pte,
			  pte_t pteval, u32 nr)
{
	bool exclusive = m->page[page].anon_exclusive, late = bug(m, BUG_dup_after_pte);

	if (!late && !dup_swap(m, folio, page, nr))
		return false;
	if (exclusive && folio_try_share_anon_rmap_ptes(m, folio, page, nr)) {
		if (!bug(m, BUG_put_swap_forgotten))
			put_swap(m, folio, page, nr);
		return false;
	}
	mm_prepare_for_swap_entries(m, mm);
	put(m, &m->mm[mm].anonpages, m->mm[mm].anonpages - nr);
	put(m, &m->mm[mm].swapents, m->mm[mm].swapents + nr);
	count(m, COUNT_mm_counter_op, 2);
	step(m, EV_mm_counters_moved, page, nr);
	for (u32 i = 0; i < nr; i++) {
		put(m, &m->task->nr_pages, nr - i);
		m->arch->set_ptes(m, pte + i,
				  swp_pte_prepare(m, folio, page + i, pteval, exclusive), 1);
	}
	return !late || dup_swap(m, folio, page, nr);
}

/* mm/rmap.c:ttu_anon_swapbacked_folio */
__mirrored bool ttu_anon_swapbacked_folio(struct machine *m, const struct folio *folio, u32 mm,
					  u32 page, u32 pte, pte_t pteval, u32 nr)
{
	enter(m, EV_ttu_anon_swapbacked_folio, page, nr);
	return swap_out_ptes(m, folio, mm, page, pte, pteval, nr);
}

/* mm/mprotect.c:page_anon_exclusive_batch */
static u32 page_anon_exclusive_batch(const struct machine *m, u32 page, u32 max)
{
	u32 nr = 1;

	if (bug(m, BUG_exclusive_of_first))
		return max;
	while (nr < max && m->page[page + nr].anon_exclusive == m->page[page].anon_exclusive)
		nr++;
	return nr;
}

/* Else something is wrong with the folio. */
static bool flags_agree(const struct folio *folio)
{
	return folio_flag(folio, PG_swapbacked) == folio_flag(folio, PG_swapcache);
}

/*
 * mm/rmap.c:ttu_anon_folio, for nr pages that agree in AnonExclusive. False: nothing has
 * changed, the caller restores the PTEs.
 */
__mirrored bool ttu_anon_folio(struct machine *m, const struct folio *folio, const struct vma *vma,
			       u32 page, u32 pte, pte_t pteval, u32 nr)
{
	enter(m, EV_ttu_anon_folio, page, nr);
	if (!flags_agree(folio))
		return false;
	if (!folio_flag(folio, PG_swapbacked))
		return ttu_anon_lazyfree_folio(m, folio, vma, page, nr);
	return ttu_anon_swapbacked_folio(m, folio, vma->mm, page, pte, pteval, nr);
}

/* A page of a file needs no note of where it is. Up to 6.16 all of it stands in the caller. */
static bool convert_ptes(struct machine *m, const struct folio *folio, const struct vma *vma,
			 u32 page, u32 pte, pte_t pteval, u32 nr)
{
	if (!folio_flag(folio, PG_anon)) {
		sub_mm_counter(m, vma->mm, folio, page, nr);
		return true;
	}
	if (m->kernel->unmap == UNMAP_TTU)
		return ttu_anon_folio(m, folio, vma, page, pte, pteval, nr);
	if (!flags_agree(folio))
		return false;
	if (!folio_flag(folio, PG_swapbacked))
		return discard_lazyfree(m, folio, vma, page, nr);
	return swap_out_ptes(m, folio, vma->mm, page, pte, pteval, nr);
}

/* The end of a turn: the mappings are gone, so are their counts and references. */
static void finish_folio_unmap(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	put(m, &m->task->run.done, m->task->run.done + nr);
	remove_rmap_ptes(m, folio, page, nr);
	folio_put_refs(m, folio, page, nr);
}

/*
 * A run may mix exclusive and shared pages: each sub-batch that agrees is converted and
 * finished on its own, so that a later one may fail. Returns how many PTEs are done. In
 * 7.3 the run is one PTE, and this is what follows ttu_anon_folio() there. A lazyfree
 * folio's run goes in one piece, and a file's.
 */
static u32 unmap_sub_batches(struct machine *m, const struct folio *folio, const struct vma *vma,
			     u32 page, pte_t pteval, u32 nr)
{
	bool swapbacked = is_anon_swapbacked(folio);
	u32 pte = m->task->walk_pte, done = 0, len = nr;

	for (; done < nr; done += len) {
		if (swapbacked)
			len = page_anon_exclusive_batch(m, page + done, nr - done);
		if (swapbacked && nr > 1)
			step(m, EV_anon_exclusive_batch, page + done, len);
		if (!convert_ptes(m, folio, vma, page + done, pte + done,
				  m->arch->pte->advance_pfn(pteval, done), len))
			break;
		if (!bug(m, BUG_accounting_after_run))
			finish_folio_unmap(m, folio, page + done, len);
	}
	if (bug(m, BUG_accounting_after_run) && done == nr)
		finish_folio_unmap(m, folio, page, nr);
	return done;
}

/* All but the first done PTEs of the run could not be unmapped: they get their old value back. */
static void restore_run(struct machine *m, const struct folio *folio, u32 page, pte_t pteval,
			u32 done, u32 nr)
{
	if (bug(m, BUG_abort_without_restore))
		return;
	if (m->kernel->flag_mismatch == MISMATCH_LOST && !flags_agree(folio)) {
		step(m, EV_unmap_lost, page + done, nr - done);
		return;
	}
	if (bug(m, BUG_restore_from_head))
		done = 0;
	m->arch->set_ptes(m, m->task->walk_pte + done, m->arch->pte->advance_pfn(pteval, done),
			  nr - done);
	step(m, EV_unmap_restored, page + done, nr - done);
}

/* What the run in hand is, for the invariants to compare with. */
static void note_run(struct machine *m, const struct folio *folio, u32 nr)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct run_before *run = &m->task->run;

	put(m, &run->pte, m->task->walk_pte);
	put(m, &run->nr, nr);
	put(m, &run->pins, folio->pincount);
	put(m, &run->done, 0);
	put(m, &run->lazyfree, folio_flag(folio, PG_anon) && !folio_flag(folio, PG_swapbacked));
	put(m, &run->dirty, 0);
	for (u32 first = 0; first < nr; first += 32) {
		u32 write = 0, soft_dirty = 0, uffd = 0;

		for (u32 i = 0; i < 32 && first + i < nr; i++) {
			pte_t pte = m->pte[run->pte + first + i];
			bool present = ops->present(pte);

			if (present && ops->dirty(pte))
				put(m, &run->dirty, 1);
			write |= (u32)(present && ops->write(pte)) << i;
			soft_dirty |= (u32)pte_or_swp_soft_dirty(ops, pte) << i;
			uffd |= (u32)pte_or_swp_uffd(ops, pte) << i;
		}
		put(m, &run->write[first / 32], write);
		put(m, &run->soft_dirty[first / 32], soft_dirty);
		put(m, &run->uffd[first / 32], uffd);
	}
}

/* Clear the run and see that no CPU keeps using it: at once, or noted for later. */
static pte_t clear_and_flush(struct machine *m, const struct folio *folio, const struct vma *vma,
			     pte_t pteval, u32 flags, u32 nr)
{
	u64 address = m->task->walk_address, end = address + nr * PAGE_SIZE;
	bool defer = should_defer_flush(m, vma->mm, flags);
	bool early = defer && m->arch->pte->present(pteval) && bug(m, BUG_pending_before_clear);
	bool blind = bug(m, BUG_dirty_of_first) && !m->arch->pte->dirty(pteval);

	if (early)
		set_tlb_ubc_flush_pending(m, vma->mm, pteval, address, end);
	note_run(m, folio, nr);
	if (!m->arch->pte->present(pteval)) {
		pte_clear(m, m->task->walk_pte);
		return pteval;
	}
	if (m->kernel->unmap == UNMAP_PTE && !defer)
		pteval = ptep_clear_flush(m, vma, address, m->task->walk_pte);
	else
		pteval = m->arch->get_and_clear_ptes(m, m->task->walk_pte, nr);
	if (defer && !early)
		set_tlb_ubc_flush_pending(m, vma->mm, pteval, address, end);
	else if (!defer && m->kernel->unmap != UNMAP_PTE)
		m->arch->flush_tlb_range(m, vma_idx(m, vma), address, end);
	if (blind)
		pteval = m->arch->pte->mkclean(pteval);
	if (m->arch->pte->dirty(pteval))
		folio_mark_dirty(m, folio);
	return pteval;
}

/*
 * mm/memory.c:cond_install_uffd_wp_ptes: one look at the first PTE, which must be empty.
 * Where userfaultfd watches a file, each PTE that had the mark becomes a marker; anonymous
 * memory takes it along in the swap entry.
 */
static void cond_install_uffd_wp_ptes(struct machine *m, const struct vma *vma, pte_t pteval,
				      u32 nr)
{
	pte_t marker = make_pte_marker(m->arch->pte, &m->kernel->types, MARKER_UFFD_WP);

	if (!arch_has_uffd_wp(m))
		return;
	m->arch->ptep_get(m, m->task->walk_pte);
	if (vma_is_anonymous(vma) || !(vma->flags & VM_UFFD_WP) ||
	    !pte_or_swp_uffd(m->arch->pte, pteval)) {
		step(m, EV_uffd_wp_checked, m->task->page, 0);
		return;
	}
	if (bug(m, BUG_marker_on_first_only))
		nr = 1;
	for (u32 i = 0; i < nr; i++)
		m->arch->set_ptes(m, m->task->walk_pte + i, marker, 1);
}

void update_hiwater_rss(struct machine *m, u32 mm)
{
	count(m, COUNT_hiwater_update, 1);
	if (m->mm[mm].hiwater_rss < get_mm_rss(m->mm + mm))
		put(m, &m->mm[mm].hiwater_rss, get_mm_rss(m->mm + mm));
	step(m, EV_hiwater_updated, NONE, mm);
}

/* The run holds swap entries now: stand on its last PTE (proposed series). */
static void walk_skip(struct machine *m, u32 nr)
{
	const struct task *task = m->task;

	put64(m, &task->walk_address, task->walk_address + (nr - 1) * PAGE_SIZE);
	put(m, &task->walk_pte, task->walk_pte + nr - 1);
	step(m, EV_walk_skipped, NONE, nr);
}

bool mlock_missed_folio(struct machine *m, const struct folio *folio, u32 seen)
{
	step(m, EV_vma_locked, m->task->page, seen);
	if (seen != folio_nr_pages(folio))
		return false;
	if (!(m->task->walk_flags & PVMW_PGTABLE_CROSSED)) {
		folio_set_flag(m, folio, PG_mlocked);
		step(m, EV_folio_mlocked, folio->page, 0);
	}
	return true;
}

/* Up to 6.16 a folio that was missed is marked if it is small; the walk ends in any case. */
static bool walk_ends_at_mlock(struct machine *m, const struct folio *folio, u32 seen)
{
	if (m->kernel->mlock_missed == MLOCK_WHOLE || !folio_test_large(folio))
		return mlock_missed_folio(m, folio, seen);
	step(m, EV_vma_locked, m->task->page, seen);
	return true;
}

/*
 * PTEs that this turn takes. Only present ones are looked at for a run; for another the
 * number must not be left over from the turn before. (The model stops at the folio's and
 * the page table's end; the kernel would not.)
 */
static u32 turn_length(struct machine *m, const struct folio *folio,
		       const struct page_vma_mapped_walk *pvmw, u32 page, pte_t pteval, u32 last)
{
	u32 end = folio->page + folio_nr_pages(folio);
	u32 left = PTRS_PER_PTE - m->task->walk_pte % PTRS_PER_PTE;

	if (m->kernel->unmap == UNMAP_PTE)
		return 1;
	if (m->arch->pte->present(pteval))
		return folio_unmap_pte_batch(m, folio, pvmw, pteval);
	if (!bug(m, BUG_nr_pages_stale))
		return 1;
	left = left < end - page ? left : end - page;
	return last < left ? last : left;
}

/* The PTE that the walk stands on. */
static pte_t read_pte(struct machine *m)
{
	pte_t pteval = m->arch->ptep_get(m, m->task->walk_pte);

	if (m->kernel->pte_access == PTE_DEREFERENCED)
		for (u32 i = 1; i < m->arch->deref_loads; i++)
			pteval = m->arch->ptep_get(m, m->task->walk_pte);
	return pteval;
}

/* Is this all there is to do? Else the huge entry that the walk stands on has to be split. */
static bool unmap_huge_pmd(struct machine *m, const struct folio *folio, const struct vma *vma,
			   bool *aborted)
{
	bool lazyfree = folio_flag(folio, PG_anon) && !folio_flag(folio, PG_swapbacked);

	switch (m->kernel->pmd_lazyfree) {
	case PMD_LAZYFREE_SPLIT:
		break;
	case PMD_LAZYFREE_DISCARD:
		return unmap_huge_pmd_locked(m, folio, vma, m->task->walk_pmd);
	case PMD_LAZYFREE_ABORT:
		if (!lazyfree)
			break;
		*aborted = !unmap_huge_pmd_locked(m, folio, vma, m->task->walk_pmd);
		return true;
	}
	return false;
}

/* mm/rmap.c:try_to_unmap_one */
__mirrored bool try_to_unmap_one(struct machine *m, const struct folio *folio,
				 const struct vma *vma, void *arg)
{
	const struct page_vma_mapped_walk pvmw = { .folio = folio, .vma = vma };
	const struct task *task = m->task;
	const u32 flags = *(const u32 *)arg; /* enum ttu_flags */
	u32 page, nr_pages = 1, done, locked = 0;
	bool aborted = false;
	pte_t pteval;

	enter(m, EV_try_to_unmap_one, folio->page, folio_nr_pages(folio));
	if (m->kernel->pmd_split == PMD_SPLIT_BEFORE)
		split_huge_pmd_address(m, folio, vma, false);
	page_vma_mapped_walk_start(m, &pvmw, flags & TTU_SYNC ? PVMW_SYNC : 0);
	while (page_vma_mapped_walk(m, &pvmw)) {
		if (vma->flags & VM_LOCKED) {
			locked += task->walk_pmd == NONE ? 1 : PTRS_PER_PTE;
			if (!walk_ends_at_mlock(m, folio, locked))
				continue;
			page_vma_mapped_walk_done(m);
			break;
		}
		if (task->walk_pmd != NONE && unmap_huge_pmd(m, folio, vma, &aborted)) {
			page_vma_mapped_walk_done(m);
			if (aborted)
				return false;
			break;
		}
		if (task->walk_pmd != NONE) {
			split_huge_pmd_locked(m, vma, task->walk_pmd, false);
			page_vma_mapped_walk_restart(m);
			continue;
		}
		pteval = read_pte(m);
		page = mapped_page(m, folio, pteval);
		if (bug(m, BUG_pin_check_early) && folio_maybe_dma_pinned(m, folio, page)) {
			page_vma_mapped_walk_done(m);
			return false;
		}
		nr_pages = turn_length(m, folio, &pvmw, page, pteval, nr_pages);
		put(m, &task->nr_pages, nr_pages);
		step(m, EV_unmap_batch, page, nr_pages);

		pteval = clear_and_flush(m, folio, vma, pteval, flags, nr_pages);
		cond_install_uffd_wp_ptes(m, vma, pteval, nr_pages);
		update_hiwater_rss(m, vma->mm);
		done = unmap_sub_batches(m, folio, vma, page, pteval, nr_pages);
		if (done < nr_pages) {
			restore_run(m, folio, page, pteval, done, nr_pages);
			if (m->kernel->unmap != UNMAP_TTU)
				lazyfree_restored(m, folio, vma);
			page_vma_mapped_walk_done(m);
			return false;
		}
		if (m->kernel->unmap != UNMAP_PTE && nr_pages == folio_nr_pages(folio)) {
			page_vma_mapped_walk_done(m);
			break;
		}
		if (nr_pages > 1 && is_anon_swapbacked(folio) &&
		    !bug(m, BUG_walk_not_skipped))
			walk_skip(m, nr_pages);
		put(m, &task->nr_pages, 1);
	}
	return !locked;
}

/* mm/rmap.c:folio_lock_anon_vma_read */
__mirrored void folio_lock_anon_vma_read(struct machine *m, const struct folio *folio)
{
	enter(m, EV_folio_lock_anon_vma_read, folio->page, 0);
	put(m, &m->task->anon_vma, folio->anon_vma);
}

/* Those that share the folio's anon_vma or file, and cover it. */
static void walk_vmas(struct machine *m, const struct folio *folio,
		      const struct rmap_walk_control *rwc)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_VMA]; i++) {
		const struct vma *vma = m->vma + i;
		u64 last = vma->pgoff + ((vma->end - vma->start) >> PAGE_SHIFT);

		if (!vma_in_anon_vma(m, vma, folio->anon_vma) || last <= folio->index ||
		    vma->pgoff >= folio->index + folio_nr_pages(folio))
			continue;
		step(m, EV_rmap_vma, folio->page, i);
		if (!rwc->rmap_one(m, folio, vma, rwc->arg) || (rwc->done && rwc->done(folio)))
			break;
	}
}

/* mm/rmap.c:rmap_walk_anon */
__mirrored void rmap_walk_anon(struct machine *m, const struct folio *folio,
			       const struct rmap_walk_control *rwc, bool locked)
{
	enter(m, EV_rmap_walk_anon, folio->page, 0);
	if (!locked)
		folio_lock_anon_vma_read(m, folio);
	walk_vmas(m, folio, rwc);
	if (!locked)
		put(m, &m->task->anon_vma, NONE);
}

/* mm/rmap.c:__rmap_walk_file */
__mirrored void __rmap_walk_file(struct machine *m, const struct folio *folio,
				 const struct rmap_walk_control *rwc)
{
	enter(m, EV___rmap_walk_file, folio->page, 0);
	walk_vmas(m, folio, rwc);
}

/* mm/rmap.c:rmap_walk_file */
__mirrored void rmap_walk_file(struct machine *m, const struct folio *folio,
			       const struct rmap_walk_control *rwc)
{
	enter(m, EV_rmap_walk_file, folio->page, 0);
	__rmap_walk_file(m, folio, rwc);
}

/* mm/rmap.c:rmap_walk */
__mirrored void rmap_walk(struct machine *m, const struct folio *folio,
			  const struct rmap_walk_control *rwc)
{
	enter(m, EV_rmap_walk, folio->page, 0);
	if (folio_flag(folio, PG_anon))
		rmap_walk_anon(m, folio, rwc, false);
	else
		rmap_walk_file(m, folio, rwc);
}

/* mm/rmap.c:rmap_walk_locked */
__mirrored void rmap_walk_locked(struct machine *m, const struct folio *folio,
				 const struct rmap_walk_control *rwc)
{
	enter(m, EV_rmap_walk_locked, folio->page, 0);
	rmap_walk_anon(m, folio, rwc, true);
}

/* mm/rmap.c:folio_not_mapped */
bool folio_not_mapped(const struct folio *folio)
{
	return !folio_mapped(folio);
}

/* mm/rmap.c:try_to_unmap */
__mirrored void try_to_unmap(struct machine *m, const struct folio *folio, u32 flags)
{
	const struct rmap_walk_control rwc = {
		.rmap_one = try_to_unmap_one,
		.done = folio_not_mapped,
		.arg = &flags,
	};

	enter(m, EV_try_to_unmap, folio->page, 0);
	rmap_walk(m, folio, &rwc);
	put(m, &m->task->page, NONE);
	step(m, folio_mapped(folio) ? EV_still_mapped : EV_unmapped, folio->page, 0);
}
