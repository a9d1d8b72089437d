/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Splitting a large folio, here always into folios of one page:
 *
 *	refcount = mappings + swap cache + the caller's 1, or nobody may touch it
 *	unmap      every PTE becomes a migration entry       refcount 1 (+ swap cache)
 *	freeze                                               refcount 0
 *	take apart tails get flags, index, slot of the whole
 *	unfreeze   each is a folio of its own                refcount 1 (+ 1 in the swap cache)
 *	map again  page by page; zeroes get the shared zero page
 *	put        the tails; who is mapped nowhere goes     the caller keeps the head
 *
 * A tail's entry of folio[] has been there from the start: page_own_folio().
 */
#include "mm/internal.h"

/* mm/huge_memory.c:can_split_folio */
__mirrored bool can_split_folio(struct machine *m, const struct folio *folio)
{
	enter(m, EV_can_split_folio, folio->page, 0);
	if (folio->mapcount == folio->refcount - folio_cache_ref_count(folio) - 1)
		return true;
	step(m, EV_folio_refs_extra, folio->page, folio->refcount);
	return false;
}

static void defer_split(struct machine *m, const struct folio *folio, bool partially_mapped)
{
	if (folio->order <= 1)
		return;
	if (folio_flag(folio, PG_swapcache)) {
		step(m, EV_split_deferred_not_needed, folio->page, 0);
		return;
	}
	if (partially_mapped)
		folio_set_flag(m, folio, PG_partially_mapped);
	folio_set_flag(m, folio, PG_deferred_list);
	step(m, EV_split_deferred, folio->page, 0);
}

/* mm/huge_memory.c:deferred_split_folio */
__mirrored void deferred_split_folio(struct machine *m, const struct folio *folio,
				     bool partially_mapped)
{
	enter(m, EV_deferred_split_folio, folio->page, partially_mapped);
	defer_split(m, folio, partially_mapped);
}

/* What maps the folio's first page when its PMD is split; the others advance the page frame. */
static pte_t split_pmd_pte(const struct machine *m, const struct vma *vma, pmd_t old)
{
	const struct pte_ops *ops = m->arch->pte, *pmd = m->arch->pmd;
	pte_t pte = ops->pfn_pte(pmd->pfn(old), vm_page_prot(vma));

	if (pmd->write(old))
		pte = ops->mkwrite(pte);
	if (!pmd->young(old))
		pte = ops->mkold(pte);
	if (pmd->dirty(old) && m->kernel->pmd_split == PMD_SPLIT_IN_WALK)
		pte = ops->mkdirty(pte);
	if (pmd->soft_dirty(old))
		pte = ops->mksoft_dirty(pte);
	return pmd->uffd(old) ? ops->mkuffd(pte) : pte;
}

static void set_migration_ptes(struct machine *m, u32 pte, pmd_t old, bool exclusive)
{
	const struct pte_ops *ops = m->arch->pte, *pmd = m->arch->pmd;
	enum migration kind = pmd->write(old) ? MIGRATION_WRITE :
			      exclusive	      ? MIGRATION_READ_EXCLUSIVE :
						MIGRATION_READ;

	for (u32 i = 0; i < PTRS_PER_PTE; i++) {
		pte_t entry = make_migration_entry(ops, &m->kernel->types, kind,
						   pmd->pfn(old) + i, pmd->young(old),
						   pmd->dirty(old));

		if (m->kernel->pmd_split == PMD_SPLIT_BEFORE)
			m->arch->ptep_get(m, pte + i);
		if (pmd->soft_dirty(old))
			entry = ops->swp_mksoft_dirty(entry);
		if (pmd->uffd(old))
			entry = ops->swp_mkuffd(entry);
		m->arch->set_ptes(m, pte + i, entry, 1);
	}
}

/* Each page of the folio will be mapped for itself. */
static void split_pmd_mapping(struct machine *m, const struct folio *folio, const struct vma *vma,
			      bool exclusive)
{
	folio_ref_add(m, folio, PTRS_PER_PTE - 1);
	step(m, EV_split_pmd_refs, folio->page, PTRS_PER_PTE - 1);
	folio_add_anon_rmap_ptes(m, folio, folio->page, PTRS_PER_PTE, vma, exclusive);
}

/* 6.1 sets them one by one, and makes sure that there was none. */
static void set_split_ptes(struct machine *m, u32 pte, pte_t pteval)
{
	if (m->kernel->pmd_split == PMD_SPLIT_IN_WALK) {
		m->arch->set_ptes(m, pte, pteval, PTRS_PER_PTE);
		return;
	}
	for (u32 i = 0; i < PTRS_PER_PTE; i++) {
		m->arch->ptep_get(m, pte + i);
		m->arch->set_ptes(m, pte + i, m->arch->pte->advance_pfn(pteval, i), 1);
	}
}

/* mm/huge_memory.c:__split_huge_pmd_locked, anonymous memory */
static void __split_huge_pmd_locked(struct machine *m, const struct vma *vma, u32 table,
				    bool freeze)
{
	const struct folio *folio = pmd_folio(m, table);
	u32 pte = table * PTRS_PER_PTE;
	bool exclusive;
	pmd_t old;

	count(m, COUNT_pmd_split, 1);
	old = pmdp_invalidate(m, vma_idx(m, vma), table);
	if (m->arch->pmd->dirty(old) && !folio_flag(folio, PG_dirty)) {
		folio_set_flag(m, folio, PG_dirty);
		step(m, EV_folio_dirty_set, folio->page, 0);
	}
	exclusive = m->page[folio->page].anon_exclusive;
	if (freeze && exclusive &&
	    folio_try_share_anon_rmap_ptes(m, folio, folio->page, 1))
		freeze = false;
	if (!freeze)
		split_pmd_mapping(m, folio, vma, exclusive);
	step(m, EV_pgtable_withdrawn, folio->page, PTRS_PER_PTE);
	m->arch->pmd_populate(m, NONE);
	if (freeze)
		set_migration_ptes(m, pte, old, exclusive);
	else
		set_split_ptes(m, pte, split_pmd_pte(m, vma, old));
	remove_rmap_pmd(m, folio);
	if (freeze)
		folio_put_refs(m, folio, folio->page, 1);
	step(m, EV_smp_wmb, folio->page, 0);
	m->arch->pmd_populate(m, table);
}

/* mm/huge_memory.c:split_huge_pmd_locked */
__mirrored void split_huge_pmd_locked(struct machine *m, const struct vma *vma, u32 table,
				      bool freeze)
{
	enter(m, EV_split_huge_pmd_locked, pmd_folio(m, table)->page, PTRS_PER_PTE);
	__split_huge_pmd_locked(m, vma, table, freeze);
}

/* mm/huge_memory.c:__split_huge_pmd */
__mirrored void __split_huge_pmd(struct machine *m, const struct vma *vma, u32 table, bool freeze)
{
	enter(m, EV___split_huge_pmd, pmd_folio(m, table)->page, PTRS_PER_PTE);
	lock_pte_table(m, table);
	if (m->kernel->pmd_split == PMD_SPLIT_IN_WALK)
		split_huge_pmd_locked(m, vma, table, freeze);
	else
		__split_huge_pmd_locked(m, vma, table, freeze);
	unlock_pte_table(m);
}

/* mm/huge_memory.c:split_huge_pmd_address (6.1): if the folio is mapped by a huge entry there */
void split_huge_pmd_address(struct machine *m, const struct folio *folio, const struct vma *vma,
			    bool freeze)
{
	u64 end;
	u32 table = vma_pte(vma, vma_address(vma, folio, &end)) / PTRS_PER_PTE;

	if (m->table[table].pmd)
		__split_huge_pmd(m, vma, table, freeze);
}

/* mm/huge_memory.c:deferred_split_huge_page, its name up to 6.1 */
__mirrored void deferred_split_huge_page(struct machine *m, const struct folio *folio)
{
	enter(m, EV_deferred_split_huge_page, folio->page, 1);
	defer_split(m, folio, false);
}

static void split_dequeue(struct machine *m, const struct folio *folio)
{
	folio_clear_flag(m, folio, PG_deferred_list);
	folio_clear_flag(m, folio, PG_partially_mapped);
	step(m, EV_split_dequeued, folio->page, 0);
}

/* mm/huge_memory.c:__folio_unqueue_deferred_split */
__mirrored void __folio_unqueue_deferred_split(struct machine *m, const struct folio *folio)
{
	enter(m, EV___folio_unqueue_deferred_split, folio->page, 0);
	split_dequeue(m, folio);
}

/* mm/huge_memory.c:unmap_folio */
static void unmap_folio(struct machine *m, const struct folio *folio)
{
	try_to_migrate(m, folio, TTU_SYNC | TTU_BATCH_FLUSH);
	try_to_unmap_flush(m);
}

/* mm/huge_memory.c:remap_page: the folios that page[first] .. page[first + nr - 1] are in now */
__mirrored void remap_page(struct machine *m, u32 first, u32 nr, u32 flags)
{
	const struct folio *folio;

	enter(m, EV_remap_page, first, nr);
	for (u32 page = first; page < first + nr; page += folio_nr_pages(folio)) {
		folio = m->folio + page_folio(m->s, page);
		remove_migration_ptes(m, folio, flags);
	}
}

/* mm/huge_memory.c:__split_folio_to_order, new order 0 */
static void __split_folio_to_order(struct machine *m, const struct folio *folio)
{
	const u32 copied = 1u << PG_referenced | 1u << PG_swapbacked | 1u << PG_swapcache |
			   1u << PG_mlocked | 1u << PG_uptodate | 1u << PG_active |
			   1u << PG_workingset | 1u << PG_locked | 1u << PG_unevictable |
			   1u << PG_dirty | 1u << PG_anon;
	u32 nr = folio_nr_pages(folio);

	put(m, &m->s->has_tails, 1);
	for (u32 i = 1; i < nr; i++) {
		u32 page = folio->page + i, own = page_own_folio(m->s, page);
		const struct folio *tail = m->folio + own;

		put(m, &m->page[page].folio, own);
		put(m, &m->page[page].anon_exclusive, 0);
		put(m, &tail->flags, (folio->flags & copied) |
					     (u32)m->page[page].zero << PG_zero_filled);
		put64(m, &tail->index, folio->index + i);
		put(m, &tail->anon_vma, folio->anon_vma);
		if (folio_flag(folio, PG_swapcache))
			put(m, &tail->swap, folio->swap + i);
	}
	if (m->page[folio->page].zero)
		folio_set_flag(m, folio, PG_zero_filled);
	put(m, &folio->order, 0);
	count(m, COUNT_folio_split, 1);
	step(m, EV_split_done, folio->page, nr);
}

static void folio_ref_unfreeze(struct machine *m, const struct folio *folio)
{
	put(m, &folio->refcount, 1 + folio_cache_ref_count(folio));
	step(m, EV_folio_ref_unfrozen, folio->page, folio->refcount);
}

/* mm/huge_memory.c:lru_add_split_folio */
static void lru_add_split_folio(struct machine *m, const struct folio *head,
				const struct folio *tail, u32 list)
{
	if (list != LIST_NONE) {
		list_add_tail(m, tail, (enum folio_list)list);
		folio_set_flag(m, tail, PG_isolated);
		folio_ref_add(m, tail, 1);
		step(m, EV_folio_tail_isolated, tail->page, 1);
		return;
	}
	list_add_before(m, tail, head);
	folio_set_flag(m, tail, PG_lru);
	step(m, EV_folio_tail_listed, tail->page, 0);
}

/* mm/huge_memory.c:__folio_freeze_and_split_unmapped */
static bool __folio_freeze_and_split_unmapped(struct machine *m, const struct folio *folio,
					      u32 list)
{
	u32 nr = folio_nr_pages(folio), expected = 1 + folio_cache_ref_count(folio);
	bool cached = folio_flag(folio, PG_swapcache);

	if (folio->refcount != expected) {
		step(m, EV_folio_ref_freeze_failed, folio->page, expected);
		return false;
	}
	put(m, &folio->refcount, 0);
	count(m, COUNT_ref_op, 1);
	step(m, EV_folio_ref_frozen, folio->page, expected);
	if (folio_flag(folio, PG_deferred_list))
		split_dequeue(m, folio);
	if (cached)
		swap_cache_lock(m, folio->swap);
	__split_folio_to_order(m, folio);
	for (u32 i = 1; i < nr; i++) {
		u32 n = m->kernel->folio_split == SPLIT_HUGE_PAGE ? nr - i : i;
		const struct folio *tail = m->folio + page_folio(m->s, folio->page + n);

		put(m, &tail->held, 1);
		folio_ref_unfreeze(m, tail);
		lru_add_split_folio(m, folio, tail, list);
		if (cached)
			swap_cache_replace(m, tail);
	}
	folio_ref_unfreeze(m, folio);
	if (cached)
		swap_cache_unlock(m, folio->swap);
	return true;
}

/* Do only its mappings and the caller know the folio? 6.x ask a function. */
static bool may_be_split(struct machine *m, const struct folio *folio)
{
	if (m->kernel->folio_split != SPLIT_FOLIO)
		return can_split_folio(m, folio);
	if (folio_expected_ref_count(folio) == folio->refcount - 1)
		return true;
	step(m, EV_split_refused, folio->page, folio->refcount);
	return false;
}

/* The anon_vma is locked: nobody looks for the folio's mappings, no VMA comes or goes. */
static bool split_locked(struct machine *m, const struct folio *folio, u32 list)
{
	u32 first = folio->page, nr = folio_nr_pages(folio);
	bool zeropage = m->kernel->zero_remap != ZERO_MAPPED_AGAIN, split;

	if (!may_be_split(m, folio))
		return false;
	unmap_folio(m, folio);
	split = __folio_freeze_and_split_unmapped(m, folio, list);
	remap_page(m, first, nr, split && zeropage ? TTU_USE_SHARED_ZEROPAGE : 0);
	for (u32 page = first + 1; split && page < first + nr; page++) {
		const struct folio *tail = m->folio + page_folio(m->s, page);

		folio_unlock(m, tail);
		free_folio_and_swap_cache(m, tail);
	}
	return split;
}

/* Anonymous folios into folios of one page, by whoever splits them in that kernel. */
static bool split_unmapped(struct machine *m, const struct folio *folio, u32 list)
{
	bool split;

	if (folio_flag(folio, PG_writeback)) {
		step(m, EV_split_under_writeback, folio->page, 0);
		return false;
	}
	put(m, &m->task->anon_vma, folio->anon_vma);
	step(m, EV_anon_vma_locked, folio->page, 0);
	split = split_locked(m, folio, list);
	put(m, &m->task->anon_vma, NONE);
	return split;
}

/* mm/huge_memory.c:__folio_split */
__mirrored bool __folio_split(struct machine *m, const struct folio *folio, u32 list)
{
	enter(m, EV___folio_split, folio->page, folio_nr_pages(folio));
	return split_unmapped(m, folio, list);
}

/* mm/huge_memory.c:split_huge_page_to_list_to_order: 6.12; 6.16 in front of __folio_split */
__mirrored bool split_huge_page_to_list_to_order(struct machine *m, const struct folio *folio,
						 u32 list)
{
	enter(m, EV_split_huge_page_to_list_to_order, folio->page, folio_nr_pages(folio));
	if (m->kernel->folio_split == SPLIT_HUGE_PAGE_FOLIO)
		return __folio_split(m, folio, list);
	return split_unmapped(m, folio, list);
}

/* mm/huge_memory.c:split_folio_to_list */
__mirrored bool split_folio_to_list(struct machine *m, const struct folio *folio, u32 list)
{
	enter(m, EV_split_folio_to_list, folio->page, folio_nr_pages(folio));
	if (m->kernel->folio_split == SPLIT_FOLIO)
		return __folio_split(m, folio, list);
	return split_huge_page_to_list_to_order(m, folio, list);
}
