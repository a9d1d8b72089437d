/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest machine with a page table: one mm, one VMA of one 2 MiB table that starts
 * at WORLD_VA, one anonymous folio at frame WORLD_PFN, whose page 0 belongs at pte[first].
 * Nothing is mapped. Four CPUs run the mm.
 */
#ifndef UNIT_ARCH_WORLD_H
#define UNIT_ARCH_WORLD_H

#include "arch/arch.h"

#define WORLD_VA 0x7f0000000000ull
#define WORLD_CPUS 4u
#define WORLD_TLB 8u

struct world {
	struct machine m;
	u32 *words;
};

enum ad { YOUNG = 1, DIRTY = 2, BOTH = 3 };

#define WORLD_PFN 0x12340u	/* orders up to 6; larger folios lie at 0x12400 */

struct world world_new(const struct arch *arch, u32 features, u32 order, u32 first);
void world_free(struct world *w);

/* A writable entry for a page of the folio. */
pte_t world_pte(const struct machine *m, u32 ad, u32 page);
/* Change the table behind everybody's back. */
void world_put_pte(struct machine *m, u32 pte, pte_t val);
void world_reset_counts(struct machine *m);

#endif
