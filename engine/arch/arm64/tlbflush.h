/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arm64 TLB maintenance: every flush is DSB ISHST, some TLBI, DSB ISH. The TLBI reaches
 * all CPUs by itself; the DSB ISH waits until they are done. A deferred flush issues its
 * TLBI at once and puts off the wait.
 *
 * arch/arm64/include/asm/tlbflush.h (7.3); all inline there, so none of these is a
 * mirrored function.
 */
#ifndef ARCH_ARM64_TLBFLUSH_H
#define ARCH_ARM64_TLBFLUSH_H

#include "arch/arch.h"

enum tlbf {
	TLBF_NONE = 0,
	TLBF_NOWALKCACHE = 1,	/* leaf entries only: VALE1IS instead of VAE1IS */
	TLBF_NOSYNC = 2,	/* no DSB ISH at the end */
	TLBF_NOBROADCAST = 4,	/* on this CPU alone: VALE1 between DSB NSHST and DSB NSH */
};

/* stride: PAGE_SIZE or PMD_SIZE. page: the first page of the range for those who watch, in
 * page[], or NONE. */
void __flush_tlb_range(struct machine *m, u32 mm, u64 start, u64 end, u64 stride, u32 flags,
		       u32 page);
/* Makes stores to a page table visible before what follows. */
void arm64_dsb_ishst(struct machine *m);

bool arm64_tlbbatch_should_defer(const struct machine *m, u32 mm);
void arm64_tlbbatch_add_pending(struct machine *m, u32 mm, u64 start, u64 end);
void arm64_tlbbatch_flush(struct machine *m);
void arm64_flush_tlb_page(struct machine *m, u32 vma, u64 va);
void arm64_flush_tlb_range(struct machine *m, u32 vma, u64 start, u64 end);
void arm64_flush_pmd_tlb_range(struct machine *m, u32 vma, u64 start, u64 end);
void arm64_flush_tlb_mm(struct machine *m, u32 mm);
bool arm64_pte_needs_flush(const struct kernel *kernel, pte_t old, pte_t new);
void arm64_tlb_flush(struct machine *m, const struct mmu_gather *tlb);

#endif
