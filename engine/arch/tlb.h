/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each CPU's TLB holds: nr_tlb entries in use from tlb[s->nr_tlb * cpu] on, in no
 * order. Filling and dropping here cost nothing and make no step; who calls it tells.
 *
 *   page table   0x7f0000010000  none              (unmapped, flush pending)
 *   cpu 1's TLB  0x7f0000010000  pfn 0x12340 w d   stale: it still translates
 *
 * Real hardware may drop a translation at any time between the TLBI and the end of the
 * DSB that waits for it. Here it stays until the DSB: only then can the kernel be sure.
 */
#ifndef ARCH_TLB_H
#define ARCH_TLB_H

#include "arch/arch.h"
#include "core/machine.h"

/* The entry of that CPU that translates va, in tlb[], or NONE. */
u32 tlb_find(const struct mm_state *s, u32 cpu, u32 mm, u64 va);

/*
 * A table walk: the CPU now holds the translation of pte[pte], which must be accessible;
 * one for the whole contpte block or huge PMD if it is in one. Replaces what the CPU held for these
 * addresses. Without room another entry goes. Returns its index, NONE if the CPU holds none at all.
 */
u32 tlb_fill(struct machine *m, u32 cpu, u32 pte);

void tlb_drop_range(struct machine *m, u32 cpu, u32 mm, u64 start, u64 end);
/*
 * arm64: the CPU that runs has broadcast a TLBI; tlb_drop_invalidated() is its DSB ISH,
 * which waits for its own TLBIs only. In between an entry is tlb_invalidated().
 */
void tlb_invalidate_range(struct machine *m, u32 mm, u64 start, u64 end);
void tlb_drop_invalidated(struct machine *m);
bool tlb_invalidated(const struct tlb_entry *entry);

void tlb_drop_all(struct machine *m, u32 cpu);

/*
 * This CPU is to run another mm: it loads it and joins its CPU mask. Without PCIDs x86
 * forgets all it holds; on arm64 the ASID keeps the address spaces apart.
 */
void switch_mm(struct machine *m, u32 mm);

/*
 * It goes idle and keeps what it has loaded. x86 does not interrupt it until it runs the mm
 * again: then it looks whether it has missed a flush.
 */
void enter_lazy_tlb(struct machine *m);

/* Does it translate what the page table does not, or not so? */
bool tlb_unmapped(const struct mm_state *s, const struct arch *arch, const struct tlb_entry *entry);
/* Would a store through it leave no mark: it is dirty, none of the entries is? All are mapped. */
bool tlb_dirty_alone(const struct mm_state *s, const struct arch *arch,
		     const struct tlb_entry *entry);
/* Does it translate what the page table does not, or allow more? */
bool tlb_stale(const struct mm_state *s, const struct arch *arch, const struct tlb_entry *entry);

#endif
