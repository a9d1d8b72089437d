/* SPDX-License-Identifier: GPL-2.0-only */
/* mm/filemap.c and mm/page-writeback.c: a folio's lock, its dirty and writeback flags. */
#include "mm/internal.h"

bool folio_trylock(struct machine *m, const struct folio *folio)
{
	if (folio_flag(folio, PG_locked)) {
		step(m, EV_folio_trylock_failed, folio->page, 0);
		return false;
	}
	folio_set_flag(m, folio, PG_locked);
	step(m, EV_folio_trylock, folio->page, 0);
	return true;
}

/* mm/filemap.c:folio_unlock */
__mirrored void folio_unlock(struct machine *m, const struct folio *folio)
{
	enter(m, EV_folio_unlock, folio->page, 0);
	folio_clear_flag(m, folio, PG_locked);
	step(m, EV_folio_unlocked, folio->page, 0);
}

/* mm/folio.c:folio_rotate_reclaimable: to where reclaim looks first, the inactive list's tail */
static void folio_rotate_reclaimable(struct machine *m, const struct folio *folio)
{
	const u32 barred = 1u << PG_locked | 1u << PG_dirty | 1u << PG_unevictable;

	if (!folio_flag(folio, PG_lru) || folio->flags & barred)
		return;
	list_del(m, folio);
	folio_clear_flag(m, folio, PG_active);
	list_add_tail(m, folio, folio_lru_list(folio));
}

/* mm/filemap.c:folio_end_writeback */
__mirrored void folio_end_writeback(struct machine *m, const struct folio *folio)
{
	enter(m, EV_folio_end_writeback, folio->page, 0);
	if (folio_flag(folio, PG_reclaim)) {
		folio_clear_flag(m, folio, PG_reclaim);
		folio_rotate_reclaimable(m, folio);
	}
	folio_clear_flag(m, folio, PG_writeback);
	step(m, EV_folio_writeback_cleared, folio->page, 0);
}

/* mm/page-writeback.c:folio_mark_dirty */
__mirrored void folio_mark_dirty(struct machine *m, const struct folio *folio)
{
	enum event event = folio_flag(folio, PG_dirty) ? EV_folio_still_dirty : EV_folio_dirty_set;

	count(m, COUNT_folio_mark_dirty, 1);
	enter(m, EV_folio_mark_dirty, folio->page, 0);
	if (folio_flag(folio, PG_reclaim))
		folio_clear_flag(m, folio, PG_reclaim);
	folio_set_flag(m, folio, PG_dirty);
	step(m, event, folio->page, 0);
}

/* mm/page-writeback.c:folio_clear_dirty_for_io */
__mirrored bool folio_clear_dirty_for_io(struct machine *m, const struct folio *folio)
{
	bool was_dirty = folio_flag(folio, PG_dirty);

	enter(m, EV_folio_clear_dirty_for_io, folio->page, 0);
	if (was_dirty) {
		folio_clear_flag(m, folio, PG_dirty);
		step(m, EV_folio_dirty_cleared, folio->page, 0);
	}
	return was_dirty;
}

/* mm/filemap.c:__filemap_remove_folio. The page cache's references are the caller's to drop. */
__mirrored void __filemap_remove_folio(struct machine *m, const struct folio *folio)
{
	enter(m, EV___filemap_remove_folio, folio->page, folio_nr_pages(folio));
	folio_clear_flag(m, folio, PG_pagecache);
	step(m, EV_page_cache_shadow_stored, folio->page, folio_nr_pages(folio));
}
