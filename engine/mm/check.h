/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The invariants, as code. They hold after every step of a right kernel; a wrong
 * order of operations breaks one at the step where it goes wrong.
 *
 * V3 and the equalities of V1, V2 and V6 hold when no walk is under way: inside it
 * the counts lag the page table on purpose. Who zaps, faults or forks may change a
 * count or a mark before the entry: the entries of a page table that it has locked are
 * left out of V3, V4, V9 and V12, and V17 lets them differ in the write bit. "No CPU
 * can use" (V7, V8) leaves out lazy CPUs and those that run another mm: they flush
 * before they use the entry.
 */
#ifndef MM_CHECK_H
#define MM_CHECK_H

#include "core/machine.h"

enum invariant {
#define INVARIANT(id, text) INVARIANT_##id,
#include "mm/invariants.def"
#undef INVARIANT
	NR_INVARIANTS
};

struct invariant_info {
	const char *name;	/* "V1" */
	const char *text;
};
extern const struct invariant_info invariants[NR_INVARIANTS];

/* The first that does not hold: what it found, and what it should have been. */
struct violation {
	enum invariant invariant;
	enum { ON_FOLIO, ON_PAGE, ON_PTE, ON_SLOT, ON_CLUSTER, ON_DEVICE, ON_MM, ON_CPU } on;
	u32 index;
	u64 got, want;
};

/* What a change of the state is to the invariants; no bits: nothing. */
enum concern {
	CONCERNS_SOME = 1,	/* one of them looks at it */
	CONCERNS_ENTRIES = 2,	/* what the page tables say is another sum */
};
u32 check_concern(const struct mm_state *s, u32 word);

/*
 * True when all hold. Changes nothing; cost is linear in the state. scratch holds
 * check_scratch_words() words and belongs to the caller. entries: it is new, or something
 * has changed since the last call that concerns them.
 */
bool check_invariants(const struct machine *m, u32 *scratch, bool entries, struct violation *v);
size_t check_scratch_words(const struct mm_state *s);

#endif
