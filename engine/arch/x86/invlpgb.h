/* SPDX-License-Identifier: GPL-2.0-only */
/* Operands of AMD's INVLPGB; arch/x86/include/asm/tlb.h (7.3). */
#ifndef ARCH_X86_INVLPGB_H
#define ARCH_X86_INVLPGB_H

#include "core/types.h"

struct invlpgb {
	u64 rax;		/* address, and which of the other fields count */
	u32 ecx;		/* bit 31: 2 MiB stride; pages - 1 */
	u32 edx;		/* PCID << 16 | ASID of a guest, 0 */
};

/* So many user pages from addr on, 4K or 2M apart. */
struct invlpgb invlpgb_user_nr(u32 pcid, u64 addr, u32 pages, bool pmd_stride);
struct invlpgb invlpgb_single_pcid(u32 pcid);
struct invlpgb invlpgb_all_nonglobals(void);

#endif
