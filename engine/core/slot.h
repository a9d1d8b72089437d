/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A swap slot as a kernel keeps it in memory. The state holds what it means, struct slot;
 * here is what one would read.
 *
 *	swap table (7.3)	 63  60   59   58                        1 0
 *				| count | Z | pfn of the folio's head   |1 0|  cached
 *				| count | Z | shadow                    | |1|  swapped out
 *
 *	swap_map (to 6.16)	   7    6   5      0
 *				| more | C | count |	C: SWAP_HAS_CACHE
 */
#ifndef CORE_SLOT_H
#define CORE_SLOT_H

#include "core/kernel.h"
#include "core/state.h"

/* include/linux/swap.h (6.12) */
#define SWAP_MAP_MAX	0x3e
#define SWAP_MAP_BAD	0x3f
#define SWAP_HAS_CACHE	0x40
#define COUNT_CONTINUED	0x80

/* The word or byte of slot[slot]; what a shadow remembers is not modelled and reads 0. */
u64 slot_raw(const struct mm_state *s, const struct kernel *kernel, u32 slot);
/* "swap table", "swap_map": where that is. */
const char *slot_place(const struct kernel *kernel);
/* How many hex digits it has. */
int slot_digits(const struct kernel *kernel);

#endif
