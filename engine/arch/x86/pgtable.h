/* SPDX-License-Identifier: GPL-2.0-only */
/* arch/x86/mm/pgtable.c (7.3) */
#ifndef ARCH_X86_PGTABLE_H
#define ARCH_X86_PGTABLE_H

#include "arch/arch.h"

__mirrored bool ptep_set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty);

#endif
