/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* mm/page_alloc.c:free_unref_folios: the folios of LIST_FREE, their counts already 0 */
__mirrored void free_unref_folios(struct machine *m)
{
	enter(m, EV_free_unref_folios, NONE, m->s->list[LIST_FREE].nr);
	while (!list_empty(m, LIST_FREE)) {
		const struct folio *folio = m->folio + m->s->list[LIST_FREE].first;

		list_del(m, folio);
		put(m, &folio->flags, folio->flags & 1u << PG_zero_filled);
		count(m, COUNT_folio_freed, 1);
		step(m, EV_folio_freed, folio->page, 0);
	}
}
