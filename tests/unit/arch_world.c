/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "arch_world.h"

static void place(struct machine *m, u32 order, u32 first)
{
	put64(m, &m->table->va, WORLD_VA);
	put(m, &m->table->populated, 1);
	put64(m, &m->vma->start, WORLD_VA);
	put64(m, &m->vma->end, WORLD_VA + PMD_SIZE);
	put(m, &m->vma->flags, VM_WRITE);
	put64(m, &m->folio->index, first);
	put(m, &m->folio->pfn, order > 6 ? 0x12400 : WORLD_PFN);
	put(m, &m->folio->order, order);
	put(m, &m->folio->flags, 1u << PG_anon);
	put(m, &m->folio->swap, NONE);
	put64(m, &m->mm->cpumask, (1u << WORLD_CPUS) - 1);
	for (u32 i = 0; i < WORLD_CPUS; i++) {
		put(m, &state_task(m->s, i)->page, NONE);
		put(m, &state_task(m->s, i)->walk_pte, NONE);
		put(m, &state_task(m->s, i)->walk_pmd, NONE);
	}
}

struct world world_new(const struct arch *arch, u32 features, u32 order, u32 first)
{
	struct world w = { .m = { .arch = arch, .features = features,
				  .kernel = kernel_find("7.3") } };
	struct mm_state shape = { .nr_tlb = WORLD_TLB };

	shape.nr[ARRAY_CPU] = WORLD_CPUS;
	shape.nr[ARRAY_TASK] = WORLD_CPUS;
	shape.nr[ARRAY_MM] = 2;
	shape.nr[ARRAY_VMA] = 1;
	shape.nr[ARRAY_FOLIO] = 1;
	shape.nr_placed = 1;
	shape.nr[ARRAY_PAGE] = 1u << order;
	shape.nr[ARRAY_TABLE] = 1;
	shape.nr[ARRAY_PTE] = PTRS_PER_PTE;
	shape.nr[ARRAY_TLB] = WORLD_CPUS * WORLD_TLB;
	state_layout(&shape);
	w.words = calloc(shape.words, sizeof(u32));
	if (!w.words)
		abort();
	memcpy(w.words, &shape, sizeof(shape));
	machine_attach(&w.m, w.words);
	place(&w.m, order, first);
	return w;
}

void world_free(struct world *w)
{
	free(w->words);
}

pte_t world_pte(const struct machine *m, u32 ad, u32 page)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t pte = ops->mkwrite(ops->pfn_pte(m->folio->pfn + page, PAGE_READONLY));

	if (ad & DIRTY)
		pte = ops->mkdirty(pte);
	return ad & YOUNG ? pte : ops->mkold(pte);
}

void world_put_pte(struct machine *m, u32 pte, pte_t val)
{
	put64(m, &m->pte[pte], val);
}

void world_reset_counts(struct machine *m)
{
	for (u32 i = 0; i < NR_COUNTERS; i++)
		put64(m, &m->s->count[i], 0);
}
