/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* mm/memory.c:vm_normal_page: in page[], NONE if the entry maps none that the kernel manages */
__mirrored u32 vm_normal_page(struct machine *m, pte_t pteval)
{
	u32 page = pfn_page(m->s, m->arch->pte->pfn(pteval));

	enter(m, EV_vm_normal_page, page, 0);
	return page;
}

/* mm/memory.c:vm_normal_folio */
__mirrored const struct folio *vm_normal_folio(struct machine *m, pte_t pteval)
{
	u32 page;

	enter(m, EV_vm_normal_folio, pte_page(m, pteval), 0);
	page = vm_normal_page(m, pteval);
	return page == NONE ? NULL : m->folio + page_folio(m->s, page);
}
