/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The classic LRU lists: where reclaim looks when memory is short. New folios enter at
 * the head; reclaim takes from the tail.
 *
 *	active    head ... tail --shrink_active_list()--> inactive
 *	inactive  head ... tail --shrink_inactive_list()--> shrink_folio_list()
 *	             ^                                          | accessed since: once more
 *	             '------------------------------------------'
 *
 * SWAP_CLUSTER_MAX pages are taken at a time, however large the folios are.
 */
#include "mm/internal.h"

#define SWAP_CLUSTER_MAX 32u

/* Programs and libraries get a better chance to stay. */
static bool is_exec_file_folio(const struct folio *folio, u32 vm_flags)
{
	return vm_flags & VM_EXEC && !folio_flag(folio, PG_swapbacked);
}

/* mm/rmap.c:folio_referenced found VMAs in which the folio was accessed. Used twice? */
enum folio_references folio_check_references(struct machine *m, const struct folio *folio)
{
	bool seen_before = folio_flag(folio, PG_referenced);
	u32 vm_flags, referenced = folio_referenced(m, folio, true, &vm_flags);

	if (vm_flags & VM_LOCKED)
		return FOLIOREF_ACTIVATE;
	folio_clear_flag(m, folio, PG_referenced);
	if (!referenced) {
		step(m, EV_folio_not_referenced, folio->page, 0);
		return FOLIOREF_RECLAIM;
	}
	folio_set_flag(m, folio, PG_referenced);
	step(m, EV_folio_referenced_set, folio->page, referenced);
	return seen_before || referenced > 1 || is_exec_file_folio(folio, vm_flags) ?
		       FOLIOREF_ACTIVATE :
		       FOLIOREF_KEEP;
}

/* mm/vmscan.c:isolate_lru_folios: from the tail of an LRU list, nr_to_scan pages or a few more */
__mirrored u32 isolate_lru_folios(struct machine *m, u32 nr_to_scan, enum folio_list from,
				  enum folio_list to)
{
	u32 scan = 0;

	enter(m, EV_isolate_lru_folios, NONE, nr_to_scan);
	while (scan < nr_to_scan && !list_empty(m, from)) {
		const struct folio *folio = lru_to_folio(m, from);

		scan += folio_nr_pages(folio);
		folio_ref_add(m, folio, 1);
		folio_clear_flag(m, folio, PG_lru);
		folio_set_flag(m, folio, PG_isolated);
		list_move(m, folio, to);
		step(m, EV_folio_isolated, folio->page, 1);
	}
	return scan;
}

/* mm/vmscan.c:move_folios_to_lru. Whose last reference was reclaim's is freed. */
__mirrored void move_folios_to_lru(struct machine *m, enum folio_list list)
{
	enter(m, EV_move_folios_to_lru, NONE, m->s->list[list].nr);
	while (!list_empty(m, list)) {
		const struct folio *folio = lru_to_folio(m, list);

		list_del(m, folio);
		if (!folio_evictable(folio)) {
			folio_putback_lru(m, folio);
			continue;
		}
		folio_clear_flag(m, folio, PG_isolated);
		folio_ref_sub(m, folio, 1);
		if (folio->refcount) {
			folio_set_flag(m, folio, PG_lru);
			list_add(m, folio, folio_lru_list(folio));
			step(m, EV_folio_put_back, folio->page, 0);
			continue;
		}
		list_add_tail(m, folio, LIST_FREE);
		step(m, EV_folio_free_queued, folio->page, m->s->list[LIST_FREE].nr);
		if (m->s->list[LIST_FREE].nr == FOLIO_BATCH_SIZE)
			free_folios(m, LIST_FREE);
	}
	if (!list_empty(m, LIST_FREE))
		free_folios(m, LIST_FREE);
}

/* mm/vmscan.c:shrink_inactive_list, of one node */
__mirrored u32 shrink_inactive_list(struct machine *m, u32 nr_to_scan, enum folio_list lru)
{
	u32 nr_reclaimed;

	enter_phase(m, PHASE_isolate);
	enter(m, EV_shrink_inactive_list, NONE, nr_to_scan);
	if (!isolate_lru_folios(m, nr_to_scan, lru, LIST_NODE))
		return 0;
	nr_reclaimed = shrink_folio_list(m, LIST_NODE, false);
	move_folios_to_lru(m, LIST_NODE);
	return nr_reclaimed;
}

/* mm/vmscan.c:shrink_active_list. But for code that was used all becomes inactive, used or not. */
__mirrored void shrink_active_list(struct machine *m, u32 nr_to_scan, enum folio_list lru)
{
	u32 vm_flags;

	enter_phase(m, PHASE_isolate);
	enter(m, EV_shrink_active_list, NONE, nr_to_scan);
	isolate_lru_folios(m, nr_to_scan, lru, LIST_HOLD);
	while (!list_empty(m, LIST_HOLD)) {
		const struct folio *folio = lru_to_folio(m, LIST_HOLD);

		put(m, &m->task->folio, folio_idx(m, folio));
		list_del(m, folio);
		if (!folio_evictable(folio)) {
			folio_putback_lru(m, folio);
			continue;
		}
		if (folio_referenced(m, folio, false, &vm_flags) &&
		    is_exec_file_folio(folio, vm_flags)) {
			list_add(m, folio, LIST_ACTIVE);
			step(m, EV_folio_stays_active, folio->page, 0);
			continue;
		}
		folio_clear_flag(m, folio, PG_active);
		folio_set_flag(m, folio, PG_workingset);
		list_add(m, folio, LIST_INACTIVE);
		step(m, EV_folio_deactivated, folio->page, 0);
	}
	put(m, &m->task->folio, NONE);
	move_folios_to_lru(m, LIST_ACTIVE);
	move_folios_to_lru(m, LIST_INACTIVE);
}

static u32 list_pages(const struct machine *m, enum folio_list list)
{
	u32 pages = 0;

	for (u32 i = m->s->list[list].first; i != NONE; i = m->folio[i].next)
		pages += folio_nr_pages(m->folio + i);
	return pages;
}

/* mm/vmscan.c:inactive_is_low, less than 1 GiB of anonymous memory */
static bool inactive_is_low(const struct machine *m, enum folio_list inactive,
			    enum folio_list active)
{
	return list_pages(m, inactive) < list_pages(m, active);
}

/*
 * mm/vmscan.c:shrink_lruvec; reduced: as many pages of each list. Lazyfree folios are on those
 * of files, and nobody else is.
 */
__mirrored u32 shrink_lruvec(struct machine *m, u32 nr_pages)
{
	bool anon_low = inactive_is_low(m, LRU_INACTIVE_ANON, LRU_ACTIVE_ANON);
	bool file_low = inactive_is_low(m, LRU_INACTIVE_FILE, LRU_ACTIVE_FILE);
	bool lazyfree = !list_empty(m, LRU_INACTIVE_FILE);
	u32 nr_reclaimed = 0;

	enter(m, EV_shrink_lruvec, NONE, nr_pages);
	while (nr_pages) {
		u32 nr_to_scan = nr_pages < SWAP_CLUSTER_MAX ? nr_pages : SWAP_CLUSTER_MAX;

		nr_pages -= nr_to_scan;
		nr_reclaimed += shrink_inactive_list(m, nr_to_scan, LRU_INACTIVE_ANON);
		if (anon_low)
			shrink_active_list(m, nr_to_scan, LRU_ACTIVE_ANON);
		if (lazyfree)
			nr_reclaimed += shrink_inactive_list(m, nr_to_scan, LRU_INACTIVE_FILE);
		if (file_low)
			shrink_active_list(m, nr_to_scan, LRU_ACTIVE_FILE);
	}
	return nr_reclaimed;
}
