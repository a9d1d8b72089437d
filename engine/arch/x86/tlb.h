/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86 TLB flushing: a CPU can only flush its own TLB, so the others must be interrupted.
 * Each mm has a generation that rises with every change; each CPU knows up to which one
 * it has flushed. A deferred flush notes CPUs, not addresses, and ends in full flushes.
 *
 *   mm   tlb_gen 5      cpumask 0,1,2
 *   cpu0 tlb_gen 5      nothing to do
 *   cpu1 tlb_gen 4      one behind and the range known: page by page (INVLPG)
 *   cpu2 tlb_gen 2      more than one behind: everything (CR3)
 *
 * arch/x86/mm/tlb.c (7.3) with 4-level tables, no PCID, no page-table isolation. A CPU
 * whose mm is NONE runs on init_mm.
 */
#ifndef ARCH_X86_TLB_H
#define ARCH_X86_TLB_H

#include "arch/arch.h"

#define TLB_FLUSH_ALL UINT64_MAX

/* What one flush is about; on the kernel's stack as well. */
struct flush_tlb_info {
	u32 mm;			/* NONE: whatever the CPU has loaded */
	u64 start, end;		/* end TLB_FLUSH_ALL: everything */
	u64 stride;		/* what one INVLPG is good for */
	u64 new_tlb_gen;	/* 0: not known */
	bool freed_tables;
};

bool x86_tlbbatch_should_defer(const struct machine *m, u32 mm);
void x86_tlbbatch_add_pending(struct machine *m, u32 mm, u64 start, u64 end);
void x86_flush_tlb_page(struct machine *m, u32 vma, u64 va);
void x86_flush_tlb_range(struct machine *m, u32 vma, u64 start, u64 end);
void x86_flush_tlb_mm(struct machine *m, u32 mm);
void x86_tlb_flush(struct machine *m, const struct mmu_gather *tlb);

__mirrored void arch_tlbbatch_flush(struct machine *m);
__mirrored void flush_tlb_mm_range(struct machine *m, u32 mm, u64 start, u64 end, u64 stride,
				   bool freed_tables);
__mirrored void native_flush_tlb_multi(struct machine *m, u64 cpumask,
				       const struct flush_tlb_info *info);
__mirrored void flush_tlb_func(struct machine *m, const struct flush_tlb_info *info);
__mirrored void native_flush_tlb_local(struct machine *m);
__mirrored void native_flush_tlb_one_user(struct machine *m, u64 addr, u32 page);

#endif
