/* SPDX-License-Identifier: GPL-2.0-only */
/* Judge a run: what had to hold, where it did not, and how to look at that moment. */
#include <stdio.h>
#include <stdlib.h>

#include <fnmatch.h>

#include "mm/check.h"
#include "scenario/expr.h"
#include "scenario/json.h"
#include "scenario/run.h"

struct judge {
	const struct run *run;
	struct lane *lane;
	const struct scn_expect *expect;
	void (*fail)(void *ctx, const struct verdict *v);
	void *ctx;
	u32 pos;		/* the next to be looked at */
	u32 failed;
	bool oom;
};

static bool is_for(const struct scn_expect *expect, const struct lane *lane)
{
	return !expect->lane || fnmatch(expect->lane, lane->spec->name, 0) == 0;
}

static struct expr_env env_of(const struct judge *j, const struct mm_state *state, u64 step)
{
	return (struct expr_env){
		.scenario = j->run->scenario, .state = state, .lane = j->lane->spec,
		.lanes = j->run->lanes, .nr_lanes = j->run->nr_lanes, .step = step,
	};
}

/*
 * The expectation in words: "EXPR at the end", "never EXPR", "EXPR at try_to_unmap, time 2",
 * "V3 broken at pte_set".
 */
static void in_words(const struct judge *j, FILE *out)
{
	const struct scn_expect *x = j->expect;

	if (x->at == EXPECT_END || x->at == EXPECT_ALWAYS || x->at == EXPECT_NEVER) {
		fprintf(out, "%s%s%s", x->at == EXPECT_NEVER ? "never " : "", x->that,
			x->at == EXPECT_END    ? " at the end" :
			x->at == EXPECT_ALWAYS ? " always" :
						 "");
		return;
	}
	fprintf(out, "%s%s at %s", x->that ? x->that : invariants[x->breaks].name,
		x->that ? "" : " broken", event_info[x->when.event].name);
	if (x->when.folio != NONE)
		fprintf(out, " of folio %s", j->run->scenario->folios[x->when.folio].id);
	if (x->when.page != NONE)
		fprintf(out, " of page %u", x->when.page);
	if (x->when.nth > 1)
		fprintf(out, ", time %u", x->when.nth);
}

/* A verdict begins with the place in the file; say_failed() is due. */
static FILE *begin_verdict(const struct judge *j, u32 line, char **text, size_t *size)
{
	FILE *out = open_memstream(text, size);
	struct error file;

	error_set(&file, "%s", j->run->scenario->file);
	if (out)
		fprintf(out, "%s:%u: ", file.text, line);
	return out;
}

static void say_failed(struct judge *j, FILE *out, char **text, const struct lane *lane, u64 step)
{
	char *command = run_command(j->run->scenario, NULL, lane->spec->name, step);
	bool told = out && fclose(out) == 0;

	if (told && command) {
		j->failed++;
		j->fail(j->ctx, &(struct verdict){ .text = *text, .command = command });
	} else
		j->oom = true;
	free(command);
	free(*text);
}

static void report(struct judge *j, u64 step, const char *but)
{
	const struct scn_expect *x = j->expect;
	char *text = NULL;
	size_t size;
	FILE *out = begin_verdict(j, x->line, &text, &size);

	if (out) {
		fprintf(out, "%s step %llu: expected ", j->lane->spec->name,
			(unsigned long long)step);
		in_words(j, out);
		fprintf(out, ", but %s", but);
		if (x->because)
			fprintf(out, "\nbecause %s", x->because);
	}
	say_failed(j, out, &text, j->lane, step);
}

/* True: as expected. Else what is so instead stands in but. */
static bool is_met(const struct judge *j, const struct mm_state *state, u64 step,
		   struct error *but)
{
	struct expr_env env = env_of(j, state, step);
	s64 value;

	if (!expr_eval(j->expect->expr, &env, &value, but))
		return false;
	if (!!value == (j->expect->at != EXPECT_NEVER))
		return true;
	expr_explain(j->expect->expr, &env, but->text, sizeof(but->text));
	if (!but->text[0])
		error_set(but, "it is a constant");
	return false;
}

/* The same; the failure is reported. */
static bool holds(struct judge *j, const struct mm_state *state, u64 step)
{
	struct error but = { .text = "" };
	bool met = is_met(j, state, step, &but);

	if (!met)
		report(j, step, but.text);
	return met;
}

static const struct mm_state *end_of(const struct lane *lane)
{
	return (const struct mm_state *)(const void *)lane->words;
}

static void judge_end(struct judge *j)
{
	const struct error *but = j->lane->ends;

	if (!but)
		holds(j, end_of(j->lane), j->lane->steps);
	else if (but[j->expect - j->run->scenario->expects].text[0])
		report(j, j->lane->steps, but[j->expect - j->run->scenario->expects].text);
}

bool lane_judge_end(struct run *run, struct lane *lane)
{
	struct judge j = { .run = run, .lane = lane };

	lane->ends = calloc((size_t)run->scenario->nr_expects + 1, sizeof(*lane->ends));
	for (u32 i = 0; lane->ends && i < run->scenario->nr_expects; i++) {
		j.expect = &run->scenario->expects[i];
		if (j.expect->at == EXPECT_END && is_for(j.expect, lane))
			is_met(&j, end_of(lane), lane->steps, &lane->ends[i]);
	}
	return lane->ends;
}

/* The first moment that is wrong is enough. */
static bool judge_part(void *ctx, const struct trace *t)
{
	struct judge *j = ctx;
	struct cursor c;
	bool good = cursor_open(&c, t);

	j->oom |= !good;
	for (; good && j->pos <= trace_last(t); j->pos++) {
		cursor_seek(&c, j->pos);
		good = holds(j, c.live, j->pos);
	}
	cursor_close(&c);
	return good;
}

/* The lane's first broken invariant is to be this one, in this step. */
static void judge_breaks(struct judge *j, u32 pos)
{
	const struct lane *lane = j->lane;
	char but[640];

	if (!lane->invariant.text[0])
		report(j, pos, "every invariant holds");
	else if (lane->broken != j->expect->breaks || lane->invariant_step != pos) {
		snprintf(but, sizeof(but), "step %u breaks %s", lane->invariant_step,
			 lane->invariant.text);
		report(j, pos, but);
	}
}

bool run_breaks(const struct scenario *s, const struct lane *lane)
{
	for (u32 i = 0; i < s->nr_expects; i++)
		if (!s->expects[i].that && is_for(&s->expects[i], lane))
			return true;
	return false;
}

static void judge_between(struct judge *j, u32 first, u32 last)
{
	j->pos = first;
	j->oom |= !lane_look(j->lane, first - (first > 0), last, judge_part, j);
}

static void judge_lane(struct judge *j)
{
	u32 pos = lane_met(j->lane, (u32)(j->expect - j->run->scenario->expects));

	if (j->expect->at == EXPECT_END)
		judge_end(j);
	else if (j->expect->at != EXPECT_WHEN)
		judge_between(j, 0, UINT32_MAX);
	else if (!pos)
		report(j, j->lane->steps, "that never happens");
	else if (j->expect->that)
		judge_between(j, pos, pos);
	else
		judge_breaks(j, pos);
}

static void report_unreached(struct judge *j, struct scn_place at, const char *what, u32 i)
{
	const struct lane *lane = &j->run->lanes[0];
	char *text = NULL;
	size_t size;
	FILE *out = begin_verdict(j, at.line, &text, &size);

	if (out)
		fprintf(out, "/%s/%u: expected its \"when\" to come true in some lane, but it "
			     "never does", what, i);
	say_failed(j, out, &text, lane, lane->steps);
}

/* What waits for a moment that no lane comes to is a mistake of the scenario. */
static void judge_unreached(struct judge *j)
{
	const struct scenario *s = j->run->scenario;

	for (u32 i = 0; i < s->nr_ops; i++) {
		bool happened = s->ops[i].when.event == NR_EVENTS;

		for (u32 k = 0; k < j->run->nr_lanes && !happened; k++)
			happened = j->run->lanes[k].began[i];
		if (!happened)
			report_unreached(j, s->ops[i].at, "script", i);
	}
	for (u32 i = 0; i < s->nr_says; i++) {
		bool said = false;

		for (u32 k = 0; k < j->run->nr_lanes && !said; k++)
			said = lane_said(&j->run->lanes[k], i);
		if (!said)
			report_unreached(j, s->says[i].at, "say", i);
	}
}

u32 run_expect(struct run *run, void (*fail)(void *ctx, const struct verdict *v), void *ctx)
{
	struct judge j = { .run = run, .fail = fail, .ctx = ctx };
	const struct scenario *s = run->scenario;

	for (u32 i = 0; i < s->nr_expects; i++) {
		j.expect = &s->expects[i];
		for (u32 k = 0; k < run->nr_lanes; k++) {
			j.lane = &run->lanes[k];
			if (is_for(j.expect, j.lane))
				judge_lane(&j);
		}
	}
	if (run->nr_lanes)
		judge_unreached(&j);
	return j.oom ? NONE : j.failed;
}
