/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a trace is stored; for trace.c and cursor.c alone.
 *
 *   delta index  0            8192          16384         24576
 *                | chunk 0    | chunk 1 .. a run of two ..| chunk 3
 *   steps        [0][1][2]..  [  one step's many deltas  ]
 *                         ^ room that the next step did not fit in
 *
 * Deltas are numbered through; chunk index >> DELTA_SHIFT holds them. A step's
 * deltas lie together: one that does not fit in what is left of a chunk begins a
 * new one, one larger than a chunk gets several that are one allocation. Nothing
 * that was written ever moves.
 */
#ifndef TRACE_STORE_H
#define TRACE_STORE_H

#include "trace/callpath.h"
#include "trace/trace.h"

#define STEP_SHIFT 12		/* 64 KiB each */
#define DELTA_SHIFT 13
#define DELTA_CHUNK (1u << DELTA_SHIFT)

/* A block copied costs about as much as this fraction of its words XORed one by one. */
#define COPY_COST 4

struct delta_chunk {
	struct delta *delta;
	u32 end;		/* past the last delta of the last step that begins here */
	bool owned;		/* false: inside the allocation of the one before */
};

struct keyframe {
	u32 pos;
	u32 *words;
};

struct trace {
	struct journal journal;	/* first; delta is where the next step's deltas go */
	struct machine *m;
	struct variant variant;
	bool oom;
	struct delta scratch[16];	/* when oom: deltas of no use */

	u32 first;		/* position of the first step */
	struct step **steps;
	u32 nr_steps, nr_step_chunks;
	struct delta_chunk *chunks;
	u32 nr_chunks;
	u32 next;		/* index of journal.delta[0] */
	u64 since_keyframe;	/* deltas */
	struct keyframe *keys;	/* keys[0].pos is first */
	u32 nr_keys;
	u32 words;		/* of a state */
	struct callpaths *paths;
	size_t bytes;
};

#endif
