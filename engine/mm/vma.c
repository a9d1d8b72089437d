/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VMAs come and go. An entry of vma[] that no mm owns stands ready for the next split; the
 * world reserves as many as the script can need.
 */
#include "arch/mmu_gather.h"
#include "mm/internal.h"

/* An entry of vma[] that nobody uses; there always is one. */
static const struct vma *vm_area_alloc(const struct machine *m)
{
	u32 i = 0;

	while (m->vma[i].mm != NONE)
		i++;
	return m->vma + i;
}

void vma_write(struct machine *m, const struct vma *vma, const struct vma *val)
{
	put64(m, &vma->start, val->start);
	put64(m, &vma->end, val->end);
	put64(m, &vma->pgoff, val->pgoff);
	put(m, &vma->mm, val->mm);
	put(m, &vma->anon_vma, val->anon_vma);
	put(m, &vma->flags, val->flags);
	put(m, &vma->table, val->table);
}

/* mm/vma.c:vma_set_range: of the addresses that the VMA and its neighbours have */
static void vma_set_range(struct machine *m, const struct vma *vma, u64 start, u64 end)
{
	struct vma new = *vma;

	new.start = start;
	new.end = end;
	new.pgoff += (start >> PAGE_SHIFT) - (vma->start >> PAGE_SHIFT);
	new.table += (u32)((start >> PMD_SHIFT) - (vma->start >> PMD_SHIFT));
	vma_write(m, vma, &new);
}

/* mm/vma.c:__split_vma: the new one is what lies above addr, or below it */
__mirrored void __split_vma(struct machine *m, const struct vma *vma, u64 addr, bool new_below)
{
	const struct vma *new = vm_area_alloc(m);
	u64 start = vma->start, end = vma->end;

	enter(m, EV___split_vma, NONE, vma_idx(m, vma));
	vma_write(m, new, vma);
	vma_set_range(m, new, new_below ? start : addr, new_below ? addr : end);
	vma_set_range(m, vma, new_below ? addr : start, new_below ? end : addr);
	step(m, EV_vma_split, NONE, vma_idx(m, new));
}

/* mm/rmap.c:anon_vma_fork: pages to come are found without the parent's VMAs */
static u32 anon_vma_fork(struct machine *m, u32 parent)
{
	u32 i = m->s->nr_anon_vmas;

	put(m, &m->s->nr_anon_vmas, i + 1);
	put(m, &m->anon_vma[i].parent, parent);
	return i;
}

const struct vma *vm_area_dup(struct machine *m, const struct vma *vma, u32 mm)
{
	const struct vma *new = vm_area_alloc(m);
	struct vma val = *vma;

	val.mm = mm;
	val.flags &= ~(u32)(VM_LOCKED | VM_UFFD_WP);
	val.table = va_table(m->s, mm, vma->start);
	val.anon_vma = anon_vma_fork(m, vma->flags & VM_DROPPABLE ? NONE : vma->anon_vma);
	vma_write(m, new, &val);
	step(m, EV_vma_copied, NONE, vma_idx(m, new));
	return new;
}

static void vm_area_free(struct machine *m, const struct vma *vma)
{
	static const struct vma none = { .mm = NONE, .anon_vma = NONE };

	vma_write(m, vma, &none);
	step(m, EV_vma_removed, NONE, vma_idx(m, vma));
}

void remove_vmas(struct machine *m, u32 mm, u64 start, u64 end)
{
	u32 i;

	while ((i = find_vma(m->s, mm, start)) != NONE && m->vma[i].start < end)
		vm_area_free(m, m->vma + i);
}

/* mm/vma.c:can_vma_merge_left and _right: would the two be one, if the range had these flags? */
static bool can_vma_merge(const struct machine *m, const struct vma *vma, u32 with, u32 flags)
{
	const struct vma *other = with == NONE ? vma : m->vma + with;

	return with != NONE && other->flags == flags && other->anon_vma == vma->anon_vma &&
	       other->pgoff - (other->start >> PAGE_SHIFT) ==
		       vma->pgoff - (vma->start >> PAGE_SHIFT);
}

/* mm/vma.c:vma_merge_existing_range. NULL: the range is like none of its neighbours. */
static const struct vma *vma_merge_existing_range(struct machine *m, const struct vma *vma,
						  u64 start, u64 end, u32 flags)
{
	u32 prev = start == vma->start ? va_vma(m->s, vma->mm, start - 1) : NONE;
	u32 next = end == vma->end ? va_vma(m->s, vma->mm, end) : NONE;
	bool left = can_vma_merge(m, vma, prev, flags), right = can_vma_merge(m, vma, next, flags);
	bool whole = start == vma->start && end == vma->end;
	const struct vma *target;

	if (!left && !right)
		return NULL;
	target = m->vma + (left ? prev : next);
	vma_set_range(m, target, left ? target->start : start, right ? m->vma[next].end : end);
	if (left && right)
		vm_area_free(m, m->vma + next);
	if (whole)
		vm_area_free(m, vma);
	else
		vma_set_range(m, vma, left ? end : vma->start, left ? vma->end : start);
	step(m, EV_vma_merged, NONE, vma_idx(m, target));
	return target;
}

/* mm/vma.c:vma_modify_flags, and then vma_flags_reset_once() */
const struct vma *vma_modify_flags(struct machine *m, const struct vma *vma, u64 start, u64 end,
				   u32 flags)
{
	const struct vma *merged = vma_merge_existing_range(m, vma, start, end, flags);

	if (merged)
		return merged;
	if (vma->start < start)
		__split_vma(m, vma, start, true);
	if (vma->end > end)
		__split_vma(m, vma, end, false);
	put(m, &vma->flags, flags);
	step(m, EV_vma_flags_set, NONE, vma_idx(m, vma));
	return vma;
}

/* mm/vma.c:unmap_region: zap, take the VMAs out, free page tables, flush, free pages */
__mirrored void unmap_region(struct machine *m, u32 mm, u64 start, u64 end)
{
	struct mmu_gather tlb;

	enter(m, EV_unmap_region, NONE, (u32)((end - start) >> PAGE_SHIFT));
	tlb_gather_mmu(m, &tlb, mm, false);
	update_hiwater_rss(m, mm);
	unmap_vmas(m, &tlb, start, end);
	remove_vmas(m, mm, start, end);
	free_pgtables(m, &tlb, start, end);
	tlb_finish_mmu(m, &tlb);
}

/* mm/vma.c:do_vmi_munmap: VMAs that reach out of the range are split first */
__mirrored void do_vmi_munmap(struct machine *m, u32 mm, u64 start, u64 end)
{
	u32 first = find_vma(m->s, mm, start), last;

	enter(m, EV_do_vmi_munmap, NONE, (u32)((end - start) >> PAGE_SHIFT));
	if (first == NONE || m->vma[first].start >= end)
		return;
	if (m->vma[first].start < start)
		__split_vma(m, m->vma + first, start, true);
	last = find_vma(m->s, mm, end - 1);
	if (last != NONE && m->vma[last].start < end && m->vma[last].end > end)
		__split_vma(m, m->vma + last, end, false);
	unmap_region(m, mm, start, end);
}

/* The walk of the reverse map is at the huge entry there, or splits it. */
static bool walks_huge(const struct machine *m, const struct task *task, u32 table)
{
	return task->walk_vma != NONE && task->walk_pte == NONE && m->table[table].pmd &&
	       m->vma[task->walk_vma].mm == m->table[table].mm &&
	       task->walk_address >> PMD_SHIFT == m->table[table].va >> PMD_SHIFT;
}

static bool holds_ptl(const struct machine *m, const struct task *task, u32 table)
{
	if (task->walk_pte != NONE && task->walk_flags & PVMW_PTL &&
	    task->walk_pte / PTRS_PER_PTE == table)
		return true;
	return task->ptl == table || task->src_ptl == table || walks_huge(m, task, table);
}

bool page_table_is_locked(const struct machine *m, u32 table)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_TASK]; i++)
		if (holds_ptl(m, state_task(m->s, i), table))
			return true;
	return false;
}

static bool page_tables_are_locked(const struct machine *m, u32 mm, u64 start, u64 end)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_TABLE]; i++)
		if (m->table[i].mm == mm && m->table[i].va < end &&
		    start < m->table[i].va + PMD_SIZE && page_table_is_locked(m, i))
			return true;
	return false;
}

/* Does it walk the reverse map of one of these VMAs? */
static bool locks_anon_vma(const struct machine *m, const struct task *task, u32 mm, u64 start,
			   u64 end)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_VMA]; i++) {
		const struct vma *vma = m->vma + i;

		if (vma->mm == mm && vma->start < end && start < vma->end &&
		    task->anon_vma != NONE &&
		    anon_vma_root(m, vma->anon_vma) == anon_vma_root(m, task->anon_vma))
			return true;
	}
	return false;
}

static bool any_cluster_is_locked(const struct machine *m)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_CLUSTER]; i++)
		if (m->cluster[i].locked)
			return true;
	return false;
}

bool slots_are_locked(const struct machine *m, u32 mm, u64 start, u64 end)
{
	const struct pte_ops *ops = m->arch->pte;

	if (!any_cluster_is_locked(m))
		return false;
	for (; start < end; start += PAGE_SIZE) {
		u32 pte = va_pte(m->s, mm, start);

		if (pte != NONE && !ops->none(m->pte[pte]) && !ops->present(m->pte[pte]))
			return true;
	}
	return false;
}

bool range_is_locked(const struct machine *m, u32 mm, u64 start, u64 end, enum mm_lock lock)
{
	u32 held = m->mm[mm].mmap_lock;

	if (slots_are_locked(m, mm, start, end) || held == MMAP_WRITE_LOCKED ||
	    (lock != MM_READ && held) || page_tables_are_locked(m, mm, start, end))
		return true;
	for (u32 i = 0; lock == MM_VMAS && i < m->s->nr[ARRAY_TASK]; i++)
		if (locks_anon_vma(m, state_task(m->s, i), mm, start, end))
			return true;
	return false;
}

static bool has_neighbour(const struct machine *m, const struct vma *vma)
{
	u32 prev = va_vma(m->s, vma->mm, vma->start - 1), next = va_vma(m->s, vma->mm, vma->end);

	return (prev != NONE && m->vma[prev].anon_vma == vma->anon_vma) ||
	       (next != NONE && m->vma[next].anon_vma == vma->anon_vma);
}

bool protection_changes_vmas(const struct machine *m, u32 mm, u64 start, u64 end)
{
	for (u32 i; (i = find_vma(m->s, mm, start)) != NONE && m->vma[i].start < end;
	     start = m->vma[i].end)
		if (m->vma[i].start < start || m->vma[i].end > end || has_neighbour(m, m->vma + i))
			return true;
	return false;
}
