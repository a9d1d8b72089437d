/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "layout.h"
#include "panes/panes.h"

#define LEAST_COLUMNS 40
#define LEAST_ROWS 8
#define TALL 36			/* rows from which there is room to breathe */

const struct pane panes[NR_PANES] = {
#define LANE draw
#define WIDE draw_wide
#define PANE(id, scope, limit, about)							\
	[PANE_##id] = { .name = #id, .text = about, .scope = draw_##id, .most = limit },
#include "panes.def"
#undef PANE
#undef LANE
#undef WIDE
};

/*
 * How the lanes' rows are dealt out: each line gives a pane this many if they are
 * there, the first lines first. What is in the upper part makes 80x24.
 */
static const struct {
	enum pane_id pane;
	u32 rows;
} shares[] = {
	{ PANE_pte, 1 }, { PANE_folio, 1 }, { PANE_pte, 2 }, { PANE_path, 1 }, { PANE_folio, 2 },
	{ PANE_pte, 3 }, { PANE_folio, 3 }, { PANE_tlb, 2 }, { PANE_swap, 1 }, { PANE_pte, 4 },
	/* 80x24 */
	{ PANE_tlb, 3 }, { PANE_folio, 4 }, { PANE_pte, 5 }, { PANE_swap, 2 }, { PANE_pte, 6 },
	{ PANE_changed, 3 }, { PANE_folio, 6 }, { PANE_path, 3 }, { PANE_tlb, 4 }, { PANE_pte, 14 },
	{ PANE_path, 6 }, { PANE_changed, 6 }, { PANE_tlb, 8 }, { PANE_pte, 30 }, { PANE_folio, 9 },
	{ PANE_swap, 6 }, { PANE_changed, 16 }, { PANE_path, 16 },
};

static u32 most_rows(const struct lane_set *set, u32 pane, u32 width)
{
	u32 most = 0;

	if (!panes[pane].most)
		return NONE;
	for (u32 i = 0; i < set->nr; i++) {
		struct view v = view_of(set->app, set->lane[i], (enum pane_id)pane);
		u32 rows = panes[pane].most(&v, width);

		most = rows > most ? rows : most;
	}
	return most;
}

static void deal_lanes(const struct lane_set *set, struct layout *l, u32 width)
{
	u32 left = l->body;

	for (u32 i = 0; i < NR_OF(shares); i++) {
		u32 most = most_rows(set, shares[i].pane, width);
		u32 want = shares[i].rows < most ? shares[i].rows : most;
		u32 have = l->rows[shares[i].pane];

		if (want <= have)
			continue;
		if (want - have > left)
			want = have + left;
		left -= want - have;
		l->rows[shares[i].pane] = want;
	}
	if (l->body < TALL / 2 + 6)
		return;
	for (u32 i = 0; i < NR_PANES && left; i++)
		if (panes[i].draw && l->rows[i]) {
			l->gap[i] = 1;
			left--;
		}
}

/* The parts above and below the lanes, the most needed first. */
static void deal_screen(const struct lane_set *set, struct layout *l, u32 h)
{
	u32 band = 1 + set->nr + set->nr / 2;

	l->header = l->hints = 1;
	l->title = h < 30 ? 1 : 2;
	l->track = h >= 12;
	l->rows[PANE_text] = h < 12 ? 2 : h < 18 ? 3 : h < 22 ? 4 : h < 28 ? 5 : h < TALL ? 6 : 7;
	if (h >= 22)
		l->rows[PANE_counts] = h >= (set->nr < 3 ? TALL + 6 : 56) ? 2 * band : band;
}

struct layout layout_screen(const struct lane_set *set, u32 w, u32 h)
{
	struct layout l = { .header = 0 };
	u32 used;

	deal_screen(set, &l, h);
	if (set->app->zoom) {
		bool lanes = panes[set->app->focus].draw != NULL;

		l.rows[PANE_counts] = 0;
		l.rows[PANE_text] = lanes && l.rows[PANE_text] > 4 ? 4 : l.rows[PANE_text];
		if (!lanes)
			l.rows[PANE_text] = l.title = 0;
	}
	used = l.header + l.track + l.title + l.hints + l.rows[PANE_counts] + l.rows[PANE_text];
	l.body = h > used ? h - used : 0;
	if (!set->app->zoom) {
		deal_lanes(set, &l, w / set->nr);
	} else if (panes[set->app->focus].draw) {
		l.rows[PANE_path] = set->app->focus != PANE_path && l.body > 4;
		l.rows[set->app->focus] = l.body - l.rows[PANE_path];
	} else {
		l.rows[set->app->focus] = l.body;
	}
	return l;
}

struct view view_of(const struct app *app, u32 lane, enum pane_id pane)
{
	const struct lane *l = &app->run->lanes[lane];
	const struct align_group group = align_group(app->run->align, app->tick);
	struct view v = {
		.app = app, .pane = pane, .index = lane, .lane = l, .c = &app->cursor[lane],
		.s = app->cursor[lane].live, .ops = l->m.arch->pte, .moves = app_moves(app, lane),
		.types = l->spec->kernel->types,
		.zoom = app->zoom && app->focus == pane,
		.folio = align_folio(app->cursor[lane].live, &group),
	};
	const struct step *step = cursor_step(v.c);

	if (v.folio == NONE && step)
		v.folio = page_folio(v.s, step->page);
	if (v.folio == NONE)
		v.folio = state_task(v.s, v.s->cpu)->folio;
	if (v.folio >= v.s->nr[ARRAY_FOLIO])
		v.folio = v.s->nr[ARRAY_FOLIO] ? 0 : NONE;
	return v;
}

u32 put_focus(const struct area *a, u32 y, const char *label, bool focus)
{
	struct canvas *c = a->canvas;

	if (focus && !c->cursor_y && y < a->h && a->w > 1) {
		c->cursor_x = a->x + 1;
		c->cursor_y = a->y + y;
	}
	return put_text(a, 1, y, focus ? STYLE_focus : STYLE_label, label);
}

void put_label(const struct view *v, const struct area *a, u32 y, const char *label)
{
	put_focus(a, y, label, v->app->focus == v->pane);
}

void put_mark(const struct area *a, u32 y, bool changed)
{
	if (changed)
		put_rune(a, 0, y, STYLE_changed, '*');
}

const char *lane_label(const struct lane_set *set, u32 i)
{
	const char *name = set->app->run->lanes[set->lane[i]].spec->name;
	const char *slash = strchr(name, '/');

	return set->same_arch && slash ? slash + 1 : name;
}

static struct lane_set lanes_of(const struct app *app, u32 w)
{
	struct lane_set set = { .app = app, .same_arch = true };

	set.nr = app_shown(app, w, set.lane);
	for (u32 i = 1; i < set.nr; i++)
		set.same_arch &= app->run->lanes[set.lane[i]].m.arch ==
				 app->run->lanes[set.lane[0]].m.arch;
	return set;
}

static void draw_lane(const struct lane_set *set, u32 i, const struct layout *l,
		      const struct area *a)
{
	struct area title = area_part(a, 0, 0, a->w, l->title);
	u32 y = l->title;

	if (l->title)
		draw_title(set, i, &title);
	for (u32 p = 0; p < NR_PANES; p++) {
		struct area part = area_part(a, 0, y, a->w, l->rows[p]);
		struct view v = view_of(set->app, set->lane[i], (enum pane_id)p);

		if (!panes[p].draw || !l->rows[p])
			continue;
		panes[p].draw(&v, &part);
		y += l->rows[p] + l->gap[p];
	}
}

/* Columns from one lane's first to the next one's: all lanes are equally wide. */
static u32 lane_pitch(const struct lane_set *set, u32 w)
{
	return (w + 1) / set->nr;
}

/* The lanes' dividers end in a rule where its labels leave room. */
static void put_joints(const struct lane_set *set, const struct area *a, u32 joint)
{
	u32 rule = a->canvas->ascii ? '-' : RUNE_HLINE;

	for (u32 i = 1; i < set->nr; i++) {
		u32 x = i * lane_pitch(set, a->w) - 1;

		if (rune_at(a, x - 1, 0) == rule && rune_at(a, x, 0) == rule &&
		    rune_at(a, x + 1, 0) == rule)
			put_rune(a, x, 0, STYLE_rule, joint);
	}
}

static void draw_lanes(const struct lane_set *set, const struct layout *l, const struct area *a)
{
	u32 each = lane_pitch(set, a->w);

	for (u32 i = 0; i < set->nr; i++) {
		u32 x = i * each;
		struct area column = area_part(a, x, 0, each - 1, a->h);

		for (u32 y = 0; i && y < a->h; y++)
			put_rune(a, x - 1, y, STYLE_rule, !y && l->title ? RUNE_HLINE : RUNE_VLINE);
		draw_lane(set, i, l, &column);
	}
	if (l->title)
		put_joints(set, a, RUNE_TEE_DOWN);
}

static void draw_count_rows(const struct lane_set *set, const struct area *a)
{
	bool focus = set->app->focus == PANE_counts;
	bool zoom = set->app->zoom && focus;

	if (!zoom)
		put_fill(a, 0, 0, a->w, STYLE_rule, RUNE_HLINE);
	draw_counts(set, a, zoom);
	put_focus(a, 0, "counts", focus);
	if (!zoom)
		put_joints(set, a, RUNE_TEE_UP);
}

static void draw_text_rows(const struct lane_set *set, const struct area *a, bool divided)
{
	put_fill(a, 0, 0, a->w, STYLE_rule, RUNE_HLINE);
	draw_phase_rule(set, a);
	if (divided)
		put_joints(set, a, RUNE_TEE_UP);
	draw_text(set, a, set->app->zoom && set->app->focus == PANE_text);
}

static void draw_panes(struct lane_set *set, const struct area *screen)
{
	struct layout l = layout_screen(set, screen->w, screen->h);
	bool lanes = l.rows[PANE_pte] || (set->app->zoom && panes[set->app->focus].draw);
	u32 y = l.header + l.track;
	struct area a = area_part(screen, 0, 0, screen->w, l.header);

	set->tell_changes = !l.rows[PANE_changed];
	draw_header(set, &a);
	a = area_part(screen, 0, l.header, screen->w, l.track);
	draw_track(set, &a);
	if (lanes) {
		a = area_part(screen, 0, y, screen->w, l.title + l.body);
		draw_lanes(set, &l, &a);
		y += a.h;
	}
	a = area_part(screen, 0, y, screen->w, l.rows[PANE_counts]);
	if (a.h)
		draw_count_rows(set, &a);
	y += l.rows[PANE_counts];
	a = area_part(screen, 0, y, screen->w, l.rows[PANE_text]);
	if (a.h)
		draw_text_rows(set, &a, lanes && !l.rows[PANE_counts]);
	a = area_part(screen, 0, screen->h - l.hints, screen->w, l.hints);
	draw_hints(set->app, &a);
}

void app_draw(const struct app *app, struct canvas *canvas)
{
	struct area a = canvas_area(canvas);
	struct lane_set set = lanes_of(app, canvas->w);

	canvas_clear(canvas);
	if (canvas->w < LEAST_COLUMNS || canvas->h < LEAST_ROWS)
		draw_tiny(&set, &a);
	else if (app->mode == MODE_HELP)
		draw_help(app, &a);
	else
		draw_panes(&set, &a);
}
