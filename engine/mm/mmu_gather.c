/* SPDX-License-Identifier: GPL-2.0-only */
/* Gather what is unmapped, flush once, then free: see arch/mmu_gather.h. */
#include "arch/mmu_gather.h"
#include "mm/internal.h"

/* include/asm-generic/tlb.h:__tlb_reset_range */
static void __tlb_reset_range(struct mmu_gather *tlb)
{
	tlb->start = tlb->fullmm ? 0 : UINT64_MAX;
	tlb->end = tlb->fullmm ? UINT64_MAX : 0;
	tlb->freed_tables = tlb->cleared_ptes = tlb->cleared_pmds = false;
}

/* include/asm-generic/tlb.h:__tlb_adjust_range */
static void __tlb_adjust_range(struct mmu_gather *tlb, u64 start, u64 end)
{
	if (start < tlb->start)
		tlb->start = start;
	if (end > tlb->end)
		tlb->end = end;
}

/* A run of pages takes two entries of a batch, which must always have room for one. */
static bool batch_is_full(struct mmu_gather *tlb, u32 nr)
{
	tlb->batch_nr += nr > 1 ? 2 : 1;
	return tlb->batch_nr >= tlb->batch_max - 1;
}

static void next_batch(struct mmu_gather *tlb, u32 max)
{
	tlb->batch_nr = 0;
	tlb->batch_max = max;
}

/* mm/mmu_gather.c:tlb_gather_mmu and, for a whole address space, tlb_gather_mmu_fullmm */
__mirrored void tlb_gather_mmu(struct machine *m, struct mmu_gather *tlb, u32 mm, bool fullmm)
{
	enter(m, EV_tlb_gather_mmu, NONE, mm);
	put(m, &m->mm[mm].tlb_flush_pending, m->mm[mm].tlb_flush_pending + 1);
	tlb->mm = mm;
	tlb->fullmm = fullmm;
	tlb->nr = tlb->batch_count = 0;
	next_batch(tlb, MMU_GATHER_BUNDLE);
	__tlb_reset_range(tlb);
}

static bool must_flush(const struct mmu_gather *tlb)
{
	return tlb->freed_tables || tlb->cleared_ptes || tlb->cleared_pmds;
}

/* The first since the last flush: the mm knows from here on. */
static void note_clear(struct machine *m, const struct mmu_gather *tlb)
{
	if (!must_flush(tlb))
		put(m, &m->mm[tlb->mm].tlb_gathered, m->mm[tlb->mm].tlb_gathered + 1);
}

void tlb_remove_tlb_entries(struct machine *m, struct mmu_gather *tlb, u64 address, u32 nr)
{
	note_clear(m, tlb);
	tlb->cleared_ptes = true;
	__tlb_adjust_range(tlb, address, address + nr * PAGE_SIZE);
}

void tlb_remove_pmd_tlb_entry(struct machine *m, struct mmu_gather *tlb, u64 address)
{
	note_clear(m, tlb);
	tlb->cleared_pmds = true;
	__tlb_adjust_range(tlb, address, address + PMD_SIZE);
}

/* include/asm-generic/tlb.h:pte_free_tlb: the page table of an address is no longer used */
void pte_free_tlb(struct machine *m, struct mmu_gather *tlb, u32 table)
{
	u64 address = m->table[table].va;

	put(m, &m->table[table].populated, 0);
	note_clear(m, tlb);
	tlb->freed_tables = tlb->cleared_pmds = true;
	__tlb_adjust_range(tlb, address, address + PAGE_SIZE);
	step(m, EV_page_table_freed, NONE, table);
}

/* mm/mmu_gather.c:tlb_next_batch */
static bool tlb_next_batch(struct mmu_gather *tlb)
{
	if (tlb->batch_count == MAX_GATHER_BATCH_COUNT)
		return false;
	tlb->batch_count++;
	next_batch(tlb, MAX_GATHER_BATCH);
	return true;
}

/* mm/mmu_gather.c:__tlb_remove_folio_pages. True: no room for more, flush now. */
__mirrored bool __tlb_remove_folio_pages(struct machine *m, struct mmu_gather *tlb, u32 page,
					 u32 nr)
{
	const struct folio *folio = m->folio + page_folio(m->s, page);

	put(m, &folio->held, folio->held + nr);
	enter(m, EV___tlb_remove_folio_pages, page, nr);
	tlb->gathered[tlb->nr].page = page;
	tlb->gathered[tlb->nr++].nr = nr;
	step(m, EV_pages_gathered, page, nr);
	return batch_is_full(tlb, nr) && !tlb_next_batch(tlb);
}

void tlb_flush_mmu_tlbonly(struct machine *m, struct mmu_gather *tlb)
{
	if (!must_flush(tlb))
		return;
	m->arch->tlb_flush(m, tlb);
	put(m, &m->mm[tlb->mm].tlb_gathered, m->mm[tlb->mm].tlb_gathered - 1);
	__tlb_reset_range(tlb);
}

/* mm/folio.c:folios_put_refs, for what was gathered */
__mirrored void folios_put_refs(struct machine *m, const struct mmu_gather *tlb, u32 first, u32 end)
{
	enter(m, EV_folios_put_refs, NONE, end - first);
	for (u32 i = first; i < end; i++) {
		u32 page = tlb->gathered[i].page, nr = tlb->gathered[i].nr;
		const struct folio *folio = m->folio + page_folio(m->s, page);

		put(m, &folio->held, folio->held - nr);
		folio_ref_sub(m, folio, nr);
		step(m, EV_folio_put_refs, page, nr);
		if (folio->refcount)
			continue;
		__page_cache_release(m, folio);
		list_add_tail(m, folio, LIST_PUT);
	}
	if (!list_empty(m, LIST_PUT))
		free_unref_folios(m, LIST_PUT);
}

/* mm/swap_state.c:free_pages_and_swap_cache, for what was gathered */
__mirrored void free_pages_and_swap_cache(struct machine *m, const struct mmu_gather *tlb,
					  u32 first, u32 end)
{
	enter(m, EV_free_pages_and_swap_cache, NONE, end - first);
	for (u32 i = first; i < end; i++) {
		free_swap_cache(m, m->folio + page_folio(m->s, tlb->gathered[i].page));
		if (i + 1 - first < FOLIO_BATCH_SIZE && i + 1 < end)
			continue;
		folios_put_refs(m, tlb, first, i + 1);
		first = i + 1;
	}
}

/* mm/mmu_gather.c:tlb_batch_pages_flush: batch by batch, as they were filled */
static void tlb_batch_pages_flush(struct machine *m, struct mmu_gather *tlb)
{
	u32 end = 0;

	next_batch(tlb, MMU_GATHER_BUNDLE);
	for (u32 first = 0; first < tlb->nr; first = end) {
		while (end < tlb->nr && !batch_is_full(tlb, tlb->gathered[end++].nr))
			;
		free_pages_and_swap_cache(m, tlb, first, end);
		next_batch(tlb, MAX_GATHER_BATCH);
	}
	tlb->nr = tlb->batch_count = 0;
	next_batch(tlb, MMU_GATHER_BUNDLE);
}

void tlb_flush_mmu(struct machine *m, struct mmu_gather *tlb)
{
	tlb_flush_mmu_tlbonly(m, tlb);
	tlb_batch_pages_flush(m, tlb);
}

/*
 * mm/mmu_gather.c:tlb_finish_mmu. Another gather of this mm may have cleared entries that this
 * one found empty, and may not have flushed yet: then all of the mm is flushed.
 */
__mirrored void tlb_finish_mmu(struct machine *m, struct mmu_gather *tlb)
{
	enter(m, EV_tlb_finish_mmu, NONE, tlb->nr);
	if (m->mm[tlb->mm].tlb_flush_pending > 1) {
		note_clear(m, tlb);
		tlb->fullmm = true;
		__tlb_reset_range(tlb);
		tlb->freed_tables = true;
	}
	tlb_flush_mmu(m, tlb);
	put(m, &m->mm[tlb->mm].tlb_flush_pending, m->mm[tlb->mm].tlb_flush_pending - 1);
}
