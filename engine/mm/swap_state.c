/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* mm/swap_state.c:__swap_cache_do_add_folio */
__mirrored void __swap_cache_do_add_folio(struct machine *m, const struct folio *folio, u32 slot)
{
	u32 nr_pages = folio_nr_pages(folio);

	enter(m, EV___swap_cache_do_add_folio, folio->page, nr_pages);
	for (u32 i = 0; i < nr_pages; i++) {
		put(m, &m->slot[slot + i].kind, SLOT_FOLIO);
		put(m, &m->slot[slot + i].folio, folio_idx(m, folio));
		count(m, COUNT_swap_slot_write, 1);
		step(m, EV_swap_cache_added, folio->page + i, slot + i);
	}
	folio_ref_add(m, folio, nr_pages);
	folio_set_flag(m, folio, PG_swapcache);
	put(m, &folio->swap, slot);
	step(m, EV_swap_cache_refs, folio->page, nr_pages);
}

/* mm/swap_state.c:__swap_cache_add_folio */
__mirrored void __swap_cache_add_folio(struct machine *m, const struct folio *folio, u32 slot)
{
	enter(m, EV___swap_cache_add_folio, folio->page, folio_nr_pages(folio));
	__swap_cache_do_add_folio(m, folio, slot);
}

/* mm/swap_state.c:__swap_cache_do_del_folio. The cache's references are the caller's to drop. */
__mirrored void __swap_cache_do_del_folio(struct machine *m, const struct folio *folio)
{
	u32 first = folio->swap, nr_pages = folio_nr_pages(folio), used = 0;

	enter(m, EV___swap_cache_do_del_folio, folio->page, nr_pages);
	for (u32 i = 0; i < nr_pages; i++) {
		const struct slot *slot = m->slot + first + i;

		used += slot->count > 0;
		put(m, &slot->folio, NONE);
		put(m, &slot->kind, SLOT_SHADOW);
		count(m, COUNT_swap_slot_write, 1);
		step(m, EV_swap_shadow_stored, folio->page + i, first + i);
	}
	folio_clear_flag(m, folio, PG_swapcache);
	put(m, &folio->swap, NONE);
	step(m, EV_swap_cache_removed, folio->page, nr_pages);
	if (!used)
		__swap_cluster_free_entries(m, first, nr_pages);
	for (u32 i = 0; used && used < nr_pages && i < nr_pages; i++)
		if (!m->slot[first + i].count)
			__swap_cluster_free_entries(m, first + i, 1);
}

/* mm/swap_state.c:__swap_cache_del_folio. The cluster is locked. */
__mirrored void __swap_cache_del_folio(struct machine *m, const struct folio *folio)
{
	enter(m, EV___swap_cache_del_folio, folio->page, folio_nr_pages(folio));
	__swap_cache_do_del_folio(m, folio);
}

/* mm/swap_state.c:__swap_cache_replace_folio, one page of a split. The cluster is locked. */
__mirrored void __swap_cache_replace_folio(struct machine *m, const struct folio *new_folio)
{
	enter(m, EV___swap_cache_replace_folio, new_folio->page, 1);
	put(m, &m->slot[new_folio->swap].folio, folio_idx(m, new_folio));
	count(m, COUNT_swap_slot_write, 1);
	step(m, EV_swap_cache_replaced, new_folio->page, new_folio->swap);
}

/* mm/swap_state.c:free_swap_cache */
__mirrored void free_swap_cache(struct machine *m, const struct folio *folio)
{
	enter(m, EV_free_swap_cache, folio->page, 0);
	if (!folio_flag(folio, PG_swapcache) || folio_mapped(folio) || !folio_trylock(m, folio))
		return;
	folio_free_swap(m, folio);
	folio_unlock(m, folio);
}

void free_folio_and_swap_cache(struct machine *m, const struct folio *folio)
{
	free_swap_cache(m, folio);
	folio_put(m, folio);
}

/* mm/swap_state.c:swap_cache_del_folio: the cache's references go last */
__mirrored void swap_cache_del_folio(struct machine *m, const struct folio *folio)
{
	const struct cluster *ci;

	enter(m, EV_swap_cache_del_folio, folio->page, folio_nr_pages(folio));
	ci = swap_cluster_lock(m, folio->swap);
	__swap_cache_del_folio(m, folio);
	swap_cluster_unlock(m, ci);
	folio_ref_sub(m, folio, folio_nr_pages(folio));
	step(m, EV_swap_cache_refs_dropped, folio->page, folio_nr_pages(folio));
}

void swap_cache_lock(struct machine *m, u32 slot)
{
	if (m->kernel->swap_slots == SLOTS_TABLE)
		swap_cluster_lock(m, slot);
	else
		step(m, EV_swap_tree_locked, NONE, 0);
}

void swap_cache_unlock(struct machine *m, u32 slot)
{
	if (m->kernel->swap_slots == SLOTS_TABLE)
		swap_cluster_unlock(m, swap_cluster(m, slot));
	else
		step(m, EV_swap_tree_unlocked, NONE, 0);
}

/* Up to 6.16 the new folio is stored in the tree, by no function of its own. */
void swap_cache_replace(struct machine *m, const struct folio *new_folio)
{
	if (m->kernel->swap_slots == SLOTS_TABLE) {
		__swap_cache_replace_folio(m, new_folio);
		return;
	}
	put(m, &m->slot[new_folio->swap].folio, folio_idx(m, new_folio));
	step(m, EV_swap_tree_added, new_folio->page, new_folio->swap);
}

void swap_cache_forget(struct machine *m, const struct folio *folio)
{
	if (m->kernel->swap_slots == SLOTS_TABLE)
		__swap_cache_del_folio(m, folio);
	else
		__delete_from_swap_cache(m, folio);
}
