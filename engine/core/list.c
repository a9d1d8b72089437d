/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/list.h"

static void link_between(struct machine *m, const struct folio *folio, enum folio_list list,
			 u32 prev, u32 next)
{
	const struct list *head = &m->s->list[list];
	u32 i = folio_idx(m, folio);

	put(m, prev == NONE ? &head->first : &m->folio[prev].next, i);
	put(m, next == NONE ? &head->last : &m->folio[next].prev, i);
	put(m, &folio->prev, prev);
	put(m, &folio->next, next);
	put(m, &folio->list, list);
	put(m, &head->nr, head->nr + 1);
}

void list_add(struct machine *m, const struct folio *folio, enum folio_list list)
{
	link_between(m, folio, list, NONE, m->s->list[list].first);
}

void list_add_tail(struct machine *m, const struct folio *folio, enum folio_list list)
{
	link_between(m, folio, list, m->s->list[list].last, NONE);
}

void list_add_before(struct machine *m, const struct folio *folio, const struct folio *next)
{
	link_between(m, folio, (enum folio_list)next->list, next->prev, folio_idx(m, next));
}

/* Let its neighbours stand side by side. */
static void unlink_folio(struct machine *m, const struct folio *folio)
{
	const struct list *head = &m->s->list[folio->list];
	u32 prev = folio->prev, next = folio->next;

	put(m, prev == NONE ? &head->first : &m->folio[prev].next, next);
	put(m, next == NONE ? &head->last : &m->folio[next].prev, prev);
	put(m, &head->nr, head->nr - 1);
}

void list_del(struct machine *m, const struct folio *folio)
{
	unlink_folio(m, folio);
	put(m, &folio->prev, NONE);
	put(m, &folio->next, NONE);
	put(m, &folio->list, LIST_NONE);
}

void list_move(struct machine *m, const struct folio *folio, enum folio_list list)
{
	unlink_folio(m, folio);
	list_add(m, folio, list);
}
