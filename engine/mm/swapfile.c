/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Swap slots. A device is cut into clusters of 512 slots; each slot has one entry
 * in its cluster's table:
 *
 *	free --alloc--> folio, count 0 --dup--> folio, count n --del--> shadow, count n
 *	 ^                  |                                               |
 *	 '------------------'---------------- count 0 and no folio ---------'
 *
 * The count is the number of swap PTEs; the swap cache is not counted. A folio's
 * slots are consecutive, aligned to its size and inside one cluster. Offset 0 is
 * the device's header and never allocated.
 */
#include "mm/internal.h"

static const struct swap_device *swap_info(const struct machine *m, u32 slot)
{
	return m->device + slot_device(m->s, slot);
}

/* Slots and clusters are numbered through all devices alike. */
const struct cluster *swap_cluster(const struct machine *m, u32 slot)
{
	return m->cluster + slot / SWAPFILE_CLUSTER;
}

u32 first_free_cluster(struct machine *m, const struct swap_device *si)
{
	while (si->nr_used < si->nr_clusters && m->cluster[si->first_cluster + si->nr_used].count)
		put(m, &si->nr_used, si->nr_used + 1);
	return si->nr_used;
}

/* The first one that is not full. */
static u32 first_nonfull_cluster(struct machine *m, const struct swap_device *si)
{
	while (si->nr_full < si->nr_clusters &&
	       m->cluster[si->first_cluster + si->nr_full].count == SWAPFILE_CLUSTER)
		put(m, &si->nr_full, si->nr_full + 1);
	return si->nr_full;
}

/* mm/swap.h:swap_cluster_lock; lock_cluster() up to 6.16 */
const struct cluster *swap_cluster_lock(struct machine *m, u32 slot)
{
	const struct cluster *ci = swap_cluster(m, slot);

	put(m, &ci->locked, 1);
	step(m, EV_swap_cluster_locked, NONE, (u32)(ci - m->cluster));
	return ci;
}

void swap_cluster_unlock(struct machine *m, const struct cluster *ci)
{
	put(m, &ci->locked, 0);
	step(m, EV_swap_cluster_unlocked, NONE, (u32)(ci - m->cluster));
}

static bool cluster_scan_range(const struct machine *m, u32 slot, u32 nr)
{
	for (u32 i = slot; i < slot + nr; i++)
		if (m->slot[i].kind != SLOT_FREE)
			return false;
	return true;
}

/* mm/swapfile.c:__swap_cluster_alloc_entries */
static void __swap_cluster_alloc_entries(struct machine *m, const struct swap_device *si,
					 const struct cluster *ci, const struct folio *folio,
					 u32 slot)
{
	u32 nr_pages = folio_nr_pages(folio);

	__swap_cache_add_folio(m, folio, slot);
	if (ci->count == 0)
		put(m, &ci->order, folio->order);
	put(m, &ci->count, ci->count + nr_pages);
	put(m, &si->inuse, si->inuse + nr_pages);
	step(m, EV_swap_slots_allocated, folio->page, nr_pages);
}

static void alloc_entries(struct machine *m, const struct swap_device *si, const struct cluster *ci,
			  const struct folio *folio, u32 slot)
{
	if (m->kernel->swap_slots == SLOTS_TABLE)
		__swap_cluster_alloc_entries(m, si, ci, folio, slot);
	else
		cluster_alloc_range(m, si, ci, folio, slot);
}

/* mm/swapfile.c:alloc_swap_scan_cluster. The cluster is locked; it is unlocked on return. */
__mirrored u32 alloc_swap_scan_cluster(struct machine *m, const struct swap_device *si, u32 offset,
				       const struct folio *folio)
{
	u32 nr_pages = folio_nr_pages(folio), next = 0, found = NONE;
	u32 end = offset / SWAPFILE_CLUSTER * SWAPFILE_CLUSTER + SWAPFILE_CLUSTER;
	const struct cluster *ci = m->cluster + si->first_cluster + offset / SWAPFILE_CLUSTER;

	enter(m, EV_alloc_swap_scan_cluster, folio->page, nr_pages);
	for (; ci->count + nr_pages <= SWAPFILE_CLUSTER && offset + nr_pages <= end;
	     offset += nr_pages) {
		if (!cluster_scan_range(m, si->first_slot + offset, nr_pages))
			continue;
		found = si->first_slot + offset;
		step(m, EV_swap_slots_found, folio->page, found);
		alloc_entries(m, si, ci, folio, found);
		offset += nr_pages;
		if (ci->count < SWAPFILE_CLUSTER && offset + nr_pages <= end)
			next = offset;
		break;
	}
	put(m, &si->next[folio->order], next);
	swap_cluster_unlock(m, ci);
	return found;
}

/* mm/swapfile.c:cluster_is_usable */
static bool cluster_is_usable(const struct cluster *ci, u32 order)
{
	return ci->count == 0 || ci->order == order;
}

/* Go on where this CPU left off for this order. */
static u32 alloc_swap_next(struct machine *m, const struct swap_device *si,
			   const struct folio *folio)
{
	u32 offset = si->next[folio->order];
	const struct cluster *ci = swap_cluster_lock(m, si->first_slot + offset);

	if (cluster_is_usable(ci, folio->order))
		return alloc_swap_scan_cluster(m, si, offset, folio);
	swap_cluster_unlock(m, ci);
	return NONE;
}

/* mm/swapfile.c:swap_alloc_fast */
static u32 swap_alloc_fast(struct machine *m, const struct folio *folio)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_DEVICE]; i++)
		if (m->device[i].next[folio->order])
			return alloc_swap_next(m, m->device + i, folio);
	return NONE;
}

/* mm/swapfile.c:cluster_alloc_swap_entry: a cluster of this order with room, or a free one */
__mirrored u32 cluster_alloc_swap_entry(struct machine *m, const struct swap_device *si,
					const struct folio *folio)
{
	bool free_first = m->kernel->cluster_order == CLUSTER_FREE_FIRST;
	u32 slot = NONE;

	enter(m, EV_cluster_alloc_swap_entry, folio->page, 0);
	if (m->kernel->swap_alloc == ALLOC_SLOT_CACHE && si->next[folio->order])
		slot = alloc_swap_next(m, si, folio);
	for (int pass = 0; pass < 2 && slot == NONE; pass++) {
		bool want_free = pass ? !free_first : free_first;
		u32 i = want_free ? first_free_cluster(m, si) : first_nonfull_cluster(m, si);

		for (; i < si->nr_clusters && slot == NONE; i++) {
			const struct cluster *ci = m->cluster + si->first_cluster + i;
			bool is_free = ci->count == 0;

			if (is_free != want_free || (!is_free && ci->order != folio->order) ||
			    ci->count == SWAPFILE_CLUSTER)
				continue;
			swap_cluster_lock(m, si->first_slot + i * SWAPFILE_CLUSTER);
			if (is_free)
				step(m, EV_swap_cluster_taken, folio->page, i);
			slot = alloc_swap_scan_cluster(m, si, i * SWAPFILE_CLUSTER, folio);
		}
	}
	return slot;
}

static u32 swap_alloc_from_clusters(struct machine *m, const struct folio *folio)
{
	u32 slot = swap_alloc_fast(m, folio);

	for (u32 i = 0; i < m->s->nr[ARRAY_DEVICE] && slot == NONE; i++)
		slot = cluster_alloc_swap_entry(m, m->device + i, folio);
	return slot;
}

/*
 * mm/swapfile.c:folio_alloc_swap. In 7.3 the folio is in the swap cache with its slots, 6.16
 * puts it there when the slots are charged, up to 6.12 the caller does.
 */
__mirrored u32 folio_alloc_swap(struct machine *m, const struct folio *folio)
{
	u32 slot;

	enter(m, EV_folio_alloc_swap, folio->page, folio_nr_pages(folio));
	slot = m->kernel->swap_alloc == ALLOC_CLUSTER ? swap_alloc_from_clusters(m, folio) :
							swap_alloc_cached(m, folio);
	if (slot == NONE) {
		step(m, EV_swap_alloc_failed, folio->page, folio_nr_pages(folio));
		return NONE;
	}
	__mem_cgroup_try_charge_swap(m, folio);
	if (m->kernel->swap_slots == SLOTS_MAP && m->kernel->swap_names == SWAP_FOLIO_ALLOC)
		add_to_swap_cache(m, folio, slot);
	return slot;
}

/* mm/swapfile.c:swap_extend_table_alloc. The cluster is not locked. False: no memory. */
__mirrored bool swap_extend_table_alloc(struct machine *m, u32 slot, u32 page, bool atomic)
{
	const struct cluster *ci;

	enter(m, EV_swap_extend_table_alloc, page, m->slot[slot].count);
	if (atomic && m->s->fail_atomic_alloc) {
		step(m, EV_swap_extend_table_failed, page, 0);
		return false;
	}
	ci = swap_cluster_lock(m, slot);
	put(m, &ci->extend_table, 1);
	swap_cluster_unlock(m, ci);
	return true;
}

/* mm/swapfile.c:swap_extend_table_try_free: no slot of the cluster counts to 15 any more */
static void swap_extend_table_try_free(struct machine *m, const struct cluster *ci, u32 slot)
{
	u32 first = slot / SWAPFILE_CLUSTER * SWAPFILE_CLUSTER;

	if (!ci->extend_table)
		return;
	for (u32 i = first; i < first + SWAPFILE_CLUSTER; i++)
		if (m->slot[i].count >= SWP_TB_COUNT_MAX)
			return;
	put(m, &ci->extend_table, 0);
	step(m, EV_swap_extend_table_freed, NONE, 0);
}

enum dup { DUP_OK, DUP_BAD, DUP_NO_MEMORY };

/* mm/swapfile.c:__swap_cluster_dup_entry. The extend table holds counts from 15 on. */
static enum dup __swap_cluster_dup_entry(struct machine *m, const struct cluster *ci, u32 slot,
					 u32 page)
{
	const struct slot *entry = m->slot + slot;

	if (entry->kind == SLOT_BAD || entry->kind == SLOT_FREE ||
	    (entry->count == 0 && entry->kind != SLOT_FOLIO))
		return DUP_BAD;
	if (entry->count + 1 >= SWP_TB_COUNT_MAX && !ci->extend_table)
		return DUP_NO_MEMORY;
	put(m, &entry->count, entry->count + 1);
	count(m, COUNT_swap_slot_write, 1);
	step(m, EV_swap_count_raised, page, entry->count);
	return DUP_OK;
}

void __swap_cluster_put_entry(struct machine *m, const struct cluster *ci, u32 slot, u32 page)
{
	const struct slot *entry = m->slot + slot;

	put(m, &entry->count, entry->count - 1);
	count(m, COUNT_swap_slot_write, 1);
	step(m, EV_swap_count_lowered, page, entry->count);
	if (entry->count == SWP_TB_COUNT_MAX - 1 || entry->count == SWP_TB_COUNT_MAX - 2)
		swap_extend_table_try_free(m, ci, slot);
}

/* mm/swapfile.c:swap_dup_entries_cluster. All or nothing. */
__mirrored bool swap_dup_entries_cluster(struct machine *m, u32 slot, u32 page, u32 nr)
{
	const struct cluster *ci;
	enum dup dup = DUP_OK;
	u32 done = 0;

	count(m, COUNT_swap_dup_lock, 1);
	enter(m, EV_swap_dup_entries_cluster, page, nr);
	ci = swap_cluster_lock(m, slot);
	while (done < nr && dup != DUP_BAD) {
		dup = __swap_cluster_dup_entry(m, ci, slot + done, page + done);
		done += dup == DUP_OK;
		if (dup != DUP_NO_MEMORY)
			continue;
		swap_cluster_unlock(m, ci);
		if (!swap_extend_table_alloc(m, slot + done, page + done, true))
			dup = DUP_BAD;
		count(m, COUNT_swap_dup_lock, 1);
		swap_cluster_lock(m, slot);
	}
	if (done < nr) {
		step(m, EV_swap_dup_failed, page + done, m->slot[slot + done].count);
		for (u32 i = done; i-- > 0;)
			__swap_cluster_put_entry(m, ci, slot + i, page + i);
		swap_extend_table_try_free(m, ci, slot);
	}
	swap_cluster_unlock(m, ci);
	return done == nr;
}

/* mm/swapfile.c:swap_dup_entry_direct: for who has an entry that names the slot. */
__mirrored bool swap_dup_entry_direct(struct machine *m, u32 slot)
{
	enter(m, EV_swap_dup_entry_direct, slot_page(m->s, slot), slot);
	return swap_dup_entries_cluster(m, slot, slot_page(m->s, slot), 1);
}

/* mm/swapfile.c:folio_dup_swap */
__mirrored bool folio_dup_swap(struct machine *m, const struct folio *folio, u32 page)
{
	enter(m, EV_folio_dup_swap, page, 1);
	return swap_dup_entries_cluster(m, folio->swap + (page - folio->page), page, 1);
}

/* the proposed series: folio_dup_swap() for a run of the folio's pages */
__mirrored bool folio_dup_swap_pages(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	enter(m, EV_folio_dup_swap_pages, page, nr);
	return swap_dup_entries_cluster(m, folio->swap + (page - folio->page), page, nr);
}

/* mm/swapfile.c:folio_put_swap, for slots that stay in the swap cache */
__mirrored void folio_put_swap(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	u32 slot = folio->swap + (page - folio->page);
	const struct cluster *ci;

	count(m, COUNT_swap_free_lock, 1);
	enter(m, EV_folio_put_swap, page, nr);
	ci = swap_cluster_lock(m, slot);
	for (u32 i = 0; i < nr; i++)
		__swap_cluster_put_entry(m, ci, slot + i, page + i);
	swap_cluster_unlock(m, ci);
}

/* The cluster is locked. */
void swap_free_slots(struct machine *m, u32 slot, u32 nr)
{
	const struct swap_device *si = swap_info(m, slot);
	const struct cluster *ci = swap_cluster(m, slot);
	u32 i = (u32)(ci - m->cluster) - si->first_cluster;

	put(m, &si->nr_used, i < si->nr_used ? i : si->nr_used);
	put(m, &si->nr_full, i < si->nr_full ? i : si->nr_full);
	put(m, &ci->count, ci->count - nr);
	put(m, &si->inuse, si->inuse - nr);
	count(m, COUNT_swap_range_free, 1);
	count(m, COUNT_swap_uncharge, 1);
	for (i = slot; i < slot + nr; i++) {
		put(m, &m->slot[i].kind, SLOT_FREE);
		put(m, &m->slot[i].count, 0);
		put(m, &m->slot[i].folio, NONE);
		put(m, &m->slot[i].zero, 0);
		count(m, COUNT_swap_slot_write, 1);
		step(m, EV_swap_slot_freed, NONE, i);
	}
}

/* mm/swapfile.c:__swap_cluster_free_entries */
__mirrored void __swap_cluster_free_entries(struct machine *m, u32 slot, u32 nr)
{
	enter(m, EV___swap_cluster_free_entries, NONE, nr);
	swap_free_slots(m, slot, nr);
}

/* mm/swapfile.c:folio_swapped */
static bool folio_swapped(const struct machine *m, const struct folio *folio)
{
	for (u32 i = 0; i < folio_nr_pages(folio); i++)
		if (m->slot[folio->swap + i].count)
			return true;
	return false;
}

/* mm/swapfile.c:folio_free_swap */
__mirrored bool folio_free_swap(struct machine *m, const struct folio *folio)
{
	enter(m, EV_folio_free_swap, folio->page, 0);
	if (!folio_flag(folio, PG_swapcache) || folio_flag(folio, PG_writeback))
		return false;
	if (folio_swapped(m, folio)) {
		step(m, EV_swap_still_used, folio->page, 0);
		return false;
	}
	if (m->kernel->swap_slots == SLOTS_TABLE)
		swap_cache_del_folio(m, folio);
	else
		delete_from_swap_cache(m, folio);
	folio_set_flag(m, folio, PG_dirty);
	step(m, EV_folio_dirty_set, folio->page, 0);
	return true;
}
