/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* mm/huge_memory.c:deferred_split_folio */
__mirrored void deferred_split_folio(struct machine *m, const struct folio *folio,
				     bool partially_mapped)
{
	enter(m, EV_deferred_split_folio, folio->page, partially_mapped);
	if (folio_flag(folio, PG_swapcache)) {
		step(m, EV_split_deferred_not_needed, folio->page, 0);
		return;
	}
	if (partially_mapped)
		folio_set_flag(m, folio, PG_partially_mapped);
	folio_set_flag(m, folio, PG_deferred_list);
	step(m, EV_split_deferred, folio->page, 0);
}
