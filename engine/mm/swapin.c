/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page comes back from the swap device: into a new folio that is in the swap cache before
 * its content is there, so that whoever needs it too finds it, and waits for its lock.
 */
#include "mm/internal.h"

/* mm/swap_state.c:swap_cache_get_folio: NULL if no folio is in the cache under that slot */
__mirrored const struct folio *swap_cache_get_folio(struct machine *m, u32 slot)
{
	const struct folio *folio;

	enter(m, EV_swap_cache_get_folio, slot_page(m->s, slot), slot);
	if (m->slot[slot].kind != SLOT_FOLIO) {
		step(m, EV_swap_cache_miss, NONE, slot);
		return NULL;
	}
	folio = m->folio + m->slot[slot].folio;
	folio_get(m, folio);
	return folio;
}

/* mm/swap_state.c:swap_cache_alloc_folio, order 0: locked, and without its content */
__mirrored const struct folio *swap_cache_alloc_folio(struct machine *m, u32 slot)
{
	const struct folio *folio;

	enter(m, EV_swap_cache_alloc_folio, NONE, slot);
	swap_cluster_unlock(m, swap_cluster_lock(m, slot));
	folio = vma_alloc_folio(m);
	if (!folio)
		return NULL;
	swap_cluster_lock(m, slot);
	folio_set_flag(m, folio, PG_locked);
	folio_set_flag(m, folio, PG_swapbacked);
	__swap_cache_do_add_folio(m, folio, slot);
	swap_cluster_unlock(m, swap_cluster(m, slot));
	folio_add_lru(m, folio);
	return folio;
}

/* mm/page_io.c:swap_read_folio. What is read is there on return. */
__mirrored void swap_read_folio(struct machine *m, const struct folio *folio)
{
	const struct slot *slot = m->slot + folio->swap;

	enter(m, EV_swap_read_folio, folio->page, 1);
	folio_set_flag(m, folio, PG_uptodate);
	page_fill(m, folio->page, slot->zero);
	if (slot->zero) {
		step(m, EV_folio_zeroed, folio->page, 0);
	} else {
		count(m, COUNT_folio_read, 1);
		step(m, EV_folio_read, folio->page, folio->swap);
	}
	folio_unlock(m, folio);
}

/* mm/swap_state.c:swapin_sync, and swapin_readahead() without reading ahead */
__mirrored const struct folio *swapin_sync(struct machine *m, u32 slot)
{
	const struct folio *folio;

	enter(m, EV_swapin_sync, NONE, slot);
	folio = swap_cache_get_folio(m, slot);
	if (folio)
		return folio;
	folio = swap_cache_alloc_folio(m, slot);
	if (folio)
		swap_read_folio(m, folio);
	return folio;
}
