/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/access.h"
#include "arch/mmu_gather.h"
#include "arch/tlb.h"
#include "arch/x86/tlb.h"

#define SINGLE_PAGE_FLUSH_CEILING 33	/* tlb_single_page_flush_ceiling */
#define TLB_GENERATION_INVALID 0

static u64 bit(u32 cpu)
{
	return 1ull << cpu;
}

/* The CPUs of a mask, one after the other. */
#define for_each_cpu(cpu, mask)								\
	for (u64 left = (mask); left && (cpu = (u32)__builtin_ctzll(left), true); left &= left - 1)

static void inc_mm_tlb_gen(struct machine *m, u32 mm)
{
	put64(m, &m->mm[mm].tlb_gen, m->mm[mm].tlb_gen + 1);
	count(m, COUNT_tlb_gen_inc, 1);
}

/* --- what one CPU does ---------------------------------------------------- */

static void write_cr3(struct machine *m, u32 cpu)
{
	if (m->cpu[cpu].nr_tlb)
		tlb_drop_all(m, cpu);
	count(m, COUNT_cr3_write, 1);
	step(m, EV_cr3_write, NONE, cpu);
}

static void invlpg(struct machine *m, u32 cpu, u64 addr, u32 page)
{
	if (m->cpu[cpu].nr_tlb)
		tlb_drop_range(m, cpu, m->cpu[cpu].mm, addr, addr + PAGE_SIZE);
	count(m, COUNT_invlpg, 1);
	step(m, EV_invlpg, page, cpu);
}

/* arch/x86/mm/tlb.c:native_flush_tlb_local; same */
__mirrored void native_flush_tlb_local(struct machine *m)
{
	enter(m, EV_native_flush_tlb_local, NONE, m->s->cpu);
	write_cr3(m, m->s->cpu);
}

/* arch/x86/mm/tlb.c:native_flush_tlb_one_user; same without page-table isolation */
__mirrored void native_flush_tlb_one_user(struct machine *m, u64 addr, u32 page)
{
	enter(m, EV_native_flush_tlb_one_user, page, m->s->cpu);
	invlpg(m, m->s->cpu, addr, page);
}

static void flush_everything(struct machine *m, u32 cpu)
{
	if (cpu == m->s->cpu)
		native_flush_tlb_local(m);
	else
		write_cr3(m, cpu);
}

static void flush_pages(struct machine *m, u32 cpu, const struct flush_tlb_info *info)
{
	const bool known = m->task->page != NONE;
	u32 page = m->task->page;

	for (u64 addr = info->start; addr < info->end; addr += info->stride) {
		if (!known)
			page = watched_entry(m, info->mm, addr);
		if (cpu == m->s->cpu)
			native_flush_tlb_one_user(m, addr, page);
		else
			invlpg(m, cpu, addr, page);
		page += known ? (u32)(info->stride >> PAGE_SHIFT) : 0;
	}
}

/* No CPU flushes for an mm that it does not run. False: done. */
static bool runs_flushed_mm(struct machine *m, u32 cpu, const struct flush_tlb_info *info)
{
	const struct cpu *c = m->cpu + cpu;
	u32 loaded = c->mm;

	if (info->mm != NONE && info->mm != loaded && m->kernel->mm_cpumask == CPUMASK_EXACT) {
		step(m, EV_tlb_nothing_to_do, NONE, cpu);
		return false;
	}
	if (info->mm != NONE && info->mm != loaded) {
		put64(m, &m->mm[info->mm].cpumask, m->mm[info->mm].cpumask & ~bit(cpu));
		step(m, EV_tlb_wrong_mm, NONE, cpu);
		return false;
	}
	if (loaded == NONE) {
		step(m, EV_tlb_nothing_to_do, NONE, cpu);
		return false;
	}
	if (c->lazy) {
		tlb_drop_all(m, cpu);
		put(m, &c->mm, NONE);
		put(m, &c->lazy, 0);
		count(m, COUNT_cr3_write, 1);
		step(m, EV_lazy_mm_left, NONE, cpu);
		return false;
	}
	return true;
}

/* The body of flush_tlb_func() on any CPU. */
static void flush_on_cpu(struct machine *m, u32 cpu, const struct flush_tlb_info *info)
{
	const struct cpu *c = m->cpu + cpu;
	u64 local_gen = c->tlb_gen, mm_gen;

	if (!runs_flushed_mm(m, cpu, info))
		return;
	mm_gen = m->mm[c->mm].tlb_gen;
	if (local_gen == mm_gen ||
	    (info->new_tlb_gen != TLB_GENERATION_INVALID && info->new_tlb_gen <= local_gen)) {
		step(m, EV_tlb_nothing_to_do, NONE, cpu);
		return;
	}
	if (info->end != TLB_FLUSH_ALL && info->new_tlb_gen == local_gen + 1 &&
	    info->new_tlb_gen == mm_gen)
		flush_pages(m, cpu, info);
	else
		flush_everything(m, cpu);
	put64(m, &c->tlb_gen, mm_gen);
	step(m, EV_tlb_gen_caught_up, NONE, cpu);
}

/* arch/x86/mm/tlb.c:flush_tlb_func; reduced: entered on the CPU that asks; what the
 * interrupted ones do in it are plain steps. */
__mirrored void flush_tlb_func(struct machine *m, const struct flush_tlb_info *info)
{
	enter(m, EV_flush_tlb_func, m->task->page, m->s->cpu);
	flush_on_cpu(m, m->s->cpu, info);
}

/* --- who is told ---------------------------------------------------------- */

static bool should_flush_tlb(const struct machine *m, u32 cpu, const struct flush_tlb_info *info)
{
	if (m->cpu[cpu].lazy)
		return false;
	return info->mm == NONE || m->cpu[cpu].mm == info->mm;
}

/* The CPUs of the mask that must flush; those that need not are told to the watcher. */
static u64 flush_targets(struct machine *m, u64 cpumask, const struct flush_tlb_info *info)
{
	u64 targets = 0;
	u32 cpu;

	for_each_cpu(cpu, cpumask) {
		if (info->freed_tables || should_flush_tlb(m, cpu, info))
			targets |= bit(cpu);
		else
			step(m, m->cpu[cpu].lazy ? EV_ipi_skipped : EV_ipi_not_needed, NONE, cpu);
	}
	return targets;
}

/* arch/x86/mm/tlb.c:native_flush_tlb_multi; reduced: no trimming of the CPU mask. The
 * others are interrupted, this CPU flushes meanwhile, then it waits for them. */
__mirrored void native_flush_tlb_multi(struct machine *m, u64 cpumask,
				       const struct flush_tlb_info *info)
{
	u64 self = bit(m->s->cpu), targets;
	u32 cpu;

	enter(m, EV_native_flush_tlb_multi, NONE, 0);
	targets = flush_targets(m, cpumask, info);
	for_each_cpu(cpu, targets & ~self) {
		count(m, COUNT_ipi_sent, 1);
		if (info->mm == NONE)
			count(m, COUNT_ipi_ubc_flush, 1);
		step(m, EV_ipi_sent, NONE, cpu);
	}
	if (targets & self)
		flush_tlb_func(m, info);
	for_each_cpu(cpu, targets & ~self)
		flush_on_cpu(m, cpu, info);
}

/* arch/x86/mm/tlb.c:flush_tlb_mm_range; reduced: no global ASIDs */
__mirrored void flush_tlb_mm_range(struct machine *m, u32 mm, u64 start, u64 end, u64 stride,
				   bool freed_tables)
{
	u64 pages = (end - start) >> PAGE_SHIFT;
	struct flush_tlb_info info = { .mm = mm, .start = start, .end = end, .stride = stride,
				       .freed_tables = freed_tables };

	enter(m, EV_flush_tlb_mm_range, m->task->page, end == TLB_FLUSH_ALL ? 0 : (u32)pages);
	inc_mm_tlb_gen(m, mm);
	step(m, EV_tlb_gen_raised, NONE, 0);
	info.new_tlb_gen = m->mm[mm].tlb_gen;
	if ((end - start) / stride > SINGLE_PAGE_FLUSH_CEILING) {
		info.start = 0;
		info.end = TLB_FLUSH_ALL;
	}
	if (m->mm[mm].cpumask & ~bit(m->s->cpu))
		native_flush_tlb_multi(m, m->mm[mm].cpumask, &info);
	else if (m->cpu[m->s->cpu].mm == mm)
		flush_tlb_func(m, &info);
	count(m, COUNT_tlb_flush, 1);
	step(m, EV_tlb_flushed, m->task->page, info.end == TLB_FLUSH_ALL ? 0 : (u32)pages);
}

/* --- the deferred flush --------------------------------------------------- */

bool x86_tlbbatch_should_defer(const struct machine *m, u32 mm)
{
	return m->mm[mm].cpumask & ~bit(m->s->cpu);
}

void x86_tlbbatch_add_pending(struct machine *m, u32 mm, u64 start, u64 end)
{
	(void)start;
	(void)end;
	inc_mm_tlb_gen(m, mm);
	put64(m, &m->task->ubc_cpumask, m->task->ubc_cpumask | m->mm[mm].cpumask);
	put(m, &m->task->ubc_unmapped_pages, 1);
	step(m, EV_tlb_gen_inc, m->task->page, 0);
}

static void invlpgb_flush_all_nonglobals(struct machine *m)
{
	for (u32 cpu = 0; cpu < m->s->nr[ARRAY_CPU]; cpu++)
		tlb_drop_all(m, cpu);
	put(m, &m->task->ubc_unmapped_pages, 0);
	count(m, COUNT_invlpgb, 1);
	step(m, EV_invlpgb, NONE, 0);
}

/* arch/x86/mm/tlb.c:arch_tlbbatch_flush; same */
__mirrored void arch_tlbbatch_flush(struct machine *m)
{
	struct flush_tlb_info info = { .mm = NONE, .end = TLB_FLUSH_ALL,
				       .new_tlb_gen = TLB_GENERATION_INVALID };
	u64 cpumask = m->task->ubc_cpumask;

	enter(m, EV_arch_tlbbatch_flush, NONE, 0);
	if (m->kernel->broadcast_flush == BROADCAST_IF_ABLE && cpu_has(m, FEATURE_invlpgb) &&
	    m->task->ubc_unmapped_pages) {
		invlpgb_flush_all_nonglobals(m);
	} else if (cpumask & ~bit(m->s->cpu)) {
		native_flush_tlb_multi(m, cpumask, &info);
	} else if (cpumask & bit(m->s->cpu)) {
		flush_tlb_func(m, &info);
	}
	put64(m, &m->task->ubc_cpumask, 0);
	count(m, COUNT_tlb_flush, 1);
}

void x86_flush_tlb_page(struct machine *m, u32 vma, u64 va)
{
	flush_tlb_mm_range(m, m->vma[vma].mm, va, va + PAGE_SIZE, PAGE_SIZE, false);
}

void x86_flush_tlb_range(struct machine *m, u32 vma, u64 start, u64 end)
{
	flush_tlb_mm_range(m, m->vma[vma].mm, start, end, PAGE_SIZE, true);
}

void x86_flush_tlb_mm(struct machine *m, u32 mm)
{
	flush_tlb_mm_range(m, mm, 0, TLB_FLUSH_ALL, PAGE_SIZE, true);
}

/* asm/tlb.h:tlb_flush */
void x86_tlb_flush(struct machine *m, const struct mmu_gather *tlb)
{
	flush_tlb_mm_range(m, tlb->mm, tlb->fullmm ? 0 : tlb->start,
			   tlb->fullmm ? TLB_FLUSH_ALL : tlb->end,
			   tlb->cleared_ptes ? PAGE_SIZE : PMD_SIZE, tlb->freed_tables);
}
