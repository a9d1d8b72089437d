/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lockstep: several lanes of one scenario, aligned by operation, folio, phase and page.
 *
 *   group      | isolate | slots | page 0 | page 1 | ... | flush |
 *   unbatched  | ====    | ===   | =====  | ====   |     | ==    |
 *   batched    | ====    | ===   | ================ . . . | ==    |   . waits
 *   tick       0 1 2 3 4 ...
 *
 * A tick moves every lane that still has a step in the current group; the others
 * wait. Groups that both lanes have are met together, whatever their lengths.
 */
#ifndef TRACE_ALIGN_H
#define TRACE_ALIGN_H

#include "trace/trace.h"

struct align;

/* The traces may go away afterwards. NULL: out of memory. */
struct align *align_new(const struct trace *const *lanes, u32 nr);
void align_free(struct align *a);
u32 align_nr_ticks(const struct align *a);
/* Where lane is after tick ticks. */
u32 align_pos(const struct align *a, u32 tick, u32 lane);
/* Did tick move this lane? False: it waits (tick 0: false for all). */
bool align_moves(const struct align *a, u32 tick, u32 lane);
/* The first tick at which lane is at pos. */
u32 align_tick(const struct align *a, u32 lane, u32 pos);
/*
 * First tick of the next (dir > 0) or previous (dir < 0) stretch of groups with
 * another page / another phase; clamped to the last tick and to 0.
 */
u32 align_page(const struct align *a, u32 tick, int dir);
u32 align_phase(const struct align *a, u32 tick, int dir);

/* What the group of a tick is about. */
struct align_group {
	u32 op;
	u32 folio;		/* index in folio[], or NONE */
	u32 phase;		/* enum phase */
	u32 page;		/* in page[], or NONE */
};
struct align_group align_group(const struct align *a, u32 tick);

/* The folio to look at: the one that the page is in now, should a split have changed it. */
static inline u32 align_folio(const struct mm_state *s, const struct align_group *group)
{
	return group->page < s->nr[ARRAY_PAGE] ? page_folio(s, group->page) : group->folio;
}

#endif
