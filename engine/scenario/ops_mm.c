/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/mmu_gather.h"
#include "mm/internal.h"
#include "scenario/ops_mm.h"
#include "scenario/scenario.h"

u64 range_end(const struct scn_op *op)
{
	return op->va + op->pages * PAGE_SIZE;
}

u32 next_vma(const struct mm_state *s, const struct scn_op *op, u64 va)
{
	u32 i = find_vma(s, op->mm, va);

	return i != NONE && state_vma(s, i)->start < range_end(op) ? i : NONE;
}

void op_munmap(struct machine *m, const struct scn_op *op)
{
	mmap_write_lock(m, op->mm);
	do_vmi_munmap(m, op->mm, op->va, range_end(op));
	mmap_write_unlock(m, op->mm);
}

void op_mprotect(struct machine *m, const struct scn_op *op)
{
	mmap_write_lock(m, op->mm);
	do_mprotect_pkey(m, op->mm, op->va, range_end(op),
			 op->prot == PROT_READ_WRITE ? VM_WRITE : 0);
	mmap_write_unlock(m, op->mm);
}

void op_fork(struct machine *m, const struct scn_op *op)
{
	dup_mm(m, op->mm, op->child);
}

void op_exit_mm(struct machine *m, const struct scn_op *op)
{
	exit_mm(m, op->mm);
}

/* Advice for the part of a VMA that is in the range. */
typedef void (*advice)(struct machine *m, struct mmu_gather *tlb, const struct vma *vma, u64 start,
		       u64 end);

/* mm/madvise.c:madvise_walk_vmas, for who gathers what it clears: up to a locked VMA */
static void advise_vmas(struct machine *m, const struct scn_op *op, advice advise)
{
	bool each = m->kernel->madvise_gather == MADVISE_GATHER_EACH;
	struct mmu_gather tlb;
	u64 end = range_end(op);
	u32 i;

	mmap_read_lock(m, op->mm);
	if (!each)
		tlb_gather_mmu(m, &tlb, op->mm, false);
	for (u64 va = op->va; (i = next_vma(m->s, op, va)) != NONE; va = m->vma[i].end) {
		const struct vma *vma = m->vma + i;

		if (vma->flags & VM_LOCKED) {
			step(m, EV_madvise_refused, NONE, 0);
			break;
		}
		if (each)
			tlb_gather_mmu(m, &tlb, op->mm, false);
		advise(m, &tlb, vma, va > vma->start ? va : vma->start,
		       end < vma->end ? end : vma->end);
		if (each)
			tlb_finish_mmu(m, &tlb);
	}
	if (!each)
		tlb_finish_mmu(m, &tlb);
	mmap_read_unlock(m, op->mm);
}

void op_madvise_dontneed(struct machine *m, const struct scn_op *op)
{
	advise_vmas(m, op, m->kernel->zap_names == ZAP_PAGE_RANGE ? zap_page_range_single :
								    zap_vma_range_batched);
}

void op_madvise_free(struct machine *m, const struct scn_op *op)
{
	advise_vmas(m, op, madvise_free_single_vma);
}

bool has_vma(const struct machine *m, const struct scn_op *op)
{
	return next_vma(m->s, op, op->va) != NONE;
}

/* Are all pages of a folio mapped from an address on, in one VMA and page table, as one run? */
static bool is_mapped_whole(const struct machine *m, const struct folio *folio, u32 mm, u64 va)
{
	const struct pte_ops *ops = m->arch->pte;
	u32 nr = folio_nr_pages(folio), vma = va_vma(m->s, mm, va), pte;
	pte_t key;

	if (vma == NONE || va + nr * PAGE_SIZE > m->vma[vma].end)
		return false;
	pte = vma_pte(m->vma + vma, va);
	if (pte % PTRS_PER_PTE + nr > PTRS_PER_PTE)
		return false;
	if (!ops->present(m->pte[pte]) || ops->pfn(m->pte[pte]) != folio->pfn)
		return false;
	key = pte_batch_clear_ignored(ops, m->pte[pte], 0);
	for (u32 n = 1; n < nr; n++)
		if (pte_batch_clear_ignored(ops, m->pte[pte + n], 0) != ops->advance_pfn(key, n))
			return false;
	return true;
}

/* 6.1 splits each, later kernels those that are not mapped whole in the range. */
bool splits_file_folio(const struct machine *m, const struct scn_op *op)
{
	const struct pte_ops *ops = m->arch->pte;
	u64 end = range_end(op), va = op->va;

	while (m->s->has_file && va < end) {
		u32 pte = va_pte(m->s, op->mm, va), i = NONE;
		const struct folio *folio = NULL;

		if (pte != NONE && ops->present(m->pte[pte]))
			i = pfn_folio(m->s, ops->pfn(m->pte[pte]));
		if (i != NONE)
			folio = m->folio + i;
		if (!folio || !folio_flag(folio, PG_pagecache) || !folio->order) {
			va += PAGE_SIZE;
			continue;
		}
		if (m->kernel->page_api == API_PAGE || !is_mapped_whole(m, folio, op->mm, va))
			return true;
		va += folio_nr_pages(folio) * PAGE_SIZE;
	}
	return va > end;
}

bool may_change_vmas(const struct machine *m, const struct scn_op *op)
{
	return !range_is_locked(m, op->mm, op->va, range_end(op), MM_VMAS);
}

bool may_protect(const struct machine *m, const struct scn_op *op)
{
	enum mm_lock lock = protection_changes_vmas(m, op->mm, op->va, range_end(op)) ? MM_VMAS :
											MM_WRITE;

	return va_vma(m->s, op->mm, op->va) != NONE &&
	       !range_is_locked(m, op->mm, op->va, range_end(op), lock);
}

bool may_fork(const struct machine *m, const struct scn_op *op)
{
	return !mm_is_locked(m, op->mm);
}

bool may_exit(const struct machine *m, const struct scn_op *op)
{
	for (u32 cpu = 0; cpu < m->s->nr[ARRAY_CPU]; cpu++)
		if (m->cpu[cpu].mm == op->mm && state_task(m->s, cpu)->fault_op != NONE)
			return false;
	return !mm_is_locked(m, op->mm);
}

bool may_zap(const struct machine *m, const struct scn_op *op)
{
	return has_vma(m, op) &&
	       !range_is_locked(m, op->mm, op->va, range_end(op), MM_READ);
}
