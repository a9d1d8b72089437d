/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole address spaces: how they begin and end.
 *
 *	fork    copy the VMAs, and their entries; flush what the parent's TLBs hold
 *	exit    the CPU keeps the page tables, lazily, for want of others
 *	        zap all VMAs, free all page tables, one flush, free the pages
 *	        leave the mmlist
 */
#include "arch/mmu_gather.h"
#include "mm/internal.h"

/* The addresses from its first VMA to its last; false: it has none. */
static bool mm_range(const struct machine *m, u32 mm, u64 *start, u64 *end)
{
	u32 i = find_vma(m->s, mm, 0);

	if (i == NONE)
		return false;
	*start = m->vma[i].start;
	for (*end = *start; (i = find_vma(m->s, mm, *end)) != NONE;)
		*end = m->vma[i].end;
	return true;
}

bool mm_is_locked(const struct machine *m, u32 mm)
{
	if (range_is_locked(m, mm, 0, 0, MM_VMAS))
		return true;
	for (u32 i = 0; i < m->s->nr[ARRAY_VMA]; i++) {
		const struct vma *vma = m->vma + i;

		if (vma->mm == mm && range_is_locked(m, mm, vma->start, vma->end, MM_VMAS))
			return true;
	}
	return false;
}

/* MMF_HAS_PINNED: whose pages they are is not kept, so it goes for everybody. */
static bool has_pinned(const struct machine *m)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_FOLIO]; i++)
		if (m->folio[i].pincount)
			return true;
	return false;
}

/* One VMA. False: there is no memory. */
static bool dup_vma(struct machine *m, const struct vma *vma, u32 child, bool pinned)
{
	const struct vma *new;

	if (vma->flags & VM_DONTCOPY) {
		step(m, EV_vma_left_out, NONE, vma_idx(m, vma));
		return true;
	}
	new = vm_area_dup(m, vma, child);
	if (vma->flags & VM_DROPPABLE) {
		step(m, EV_vma_left_empty, NONE, vma_idx(m, new));
		return true;
	}
	return copy_page_range(m, new, vma, pinned);
}

/* mm/mmap.c:dup_mmap. What a failed one has copied is unmapped again. */
__mirrored bool dup_mmap(struct machine *m, u32 mm, u32 child)
{
	bool pinned = has_pinned(m), ok = true;
	u64 start, end;

	enter(m, EV_dup_mmap, NONE, mm);
	mmap_write_lock(m, mm);
	mmap_write_lock(m, child);
	for (u32 i = find_vma(m->s, mm, 0); ok && i != NONE; i = find_vma(m->s, mm, m->vma[i].end))
		ok = dup_vma(m, m->vma + i, child, pinned);
	if (!ok && mm_range(m, child, &start, &end))
		unmap_region(m, child, start, end);
	mmap_write_unlock(m, child);
	m->arch->flush_tlb_mm(m, mm);
	mmap_write_unlock(m, mm);
	return ok;
}

/* mm/mmap.c:exit_mmap */
__mirrored void exit_mmap(struct machine *m, u32 mm)
{
	struct mmu_gather tlb;
	u64 start, end;

	enter(m, EV_exit_mmap, NONE, mm);
	if (!mm_range(m, mm, &start, &end))
		return;
	mmap_read_lock(m, mm);
	tlb_gather_mmu(m, &tlb, mm, true);
	unmap_vmas(m, &tlb, start, end);
	mmap_read_unlock(m, mm);
	mmap_write_lock(m, mm);
	free_pgtables(m, &tlb, start, end);
	tlb_finish_mmu(m, &tlb);
	remove_vmas(m, mm, start, end);
	mmap_write_unlock(m, mm);
}

/* kernel/fork.c:mmput, of the last user */
void mmput(struct machine *m, u32 mm)
{
	put(m, &m->mm[mm].mm_users, 0);
	exit_mmap(m, mm);
	if (!m->mm[mm].on_mmlist)
		return;
	put(m, &m->mm[mm].on_mmlist, 0);
	step(m, EV_mmlist_left, NONE, mm);
}

/*
 * kernel/exit.c:exit_mm, of the last thread. Others have gone before: each CPU that still has
 * the mm does nothing with it any more.
 */
__mirrored void exit_mm(struct machine *m, u32 mm)
{
	enter(m, EV_exit_mm, NONE, mm);
	for (u32 cpu = 0; cpu < m->s->nr[ARRAY_CPU]; cpu++) {
		if (m->cpu[cpu].mm != mm || m->cpu[cpu].lazy)
			continue;
		put(m, &m->cpu[cpu].lazy, 1);
		step(m, EV_cpu_lazy, NONE, cpu);
	}
	mmput(m, mm);
}

/* kernel/fork.c:dup_mm */
__mirrored bool dup_mm(struct machine *m, u32 mm, u32 child)
{
	enter(m, EV_dup_mm, NONE, mm);
	put(m, &m->mm[child].mm_users, 1);
	if (!dup_mmap(m, mm, child)) {
		step(m, EV_fork_failed, NONE, 0);
		mmput(m, child);
		return false;
	}
	put(m, &m->mm[child].hiwater_rss, m->mm[child].anonpages);
	return true;
}
