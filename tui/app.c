/* SPDX-License-Identifier: GPL-2.0-only */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "arch/arch.h"
#include "pane.h"

#define FIRST_SPEED 2
#define LANE_COLUMNS 36		/* the least that a lane is given unasked */
#define LEAST_LANE_COLUMNS 32	/* and asked */

/* Lay out the pages' PTEs as they are before the first step. */
static bool index_pages(struct app *app)
{
	const struct lane *lane = &app->run->lanes[0];
	const struct mm_state *s = (const struct mm_state *)(const void *)lane->placed;
	u32 nr_ptes = s->nr[ARRAY_PTE], nr_pages = s->nr[ARRAY_PAGE];

	app->pte_page = malloc(((size_t)nr_ptes + 1) * sizeof(u32));
	app->page_pte = malloc(((size_t)nr_ptes + 1) * sizeof(u32));
	app->page_ptes = calloc((size_t)nr_pages + 2, sizeof(u32));
	if (!app->pte_page || !app->page_pte || !app->page_ptes)
		return false;
	for (u32 i = 0; i < nr_ptes; i++) {
		struct leaf leaf = leaf_of(s, lane->m.arch, i);

		app->pte_page[i] = NONE;
		if (leaf.ops->present(*leaf.entry))
			app->pte_page[i] = pfn_page(s, leaf.ops->pfn(*leaf.entry) + leaf.behind);
		if (app->pte_page[i] == NONE)
			continue;
		app->page_ptes[app->pte_page[i] + 2]++;
	}
	for (u32 i = 0; i < nr_pages; i++)
		app->page_ptes[i + 2] += app->page_ptes[i + 1];
	for (u32 i = 0; i < nr_ptes; i++)
		if (app->pte_page[i] != NONE)
			app->page_pte[app->page_ptes[app->pte_page[i] + 1]++] = i;
	return true;
}

bool app_open(struct app *app, struct run *run)
{
	bool ok;

	*app = (struct app){
		.run = run, .w = 80, .h = 24, .focus = PANE_pte, .speed = FIRST_SPEED,
		.names = scenario_names(run->scenario),
	};
	app->cursor = calloc(run->nr_lanes, sizeof(*app->cursor));
	ok = app->cursor && index_pages(app);
	for (u32 i = 0; ok && i < run->nr_lanes; i++)
		ok = cursor_open(&app->cursor[i], run->lanes[i].trace);
	if (ok)
		app_goto(app, 0);
	else
		app_close(app);
	return ok;
}

void app_close(struct app *app)
{
	for (u32 i = 0; app->cursor && i < app->run->nr_lanes; i++)
		cursor_close(&app->cursor[i]);
	free(app->cursor);
	free(app->pte_page);
	free(app->page_ptes);
	free(app->page_pte);
	*app = (struct app){ .run = NULL };
}

void app_resize(struct app *app, u32 w, u32 h)
{
	app->w = w;
	app->h = h;
}

bool app_show(struct app *app, u32 window)
{
	if (window == app->run->window)
		return true;
	if (!run_show(app->run, window)) {
		app_complain(app, "There is no memory to go there.");
		return false;
	}
	for (u32 i = 0; i < app->run->nr_lanes; i++)
		cursor_move(&app->cursor[i], app->run->lanes[i].trace);
	return true;
}

bool app_turn(struct app *app, int dir)
{
	const struct run *run = app->run;

	if (dir < 0 ? run->window == 0 : run->window + 1 == run->nr_windows)
		return false;
	return app_show(app, dir < 0 ? run->window - 1 : run->window + 1);
}

void app_goto(struct app *app, u32 tick)
{
	const struct run *run = app->run;
	u32 first, last;

	app_show(app, run_window_at(run, tick));
	first = align_first_tick(run->align);
	last = align_last_tick(run->align);
	app->tick = tick < first ? first : tick > last ? last : tick;
	for (u32 i = 0; i < run->nr_lanes; i++)
		cursor_seek(&app->cursor[i], align_pos(run->align, app->tick, i));
}

void app_goto_step(struct app *app, u32 lane, u32 pos)
{
	if (app_show(app, run_window_of(app->run, lane, pos)))
		app_goto(app, align_tick(app->run->align, lane, pos));
}

/* The last tick up to this one that moves one of these lanes; if none does, the window's first. */
static u32 last_move(const struct app *app, const u32 *lane, u32 nr, u32 tick)
{
	const struct align *a = app->run->align;
	u32 last = align_first_tick(a);

	for (u32 i = 0; i < nr; i++) {
		u32 moved = align_tick(a, lane[i], align_pos(a, tick, lane[i]));

		last = moved > last ? moved : last;
	}
	return last;
}

/* The first tick after this one that moves one of these lanes, or NONE. */
static u32 next_move(const struct app *app, const u32 *lane, u32 nr, u32 tick)
{
	const struct run *run = app->run;
	u32 next = NONE;

	for (u32 i = 0; i < nr; i++) {
		u32 pos = align_pos(run->align, tick, lane[i]);

		if (pos < run_edge(run, run->window + 1, lane[i])) {
			u32 moves = align_tick(run->align, lane[i], pos + 1);

			next = moves < next ? moves : next;
		}
	}
	return next;
}

/* Has one of these lanes steps behind the window shown? */
static bool goes_on(const struct app *app, const u32 *lane, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		if (run_edge(app->run, app->run->window + 1, lane[i]) < app_steps(app, lane[i]))
			return true;
	return false;
}

/* The alignment is of all lanes: a tick may move none of those shown. */
u32 app_next(struct app *app, u32 tick, int dir)
{
	struct run *run = app->run;
	u32 lane[MAX_SHOWN];
	u32 nr = app_shown(app, app->w, lane);
	u32 from = tick, next;

	if (dir < 0) {
		while ((next = last_move(app, lane, nr, tick - (tick > 0))) ==
		       align_first_tick(run->align) && app_turn(app, -1))
			tick = align_last_tick(run->align) + 1;
		return next;
	}
	while ((next = next_move(app, lane, nr, tick)) == NONE && goes_on(app, lane, nr) &&
	       app_turn(app, 1))
		tick = align_first_tick(run->align);
	return next == NONE ? from : next;
}

bool app_has_next(const struct app *app)
{
	u32 lane[MAX_SHOWN];
	u32 nr = app_shown(app, app->w, lane);

	for (u32 i = 0; i < nr; i++)
		if (app->cursor[lane[i]].pos < app_steps(app, lane[i]))
			return true;
	return false;
}

void app_settle(struct app *app)
{
	app_goto(app, app->tick);
	if (!app_moves_any(app, app->tick))
		app_goto(app, app_next(app, app->tick, -1));
}

bool app_moves_any(const struct app *app, u32 tick)
{
	u32 lane[MAX_SHOWN];
	u32 nr = app_shown(app, app->w, lane);

	for (u32 i = 0; i < nr; i++)
		if (align_moves(app->run->align, tick, lane[i]))
			return true;
	return false;
}

const char *app_said(const struct app *app, u32 lane, u32 pos)
{
	const struct lane *l = &app->run->lanes[lane];

	if (l->invariant.text[0] && l->invariant_step == pos)
		return l->invariant.text;
	for (u32 i = 0; i < app->run->scenario->nr_says; i++)
		if (lane_said(l, i) == pos)
			return app->run->scenario->says[i].text;
	return NULL;
}

u32 app_tick(struct app *app, u32 ms)
{
	u32 period = 1000 / app->speed;

	if (!app->playing)
		return 0;
	app->elapsed += ms;
	if (app->elapsed < period)
		return 0;
	app->elapsed = app->elapsed - period < period ? app->elapsed - period : 0;
	app_goto(app, app_next(app, app->tick, 1));
	app->playing = app_has_next(app);
	return EFFECT_REDRAW;
}

__attribute__((format(printf, 3, 0)))
static void say(struct app *app, bool complaint, const char *format, va_list args)
{
	vsnprintf(app->message, sizeof(app->message), format, args);
	app->complaint = complaint;
}

void app_say(struct app *app, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(app, false, format, args);
	va_end(args);
}

void app_complain(struct app *app, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(app, true, format, args);
	va_end(args);
}

u32 app_shown(const struct app *app, u32 w, u32 lane[MAX_SHOWN])
{
	u32 all = app->run->nr_lanes;
	u32 fit = w >= 160 ? 4 : w >= 2 * LANE_COLUMNS ? 2 : 1;
	u32 nr = 0;

	if (app->nr_lanes) {
		fit = w / LEAST_LANE_COLUMNS ? w / LEAST_LANE_COLUMNS : 1;
		while (nr < app->nr_lanes && nr < fit) {
			lane[nr] = app->lanes[nr];
			nr++;
		}
		return nr;
	}
	for (u32 i = app->first_lane; nr < fit && nr < all && nr < MAX_SHOWN; i++)
		lane[nr++] = i % all;
	return nr;
}

static bool is_listed(const u32 *lane, u32 nr, u32 index)
{
	for (u32 i = 0; i < nr; i++)
		if (lane[i] == index)
			return true;
	return false;
}

static bool lane_matches(const struct lane *lane, const char *name, size_t len)
{
	char glob[80];

	if (len >= sizeof(glob))
		return false;
	memcpy(glob, name, len);
	glob[len] = '\0';
	return fnmatch(glob, lane->spec->name, 0) == 0;
}

bool app_lanes(struct app *app, const char *list, struct error *err)
{
	u32 lane[MAX_SHOWN];
	u32 nr = 0;

	while (*list) {
		size_t len = strcspn(list, ", ");
		bool found = len == 0;

		for (u32 i = 0; len && i < app->run->nr_lanes; i++) {
			if (!lane_matches(&app->run->lanes[i], list, len))
				continue;
			found = true;
			if (nr < MAX_SHOWN && !is_listed(lane, nr, i))
				lane[nr++] = i;
		}
		if (!found) {
			snprintf(err->text, sizeof(err->text), "no lane %.*s", (int)len, list);
			return false;
		}
		list += len + (list[len] != '\0');
	}
	memcpy(app->lanes, lane, nr * sizeof(*lane));
	app->nr_lanes = nr;
	app->first_lane = 0;
	return true;
}

bool app_view(struct app *app, const char *name)
{
	app->scroll = 0;
	app->zoom = false;
	if (!*name || strcmp(name, "all") == 0)
		return true;
	for (u32 i = 0; i < NR_PANES; i++)
		if (strcmp(panes[i].name, name) == 0) {
			app->focus = (enum pane_id)i;
			app->zoom = true;
			return true;
		}
	return false;
}

/* The lanes that --lanes must name; returns how many, 0 when it is not needed. */
static u32 lanes_to_name(const struct app *app, u32 lane[MAX_SHOWN])
{
	if (!app->nr_lanes && !app->first_lane && !app->run->scenario->narrowed)
		return 0;
	if (!app->nr_lanes)
		return app_shown(app, app->w, lane);
	memcpy(lane, app->lanes, app->nr_lanes * sizeof(*lane));
	return app->nr_lanes;
}

/*
 * Which lane's position names the moment: one that moved here, for another's is older.
 * When only some lanes will be run, their alignment may be another one: the lanes shown
 * must be where they are in that one too.
 */
static u32 naming_lane(const struct app *app, const u32 *lane, u32 nr)
{
	const struct run *run = app->run;
	const struct trace *trace[MAX_SHOWN];
	u32 from[MAX_SHOWN], shown[MAX_SHOWN];
	u32 nr_shown = app_shown(app, app->w, shown);
	u32 last = last_move(app, shown, nr_shown, app->tick);
	u32 best = shown[0];
	struct align *alone;

	for (u32 i = nr_shown; i-- > 0;)
		if (align_moves(run->align, last, shown[i]))
			best = shown[i];
	for (u32 i = 0; i < nr; i++) {
		trace[i] = run->lanes[lane[i]].trace;
		from[i] = run_edge(run, run->window, lane[i]);
	}
	alone = nr ? align_part(trace, nr, from, 0) : NULL;
	for (u32 pass = 0; alone && pass < 2; pass++)
		for (u32 i = 0; i < nr_shown; i++) {
			u32 tick = align_tick(alone, i, app->cursor[shown[i]].pos), same = 0;

			while (same < nr_shown && align_pos(alone, tick, same) ==
						  app->cursor[shown[same]].pos)
				same++;
			if (same == nr_shown && (pass || shown[i] == best)) {
				align_free(alone);
				return shown[i];
			}
		}
	align_free(alone);
	return best;
}

char *app_reopen(const struct app *app, char *buf, size_t size)
{
	u32 lane[MAX_SHOWN];
	u32 nr = lanes_to_name(app, lane);
	u32 named = naming_lane(app, lane, nr);
	const struct lane *lanes = app->run->lanes;
	char list[MAX_SHOWN * 80] = "";
	char *command;

	for (u32 i = 0; i < nr; i++) {
		size_t len = strlen(list);

		snprintf(list + len, sizeof(list) - len, "%s%s", i ? "," : "",
			 lanes[lane[i]].spec->name);
	}
	command = run_command(app->run->scenario, nr ? list : NULL, lanes[named].spec->name,
			      app->cursor[named].pos);
	snprintf(buf, size, "%s%s%s", command ? command : "out of memory",
		 app->zoom ? " --view " : "", app->zoom ? panes[app->focus].name : "");
	free(command);
	return buf;
}
