/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fork: the child gets the parent's page tables, not its pages.
 *
 *	present     one mapping and one reference more; no longer exclusive; read-only in both,
 *	            so that whoever writes first gets a copy
 *	pinned      a device may write to the parent's page: the child gets its copy at once
 *	swap        the slot's count rises; no longer exclusive in either
 *	migration   read-only in both
 *
 * The child's table is locked, then the parent's. Runs of a large folio go together; 6.1 takes
 * one entry after the other. Where memory is needed both locks are dropped for it.
 */
#include "mm/fault.h"

/* One VMA, and what one page table's worth has brought: rss[] of the kernel. */
struct copy {
	const struct vma *dst, *src;
	bool has_pinned;	/* MMF_HAS_PINNED */
	u32 anonpages, swapents;
	const struct folio *prealloc;
};

/* How far it came with the two locks. */
enum copy_stop { COPIED, COPY_NEEDS_PAGE, COPY_NEEDS_TABLE, COPY_FAILED };

/* include/linux/rmap.h:__folio_try_dup_anon_rmap: may the pages not be replaced in the parent? */
static bool must_not_share(struct machine *m, const struct copy *c, const struct folio *folio,
			   u32 page, u32 nr)
{
	bool exclusive = false;

	for (u32 i = page; i < page + nr; i++)
		exclusive |= m->page[i].anon_exclusive;
	if (!c->has_pinned || (m->kernel->fork_batch == FORK_PTE && !exclusive) ||
	    !folio_maybe_dma_pinned(m, folio, page) || !exclusive)
		return false;
	step(m, EV_fork_not_shared, page, nr);
	return true;
}

static void no_longer_exclusive(struct machine *m, u32 page, u32 nr)
{
	for (u32 i = page; i < page + nr; i++)
		put(m, &m->page[i].anon_exclusive, 0);
}

/* include/linux/rmap.h:folio_try_dup_anon_rmap_ptes. False: the pages may not be shared. */
static bool folio_try_dup_anon_rmap_ptes(struct machine *m, const struct copy *c,
					 const struct folio *folio, u32 page, u32 nr)
{
	if (must_not_share(m, c, folio, page, nr))
		return false;
	no_longer_exclusive(m, page, nr);
	for (u32 i = page; i < page + nr; i++)
		put(m, &m->page[i].mapcount, m->page[i].mapcount + 1);
	count(m, COUNT_mapcount_op, nr);
	put(m, &folio->mapcount, folio->mapcount + nr);
	step(m, EV_anon_rmap_duplicated, page, nr);
	return true;
}

static bool folio_try_dup_anon_rmap_pmd(struct machine *m, const struct copy *c,
					const struct folio *folio)
{
	if (must_not_share(m, c, folio, folio->page, 1))
		return false;
	no_longer_exclusive(m, folio->page, 1);
	put(m, &folio->entire_mapcount, folio->entire_mapcount + 1u);
	put(m, &folio->mapcount, folio->mapcount + 1);
	count(m, COUNT_mapcount_op, 1);
	step(m, EV_anon_rmap_duplicated, folio->page, 1);
	return true;
}

/* The references of the mappings to come, and back if there are to be none. */
static void take_refs(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	folio_ref_add(m, folio, nr);
	step(m, EV_fork_refs, page, nr);
}

static void drop_refs(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	folio_ref_sub(m, folio, nr);
	step(m, EV_fork_refs_dropped, page, nr);
}

static bool any_writable(const struct machine *m, u32 pte, u32 nr)
{
	for (u32 i = pte; i < pte + nr; i++)
		if (m->arch->pte->write(m->pte[i]))
			return true;
	return false;
}

/* mm/memory.c:__copy_present_ptes */
static void __copy_present_ptes(struct machine *m, u32 dst, u32 src, pte_t pte, u32 nr)
{
	const struct pte_ops *ops = m->arch->pte;

	pte = ops->clear_uffd(pte);
	if (any_writable(m, src, nr)) {
		m->arch->wrprotect_ptes(m, src, nr);
		pte = ops->wrprotect(pte);
	}
	m->arch->set_ptes(m, dst, ops->mkold(pte), nr);
}

/* mm/memory.c:copy_present_page: into the page that was allocated for it. False: it was not. */
__mirrored bool copy_present_page(struct machine *m, struct copy *c, u32 dst, u32 page)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct folio *new = c->prealloc;
	pte_t pte;

	enter(m, EV_copy_present_page, page, 1);
	if (!new)
		return false;
	c->prealloc = NULL;
	page_fill(m, new->page, m->page[page].zero);
	step(m, EV_fault_page_copied, new->page, 0);
	hand_over_ref(m, new);
	folio_add_new_anon_rmap(m, new, c->dst, pte_va(m->s, dst), true);
	folio_add_lru_vma(m, new, c->dst);
	c->anonpages++;
	pte = ops->mkdirty(ops->pfn_pte(new->pfn, vm_page_prot(c->dst)));
	m->arch->set_ptes(m, dst, c->dst->flags & VM_WRITE ? ops->mkwrite(pte) : pte, 1);
	return true;
}

/* Many of a large folio, unless a page is at hand to copy one to. */
static u32 run_length(struct machine *m, const struct copy *c, const struct folio *folio, u32 src,
		      pte_t pte, u32 max)
{
	if (m->kernel->fork_batch == FORK_PTE || c->prealloc || !folio_test_large(folio) ||
	    max == 1)
		return 1;
	return folio_pte_batch_flags(m, folio, src, &pte, max,
				     FPB_RESPECT_DIRTY | FPB_RESPECT_SOFT_DIRTY);
}

/* mm/memory.c:copy_present_ptes. How many; 0: a page is needed. */
static u32 copy_present_ptes(struct machine *m, struct copy *c, u32 dst, u32 src, pte_t pte,
			     u32 max)
{
	u32 page = vm_normal_page(m, pte), nr = 1;
	const struct folio *folio;

	if (page != NONE) {
		folio = m->folio + page_folio(m->s, page);
		put(m, &m->task->folio, folio_idx(m, folio));
		nr = run_length(m, c, folio, src, pte, max);
		take_refs(m, folio, page, nr);
		if (!folio_try_dup_anon_rmap_ptes(m, c, folio, page, nr)) {
			drop_refs(m, folio, page, nr);
			return nr == 1 && copy_present_page(m, c, dst, page);
		}
		c->anonpages += nr;
	}
	__copy_present_ptes(m, dst, src, pte, nr);
	return nr;
}

/* mm/memory.c:restore_exclusive_pte: the device loses the page, its entry is present again */
static void restore_exclusive_pte(struct machine *m, const struct vma *vma, u32 pte, u32 page)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct folio *folio = m->folio + page_folio(m->s, page);
	pte_t orig = m->pte[pte];
	pte_t new = ops->pfn_pte(folio->pfn + (page - folio->page), vm_page_prot(vma));

	new = ops->mkold(new);
	if (ops->has_soft_dirty && ops->swp_soft_dirty(orig))
		new = ops->mksoft_dirty(new);
	if (ops->swp_uffd(orig))
		new = ops->mkuffd(new);
	if (vma->flags & VM_WRITE && can_change_pte_writable(m, vma, new)) {
		if (folio_flag(folio, PG_dirty))
			new = ops->mkdirty(new);
		new = ops->mkwrite(new);
	}
	m->arch->set_ptes(m, pte, new, 1);
}

/* mm/memory.c:try_restore_exclusive_pte. False: somebody has locked the folio. */
static bool try_restore_exclusive_pte(struct machine *m, const struct vma *vma, u32 pte, u32 page)
{
	const struct folio *folio = m->folio + page_folio(m->s, page);

	if (!folio_trylock(m, folio))
		return false;
	restore_exclusive_pte(m, vma, pte, page);
	folio_unlock(m, folio);
	return true;
}

/* A swap entry, no longer exclusive in the parent. False: its count needs a table. */
static bool copy_swap_pte(struct machine *m, struct copy *c, u32 src, pte_t *pte, u32 slot)
{
	if (m->kernel->swap_slots == SLOTS_TABLE ?
		    !swap_dup_entry_direct(m, slot) :
		    !swap_duplicate(m, slot, slot_page(m->s, slot)))
		return false;
	mm_prepare_for_swap_entries(m, c->dst->mm);
	if (m->arch->pte->swp_exclusive(*pte)) {
		*pte = m->arch->pte->swp_clear_exclusive(*pte);
		m->arch->set_ptes(m, src, *pte, 1);
	}
	c->swapents++;
	return true;
}

/* What the page's entries may allow once it is in place again: to read, in both. */
static void copy_migration_pte(struct machine *m, struct copy *c, u32 src, pte_t *pte)
{
	const struct pte_ops *ops = m->arch->pte;
	u32 read = migration_type(&m->kernel->types, MIGRATION_READ);
	pte_t new = ops->swp_entry(read, ops->swp_offset(*pte));

	c->anonpages++;
	if (ops->swp_type(*pte) == read)
		return;
	if (ops->has_soft_dirty && ops->swp_soft_dirty(*pte))
		new = ops->swp_mksoft_dirty(new);
	*pte = ops->swp_uffd(*pte) ? ops->swp_mkuffd(new) : new;
	m->arch->set_ptes(m, src, *pte, 1);
}

/* mm/memory.c:copy_nonpresent_pte. Markers that userfaultfd set are not for the child. */
static enum copy_stop copy_nonpresent_pte(struct machine *m, struct copy *c, u32 dst, u32 src)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct softleaf_types *types = &m->kernel->types;
	pte_t pte = m->arch->ptep_get(m, src);
	u32 slot = pte_slot(m, pte);
	u64 pfn;

	if (slot != NONE) {
		if (!copy_swap_pte(m, c, src, &pte, slot))
			return COPY_NEEDS_TABLE;
	} else if (softleaf_migration_pfn(ops, types, pte, &pfn)) {
		copy_migration_pte(m, c, src, &pte);
	} else if (pte_is_marker(ops, types, pte, MARKER_UFFD_WP)) {
		return COPIED;
	}
	m->arch->set_ptes(m, dst, ops->swp_clear_uffd(pte), 1);
	return COPIED;
}

/* The page that a device has to itself, or NONE. */
static u32 device_exclusive_page(const struct machine *m, pte_t pte)
{
	u64 pfn;

	return softleaf_device_exclusive_pfn(m->arch->pte, &m->kernel->types, pte, &pfn) ?
		       pfn_page(m->s, pfn) :
		       NONE;
}

/* One entry, or a run. *nr: how many. */
static enum copy_stop copy_pte(struct machine *m, struct copy *c, u32 dst, u32 src, u32 max,
			       u32 *nr)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t ptent = m->arch->ptep_get(m, src);
	u32 page;

	*nr = 1;
	if (ops->none(ptent))
		return COPIED;
	if (!ops->present(ptent)) {
		page = device_exclusive_page(m, ptent);
		if (page == NONE)
			return copy_nonpresent_pte(m, c, dst, src);
		if (!try_restore_exclusive_pte(m, c->src, src, page))
			return COPY_FAILED;
		ptent = m->arch->ptep_get(m, src);
	}
	*nr = copy_present_ptes(m, c, dst, src, ptent, max);
	if (*nr && c->prealloc) {
		folio_put(m, c->prealloc);
		c->prealloc = NULL;
	}
	return *nr ? COPIED : COPY_NEEDS_PAGE;
}

/* mm/memory.c:add_mm_rss_vec */
static void add_mm_rss(struct machine *m, struct copy *c)
{
	const struct mm *mm = m->mm + c->dst->mm;
	u32 nr = c->anonpages + c->swapents;

	if (!nr)
		return;
	put(m, &mm->anonpages, mm->anonpages + c->anonpages);
	put(m, &mm->swapents, mm->swapents + c->swapents);
	count(m, COUNT_mm_counter_op, (u32)(c->anonpages > 0) + (c->swapents > 0));
	step(m, EV_mm_counters_copied, NONE, nr);
	c->anonpages = c->swapents = 0;
}

static void lock_both(struct machine *m, u32 dst, u32 src)
{
	lock_pte_table(m, dst);
	pte_lock(m, src * PTRS_PER_PTE);
	put(m, &m->task->src_ptl, src);
}

static void unlock_both(struct machine *m)
{
	put(m, &m->task->src_ptl, NONE);
	unlock_pte_table(m);
}

/* With both locks: up to the end, or to where memory is needed. */
static enum copy_stop copy_locked(struct machine *m, struct copy *c, u64 *addr, u64 end)
{
	u32 dst = vma_pte(c->dst, *addr), src = vma_pte(c->src, *addr), nr;
	enum copy_stop stop = COPIED;

	lock_both(m, dst / PTRS_PER_PTE, src / PTRS_PER_PTE);
	while (*addr != end && stop == COPIED) {
		stop = copy_pte(m, c, dst, src, (u32)((end - *addr) >> PAGE_SHIFT), &nr);
		if (stop != COPIED)
			break;
		*addr += nr * PAGE_SIZE;
		dst += nr;
		src += nr;
	}
	put(m, &m->task->src_ptl, NONE);
	add_mm_rss(m, c);
	unlock_pte_table(m);
	return stop;
}

/* mm/memory.c:copy_pte_range. False: there is no memory. */
__mirrored bool copy_pte_range(struct machine *m, struct copy *c, u64 addr, u64 end)
{
	u32 table = vma_pte(c->dst, addr) / PTRS_PER_PTE;
	enum copy_stop stop = COPIED;

	enter(m, EV_copy_pte_range, NONE, (u32)((end - addr) >> PAGE_SHIFT));
	if (!m->table[table].populated)
		m->arch->pmd_populate(m, table);
	while (addr != end && stop != COPY_FAILED) {
		stop = copy_locked(m, c, &addr, end);
		if (stop == COPY_NEEDS_TABLE)
			swap_extend_table_alloc(m, pte_slot(m, m->pte[vma_pte(c->src, addr)]), NONE,
						false);
		if (stop != COPY_NEEDS_PAGE)
			continue;
		c->prealloc = folio_prealloc(m, false);
		if (!c->prealloc)
			stop = COPY_FAILED;
	}
	put(m, &m->task->folio, NONE);
	return stop != COPY_FAILED;
}

/* mm/huge_memory.c:copy_huge_pmd. False: a pinned page; the entry is split, go on with its PTEs. */
__mirrored bool copy_huge_pmd(struct machine *m, struct copy *c, u32 dst, u32 src)
{
	const struct pte_ops *ops = m->arch->pmd;
	const struct folio *folio = pmd_folio(m, src);
	pmd_t pmd;

	enter(m, EV_copy_huge_pmd, folio->page, PTRS_PER_PTE);
	put(m, &m->task->folio, folio_idx(m, folio));
	lock_both(m, dst, src);
	take_refs(m, folio, folio->page, 1);
	if (!folio_try_dup_anon_rmap_pmd(m, c, folio)) {
		drop_refs(m, folio, folio->page, 1);
		unlock_both(m);
		__split_huge_pmd(m, c->src, src, false);
		return false;
	}
	c->anonpages = PTRS_PER_PTE;
	add_mm_rss(m, c);
	pmdp_set_wrprotect(m, src);
	pmd = ops->clear_uffd(pmdp_get(m, src));
	set_pmd_at(m, dst, ops->mkold(ops->wrprotect(pmd)));
	put(m, &m->task->folio, NONE);
	unlock_both(m);
	return true;
}

/* mm/memory.c:copy_pmd_range, for one entry */
static bool copy_pmd(struct machine *m, struct copy *c, u64 start, u64 end)
{
	u32 dst = vma_pte(c->dst, start) / PTRS_PER_PTE;
	u32 src = vma_pte(c->src, start) / PTRS_PER_PTE;

	if (m->table[src].pmd && copy_huge_pmd(m, c, dst, src))
		return true;
	return !m->table[src].populated || copy_pte_range(m, c, start, end);
}

/* mm/memory.c:copy_page_range. False: there is no memory. */
__mirrored bool copy_page_range(struct machine *m, const struct vma *dst, const struct vma *src,
				bool has_pinned)
{
	struct copy c = { .dst = dst, .src = src, .has_pinned = has_pinned };
	u64 start = src->start;

	enter(m, EV_copy_page_range, NONE, (u32)((src->end - start) >> PAGE_SHIFT));
	for (u64 next; start < src->end; start = next) {
		next = (start | (PMD_SIZE - 1)) + 1;
		if (next > src->end)
			next = src->end;
		if (!copy_pmd(m, &c, start, next))
			return false;
	}
	return true;
}
