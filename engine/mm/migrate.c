/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way back from a migration entry: the page is mapped as it was, or, if it is all
 * zeroes and its folio has just been split, the shared zero page instead of it.
 */
#include "mm/internal.h"

/* mm/migrate.c:try_to_map_unused_to_zeropage */
static bool try_to_map_unused_to_zeropage(struct machine *m, const struct folio *folio,
					  const struct vma *vma, const struct pte_desc *old)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct mm *mm = m->mm + vma->mm;
	pte_t pte;

	if (folio_test_large(folio) || folio_flag(folio, PG_mlocked) || vma->flags & VM_LOCKED ||
	    !folio_flag(folio, PG_zero_filled))
		return false;
	pte = ops->mkspecial(ops->pfn_pte(ZERO_PFN, vm_page_prot(vma)));
	if (old->soft_dirty)
		pte = ops->mksoft_dirty(pte);
	if (old->uffd)
		pte = ops->mkuffd(pte);
	m->arch->set_ptes(m, m->task->walk_pte, pte, 1);
	put(m, &mm->anonpages, mm->anonpages - 1);
	count(m, COUNT_mm_counter_op, 1);
	step(m, EV_zero_page_mapped, folio->page, 1);
	return true;
}

static pte_t restored_pte(const struct machine *m, const struct folio *folio,
			  const struct vma *vma, const struct pte_desc *old)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t pte = ops->pfn_pte(old->pfn, vm_page_prot(vma));

	if (!old->young)
		pte = ops->mkold(pte);
	if (folio_flag(folio, PG_dirty) && old->dirty)
		pte = ops->mkdirty(pte);
	pte = old->soft_dirty ? ops->mksoft_dirty(pte) : ops->clear_soft_dirty(pte);
	if (old->write)
		return ops->mkwrite(pte);
	return old->uffd ? ops->mkuffd(pte) : pte;
}

static void decode_migration_pte(struct machine *m, struct pte_desc *old)
{
	m->arch->pte->decode(m->arch->ptep_get(m, m->task->walk_pte), &m->kernel->types, old);
}

/* mm/migrate.c:remove_migration_pte */
__mirrored bool remove_migration_pte(struct machine *m, const struct folio *folio,
				     const struct vma *vma, void *arg)
{
	const struct page_vma_mapped_walk pvmw = { .folio = folio, .vma = vma };
	const struct softleaf_types *types = &m->kernel->types;
	const u32 flags = *(const u32 *)arg;
	struct pte_desc old;
	u32 page;

	enter(m, EV_remove_migration_pte, folio->page, folio_nr_pages(folio));
	page_vma_mapped_walk_start(m, &pvmw, PVMW_SYNC | PVMW_MIGRATION);
	while (page_vma_mapped_walk(m, &pvmw)) {
		old = (struct pte_desc){ 0 };
		if (m->kernel->zero_remap == ZERO_KEEPS_MARKS)
			decode_migration_pte(m, &old);
		if (flags & TTU_USE_SHARED_ZEROPAGE &&
		    try_to_map_unused_to_zeropage(m, folio, vma, &old))
			continue;
		if (m->kernel->zero_remap != ZERO_KEEPS_MARKS)
			decode_migration_pte(m, &old);
		page = pfn_page(m->s, old.pfn);
		folio_ref_add(m, folio, 1);
		step(m, EV_folio_mapping_ref, page, 1);
		folio_add_anon_rmap_ptes(m, folio, page, 1, vma,
					 old.type != migration_type(types, MIGRATION_READ));
		m->arch->set_ptes(m, m->task->walk_pte, restored_pte(m, folio, vma, &old), 1);
	}
	return true;
}

/* mm/migrate.c:remove_migration_ptes, by who holds the anon_vma's lock */
__mirrored void remove_migration_ptes(struct machine *m, const struct folio *folio, u32 flags)
{
	const struct rmap_walk_control rwc = { .rmap_one = remove_migration_pte, .arg = &flags };

	enter(m, EV_remove_migration_ptes, folio->page, folio_nr_pages(folio));
	rmap_walk_locked(m, folio, &rwc);
	put(m, &m->task->page, NONE);
}
