/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The search for slots in 6.1. A CPU fills one cluster after the other, slot by slot; a
 * cluster is of no order. A THP takes a whole free cluster. Where none is free a small
 * folio takes any free slot there is.
 */
#include "mm/internal.h"

static u32 free_cluster(struct machine *m, const struct swap_device *si)
{
	u32 i = first_free_cluster(m, si);

	return i < si->nr_clusters ? i * SWAPFILE_CLUSTER : NONE;
}

/* The first free slot from an offset on, before end. */
static u32 free_offset(const struct machine *m, const struct swap_device *si, u32 offset, u32 end)
{
	while (offset < end && m->slot[si->first_slot + offset].kind != SLOT_FREE)
		offset++;
	return offset < end ? offset : NONE;
}

/* mm/swapfile.c:scan_swap_map_try_ssd_cluster, and the scan from the lowest slot behind it */
static u32 next_offset(struct machine *m, const struct swap_device *si)
{
	u32 next = si->next[0], offset = NONE;

	if (next)
		offset = free_offset(m, si, next, (next / SWAPFILE_CLUSTER + 1) * SWAPFILE_CLUSTER);
	if (offset == NONE)
		offset = free_cluster(m, si);
	return offset == NONE ? free_offset(m, si, 1, si->nr_slots) : offset;
}

/* mm/swapfile.c:scan_swap_map_slots and, for a THP, swap_alloc_cluster */
__mirrored u32 scan_swap_map_slots(struct machine *m, const struct swap_device *si,
				   const struct folio *folio, u32 max, u32 *slots)
{
	const struct cluster *ci;
	u32 nr = 0;

	enter(m, EV_scan_swap_map_slots, folio->page, max * folio_nr_pages(folio));
	while (nr < max) {
		u32 offset = folio_test_large(folio) ? free_cluster(m, si) : next_offset(m, si);

		if (offset == NONE)
			break;
		slots[nr] = si->first_slot + offset;
		ci = swap_cluster_lock(m, slots[nr]);
		cluster_alloc_range(m, si, ci, folio, slots[nr++]);
		if (!folio_test_large(folio))
			put(m, &si->next[0], (offset + 1) % SWAPFILE_CLUSTER ? offset + 1 : 0);
		swap_cluster_unlock(m, ci);
	}
	return nr;
}
