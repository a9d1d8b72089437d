/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of a page fault share: memory_fault.c, memory_swapin.c, memory_wp.c. */
#ifndef MM_FAULT_H
#define MM_FAULT_H

#include "mm/internal.h"

/* include/linux/mm.h:struct vm_fault */
struct vm_fault {
	const struct vma *vma;
	u64 address;		/* of the page */
	bool write;
	u32 pte;
	pte_t orig_pte;		/* as it was found without the lock */
};

__mirrored enum fault_result handle_pte_fault(struct machine *m, struct vm_fault *vmf);
__mirrored enum fault_result do_anonymous_page(struct machine *m, const struct vm_fault *vmf);
__mirrored enum fault_result do_swap_page(struct machine *m, struct vm_fault *vmf);
/* The page table is locked; it is unlocked on return. */
__mirrored enum fault_result do_wp_page(struct machine *m, const struct vm_fault *vmf);
__mirrored enum fault_result wp_page_copy(struct machine *m, const struct vm_fault *vmf,
				   const struct folio *old);

/* Lock the page table. False: the entry is another one by now, and the lock is free again. */
bool lock_orig_pte(struct machine *m, const struct vm_fault *vmf);
/* The reference that the fault holds becomes that of the mapping to come. */
void hand_over_ref(struct machine *m, const struct folio *folio);
void add_anon_page(struct machine *m, u32 mm, u32 page);
/* NULL: no memory is free. */
const struct folio *folio_prealloc(struct machine *m, bool need_zero);

#endif
