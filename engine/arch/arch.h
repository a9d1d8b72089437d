/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs per architecture when reclaim touches page tables and TLBs.
 *
 *   mm/rmap.c ...  ->  struct arch  ->  arm64/, x86/   counts and steps
 *                                    ->  tlb.h          what the CPUs' TLBs hold
 *
 * pte arguments are indices in pte[]; a run never leaves its page table. What is done to
 * a PMD is alike on all of them: pgtable_generic.h. Names
 * are the kernel's. Costs (loads, exchanges, stores, TLBI, DSB, interrupts) are
 * counted here and nowhere else.
 *
 * Adding an architecture: a folder with a struct arch and its struct pte_ops, the
 * former's declaration below, and one line in arch.c. Everybody else finds it there
 * and asks struct pte_ops what it has.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include "arch/pgtable.h"
#include "core/kernel.h"
#include "core/machine.h"

/* include/linux/pgtable.h: cydp_t */
enum cydp { CYDP_CLEAR_YOUNG = 1, CYDP_CLEAR_DIRTY = 2 };

struct mmu_gather;

struct arch {
	const char *name;		/* "arm64", "x86_64": as in lane names */
	const char *title;		/* "arm64, 4K pages" */
	const struct pte_ops *pte, *pmd;
	bool tlb_keeps_asids;		/* other address spaces' entries survive a switch */
	bool tlb_flush_each_vma;	/* a gather is flushed where a VMA ends */
	bool invalidate_ad_flushes;	/* pmdp_invalidate_ad() is pmdp_invalidate() */
	bool late;			/* had no tlbbatch, no uffd-wp in 6.1 */
	u32 deref_loads;		/* of *pvmw.pte in try_to_unmap_one() of 6.1, compiled */

	/* include/linux/pgtable.h and the arch's overrides */
	pte_t (*ptep_get)(struct machine *m, u32 pte);
	pte_t (*ptep_get_lockless)(struct machine *m, u32 pte);
	void (*set_ptes)(struct machine *m, u32 pte, pte_t val, u32 nr);
	/* The first entry's old value; dirty and young if any of the run was. */
	pte_t (*get_and_clear_ptes)(struct machine *m, u32 pte, u32 nr);
	/* The same where nobody wants to know the values. full: the whole address space goes. */
	void (*clear_full_ptes)(struct machine *m, u32 pte, u32 nr, bool full);
	void (*pte_clear)(struct machine *m, u32 pte);	/* not present, or nobody else can see it */
	u32 (*pte_batch_hint)(pte_t val, u32 pte);
	/* A fault makes the entry allow more: true if it did not before. dirty: for a store. */
	bool (*ptep_set_access_flags)(struct machine *m, u32 pte, pte_t entry, bool dirty);
	void (*wrprotect_ptes)(struct machine *m, u32 pte, u32 nr);
	bool (*test_and_clear_young_ptes)(struct machine *m, u32 pte, u32 nr);
	bool (*clear_flush_young_ptes)(struct machine *m, u32 pte, u32 nr);
	void (*clear_young_dirty_ptes)(struct machine *m, u32 pte, u32 nr, u32 cydp);

	/* asm/pgalloc.h: the PMD of table[table] points to its PTEs from here on. NONE: a PMD
	 * on the stack, which costs the same. */
	void (*pmd_populate)(struct machine *m, u32 table);

	/* asm/tlbflush.h */
	bool (*tlbbatch_should_defer)(const struct machine *m, u32 mm);
	void (*tlbbatch_add_pending)(struct machine *m, u32 mm, u64 start, u64 end);
	void (*tlbbatch_flush)(struct machine *m);
	void (*flush_tlb_page)(struct machine *m, u32 vma, u64 va);
	void (*flush_tlb_range)(struct machine *m, u32 vma, u64 start, u64 end);
	void (*flush_pmd_tlb_range)(struct machine *m, u32 vma, u64 start, u64 end);
	void (*flush_tlb_mm)(struct machine *m, u32 mm);

	/* mprotect has changed old to new: could a TLB hold what does not hold any more? */
	bool (*pte_needs_flush)(const struct kernel *kernel, pte_t old, pte_t new);
	bool (*huge_pmd_needs_flush)(const struct kernel *kernel, pmd_t old, pmd_t new);

	/* asm/tlb.h: the one flush of what was gathered */
	void (*tlb_flush)(struct machine *m, const struct mmu_gather *tlb);
};

extern const struct arch arm64_arch, x86_arch;

/* Does this kernel note unmapped PTEs here and flush them later? */
static inline bool arch_has_tlbbatch(const struct machine *m)
{
	return !m->arch->late || m->kernel->unmap_flush == UNMAP_FLUSH_LATER;
}

/* Has it userfaultfd-wp here? */
static inline bool arch_has_uffd_wp(const struct machine *m)
{
	return !m->arch->late || m->kernel->uffd_wp == UFFD_WP_ALL;
}

/* The architecture of that name, or NULL. */
const struct arch *arch_find(const char *name);
/* The same, compiled UNWATCHED. */
const struct arch *unwatched_arch_find(const char *name);
extern const struct arch *const archs[];
extern const u32 nr_archs;

/* What translates the address of pte[pte]: that entry, or the huge PMD above it. */
struct leaf {
	const u64 *entry;
	const struct pte_ops *ops;
	u32 behind;		/* pages from the entry's first one to this */
};
struct leaf leaf_of(const struct mm_state *s, const struct arch *arch, u32 pte);

/* Protection of a mapping in this VMA as long as nothing makes it writable. */
static inline enum pgprot vm_page_prot(const struct vma *vma)
{
	return vma->flags & VM_EXEC ? PAGE_READONLY_EXEC : PAGE_READONLY;
}

/*
 * The page, in page[], that an entry is about: mapped by a present one, under migration or
 * in the swap cache under another; the page that the task unmaps if it is empty. Else NONE.
 */
u32 pte_page(const struct machine *m, pte_t val);
/* The slot, in slot[], that a swap entry names, or NONE if it is none. */
u32 pte_slot(const struct machine *m, pte_t val);

#endif
