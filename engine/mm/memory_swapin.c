/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fault on a swap entry. Its folio may be in the swap cache still, or again: then nothing is
 * read. The folio's lock keeps reclaim away while it is mapped.
 *
 *	find it, or read it in          refcount + 1
 *	lock the folio, then the page table: is the entry the same?
 *	mm counters, mapcount, AnonExclusive
 *	slot count - 1                  the entry still names the slot
 *	set the PTE                     now it does not
 *	the swap cache lets it go, if that is of use
 */
#include "mm/fault.h"

/* What is going to be mapped at once: one page, or the whole folio. */
struct range {
	u32 page, pte, nr;
};

/* mm/memory.c:should_try_to_free_swap */
static bool should_try_to_free_swap(const struct machine *m, const struct folio *folio,
				    const struct vm_fault *vmf, bool exclusive)
{
	if (!folio_flag(folio, PG_swapcache))
		return false;
	if (m->device[slot_device(m->s, folio->swap)].kind == SWAP_SYNC)
		return true;
	if (vm_swap_full(m) || vmf->vma->flags & VM_LOCKED || folio_flag(folio, PG_mlocked))
		return true;
	return vmf->write && exclusive;
}

/* Are the entries of all its pages here, in a row, in this VMA and page table? */
static bool maps_whole_folio(struct machine *m, const struct vm_fault *vmf,
			     const struct folio *folio, u32 idx)
{
	u64 start = vmf->address - idx * PAGE_SIZE;
	u64 end = start + folio_nr_pages(folio) * PAGE_SIZE;
	pte_t first;

	if (start < (vmf->address & ~(PMD_SIZE - 1)) || start < vmf->vma->start ||
	    end > (vmf->address | (PMD_SIZE - 1)) + 1 || end > vmf->vma->end)
		return false;
	first = m->arch->ptep_get(m, vmf->pte - idx);
	return first == pte_move_swp_offset(m, vmf->orig_pte, -(s64)idx) &&
	       swap_pte_batch(m, vmf->pte - idx, first, folio_nr_pages(folio)) ==
		       folio_nr_pages(folio);
}

static struct range range_of(struct machine *m, const struct vm_fault *vmf,
			     const struct folio *folio, u32 slot)
{
	u32 idx = slot - folio->swap;

	if (folio_test_large(folio) && maps_whole_folio(m, vmf, folio, idx))
		return (struct range){ folio->page, vmf->pte - idx, folio_nr_pages(folio) };
	return (struct range){ folio->page + idx, vmf->pte, 1 };
}

static void move_counters(struct machine *m, u32 mm, const struct range *at)
{
	put(m, &m->mm[mm].anonpages, m->mm[mm].anonpages + at->nr);
	put(m, &m->mm[mm].swapents, m->mm[mm].swapents - at->nr);
	count(m, COUNT_mm_counter_op, 2);
	step(m, EV_mm_counters_back, at->page, at->nr);
}

/* The entries to be: writable if the process has the pages alone. */
static pte_t present_pte(const struct machine *m, const struct vm_fault *vmf, u32 page,
			 bool exclusive)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct folio *folio = m->folio + page_folio(m->s, page);
	pte_t pte = ops->pfn_pte(folio->pfn + (page - folio->page), vm_page_prot(vmf->vma));

	if (ops->has_soft_dirty && ops->swp_soft_dirty(vmf->orig_pte))
		pte = ops->mksoft_dirty(pte);
	if (ops->swp_uffd(vmf->orig_pte))
		pte = ops->mkuffd(pte);
	if (!exclusive || !(vmf->vma->flags & VM_WRITE) ||
	    (vmf->vma->flags & VM_UFFD_WP && ops->uffd(pte)))
		return pte;
	pte = ops->mkwrite(pte);
	return vmf->write ? ops->mkdirty(pte) : pte;
}

/* The page table is locked, and so is the folio. */
static void map_again(struct machine *m, struct vm_fault *vmf, const struct folio *folio, u32 slot)
{
	struct range at = range_of(m, vmf, folio, slot);
	bool exclusive = m->arch->pte->swp_exclusive(vmf->orig_pte);
	pte_t pte;

	move_counters(m, vmf->vma->mm, &at);
	pte = present_pte(m, vmf, at.page, exclusive);
	hand_over_ref(m, folio);
	if (at.nr > 1)
		folio_ref_add(m, folio, at.nr - 1);
	if (folio_flag(folio, PG_anon))
		folio_add_anon_rmap_ptes(m, folio, at.page, at.nr, vmf->vma, exclusive);
	else
		folio_add_new_anon_rmap(m, folio, vmf->vma, vmf->address, exclusive);
	folio_put_swap(m, folio, at.page, at.nr);
	m->arch->set_ptes(m, at.pte, pte, at.nr);
	vmf->orig_pte = m->arch->pte->advance_pfn(pte, (s64)vmf->pte - at.pte);
	if (should_try_to_free_swap(m, folio, vmf, exclusive))
		folio_free_swap(m, folio);
}

/* Somebody holds the lock: the reference stays until it is free, then the fault starts over. */
static enum fault_result wait_for_folio(struct machine *m, const struct folio *folio)
{
	put(m, &m->task->fault_folio, folio_idx(m, folio));
	step(m, EV_fault_waits_folio, folio->page, 0);
	return FAULT_WAITS;
}

static enum fault_result let_go(struct machine *m, const struct folio *folio)
{
	if (folio_flag(folio, PG_swapcache))
		folio_free_swap(m, folio);
	folio_unlock(m, folio);
	folio_put(m, folio);
	return FAULT_DONE;
}

/* mm/memory.c:do_swap_page; reduced: no KSM, no device memory, pages are read one by one */
__mirrored enum fault_result do_swap_page(struct machine *m, struct vm_fault *vmf)
{
	u32 slot = pte_slot(m, vmf->orig_pte);
	const struct folio *folio;

	enter(m, EV_do_swap_page, slot_page(m->s, slot), slot);
	folio = swap_cache_get_folio(m, slot);
	if (!folio) {
		folio = swapin_sync(m, slot);
		if (!folio)
			return FAULT_FAILED;
		count(m, COUNT_major_fault, 1);
		step(m, EV_fault_major, folio->page, 0);
	}
	if (folio_flag(folio, PG_locked))
		return wait_for_folio(m, folio);
	folio_set_flag(m, folio, PG_locked);
	step(m, EV_folio_locked, folio->page, 0);
	if (!folio_covers(folio, slot) || !lock_orig_pte(m, vmf))
		return let_go(m, folio);
	map_again(m, vmf, folio, slot);
	folio_unlock(m, folio);
	if (vmf->write && !m->arch->pte->write(vmf->orig_pte))
		return do_wp_page(m, vmf);
	unlock_pte_table(m);
	return FAULT_DONE;
}
