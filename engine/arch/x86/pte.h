/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64 page-table entries, 4K pages, CONFIG_MEM_SOFT_DIRTY, CPU without shadow stacks.
 *
 *   63 62  59 58    57 52 51     12 11   10   9      8 7   6 5 4   3   2  1  0
 *  +--+------+-----+-----+---------+----+----+------+-+---+-+-+---+---+--+--+-+
 *  |NX| pkey |Saved|     |   pfn   |Soft|UFFD|Special|G|PAT|D|A|PCD|PWT|US|RW|P|
 *  |  |      |Dirty|     |         |Dirty    |      | |   | | |   |   |  |  | |
 *  +--+------+-----+-----+---------+----+----+------+-+---+-+-+---+---+--+--+-+
 *
 * P=0, G=1 is PROT_NONE: present for the kernel, and its pfn field is inverted, so that
 * speculation finds no cacheable memory there (L1TF). RW=0, D=1 would be a shadow stack
 * page, so dirty moves to SavedDirty while RW is clear.
 */
#ifndef ARCH_X86_PTE_H
#define ARCH_X86_PTE_H

#include "arch/pgtable.h"

#define X86_PTE_P		(1ull << 0)
#define X86_PTE_RW		(1ull << 1)
#define X86_PTE_US		(1ull << 2)
#define X86_PTE_PWT		(1ull << 3)
#define X86_PTE_PCD		(1ull << 4)
#define X86_PTE_A		(1ull << 5)
#define X86_PTE_D		(1ull << 6)
#define X86_PTE_PAT		(1ull << 7)
#define X86_PTE_G		(1ull << 8)
#define X86_PTE_PROTNONE	(1ull << 8)	/* when P=0 */
#define X86_PTE_SPECIAL		(1ull << 9)
#define X86_PTE_UFFD		(1ull << 10)
#define X86_PTE_SOFT_DIRTY	(1ull << 11)
#define X86_PTE_PFN		0x000ffffffffff000ull
#define X86_PTE_SAVED_DIRTY	(1ull << 58)
#define X86_PTE_PKEY_SHIFT	59
#define X86_PTE_PKEY		(15ull << X86_PTE_PKEY_SHIFT)
#define X86_PTE_NX		(1ull << 63)
#define X86_PMD_PSE		(1ull << 7)	/* maps 2 MiB itself */
#define X86_PMD_PFN		0x000fffffffe00000ull

static inline bool x86_pte_present(pte_t pte)
{
	return pte & (X86_PTE_P | X86_PTE_PROTNONE);
}

static inline bool x86_pte_dirty(pte_t pte)
{
	return pte & (X86_PTE_D | X86_PTE_SAVED_DIRTY);
}

static inline bool x86_pte_young(pte_t pte)
{
	return pte & X86_PTE_A;
}

static inline bool x86_pte_needs_invert(pte_t pte)
{
	return pte && !(pte & X86_PTE_P);
}

static inline u64 x86_pte_pfn(pte_t pte)
{
	return ((x86_pte_needs_invert(pte) ? ~pte : pte) & X86_PTE_PFN) >> PAGE_SHIFT;
}

static inline pte_t x86_pte_mkold(pte_t pte)
{
	return pte & ~X86_PTE_A;
}

/* RW=0: D moves to SavedDirty. */
static inline pte_t x86_pte_mksaveddirty(pte_t pte)
{
	if ((pte & (X86_PTE_RW | X86_PTE_D)) == X86_PTE_D)
		pte = (pte & ~X86_PTE_D) | X86_PTE_SAVED_DIRTY;
	return pte;
}

/* RW=1: SavedDirty moves back to D. */
static inline pte_t x86_pte_clear_saveddirty(pte_t pte)
{
	if ((~pte & (X86_PTE_RW | X86_PTE_SAVED_DIRTY)) == 0)
		pte = (pte & ~X86_PTE_SAVED_DIRTY) | X86_PTE_D;
	return pte;
}

static inline pte_t x86_pte_wrprotect(pte_t pte)
{
	return x86_pte_mksaveddirty(pte & ~X86_PTE_RW);
}

static inline pte_t x86_pte_mkclean(pte_t pte)
{
	return pte & ~(X86_PTE_D | X86_PTE_SAVED_DIRTY);
}

static inline pte_t x86_pte_advance_pfn(pte_t pte, s64 nr)
{
	u64 step = (u64)nr << PAGE_SHIFT;

	return x86_pte_needs_invert(pte) ? pte - step : pte + step;
}

#endif
