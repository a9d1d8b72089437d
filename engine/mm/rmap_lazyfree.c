/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Discarding a lazyfree folio: MADV_FREE has said that nobody needs its content, unless
 * somebody writes to it again. Nothing is written to a device; the PTEs stay empty.
 *
 *	PTEs cleared          a CPU that wrote before left its mark in them
 *	smp_mb                GUP-fast takes a reference, then looks at the PTE again
 *	read the refcount     does anybody else hold it?
 *	smp_rmb
 *	read the dirty flag   did anybody write? Who does so lets go of it last
 */
#include "mm/internal.h"

enum verdict { DISCARD, REDIRTIED, HELD };

bool lazyfree_alone(struct machine *m, const struct folio *folio, u32 page, bool *dirty)
{
	bool early = bug(m, BUG_dirty_before_refcount);
	u32 refs, expected = 1 + folio->mapcount;

	if (early) {
		*dirty = folio_flag(folio, PG_dirty);
		step(m, EV_folio_dirty_read, page, *dirty);
	}
	count(m, COUNT_smp_mb, 1);
	step(m, EV_smp_mb_before_refcount, page, 0);
	refs = folio->refcount;
	step(m, EV_refcount_read, page, refs);
	if (!early) {
		step(m, EV_smp_rmb_before_dirty, page, 0);
		*dirty = folio_flag(folio, PG_dirty);
	}
	return refs == expected;
}

void note_dropped(struct machine *m, const struct folio *folio, const struct vma *vma, bool dirty)
{
	dirty |= folio_flag(folio, PG_dirty);
	put(m, &m->task->dropped_dirty, dirty && !(vma->flags & VM_DROPPABLE));
}

static enum verdict look(struct machine *m, const struct folio *folio, const struct vma *vma,
			 u32 page)
{
	bool dirty, alone = lazyfree_alone(m, folio, page, &dirty);

	if (dirty && !(vma->flags & VM_DROPPABLE)) {
		step(m, EV_lazyfree_redirtied, page, 0);
		return REDIRTIED;
	}
	if (alone)
		note_dropped(m, folio, vma, m->task->run.dirty);
	step(m, alone ? EV_refcount_alone : EV_refcount_not_alone, page, 1 + folio->mapcount);
	return alone ? DISCARD : HELD;
}

static void folio_set_swapbacked(struct machine *m, const struct folio *folio)
{
	folio_set_flag(m, folio, PG_swapbacked);
	step(m, EV_folio_swapbacked_set, folio->page, 0);
}

/* mm/rmap.c:ttu_anon_lazyfree_folio. False: the caller restores the PTEs. */
__mirrored bool ttu_anon_lazyfree_folio(struct machine *m, const struct folio *folio,
					const struct vma *vma, u32 page, u32 nr)
{
	enum verdict verdict;

	enter(m, EV_ttu_anon_lazyfree_folio, page, nr);
	verdict = look(m, folio, vma, page);
	if (verdict == REDIRTIED)
		folio_set_swapbacked(m, folio);
	if (verdict == DISCARD)
		sub_mm_counter(m, vma->mm, folio, page, nr);
	return verdict == DISCARD;
}

bool discard_lazyfree(struct machine *m, const struct folio *folio, const struct vma *vma,
		      u32 page, u32 nr)
{
	if (look(m, folio, vma, page) != DISCARD)
		return false;
	sub_mm_counter(m, vma->mm, folio, page, nr);
	return true;
}

void lazyfree_restored(struct machine *m, const struct folio *folio, const struct vma *vma)
{
	if (vma->flags & VM_DROPPABLE || folio_flag(folio, PG_swapbacked))
		return;
	if (folio_flag(folio, PG_dirty) || m->kernel->lazyfree_kept == LAZYFREE_KEPT_SWAPBACKED)
		folio_set_swapbacked(m, folio);
}
