/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a zap gathers before it flushes once and frees: include/asm-generic/tlb.h (7.3).
 *
 *	clear PTEs, note the range and the pages   ...as many as fit...
 *	flush the range
 *	drop the pages' references
 *
 * It lives on the stack of who zaps. A page keeps its references until the flush is over,
 * so that no translation ever leads to free memory: struct folio counts them as held.
 */
#ifndef ARCH_MMU_GATHER_H
#define ARCH_MMU_GATHER_H

#include "arch/pgtable.h"

#define MMU_GATHER_BUNDLE 8u		/* entries on the stack */
#define MAX_GATHER_BATCH 510u		/* entries in each further batch, a page of memory */
#define MAX_GATHER_BATCH_COUNT (10000u / MAX_GATHER_BATCH)
#define MAX_GATHERED (MMU_GATHER_BUNDLE + MAX_GATHER_BATCH_COUNT * MAX_GATHER_BATCH)

struct mmu_gather {
	u32 mm;
	u64 start, end;		/* to be flushed; start above end: nothing yet */
	bool fullmm;		/* the whole address space goes */
	bool freed_tables;
	bool cleared_ptes, cleared_pmds;

	u32 batch_nr, batch_max, batch_count;	/* of the batch in use; further batches */
	u32 nr;
	struct { u32 page, nr; } gathered[MAX_GATHERED];
};

#endif
