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

/* mm/page_alloc.c:free_unref_folios: the folios of a list, their counts already 0 */
__mirrored void free_unref_folios(struct machine *m, enum folio_list list)
{
	enter(m, EV_free_unref_folios, NONE, m->s->list[list].nr);
	while (!list_empty(m, list)) {
		const struct folio *folio = m->folio + m->s->list[list].first;

		list_del(m, folio);
		free_frozen_pages(m, folio);
	}
}
