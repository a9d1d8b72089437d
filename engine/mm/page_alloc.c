/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

void free_frozen_pages(struct machine *m, const struct folio *folio)
{
	for (u32 i = folio->page; i < folio->page + folio_nr_pages(folio); i++)
		put(m, &m->page[i].anon_exclusive, 0);
	put(m, &folio->flags, folio->flags & 1u << PG_zero_filled);
	count(m, COUNT_folio_freed, 1);
	step(m, EV_folio_freed, folio->page, 0);
}

static void free_all(struct machine *m, enum folio_list list)
{
	while (!list_empty(m, list)) {
		const struct folio *folio = m->folio + m->s->list[list].first;

		list_del(m, folio);
		free_frozen_pages(m, folio);
	}
}

/* mm/page_alloc.c:free_unref_folios */
__mirrored void free_unref_folios(struct machine *m, enum folio_list list)
{
	enter(m, EV_free_unref_folios, NONE, m->s->list[list].nr);
	free_all(m, list);
}

/* mm/page_alloc.c:free_unref_page_list, up to 6.1 */
__mirrored void free_unref_page_list(struct machine *m, enum folio_list list)
{
	enter(m, EV_free_unref_page_list, NONE, m->s->list[list].nr);
	free_all(m, list);
}

void free_folios(struct machine *m, enum folio_list list)
{
	if (m->kernel->page_api == API_PAGE)
		free_unref_page_list(m, list);
	else
		free_unref_folios(m, list);
}

/* A free large block becomes free pages. */
static void expand(struct machine *m, const struct folio *folio)
{
	u32 nr = folio_nr_pages(folio);

	put(m, &m->s->has_tails, 1);
	for (u32 page = folio->page + 1; page < folio->page + nr; page++) {
		u32 own = page_own_folio(m->s, page);

		put(m, &m->page[page].folio, own);
		put(m, &m->folio[own].flags, (u32)m->page[page].zero << PG_zero_filled);
	}
	put(m, &folio->order, 0);
}

/* The smallest free block; of those the one with the lowest page frame. */
static const struct folio *find_free(const struct machine *m)
{
	const struct folio *found = NULL;

	for (u32 i = 0; i < m->s->nr[ARRAY_FOLIO]; i++) {
		const struct folio *folio = m->folio + i;

		if (folio_exists(m->s, i) && folio_is_free(folio) &&
		    (!found || folio->order < found->order ||
		     (folio->order == found->order && folio->pfn < found->pfn)))
			found = folio;
	}
	return found;
}

/* mm/mempolicy.c:vma_alloc_folio, order 0. NULL: no memory is free. */
__mirrored const struct folio *vma_alloc_folio(struct machine *m)
{
	const struct folio *folio = find_free(m);

	enter(m, EV_vma_alloc_folio, NONE, 1);
	if (!folio) {
		step(m, EV_no_free_memory, NONE, 0);
		return NULL;
	}
	if (folio->order)
		expand(m, folio);
	put(m, &folio->flags, 0);
	put(m, &folio->held, 1);
	put(m, &folio->refcount, 1);
	step(m, EV_folio_allocated, folio->page, 0);
	return folio;
}
