/* SPDX-License-Identifier: GPL-2.0-only */
#include <stddef.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/tlb.h"
#include "mm/check.h"

const struct invariant_info invariants[NR_INVARIANTS] = {
#define INVARIANT(id, text_) [INVARIANT_##id] = { .name = #id, .text = text_ },
#include "mm/invariants.def"
#undef INVARIANT
};

#define FAIL(v, id, kind, i, got_, want_)                               \
	do {                                                            \
		*(v) = (struct violation){ .invariant = INVARIANT_##id, \
					   .on = kind,                  \
					   .index = (u32)(i),           \
					   .got = got_,                 \
					   .want = want_ };             \
		return false;                                           \
	} while (0)

static u32 nr_of(const struct machine *m, enum state_array array)
{
	return m->s->nr[array];
}

/*
 * Does it zap, fault or fork, with the lock of a page table held? Entries follow the counts of
 * their slots and the marks of their pages there before the lock is dropped. The reverse map
 * is stricter, and who looks for folios to isolate changes nothing, up to 6.1 accessed bits.
 */
static bool task_changes(const struct machine *m, const struct task *task)
{
	return task->ptl != NONE && (task->phase != PHASE_isolate ||
				     m->kernel->pageout_young == PAGEOUT_CLEARS_YOUNG);
}

static bool table_in_flux(const struct machine *m, u32 table)
{
	for (u32 i = 0; i < nr_of(m, ARRAY_TASK); i++) {
		const struct task *task = state_task(m->s, i);

		if ((task->ptl == table || task->src_ptl == table) && task_changes(m, task))
			return true;
	}
	return false;
}

/* Is a PTE cleared for a moment, to be written back? */
static bool pte_kept(const struct machine *m)
{
	for (u32 i = 0; i < nr_of(m, ARRAY_TABLE); i++)
		if (m->table[i].ptl)
			return true;
	return false;
}

/* No PTE is being exchanged for another right now: the counts do not lag. */
static bool at_rest(const struct machine *m)
{
	for (u32 i = 0; i < nr_of(m, ARRAY_TASK); i++) {
		const struct task *task = state_task(m->s, i);

		if (task->walk_vma != NONE || task_changes(m, task))
			return false;
	}
	return true;
}

/* The first entry from index i on that is not empty. Most are. */
static u32 next_pte(const struct machine *m, u32 i)
{
	u32 nr = nr_of(m, ARRAY_PTE);

	while (i < nr && (!m->pte[i] || m->arch->pte->none(m->pte[i])))
		i++;
	return i;
}

/*
 * What the page tables say, counted in one pass: present PTEs of each folio and page, huge
 * PMDs and PMDs that are being split of each folio, swap PTEs of each slot, pages of both
 * kinds of each mm; and which tables are in flux.
 */
struct tally {
	u32 *folio, *page, *huge, *split, *slot, *anon, *shmem, *file, *swap, *in_flux;
};

size_t check_scratch_words(const struct mm_state *s)
{
	return 3 * (size_t)s->nr[ARRAY_FOLIO] + s->nr[ARRAY_PAGE] + s->nr[ARRAY_SLOT] +
	       4 * (size_t)s->nr[ARRAY_MM] + s->nr[ARRAY_TABLE];
}

static void count_pmd(const struct machine *m, const struct table *table, struct tally *t)
{
	u32 folio = pfn_folio(m->s, m->arch->pmd->pfn(table->pmd));
	struct pte_desc desc;

	m->arch->pmd->decode(table->pmd, &m->kernel->types, &desc);
	t->anon[table->mm] += PTRS_PER_PTE;
	if (folio != NONE)
		++*(desc.kind == PTE_INVALID ? &t->split[folio] : &t->huge[folio]);
}

/* Present, or device-exclusive: its mapping counts. */
static bool maps_page(const struct machine *m, pte_t pte, u64 *pfn)
{
	const struct pte_ops *ops = m->arch->pte;

	if (!ops->present(pte))
		return softleaf_device_exclusive_pfn(ops, &m->kernel->types, pte, pfn);
	*pfn = ops->pfn(pte);
	return true;
}

/* Where the pages of an mm that are like this one are counted; the zero page is of none. */
static u32 *count_of(const struct machine *m, u32 page, struct tally *t)
{
	const struct folio *folio;

	if (page == NONE)
		return t->anon;
	folio = m->folio + page_folio(m->s, page);
	if (!folio_flag(folio, PG_pagecache))
		return t->anon;
	return folio_flag(folio, PG_swapbacked) ? t->shmem : t->file;
}

/* Under a PMD that is being split the pages are counted already. */
static void count_pte(const struct machine *m, const struct table *table, pte_t pte, bool in_flux,
		      struct tally *t)
{
	const struct pte_ops *ops = m->arch->pte;
	u32 to;
	u64 pfn;

	if (maps_page(m, pte, &pfn)) {
		to = pfn_page(m->s, pfn);
		count_of(m, to, t)[table->mm] += !table->pmd && !is_zero_pfn(pfn);
		if (to != NONE && (ops->present(pte) || !in_flux)) {
			t->page[to]++;
			t->folio[page_folio(m->s, to)]++;
		}
	} else if (softleaf_migration_pfn(ops, &m->kernel->types, pte, &pfn)) {
		t->anon[table->mm] += !table->pmd;
	} else {
		to = pte_slot(m, pte);
		t->swap[table->mm] += to != NONE;
		if (to != NONE && !in_flux)
			t->slot[to]++;
	}
}

static void find_tally(const struct machine *m, u32 *scratch, struct tally *t)
{
	t->folio = scratch;
	t->page = t->folio + nr_of(m, ARRAY_FOLIO);
	t->huge = t->page + nr_of(m, ARRAY_PAGE);
	t->split = t->huge + nr_of(m, ARRAY_FOLIO);
	t->slot = t->split + nr_of(m, ARRAY_FOLIO);
	t->anon = t->slot + nr_of(m, ARRAY_SLOT);
	t->shmem = t->anon + nr_of(m, ARRAY_MM);
	t->file = t->shmem + nr_of(m, ARRAY_MM);
	t->swap = t->file + nr_of(m, ARRAY_MM);
	t->in_flux = t->swap + nr_of(m, ARRAY_MM);
}

static void count_entries(const struct machine *m, struct tally *t)
{
	memset(t->folio, 0, check_scratch_words(m->s) * sizeof(*t->folio));
	for (u32 i = 0; i < nr_of(m, ARRAY_TABLE); i++) {
		t->in_flux[i] = table_in_flux(m, i);
		if (m->table[i].pmd)
			count_pmd(m, &m->table[i], t);
	}
	for (u32 i = next_pte(m, 0); i < nr_of(m, ARRAY_PTE); i = next_pte(m, i + 1)) {
		u32 table = i / PTRS_PER_PTE;

		count_pte(m, &m->table[table], m->pte[i], t->in_flux[table], t);
	}
}

/* Out of the swap cache, whose references are dropped a moment later. */
static bool leaves_swap_cache(const struct folio *folio, u32 held)
{
	return folio_flag(folio, PG_locked) && !folio_flag(folio, PG_swapcache) &&
	       folio->refcount == held + folio_nr_pages(folio);
}

/* Does a slot that somebody will read know the folio no more? */
static bool forgotten(const struct machine *m, const struct folio *folio)
{
	for (u32 i = 0; folio->swap != NONE && i < folio_nr_pages(folio); i++)
		if (m->slot[folio->swap + i].kind == SLOT_SHADOW && m->slot[folio->swap + i].count)
			return true;
	return false;
}

/* Pages with a mapping of their own; ENTIRELY_MAPPED if they have one together. */
static u32 pages_mapped(const struct machine *m, const struct folio *folio)
{
	u32 nr = folio->entire_mapcount ? ENTIRELY_MAPPED : 0;

	for (u32 page = folio->page; page < folio->page + folio_nr_pages(folio); page++)
		nr += m->page[page].mapcount > 0;
	return nr;
}

/*
 * While a PMD is split the folio has the mappings of its pages before it loses the huge one,
 * and all of them but one reference.
 */
static bool check_mappings(const struct machine *m, const struct tally *t, u32 i, bool rest,
			   struct violation *v)
{
	const struct folio *folio = m->folio + i;
	u32 held = folio->mapcount + folio_cache_refs(folio) + folio_isolated(folio) +
		   folio->held + folio->gup;
	u32 present = t->folio[i] + t->huge[i];

	rest &= !t->split[i];
	/* frozen: whoever froze it owns it */
	if (folio->refcount &&
	    (folio->refcount + t->split[i] < held ||
	     (rest && folio->refcount != held && !leaves_swap_cache(folio, held))))
		FAIL(v, V1, ON_FOLIO, i, folio->refcount, held);
	if (present > folio->mapcount || (rest && present != folio->mapcount))
		FAIL(v, V2, ON_FOLIO, i, folio->mapcount, present);
	if (rest && folio->entire_mapcount != t->huge[i])
		FAIL(v, V2, ON_FOLIO, i, folio->entire_mapcount, t->huge[i]);
	if (folio->nr_pages_mapped != pages_mapped(m, folio))
		FAIL(v, V2, ON_FOLIO, i, folio->nr_pages_mapped, pages_mapped(m, folio));
	return true;
}

static bool check_folios(const struct machine *m, const struct tally *t, bool rest,
			 struct violation *v)
{
	u32 nr = m->s->has_tails ? nr_of(m, ARRAY_FOLIO) : m->s->nr_placed;

	for (u32 i = 0; i < nr; i++) {
		const struct folio *folio = m->folio + i;

		if (!folio_exists(m->s, i))
			continue;
		if (!check_mappings(m, t, i, rest, v))
			return false;
		if (folio_flag(folio, PG_dirty) && forgotten(m, folio))
			FAIL(v, V14, ON_FOLIO, i, 1, 0);
		if (folio->swap != NONE &&
		    folio->swap / SWAPFILE_CLUSTER !=
			    (folio->swap + folio_nr_pages(folio) - 1) / SWAPFILE_CLUSTER)
			FAIL(v, V15, ON_FOLIO, i, folio->swap, 0);
	}
	return true;
}

/*
 * While the slots of a folio are being filled it does not know its first one yet. While
 * it is split, frozen, some of them are to be handed on.
 */
static bool folio_covers_slot(const struct folio *folio, u32 slot)
{
	return folio->swap == NONE || !folio->refcount ||
	       slot - folio->swap < folio_nr_pages(folio);
}

static bool check_slot(const struct machine *m, const struct tally *t, u32 i, bool rest,
		       struct violation *v)
{
	const struct slot *slot = m->slot + i;
	u32 held = t->slot[i] + slot->others;

	if (slot->kind == SLOT_FOLIO && !folio_covers_slot(m->folio + slot->folio, i))
		FAIL(v, V4, ON_SLOT, i, slot->folio, NONE);
	if (held > slot->count || (rest && held != slot->count))
		FAIL(v, V3, ON_SLOT, i, slot->count, held);
	return true;
}

/* nr: slots in use; bad: those of them that nothing can be written to */
static bool check_cluster(const struct machine *m, const struct tally *t, u32 first, bool rest,
			  u32 *nr, u32 *bad, struct violation *v)
{
	*nr = SWAPFILE_CLUSTER;
	*bad = 0;
	for (u32 i = first; i < first + SWAPFILE_CLUSTER; i++) {
		u32 kind = m->slot[i].kind;

		*nr -= kind == SLOT_FREE;
		*bad += kind == SLOT_BAD;
		if (kind == SLOT_FREE && m->slot[i].count)
			FAIL(v, V4, ON_SLOT, i, m->slot[i].count, 0);
		if (kind != SLOT_FREE && kind != SLOT_BAD && !check_slot(m, t, i, rest, v))
			return false;
	}
	return true;
}

static bool check_device(const struct machine *m, const struct tally *t, u32 d, bool rest,
			 struct violation *v)
{
	const struct swap_device *si = m->device + d;
	u32 inuse = 0;
	bool locked = false;

	for (u32 c = 0; c < si->nr_clusters; c++) {
		const struct cluster *ci = m->cluster + si->first_cluster + c;
		u32 nr, bad;

		if (!check_cluster(m, t, si->first_slot + c * SWAPFILE_CLUSTER, rest, &nr, &bad, v))
			return false;
		if (!ci->locked && ci->count != nr)
			FAIL(v, V5, ON_CLUSTER, si->first_cluster + c, ci->count, nr);
		locked |= ci->locked;
		inuse += nr - bad;
	}
	if (!locked && si->inuse != inuse)
		FAIL(v, V5, ON_DEVICE, d, si->inuse, inuse);
	return true;
}

static bool check_devices(const struct machine *m, const struct tally *t, bool rest,
			  struct violation *v)
{
	for (u32 d = 0; d < nr_of(m, ARRAY_DEVICE); d++)
		if (!check_device(m, t, d, rest, v))
			return false;
	return true;
}

/* The one entry of its page, swapped or present: nobody else has either. */
static bool check_exclusive(const struct machine *m, const struct tally *t, u32 i, u32 slot,
			    u32 page, struct violation *v)
{
	u32 entries = t->slot[slot] + m->slot[slot].others + (page == NONE ? 0 : t->page[page]);

	if (m->arch->pte->swp_exclusive(m->pte[i]) && entries != 1)
		FAIL(v, V9, ON_PTE, i, entries, 1);
	return true;
}

static bool check_pte_entry(const struct machine *m, const struct tally *t, u32 i,
			    struct violation *v)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t pte = m->pte[i];
	u32 folio, page = NONE, slot;

	if (ops->present(pte)) {
		folio = pfn_folio(m->s, ops->pfn(pte));
		if (folio == NONE)
			return true;
		page = pfn_page(m->s, ops->pfn(pte));
		if (ops->write(pte) && folio_flag(m->folio + folio, PG_anon) &&
		    !m->page[page].anon_exclusive)
			FAIL(v, V12, ON_PTE, i, pte, 0);
		return true;
	}
	slot = pte_slot(m, pte);
	if (slot == NONE)
		return true;
	if (m->slot[slot].kind == SLOT_FREE)
		FAIL(v, V4, ON_PTE, i, pte, 0);
	if (!m->mm[m->table[i / PTRS_PER_PTE].mm].on_mmlist)
		FAIL(v, V16, ON_PTE, i, pte, 0);
	if (m->slot[slot].kind == SLOT_FOLIO && m->folio[m->slot[slot].folio].swap != NONE) {
		const struct folio *cached = m->folio + m->slot[slot].folio;

		page = cached->page + slot - cached->swap;
		if (m->page[page].anon_exclusive)
			FAIL(v, V9, ON_PAGE, page, 1, 0);
	}
	return check_exclusive(m, t, i, slot, page, v);
}

/* What all entries of a block must have alike. A whole one is write-protected without unfolding. */
static pte_t block_key(const struct pte_ops *ops, pte_t pte, bool in_flux)
{
	return ops->mkold(ops->mkclean(in_flux ? ops->wrprotect(pte) : pte));
}

/* V17 for one aligned block of 16 entries */
static bool check_block(const struct machine *m, u32 first, bool in_flux, bool rest,
			struct violation *v)
{
	const struct pte_ops *ops = m->arch->pte;
	u32 cont = 0, present = 0, base = NONE;
	pte_t want;

	for (u32 i = first; i < first + 16; i++) {
		present += ops->present(m->pte[i]);
		if (!ops->valid_cont(m->pte[i]))
			continue;
		cont++;
		if (base == NONE)
			base = i;
		want = block_key(ops, ops->advance_pfn(m->pte[base], (s64)i - base), in_flux);
		if (block_key(ops, m->pte[i], in_flux) != want)
			FAIL(v, V17, ON_PTE, i, m->pte[i], want);
	}
	if (cont && (cont != present || (rest && cont != 16)))
		FAIL(v, V17, ON_PTE, first, cont, present);
	return true;
}

static bool check_pmd_entry(const struct machine *m, u32 table, struct violation *v)
{
	const struct pte_ops *ops = m->arch->pmd;
	pmd_t pmd = m->table[table].pmd;
	u32 page = pfn_page(m->s, ops->pfn(pmd));

	if (page != NONE && ops->accessible(pmd) && ops->write(pmd) &&
	    folio_flag(m->folio + page_folio(m->s, page), PG_anon) &&
	    !m->page[page].anon_exclusive)
		FAIL(v, V12, ON_PTE, table * PTRS_PER_PTE, pmd, 0);
	return true;
}

static bool check_page_tables(const struct machine *m, const struct tally *t, bool rest,
			      struct violation *v)
{
	u32 block = NONE;

	for (u32 i = 0; i < nr_of(m, ARRAY_TABLE); i++)
		if (m->table[i].pmd && !t->in_flux[i] && !check_pmd_entry(m, i, v))
			return false;
	for (u32 i = next_pte(m, 0); i < nr_of(m, ARRAY_PTE); i = next_pte(m, i + 1)) {
		bool in_flux = t->in_flux[i / PTRS_PER_PTE];

		if (!in_flux && !check_pte_entry(m, t, i, v))
			return false;
		if (m->arch->pte->has_cont && i / 16 != block &&
		    !check_block(m, i & ~15u, in_flux, rest, v))
			return false;
		block = i / 16;
	}
	return true;
}

/* A folio may be split on the way, with no lock held, before the counter follows the entries. */
static u32 swapents_still_counted(const struct machine *m, u32 mm)
{
	u32 nr = 0;

	for (u32 i = 0; i < nr_of(m, ARRAY_TASK); i++)
		if (m->cpu[i].mm == mm)
			nr += state_task(m->s, i)->nr_swap;
	return nr;
}

static bool check_mms(const struct machine *m, const struct tally *t, bool rest,
		      struct violation *v)
{
	for (u32 i = 0; rest && i < nr_of(m, ARRAY_MM); i++) {
		u32 swapents = t->swap[i] + swapents_still_counted(m, i);

		if (m->mm[i].anonpages != t->anon[i])
			FAIL(v, V6, ON_MM, i, m->mm[i].anonpages, t->anon[i]);
		if (m->mm[i].shmempages != t->shmem[i])
			FAIL(v, V6, ON_MM, i, m->mm[i].shmempages, t->shmem[i]);
		if (m->mm[i].filepages != t->file[i])
			FAIL(v, V6, ON_MM, i, m->mm[i].filepages, t->file[i]);
		if (m->mm[i].swapents != swapents)
			FAIL(v, V6, ON_MM, i, m->mm[i].swapents, swapents);
	}
	return true;
}

/*
 * Unmapped, and its content is on its way to the device, or there already. Who maps it
 * again meanwhile may write: that makes it dirty again. What the process itself is giving
 * up may be written to until the flush: nobody will read it.
 */
static bool write_has_started(const struct folio *folio)
{
	return !folio->mapcount &&
	       (folio_flag(folio, PG_writeback) ||
		(folio_flag(folio, PG_swapcache) && !folio_flag(folio, PG_dirty)));
}

/* munmap or mprotect is over: what it took away no CPU has any more. */
static bool vmas_allow(const struct mm_state *s, const struct tlb_entry *e, u64 va)
{
	u32 vma = va_vma(s, e->mm, va);

	return vma != NONE &&
	       (!(e->flags & TLB_WRITABLE) || state_vma(s, vma)->flags & VM_WRITE);
}

/* Through a dirty translation nobody hears of a write; MADV_FREE has cleared the dirty bits. */
static bool written_unnoticed(const struct machine *m, const struct tlb_entry *e)
{
	u32 i = pfn_folio(m->s, e->pfn), vma = va_vma(m->s, e->mm, e->va);
	const struct folio *folio = m->folio + i;

	return i != NONE && vma != NONE && !(m->vma[vma].flags & VM_DROPPABLE) &&
	       folio_flag(folio, PG_anon) && !folio_flag(folio, PG_swapbacked) &&
	       !folio_flag(folio, PG_dirty) && e->flags & TLB_WRITABLE &&
	       !m->mm[e->mm].tlb_gathered && !tlb_unmapped(m->s, m->arch, e) &&
	       tlb_dirty_alone(m->s, m->arch, e);
}

static bool check_tlb_entry(const struct machine *m, u32 cpu, const struct tlb_entry *e,
			    bool rest, struct violation *v)
{
	const struct mm *mm = m->mm + e->mm;

	if (m->cpu[cpu].lazy || m->cpu[cpu].mm != e->mm)
		return true;
	for (u32 n = 0; n < e->span; n++) {
		const struct folio *folio;
		u32 i = pfn_folio(m->s, e->pfn + n);

		if (mm->mmap_lock != MMAP_WRITE_LOCKED && !mm->tlb_gathered &&
		    !vmas_allow(m->s, e, e->va + n * PAGE_SIZE))
			FAIL(v, V20, ON_CPU, cpu, e->va, n);
		if (i == NONE)
			continue;
		folio = m->folio + i;
		if (folio_is_free(folio))
			FAIL(v, V8, ON_CPU, cpu, e->va, n);
		if (e->flags & TLB_WRITABLE && e->flags & TLB_DIRTY && !mm->tlb_gathered &&
		    write_has_started(folio))
			FAIL(v, V7, ON_CPU, cpu, e->va, n);
	}
	if (rest && mm->tlb_pending == mm->tlb_flushed && !mm->tlb_gathered &&
	    tlb_unmapped(m->s, m->arch, e))
		FAIL(v, V18, ON_CPU, cpu, e->va, 0);
	if (rest && written_unnoticed(m, e))
		FAIL(v, V21, ON_CPU, cpu, e->va, 0);
	return true;
}

static bool check_tlbs(const struct machine *m, bool rest, struct violation *v)
{
	for (u32 cpu = 0; cpu < nr_of(m, ARRAY_CPU); cpu++) {
		const struct tlb_entry *tlb = m->tlb + (size_t)cpu * m->s->nr_tlb;

		for (u32 i = 0; i < m->cpu[cpu].nr_tlb; i++) {
			if (!check_tlb_entry(m, cpu, tlb + i, rest, v))
				return false;
			for (u32 j = 0; j < i; j++)
				if (tlb[i].mm == tlb[j].mm && tlb[i].span != tlb[j].span &&
				    tlb[i].va < tlb[j].va + tlb[j].span * PAGE_SIZE &&
				    tlb[j].va < tlb[i].va + tlb[i].span * PAGE_SIZE)
					FAIL(v, V19, ON_CPU, cpu, tlb[i].va, tlb[j].va);
		}
	}
	return true;
}

static bool bit(const u32 *map, u32 i)
{
	return map[i / 32] >> i % 32 & 1;
}

/* What the i-th entry of a run is now, against what it was. */
static bool check_run_entry(const struct machine *m, const struct run_before *run, u32 i,
			    struct violation *v)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t pte = m->pte[run->pte + i];
	bool soft_dirty = bit(run->soft_dirty, i), uffd = bit(run->uffd, i);
	bool marker = pte_is_marker(ops, &m->kernel->types, pte, MARKER_UFFD_WP);

	if (ops->present(pte)) {
		if ((ops->write(pte) && !bit(run->write, i)) || (uffd && !ops->uffd(pte)) ||
		    (soft_dirty && !ops->soft_dirty(pte)))
			FAIL(v, V13, ON_PTE, run->pte + i, pte, 0);
		return true;
	}
	if (i < run->done && uffd && !run->lazyfree && !marker &&
	    (ops->none(pte) || !ops->swp_uffd(pte)))
		FAIL(v, V13, ON_PTE, run->pte + i, pte, 0);
	if (i < run->done && soft_dirty && !marker && !ops->none(pte) && !ops->swp_soft_dirty(pte))
		FAIL(v, V13, ON_PTE, run->pte + i, pte, 0);
	if (run->pins && !ops->none(pte) && ops->swp_exclusive(pte))
		FAIL(v, V10, ON_PTE, run->pte + i, pte, 0);
	return true;
}

static bool check_tasks(const struct machine *m, struct violation *v)
{
	for (u32 i = 0; i < nr_of(m, ARRAY_TASK); i++) {
		const struct task *task = state_task(m->s, i);
		const struct folio *folio;

		if (task->dropped_dirty)
			FAIL(v, V21, ON_FOLIO, task->folio, 1, 0);
		if (task->walk_pte == NONE || task->folio == NONE)
			continue;
		folio = m->folio + task->folio;
		if (task->phase == PHASE_unmap && folio_flag(folio, PG_anon) &&
		    !(task->run.nr && task->run.lazyfree) &&
		    folio_flag(folio, PG_swapbacked) != folio_flag(folio, PG_swapcache))
			FAIL(v, V11, ON_FOLIO, task->folio, folio_flag(folio, PG_swapbacked),
			     folio_flag(folio, PG_swapcache));
		if (task->walk_pte % PTRS_PER_PTE + task->nr_pages > PTRS_PER_PTE)
			FAIL(v, V15, ON_PTE, task->walk_pte, task->nr_pages, 0);
		for (u32 k = 0; k < task->run.nr; k++)
			if (!check_run_entry(m, &task->run, k, v))
				return false;
	}
	return true;
}

#define IS(type, field)									\
	(offset - offsetof(struct type, field) / sizeof(u32) <				\
	 (sizeof(((struct type *)0)->field) + 3) / sizeof(u32))

static u32 task_concern(u32 offset)
{
	if (IS(task, ptl) || IS(task, phase) || IS(task, walk_vma))
		return CONCERNS_SOME | CONCERNS_ENTRIES;
	return IS(task, walk_pte) || IS(task, nr_pages) || IS(task, folio) || IS(task, run) ||
			       IS(task, nr_swap) || IS(task, dropped_dirty) ?
		       CONCERNS_SOME :
		       0;
}

u32 check_concern(const struct mm_state *s, u32 word)
{
	u32 array = NR_ARRAYS, offset;

	while (array && word < s->at[array - 1])
		array--;
	if (!array--)
		return 0;	/* lists, counters */
	offset = word - s->at[array];
	switch (array) {
	case ARRAY_TASK:
		return task_concern(offset % (sizeof(struct task) / sizeof(u32)));
	case ARRAY_PTE:
	case ARRAY_TABLE:
	case ARRAY_PAGE:
	case ARRAY_VMA:
		return CONCERNS_SOME | CONCERNS_ENTRIES;
	case ARRAY_FOLIO:
		offset %= sizeof(struct folio) / sizeof(u32);
		if (IS(folio, pfn) || IS(folio, page))
			return CONCERNS_SOME | CONCERNS_ENTRIES;
		return IS(folio, next) || IS(folio, prev) ? 0 : CONCERNS_SOME;
	case ARRAY_MM:
		offset %= sizeof(struct mm) / sizeof(u32);
		return IS(mm, tlb_gen) || IS(mm, hiwater_rss) ? 0 : CONCERNS_SOME;
	case ARRAY_SLOT_CACHE:
		return 0;
	}
	return CONCERNS_SOME;
}

bool check_invariants(const struct machine *m, u32 *scratch, bool entries, struct violation *v)
{
	bool rest = at_rest(m) && !pte_kept(m);
	struct tally t;

	find_tally(m, scratch, &t);
	if (entries)
		count_entries(m, &t);
	return check_folios(m, &t, rest, v) && check_devices(m, &t, rest, v) &&
	       check_page_tables(m, &t, rest, v) && check_mms(m, &t, rest, v) &&
	       check_tlbs(m, rest, v) && check_tasks(m, v);
}
