/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens, lane by lane, then why. Lanes that do the same share one text.
 *
 *    note       From here on each lane goes its own way.          what the scenario says
 *    unbatched  The PTE of page 2 of A was exchanged with zero. Why an exchange: ...
 *    batched    waits: its run covers page 2.             .. t: more
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
	else if (c->pos == app_steps(app, lane))
		snprintf(buf, size, "is done.");
	else if (g.page < c->live->nr[ARRAY_PAGE] && g.phase == PHASE_unmap &&
		 !state_page(c->live, g.page)->mapcount)
		snprintf(buf, size, "waits: it has unmapped this page already.");
	else
		snprintf(buf, size, "waits: nothing to do here.");
}

static void add_change(void *ctx, const struct change *change)
{
	struct entry *e = ctx;
	size_t len = strlen(e->did);

	/* Counters have their pane, and an entry's values are part of the sentence. */
	if (strncmp(change->what, "count.", 6) == 0 || !change_teaches(change) ||
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
		if (c->pos == 0)
			e->say = app->run->scenario->summary;
		return;
	}
	narrate(c, &app->names, e->what, sizeof(e->what));
	if (set->tell_changes)
		describe_step(c, &app->names, add_change, e);
	e->why = narrate_why(c);
	e->say = app_said(app, set->lane[i], c->pos);
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

static bool said_before(const struct entry *e, u32 i)
{
	for (u32 k = 0; k < i; k++)
		if (e[k].say == e[i].say)
			return true;
	return false;
}

static bool explained_before(const struct entry *e, u32 i)
{
	for (u32 k = 0; k < i; k++)
		if (e[k].why == e[i].why)
			return true;
	return false;
}

/* Switch a part of an entry on if its rows are there; false if it is left out or cut. */
static bool let_in(struct entry *e, bool *part, u32 width, u32 *left, bool may_cut)
{
	u32 before = rows_of(e, width), more;

	*part = true;
	more = rows_of(e, width) - before;
	if (more > *left) {
		*part = may_cut && *left;
		*left = *part ? 0 : *left;
		return false;
	}
	*left -= more;
	return true;
}

/*
 * What fits: every lane's what, then the scenario's word, the reasons, the fields changed.
 * False if a text among them is left out or cut.
 */
static bool choose(struct entry *e, u32 nr, u32 width, u32 left)
{
	bool whole = true;

	for (u32 i = 0; i < nr; i++) {
		u32 rows = rows_of(&e[i], width);

		whole &= rows <= left;
		left -= rows < left ? rows : left;
	}
	for (u32 i = 0; i < nr; i++)
		if (e[i].say && !said_before(e, i))
			whole &= let_in(&e[i], &e[i].with_say, width, &left, false);
	for (u32 i = 0; i < nr; i++)
		if (*e[i].why && !explained_before(e, i))
			whole &= let_in(&e[i], &e[i].with_why, width, &left, true);
	for (u32 i = 0; i < nr; i++)
		if (*e[i].did)
			let_in(&e[i], &e[i].with_did, width, &left, false);
	return whole;
}

static u32 label_column(const struct entry *e, u32 nr, u32 width)
{
	u32 column = 4 + 3;	/* "note" */

	for (u32 i = 0; i < nr; i++) {
		u32 w = (u32)strlen(e[i].label) + 3;

		column = w > column ? w : column;
	}
	return column > width / 2 ? 1 : column;
}

/* From row y on, which may lie above the area; returns the row after it. */
static u32 put_entry(const struct area *a, u32 column, u32 y, const struct entry *e)
{
	char buf[1200];

	if (e->with_say) {
		put_text(a, 1, y, STYLE_message, column > 1 ? "note" : "");
		y += put_wrapped(a, column, y, STYLE_strong, e->say);
	}
	if (column > 1)
		put_text(a, 1, y, STYLE_lane, e->label);
	y += put_wrapped(a, column, y, e->moves ? STYLE_normal : STYLE_dim,
			 full_text(e, buf, sizeof(buf)));
	if (e->with_did)
		y += put_wrapped(a, column, y, STYLE_dim, e->did);
	return y;
}

void draw_text(const struct lane_set *set, const struct area *a, bool zoom)
{
	struct entry e[MAX_SHOWN] = { { .moves = false } };
	u32 scroll = zoom ? set->app->scroll : 0;
	u32 nr, column, rows = 0, y;
	bool whole;

	for (u32 i = 0; i < set->nr; i++)
		fill_entry(set, i, &e[i]);
	nr = merge(e, set->nr);
	column = label_column(e, nr, a->w);
	whole = choose(e, nr, a->w > column ? a->w - column : 1, zoom ? NONE : a->h);
	for (u32 i = 0; i < nr; i++)
		rows += rows_of(&e[i], a->w > column ? a->w - column : 1) + zoom;
	if (scroll + a->h > rows)
		scroll = rows > a->h ? rows - a->h : 0;
	y = 0 - scroll;
	for (u32 i = 0; i < nr; i++)
		y = put_entry(a, column, y, &e[i]) + zoom;
	if (!a->h || (zoom ? scroll + a->h >= rows : whole))
		return;
	put_right(a, 0, a->h - 1, STYLE_key, zoom ? " .. j: more" : " .. t: more");
}
