/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two lanes of a run compared: where they part, and what differs when both have ended.
 *
 *   first    begin  enter  read  ..  cleared(page 0, 1)  ..  | end state
 *   second   begin  enter  read  ..  cleared(page 0, 16) ..  | end state
 *            `----- the same -----'  ^ here they part
 *
 * What is compared has a meaning: not the order in which a TLB was filled, not what the
 * last call left on its stack. Lanes of different architectures are compared by what their
 * page-table entries say, whatever the bits, and without what only one of them keeps.
 */
#ifndef SCENARIO_COMPARE_H
#define SCENARIO_COMPARE_H

#include "scenario/run.h"
#include "trace/narrate.h"

/*
 * Do these lanes do the same at a tick of the alignment: does each make a step there, and
 * of the same event, page and argument? Yes, if none of them moves.
 */
bool lanes_agree(const struct run *run, const u32 *lane, u32 nr, u32 tick);
/*
 * The first tick at which two lanes do not, with its window shown; 0: there is none. False:
 * out of memory.
 */
bool lanes_part(struct run *run, const u32 lane[2], u32 *tick);

/* A field, or as many alike of the elements that follow, that two end states have otherwise. */
struct difference {
	const char *of;		/* "folio" "page" "mm" "pte" ...: what it belongs to */
	char what[112];		/* "folio A.refcount": of the first element */
	u32 nr;			/* elements */
	bool generation;	/* it counts flushes: who groups them otherwise has another */
	bool number;		/* the values are decimal numbers */
	char value[2][128];	/* of the first element */
	char text[2][160];	/* page-table entries: what the values mean; else "" */
};
/* Every difference between the end states of two lanes of one run. How many there were. */
u32 compare_ends(const struct lane *const lane[2], const struct names *names,
		 void (*emit)(void *ctx, const struct difference *d), void *ctx);

#endif
