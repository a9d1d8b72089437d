/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unmapping for a while: every PTE that maps a folio becomes a migration entry. Its type
 * says what the PTE allowed, its offset which page it was:
 *
 *	migration_write			writable, so exclusive too
 *	migration_read_exclusive	read-only, PageAnonExclusive
 *	migration_read			read-only, shared
 *
 * MM_ANONPAGES counts the page all the while. mm/migrate.c is the way back.
 */
#include "mm/internal.h"

static pte_t clear_and_flush(struct machine *m, const struct folio *folio, const struct vma *vma,
			     pte_t pteval, u32 flags)
{
	u64 address = m->task->walk_address;

	if (!m->arch->pte->present(pteval)) {
		pte_clear(m, m->task->walk_pte);
		return pteval;
	}
	if (should_defer_flush(m, vma->mm, flags)) {
		pteval = m->arch->get_and_clear_ptes(m, m->task->walk_pte, 1);
		set_tlb_ubc_flush_pending(m, vma->mm, pteval, address, address + PAGE_SIZE);
	} else {
		pteval = ptep_clear_flush(m, vma, address, m->task->walk_pte);
	}
	if (m->arch->pte->dirty(pteval))
		folio_mark_dirty(m, folio);
	return pteval;
}

/* What stood in the PTE may have been device-exclusive: then it allowed nothing. */
static pte_t migration_pte(const struct machine *m, u32 page, pte_t pteval, bool exclusive)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct folio *folio = m->folio + page_folio(m->s, page);
	bool present = ops->present(pteval);
	enum migration kind = present && ops->write(pteval) ? MIGRATION_WRITE :
			      exclusive			    ? MIGRATION_READ_EXCLUSIVE :
							      MIGRATION_READ;
	pte_t pte = make_migration_entry(ops, &m->kernel->types, kind,
					 folio->pfn + (page - folio->page),
					 present && ops->young(pteval),
					 present && ops->dirty(pteval));

	if (pte_or_swp_soft_dirty(ops, pteval))
		pte = ops->swp_mksoft_dirty(pte);
	return pte_or_swp_uffd(ops, pteval) ? ops->swp_mkuffd(pte) : pte;
}

/* mm/rmap.c:try_to_migrate_one */
__mirrored bool try_to_migrate_one(struct machine *m, const struct folio *folio,
				   const struct vma *vma, void *arg)
{
	const struct page_vma_mapped_walk pvmw = { .folio = folio, .vma = vma };
	const struct task *task = m->task;
	const u32 flags = *(const u32 *)arg;

	enter(m, EV_try_to_migrate_one, folio->page, folio_nr_pages(folio));
	if (m->kernel->pmd_split == PMD_SPLIT_BEFORE)
		split_huge_pmd_address(m, folio, vma, true);
	page_vma_mapped_walk_start(m, &pvmw, flags & TTU_SYNC ? PVMW_SYNC : 0);
	while (page_vma_mapped_walk(m, &pvmw)) {
		pte_t pteval;
		bool exclusive;
		u32 page;

		if (task->walk_pmd != NONE) {
			split_huge_pmd_locked(m, vma, task->walk_pmd, true);
			page_vma_mapped_walk_restart(m);
			continue;
		}
		pteval = m->arch->ptep_get(m, task->walk_pte);
		page = mapped_page(m, folio, pteval);
		exclusive = m->page[page].anon_exclusive;
		pteval = clear_and_flush(m, folio, vma, pteval, flags);
		update_hiwater_rss(m, vma->mm);
		if (exclusive && folio_try_share_anon_rmap_ptes(m, folio, page, 1)) {
			m->arch->set_ptes(m, task->walk_pte, pteval, 1);
			step(m, EV_unmap_restored, page, 1);
			page_vma_mapped_walk_done(m);
			return false;
		}
		m->arch->set_ptes(m, task->walk_pte, migration_pte(m, page, pteval, exclusive), 1);
		remove_rmap_ptes(m, folio, page, 1);
		folio_put_refs(m, folio, page, 1);
	}
	return true;
}

/* mm/rmap.c:try_to_migrate, by who holds the anon_vma's lock */
__mirrored void try_to_migrate(struct machine *m, const struct folio *folio, u32 flags)
{
	const struct rmap_walk_control rwc = {
		.rmap_one = try_to_migrate_one,
		.done = folio_not_mapped,
		.arg = &flags,
	};

	enter(m, EV_try_to_migrate, folio->page, 0);
	rmap_walk_locked(m, folio, &rwc);
	put(m, &m->task->page, NONE);
}
