/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scenarios of a few lines, for tests of what an operation does. The invariants are checked
 * after every step; what is written down as expected must hold in every lane.
 */
#ifndef UNIT_SMALL_H
#define UNIT_SMALL_H

#include "core/state.h"

#define MAX_EXPECT 12

struct small {
	const char *name;
	const char *machine;		/* members of it; NULL: two CPUs */
	const char *lanes;		/* elements; NULL: the four of the default */
	const char *world, *script;	/* members, elements */
	/* An expression at the end of every lane, or a whole expectation that begins with '{'. */
	const char *expect[MAX_EXPECT];
};

/* What one operation of the script costs in one lane. */
struct cost {
	const char *lane;
	u32 op;
	enum counter counter;
	u64 nr;
};
void small_costs(const struct small *small, const struct cost *costs, u32 nr);

/* Fails the test where one does not hold. */
void small_run(const struct small *small);
/* Run both and hand the machines, as each lane leaves them, to a comparison. */
struct machine;
void small_compare(const struct small *a, const struct small *b,
		   void (*compare)(const struct machine *a, const struct machine *b));
/* The script cannot be: the message has this text. */
void small_refused(const struct small *small, const char *text);

#endif
