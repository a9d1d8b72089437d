/* SPDX-License-Identifier: GPL-2.0-only */
/* mm/folio.c (mm/swap.c before 7.3): references, and the end of a folio. */
#include "mm/internal.h"

/* mm/folio.c:__page_cache_release: off the LRU list */
void __page_cache_release(struct machine *m, const struct folio *folio)
{
	if (folio_flag(folio, PG_lru))
		list_del(m, folio);
}

/* mm/folio.c:__folio_put */
__mirrored void __folio_put(struct machine *m, const struct folio *folio)
{
	enter(m, EV___folio_put, folio->page, 0);
	__page_cache_release(m, folio);
	if (folio_flag(folio, PG_deferred_list))
		__folio_unqueue_deferred_split(m, folio);
	free_frozen_pages(m, folio);
}

void folio_put_refs(struct machine *m, const struct folio *folio, u32 page, u32 nr)
{
	folio_ref_sub(m, folio, nr);
	step(m, EV_folio_put_refs, page, nr);
	if (!folio->refcount)
		__folio_put(m, folio);
}

void folio_get(struct machine *m, const struct folio *folio)
{
	put(m, &folio->held, folio->held + 1);
	folio_ref_add(m, folio, 1);
	step(m, EV_folio_get, folio->page, 1);
}

void folio_put(struct machine *m, const struct folio *folio)
{
	put(m, &folio->held, folio->held - 1);
	folio_ref_sub(m, folio, 1);
	step(m, EV_folio_put, folio->page, 1);
	if (!folio->refcount)
		__folio_put(m, folio);
}

/* mm/folio.c:folio_add_lru, without the CPU's batch */
void folio_add_lru(struct machine *m, const struct folio *folio)
{
	folio_set_flag(m, folio, PG_lru);
	list_add(m, folio, folio_lru_list(folio));
	step(m, EV_folio_lru_added, folio->page, 0);
}

/* mm/folio.c:folio_add_lru_vma */
void folio_add_lru_vma(struct machine *m, const struct folio *folio, const struct vma *vma)
{
	if (vma->flags & VM_LOCKED) {
		folio_set_flag(m, folio, PG_mlocked);
		folio_set_flag(m, folio, PG_unevictable);
	}
	folio_add_lru(m, folio);
}

/* mm/folio.c:lru_lazyfree: not swap-backed any more, and among those that go first */
__mirrored void lru_lazyfree(struct machine *m, const struct folio *folio)
{
	enter(m, EV_lru_lazyfree, folio->page, folio_nr_pages(folio));
	list_del(m, folio);
	folio_clear_flag(m, folio, PG_active);
	folio_clear_flag(m, folio, PG_referenced);
	folio_clear_flag(m, folio, PG_swapbacked);
	list_add(m, folio, folio_lru_list(folio));
	step(m, EV_folio_lazyfree, folio->page, 0);
}

/* The CPU's batch is left out. */
static void make_lazyfree(struct machine *m, const struct folio *folio)
{
	const u32 needed = 1u << PG_swapbacked | 1u << PG_lru;
	const u32 barred = 1u << PG_swapcache | 1u << PG_unevictable;

	if ((folio->flags & (needed | barred)) == needed)
		lru_lazyfree(m, folio);
}

/* mm/folio.c:folio_mark_lazyfree */
__mirrored void folio_mark_lazyfree(struct machine *m, const struct folio *folio)
{
	enter(m, EV_folio_mark_lazyfree, folio->page, folio_nr_pages(folio));
	make_lazyfree(m, folio);
}

/* mm/swap.c:mark_page_lazyfree (6.1) */
__mirrored void mark_page_lazyfree(struct machine *m, const struct folio *folio)
{
	enter(m, EV_mark_page_lazyfree, folio->page, folio_nr_pages(folio));
	make_lazyfree(m, folio);
}

void mark_lazyfree(struct machine *m, const struct folio *folio)
{
	if (m->kernel->page_api == API_PAGE)
		mark_page_lazyfree(m, folio);
	else
		folio_mark_lazyfree(m, folio);
}
