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
