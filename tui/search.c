/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the next interesting moment is. Each search walks the steps of the lanes
 * shown, one lane after the other, and takes the nearest tick.
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
	const struct trace *trace;
	/* Does step i qualify? */
	bool (*matches)(struct query *q, u32 i);
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
		for (u32 k = 0; k < q->app->nr_says; k++)
			if (q->app->say[k].lane == q->lane && q->app->say[k].pos == i + 1)
				return true;
		return false;
	case 'e':
		return event != q->event;
	}
	return false;
}

/* The tick of the nearest step of the query's lane that matches, or NONE. */
static u32 nearest(struct query *q, int dir)
{
	const struct align *a = q->app->run->align;
	u32 pos = q->app->cursor[q->lane].pos;
	u32 nr = trace_nr_steps(q->trace);

	if (dir > 0) {
		for (u32 i = pos; i < nr; i++)
			if (q->matches(q, i))
				return align_tick(a, q->lane, i + 1);
		return NONE;
	}
	if (pos && align_tick(a, q->lane, pos) == q->app->tick)
		pos--;
	while (pos--)
		if (q->matches(q, pos))
			return align_tick(a, q->lane, pos + 1);
	return NONE;
}

static u32 nearer(u32 a, u32 b, int dir)
{
	if (a == NONE || b == NONE)
		return a == NONE ? b : a;
	return (dir > 0) == (a < b) ? a : b;
}

/* The first tick of a stretch in which the lanes do not do the same. */
static u32 find_divergence(const struct app *app, int dir)
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

u32 find_kind(const struct app *app, u32 letter, int dir)
{
	u32 lane[MAX_SHOWN];
	u32 nr = app_shown(app, app->w, lane);
	u32 tick = NONE;

	if (letter == 'd')
		return nr > 1 ? find_divergence(app, dir) : NONE;
	for (u32 i = 0; i < nr; i++) {
		struct query q = { .app = app, .lane = lane[i], .letter = letter,
				   .trace = app->run->lanes[lane[i]].trace,
				   .matches = kind_matches };
		const struct step *step = cursor_step(app_cursor(app, lane[i]));

		q.event = step ? step->event : NR_EVENTS;
		tick = nearer(tick, nearest(&q, dir), dir);
	}
	return tick;
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
	const struct event_info *info = &event_info[trace_step(q->trace, i)->event];
	char text[512];

	if (contains(info->name, q->lower) || contains(info->text, q->lower) ||
	    contains(info->why, q->lower))
		return true;
	if (q->narrated == MAX_NARRATED) {
		q->limited = true;
		return false;
	}
	q->narrated++;
	cursor_seek(&q->cursor, i + 1);
	return contains(narrate(&q->cursor, &q->app->names, text, sizeof(text)), q->lower);
}

u32 find_pattern(const struct app *app, int dir, bool *limited)
{
	u32 lane[MAX_SHOWN];
	u32 nr = app_shown(app, app->w, lane);
	u32 tick = NONE;

	for (u32 i = 0; i < nr; i++) {
		struct query q = { .app = app, .lane = lane[i],
				   .trace = app->run->lanes[lane[i]].trace,
				   .matches = pattern_matches };

		if (!cursor_open(&q.cursor, q.trace))
			continue;
		for (u32 k = 0; app->pattern[k]; k++)
			q.lower[k] = (char)tolower((unsigned char)app->pattern[k]);
		tick = nearer(tick, nearest(&q, dir), dir);
		*limited |= q.limited;
		cursor_close(&q.cursor);
	}
	return tick;
}

/* The first position of a lane ahead where e becomes true: it holds there and not before. */
static u32 until(const struct app *app, u32 lane, const struct expr *e, struct error *err)
{
	const struct lane *l = &app->run->lanes[lane];
	u32 pos = app->cursor[lane].pos;
	u32 nr = trace_nr_steps(l->trace);
	u32 found = NONE;
	bool before = true;
	struct cursor c;

	if (!cursor_open(&c, l->trace))
		return NONE;
	for (u32 i = 0; pos + i <= nr && i < MAX_EVALUATED; i++) {
		struct expr_env env = { .scenario = app->run->scenario, .lane = l->spec,
					.lanes = app->run->lanes, .nr_lanes = app->run->nr_lanes,
					.step = pos + i };
		s64 value;

		cursor_seek(&c, pos + i);
		env.state = c.live;
		if (!expr_eval(e, &env, &value, err))
			break;
		if (value && !before) {
			found = pos + i;
			break;
		}
		before = value != 0;
	}
	cursor_close(&c);
	return found;
}

u32 find_until(const struct app *app, const char *text, struct error *err)
{
	u32 lane[MAX_SHOWN];
	u32 nr = app_shown(app, app->w, lane);
	u32 tick = NONE, column;
	struct expr *e = expr_parse(app->run->scenario, text, err, &column);

	if (!e)
		return NONE;
	for (u32 i = 0; i < nr; i++) {
		u32 pos = until(app, lane[i], e, err);

		if (pos != NONE)
			tick = nearer(tick, align_tick(app->run->align, lane[i], pos), 1);
	}
	expr_free(e);
	return tick;
}
