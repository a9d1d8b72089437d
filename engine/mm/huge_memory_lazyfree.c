/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Discarding a lazyfree folio that one huge entry maps, without splitting that entry:
 *
 *	is the entry, or the folio, dirty?	somebody has written since MADV_FREE: keep it
 *	clear the entry, flush			a CPU that wrote meanwhile left its mark in it
 *	read refcount and mapcount, then dirty	does anybody else hold it, did anybody write?
 *	yes: the entry is written back		no: 512 pages go at once
 *
 * 6.11 to 6.14 split the entry where this fails. From 6.15 on unmapping ends there instead:
 * a folio that was written to is swapbacked again, and keeps its huge mapping.
 */
#include "arch/mmu_gather.h"
#include "arch/pgtable_generic.h"
#include "mm/internal.h"

static void set_swapbacked(struct machine *m, const struct folio *folio)
{
	folio_set_flag(m, folio, PG_swapbacked);
	step(m, EV_folio_swapbacked_set, folio->page, 0);
}

/*
 * What was written since, as the folio's flag or the entry tells, must not be lost, unless it is
 * in memory that may be dropped.
 */
static bool must_stay(struct machine *m, const struct folio *folio, const struct vma *vma,
		      pmd_t pmd, bool dirty)
{
	bool aborts = m->kernel->pmd_lazyfree == PMD_LAZYFREE_ABORT;

	if (aborts && m->arch->pmd->dirty(pmd) && !folio_flag(folio, PG_dirty)) {
		folio_set_flag(m, folio, PG_dirty);
		step(m, EV_folio_dirty_set, folio->page, 0);
	}
	dirty |= m->arch->pmd->dirty(pmd);
	step(m, EV_pmd_dirty_read, folio->page, dirty);
	if (!dirty || (aborts && vma->flags & VM_DROPPABLE))
		return false;
	if (aborts)
		set_swapbacked(m, folio);
	return true;
}

/* mm/huge_memory.c:__discard_anon_folio_pmd_locked */
static bool discard_anon_folio_pmd(struct machine *m, const struct folio *folio,
				   const struct vma *vma, u32 table)
{
	const struct mm *mm = m->mm + vma->mm;
	bool alone, dirty;
	pmd_t old;

	if (must_stay(m, folio, vma, pmdp_get(m, table), folio_flag(folio, PG_dirty)))
		return false;
	old = pmdp_huge_clear_flush(m, vma_idx(m, vma), table);
	alone = lazyfree_alone(m, folio, folio->page, &dirty);
	if (!bug(m, BUG_pmd_dirty_once) && must_stay(m, folio, vma, old, dirty)) {
		set_pmd_at(m, table, old);
		return false;
	}
	if (alone)
		note_dropped(m, folio, vma, m->arch->pmd->dirty(old));
	step(m, alone ? EV_refcount_alone : EV_refcount_not_alone, folio->page,
	     1 + folio->mapcount);
	if (!alone) {
		set_pmd_at(m, table, old);
		return false;
	}
	folio_remove_rmap_pmd(m, folio);
	put(m, &mm->anonpages, mm->anonpages - PTRS_PER_PTE);
	count(m, COUNT_mm_counter_op, 1);
	step(m, EV_mm_counter_lowered, folio->page, PTRS_PER_PTE);
	folio_put_refs(m, folio, folio->page, 1);
	return true;
}

/*
 * mm/huge_memory.c:madvise_free_huge_pmd: MADV_FREE of what a huge entry maps. False: there is
 * none now, or it is left alone. A part of it alone cannot be lazyfree: the folio is split.
 */
__mirrored bool madvise_free_huge_pmd(struct machine *m, struct mmu_gather *tlb,
				      const struct vma *vma, u32 table, u64 addr, u64 end)
{
	const struct pte_ops *ops = m->arch->pmd;
	const struct folio *folio = pmd_folio(m, table);
	pmd_t pmd;

	enter(m, EV_madvise_free_huge_pmd, folio->page, (u32)((end - addr) >> PAGE_SHIFT));
	put(m, &m->task->folio, folio_idx(m, folio));
	lock_pte_table(m, table);
	pmd = pmdp_get(m, table);
	if (mapped_shared(m, folio) || !folio_trylock(m, folio)) {
		unlock_pte_table(m);
		return false;
	}
	if (end - addr != PMD_SIZE) {
		unlock_pte_table(m);
		split_folio_locked(m, folio);
		return false;
	}
	if (folio_flag(folio, PG_dirty)) {
		folio_clear_flag(m, folio, PG_dirty);
		step(m, EV_folio_dirty_cleared, folio->page, 0);
	}
	folio_unlock(m, folio);
	if (ops->young(pmd) || ops->dirty(pmd)) {
		pmdp_invalidate(m, vma_idx(m, vma), table);
		set_pmd_at(m, table, ops->mkclean(ops->mkold(pmd)));
		tlb_remove_pmd_tlb_entry(m, tlb, m->table[table].va);
	}
	mark_lazyfree(m, folio);
	unlock_pte_table(m);
	return true;
}

/* mm/huge_memory.c:unmap_huge_pmd_locked (6.16) */
__mirrored bool unmap_huge_pmd_locked(struct machine *m, const struct folio *folio,
				      const struct vma *vma, u32 table)
{
	enter(m, EV_unmap_huge_pmd_locked, folio->page, PTRS_PER_PTE);
	if (!folio_flag(folio, PG_anon) || folio_flag(folio, PG_swapbacked))
		return false;
	return discard_anon_folio_pmd(m, folio, vma, table);
}
