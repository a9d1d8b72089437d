/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of folios, linked by index: include/linux/list.h for a state without pointers.
 *
 *	list[LIST_RET] -> first ... last -> list[LIST_RET]
 *
 * The names are the kernel's; the list is named by its enum instead of its head.
 */
#ifndef CORE_LIST_H
#define CORE_LIST_H

#include "core/machine.h"

static inline u32 folio_idx(const struct machine *m, const struct folio *folio)
{
	return (u32)(folio - m->folio);
}

static inline bool list_empty(const struct machine *m, enum folio_list list)
{
	return m->s->list[list].nr == 0;
}

/* The folio at the tail: lru_to_folio() */
static inline const struct folio *lru_to_folio(const struct machine *m, enum folio_list list)
{
	return m->folio + m->s->list[list].last;
}

void list_add(struct machine *m, const struct folio *folio, enum folio_list list);
void list_add_tail(struct machine *m, const struct folio *folio, enum folio_list list);
/* In front of another: list_add_tail() on that one's list head. */
void list_add_before(struct machine *m, const struct folio *folio, const struct folio *next);
void list_del(struct machine *m, const struct folio *folio);

void list_move(struct machine *m, const struct folio *folio, enum folio_list list);

#endif
