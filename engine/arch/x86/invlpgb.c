/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/x86/invlpgb.h"

enum { VA_VALID = 1, PCID_VALID = 2, ASID_VALID = 4 };

struct invlpgb invlpgb_user_nr(u32 pcid, u64 addr, u32 pages, bool pmd_stride)
{
	return (struct invlpgb){
		.rax = (addr & ~0xfffull) | VA_VALID | PCID_VALID | ASID_VALID,
		.ecx = (u32)pmd_stride << 31 | (pages - 1),
		.edx = pcid << 16,
	};
}

struct invlpgb invlpgb_single_pcid(u32 pcid)
{
	return (struct invlpgb){ .rax = PCID_VALID | ASID_VALID, .edx = pcid << 16 };
}

struct invlpgb invlpgb_all_nonglobals(void)
{
	return (struct invlpgb){ .rax = ASID_VALID };
}
