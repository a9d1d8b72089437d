/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/machine.h"

void machine_attach(struct machine *m, u32 *words)
{
	const struct mm_state *s = (const struct mm_state *)(const void *)words;

	m->words = words;
	m->s = s;
	m->cpu = state_cpu(s, 0);
	m->task = state_task(s, s->cpu);
	m->mm = state_mm(s, 0);
	m->vma = state_vma(s, 0);
	m->folio = state_folio(s, 0);
	m->page = state_page(s, 0);
	m->table = state_table(s, 0);
	m->pte = state_pte(s, 0);
	m->device = state_device(s, 0);
	m->cluster = state_cluster(s, 0);
	m->slot = state_slot(s, 0);
	m->slot_cache = state_slot_cache(s, 0);
	m->tlb = state_tlb(s, 0);
	m->anon_vma = state_anon_vma(s, 0);
}

void machine_run_on(struct machine *m, u32 cpu)
{
	put(m, &m->s->cpu, cpu);
	m->task = state_task(m->s, cpu);
}

/* A step's deltas are few: one per word, whoever wrote it how often. */
void journal_add(struct journal *journal, u32 word, u32 xor)
{
	for (u32 i = journal->nr; i-- > 0;) {
		if (journal->delta[i].word == word) {
			journal->delta[i].xor ^= xor;
			return;
		}
	}
	if (journal->nr == journal->max)
		journal->grow(journal);
	journal->delta[journal->nr++] = (struct delta){ .word = word, .xor = xor};
}
