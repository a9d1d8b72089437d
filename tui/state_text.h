/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine at a moment, for a person, and what its JSON shares with it. */
#ifndef STATE_TEXT_H
#define STATE_TEXT_H

#include "arch/pgtable.h"
#include "names.h"

/* One lane at one moment. */
struct moment {
	const struct scenario *scenario;
	const struct lane *lane;
	struct cursor c;
	struct names names;
};

void print_state_text(const struct moment *at);

/* "f < g < h", folded before column 80 */
void print_path(const struct call_path *path, int indent);

/* The index in pte[] of the i-th page of a VMA; NONE: no page table there, or a huge entry. */
u32 vma_page_pte(const struct mm_state *s, u32 vma, u64 page);
u64 vma_pages(const struct mm_state *s, u32 vma);

#endif
