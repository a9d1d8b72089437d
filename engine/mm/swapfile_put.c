/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Swap entries go: the counts of their slots fall. A slot that nobody names and that no
 * folio is in is free; a run of such slots is freed at once. One that a folio is in stays
 * with count 0 until the folio leaves the swap cache.
 */
#include "mm/internal.h"

/* mm/swapfile.c:swap_only_has_cache: no entry names any of a folio's slots */
static bool swap_only_has_cache(struct machine *m, const struct folio *folio)
{
	const struct cluster *ci = swap_cluster_lock(m, folio->swap);
	bool unused = true;

	for (u32 i = 0; i < folio_nr_pages(folio); i++)
		unused &= !m->slot[folio->swap + i].count;
	swap_cluster_unlock(m, ci);
	return unused;
}

/* mm/swapfile.c:__try_to_reclaim_swap, TTRS_UNMAPPED | TTRS_FULL, the folio found and locked */
static bool reclaim_locked_folio(struct machine *m, const struct folio *folio)
{
	if (folio_mapped(folio) && !vm_swap_full(m))
		return false;
	if (!folio_flag(folio, PG_swapcache) || folio_flag(folio, PG_writeback))
		return false;
	if (!swap_only_has_cache(m, folio))
		return false;
	swap_cache_del_folio(m, folio);
	folio_set_flag(m, folio, PG_dirty);
	step(m, EV_folio_dirty_set, folio->page, 0);
	return true;
}

/*
 * mm/swapfile.c:__try_to_reclaim_swap: a slot was left with count 0; can its folio leave the
 * swap cache? Only tries the lock. Returns how many slots the folio has, 0 if none is there.
 */
__mirrored u32 __try_to_reclaim_swap(struct machine *m, u32 slot)
{
	const struct folio *folio;
	u32 nr_pages;

	enter(m, EV___try_to_reclaim_swap, slot_page(m->s, slot), slot);
	if (m->slot[slot].kind != SLOT_FOLIO)
		return 0;
	folio = m->folio + m->slot[slot].folio;
	if (!folio->refcount) /* frozen: the kernel tries again until it is out of the cache */
		return 0;
	nr_pages = folio_nr_pages(folio);
	folio_get(m, folio);
	if (folio_trylock(m, folio)) {
		reclaim_locked_folio(m, folio);
		folio_unlock(m, folio);
	}
	folio_put(m, folio);
	return nr_pages;
}

/* Count 1 and no folio: free when this entry goes. */
static bool last_of_uncached(const struct slot *slot)
{
	return slot->kind != SLOT_FOLIO && slot->count == 1;
}

/* mm/swapfile.c:swap_put_entries_cluster: one lock section, then the folios left behind */
__mirrored void swap_put_entries_cluster(struct machine *m, u32 slot, u32 nr)
{
	u32 end = slot + nr, run = 0;
	const struct cluster *ci;
	bool need_reclaim = false;

	count(m, COUNT_swap_free_lock, 1);
	enter(m, EV_swap_put_entries_cluster, slot_page(m->s, slot), nr);
	ci = swap_cluster_lock(m, slot);
	for (u32 i = slot; i < end; i++) {
		if (last_of_uncached(m->slot + i)) {
			run++;
			continue;
		}
		need_reclaim |= m->slot[i].count == 1;
		__swap_cluster_put_entry(m, ci, i, slot_page(m->s, i));
		if (run)
			__swap_cluster_free_entries(m, i - run, run);
		run = 0;
	}
	if (run)
		__swap_cluster_free_entries(m, end - run, run);
	swap_cluster_unlock(m, ci);
	while (need_reclaim && slot < end) {
		u32 pages = __try_to_reclaim_swap(m, slot++);

		if (pages)
			slot = (slot + pages - 1) / pages * pages;
	}
}

/* mm/swapfile.c:swap_put_entries_direct: cluster by cluster */
__mirrored void swap_put_entries_direct(struct machine *m, u32 slot, u32 nr)
{
	u32 first = m->device[slot_device(m->s, slot)].first_slot, end = slot + nr;

	enter(m, EV_swap_put_entries_direct, slot_page(m->s, slot), nr);
	count(m, COUNT_swap_device_ref, 1);
	for (u32 next; slot < end; slot = next) {
		next = first + (slot - first) / SWAPFILE_CLUSTER * SWAPFILE_CLUSTER +
		       SWAPFILE_CLUSTER;
		if (next > end)
			next = end;
		swap_put_entries_cluster(m, slot, next - slot);
	}
}
