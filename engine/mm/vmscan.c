/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reclaim of a list of folios. Each one's reference count tells who still knows it;
 * N pages, one process:
 *
 *	            maps   cache  isolated   refcount
 *	mapped        N                          N
 *	isolate       N              1         N+1
 *	slots         N      N       1        2N+1
 *	unmap         0      N       1         N+1
 *	freeze        0      0       0           0	one exchange, or the folio stays
 *
 * The LRU list itself holds no reference.
 */
#include "mm/internal.h"

enum folio_list folio_lru_list(const struct folio *folio)
{
	u32 list = folio_flag(folio, PG_swapbacked) ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE;

	if (folio_flag(folio, PG_unevictable))
		return LRU_UNEVICTABLE;
	return (enum folio_list)(list + folio_flag(folio, PG_active));
}

/* mm/vmscan.c:folio_isolate_lru */
__mirrored bool folio_isolate_lru(struct machine *m, const struct folio *folio)
{
	enter(m, EV_folio_isolate_lru, folio->page, 0);
	if (!folio_flag(folio, PG_lru))
		return false;
	folio_clear_flag(m, folio, PG_lru);
	folio_set_flag(m, folio, PG_isolated);
	folio_ref_add(m, folio, 1);
	list_del(m, folio);
	step(m, EV_folio_isolated, folio->page, 1);
	return true;
}

/* mm/folio-compat.c:isolate_lru_page */
__mirrored bool isolate_lru_page(struct machine *m, const struct folio *folio)
{
	enter(m, EV_isolate_lru_page, folio->page, 0);
	return folio_isolate_lru(m, folio);
}

/* mm/vmscan.c:folio_putback_lru */
__mirrored void folio_putback_lru(struct machine *m, const struct folio *folio)
{
	enter(m, EV_folio_putback_lru, folio->page, 0);
	if (folio_flag(folio, PG_mlocked)) {
		folio_clear_flag(m, folio, PG_active);
		folio_set_flag(m, folio, PG_unevictable);
	}
	list_add(m, folio, folio_lru_list(folio));
	folio_set_flag(m, folio, PG_lru);
	folio_clear_flag(m, folio, PG_isolated);
	folio_ref_sub(m, folio, 1);
	step(m, EV_folio_put_back, folio->page, 0);
	if (!folio->refcount)
		__folio_put(m, folio);
}

/* mm/vmscan.c:pageout, anonymous folios */
__mirrored enum pageout pageout(struct machine *m, const struct folio *folio)
{
	u32 expected = 1 + folio_nr_pages(folio);

	enter(m, EV_pageout, folio->page, 0);
	if (folio->refcount != expected) {
		step(m, EV_refcount_not_alone, folio->page, expected);
		return PAGE_KEEP;
	}
	step(m, EV_refcount_alone, folio->page, expected);
	if (!folio_clear_dirty_for_io(m, folio))
		return PAGE_CLEAN;
	folio_set_flag(m, folio, PG_reclaim);
	step(m, EV_folio_reclaim_set, folio->page, 0);
	if (m->kernel->swap_names == SWAP_ADD_TO_SWAP)
		swap_writepage(m, folio);
	else
		swap_writeout(m, folio);
	if (!folio_flag(folio, PG_writeback) && folio_flag(folio, PG_reclaim)) {
		folio_clear_flag(m, folio, PG_reclaim);
		step(m, EV_folio_reclaim_cleared, folio->page, 0);
	}
	return PAGE_SUCCESS;
}

/* What finds the folio: the swap cache, or its file's page cache. */
static void cache_lock(struct machine *m, const struct folio *folio)
{
	if (folio_flag(folio, PG_swapcache))
		swap_cache_lock(m, folio->swap);
	else
		step(m, EV_i_pages_locked, folio->page, 0);
}

static void cache_unlock(struct machine *m, bool swapcache, u32 slot)
{
	if (swapcache)
		swap_cache_unlock(m, slot);
	else
		step(m, EV_i_pages_unlocked, NONE, 0);
}

/* mm/vmscan.c:__remove_mapping. Refcount first, dirty second. */
__mirrored bool __remove_mapping(struct machine *m, const struct folio *folio)
{
	u32 expected = 1 + folio_nr_pages(folio), slot = folio->swap;
	bool early = bug(m, BUG_dirty_before_refcount), dirty = false;
	bool swapcache = folio_flag(folio, PG_swapcache);

	enter(m, EV___remove_mapping, folio->page, !swapcache);
	cache_lock(m, folio);
	if (early) {
		dirty = folio_flag(folio, PG_dirty);
		step(m, EV_folio_dirty_read, folio->page, dirty);
	}
	if (folio->refcount != expected) {
		step(m, EV_folio_ref_freeze_failed, folio->page, expected);
		cache_unlock(m, swapcache, slot);
		return false;
	}
	put(m, &folio->refcount, 0);
	count(m, COUNT_ref_op, 1);
	step(m, EV_folio_ref_frozen, folio->page, expected);
	if (!early)
		dirty = folio_flag(folio, PG_dirty);
	if (dirty) {
		put(m, &folio->refcount, expected);
		step(m, EV_folio_dirtied_meanwhile, folio->page, expected);
		cache_unlock(m, swapcache, slot);
		return false;
	}
	folio_clear_flag(m, folio, PG_isolated);
	if (swapcache)
		swap_cache_forget(m, folio);
	else
		__filemap_remove_folio(m, folio);
	cache_unlock(m, swapcache, slot);
	if (swapcache && m->kernel->swap_slots == SLOTS_MAP)
		put_swap_folio(m, folio, slot);
	return true;
}

/* A lazyfree folio is in no cache: only reclaim's own reference may be left. */
static bool freeze_lazyfree(struct machine *m, const struct folio *folio)
{
	if (folio->refcount != 1) {
		step(m, EV_folio_ref_freeze_failed, folio->page, 1);
		return false;
	}
	put(m, &folio->refcount, 0);
	count(m, COUNT_ref_op, 1);
	folio_clear_flag(m, folio, PG_isolated);
	step(m, EV_folio_ref_frozen, folio->page, 1);
	return true;
}

/*
 * The body of shrink_folio_list()'s loop, cut where a folio enters the next phase. Each
 * part says how to go on: the kernel's labels.
 */
enum label { GO_ON, KEEP, KEEP_LOCKED, ACTIVATE_LOCKED, LATER };

/* Lock it; is it one that reclaim may take? */
static enum label lock_and_look(struct machine *m, const struct folio *folio)
{
	if (!folio_trylock(m, folio))
		return KEEP;
	if (!folio_evictable(folio))
		return ACTIVATE_LOCKED;
	if (folio_flag(folio, PG_writeback)) {
		folio_set_flag(m, folio, PG_reclaim);
		step(m, EV_folio_reclaim_set, folio->page, 0);
		return ACTIVATE_LOCKED;
	}
	return GO_ON;
}

static enum label check_references(struct machine *m, const struct folio *folio)
{
	static const enum label labels[] = {
		[FOLIOREF_RECLAIM] = GO_ON,
		[FOLIOREF_KEEP] = KEEP_LOCKED,
		[FOLIOREF_ACTIVATE] = ACTIVATE_LOCKED,
	};

	return labels[folio_check_references(m, folio)];
}

/* References beside its mappings and reclaim's own: it could not be split, nor swapped out. */
static bool has_extra_refs(struct machine *m, const struct folio *folio)
{
	if (m->kernel->swap_slots == SLOTS_MAP)
		return !can_split_folio(m, folio);
	if (folio_expected_ref_count(folio) == folio->refcount - 1)
		return false;
	step(m, EV_folio_refs_extra, folio->page, folio->refcount);
	return true;
}

static bool swap_add(struct machine *m, const struct folio *folio)
{
	if (m->kernel->swap_names == SWAP_ADD_TO_SWAP)
		return add_to_swap(m, folio);
	if (folio_alloc_swap(m, folio) == NONE)
		return false;
	/* A PTE may be clean while the content exists nowhere else. */
	folio_mark_dirty(m, folio);
	return true;
}

/* Some of its pages may be mapped no more, and freed without being written: 6.1 guesses. */
static bool better_split(const struct machine *m, const struct folio *folio)
{
	if (m->kernel->page_api == API_PAGE)
		return !folio->entire_mapcount;
	return folio_flag(folio, PG_deferred_list) && folio_flag(folio, PG_partially_mapped);
}

/* An anonymous folio that is not in the swap cache yet gets its slots, or is split for it. */
static enum label alloc_slots(struct machine *m, const struct folio *folio, enum folio_list list)
{
	if (!folio_flag(folio, PG_anon) || !folio_flag(folio, PG_swapbacked) ||
	    folio_flag(folio, PG_swapcache))
		return GO_ON;
	if (folio_maybe_dma_pinned(m, folio, folio->page))
		return KEEP_LOCKED;
	if (folio_test_large(folio)) {
		if (has_extra_refs(m, folio))
			return ACTIVATE_LOCKED;
		if (better_split(m, folio) && !split_folio_to_list(m, folio, list))
			return ACTIVATE_LOCKED;
	}
	if (bug(m, BUG_slots_forgotten))
		return GO_ON;
	if (swap_add(m, folio))
		return GO_ON;
	if (!folio_test_large(folio) || !split_folio_to_list(m, folio, list))
		return ACTIVATE_LOCKED;
	count(m, COUNT_swpout_fallback, 1);
	return swap_add(m, folio) ? GO_ON : ACTIVATE_LOCKED;
}

static enum label unmap(struct machine *m, const struct folio *folio)
{
	enter_phase(m, PHASE_unmap);
	if (!folio_mapped(folio))
		return GO_ON;
	try_to_unmap(m, folio, reclaim_ttu_flags(m, folio));
	return folio_mapped(folio) ? ACTIVATE_LOCKED : GO_ON;
}

static void flush_dirty(struct machine *m)
{
	enter_phase(m, PHASE_flush);
	if (!bug(m, BUG_no_flush_before_write))
		try_to_unmap_flush_dirty(m);
}

static enum label write_out(struct machine *m, const struct folio *folio)
{
	enter_phase(m, PHASE_write);
	switch (pageout(m, folio)) {
	case PAGE_KEEP:
		return KEEP_LOCKED;
	case PAGE_CLEAN:
		return GO_ON;
	case PAGE_SUCCESS:
		break;
	}
	if (folio_flag(folio, PG_writeback) || folio_flag(folio, PG_dirty) ||
	    !folio_trylock(m, folio))
		return KEEP;
	return folio_flag(folio, PG_writeback) || folio_flag(folio, PG_dirty) ? KEEP_LOCKED : GO_ON;
}

static enum label wait_for_flush(struct machine *m, const struct folio *folio)
{
	enter_phase(m, PHASE_flush);
	if (m->kernel->dirty_flush == DIRTY_FLUSH_BATCH)
		folio_unlock(m, folio);
	list_add_tail(m, folio, LIST_PAGEOUT);
	step(m, EV_folio_waits_for_flush, folio->page, m->s->list[LIST_PAGEOUT].nr);
	return LATER;
}

/* Nobody maps it now. Has it to be written, and when? */
static enum label flush_and_write(struct machine *m, const struct folio *folio)
{
	if (folio_maybe_dma_pinned(m, folio, folio->page))
		return ACTIVATE_LOCKED;
	if (!folio_flag(folio, PG_dirty))
		return GO_ON;
	if (!folio_flag(folio, PG_swapbacked)) {
		folio_set_flag(m, folio, PG_reclaim);
		step(m, EV_folio_reclaim_set, folio->page, 0);
		return ACTIVATE_LOCKED;
	}
	if (m->kernel->dirty_flush != DIRTY_FLUSH_EACH)
		return wait_for_flush(m, folio);
	flush_dirty(m);
	return write_out(m, folio);
}

static void flush_and_free(struct machine *m)
{
	if (!bug(m, BUG_no_flush_before_free))
		try_to_unmap_flush(m);
	free_folios(m, LIST_FREE);
}

/* Freed at once if it is large, else with all others when the list has been gone through. */
static void free_as_pages(struct machine *m, const struct folio *folio)
{
	if (!folio_test_large(folio)) {
		list_add_tail(m, folio, LIST_FREE);
		step(m, EV_folio_free_queued, folio->page, m->s->list[LIST_FREE].nr);
		return;
	}
	if (!bug(m, BUG_no_flush_before_free))
		try_to_unmap_flush(m);
	free_frozen_pages(m, folio);
}

/* Out of its cache, and no reference left. */
static bool let_go(struct machine *m, const struct folio *folio)
{
	const u32 cached = 1u << PG_swapcache | 1u << PG_pagecache;

	if (folio_flag(folio, PG_anon) && !folio_flag(folio, PG_swapbacked))
		return freeze_lazyfree(m, folio);
	return folio->flags & cached && __remove_mapping(m, folio);
}

static enum label free_it(struct machine *m, const struct folio *folio)
{
	enter_phase(m, PHASE_free);
	if (!let_go(m, folio))
		return KEEP_LOCKED;
	folio_unlock(m, folio);
	if (folio_flag(folio, PG_deferred_list))
		__folio_unqueue_deferred_split(m, folio);
	if (m->kernel->page_api == API_PAGE) {
		free_as_pages(m, folio);
		return GO_ON;
	}
	list_add_tail(m, folio, LIST_FREE);
	step(m, EV_folio_free_queued, folio->page, m->s->list[LIST_FREE].nr);
	if (m->s->list[LIST_FREE].nr == FOLIO_BATCH_SIZE)
		flush_and_free(m);
	return GO_ON;
}

bool vm_swap_full(const struct machine *m)
{
	u32 inuse = 0, total = 0;

	for (u32 i = 0; i < m->s->nr[ARRAY_DEVICE]; i++) {
		inuse += m->device[i].inuse;
		total += m->device[i].nr_slots - 1;
	}
	return (total - inuse) * 2 < total;
}

/* The label activate_locked: not a candidate for swapping, so its slots may be of use. */
static void activate_locked(struct machine *m, const struct folio *folio)
{
	if (folio_flag(folio, PG_swapcache) && (vm_swap_full(m) || folio_flag(folio, PG_mlocked)))
		folio_free_swap(m, folio);
	if (folio_flag(folio, PG_mlocked))
		return;
	folio_set_flag(m, folio, PG_active);
	step(m, EV_folio_activated, folio->page, 0);
}

/* It was not kept so far. How many of its pages are on their way to the page allocator. */
static u32 finish(struct machine *m, const struct folio *folio, enum label label)
{
	if (label == GO_ON)
		label = free_it(m, folio);
	if (label == GO_ON)
		return folio_nr_pages(folio);
	if (label == ACTIVATE_LOCKED)
		activate_locked(m, folio);
	if (label != KEEP)
		folio_unlock(m, folio);
	list_add(m, folio, LIST_RET);
	step(m, EV_folio_kept, folio->page, 0);
	return 0;
}

/* Was it found again while it waited? What was not locked may be anybody's by now. */
static enum label look_again(struct machine *m, const struct folio *folio)
{
	bool unlocked = m->kernel->dirty_flush == DIRTY_FLUSH_BATCH, in_use;

	if (unlocked && !folio_trylock(m, folio))
		return KEEP;
	in_use = unlocked ? folio_flag(folio, PG_writeback) ||
				    folio_maybe_dma_pinned(m, folio, folio->page) :
			    folio_flag(folio, PG_active);
	if (!in_use && !folio_mapped(folio))
		return GO_ON;
	step(m, EV_folio_in_use_again, folio->page, 0);
	return KEEP_LOCKED;
}

static const struct folio *take_waiting(struct machine *m)
{
	const struct folio *folio = m->folio + m->s->list[LIST_PAGEOUT].first;

	put(m, &m->task->folio, folio_idx(m, folio));
	list_del(m, folio);
	return folio;
}

static void lock_waiting(struct machine *m)
{
	for (u32 left = m->s->list[LIST_PAGEOUT].nr; left; left--) {
		const struct folio *folio = take_waiting(m);
		enum label label = look_again(m, folio);

		if (label == GO_ON)
			list_add_tail(m, folio, LIST_PAGEOUT);
		else
			finish(m, folio, label);
	}
}

/* One flush for all that wait; then each is written out and freed. */
static u32 write_out_waiting(struct machine *m)
{
	bool locked = m->kernel->dirty_flush == DIRTY_FLUSH_LIST;
	bool late = bug(m, BUG_flush_after_first_write);
	u32 nr_reclaimed = 0;

	if (!locked)
		lock_waiting(m);
	if (!list_empty(m, LIST_PAGEOUT) && !late)
		flush_dirty(m);
	while (!list_empty(m, LIST_PAGEOUT)) {
		const struct folio *folio = take_waiting(m);
		enum label label = locked ? look_again(m, folio) : GO_ON;

		if (label == GO_ON)
			label = write_out(m, folio);
		nr_reclaimed += finish(m, folio, label);
		if (late)
			flush_dirty(m);
		late = false;
	}
	return nr_reclaimed;
}

/* How many of its pages, and of those that waited for a flush, are on their way. */
static u32 shrink_folio(struct machine *m, const struct folio *folio, enum folio_list list,
			bool ignore_references)
{
	enum label label;

	enter_phase(m, PHASE_slots);
	label = lock_and_look(m, folio);
	if (label == GO_ON && !ignore_references)
		label = check_references(m, folio);
	if (label == GO_ON)
		label = alloc_slots(m, folio, list);
	if (label == GO_ON)
		label = unmap(m, folio);
	if (label == GO_ON)
		label = flush_and_write(m, folio);
	if (label != LATER)
		return finish(m, folio, label);
	if (m->kernel->dirty_flush == DIRTY_FLUSH_BATCH &&
	    m->s->list[LIST_PAGEOUT].nr == FOLIO_BATCH_SIZE)
		return write_out_waiting(m);
	return 0;
}

/* mm/vmscan.c:shrink_folio_list, no demotion */
__mirrored u32 shrink_folio_list(struct machine *m, enum folio_list list, bool ignore_references)
{
	u32 nr_reclaimed = 0;

	enter(m, EV_shrink_folio_list, NONE, m->s->list[list].nr);
	while (!list_empty(m, list)) {
		const struct folio *folio = lru_to_folio(m, list);

		put(m, &m->task->folio, folio_idx(m, folio));
		list_del(m, folio);
		nr_reclaimed += shrink_folio(m, folio, list, ignore_references);
	}
	nr_reclaimed += write_out_waiting(m);
	put(m, &m->task->folio, NONE);
	enter_phase(m, PHASE_free);
	flush_and_free(m);
	while (!list_empty(m, LIST_RET))
		list_move(m, lru_to_folio(m, LIST_RET), list);
	return nr_reclaimed;
}

/* mm/vmscan.c:reclaim_folio_list */
__mirrored u32 reclaim_folio_list(struct machine *m, enum folio_list list)
{
	u32 nr_reclaimed;

	enter(m, EV_reclaim_folio_list, NONE, m->s->list[list].nr);
	nr_reclaimed = shrink_folio_list(m, list,
					 m->kernel->pageout_young == PAGEOUT_IGNORES_YOUNG);
	while (!list_empty(m, list)) {
		const struct folio *folio = lru_to_folio(m, list);

		list_del(m, folio);
		folio_putback_lru(m, folio);
	}
	return nr_reclaimed;
}

/* mm/vmscan.c:reclaim_pages, one memory node. Two reversals of the list cancel out. */
__mirrored u32 reclaim_pages(struct machine *m)
{
	enter(m, EV_reclaim_pages, NONE, m->s->list[LIST_FOLIO_LIST].nr);
	if (list_empty(m, LIST_FOLIO_LIST))
		return 0;
	while (!list_empty(m, LIST_FOLIO_LIST)) {
		const struct folio *folio = lru_to_folio(m, LIST_FOLIO_LIST);

		if (folio_flag(folio, PG_active)) {
			folio_clear_flag(m, folio, PG_active);
			step(m, EV_folio_active_cleared, folio->page, 0);
		}
		list_move(m, folio, LIST_NODE);
		step(m, EV_folio_listed, folio->page, 0);
	}
	return reclaim_folio_list(m, LIST_NODE);
}
