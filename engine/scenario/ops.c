/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "arch/tlb.h"
#include "mm/internal.h"
#include "scenario/ops.h"
#include "scenario/ops_cpu.h"
#include "scenario/ops_mm.h"
#include "scenario/scenario.h"

/* mm/madvise.c:madvise_walk_vmas: past holes, up to the first VMA that refuses */
static void op_madvise_pageout(struct machine *m, const struct scn_op *op)
{
	u32 i;

	mmap_read_lock(m, op->mm);
	for (u64 va = op->va; (i = next_vma(m->s, op, va)) != NONE; va = m->vma[i].end)
		if (!madvise_pageout(m, m->vma + i, va > m->vma[i].start ? va : m->vma[i].start,
				     range_end(op) < m->vma[i].end ? range_end(op) :
								     m->vma[i].end))
			break;
	mmap_read_unlock(m, op->mm);
}

static void op_try_to_unmap(struct machine *m, const struct scn_op *op)
{
	const struct folio *folio = m->folio + op->folio;

	put(m, &m->task->folio, op->folio);
	enter_phase(m, PHASE_unmap);
	try_to_unmap(m, folio, reclaim_ttu_flags(m, folio));
}

static void op_try_to_unmap_flush(struct machine *m, const struct scn_op *op)
{
	(void)op;
	enter_phase(m, PHASE_flush);
	try_to_unmap_flush(m);
}

static void op_reclaim_folio_list(struct machine *m, const struct scn_op *op)
{
	(void)op;
	reclaim_folio_list(m, LIST_FOLIO_LIST);
}

static void op_reclaim(struct machine *m, const struct scn_op *op)
{
	shrink_lruvec(m, op->pages);
}

static void op_end_writeback(struct machine *m, const struct scn_op *op)
{
	folio_end_writeback(m, m->folio + op->folio);
}

static void change_refs(struct machine *m, u32 i, s32 pins, s32 refs, enum event event)
{
	const struct folio *folio = m->folio + i;

	put(m, &folio->pincount, folio->pincount + (u32)pins);
	put(m, &folio->gup, folio->gup + (u32)refs);
	put(m, &folio->refcount, folio->refcount + (u32)refs);
	count(m, COUNT_ref_op, 1);
	step(m, event, folio->page, folio->refcount);
	if (!folio->refcount)
		__folio_put(m, folio);
}

static s32 pin_refs(const struct machine *m, const struct scn_op *op)
{
	return (s32)folio_pin_refs(m->folio + op->folio);
}

static void op_pin(struct machine *m, const struct scn_op *op)
{
	change_refs(m, op->folio, 1, pin_refs(m, op), EV_folio_pinned);
}

/* A pin that is dropped in the middle of an unmap forbids nothing any more. */
static void forget_pin(struct machine *m, u32 folio)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_TASK]; i++) {
		const struct task *task = state_task(m->s, i);

		if (task->run.nr && task->folio == folio && task->run.pins)
			put(m, &task->run.pins, task->run.pins - 1);
	}
}

static void op_unpin(struct machine *m, const struct scn_op *op)
{
	forget_pin(m, op->folio);
	change_refs(m, op->folio, -1, -pin_refs(m, op), EV_folio_unpinned);
}

static void op_get_ref(struct machine *m, const struct scn_op *op)
{
	change_refs(m, op->folio, 0, 1, EV_folio_ref_taken);
}

static void op_put_ref(struct machine *m, const struct scn_op *op)
{
	change_refs(m, op->folio, 0, -1, EV_folio_ref_dropped);
}

static void op_mark_dirty(struct machine *m, const struct scn_op *op)
{
	step(m, EV_folio_written_by_ref, m->folio[op->folio].page, 0);
	folio_mark_dirty(m, m->folio + op->folio);
}

static void op_flush_tlb_batched_pending(struct machine *m, const struct scn_op *op)
{
	flush_tlb_batched_pending(m, op->mm);
}

static bool is_held(const struct machine *m, const struct scn_op *op)
{
	return m->folio[op->folio].gup > 0;
}

static void op_keep_pte(struct machine *m, const struct scn_op *op)
{
	keep_pte(m, va_pte(m->s, op->mm, op->va));
}

/* Present, on its own, and its page table's lock is free. */
static bool is_keepable(const struct machine *m, const struct scn_op *op)
{
	u32 pte = va_pte(m->s, op->mm, op->va);

	if (pte == NONE || m->table[pte / PTRS_PER_PTE].ptl || m->table[pte / PTRS_PER_PTE].pmd ||
	    !m->arch->pte->present(m->pte[pte]) || m->arch->pte->valid_cont(m->pte[pte]))
		return false;
	return !page_table_is_locked(m, pte / PTRS_PER_PTE);
}

static bool is_pinned(const struct machine *m, const struct scn_op *op)
{
	return m->folio[op->folio].pincount > 0;
}

/* A plain reference, beyond those that pins hold. */
static bool is_referenced(const struct machine *m, const struct scn_op *op)
{
	const struct folio *folio = m->folio + op->folio;

	return folio->gup > folio->pincount * folio_pin_refs(folio);
}

static bool is_under_writeback(const struct machine *m, const struct scn_op *op)
{
	return folio_flag(m->folio + op->folio, PG_writeback);
}

static bool is_in_use(const struct machine *m, const struct scn_op *op)
{
	return m->folio[op->folio].refcount > 0;
}

static bool is_ready_to_unmap(const struct machine *m, const struct scn_op *op)
{
	const struct folio *folio = m->folio + op->folio;

	return folio_flag(folio, PG_locked) &&
	       (folio_flag(folio, PG_pagecache) ||
		folio_flag(folio, PG_swapcache) == folio_flag(folio, PG_swapbacked));
}

static bool may_page_out(const struct machine *m, const struct scn_op *op)
{
	return has_vma(m, op) && !splits_file_folio(m, op);
}

/* shrink_folio_list() has a VM_BUG_ON_FOLIO() for it. */
static bool may_reclaim_list(const struct machine *m, const struct scn_op *op)
{
	(void)op;
	for (u32 i = 0; i < m->s->nr_placed; i++)
		if (m->folio[i].list == LIST_FOLIO_LIST && folio_flag(m->folio + i, PG_active))
			return false;
	return true;
}

const struct op_key op_keys[] = {
	{ "mm", OP_MM }, { "folio", OP_FOLIO }, { "va", OP_VA }, { "pages", OP_PAGES },
	{ "prot", OP_PROT }, { "child", OP_CHILD },
};
const u32 nr_op_keys = NR_OF(op_keys);

const struct op_info op_infos[] = {
	{ .name = "madvise_pageout",
	  .takes = OP_MM | OP_VA | OP_PAGES,
	  .run = op_madvise_pageout,
	  .reclaims = true,
	  .files = FILES_ON_DISK,
	  .possible = may_page_out,
	  .needs = "no VMA is in the range, or a large folio of a file would have to be split, "
		   "which is not modelled",
	  .text = "the process asks to reclaim a range: MADV_PAGEOUT" },
	{ .name = "try_to_unmap",
	  .takes = OP_FOLIO,
	  .run = op_try_to_unmap,
	  .reclaims = true,
	  .possible = is_ready_to_unmap,
	  .needs = "the folio must be locked (its flags) and, unless lazyfree, in the swap or page "
		   "cache",
	  .text = "unmap a folio as shrink_folio_list does, flushes deferred" },
	{ .name = "try_to_unmap_flush",
	  .run = op_try_to_unmap_flush,
	  .reclaims = true,
	  .text = "flush what this CPU's task has deferred" },
	{ .name = "reclaim_folio_list",
	  .run = op_reclaim_folio_list,
	  .reclaims = true,
	  .files = FILES_ON_DISK,
	  .possible = may_reclaim_list,
	  .needs = "none of the folios may be active: who isolates them clears that",
	  .text = "reclaim the folios that the world placed as isolated and unlocked" },
	{ .name = "reclaim",
	  .takes = OP_PAGES,
	  .run = op_reclaim,
	  .reclaims = true,
	  .files = FILES_ON_DISK,
	  .text = "memory is short: reclaim looks at so many pages of the LRU lists" },
	{ .name = "munmap",
	  .takes = OP_MM | OP_VA | OP_PAGES,
	  .run = op_munmap,
	  .splits_vmas = 2,
	  .own_cpu = true,
	  .files = FILES_NONE,
	  .possible = may_change_vmas,
	  .needs = "nobody else may hold the locks of the mm, of its anon_vmas, page tables or "
		   "a swap cluster",
	  .text = "the process gives up a range of addresses" },
	{ .name = "madvise_dontneed",
	  .takes = OP_MM | OP_VA | OP_PAGES,
	  .run = op_madvise_dontneed,
	  .own_cpu = true,
	  .files = FILES_NONE,
	  .possible = may_zap,
	  .needs = "some of the range must be in VMAs, and nobody may hold its page-table locks or "
		   "a swap cluster's",
	  .text = "the process gives up the content of a range: MADV_DONTNEED" },
	{ .name = "madvise_free",
	  .takes = OP_MM | OP_VA | OP_PAGES,
	  .run = op_madvise_free,
	  .own_cpu = true,
	  .files = FILES_NONE,
	  .possible = may_zap,
	  .needs = "some of the range must be in VMAs, and nobody may hold its page-table locks or "
		   "a swap cluster's",
	  .text = "the process needs the content of a range no more, and keeps the range: "
		  "MADV_FREE" },
	{ .name = "mprotect",
	  .takes = OP_MM | OP_VA | OP_PAGES | OP_PROT,
	  .run = op_mprotect,
	  .splits_vmas = 2,
	  .own_cpu = true,
	  .files = FILES_NONE,
	  .possible = may_protect,
	  .needs = "the range must begin in a VMA, and nobody else may hold the locks of the mm, "
		   "its page tables, a swap cluster or, where VMAs are cut or merged, its "
		   "anon_vmas",
	  .text = "the process makes a range read-only, or readable and writable" },
	{ .name = "fork",
	  .takes = OP_MM | OP_CHILD,
	  .run = op_fork,
	  .own_cpu = true,
	  .files = FILES_NONE,
	  .possible = may_fork,
	  .needs = "nobody else may hold the locks of the mm, of its anon_vmas, page tables or a "
		   "swap cluster",
	  .text = "the process forks: a child with the same memory" },
	{ .name = "exit_mm",
	  .takes = OP_MM,
	  .run = op_exit_mm,
	  .own_cpu = true,
	  .files = FILES_NONE,
	  .possible = may_exit,
	  .needs = "no CPU may wait in a fault of the process, and nobody else may hold the locks "
		   "of its mm, anon_vmas, page tables or a swap cluster",
	  .text = "the process ends: its address space is taken down" },
	{ .name = "end_writeback",
	  .takes = OP_FOLIO,
	  .run = op_end_writeback,
	  .possible = is_under_writeback,
	  .needs = "the folio must be under writeback",
	  .text = "an asynchronous device has finished writing a folio" },
	{ .name = "read",
	  .takes = OP_MM | OP_VA,
	  .run = op_read,
	  .own_cpu = true,
	  .possible = is_not_waiting,
	  .needs = "the CPU may not be waiting in a fault",
	  .text = "the CPU loads from an address" },
	{ .name = "write",
	  .takes = OP_MM | OP_VA,
	  .run = op_write,
	  .own_cpu = true,
	  .possible = is_not_waiting,
	  .needs = "the CPU may not be waiting in a fault",
	  .text = "the CPU stores to an address" },
	{ .name = "idle",
	  .run = op_idle,
	  .own_cpu = true,
	  .possible = may_idle,
	  .needs = "the CPU must have an mm loaded and may not be waiting in a fault",
	  .text = "the CPU has nothing to do and keeps its page tables loaded" },
	{ .name = "pin",
	  .takes = OP_FOLIO,
	  .run = op_pin,
	  .possible = is_in_use,
	  .needs = "the folio must not be free",
	  .text = "FOLL_PIN: a device may use the folio's pages" },
	{ .name = "unpin",
	  .takes = OP_FOLIO,
	  .run = op_unpin,
	  .possible = is_pinned,
	  .needs = "the folio must be pinned",
	  .text = "drop such a pin" },
	{ .name = "get_ref",
	  .takes = OP_FOLIO,
	  .run = op_get_ref,
	  .possible = is_in_use,
	  .needs = "the folio must not be free",
	  .text = "take a plain reference, as FOLL_GET or a speculative user does" },
	{ .name = "put_ref",
	  .takes = OP_FOLIO,
	  .run = op_put_ref,
	  .possible = is_referenced,
	  .needs = "somebody must hold a plain reference",
	  .text = "drop such a reference" },
	{ .name = "mark_dirty",
	  .takes = OP_FOLIO,
	  .run = op_mark_dirty,
	  .possible = is_held,
	  .needs = "somebody must hold a pin or a plain reference",
	  .text = "whoever holds a pin or a reference has written to the folio and marks it "
		  "dirty" },
	{ .name = "keep_pte",
	  .takes = OP_MM | OP_VA,
	  .run = op_keep_pte,
	  .possible = is_keepable,
	  .needs = "the address must be mapped by an entry of its own, and the page-table lock "
		   "free",
	  .text = "the CPU changes a PTE: it has cleared it and keeps the page-table lock until "
		  "somebody waits for that" },
	{ .name = "flush_tlb_batched_pending",
	  .takes = OP_MM,
	  .run = op_flush_tlb_batched_pending,
	  .text = "another thread is about to unmap or protect elsewhere: first it flushes "
		  "what reclaim has deferred" },
};
const u32 nr_op_infos = NR_OF(op_infos);

const struct op_info *op_find(const char *name)
{
	for (u32 i = 0; i < nr_op_infos; i++)
		if (strcmp(op_infos[i].name, name) == 0)
			return &op_infos[i];
	return NULL;
}
