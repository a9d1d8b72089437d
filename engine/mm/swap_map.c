/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Swap slots up to 6.16: a byte of swap_map for each, and the swap cache, a tree beside it.
 *
 *	swap_map	swap cache
 *	0		-		free
 *	0x40		-		handed out: SWAP_HAS_CACHE, nobody in the cache yet
 *	0x40		folio		add_to_swap_cache()
 *	0x40 + n	folio		swap_duplicate(), n swap PTEs
 *	0x40 + n	shadow		__delete_from_swap_cache()
 *	n		shadow		put_swap_folio()
 *
 * mm/swapfile.c and mm/swap_state.c of those kernels; their slot caches are in swap_slots.c.
 */
#include "core/slot.h"
#include "mm/internal.h"

/* --- handing out ---------------------------------------------------------- */

/* mm/swapfile.c:swap_range_alloc */
__mirrored void swap_range_alloc(struct machine *m, const struct swap_device *si, u32 page, u32 nr)
{
	enter(m, EV_swap_range_alloc, page, nr);
	put(m, &si->inuse, si->inuse + nr);
}

void cluster_alloc_range(struct machine *m, const struct swap_device *si, const struct cluster *ci,
			 const struct folio *folio, u32 slot)
{
	u32 nr_pages = folio_nr_pages(folio);

	if (ci->count == 0)
		put(m, &ci->order, folio->order);
	for (u32 i = slot; i < slot + nr_pages; i++)
		put(m, &m->slot[i].kind, SLOT_RESERVED);
	count(m, COUNT_swap_slot_write, nr_pages);
	step(m, EV_swap_map_reserved, folio->page, nr_pages);
	swap_range_alloc(m, si, folio->page, nr_pages);
	put(m, &ci->count, ci->count + nr_pages);
	step(m, EV_swap_slots_allocated, folio->page, nr_pages);
}

u32 nr_swap_pages(const struct machine *m)
{
	u32 nr = 0;

	for (u32 i = 0; i < m->s->nr[ARRAY_DEVICE]; i++)
		nr += m->device[i].nr_slots - 1 - m->device[i].inuse;
	return nr;
}

/* mm/swapfile.c:cluster_alloc_swap */
static u32 cluster_alloc_swap(struct machine *m, const struct swap_device *si,
			      const struct folio *folio, u32 max, u32 *slots)
{
	u32 nr = 0;

	while (nr < max) {
		slots[nr] = cluster_alloc_swap_entry(m, si, folio);
		if (slots[nr] == NONE)
			break;
		nr++;
	}
	return nr;
}

/* mm/swapfile.c:get_swap_pages */
__mirrored u32 get_swap_pages(struct machine *m, const struct folio *folio, u32 max, u32 *slots)
{
	u32 avail = nr_swap_pages(m) / folio_nr_pages(folio), nr = 0;

	enter(m, EV_get_swap_pages, folio->page, max * folio_nr_pages(folio));
	if (max > avail)
		max = avail;
	for (u32 i = 0; i < m->s->nr[ARRAY_DEVICE] && !nr; i++) {
		nr = m->kernel->slot_search == SEARCH_MAP ?
			     scan_swap_map_slots(m, m->device + i, folio, max, slots) :
			     cluster_alloc_swap(m, m->device + i, folio, max, slots);
		if (folio_test_large(folio))
			break;
	}
	return nr;
}

/* --- the swap cache ------------------------------------------------------- */

/* mm/swap_state.c:add_to_swap_cache */
__mirrored void add_to_swap_cache(struct machine *m, const struct folio *folio, u32 slot)
{
	u32 nr_pages = folio_nr_pages(folio);

	enter(m, EV_add_to_swap_cache, folio->page, nr_pages);
	folio_ref_add(m, folio, nr_pages);
	folio_set_flag(m, folio, PG_swapcache);
	put(m, &folio->swap, slot);
	step(m, EV_swap_cache_refs, folio->page, nr_pages);
	swap_cache_lock(m, slot);
	for (u32 i = 0; i < nr_pages; i++) {
		put(m, &m->slot[slot + i].kind, SLOT_FOLIO);
		put(m, &m->slot[slot + i].folio, folio_idx(m, folio));
		step(m, EV_swap_tree_added, folio->page + i, slot + i);
	}
	swap_cache_unlock(m, slot);
}

/* mm/swap_state.c:add_to_swap */
__mirrored bool add_to_swap(struct machine *m, const struct folio *folio)
{
	u32 slot;

	enter(m, EV_add_to_swap, folio->page, folio_nr_pages(folio));
	slot = folio_alloc_swap(m, folio);
	if (slot == NONE)
		return false;
	add_to_swap_cache(m, folio, slot);
	/* A PTE may be clean while the content exists nowhere else. */
	folio_mark_dirty(m, folio);
	return true;
}

/* mm/swap_state.c:__delete_from_swap_cache. The cache's references are the caller's to drop. */
__mirrored void __delete_from_swap_cache(struct machine *m, const struct folio *folio)
{
	u32 first = folio->swap, nr_pages = folio_nr_pages(folio);

	enter(m, EV___delete_from_swap_cache, folio->page, nr_pages);
	for (u32 i = 0; i < nr_pages; i++) {
		put(m, &m->slot[first + i].kind, SLOT_RESERVED);
		put(m, &m->slot[first + i].folio, NONE);
		step(m, EV_swap_tree_shadow, folio->page + i, first + i);
	}
	folio_clear_flag(m, folio, PG_swapcache);
	put(m, &folio->swap, NONE);
	step(m, EV_swap_cache_removed, folio->page, nr_pages);
}

/* mm/swap_state.c:delete_from_swap_cache */
__mirrored void delete_from_swap_cache(struct machine *m, const struct folio *folio)
{
	u32 slot = folio->swap, nr_pages = folio_nr_pages(folio);

	enter(m, EV_delete_from_swap_cache, folio->page, nr_pages);
	swap_cache_lock(m, slot);
	__delete_from_swap_cache(m, folio);
	swap_cache_unlock(m, slot);
	put_swap_folio(m, folio, slot);
	folio_ref_sub(m, folio, nr_pages);
	step(m, EV_swap_cache_refs_dropped, folio->page, nr_pages);
}

/* --- counts --------------------------------------------------------------- */

/* What the byte alone can hold, and what needs a further page; that is kept for a cluster here. */
static bool count_fits(const struct cluster *ci, u32 nr)
{
	return nr <= SWAP_MAP_MAX || ci->extend_table;
}

/* mm/swapfile.c:__swap_duplicate. False: nothing raised. */
__mirrored bool __swap_duplicate(struct machine *m, u32 slot, u32 page)
{
	const struct slot *entry = m->slot + slot;
	const struct cluster *ci;
	bool ok;

	count(m, COUNT_swap_dup_lock, 1);
	enter(m, EV___swap_duplicate, page, 1);
	ci = swap_cluster_lock(m, slot);
	ok = entry->kind != SLOT_FREE && entry->kind != SLOT_BAD &&
	     count_fits(ci, entry->count + 1);
	if (ok) {
		put(m, &entry->count, entry->count + 1);
		count(m, COUNT_swap_slot_write, 1);
	}
	step(m, ok ? EV_swap_count_raised : EV_swap_dup_failed, page, entry->count);
	swap_cluster_unlock(m, ci);
	return ok;
}

/* mm/swapfile.c:swap_duplicate; a count that outgrows its byte goes on in a page of its own */
__mirrored bool swap_duplicate(struct machine *m, u32 slot, u32 page)
{
	const struct cluster *ci = swap_cluster(m, slot);

	enter(m, EV_swap_duplicate, page, 1);
	if (__swap_duplicate(m, slot, page))
		return true;
	if (count_fits(ci, m->slot[slot].count + 1))
		return false;
	put(m, &ci->extend_table, 1);
	step(m, EV_swap_count_continued, page, m->slot[slot].count);
	return __swap_duplicate(m, slot, page);
}

/* mm/swapfile.c:__swap_entry_free_locked: one user less. True: the slot is to be freed. */
static bool put_user(struct machine *m, u32 slot, u32 page)
{
	const struct slot *entry = m->slot + slot;
	bool last = entry->count == 1 && entry->kind == SLOT_SHADOW;

	if (last)
		put(m, &entry->kind, SLOT_RESERVED);
	put(m, &entry->count, entry->count - 1);
	step(m, EV_swap_count_lowered, page, entry->count);
	return last;
}

/* The same for the swap cache. */
static bool put_cache(struct machine *m, u32 slot, u32 page)
{
	const struct slot *entry = m->slot + slot;

	if (!entry->count)
		return true;
	put(m, &entry->kind, SLOT_SHADOW);
	count(m, COUNT_swap_slot_write, 1);
	step(m, EV_swap_map_uncached, page, slot);
	return false;
}

/* mm/swapfile.c:swap_is_last_map: each has one user, and all are cached, or none is */
bool swap_is_last_map(struct machine *m, u32 slot, u32 nr)
{
	bool alike = nr > 1;

	for (u32 i = slot; alike && i < slot + nr; i++)
		alike = m->slot[i].count == 1 && m->slot[i].kind == m->slot[slot].kind;
	step(m, alike ? EV_swap_slots_alike : EV_swap_slots_differ, NONE, slot);
	return alike;
}

bool put_last_users(struct machine *m, u32 slot, u32 nr)
{
	bool free = m->slot[slot].kind == SLOT_SHADOW;

	for (u32 i = slot; i < slot + nr; i++) {
		if (m->slot[i].kind == SLOT_SHADOW)
			put(m, &m->slot[i].kind, SLOT_RESERVED);
		put(m, &m->slot[i].count, 0);
	}
	count(m, COUNT_swap_slot_write, free ? 0 : nr);
	step(m, EV_swap_counts_gone, NONE, slot);
	return free;
}

/* mm/swapfile.c:cluster_swap_free_nr */
__mirrored void cluster_swap_free_nr(struct machine *m, u32 slot, u32 page, u32 nr)
{
	const struct cluster *ci;
	bool last[SWAPFILE_CLUSTER];

	count(m, COUNT_swap_free_lock, 1);
	enter(m, EV_cluster_swap_free_nr, page, nr);
	ci = swap_cluster_lock(m, slot);
	for (u32 i = 0; i < nr; i++) {
		last[i] = put_user(m, slot + i, page + i);
		count(m, COUNT_swap_slot_write, 1);
	}
	swap_cluster_unlock(m, ci);
	for (u32 i = 0; i < nr; i++)
		if (last[i])
			free_swap_slot(m, slot + i);
}

/* mm/swapfile.c:swap_entries_put_map: all at once if they are alike, else one by one */
__mirrored void swap_entries_put_map(struct machine *m, u32 slot, u32 page, u32 nr)
{
	const struct cluster *ci;

	count(m, COUNT_swap_free_lock, 1);
	enter(m, EV_swap_entries_put_map, page, nr);
	ci = swap_cluster_lock(m, slot);
	if (swap_is_last_map(m, slot, nr)) {
		if (put_last_users(m, slot, nr))
			swap_entries_free(m, slot, nr);
		swap_cluster_unlock(m, ci);
		return;
	}
	for (u32 i = 0; i < nr; i++) {
		if (put_user(m, slot + i, page == NONE ? NONE : page + i))
			swap_entries_free(m, slot + i, 1);
		else
			count(m, COUNT_swap_slot_write, 1);
	}
	swap_cluster_unlock(m, ci);
}

/* mm/swapfile.c:swap_free_nr, slots of one cluster */
__mirrored void swap_free_nr(struct machine *m, u32 slot, u32 page, u32 nr)
{
	enter(m, EV_swap_free_nr, page, nr);
	if (m->kernel->swap_alloc == ALLOC_SLOT_CACHE)
		cluster_swap_free_nr(m, slot, page, nr);
	else
		swap_entries_put_map(m, slot, page, nr);
}

/* mm/swapfile.c:__swap_entry_free */
__mirrored void __swap_entry_free(struct machine *m, u32 slot, u32 page)
{
	const struct cluster *ci;
	bool last;

	count(m, COUNT_swap_free_lock, 1);
	enter(m, EV___swap_entry_free, page, slot);
	ci = swap_cluster_lock(m, slot);
	last = put_user(m, slot, page);
	count(m, COUNT_swap_slot_write, 1);
	swap_cluster_unlock(m, ci);
	if (last)
		free_swap_slot(m, slot);
}

/* mm/swapfile.c:swap_free */
__mirrored void swap_free(struct machine *m, u32 slot, u32 page)
{
	enter(m, EV_swap_free, page, 1);
	__swap_entry_free(m, slot, page);
}

/* --- giving back ---------------------------------------------------------- */

/* mm/swapfile.c:swap_entry_range_free */
__mirrored void swap_entry_range_free(struct machine *m, u32 slot, u32 nr)
{
	const struct cluster *ci;

	enter(m, EV_swap_entry_range_free, NONE, slot);
	ci = swap_cluster_lock(m, slot);
	swap_free_slots(m, slot, nr);
	swap_cluster_unlock(m, ci);
}

/* mm/swapfile.c:swap_entries_free. The cluster is locked. */
__mirrored void swap_entries_free(struct machine *m, u32 slot, u32 nr)
{
	enter(m, EV_swap_entries_free, NONE, slot);
	swap_free_slots(m, slot, nr);
}

/* mm/swapfile.c:swapcache_free_entries */
__mirrored void swapcache_free_entries(struct machine *m, const u32 *slots, u32 nr)
{
	if (!nr)
		return;
	enter(m, EV_swapcache_free_entries, NONE, nr);
	count(m, COUNT_swap_si_lock, 1);
	for (u32 i = 0; i < nr; i++)
		swap_entry_range_free(m, slots[i], 1);
}

/* mm/swapfile.c:swap_is_has_cache: no swap PTE points to any of them. */
static bool swap_is_has_cache(const struct machine *m, u32 slot, u32 nr)
{
	for (u32 i = slot; i < slot + nr; i++)
		if (m->slot[i].count)
			return false;
	return true;
}

/* mm/swapfile.c:swap_entries_put_cache */
__mirrored void swap_entries_put_cache(struct machine *m, const struct folio *folio, u32 slot)
{
	u32 nr_pages = folio_nr_pages(folio);
	const struct cluster *ci;

	enter(m, EV_swap_entries_put_cache, folio->page, nr_pages);
	ci = swap_cluster_lock(m, slot);
	if (swap_is_has_cache(m, slot, nr_pages)) {
		swap_entries_free(m, slot, nr_pages);
	} else {
		for (u32 i = 0; i < nr_pages; i++)
			if (put_cache(m, slot + i, folio->page + i))
				swap_entries_free(m, slot + i, 1);
	}
	swap_cluster_unlock(m, ci);
}

/* Slots freed alone wait in the slot cache of the CPU. */
static void put_cache_of_folio(struct machine *m, const struct folio *folio, u32 slot)
{
	u32 nr_pages = folio_nr_pages(folio);
	const struct cluster *ci = swap_cluster_lock(m, slot);

	if (folio_test_large(folio) && swap_is_has_cache(m, slot, nr_pages)) {
		swap_cluster_unlock(m, ci);
		swap_entry_range_free(m, slot, nr_pages);
		return;
	}
	for (u32 i = 0; i < nr_pages; i++) {
		if (!put_cache(m, slot + i, folio->page + i))
			continue;
		count(m, COUNT_swap_slot_write, 1);
		swap_cluster_unlock(m, ci);
		free_swap_slot(m, slot + i);
		if (i == nr_pages - 1)
			return;
		swap_cluster_lock(m, slot);
	}
	swap_cluster_unlock(m, ci);
}

/* mm/swapfile.c:put_swap_folio: the folio has left the swap cache */
__mirrored void put_swap_folio(struct machine *m, const struct folio *folio, u32 slot)
{
	enter(m, EV_put_swap_folio, folio->page, folio_nr_pages(folio));
	if (m->kernel->swap_alloc == ALLOC_SLOT_CACHE)
		put_cache_of_folio(m, folio, slot);
	else
		swap_entries_put_cache(m, folio, slot);
}
