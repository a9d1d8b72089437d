/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/arch.h"
#include "arch/tlb.h"

#define CONT_SPAN 16u

static bool overlaps(const struct tlb_entry *entry, u32 mm, u64 start, u64 end)
{
	return entry->mm == mm && entry->va < end && start < entry->va + entry->span * PAGE_SIZE;
}

u32 tlb_find(const struct mm_state *s, u32 cpu, u32 mm, u64 va)
{
	u32 first = s->nr_tlb * cpu;

	for (u32 i = first; i < first + state_cpu(s, cpu)->nr_tlb; i++)
		if (overlaps(state_tlb(s, i), mm, va, va + 1))
			return i;
	return NONE;
}

static void write_entry(struct machine *m, u32 i, const struct tlb_entry *entry)
{
	put64(m, &m->tlb[i].va, entry->va);
	put(m, &m->tlb[i].mm, entry->mm);
	put(m, &m->tlb[i].pfn, entry->pfn);
	put(m, &m->tlb[i].span, entry->span);
	put(m, &m->tlb[i].flags, entry->flags);
	put64(m, &m->tlb[i].invalidated_by, entry->invalidated_by);
}

/* Entry i goes, the last one takes its place; nothing is left behind it. */
static void drop(struct machine *m, u32 cpu, u32 i)
{
	static const struct tlb_entry empty;
	u32 last = m->s->nr_tlb * cpu + m->cpu[cpu].nr_tlb - 1;

	if (i != last)
		write_entry(m, i, &m->tlb[last]);
	write_entry(m, last, &empty);
	put(m, &m->cpu[cpu].nr_tlb, m->cpu[cpu].nr_tlb - 1);
}

u32 tlb_fill(struct machine *m, u32 cpu, u32 pte)
{
	struct leaf leaf = leaf_of(m->s, m->arch, pte);
	const struct pte_ops *ops = leaf.ops;
	u64 val = *leaf.entry;
	bool block = ops->nr_pages == 1 && ops->valid_cont(val);
	u32 behind = block ? pte % CONT_SPAN : 0;
	struct tlb_entry entry = {
		.va = pte_va(m->s, pte - leaf.behind - behind),
		.mm = m->table[pte / PTRS_PER_PTE].mm,
		.pfn = (u32)ops->pfn(val) - behind,
		.span = block ? CONT_SPAN : ops->nr_pages,
		.flags = (ops->write(val) ? TLB_WRITABLE : 0) | (ops->dirty(val) ? TLB_DIRTY : 0),
	};
	u32 first = m->s->nr_tlb * cpu;

	if (m->s->nr_tlb == 0)
		return NONE;
	tlb_drop_range(m, cpu, entry.mm, entry.va, entry.va + entry.span * PAGE_SIZE);
	if (m->cpu[cpu].nr_tlb == m->s->nr_tlb)
		drop(m, cpu, first);
	write_entry(m, first + m->cpu[cpu].nr_tlb, &entry);
	put(m, &m->cpu[cpu].nr_tlb, m->cpu[cpu].nr_tlb + 1);
	return first + m->cpu[cpu].nr_tlb - 1;
}

void tlb_drop_range(struct machine *m, u32 cpu, u32 mm, u64 start, u64 end)
{
	u32 first = m->s->nr_tlb * cpu;

	for (u32 i = first + m->cpu[cpu].nr_tlb; i-- > first;)
		if (overlaps(&m->tlb[i], mm, start, end))
			drop(m, cpu, i);
}

void tlb_invalidate_range(struct machine *m, u32 mm, u64 start, u64 end)
{
	u64 issuer = (u64)1 << m->s->cpu;

	for (u32 cpu = 0; cpu < m->s->nr[ARRAY_CPU]; cpu++) {
		u32 first = m->s->nr_tlb * cpu;

		for (u32 i = first; i < first + m->cpu[cpu].nr_tlb; i++)
			if (overlaps(&m->tlb[i], mm, start, end))
				put64(m, &m->tlb[i].invalidated_by,
				      m->tlb[i].invalidated_by | issuer);
	}
}

void tlb_drop_invalidated(struct machine *m)
{
	u64 issuer = (u64)1 << m->s->cpu;

	for (u32 cpu = 0; cpu < m->s->nr[ARRAY_CPU]; cpu++) {
		u32 first = m->s->nr_tlb * cpu;

		for (u32 i = first + m->cpu[cpu].nr_tlb; i-- > first;)
			if (m->tlb[i].invalidated_by & issuer)
				drop(m, cpu, i);
	}
}

bool tlb_invalidated(const struct tlb_entry *entry)
{
	return entry->invalidated_by != 0;
}

void tlb_drop_all(struct machine *m, u32 cpu)
{
	while (m->cpu[cpu].nr_tlb)
		drop(m, cpu, m->s->nr_tlb * cpu + m->cpu[cpu].nr_tlb - 1);
}

static void leave_mm(struct machine *m, u32 mm)
{
	if (mm != NONE && m->kernel->mm_cpumask == CPUMASK_EXACT)
		put64(m, &m->mm[mm].cpumask, m->mm[mm].cpumask & ~(1ull << m->s->cpu));
}

void enter_lazy_tlb(struct machine *m)
{
	put(m, &m->cpu[m->s->cpu].lazy, !m->arch->tlb_keeps_asids);
	step(m, EV_cpu_idles, NONE, m->s->cpu);
}

static void leave_lazy_tlb(struct machine *m, const struct cpu *cpu)
{
	put(m, &cpu->lazy, 0);
	if (cpu->tlb_gen == m->mm[cpu->mm].tlb_gen) {
		step(m, EV_lazy_up_to_date, NONE, m->s->cpu);
		return;
	}
	tlb_drop_all(m, m->s->cpu);
	put64(m, &cpu->tlb_gen, m->mm[cpu->mm].tlb_gen);
	count(m, COUNT_cr3_write, 1);
	step(m, EV_lazy_flushed, NONE, m->s->cpu);
}

void switch_mm(struct machine *m, u32 mm)
{
	const struct cpu *cpu = &m->cpu[m->s->cpu];

	if (cpu->mm == mm) {
		if (cpu->lazy)
			leave_lazy_tlb(m, cpu);
		return;
	}
	if (!m->arch->tlb_keeps_asids) {
		tlb_drop_all(m, m->s->cpu);
		leave_mm(m, cpu->mm);
	}
	put(m, &cpu->mm, mm);
	put(m, &cpu->lazy, 0);
	put64(m, &cpu->tlb_gen, m->mm[mm].tlb_gen);
	put64(m, &m->mm[mm].cpumask, m->mm[mm].cpumask | 1ull << m->s->cpu);
	step(m, EV_switch_mm, NONE, m->s->cpu);
}

static bool translates(const struct leaf *leaf, u64 pfn)
{
	return leaf->ops->accessible(*leaf->entry) &&
	       leaf->ops->pfn(*leaf->entry) + leaf->behind == pfn;
}

bool tlb_unmapped(const struct mm_state *s, const struct arch *arch, const struct tlb_entry *entry)
{
	u32 pte = va_pte(s, entry->mm, entry->va);

	for (u32 i = 0; pte != NONE && i < entry->span; i++) {
		struct leaf leaf = leaf_of(s, arch, pte + i);

		if (!translates(&leaf, entry->pfn + i))
			return true;
	}
	return pte == NONE;
}

bool tlb_dirty_alone(const struct mm_state *s, const struct arch *arch,
		     const struct tlb_entry *entry)
{
	u32 pte = va_pte(s, entry->mm, entry->va);

	for (u32 i = 0; i < entry->span; i++) {
		struct leaf leaf = leaf_of(s, arch, pte + i);

		if (leaf.ops->dirty(*leaf.entry))
			return false;
	}
	return entry->flags & TLB_DIRTY;
}

bool tlb_stale(const struct mm_state *s, const struct arch *arch, const struct tlb_entry *entry)
{
	u32 pte = va_pte(s, entry->mm, entry->va);

	if (tlb_unmapped(s, arch, entry))
		return true;
	for (u32 i = 0; i < entry->span; i++) {
		struct leaf leaf = leaf_of(s, arch, pte + i);

		if (entry->flags & TLB_WRITABLE && !leaf.ops->write(*leaf.entry))
			return true;
	}
	return tlb_dirty_alone(s, arch, entry);
}
