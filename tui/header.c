/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows around the panes: where we are, which lane is which, what to press. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout.h"
#include "mm/check.h"

static const char *const phase_texts[NR_PHASES] = {
#define PHASE(id, name, text) [PHASE_##id] = text,
#include "core/phases.def"
#undef PHASE
};

/* The phase at a tick; before the first step it has not begun. */
static u32 phase_at(const struct app *app, u32 tick)
{
	u32 phase = align_group(app->run->align, tick).phase;

	return tick && phase < NR_PHASES ? phase : PHASE_start;
}

/* "page 2 of 0..15", "folio A1  page 0" or "", with two blanks after it */
static void page_text(const struct app *app, char *buf, size_t size)
{
	struct align_group g = align_group(app->run->align, app->tick);
	const struct mm_state *s = app->cursor[0].live;
	u32 folio = align_folio(s, &g);
	const struct folio *f;
	char name[32];
	size_t len;

	buf[0] = '\0';
	if (!app->tick || folio >= s->nr[ARRAY_FOLIO])
		return;
	f = state_folio(s, folio);
	if (s->nr_placed > 1 || folio >= s->nr_placed)
		snprintf(buf, size, "folio %.16s  ",
			 app->names.folio(app->names.ctx, folio, name));
	len = strlen(buf);
	if (g.page == NONE || g.page - f->page >= folio_nr_pages(f))
		return;
	if (f->order)
		snprintf(buf + len, size - len, "page %" PRIu32 " of 0..%" PRIu32 "  ",
			 g.page - f->page, folio_nr_pages(f) - 1);
	else
		snprintf(buf + len, size - len, "page 0  ");
}

void draw_header(const struct lane_set *set, const struct area *a)
{
	const struct app *app = set->app;
	const struct scenario *s = app->run->scenario;
	const struct cursor *c = app_cursor(app, set->lane[0]);
	const struct run *run = app->run;
	u32 steps = app_steps(app, set->lane[0]);
	char page[64], where[160];
	u32 x, end;

	page_text(app, page, sizeof(page));
	snprintf(where, sizeof(where), "step %" PRIu32 "/%" PRIu32 "  %s", c->pos, steps, page);
	x = (u32)strlen(where);
	if (run->nr_windows > 1)
		snprintf(where + x, sizeof(where) - x, "part %" PRIu32 "/%" PRIu32 " ",
			 run->window + 1, run->nr_windows);
	else
		snprintf(where + x, sizeof(where) - x, "tick %" PRIu32 "/%" PRIu32 " ", app->tick,
			 run_last_tick(run));
	if (text_width(where) > a->w)
		where[x] = '\0';
	end = put_right(a, 0, 0, STYLE_strong, where);
	x = end > 9 ? put_cut(a, 1, 0, end - 1, STYLE_lane, s->name) : end;
	if (x + 12 < end)
		put_cut(a, x + 2, 0, end - 2, STYLE_normal, s->title);
}

/* The ticks of the stretch of one phase that a tick lies in: (first - 1, last]. */
static void phase_stretch(const struct app *app, u32 *begin, u32 *end)
{
	const struct align *a = app->run->align;
	struct align_group here = align_group(a, app->tick);
	u32 before = align_other(a, app->tick, -1, ALIGN_PHASE, &here);
	u32 after = align_other(a, app->tick, 1, ALIGN_PHASE, &here);

	*begin = before == NONE ? align_first_tick(a) : before;
	*end = after == NONE ? align_last_tick(a) : after - 1;
}

/* A bar that is full when done is all. */
static u32 put_bar(const struct area *a, u32 x, u32 w, u32 done, u32 all)
{
	u32 full = all ? (u32)((u64)done * w / all) : w;

	put_fill(a, x, 0, full, STYLE_lane, RUNE_BLOCK);
	put_fill(a, x + full, 0, w - full, STYLE_dim, RUNE_LIGHT);
	return x + w;
}

/* How far the first lane is in a run that is shown part by part, if there is room. */
static void put_whole(const struct lane_set *set, const struct area *a, u32 x, u32 end)
{
	u32 room = end > x + 11 ? end - x - 11 : 0;

	if (room < 6)
		return;
	x = put_text(a, x + 2, 0, STYLE_dim, "whole ");
	put_bar(a, x, room < 24 ? room : 24, app_cursor(set->app, set->lane[0])->pos,
		app_steps(set->app, set->lane[0]));
}

void draw_track(const struct lane_set *set, const struct area *a)
{
	u32 now = phase_at(set->app, set->app->tick);
	u32 gap = a->w >= 100 ? 4 : 2;
	u32 bar = a->w >= 100 ? 24 : a->w >= 70 ? 10 : 0;
	u32 x = 1, end = a->w, first, last;

	for (u32 i = 0; i < NR_PHASES; i++) {
		if (i != now) {
			enum style style = i < now ? STYLE_normal : STYLE_dim;

			x = put_text(a, x, 0, style, phase_names[i]) + gap;
			continue;
		}
		x = put_text(a, x - 1, 0, STYLE_now, "[");
		x = put_text(a, x, 0, STYLE_now, phase_names[i]);
		phase_stretch(set->app, &first, &last);
		if (bar)
			x = put_bar(a, x + 1, bar, set->app->tick - first, last - first);
		x = put_text(a, x, 0, STYLE_now, "]") + gap - 1;
	}
	if (set->same_arch)
		end = put_right(a, x, 0, STYLE_strong,
				set->app->run->lanes[set->lane[0]].m.arch->title);
	if (set->app->run->nr_windows > 1)
		put_whole(set, a, x, end);
}

/* A lane's title row; "" and false: left out. */
struct title {
	const char *name, *kernel, *proposed;
	char bug[16];		/* "bug", and "V3 broken" from there on */
	bool total;		/* of steps, behind the position */
};

/* Columns that it takes at the end of the lane, when the position is widest. */
static u32 title_width(const struct title *t, u32 nr_steps)
{
	u32 digits = (u32)snprintf(NULL, 0, "%" PRIu32, nr_steps);

	return (u32)(1 + strlen(t->name) + 1 + (*t->kernel ? strlen(t->kernel) + 1 : 0) +
		     (*t->proposed ? strlen(t->proposed) + 1 : 0) +
		     (*t->bug ? strlen(t->bug) + 1 : 0) +
		     (t->total ? 2 * digits + 1 : digits));
}

/* Name, kernel, whether it is proposed, and progress: what does not fit goes elsewhere or goes. */
static struct title fit_title(const struct lane_set *set, u32 i, u32 w, bool second_row)
{
	const struct lane *lane = &set->app->run->lanes[set->lane[i]];
	const struct kernel *kernel = lane->spec->kernel;
	u32 nr = (u32)lane->steps;
	struct title t = { lane->spec->name, kernel->name, "", "", true };

	if (kernel->proposed)
		t.proposed = "proposed";
	if (lane->invariant.text[0] && set->app->cursor[set->lane[i]].pos >= lane->invariant_step)
		snprintf(t.bug, sizeof(t.bug), "%s broken", invariants[lane->broken].name);
	else if (lane->spec->bugs)
		snprintf(t.bug, sizeof(t.bug), "bug");
	if (title_width(&t, nr) > w)
		t.name = lane_label(set, i);
	if (title_width(&t, nr) > w && second_row)
		t.kernel = "";
	if (title_width(&t, nr) > w)
		t.total = false;
	if (title_width(&t, nr) > w)
		t.kernel = "";
	return t;
}

/*
 * What a lane stands for, behind its kernel's name when the title has no room for that: its
 * bugs, else the release.
 */
static void put_release(const struct scn_lane *lane, bool named, const struct area *a)
{
	u32 x = 1;

	if (!named)
		x = put_text(a, x, 1, STYLE_normal, lane->kernel->name) + 2;
	for (u32 i = 0; i < NR_BUGS && x < a->w; i++)
		if (lane->bugs >> i & 1)
			x = put_cut(a, x, 1, a->w, STYLE_warn, bug_infos[i].name) + 2;
	if (!lane->bugs && (named || x + text_width(lane->kernel->release) <= a->w))
		put_cut(a, x, 1, a->w, STYLE_dim, lane->kernel->release);
}

void draw_title(const struct lane_set *set, u32 i, const struct area *a)
{
	const struct cursor *c = app_cursor(set->app, set->lane[i]);
	struct title t = fit_title(set, i, a->w, a->h > 1);
	u32 nr = app_steps(set->app, set->lane[i]);
	char progress[48];
	u32 x, slack = a->w > title_width(&t, nr);	/* a dash, so that no joint touches it */
	struct area row = area_part(a, 0, 0, a->w - slack, 1);

	put_fill(a, 0, 0, a->w, STYLE_rule, RUNE_HLINE);
	x = put_text(&row, 1, 0, STYLE_lane, t.name);
	if (*t.kernel)
		x = put_text(&row, x + 1, 0, STYLE_normal, t.kernel);
	if (*t.proposed)
		x = put_text(&row, x + 1, 0, STYLE_proposed, t.proposed);
	if (*t.bug)
		x = put_text(&row, x + 1, 0, STYLE_warn, t.bug);
	snprintf(progress, sizeof(progress), "%" PRIu32, c->pos);
	if (t.total)
		snprintf(progress, sizeof(progress), "%" PRIu32 "/%" PRIu32, c->pos, nr);
	put_right(&row, x, 0, app_moves(set->app, set->lane[i]) ? STYLE_strong : STYLE_dim,
		  progress);
	put_release(set->app->run->lanes[set->lane[i]].spec, *t.kernel, a);
}

void draw_phase_rule(const struct lane_set *set, const struct area *a)
{
	u32 phase = phase_at(set->app, set->app->tick);
	u32 x = put_focus(a, 0, phase_names[phase], set->app->focus == PANE_text);

	x = put_text(a, x, 0, STYLE_dim, ": ");
	x = put_cut(a, x, 0, a->w - 9, STYLE_dim, phase_texts[phase]);	/* " t: more " */
}

static void draw_line(const struct app *app, const struct area *a)
{
	u32 x;

	put_rune(a, 0, 0, STYLE_key, app->mode == MODE_SEARCH ? '/' : ':');
	x = put_text(a, 1, 0, STYLE_normal, app->line);
	a->canvas->cursor_x = a->x + (x < a->w ? x : a->w ? a->w - 1 : 0);
	a->canvas->cursor_y = a->y;
	a->canvas->cursor_shown = true;
	if (*app->message)
		put_cut(a, x + 3, 0, a->w, STYLE_dim, app->message);
}

/* What is under way: shown at the right end. */
static void state_text(const struct app *app, char *buf, size_t size)
{
	if (app->pending)
		snprintf(buf, size, " %.0" PRIu32 "%c ", app->count, (char)app->pending);
	else if (app->count)
		snprintf(buf, size, " %" PRIu32 " ", app->count);
	else if (app->playing)
		snprintf(buf, size, " plays %" PRIu32 "/s ", app->speed);
	else if (*app->pattern)
		snprintf(buf, size, " /%.20s: n N Esc ", app->pattern);
	else
		snprintf(buf, size, " %s%s ", app->zoom ? "zoom: " : "", panes[app->focus].name);
}

void draw_hints(const struct app *app, const struct area *a)
{
	static const struct {
		const char *key, *text;
	} hints[] = {
		{ "s", "step" }, { "b", "back" }, { "n", "page" }, { "}", "phase" },
		{ "?", "help" }, { "q", "leave" }, { "]d", "diverge" }, { "l", "lanes" },
		{ "z", "zoom" }, { "Tab", "pane" }, { "]f", "flush" }, { "/", "search" },
		{ ":", "command" }, { "Space", "play" }, { "G", "end" }, { "y", "copy" },
		{ "]e", "other event" }, { "t", "text" },
	};
	char state[64];
	u32 x = 1, end;

	if (app->mode == MODE_SEARCH || app->mode == MODE_COMMAND) {
		draw_line(app, a);
		return;
	}
	state_text(app, state, sizeof(state));
	end = put_right(a, 0, 0, app->count || app->pending || app->playing || *app->pattern ?
			STYLE_now : STYLE_dim, state);
	if (*app->message) {
		put_cut(a, 1, 0, end - 1, app->complaint ? STYLE_message : STYLE_strong,
			app->message);
		return;
	}
	for (u32 i = 0; i < NR_OF(hints); i++) {
		u32 w = (u32)(strlen(hints[i].key) + strlen(hints[i].text)) + 1;

		if (x + w > end)
			break;
		x = put_text(a, x, 0, STYLE_key, hints[i].key);
		x = put_text(a, x + 1, 0, STYLE_dim, hints[i].text) + 2;
	}
}

void draw_tiny(const struct lane_set *set, const struct area *a)
{
	const struct app *app = set->app;
	const struct cursor *c = app_cursor(app, set->lane[0]);
	char text[640], page[64];
	struct area rest = area_part(a, 0, 1, a->w, a->h > 2 ? a->h - 2 : 0);
	u32 rows;

	page_text(app, page, sizeof(page));
	put_format(a, 0, 0, STYLE_strong, "%" PRIu32 "/%" PRIu32 " %s %s", c->pos,
		   app_steps(app, set->lane[0]), phase_names[phase_at(app, app->tick)], page);
	for (u32 i = 0; i < set->nr && app->mode != MODE_HELP; i++) {
		c = app_cursor(app, set->lane[i]);
		if (!app_moves(app, set->lane[i]) && app->tick)
			continue;
		narrate(c, &app->names, text, sizeof(text));
		rows = put_wrapped(&rest, 0, 0, STYLE_normal, text);
		if (rows > rest.h && rest.h)
			put_right(&rest, 0, rest.h - 1, STYLE_dim, " ..");
		break;
	}
	if (a->h > 1) {
		rest = area_part(a, 0, a->h - 1, a->w, 1);
		if (app->mode == MODE_SEARCH || app->mode == MODE_COMMAND)
			draw_line(app, &rest);
		else
			put_cut(&rest, 0, 0, a->w, STYLE_dim, *app->message ? app->message :
				app->mode == MODE_HELP ? "q back" : "s step b back q leave");
	}
}
