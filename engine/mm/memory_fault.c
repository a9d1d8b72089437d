/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page faults of anonymous memory: an access that the page table does not allow.
 *
 *	empty entry     the zero page for a read, a new page for a write
 *	swap entry      memory_swapin.c: the folio in the swap cache, or one that is read in
 *	read-only       memory_wp.c: reused if the process has the page alone, else copied
 *
 * Who would have to wait for a lock returns, and the access is not made before somebody has
 * let it go.
 */
#include "mm/fault.h"

bool lock_orig_pte(struct machine *m, const struct vm_fault *vmf)
{
	lock_pte_table(m, vmf->pte / PTRS_PER_PTE);
	if (m->arch->ptep_get(m, vmf->pte) == vmf->orig_pte)
		return true;
	step(m, EV_fault_pte_changed, pte_page(m, m->pte[vmf->pte]), 0);
	unlock_pte_table(m);
	return false;
}

void hand_over_ref(struct machine *m, const struct folio *folio)
{
	put(m, &folio->held, folio->held - 1);
}

void add_anon_page(struct machine *m, u32 mm, u32 page)
{
	put(m, &m->mm[mm].anonpages, m->mm[mm].anonpages + 1);
	count(m, COUNT_mm_counter_op, 1);
	step(m, EV_mm_counters_raised, page, 1);
}

/* mm/memory.c:map_anon_folio_pte_pf, one page */
static void map_anon_folio_pte_pf(struct machine *m, const struct vm_fault *vmf,
				  const struct folio *folio)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t entry = ops->pfn_pte(folio->pfn, vm_page_prot(vmf->vma));

	if (vmf->vma->flags & VM_WRITE)
		entry = ops->mkwrite(ops->mkdirty(entry));
	hand_over_ref(m, folio);
	folio_add_new_anon_rmap(m, folio, vmf->vma, vmf->address, true);
	folio_add_lru_vma(m, folio, vmf->vma);
	m->arch->set_ptes(m, vmf->pte, entry, 1);
	add_anon_page(m, vmf->vma->mm, folio->page);
}

static void map_zero_page(struct machine *m, const struct vm_fault *vmf)
{
	const struct pte_ops *ops = m->arch->pte;

	m->arch->set_ptes(m, vmf->pte,
			  ops->mkspecial(ops->pfn_pte(ZERO_PFN, vm_page_prot(vmf->vma))), 1);
	step(m, EV_fault_zero_page, NONE, 0);
}

/* mm/memory.c:folio_prealloc: one page, all zeroes if asked for */
const struct folio *folio_prealloc(struct machine *m, bool need_zero)
{
	const struct folio *folio = vma_alloc_folio(m);

	if (!folio)
		return NULL;
	folio_set_flag(m, folio, PG_uptodate);
	page_fill(m, folio->page, need_zero);
	if (need_zero)
		step(m, EV_folio_zeroed, folio->page, 0);
	return folio;
}

/* mm/memory.c:do_anonymous_page; reduced: no large folios */
__mirrored enum fault_result do_anonymous_page(struct machine *m, const struct vm_fault *vmf)
{
	const struct folio *folio = NULL;

	enter(m, EV_do_anonymous_page, NONE, vmf->write);
	if (!m->table[vmf->pte / PTRS_PER_PTE].populated)
		m->arch->pmd_populate(m, vmf->pte / PTRS_PER_PTE);
	if (vmf->write) {
		folio = folio_prealloc(m, true);
		if (!folio)
			return FAULT_FAILED;
	}
	if (!lock_orig_pte(m, vmf)) {
		if (folio)
			folio_put(m, folio);
		return FAULT_DONE;
	}
	if (folio)
		map_anon_folio_pte_pf(m, vmf, folio);
	else
		map_zero_page(m, vmf);
	unlock_pte_table(m);
	return FAULT_DONE;
}

/* The entry allows the access but for its accessed and dirty bits. */
static enum fault_result set_access_flags(struct machine *m, const struct vm_fault *vmf)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t entry = vmf->write ? ops->mkdirty(vmf->orig_pte) : vmf->orig_pte;

	m->arch->ptep_set_access_flags(m, vmf->pte, ops->mkyoung(entry), vmf->write);
	unlock_pte_table(m);
	return FAULT_DONE;
}

static enum fault_result not_modelled(struct machine *m, const struct vm_fault *vmf)
{
	step(m, EV_fault_not_modelled, pte_page(m, vmf->orig_pte), 0);
	return FAULT_FAILED;
}

/* mm/memory.c:handle_pte_fault; reduced: anonymous memory, no NUMA hints */
__mirrored enum fault_result handle_pte_fault(struct machine *m, struct vm_fault *vmf)
{
	const struct pte_ops *ops = m->arch->pte;

	enter(m, EV_handle_pte_fault, pte_page(m, m->pte[vmf->pte]), vmf->write);
	if (!m->table[vmf->pte / PTRS_PER_PTE].populated)
		return do_anonymous_page(m, vmf);
	vmf->orig_pte = m->arch->ptep_get_lockless(m, vmf->pte);
	if (ops->none(vmf->orig_pte))
		return do_anonymous_page(m, vmf);
	if (!ops->present(vmf->orig_pte))
		return pte_slot(m, vmf->orig_pte) == NONE ? not_modelled(m, vmf) :
							    do_swap_page(m, vmf);
	if (ops->protnone(vmf->orig_pte))
		return not_modelled(m, vmf);
	if (!lock_orig_pte(m, vmf))
		return FAULT_DONE;
	if (vmf->write && !ops->write(vmf->orig_pte))
		return do_wp_page(m, vmf);
	return set_access_flags(m, vmf);
}

static bool is_modelled(const struct machine *m, const struct vm_fault *vmf)
{
	return m->kernel->swap_slots == SLOTS_TABLE && vma_is_anonymous(vmf->vma) &&
	       !m->table[vmf->pte / PTRS_PER_PTE].pmd;
}

/* mm/memory.c:handle_mm_fault and __handle_mm_fault; reduced: no huge pages */
__mirrored enum fault_result handle_mm_fault(struct machine *m, const struct vma *vma, u64 address,
				      bool write)
{
	struct vm_fault vmf = {
		.vma = vma, .address = address, .write = write, .pte = vma_pte(vma, address)
	};

	count(m, COUNT_page_fault, 1);
	enter(m, EV_handle_mm_fault,
	      page_or_entry(m, pte_page(m, m->pte[vmf.pte]), vmf.pte), write);
	if (!is_modelled(m, &vmf))
		return not_modelled(m, &vmf);
	return handle_pte_fault(m, &vmf);
}

/* Whose lock would the fault have to wait for before it has done anything? */
static bool must_wait(struct machine *m, u32 mm, u32 pte)
{
	if (m->mm[mm].mmap_lock == MMAP_WRITE_LOCKED) {
		step(m, EV_fault_waits_mm, NONE, mm);
		return true;
	}
	if (page_table_is_locked(m, pte / PTRS_PER_PTE)) {
		step(m, EV_fault_waits_ptl, NONE, pte / PTRS_PER_PTE);
		return true;
	}
	if (slots_are_locked(m, mm, pte_va(m->s, pte), pte_va(m->s, pte) + PAGE_SIZE)) {
		step(m, EV_fault_waits_cluster, NONE, 0);
		return true;
	}
	return false;
}

/* arch/{arm64,x86}/mm/fault.c: find the VMA; is the access allowed there? */
enum fault_result do_user_fault(struct machine *m, u32 mm, u64 address, bool write)
{
	u32 i = va_vma(m->s, mm, address);
	enum fault_result fault;

	if (i == NONE || (write && !(m->vma[i].flags & VM_WRITE))) {
		step(m, EV_fault_segv, NONE, 0);
		return FAULT_FAILED;
	}
	if (must_wait(m, mm, vma_pte(m->vma + i, address)))
		return FAULT_WAITS;
	mmap_read_lock(m, mm);
	fault = handle_mm_fault(m, m->vma + i, address, write);
	mmap_read_unlock(m, mm);
	return fault;
}
