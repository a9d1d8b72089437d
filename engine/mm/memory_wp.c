/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A write to a page that is mapped read-only. Marked exclusive, or known to nobody else: the
 * entry becomes writable. Else the process gets a copy, and the others keep the page.
 */
#include "mm/fault.h"

/* mm/memory.c:__wp_can_reuse_large_anon_folio: all its references are mappings of this mm */
static bool wp_can_reuse_large_anon_folio(struct machine *m, const struct folio *folio)
{
	if (folio->mapcount <= 1 || folio_maybe_mapped_shared(m, folio))
		return false;
	if (folio_flag(folio, PG_swapcache)) {
		if (!folio_trylock(m, folio))
			return false;
		folio_free_swap(m, folio);
		folio_unlock(m, folio);
	}
	return folio->mapcount == folio->refcount;
}

/* mm/memory.c:wp_can_reuse_anon_folio: the only reference is this mapping's */
static bool wp_can_reuse_anon_folio(struct machine *m, const struct folio *folio,
				    const struct vma *vma)
{
	bool alone;

	if (folio_test_large(folio))
		return wp_can_reuse_large_anon_folio(m, folio);
	if (folio->refcount > 1u + folio_flag(folio, PG_swapcache) || !folio_trylock(m, folio))
		return false;
	if (folio_flag(folio, PG_swapcache))
		folio_free_swap(m, folio);
	alone = folio->refcount == 1;
	if (alone)
		put(m, &folio->anon_vma, vma->anon_vma);
	folio_unlock(m, folio);
	return alone;
}

/* mm/memory.c:wp_page_reuse */
static enum fault_result wp_page_reuse(struct machine *m, const struct vm_fault *vmf, u32 page)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t entry = ops->mkwrite(ops->mkdirty(ops->mkyoung(vmf->orig_pte)));

	step(m, EV_fault_page_reused, page, 0);
	m->arch->ptep_set_access_flags(m, vmf->pte, entry, true);
	unlock_pte_table(m);
	return FAULT_DONE;
}

/* The new page takes the old one's place: first the old entry goes, and the TLBs forget it. */
static void switch_pages(struct machine *m, const struct vm_fault *vmf, const struct folio *new,
			 const struct folio *old)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t entry = ops->pfn_pte(new->pfn, vm_page_prot(vmf->vma));

	if (!old)
		add_anon_page(m, vmf->vma->mm, new->page);
	put(m, &m->task->page, new->page);
	ptep_clear_flush(m, vmf->vma, vmf->address, vmf->pte);
	put(m, &m->task->page, NONE);
	hand_over_ref(m, new);
	folio_add_new_anon_rmap(m, new, vmf->vma, vmf->address, true);
	folio_add_lru_vma(m, new, vmf->vma);
	m->arch->set_ptes(m, vmf->pte, ops->mkwrite(ops->mkdirty(entry)), 1);
	if (old)
		folio_remove_rmap_ptes(m, old, pfn_page(m->s, ops->pfn(vmf->orig_pte)), 1);
}

/* mm/memory.c:wp_page_copy; old NULL: the zero page. The fault holds a reference to old. */
__mirrored enum fault_result wp_page_copy(struct machine *m, const struct vm_fault *vmf,
				   const struct folio *old)
{
	u32 page = pfn_page(m->s, m->arch->pte->pfn(vmf->orig_pte));
	const struct folio *new;
	enum fault_result fault = FAULT_FAILED;

	enter(m, EV_wp_page_copy, page, 0);
	new = folio_prealloc(m, !old);
	if (new && old) {
		page_fill(m, new->page, m->page[page].zero);
		step(m, EV_fault_page_copied, new->page, 0);
	}
	if (new && lock_orig_pte(m, vmf)) {
		switch_pages(m, vmf, new, old);
		unlock_pte_table(m);
		if (old) {
			folio_put_refs(m, old, page, 1);
			free_swap_cache(m, old);
		}
		fault = FAULT_DONE;
	} else if (new) {
		folio_put(m, new);
		fault = FAULT_DONE;
	}
	if (old)
		folio_put(m, old);
	return fault;
}

/* mm/memory.c:do_wp_page, private anonymous memory */
__mirrored enum fault_result do_wp_page(struct machine *m, const struct vm_fault *vmf)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct folio *folio = NULL;
	pte_t pte;
	u32 page;

	enter(m, EV_do_wp_page, pte_page(m, vmf->orig_pte), 0);
	pte = m->arch->ptep_get(m, vmf->pte);
	if (vmf->vma->flags & VM_UFFD_WP && ops->uffd(pte)) {
		step(m, EV_fault_userfault, pte_page(m, pte), 0);
		unlock_pte_table(m);
		return FAULT_FAILED;
	}
	page = vm_normal_page(m, vmf->orig_pte);
	if (page != NONE)
		folio = m->folio + page_folio(m->s, page);
	if (folio && (m->page[page].anon_exclusive ||
		      wp_can_reuse_anon_folio(m, folio, vmf->vma))) {
		put(m, &m->page[page].anon_exclusive, 1);
		return wp_page_reuse(m, vmf, page);
	}
	if (folio)
		folio_get(m, folio);
	unlock_pte_table(m);
	return wp_page_copy(m, vmf, folio);
}
