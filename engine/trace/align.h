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
 *
 * A part of a long run is aligned alone: its ticks go on from a number that is given, and
 * positions are those of the traces.
 */
#ifndef TRACE_ALIGN_H
#define TRACE_ALIGN_H

#include "trace/trace.h"

struct align;

/* Whole traces. They may go away afterwards. NULL: out of memory. */
struct align *align_new(const struct trace *const *lanes, u32 nr);
/* What comes after position from[] of each lane; the tick there is first_tick. */
struct align *align_part(const struct trace *const *lanes, u32 nr, const u32 *from, u32 first_tick);
void align_free(struct align *a);
u32 align_first_tick(const struct align *a);	/* before anything has moved */
u32 align_last_tick(const struct align *a);
u32 align_nr_ticks(const struct align *a);
/* Where lane is at a tick; at one before the first or after the last: as there. */
u32 align_pos(const struct align *a, u32 tick, u32 lane);
/* Did tick move this lane? False: it waits (the first tick: false for all). */
bool align_moves(const struct align *a, u32 tick, u32 lane);
/* The first tick at which lane is at pos; before and behind the part: its ends. */
u32 align_tick(const struct align *a, u32 lane, u32 pos);

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

/*
 * The nearest tick after (dir > 0) or before a tick whose group is about something else
 * than key. NONE: there is none in this part.
 */
enum align_by { ALIGN_PAGE, ALIGN_PHASE };
u32 align_other(const struct align *a, u32 tick, int dir, enum align_by by,
		const struct align_group *key);
bool align_same(const struct align_group *a, const struct align_group *b, enum align_by by);

#endif
