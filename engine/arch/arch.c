/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "arch/access.h"

const struct arch *const archs[] = {
	&arm64_arch,
	&x86_arch,
};
const u32 nr_archs = NR_OF(archs);

const struct arch *arch_find(const char *name)
{
	for (u32 i = 0; i < nr_archs; i++)
		if (strcmp(archs[i]->name, name) == 0)
			return archs[i];
	return NULL;
}

u32 pte_slot(const struct machine *m, pte_t val)
{
	const struct pte_ops *ops = m->arch->pte;

	if (ops->none(val) || ops->present(val))
		return NONE;
	for (u32 i = 0; i < m->s->nr[ARRAY_DEVICE]; i++)
		if (m->device[i].type == ops->swp_type(val) &&
		    ops->swp_offset(val) < m->device[i].nr_slots)
			return m->device[i].first_slot + (u32)ops->swp_offset(val);
	return NONE;
}

u32 pte_page(const struct machine *m, pte_t val)
{
	const struct pte_ops *ops = m->arch->pte;
	u64 pfn;
	u32 slot;

	if (ops->none(val))
		return m->task->page;
	if (softleaf_migration_pfn(ops, &m->kernel->types, val, &pfn) ||
	    softleaf_device_exclusive_pfn(ops, &m->kernel->types, val, &pfn))
		return pfn_page(m->s, pfn);
	if (ops->present(val))
		return pfn_page(m->s, ops->pfn(val));
	slot = pte_slot(m, val);
	return slot == NONE ? NONE : slot_page(m->s, slot);
}

u32 page_at_pte(const struct machine *m, u32 pte, pte_t val)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct task *task = m->task;

	if (task->page != NONE && task->walk_pte != NONE &&
	    (ops->none(val) || (ops->present(val) && is_zero_pfn(ops->pfn(val))) ||
	     pte_is_marker(ops, &m->kernel->types, val, MARKER_UFFD_WP)))
		return task->page + pte - task->walk_pte;
	return page_or_entry(m, pte_page(m, val), pte);
}

struct leaf leaf_of(const struct mm_state *s, const struct arch *arch, u32 pte)
{
	const struct table *table = state_table(s, pte / PTRS_PER_PTE);

	if (table->pmd)
		return (struct leaf){ &table->pmd, arch->pmd, pte % PTRS_PER_PTE };
	return (struct leaf){ state_pte(s, pte), arch->pte, 0 };
}
