/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel does to PMD entries in the same way on both architectures; only the
 * flush differs. mm/pgtable-generic.c and the arch's pgtable.h (7.3).
 *
 *   table[].pmd   huge entry      one translation of 512 pages
 *                 invalidated     present for the kernel, each access faults
 *                 0, populated    points to the 512 entries in pte[]
 *                 0               nothing here
 *
 * A huge mapping never turns into 512 small ones in one step: no CPU may hold a huge and
 * a small translation of one address. So: invalidate, flush, fill the PTEs, populate.
 */
#ifndef ARCH_PGTABLE_GENERIC_H
#define ARCH_PGTABLE_GENERIC_H

#include "arch/arch.h"

/* table: an index in table[]. */
static inline pmd_t pmdp_get(const struct machine *m, u32 table)
{
	return m->table[table].pmd;
}

__mirrored pte_t ptep_clear_flush(struct machine *m, const struct vma *vma, u64 address, u32 pte);

void set_pmd_at(struct machine *m, u32 table, pmd_t pmd);
void pmdp_set_wrprotect(struct machine *m, u32 table);
pmd_t pmdp_huge_get_and_clear(struct machine *m, u32 table);
/* Both return the entry that was there. */
__mirrored pmd_t pmdp_invalidate(struct machine *m, u32 vma, u32 table);
__mirrored pmd_t pmdp_invalidate_ad(struct machine *m, u32 vma, u32 table);
/* Was it accessed? Not any more. */
__mirrored bool pmdp_clear_flush_young(struct machine *m, u32 vma, u32 table);
__mirrored pmd_t pmdp_huge_clear_flush(struct machine *m, u32 vma, u32 table);

#endif
