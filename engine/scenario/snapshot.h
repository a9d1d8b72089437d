/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States of a lane that are kept while it is counted, so that it need not run again from
 * its beginning to get to a later moment:
 *
 *	operation 0                         operation 1
 *	| begin  loop: rest  rest  rest end | begin ...
 *	0              |     ^--------------^------------ snapshots
 *	               `- the first rest of the same loop
 *
 * Before an operation everything is in the state: one that was kept there is where to begin.
 * At a rest (core/machine.h) there is a call under way as well. To get to one that was kept
 * there its operation is begun truly; where it rests in that loop for the first time the
 * later state takes the place of the one that is there.
 *
 * How many are kept depends on how large they are, how far apart on how long the run is.
 */
#ifndef SCENARIO_SNAPSHOT_H
#define SCENARIO_SNAPSHOT_H

#include "core/machine.h"

struct snapshot {
	u32 pos;
	u32 op;			/* under way, or about to begin */
	u32 loop;		/* of rest(); NONE: before the operation */
	u32 *words;
	u32 *matches;		/* of each operation's trigger so far */
};

struct snapshots {
	struct snapshot *at;
	u32 nr;
	u64 apart;		/* steps from one to the next, at least */
	u32 words, nr_ops;	/* of a state, and in the script */
};

/* No memory: none will be kept. */
void snapshots_open(struct snapshots *s, const struct mm_state *state, u32 nr_ops);
void snapshots_close(struct snapshots *s);
/* Keep the state there is, if the last one that was kept is far enough behind. */
void snapshots_offer(struct snapshots *s, const struct machine *m, u32 op, u32 loop,
		     const u32 *matches);
/* The last one before a position, or NULL. */
const struct snapshot *snapshots_before(const struct snapshots *s, u32 pos);
/* The last one from which its operation, or one before it, can begin; NULL: the beginning. */
const struct snapshot *snapshots_base(const struct snapshots *s, const struct snapshot *of);
/* Put it in the machine's place. */
void snapshot_restore(const struct snapshots *s, const struct snapshot *snapshot,
		      struct machine *m, u32 *matches);

#endif
