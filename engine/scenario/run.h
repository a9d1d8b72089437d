/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run a scenario: build its world in a machine, perform its script, judge its
 * expectations. The same code counts and records.
 *
 * Each lane runs once without being recorded, which is cheap. That tells what it costs,
 * where remarks are due and where it can be cut. Whatever is looked at later is recorded
 * then: a lane does the same each time, so it is run again up to there.
 */
#ifndef SCENARIO_RUN_H
#define SCENARIO_RUN_H

#include "scenario/scenario.h"
#include "scenario/snapshot.h"
#include "trace/align.h"
#include "trace/trace.h"

enum run_mode {
	RUN_COUNT,
	RUN_RECORD,	/* and record all steps of all lanes */
	RUN_EXPLORE,	/* the same, but a long run window by window: window.c */
};

/* A place where a lane may be cut: what was done to a folio, or an operation, has ended. */
struct seam {
	u32 pos;
	u32 op, folio;		/* folio NONE: the operation */
};

/* One lane that has run. */
struct lane {
	const struct scenario *scenario;
	const struct scn_lane *spec;
	u32 index;
	struct machine m;		/* at its end */
	u32 *words;			/* the state then, owned; see MAX_RECORDED_STATE */
	u32 *placed;			/* the state before the first step, owned, and */
	struct snapshots snapshots;	/* later ones; none after RUN_COUNT */
	u64 steps;
	bool limited;			/* the step limit ended the script early */
	struct seam *seams;
	u32 nr_seams;
	u32 *began;			/* [nr_ops]: where an operation began; 0: it did not */
	u32 *met;			/* see lane_said(), lane_met() */
	/* the first broken invariant, if asked for or with bugs: text is empty when none */
	struct error invariant;
	struct error *ends;		/* lane_judge_end(): [nr_expects], or NULL */
	u32 broken;			/* enum invariant */
	u32 invariant_step;

	struct trace *trace;		/* of the window shown, else NULL */
	/* memory for the next recording: a large world's is dear to get */
	struct trace *spare;
	u32 *spare_words;
};

struct run {
	struct scenario *scenario;	/* not owned */
	u32 nr_lanes;
	struct lane *lanes;
	struct align *align;		/* of the window shown, else NULL */
	u32 window, nr_windows;
	u32 *edge;			/* [nr_windows + 1][nr_lanes]: positions */
};

/*
 * Shape and place a lane's world. No step, no counter. *words: in, NULL or a block that is
 * not needed any more; out, the world's, also if it could not be placed.
 */
bool world_build(const struct scenario *s, const struct scn_lane *lane, struct machine *m,
		 u32 **words, struct error *err);

/* Does a step fulfil a `when`, its nth left aside? s: any state of the lane. */
bool when_matches(const struct scenario *scenario, const struct mm_state *s,
		  const struct scn_when *when, enum event event, u32 page);

/* Where a `say` is due in a lane, where the `when` of an `expect` comes true; 0: nowhere. */
static inline u32 lane_said(const struct lane *lane, u32 say)
{
	return lane->met[say];
}

static inline u32 lane_met(const struct lane *lane, u32 expect)
{
	return lane->met[lane->scenario->nr_says + expect];
}

/*
 * Checking costs as much as the state is large. Above this it is done between folios only,
 * and never more often than once in so many steps as make it cost about as much as the run.
 * Of a state many times as large as the last of these it is done some twenty times in all.
 */
#define CHECK_EACH_STEP_WORDS (40u << 10)
#define CHECK_WORDS_A_STEP 128
#define CHECK_RARELY_WORDS (4u << 20)

/* Run all lanes. check: the invariants after every step. False: the world or script cannot be. */
bool run_scenario(struct run *run, struct scenario *s, enum run_mode mode, bool check,
		  struct error *err);
void run_free(struct run *run);

/*
 * Record a lane from one position to another and hand the trace to take(), in parts of at
 * most so many steps; what take() does not want more of is not run. The first part begins
 * at `from`, each other where the one before it ended. False: out of memory.
 */
bool lane_record(struct lane *lane, u32 from, u32 to, u32 part,
		 bool (*take)(void *ctx, struct trace *t), void *ctx);
/* The same for who only looks: each part is gone when see() returns. */
bool lane_look(struct lane *lane, u32 from, u32 to,
	       bool (*see)(void *ctx, const struct trace *t), void *ctx);

/*
 * A run of so many steps in all its lanes is recorded whole. A longer one is cut at seams,
 * each time that so many steps have come together.
 */
#define WHOLE_STEPS (1u << 20)
#define WINDOW_STEPS (1u << 15)

/* Cut it into windows of about so many steps. False: out of memory, or of numbers for them. */
bool run_cut(struct run *run, u32 steps, struct error *err);
/* Let the lanes' traces and the alignment be those of a window. False: out of memory. */
bool run_show(struct run *run, u32 window);
/*
 * Ticks are numbered through the whole run. A window's first one is the number of steps of
 * all lanes before it, so that no two windows share a number; some are left out.
 */
u32 run_window_at(const struct run *run, u32 tick);
u32 run_first_tick(const struct run *run, u32 window);
u32 run_last_tick(const struct run *run);
/* The first window in which a lane comes to a position, and where it is when it begins. */
u32 run_window_of(const struct run *run, u32 lane, u32 pos);
static inline u32 run_edge(const struct run *run, u32 window, u32 lane)
{
	return run->edge[(size_t)window * run->nr_lanes + lane];
}

/*
 * What a recorded lane may be, in words: it is kept several times over. Of a lane that is larger
 * only the head of the state is kept, with what was counted; it is judged before the rest goes,
 * so that no two such states are in memory at once.
 */
#define MAX_RECORDED_STATE (64u << 20)

/* A failed expectation, in words. */
struct verdict {
	const char *text;	/* both operands and the step; "because" on a line of its own */
	const char *command;	/* run_command() of that moment */
};
/*
 * Evaluate every `expect` of a run; fail() hears of each that does not hold, and
 * of operations and remarks whose moment no lane came to. How many there were; NONE: there
 * was no memory to look.
 */
u32 run_expect(struct run *run, void (*fail)(void *ctx, const struct verdict *v), void *ctx);
/*
 * Let a lane whose end state is about to go remember what its expectations of the end come to:
 * lane->ends, a text each that is empty where it holds. False: out of memory.
 */
bool lane_judge_end(struct run *run, struct lane *lane);
/* Is some invariant to be broken in this lane? Then run_expect() judges which and where. */
bool run_breaks(const struct scenario *s, const struct lane *lane);

/*
 * The command that opens a moment again, as a shell takes it: "folioscope FILE --at LANE:N",
 * with the --lanes and --feature that made this run. lanes: other ones to ask for, else NULL.
 * The caller frees it. NULL: out of memory.
 */
char *run_command(const struct scenario *s, const char *lanes, const char *lane, u64 pos);

/* MOMENT: "LANE:N", "N", "end", "LANE:end" -> a lane and a position of it. */
bool run_moment(const struct run *run, const char *moment, u32 *lane, u32 *pos,
		struct error *err);

#endif
