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
#include "arch/pgtable_generic.h"
#include "mm/internal.h"

static void set_swapbacked(struct machine *m, const struct folio *folio)
{
	folio_set_flag(m, folio, PG_swapbacked);
	step(m, EV_folio_swapbacked_set, folio->page, 0);
}

/* Nobody may have what was written since, unless it is in memory that may be dropped. */
static bool must_stay(struct machine *m, const struct folio *folio, const struct vma *vma,
		      pmd_t pmd)
{
	bool aborts = m->kernel->pmd_lazyfree == PMD_LAZYFREE_ABORT, dirty;

	if (aborts && m->arch->pmd->dirty(pmd) && !folio_flag(folio, PG_dirty)) {
		folio_set_flag(m, folio, PG_dirty);
		step(m, EV_folio_dirty_set, folio->page, 0);
	}
	dirty = folio_flag(folio, PG_dirty) || m->arch->pmd->dirty(pmd);
	step(m, EV_pmd_dirty_read, folio->page, dirty);
	if (!dirty || (aborts && vma->flags & VM_DROPPABLE))
		return false;
	if (aborts)
		set_swapbacked(m, folio);
	return true;
}

static bool only_mapped_here(struct machine *m, const struct folio *folio, u32 *refs)
{
	u32 expected = folio->mapcount + 1;

	count(m, COUNT_smp_mb, 1);
	step(m, EV_smp_mb_before_refcount, folio->page, 0);
	*refs = folio->refcount;
	step(m, EV_refcount_read, folio->page, *refs);
	step(m, EV_smp_rmb_before_dirty, folio->page, 0);
	return *refs == expected;
}

/* mm/huge_memory.c:__discard_anon_folio_pmd_locked */
static bool discard_anon_folio_pmd(struct machine *m, const struct folio *folio,
				   const struct vma *vma, u32 table)
{
	const struct mm *mm = m->mm + vma->mm;
	u32 refs, expected = folio->mapcount + 1;
	bool alone;
	pmd_t old;

	if (must_stay(m, folio, vma, pmdp_get(m, table)))
		return false;
	old = pmdp_huge_clear_flush(m, vma_idx(m, vma), table);
	alone = only_mapped_here(m, folio, &refs);
	if (must_stay(m, folio, vma, old)) {
		set_pmd_at(m, table, old);
		return false;
	}
	step(m, alone ? EV_refcount_alone : EV_refcount_not_alone, folio->page, expected);
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

/* mm/huge_memory.c:unmap_huge_pmd_locked (6.16) */
__mirrored bool unmap_huge_pmd_locked(struct machine *m, const struct folio *folio,
				      const struct vma *vma, u32 table)
{
	enter(m, EV_unmap_huge_pmd_locked, folio->page, PTRS_PER_PTE);
	if (!folio_flag(folio, PG_anon) || folio_flag(folio, PG_swapbacked))
		return false;
	return discard_anon_folio_pmd(m, folio, vma, table);
}
