/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* mm/page_io.c:swap_zeromap_folio_set and _clear: one bit a slot */
static void set_zero_bits(struct machine *m, const struct folio *folio, u32 zero)
{
	for (u32 i = 0; i < folio_nr_pages(folio); i++)
		put(m, &m->slot[folio->swap + i].zero, zero);
	step(m, zero ? EV_swap_zero_filled : EV_swap_not_zero, folio->page, folio_nr_pages(folio));
}

/* The bits are in the table, under the cluster lock; with swap_map in a bitmap beside it. */
static void swap_zeromap_folio_mark(struct machine *m, const struct folio *folio, u32 zero)
{
	const struct cluster *ci;

	if (m->kernel->swap_slots == SLOTS_MAP) {
		set_zero_bits(m, folio, zero);
		return;
	}
	ci = swap_cluster_lock(m, folio->swap);
	set_zero_bits(m, folio, zero);
	swap_cluster_unlock(m, ci);
}

static void submit_write(struct machine *m, const struct folio *folio)
{
	folio_set_flag(m, folio, PG_writeback);
	step(m, EV_folio_writeback_set, folio->page, 0);
	folio_unlock(m, folio);
	count(m, COUNT_folio_write_start, 1);
	step(m, EV_swap_write_submitted, folio->page, folio_nr_pages(folio));
}

/* block/bdev.c:bdev_write_page (6.1): the device is done before the folio is unlocked */
static void write_page_at_once(struct machine *m, const struct folio *folio)
{
	folio_set_flag(m, folio, PG_writeback);
	step(m, EV_folio_writeback_set, folio->page, 0);
	count(m, COUNT_folio_write_start, 1);
	step(m, EV_swap_write_submitted, folio->page, folio_nr_pages(folio));
	folio_end_writeback(m, folio);
	folio_unlock(m, folio);
}

/* mm/page_io.c:swap_writepage_bdev_sync */
__mirrored void swap_writepage_bdev_sync(struct machine *m, const struct folio *folio)
{
	enter(m, EV_swap_writepage_bdev_sync, folio->page, folio_nr_pages(folio));
	submit_write(m, folio);
	folio_end_writeback(m, folio);
}

/* mm/page_io.c:swap_writepage_bdev_async */
__mirrored void swap_writepage_bdev_async(struct machine *m, const struct folio *folio)
{
	enter(m, EV_swap_writepage_bdev_async, folio->page, folio_nr_pages(folio));
	submit_write(m, folio);
}

/* mm/page_io.c:__swap_writepage. A synchronous device is done on return. */
__mirrored void __swap_writepage(struct machine *m, const struct folio *folio)
{
	bool sync = m->device[slot_device(m->s, folio->swap)].kind == SWAP_SYNC;

	enter(m, EV___swap_writepage, folio->page, folio_nr_pages(folio));
	if (m->kernel->page_api == API_PAGE) {
		(sync ? write_page_at_once : submit_write)(m, folio);
		return;
	}
	if (m->kernel->swap_slots == SLOTS_MAP) {
		(sync ? swap_writepage_bdev_sync : swap_writepage_bdev_async)(m, folio);
		return;
	}
	submit_write(m, folio);
	if (sync)
		folio_end_writeback(m, folio);
}

static void write_folio(struct machine *m, const struct folio *folio)
{
	if (folio_free_swap(m, folio)) {
		folio_unlock(m, folio);
		return;
	}
	if (m->kernel->zero_fill == ZERO_FILL_NOTED) {
		bool zero = folio_flag(folio, PG_zero_filled);

		swap_zeromap_folio_mark(m, folio, zero);
		if (zero) {
			folio_unlock(m, folio);
			return;
		}
	}
	__swap_writepage(m, folio);
}

/* mm/page_io.c:swap_writeout, no zswap */
__mirrored void swap_writeout(struct machine *m, const struct folio *folio)
{
	enter(m, EV_swap_writeout, folio->page, folio_nr_pages(folio));
	write_folio(m, folio);
}

/* mm/page_io.c:swap_writepage, its name up to 6.12 */
__mirrored void swap_writepage(struct machine *m, const struct folio *folio)
{
	enter(m, EV_swap_writepage, folio->page, folio_nr_pages(folio));
	write_folio(m, folio);
}
