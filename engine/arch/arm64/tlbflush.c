/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/access.h"
#include "arch/arm64/pte.h"
#include "arch/arm64/tlbflush.h"
#include "arch/arm64/tlbi.h"
#include "arch/mmu_gather.h"
#include "arch/tlb.h"

#define MAX_DVM_OPS PTRS_PER_PTE

void arm64_dsb_ishst(struct machine *m)
{
	count(m, COUNT_dsb_ishst, 1);
	step(m, EV_dsb_ishst, NONE, 0);
}

static void dsb_ish(struct machine *m)
{
	tlb_drop_invalidated(m);
	count(m, COUNT_dsb_ish, 1);
	step(m, EV_dsb_ish, NONE, 0);
}

/* __tlbi_sync_s1ish(): wait, twice where an erratum asks for it. Completes a flush. */
static void tlbi_sync(struct machine *m)
{
	count(m, COUNT_tlb_flush, 1);
	dsb_ish(m);
	if (!cpu_has(m, FEATURE_repeat_tlbi))
		return;
	count(m, COUNT_tlbi_page, 1);
	step(m, EV_tlbi_dummy, NONE, 0);
	dsb_ish(m);
}

static void tlbi(struct machine *m, u32 mm, u64 addr, u64 end, bool local)
{
	if (local)
		tlb_drop_range(m, m->s->cpu, mm, addr, end);
	else
		tlb_invalidate_range(m, mm, addr, end);
}

static void step_tlbi(struct machine *m, bool local, enum event event, u32 page, u32 pages)
{
	enum counter counter = event == EV_tlbi_page ? COUNT_tlbi_page : COUNT_tlbi_range;

	count(m, local ? COUNT_tlbi_local : counter, 1);
	step(m, local ? EV_tlbi_local : event, page, pages);
}

/* __flush_tlb_range_op(): ranges from the largest scale down, a last odd page alone. */
static void flush_range_op(struct machine *m, u32 mm, u64 addr, u64 end, u64 stride, bool local,
			   u32 page)
{
	const bool known = page != NONE;
	u32 scale = 3;

	while (addr != end) {
		u32 left = (u32)((end - addr) >> PAGE_SHIFT);
		u32 pages = (u32)(stride >> PAGE_SHIFT), num;

		if (!known)
			page = watched_entry(m, mm, addr);
		if (!cpu_has(m, FEATURE_tlbi_range) || left == 1) {
			tlbi(m, mm, addr, addr + PAGE_SIZE, local);
			step_tlbi(m, local, EV_tlbi_page, page, pages);
		} else if (tlbi_range_step(left, scale--, &num)) {
			pages = tlbi_range_pages(num, scale + 1);
			tlbi(m, mm, addr, addr + pages * PAGE_SIZE, local);
			step_tlbi(m, local, EV_tlbi_range, page, pages);
		} else {
			continue;
		}
		addr += pages * PAGE_SIZE;
		if (known)
			page += pages;
	}
}

static bool limit_excess(const struct machine *m, u64 size, u64 stride)
{
	if (cpu_has(m, FEATURE_tlbi_range))
		return size > MAX_TLBI_RANGE_PAGES * PAGE_SIZE;
	return size >= MAX_DVM_OPS * stride;
}

void __flush_tlb_range(struct machine *m, u32 mm, u64 start, u64 end, u64 stride, u32 flags,
		       u32 page)
{
	if (limit_excess(m, end - start, stride)) {
		arm64_flush_tlb_mm(m, mm);
		return;
	}
	if (flags & TLBF_NOBROADCAST) {
		step(m, EV_dsb_nshst, NONE, 0);
		flush_range_op(m, mm, start, end, stride, true, page);
		step(m, EV_dsb_nsh, NONE, 0);
		return;
	}
	arm64_dsb_ishst(m);
	flush_range_op(m, mm, start, end, stride, false, page);
	if (!(flags & TLBF_NOSYNC))
		tlbi_sync(m);
}

void arm64_flush_tlb_mm(struct machine *m, u32 mm)
{
	arm64_dsb_ishst(m);
	tlb_invalidate_range(m, mm, 0, UINT64_MAX);
	count(m, COUNT_tlbi_asid, 1);
	step(m, EV_tlbi_asid, NONE, mm);
	tlbi_sync(m);
}

void arm64_flush_tlb_page(struct machine *m, u32 vma, u64 va)
{
	__flush_tlb_range(m, m->vma[vma].mm, va, va + PAGE_SIZE, PAGE_SIZE, TLBF_NOWALKCACHE,
			  m->task->page);
}

void arm64_flush_tlb_range(struct machine *m, u32 vma, u64 start, u64 end)
{
	__flush_tlb_range(m, m->vma[vma].mm, start, end, PAGE_SIZE, TLBF_NONE, m->task->page);
}

void arm64_flush_pmd_tlb_range(struct machine *m, u32 vma, u64 start, u64 end)
{
	__flush_tlb_range(m, m->vma[vma].mm, start, end, PMD_SIZE, TLBF_NONE, m->task->page);
}

bool arm64_tlbbatch_should_defer(const struct machine *m, u32 mm)
{
	(void)mm;
	return arch_has_tlbbatch(m);
}

void arm64_tlbbatch_add_pending(struct machine *m, u32 mm, u64 start, u64 end)
{
	__flush_tlb_range(m, mm, start, end, PAGE_SIZE, TLBF_NOWALKCACHE | TLBF_NOSYNC,
			  m->task->page);
}

void arm64_tlbbatch_flush(struct machine *m)
{
	tlbi_sync(m);
}

/* __pte_flags_need_flush(); before it any change was flushed, and none too */
bool arm64_pte_needs_flush(const struct kernel *kernel, pte_t old, pte_t new)
{
	if (kernel->prot_flush == PROT_FLUSH_ALL)
		return true;
	return old & ARM64_PTE_VALID && (old ^ new) & ~ARM64_PTE_SWBITS;
}

/* asm/tlb.h:tlb_flush. An ASID is not used again before its translations are gone. */
void arm64_tlb_flush(struct machine *m, const struct mmu_gather *tlb)
{
	u64 stride = tlb->cleared_ptes ? PAGE_SIZE : PMD_SIZE;

	if (!tlb->fullmm)
		__flush_tlb_range(m, tlb->mm, tlb->start & ~(stride - 1),
				  (tlb->end + stride - 1) & ~(stride - 1), stride,
				  tlb->freed_tables ? TLBF_NONE : TLBF_NOWALKCACHE, NONE);
	else if (tlb->freed_tables)
		arm64_flush_tlb_mm(m, tlb->mm);
}
