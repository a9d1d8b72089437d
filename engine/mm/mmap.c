/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole address spaces: how they end.
 *
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
