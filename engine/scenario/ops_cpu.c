/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/tlb.h"
#include "mm/internal.h"
#include "scenario/ops_cpu.h"
#include "scenario/scenario.h"

#define MAX_FAULTS 4 /* of one access: swapped in, then written to; found changed and tried again */

static u32 leaf_page(const struct machine *m, const struct leaf *leaf)
{
	if (leaf->ops->nr_pages == 1)
		return pte_page(m, *leaf->entry);
	return pfn_page(m->s, leaf->ops->pfn(*leaf->entry) + leaf->behind);
}

/* What is stored is not all zeroes. */
static void access_page(struct machine *m, const struct scn_op *op, u32 page, bool write)
{
	if (write && page != NONE)
		page_fill(m, page, false);
	step(m, EV_cpu_access, page_or_entry(m, page, va_pte(m->s, op->mm, op->va)), op->cpu);
}

/* Through what the CPU holds. A store through a clean translation touches the page table. */
static bool access_tlb(struct machine *m, const struct scn_op *op, bool write)
{
	const u32 can_store = TLB_WRITABLE | TLB_DIRTY;
	u32 entry = tlb_find(m->s, op->cpu, op->mm, op->va);

	if (entry == NONE || (write && (m->tlb[entry].flags & can_store) != can_store))
		return false;
	access_page(m, op,
		    pfn_page(m->s, m->tlb[entry].pfn + ((op->va - m->tlb[entry].va) >> PAGE_SHIFT)),
		    write);
	return true;
}

/* Through the page table, where the hardware sets accessed and dirty. False: it faults. */
static bool access_page_table(struct machine *m, const struct scn_op *op, bool write)
{
	u32 pte = va_pte(m->s, op->mm, op->va), page;
	struct leaf leaf;

	if (pte == NONE) {
		step(m, EV_cpu_fault, NONE, op->cpu);
		return false;
	}
	leaf = leaf_of(m->s, m->arch, pte);
	page = leaf_page(m, &leaf);
	if (!leaf.ops->accessible(*leaf.entry) || (write && !leaf.ops->write(*leaf.entry))) {
		step(m, EV_cpu_fault, page_or_entry(m, page, pte), op->cpu);
		return false;
	}
	put64(m, leaf.entry,
	      leaf.ops->mkyoung(write ? leaf.ops->hw_dirty(*leaf.entry) : *leaf.entry));
	tlb_fill(m, op->cpu, pte);
	step(m, EV_cpu_tlb_fill, page_or_entry(m, page, pte), op->cpu);
	access_page(m, op, page, write);
	return true;
}

/* What the fault of this CPU waited for may be had now: let go of the folio, try again. */
static void stop_waiting(struct machine *m)
{
	u32 folio = m->task->fault_folio;

	put(m, &m->task->fault_op, NONE);
	put(m, &m->task->fault_folio, NONE);
	if (folio != NONE)
		folio_put(m, m->folio + folio);
}

static void cpu_access(struct machine *m, const struct scn_op *op, bool write)
{
	if (m->task->fault_op != NONE)
		stop_waiting(m);
	for (u32 i = 0; i < MAX_FAULTS; i++) {
		enum fault_result fault;

		if (access_tlb(m, op, write) || access_page_table(m, op, write))
			return;
		fault = do_user_fault(m, op->mm, op->va, write);
		if (fault == FAULT_WAITS)
			put(m, &m->task->fault_op, m->s->op);
		if (fault != FAULT_DONE)
			return;
	}
}

void op_read(struct machine *m, const struct scn_op *op)
{
	cpu_access(m, op, false);
}

void op_write(struct machine *m, const struct scn_op *op)
{
	cpu_access(m, op, true);
}

void op_idle(struct machine *m, const struct scn_op *op)
{
	(void)op;
	enter_lazy_tlb(m);
}

bool may_idle(const struct machine *m, const struct scn_op *op)
{
	return is_not_waiting(m, op) && m->cpu[op->cpu].mm != NONE;
}

bool is_not_waiting(const struct machine *m, const struct scn_op *op)
{
	return state_task(m->s, op->cpu)->fault_op == NONE;
}
