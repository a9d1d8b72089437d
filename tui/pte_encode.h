/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page-table entry from FIELD=VALUE words. What is not given is as in an anonymous page
 * that was just written to: writable, young, dirty. special=1 starts from a clean read-only
 * entry, protnone=1 from what mprotect(PROT_NONE) makes of the written page, kind=invalid
 * (PMD only) from what a split makes of it first.
 */
#ifndef PTE_ENCODE_H
#define PTE_ENCODE_H

#include "arch/arch.h"
#include "scenario/scenario.h"

/* ops: arch->pte or arch->pmd. False with one line in err. */
bool pte_encode(const struct arch *arch, const struct pte_ops *ops,
		const struct softleaf_types *types, char *const *words, u32 nr, pte_t *pte,
		struct error *err);

#endif
