/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens, lane by lane, then why. Lanes that do the same share one text.
 *
 *    unbatched  The PTE of page 2 of A was exchanged with zero. Why an exchange: ...
 *    batched    waits: its run covers page 2.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "panes/panes.h"
#include "trace/describe.h"

struct entry {
	char label[64];
	char what[640];
	char did[400];		/* "folio A.refcount 33 -> 32, ..." */
	const char *why, *say;
	bool moves, with_why, with_say, with_did;
};

static void tell_waiting(const struct app *app, u32 lane, char *buf, size_t size)
{
	const struct cursor *c = app_cursor(app, lane);
	struct align_group g = align_group(app->run->align, app->tick);

	if (!app->tick)
		snprintf(buf, size, "Before the first step. s steps forward.");
	else if (c->pos == trace_nr_steps(c->trace))
		snprintf(buf, size, "is done.");
	else if (g.page < c->live->nr[ARRAY_PAGE] && g.phase == PHASE_unmap &&
		 !state_page(c->live, g.page)->mapcount)
		snprintf(buf, size, "waits: it has unmapped this page already.");
	else
		snprintf(buf, size, "waits: nothing to do here.");
}

static const char *say_of(const struct app *app, u32 lane)
{
	for (u32 i = 0; i < app->nr_says; i++)
		if (app->say[i].lane == lane && app->say[i].pos == app->cursor[lane].pos)
			return app->say[i].text;
	return NULL;
}

static void add_change(void *ctx, const struct change *change)
{
	struct entry *e = ctx;
	size_t len = strlen(e->did);

	/* Counters have their pane, and an entry's values are part of the sentence. */
	if (strncmp(change->what, "count.", 6) == 0 ||
	    (strncmp(change->what, "pte ", 4) == 0 && strstr(e->what, "->")))
		return;
	if (sizeof(e->did) - len > 160)
		snprintf(e->did + len, sizeof(e->did) - len, "%s%s %s -> %s", len ? ", " : "* ",
			 change->what, change->old, change->new);
}

static void fill_entry(const struct lane_set *set, u32 i, struct entry *e)
{
	const struct app *app = set->app;
	const struct cursor *c = app_cursor(app, set->lane[i]);

	e->moves = app_moves(app, set->lane[i]);
	snprintf(e->label, sizeof(e->label), "%s", lane_label(set, i));
	e->why = "";
	e->say = NULL;
	if (!e->moves) {
		tell_waiting(app, set->lane[i], e->what, sizeof(e->what));
		return;
	}
	narrate(c, &app->names, e->what, sizeof(e->what));
	if (set->tell_changes)
		describe_step(c, &app->names, add_change, e);
	e->why = narrate_why(c);
	e->say = say_of(app, set->lane[i]);
}

/* Entries with the same text become one. */
static u32 merge(struct entry *e, u32 nr)
{
	u32 out = 0;

	for (u32 i = 0; i < nr; i++) {
		u32 k = 0;

		while (k < out && (strcmp(e[k].what, e[i].what) != 0 || e[k].why != e[i].why))
			k++;
		if (k < out) {
			const struct entry other = e[i];
			size_t len = strlen(e[k].label);

			snprintf(e[k].label + len, sizeof(e[k].label) - len, ", %.40s",
				 other.label);
			e[k].say = e[k].say ? e[k].say : e[i].say;
		} else if (out++ != i) {
			e[out - 1] = e[i];
		}
	}
	if (out == 1 && nr > 1)
		snprintf(e[0].label, sizeof(e[0].label), nr == 2 ? "both" : "all");
	return out;
}

static char *full_text(const struct entry *e, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", e->what, e->with_why && *e->why ? " " : "",
		 e->with_why ? e->why : "");
	return buf;
}

static u32 rows_of(const struct entry *e, u32 width)
{
	char buf[1200];

	return text_rows(full_text(e, buf, sizeof(buf)), width) +
	       (e->with_say ? text_rows(e->say, width) : 0) +
	       (e->with_did ? text_rows(e->did, width) : 0);
}

static bool told_before(const struct entry *e, u32 i)
{
	for (u32 k = 0; k < i; k++)
		if (e[k].why == e[i].why || (e[i].say && e[k].say == e[i].say))
			return true;
	return false;
}

/* Switch a part of an entry on if its rows are there, a row less when it may be cut. */
static void let_in(struct entry *e, bool *part, u32 width, u32 *left, u32 cut)
{
	u32 before = rows_of(e, width), more;

	*part = true;
	more = rows_of(e, width) - before;
	if (more > *left + (*left ? cut : 0))
		*part = false;
	else
		*left -= more < *left ? more : *left;
}

/* What fits: every lane's what, then the scenario's word, the reasons, the fields changed. */
static void choose(struct entry *e, u32 nr, u32 width, u32 left)
{
	for (u32 i = 0; i < nr; i++) {
		u32 rows = rows_of(&e[i], width);

		left -= rows < left ? rows : left;
	}
	for (u32 i = 0; i < nr; i++)
		if (e[i].say && !told_before(e, i))
			let_in(&e[i], &e[i].with_say, width, &left, 0);
	for (u32 i = 0; i < nr; i++)
		if (*e[i].why && !told_before(e, i))
			let_in(&e[i], &e[i].with_why, width, &left, 1);
	for (u32 i = 0; i < nr; i++)
		if (*e[i].did)
			let_in(&e[i], &e[i].with_did, width, &left, 0);
}

void draw_text(const struct lane_set *set, const struct area *a, bool zoom)
{
	struct entry e[MAX_SHOWN] = { { .moves = false } };
	u32 nr, column = 0, y = 0;

	for (u32 i = 0; i < set->nr; i++)
		fill_entry(set, i, &e[i]);
	nr = merge(e, set->nr);
	for (u32 i = 0; i < nr; i++) {
		u32 w = (u32)strlen(e[i].label) + 3;

		column = w > column ? w : column;
	}
	if (column > a->w / 2)
		column = 1;
	choose(e, nr, a->w > column ? a->w - column : 1, zoom ? NONE : a->h);
	for (u32 i = 0; i < nr && y < a->h; i++) {
		struct area part = area_part(a, column, y, a->w, a->h);
		char buf[1200];

		if (column > 1)
			put_text(a, 1, y, STYLE_lane, e[i].label);
		if (e[i].with_say)
			y += put_wrapped(&part, 0, 0, STYLE_strong, e[i].say);
		part = area_part(a, column, y, a->w, a->h);
		y += put_wrapped(&part, 0, 0, e[i].moves ? STYLE_normal : STYLE_dim,
				 full_text(&e[i], buf, sizeof(buf)));
		part = area_part(a, column, y, a->w, a->h);
		if (e[i].with_did)
			y += put_wrapped(&part, 0, 0, STYLE_dim, e[i].did);
		y += zoom;
	}
}
