/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* mm/memory.c:vm_normal_folio */
__mirrored const struct folio *vm_normal_folio(struct machine *m, pte_t pteval)
{
	u32 folio = pfn_folio(m->s, m->arch->pte->pfn(pteval));

	enter(m, EV_vm_normal_folio, pte_page(m, pteval), 0);
	return folio == NONE ? NULL : m->folio + folio;
}
