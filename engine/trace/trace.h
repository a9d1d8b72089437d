/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorded lane, or a part of one: what happened, step by step, and the means to be at
 * any moment.
 *
 *   steps   [0] [1] [2] ...            16 bytes each
 *            |   |   `--- first_delta
 *   deltas  [word,xor] [word,xor] ...   8 bytes each; the same loop steps both ways
 *   keys    |state at step 0|    |state at step 9,312| ...
 *
 * Position N is the moment after N steps of the machine: 0 is before the first. A trace
 * knows those from trace_first(), where recording began, to trace_last(); step i leads
 * from position i to i + 1.
 *
 * A keyframe is written when the deltas since the last exceed four times the state, so a
 * seek applies at most four states' worth of deltas.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "core/machine.h"

struct step {
	u32 first_delta;
	u16 event;
	u16 path;		/* index for trace_path() */
	u32 page;		/* in page[], or see STEP_ENTRY */
	u32 arg;		/* what the event says it is: a count, a CPU, a slot ... */
};

/* A call path, innermost mirrored function first. */
#define PATH_DEPTH 24
struct call_path {
	u32 nr;
	u16 function[PATH_DEPTH];	/* enum event */
};

struct trace;

/* Start at the machine's state now. NULL: out of memory. */
struct trace *trace_new(struct machine *m);
/* Forget what was recorded and start again, at a machine of the same shape. */
bool trace_again(struct trace *t, struct machine *m);
void trace_free(struct trace *t);
/*
 * The function that performs one script operation: frames outside the innermost
 * call of it are no part of a path. An operation that another CPU performs in the
 * middle is not called by the code it interrupts.
 */
void trace_set_boundary(struct trace *t, void (*fn)(void));
/* A step of that machine: its observer calls this. Changes reach the journal by themselves. */
void trace_record(struct trace *t, enum event event, u32 page, u32 arg, const void *site);
/* Memory or numbers ran out: the trace stays a valid beginning of the run, and grows no more. */
bool trace_oom(const struct trace *t);
/* Nothing more will be recorded; what was put after the last step becomes part of it. */
void trace_end(struct trace *t);

u32 trace_nr_steps(const struct trace *t);
u32 trace_first(const struct trace *t);
u32 trace_last(const struct trace *t);
const struct step *trace_step(const struct trace *t, u32 i);	/* first .. last - 1 */
const struct call_path *trace_path(const struct trace *t, u32 path);

/* What the machine was: it never changes, and the state does not tell. */
struct variant {
	const struct kernel *kernel;
	const struct arch *arch;
	u32 features;		/* bit i: enum cpu_feature i */
};
const struct variant *trace_variant(const struct trace *t);

u32 trace_nr_keyframes(const struct trace *t);
size_t trace_bytes(const struct trace *t);	/* everything allocated, unused room included */
const struct mm_state *trace_start(const struct trace *t);	/* state at trace_first() */

/*
 * A moment in a trace. live is the whole state then; everything shown is a
 * function of (trace, pos, live).
 */
struct cursor {
	const struct trace *trace;
	u32 pos;
	const struct mm_state *live;
	u32 *words;			/* the same block, owned */
};

bool cursor_open(struct cursor *c, const struct trace *t);	/* at first; false: out of memory */
void cursor_close(struct cursor *c);
/* To the first position of another trace of the same machine. */
void cursor_move(struct cursor *c, const struct trace *t);
void cursor_seek(struct cursor *c, u32 pos);			/* clamped to what is known */

/* The step that led here, or NULL at trace_first(). */
const struct step *cursor_step(const struct cursor *c);
/*
 * Did the step that led here change this field of live? *old is its value before;
 * old may be NULL. 64-bit fields: cursor_changed64; narrow ones: cursor_changed_any.
 */
bool cursor_changed(const struct cursor *c, const u32 *field, u32 *old);
bool cursor_changed64(const struct cursor *c, const u64 *field, u64 *old);
/* Any byte of live in [from, from + bytes)? */
bool cursor_changed_any(const struct cursor *c, const void *from, size_t bytes);
/* The deltas of step i, for lists of what changed. */
const struct delta *trace_deltas(const struct trace *t, u32 i, u32 *nr);
/* The call path at this moment: of the step that led here. */
const struct call_path *cursor_path(const struct cursor *c);

#endif
