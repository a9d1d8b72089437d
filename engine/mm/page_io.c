/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* mm/page_io.c:swap_zeromap_folio_set and _clear: one bit a slot, under the cluster lock */
static void swap_zeromap_folio_mark(struct machine *m, const struct folio *folio, u32 zero)
{
	const struct cluster *ci = swap_cluster_lock(m, folio->swap);

	for (u32 i = 0; i < folio_nr_pages(folio); i++)
		put(m, &m->slot[folio->swap + i].zero, zero);
	step(m, zero ? EV_swap_zero_filled : EV_swap_not_zero, folio->page, folio_nr_pages(folio));
	swap_cluster_unlock(m, ci);
}

/* mm/page_io.c:__swap_writepage. A synchronous device is done on return. */
__mirrored void __swap_writepage(struct machine *m, const struct folio *folio)
{
	const struct swap_device *si = m->device + slot_device(m->s, folio->swap);

	enter(m, EV___swap_writepage, folio->page, folio_nr_pages(folio));
	folio_set_flag(m, folio, PG_writeback);
	step(m, EV_folio_writeback_set, folio->page, 0);
	folio_unlock(m, folio);
	count(m, COUNT_folio_write_start, 1);
	step(m, EV_swap_write_submitted, folio->page, folio_nr_pages(folio));
	if (si->kind == SWAP_SYNC)
		folio_end_writeback(m, folio);
}

/* mm/page_io.c:swap_writeout, no zswap */
__mirrored void swap_writeout(struct machine *m, const struct folio *folio)
{
	enter(m, EV_swap_writeout, folio->page, folio_nr_pages(folio));
	if (folio_free_swap(m, folio)) {
		folio_unlock(m, folio);
		return;
	}
	if (folio_flag(folio, PG_zero_filled)) {
		swap_zeromap_folio_mark(m, folio, 1);
		folio_unlock(m, folio);
		return;
	}
	swap_zeromap_folio_mark(m, folio, 0);
	__swap_writepage(m, folio);
}
