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

bool is_all_anonymous(const struct machine *m, const struct scn_op *op)
{
	(void)op;
	return !m->s->has_pagecache;
}

bool may_change_vmas(const struct machine *m, const struct scn_op *op)
{
	return is_all_anonymous(m, op) &&
	       !range_is_locked(m, op->mm, op->va, range_end(op), MM_VMAS);
}

bool may_protect(const struct machine *m, const struct scn_op *op)
{
	enum mm_lock lock = protection_changes_vmas(m, op->mm, op->va, range_end(op)) ? MM_VMAS :
											MM_WRITE;

	return is_all_anonymous(m, op) && va_vma(m->s, op->mm, op->va) != NONE &&
	       !range_is_locked(m, op->mm, op->va, range_end(op), lock);
}

bool may_fork(const struct machine *m, const struct scn_op *op)
{
	return is_all_anonymous(m, op) && !mm_is_locked(m, op->mm);
}

bool may_exit(const struct machine *m, const struct scn_op *op)
{
	for (u32 cpu = 0; cpu < m->s->nr[ARRAY_CPU]; cpu++)
		if (m->cpu[cpu].mm == op->mm && state_task(m->s, cpu)->fault_op != NONE)
			return false;
	return is_all_anonymous(m, op) && !mm_is_locked(m, op->mm);
}

bool may_zap(const struct machine *m, const struct scn_op *op)
{
	return is_all_anonymous(m, op) && has_vma(m, op) &&
	       !range_is_locked(m, op->mm, op->va, range_end(op), MM_READ);
}
