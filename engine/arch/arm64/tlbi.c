/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/arm64/tlbi.h"

#define GRANULE_4K 1u

u64 tlbi_va(u64 va, u32 asid, bool ttl, u32 level)
{
	u64 hint = ttl && level < TLBI_LEVEL_UNKNOWN ? level | GRANULE_4K << 2 : 0;

	return (va >> 12 & ((1ull << 44) - 1)) | hint << 44 | (u64)(asid & 0xffff) << 48;
}

u64 tlbi_range(u64 va, u32 asid, u32 scale, u32 num, u32 level)
{
	u64 hint = level < TLBI_LEVEL_UNKNOWN ? level : 0;

	return (va >> 12 & ((1ull << 37) - 1)) | hint << 37 | (u64)(num & 31) << 39 |
	       (u64)(scale & 3) << 44 | (u64)GRANULE_4K << 46 | (u64)(asid & 0xffff) << 48;
}
