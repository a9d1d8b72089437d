/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arm64 page-table entries, 4K granule, level 3, 48-bit addresses.
 *
 *   63 62  60 59 58    57 56      55    54  53  52   51    50  49     12
 *  +--+------+--+-----+--+-------+-----+---+---+----+-----+--+---------+
 *  |  |pkey  |  |UFFD |  |SPECIAL|DIRTY|UXN|PXN|CONT|WRITE|GP|   pfn   |
 *  +--+------+--+-----+--+-------+-----+---+---+----+-----+--+---------+
 *   11 10 9  8  7      6    5  4    2 1    0
 *  +--+--+----+------+----+--+-------+----+-----+
 *  |nG|AF| SH |RDONLY|USER|NS|AttrIdx|type|VALID|   VALID=0, nG=1: present, but not
 *  +--+--+----+------+----+--+-------+----+-----+   for the hardware (PROT_NONE)
 *
 * Dirty is DIRTY, set by software, or WRITE with RDONLY clear, which is how hardware
 * marks a store.
 */
#ifndef ARCH_ARM64_PTE_H
#define ARCH_ARM64_PTE_H

#include "arch/pgtable.h"

#define ARM64_PTE_VALID		(1ull << 0)
#define ARM64_PTE_PAGE		(1ull << 1)
#define ARM64_PTE_ATTR_SHIFT	2
#define ARM64_PTE_ATTR		(7ull << ARM64_PTE_ATTR_SHIFT)
#define ARM64_PTE_USER		(1ull << 6)
#define ARM64_PTE_RDONLY	(1ull << 7)
#define ARM64_PTE_SHARED	(3ull << 8)
#define ARM64_PTE_AF		(1ull << 10)
#define ARM64_PTE_NG		(1ull << 11)
#define ARM64_PTE_INVALID	ARM64_PTE_NG		/* PTE_PRESENT_INVALID */
#define ARM64_PTE_PFN		0x0003fffffffff000ull
#define ARM64_PTE_GP		(1ull << 50)
#define ARM64_PTE_WRITE		(1ull << 51)
#define ARM64_PTE_CONT		(1ull << 52)
#define ARM64_PTE_PXN		(1ull << 53)
#define ARM64_PTE_UXN		(1ull << 54)
#define ARM64_PTE_DIRTY		(1ull << 55)
#define ARM64_PTE_SPECIAL	(1ull << 56)
#define ARM64_PTE_UFFD		(1ull << 58)
#define ARM64_PTE_SWBITS	(1ull << 63 | 15ull << 55)	/* the hardware ignores them */
#define ARM64_PTE_PKEY_SHIFT	60
#define ARM64_PTE_PKEY		(7ull << ARM64_PTE_PKEY_SHIFT)

#define CONT_PTES		16u
#define CONT_PTE_SIZE		(CONT_PTES * PAGE_SIZE)

static inline bool arm64_pte_valid(pte_t pte)
{
	return pte & ARM64_PTE_VALID;
}

static inline bool arm64_pte_valid_cont(pte_t pte)
{
	return (~pte & (ARM64_PTE_VALID | ARM64_PTE_CONT)) == 0;
}

static inline bool arm64_pte_young(pte_t pte)
{
	return pte & ARM64_PTE_AF;
}

static inline bool arm64_pte_write(pte_t pte)
{
	return pte & ARM64_PTE_WRITE;
}

static inline bool arm64_pte_hw_dirty(pte_t pte)
{
	return (pte & (ARM64_PTE_WRITE | ARM64_PTE_RDONLY)) == ARM64_PTE_WRITE;
}

static inline bool arm64_pte_dirty(pte_t pte)
{
	return (pte & ARM64_PTE_DIRTY) || arm64_pte_hw_dirty(pte);
}

static inline u64 arm64_pte_pfn(pte_t pte)
{
	return (pte & ARM64_PTE_PFN) >> PAGE_SHIFT;
}

static inline pte_t arm64_pte_mkyoung(pte_t pte)
{
	return pte | ARM64_PTE_AF;
}

static inline pte_t arm64_pte_mkold(pte_t pte)
{
	return pte & ~ARM64_PTE_AF;
}

static inline pte_t arm64_pte_mkdirty(pte_t pte)
{
	pte |= ARM64_PTE_DIRTY;
	return pte & ARM64_PTE_WRITE ? pte & ~ARM64_PTE_RDONLY : pte;
}

static inline pte_t arm64_pte_mkclean(pte_t pte)
{
	return (pte & ~ARM64_PTE_DIRTY) | ARM64_PTE_RDONLY;
}

static inline pte_t arm64_pte_wrprotect(pte_t pte)
{
	if (arm64_pte_hw_dirty(pte))
		pte |= ARM64_PTE_DIRTY;
	return (pte & ~ARM64_PTE_WRITE) | ARM64_PTE_RDONLY;
}

static inline pte_t arm64_pte_mkcont(pte_t pte)
{
	return pte | ARM64_PTE_CONT;
}

static inline pte_t arm64_pte_mknoncont(pte_t pte)
{
	return pte & ~ARM64_PTE_CONT;
}

static inline pte_t arm64_pte_advance_pfn(pte_t pte, s64 nr)
{
	u64 pfn = arm64_pte_pfn(pte) + (u64)nr;

	return (pte & ~ARM64_PTE_PFN) | ((pfn << PAGE_SHIFT) & ARM64_PTE_PFN);
}

#endif
