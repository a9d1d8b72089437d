/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways to touch an entry, with what they cost. For engine/arch only. */
#ifndef ARCH_ACCESS_H
#define ARCH_ACCESS_H

#include "arch/arch.h"

/* The page of an entry, looked up only for those who watch. */
static inline u32 watched_page(const struct machine *m, pte_t val)
{
	return is_watched(m) ? pte_page(m, val) : NONE;
}

/* The page of the entry at pte; if it is none of a folio, the page that the walk expects there. */
u32 page_at_pte(const struct machine *m, u32 pte, pte_t val);

/* The entry of an address for those who watch, whether a VMA is still there or not. */
static inline u32 watched_entry(const struct machine *m, u32 mm, u64 va)
{
	const u32 index = (u32)(va >> PAGE_SHIFT) % PTRS_PER_PTE;

	for (u32 i = 0; is_watched(m) && i < m->s->nr[ARRAY_TABLE]; i++)
		if (m->table[i].mm == mm && m->table[i].va == (va & ~(PMD_SIZE - 1)))
			return STEP_ENTRY | (i * PTRS_PER_PTE + index);
	return NONE;
}

static inline void step_pte(struct machine *m, enum event event, u32 pte, pte_t val, u32 arg)
{
	step(m, event, is_watched(m) ? page_at_pte(m, pte, val) : NONE, arg);
}

/* A load; the step that tells of it is the caller's. */
static inline pte_t pte_load(struct machine *m, u32 pte)
{
	count(m, COUNT_pte_read, 1);
	return m->pte[pte];
}

static inline pte_t pte_exchange(struct machine *m, u32 pte, enum event event)
{
	pte_t old = m->pte[pte];

	put64(m, &m->pte[pte], 0);
	count(m, COUNT_pte_xchg, 1);
	step_pte(m, event, pte, old, 1);
	return old;
}

static inline void pte_store(struct machine *m, u32 pte, pte_t val, enum event event)
{
	put64(m, &m->pte[pte], val);
	count(m, COUNT_pte_store, 1);
	step_pte(m, event, pte, val, 1);
}

/* The plain store that empties an entry which no TLB can hold. */
static inline void pte_store_none(struct machine *m, u32 pte)
{
	u32 page = page_or_entry(m, watched_page(m, m->pte[pte]), pte);

	put64(m, &m->pte[pte], 0);
	count(m, COUNT_pte_store, 1);
	step(m, EV_pte_emptied, page, 1);
}

/* Exchange old for val if old is still there; what was there comes back. */
static inline pte_t pte_cmpxchg(struct machine *m, u32 pte, pte_t old, pte_t val)
{
	pte_t found = m->pte[pte];

	if (found == old)
		put64(m, &m->pte[pte], val);
	count(m, COUNT_pte_cmpxchg, 1);
	step_pte(m, EV_pte_cmpxchg, pte, found, 1);
	return found;
}

/* The first page of a huge PMD for those who watch. */
static inline u32 watched_pmd_page(const struct machine *m, pmd_t pmd)
{
	if (!unlikely(m->observer) || !m->arch->pmd->trans_huge(pmd))
		return NONE;
	return pfn_page(m->s, m->arch->pmd->pfn(pmd));
}

static inline void pmd_store(struct machine *m, u32 table, pmd_t pmd, bool populated)
{
	put64(m, &m->table[table].pmd, pmd);
	put(m, &m->table[table].populated, populated);
}

static inline pmd_t pmd_exchange(struct machine *m, u32 table, pmd_t pmd, enum event event)
{
	pmd_t old = m->table[table].pmd;

	pmd_store(m, table, pmd, pmd != 0);
	count(m, COUNT_pmd_xchg, 1);
	step(m, event, watched_pmd_page(m, old), PTRS_PER_PTE);
	return old;
}

/* Not a huge entry any more: 0 and populated. */
static inline void pmd_point_to_table(struct machine *m, u32 table)
{
	u32 page = table == NONE ? NONE : watched_pmd_page(m, m->table[table].pmd);

	if (table != NONE)
		pmd_store(m, table, 0, true);
	step(m, EV_pmd_populated, page, table == NONE);
}

/* What a store is called, for those who watch. */
static inline enum event set_event(const struct machine *m, pte_t val)
{
	const struct pte_ops *ops = m->arch->pte;
	u64 pfn;

	if (!is_watched(m) || ops->present(val) || ops->none(val))
		return EV_pte_set;
	if (pte_is_marker(ops, &m->kernel->types, val, MARKER_UFFD_WP))
		return EV_pte_marker_set;
	if (softleaf_device_exclusive_pfn(ops, &m->kernel->types, val, &pfn))
		return EV_pte_set;
	return softleaf_migration_pfn(ops, &m->kernel->types, val, &pfn) ? EV_migration_pte_set :
									   EV_swap_pte_set;
}

#endif
