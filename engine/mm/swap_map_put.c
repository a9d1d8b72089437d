/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Swap entries go, up to 6.16: the bytes of swap_map fall.
 *
 *	6.1		each entry on its own
 *	6.11		a run is found in the page table, but its slots go one by one
 *	6.12, 6.16	a run whose bytes are all alike goes at once, any other one by one
 *
 * Afterwards the folios are looked at whose slots have no user left but the swap cache.
 */
#include "mm/internal.h"

static void put_slots(struct machine *m, u32 slot, u32 nr)
{
	for (u32 i = slot; i < slot + nr; i++)
		__swap_entry_free(m, i, slot_page(m->s, i));
}

/* mm/swapfile.c:__swap_entries_free (6.12) */
static void put_uniform(struct machine *m, u32 slot, u32 nr)
{
	u32 first = m->device[slot_device(m->s, slot)].first_slot;
	const struct cluster *ci;
	bool alike, free = false;

	if (nr <= 1 || m->slot[slot].count != 1 ||
	    nr > SWAPFILE_CLUSTER - (slot - first) % SWAPFILE_CLUSTER) {
		put_slots(m, slot, nr);
		return;
	}
	count(m, COUNT_swap_free_lock, 1);
	ci = swap_cluster_lock(m, slot);
	alike = swap_is_last_map(m, slot, nr);
	if (alike)
		free = put_last_users(m, slot, nr);
	swap_cluster_unlock(m, ci);
	if (!alike) {
		put_slots(m, slot, nr);
	} else if (free) {
		count(m, COUNT_swap_slot_write, nr);
		count(m, COUNT_swap_free_lock, 1);
		count(m, COUNT_swap_si_lock, 1);
		swap_entry_range_free(m, slot, nr);
	}
}

/* mm/swapfile.c:swap_entries_put_map_nr (6.16): cluster by cluster */
static void put_clusters(struct machine *m, u32 slot, u32 nr)
{
	u32 first = m->device[slot_device(m->s, slot)].first_slot, end = slot + nr;

	for (u32 next; slot < end; slot = next) {
		next = slot + SWAPFILE_CLUSTER - (slot - first) % SWAPFILE_CLUSTER;
		if (next > end)
			next = end;
		swap_entries_put_map(m, slot, slot_page(m->s, slot), next - slot);
	}
}

static bool only_cached(const struct slot *slot)
{
	return slot->kind == SLOT_FOLIO && !slot->count;
}

/* A folio's slots are aligned to their number: the next one's begin behind. */
static void reclaim_cached(struct machine *m, u32 slot, u32 nr)
{
	u32 end = slot + nr, pages;

	while (slot < end) {
		pages = only_cached(m->slot + slot) ? __try_to_reclaim_swap(m, slot) : 0;
		slot++;
		if (pages)
			slot = (slot + pages - 1) / pages * pages;
	}
}

/* mm/swapfile.c:free_swap_and_cache (6.1) */
__mirrored void free_swap_and_cache(struct machine *m, u32 slot)
{
	enter(m, EV_free_swap_and_cache, slot_page(m->s, slot), 1);
	count(m, COUNT_swap_device_ref, 1);
	put_slots(m, slot, 1);
	reclaim_cached(m, slot, 1);
}

/* mm/swapfile.c:free_swap_and_cache_nr (6.11 to 6.16) */
__mirrored void free_swap_and_cache_nr(struct machine *m, u32 slot, u32 nr)
{
	enter(m, EV_free_swap_and_cache_nr, slot_page(m->s, slot), nr);
	count(m, COUNT_swap_device_ref, 1);
	if (m->kernel->swap_zap == SWAP_ZAP_SLOTS)
		put_slots(m, slot, nr);
	else if (m->kernel->swap_alloc == ALLOC_SLOT_CACHE)
		put_uniform(m, slot, nr);
	else
		put_clusters(m, slot, nr);
	reclaim_cached(m, slot, nr);
}
