/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run a scenario: build its world in a machine, perform its script, judge its
 * expectations. The same code counts and records.
 */
#ifndef SCENARIO_RUN_H
#define SCENARIO_RUN_H

#include "scenario/scenario.h"
#include "trace/align.h"
#include "trace/trace.h"

enum run_mode { RUN_COUNT, RUN_RECORD };

/* One lane that has run. */
struct lane {
	const struct scenario *scenario;
	const struct scn_lane *spec;
	u32 index;
	struct machine m;
	u32 *words;			/* end state, owned */
	struct trace *trace;		/* RUN_RECORD, else NULL */
	u64 steps;
	bool limited;			/* the step limit ended the script early */
	bool oom;
	/* the first broken invariant, if asked for or with bugs: text is empty when none */
	struct error invariant;
	u32 broken;			/* enum invariant */
	u32 invariant_step;
};

struct run {
	struct scenario *scenario;	/* not owned */
	u32 nr_lanes;
	struct lane *lanes;
	struct align *align;		/* RUN_RECORD */
};

/* Shape and place a lane's world; *words is allocated. No step, no counter. */
bool world_build(const struct scenario *s, const struct scn_lane *lane, struct machine *m,
		 u32 **words, struct error *err);

/* Does a step fulfil a `when`, its nth left aside? s: any state of the lane. */
bool when_matches(const struct scenario *scenario, const struct mm_state *s,
		  const struct scn_when *when, enum event event, u32 page);

/* The position at which a `when` comes true in a recorded lane; 0: never. */
u32 when_position(const struct lane *lane, const struct scn_when *when);
/* The same for a `say`, which may be for other lanes only. */
u32 say_position(const struct lane *lane, const struct scn_say *say);

/* Checking costs as much as the state is large: above this, between folios only. */
#define CHECK_EACH_STEP_WORDS (32u << 10)

/* Run all lanes. check: the invariants after every step. False: the world or script cannot be. */
bool run_scenario(struct run *run, struct scenario *s, enum run_mode mode, bool check,
		  struct error *err);
void run_free(struct run *run);

/* A failed expectation, in words. */
struct verdict {
	char text[1024];	/* both operands and the step; "because" on a line of its own */
	const char *command;	/* run_command() of that moment */
};
/*
 * Evaluate every `expect` of a recorded run; fail() hears of each that does not hold, and
 * of operations and remarks whose moment no lane came to. How many there were.
 */
u32 run_expect(struct run *run, void (*fail)(void *ctx, const struct verdict *v), void *ctx);
/* Is some invariant to be broken in this lane? Then run_expect() judges which and where. */
bool run_breaks(const struct scenario *s, const struct lane *lane);

/*
 * The scenario's name of a folio of the state: "A", or "A3" in a group; "A.7" is what a split
 * made of page 7 of A. buf holds 32 bytes.
 */
const char *folio_name(const struct scenario *s, u32 folio, char *buf);

/*
 * The command that opens a moment again, as a shell takes it: "folioscope FILE --at LANE:N",
 * with the --lanes and --feature that made this run. lanes: other ones to ask for, else NULL.
 * The caller frees it. NULL: out of memory.
 */
char *run_command(const struct scenario *s, const char *lanes, const char *lane, u64 pos);

/* MOMENT: "LANE:N", "N", "end", "LANE:end" -> tick of the alignment. */
bool run_moment(const struct run *run, const char *moment, u32 *tick, u32 *lane, struct error *err);

#endif
