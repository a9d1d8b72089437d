/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the next interesting moment is. Each search walks the steps of the lanes
 * shown, one lane after the other, and takes the nearest tick: first in the window
 * shown, then in the rest of the run, which is recorded for it part by part.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "scenario/compare.h"
#include "scenario/expr.h"

/* How much one key may look at: a fraction of a second. */
#define MAX_NARRATED 100000u
#define MAX_EVALUATED 2000000u
#define MAX_COMPARED 4000000u

const struct event_kind event_kinds[] = {
	{ 'f', "flush", "a translation is invalidated, waited for or interrupted for" },
	{ 'u', "unfold or fold", "of a contpte block" },
	{ 'w', "swap write", "an entry, a count or content goes to swap" },
	{ 'r', "reference", "a folio's refcount changes" },
	{ 'd', "divergence", "the lanes shown stop doing the same" },
	{ 's', "note", "the scenario has something to say" },
	{ 'e', "other event", "past a run of alike steps" },
};
const u32 nr_event_kinds = NR_OF(event_kinds);

static bool is_flush(u32 event)
{
	switch (event) {
	case EV_tlbi_page:
	case EV_tlbi_range:
	case EV_tlbi_asid:
	case EV_dsb_ish:
	case EV_invlpg:
	case EV_cr3_write:
	case EV_invlpgb:
	case EV_ipi_sent:
	case EV_tlb_flush_done:
		return true;
	default:
		return false;
	}
}

static bool is_swap_write(u32 event)
{
	switch (event) {
	case EV_swap_pte_set:
	case EV_swap_cache_added:
	case EV_swap_count_raised:
	case EV_swap_count_lowered:
	case EV_swap_zero_filled:
	case EV_swap_write_submitted:
	case EV_swap_shadow_stored:
	case EV_swap_slot_freed:
		return true;
	default:
		return false;
	}
}

static bool changes_reference(const struct trace *t, u32 i)
{
	const struct mm_state *s = trace_start(t);
	u32 size = sizeof(struct folio) / sizeof(u32);
	u32 nr;
	const struct delta *delta = trace_deltas(t, i, &nr);

	for (u32 k = 0; k < nr; k++) {
		u32 word = delta[k].word - s->at[ARRAY_FOLIO];

		if (word / size < s->nr[ARRAY_FOLIO] &&
		    word % size == offsetof(struct folio, refcount) / sizeof(u32))
			return true;
	}
	return false;
}

struct query {
	const struct app *app;
	u32 lane;
	int dir;
	const struct trace *trace;
	/* Does step i of the trace qualify? */
	bool (*matches)(struct query *q, u32 i);
	u32 found;		/* the position after it, or 0 */
	u32 letter;
	u32 event;		/* of the step that led here */
	/* for a pattern */
	struct cursor cursor;
	char lower[MAX_LINE];
	u32 narrated;
	bool limited;
};

static bool kind_matches(struct query *q, u32 i)
{
	u32 event = trace_step(q->trace, i)->event;

	switch (q->letter) {
	case 'f':
		return is_flush(event);
	case 'u':
		return event == EV_contpte_unfolded || event == EV_contpte_folded;
	case 'w':
		return is_swap_write(event);
	case 'r':
		return changes_reference(q->trace, i);
	case 's':
		return app_said(q->app, q->lane, i + 1);
	case 'e':
		return event != q->event;
	}
	return false;
}

/* The nearest match of a lane in the window shown. */
static void search_window(struct query *q)
{
	const struct run *run = q->app->run;
	u32 pos = q->app->cursor[q->lane].pos, first = run_edge(run, run->window, q->lane);

	q->trace = run->lanes[q->lane].trace;
	if (q->dir > 0) {
		for (; !q->found && pos < trace_last(q->trace); pos++)
			q->found = q->matches(q, pos) ? pos + 1 : 0;
		return;
	}
	if (pos > first && align_tick(run->align, q->lane, pos) == q->app->tick)
		pos--;
	for (; !q->found && pos > first; pos--)
		q->found = q->matches(q, pos - 1) ? pos : 0;
}

static bool search_part(void *ctx, const struct trace *t)
{
	struct query *q = ctx;

	q->trace = t;
	if (q->cursor.words)
		cursor_move(&q->cursor, t);
	for (u32 i = trace_first(t); i < trace_last(t); i++) {
		if (!q->matches(q, i))
			continue;
		q->found = i + 1;
		if (q->dir > 0)
			return false;
	}
	return true;
}

/* The same beyond it. Behind it, ever longer stretches: each is run through from its start. */
static void search_rest(struct query *q)
{
	const struct run *run = q->app->run;
	struct lane *lane = &run->lanes[q->lane];
	u32 window = run->window, begin;

	if (q->dir > 0 && run_edge(run, window + 1, q->lane) < lane->steps)
		lane_look(lane, run_edge(run, window + 1, q->lane), UINT32_MAX, search_part, q);
	for (u32 nr = 1; q->dir < 0 && window && !q->found; window = begin, nr *= 2) {
		begin = window > nr ? window - nr : 0;
		lane_look(lane, run_edge(run, begin, q->lane), run_edge(run, window, q->lane),
			  search_part, q);
	}
}

static u32 nearer(u32 a, u32 b, int dir)
{
	if (a == NONE || b == NONE)
		return a == NONE ? b : a;
	return (dir > 0) == (a < b) ? a : b;
}

/* Of positions in several lanes, 0 for none, the nearest one's tick; its window is shown then. */
static u32 nearest(struct app *app, const u32 *lane, const u32 *pos, u32 nr, int dir)
{
	u32 window = NONE, tick = NONE;

	for (u32 i = 0; i < nr; i++)
		if (pos[i])
			window = nearer(window, run_window_of(app->run, lane[i], pos[i]), dir);
	if (window == NONE || !app_show(app, window))
		return NONE;
	for (u32 i = 0; i < nr; i++)
		if (pos[i] && run_window_of(app->run, lane[i], pos[i]) == window)
			tick = nearer(tick, align_tick(app->run->align, lane[i], pos[i]), dir);
	return tick;
}

static u32 find(struct app *app, struct query *q, u32 nr, int dir)
{
	u32 lane[MAX_SHOWN], pos[MAX_SHOWN], found = 0;

	for (u32 i = 0; i < nr; i++) {
		search_window(&q[i]);
		found += q[i].found;
	}
	for (u32 i = 0; i < nr; i++) {
		if (!found)
			search_rest(&q[i]);
		lane[i] = q[i].lane;
		pos[i] = q[i].found;
	}
	return nearest(app, lane, pos, nr, dir);
}

/* The first tick of a stretch in which the lanes do not do the same. */
static u32 find_divergence(struct app *app, int dir)
{
	u32 lane[MAX_SHOWN];
	u32 nr = app_shown(app, app->w, lane);
	u32 tick = dir > 0 ? app->tick : app_next(app, app->tick, -1);
	bool here = lanes_agree(app->run, lane, nr, tick);

	for (u32 i = 0; i < MAX_COMPARED; i++) {
		u32 next = app_next(app, tick, dir);
		bool there = lanes_agree(app->run, lane, nr, next);

		if (next == tick)
			break;
		if (dir > 0 ? here && !there : there && !here)
			return dir > 0 ? next : tick;
		tick = next;
		here = there;
	}
	return NONE;
}

u32 find_kind(struct app *app, u32 letter, int dir)
{
	struct query q[MAX_SHOWN];
	u32 lane[MAX_SHOWN];
	u32 nr = app_shown(app, app->w, lane);

	if (letter == 'd')
		return nr > 1 ? find_divergence(app, dir) : NONE;
	for (u32 i = 0; i < nr; i++) {
		const struct step *step = cursor_step(app_cursor(app, lane[i]));

		q[i] = (struct query){ .app = app, .lane = lane[i], .dir = dir, .letter = letter,
				       .matches = kind_matches,
				       .event = step ? step->event : NR_EVENTS };
	}
	return find(app, q, nr, dir);
}

/* Letter case does not count; lower is lower case. */
static bool contains(const char *text, const char *lower)
{
	for (; *text; text++) {
		size_t i = 0;

		while (lower[i] && tolower((unsigned char)text[i]) == lower[i])
			i++;
		if (!lower[i])
			return true;
	}
	return false;
}

static bool pattern_matches(struct query *q, u32 i)
{
	const struct step *step = trace_step(q->trace, i);
	struct wording wording = trace_wording(q->trace, step);
	char text[512];

	if (contains(event_info[step->event].name, q->lower) ||
	    contains(wording.text, q->lower) || contains(wording.why, q->lower))
		return true;
	if (q->narrated == MAX_NARRATED) {
		q->limited = true;
		return false;
	}
	q->narrated++;
	cursor_seek(&q->cursor, i + 1);
	return contains(narrate(&q->cursor, &q->app->names, text, sizeof(text)), q->lower);
}

u32 find_pattern(struct app *app, int dir, bool *limited)
{
	struct query q[MAX_SHOWN];
	u32 lane[MAX_SHOWN];
	u32 shown = app_shown(app, app->w, lane), nr = 0, tick;

	for (u32 i = 0; i < shown; i++) {
		q[nr] = (struct query){ .app = app, .lane = lane[i], .dir = dir,
					.matches = pattern_matches };
		for (u32 k = 0; app->pattern[k]; k++)
			q[nr].lower[k] = (char)tolower((unsigned char)app->pattern[k]);
		nr += cursor_open(&q[nr].cursor, app->run->lanes[lane[i]].trace);
	}
	tick = find(app, q, nr, dir);
	for (u32 i = 0; i < nr; i++) {
		*limited |= q[i].limited;
		cursor_close(&q[i].cursor);
	}
	return tick;
}

/* A lane on its way to where an expression becomes true: it holds there and not before. */
struct until {
	const struct app *app;
	struct lane *lane;
	const struct expr *expr;
	struct error *err;
	u32 pos, evaluated, found;
	bool before;
};

static bool until_part(void *ctx, const struct trace *t)
{
	struct until *u = ctx;
	struct cursor c;
	bool more = cursor_open(&c, t);

	for (; more && u->pos <= trace_last(t); u->pos++) {
		struct expr_env env = { .scenario = u->app->run->scenario, .lane = u->lane->spec,
					.lanes = u->app->run->lanes,
					.nr_lanes = u->app->run->nr_lanes, .step = u->pos };
		s64 value;

		cursor_seek(&c, u->pos);
		env.state = c.live;
		more = expr_eval(u->expr, &env, &value, u->err) && ++u->evaluated < MAX_EVALUATED;
		if (!more)
			break;
		if (value && !u->before)
			u->found = u->pos;
		more = !u->found;
		u->before = value != 0;
	}
	cursor_close(&c);
	return more;
}

u32 find_until(struct app *app, const char *text, struct error *err)
{
	u32 lane[MAX_SHOWN], pos[MAX_SHOWN];
	u32 nr = app_shown(app, app->w, lane);
	u32 tick = NONE, column;
	struct expr *e = expr_parse(app->run->scenario, text, err, &column);

	if (!e)
		return NONE;
	for (u32 i = 0; i < nr; i++) {
		struct until u = { .app = app, .lane = &app->run->lanes[lane[i]], .expr = e,
				   .err = err, .pos = app->cursor[lane[i]].pos, .before = true };

		lane_look(u.lane, u.pos, UINT32_MAX, until_part, &u);
		pos[i] = u.found;
	}
	tick = nearest(app, lane, pos, nr, 1);
	expr_free(e);
	return tick;
}
