/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operands of arm64 TLBI instructions, and how a range is cut into them.
 *
 *     63  48 47 44 43                         0
 *    +------+-----+---------------------------+
 *    | ASID | TTL |          VA >> 12         |   by address
 *    +------+-----+---------------------------+
 *     63  48 47 46 45   44 43  39 38  37 36   0
 *    +------+-----+-------+------+------+-----+
 *    | ASID | TG  | SCALE | NUM  | TTL  |VA>>12   a range of (NUM+1) << (5*SCALE+1) pages
 *    +------+-----+-------+------+------+-----+
 *
 * arch/arm64/include/asm/tlbflush.h (7.3), 4K granule.
 */
#ifndef ARCH_ARM64_TLBI_H
#define ARCH_ARM64_TLBI_H

#include "core/types.h"

#define TLBI_LEVEL_UNKNOWN 4u		/* no level hint */
#define MAX_TLBI_RANGE_PAGES (1u << 21)

/* The operand of VALE1IS and VAE1IS. ttl: the CPU has FEAT_TTL. */
u64 tlbi_va(u64 va, u32 asid, bool ttl, u32 level);
/* The operand of RVALE1IS and RVAE1IS. */
u64 tlbi_range(u64 va, u32 asid, u32 scale, u32 num, u32 level);

static inline u32 tlbi_range_pages(u32 num, u32 scale)
{
	return (num + 1) << (5 * scale + 1);
}

/*
 * The next range operation for so many pages, not more than MAX_TLBI_RANGE_PAGES.
 * scale starts at 3; count it down after each try. False: no operation at this scale.
 */
static inline bool tlbi_range_step(u32 pages, u32 scale, u32 *num)
{
	u32 units = pages >> (5 * scale + 1);

	*num = units - 1;
	return units != 0;
}

#endif
