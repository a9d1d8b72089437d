/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * contpte: sixteen entries that map sixteen pages in a row, all 64K aligned, may carry
 * the contiguous bit and share one TLB entry. They must stay alike in everything but
 * accessed and dirty, which hardware may set in any of them.
 *
 *   fold    16 separate entries  -> clear, flush, write with CONT
 *   unfold  a block, one of which is to change  -> clear, flush, write without CONT
 *
 * arch/arm64/mm/contpte.c (7.3), the same names and order of effects. pte is an index
 * in pte[]; alignment in the table is alignment of the address.
 */
#ifndef ARCH_ARM64_CONTPTE_H
#define ARCH_ARM64_CONTPTE_H

#include "arch/arch.h"

__mirrored pte_t contpte_ptep_get(struct machine *m, u32 pte, pte_t orig);
__mirrored pte_t contpte_ptep_get_lockless(struct machine *m, u32 pte);
__mirrored void __contpte_try_fold(struct machine *m, u32 pte, pte_t val);
__mirrored void __contpte_try_unfold(struct machine *m, u32 pte, pte_t val);
__mirrored void contpte_convert(struct machine *m, u32 pte, pte_t val);
__mirrored void contpte_try_unfold_partial(struct machine *m, u32 pte, u32 nr);
__mirrored void contpte_set_ptes(struct machine *m, u32 pte, pte_t val, u32 nr);
__mirrored pte_t contpte_get_and_clear_full_ptes(struct machine *m, u32 pte, u32 nr);
__mirrored void contpte_clear_full_ptes(struct machine *m, u32 pte, u32 nr);
__mirrored void contpte_wrprotect_ptes(struct machine *m, u32 pte, u32 nr);
__mirrored bool contpte_test_and_clear_young_ptes(struct machine *m, u32 pte, u32 nr);
__mirrored bool contpte_clear_flush_young_ptes(struct machine *m, u32 pte, u32 nr);
__mirrored void contpte_clear_young_dirty_ptes(struct machine *m, u32 pte, u32 nr, u32 cydp);
__mirrored bool contpte_ptep_test_and_clear_young(struct machine *m, u32 pte);
__mirrored bool contpte_ptep_clear_flush_young(struct machine *m, u32 pte);
__mirrored bool contpte_ptep_set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty);

/* arch/arm64/mm/fault.c: the same for an entry on its own; 7.3 and before */
__mirrored bool __ptep_set_access_flags_anysz(struct machine *m, u32 pte, pte_t entry, bool dirty);
__mirrored bool __ptep_set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty);
/* That of the two which this kernel has. */
bool arm64_set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty);
/* The flush after it, of nr entries. */
void arm64_flush_access(struct machine *m, u32 pte, u32 nr);

/* One load, to see whether the entry is in a block; the second unfolds the block if so. */
pte_t contpte_check(struct machine *m, u32 pte);
pte_t contpte_try_unfold(struct machine *m, u32 pte);

/* asm/pgtable.h: single entries, whatever block they are in; no check, no unfolding */
pte_t __get_and_clear_full_ptes(struct machine *m, u32 pte, u32 nr);
void __set_ptes(struct machine *m, u32 pte, pte_t val, u32 nr);
void __wrprotect_ptes(struct machine *m, u32 pte, u32 nr);
void ___ptep_set_wrprotect(struct machine *m, u32 pte, pte_t val);
bool __ptep_test_and_clear_young(struct machine *m, u32 pte);
void __clear_young_dirty_ptes(struct machine *m, u32 pte, u32 nr, u32 cydp);

#endif
