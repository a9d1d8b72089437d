/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens, lane by lane, then why. Lanes that do the same share one text.
 *
 *    note       From here on each lane goes its own way.          what the scenario says
 *    unbatched  The PTE of page 2 of A was exchanged with zero. Why an exchange: ...
 *    batched    waits: its run covers page 2.
 *
 * The rule above it says when there is more than fits; a text that is cut ends in "..".
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
	u32 rows, say_rows;	/* that what and why may fill, and say */
	bool moves, with_why, with_did;
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

/* How many rows what and why would fill. */
static u32 full_rows(const struct entry *e, u32 width)
{
	char buf[1200];

	return text_rows(full_text(e, buf, sizeof(buf)), width);
}

static u32 rows_of(const struct entry *e, u32 width)
{
	return e->rows + e->say_rows + (e->with_did ? text_rows(e->did, width) : 0);
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

/* As many of these rows as are left. */
static u32 take(u32 rows, u32 *left)
{
	rows = rows < *left ? rows : *left;
	*left -= rows;
	return rows;
}

/* False if the reason is left out or cut. */
static bool take_why(struct entry *e, u32 width, u32 *left)
{
	u32 rows = e->rows;

	e->with_why = true;
	e->rows += take(full_rows(e, width) - rows, left);
	if (e->rows == full_rows(e, width))
		return true;
	e->with_why = e->rows > rows;
	return false;
}

/*
 * What fits: a row of every lane's what, the scenario's word, the rest of the whats, the
 * reasons, the fields changed. False if a text among them is left out or cut.
 */
static bool choose(struct entry *e, u32 nr, u32 width, u32 left)
{
	bool whole = true;

	for (u32 i = 0; i < nr; i++)
		e[i].rows = take(1, &left);
	for (u32 i = 0; i < nr; i++)
		if (e[i].say && !said_before(e, i)) {
			e[i].say_rows = take(text_rows(e[i].say, width), &left);
			whole &= e[i].say_rows == text_rows(e[i].say, width);
		}
	for (u32 i = 0; i < nr; i++) {
		e[i].rows += take(full_rows(&e[i], width) - e[i].rows, &left);
		whole &= e[i].rows == full_rows(&e[i], width);
	}
	for (u32 i = 0; i < nr; i++)
		if (*e[i].why && !explained_before(e, i))
			whole &= take_why(&e[i], width, &left);
	for (u32 i = 0; i < nr; i++)
		if (*e[i].did && text_rows(e[i].did, width) <= left)
			e[i].with_did = take(text_rows(e[i].did, width), &left);
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

/* No more than so many rows of a text; ".." where it is cut. Returns the row after it. */
static u32 put_rows(const struct area *a, u32 column, u32 y, u32 rows, enum style style,
		    const char *text)
{
	bool cut = text_rows(text, a->w - column) > rows;
	struct area part = cut ? area_part(a, 0, 0, a->w, y + rows) : *a;

	put_wrapped(&part, column, y, style, text);
	if (cut && rows)
		put_right(&part, column, y + rows - 1, STYLE_dim, " ..");
	return y + rows;
}

/* From row y on, which may lie above the area; returns the row after it. */
static u32 put_entry(const struct area *a, u32 column, u32 y, const struct entry *e)
{
	char buf[1200];

	if (e->say_rows) {
		put_text(a, 1, y, STYLE_message, column > 1 ? "note" : "");
		y = put_rows(a, column, y, e->say_rows, STYLE_strong, e->say);
	}
	if (column > 1)
		put_text(a, 1, y, STYLE_lane, e->label);
	y = put_rows(a, column, y, e->rows, e->moves ? STYLE_normal : STYLE_dim,
		     full_text(e, buf, sizeof(buf)));
	if (e->with_did)
		y += put_wrapped(a, column, y, STYLE_dim, e->did);
	return y;
}

void draw_text(const struct lane_set *set, const struct area *a, bool zoom)
{
	struct area body = area_part(a, 0, 1, a->w, a->h);
	struct entry e[MAX_SHOWN] = { { .moves = false } };
	u32 scroll = zoom ? set->app->scroll : 0;
	u32 nr, column, width, rows = 0, y;
	bool whole;

	for (u32 i = 0; i < set->nr; i++)
		fill_entry(set, i, &e[i]);
	nr = merge(e, set->nr);
	column = label_column(e, nr, a->w);
	width = a->w > column ? a->w - column : 1;
	whole = choose(e, nr, width, zoom ? NONE : body.h);
	for (u32 i = 0; i < nr; i++)
		rows += rows_of(&e[i], width) + zoom;
	if (scroll + body.h > rows)
		scroll = rows > body.h ? rows - body.h : 0;
	y = 0 - scroll;
	for (u32 i = 0; i < nr; i++)
		y = put_entry(&body, column, y, &e[i]) + zoom;
	if (!(zoom ? scroll + body.h >= rows : whole))
		put_right(a, 0, 0, STYLE_key, zoom ? " j: more " : " t: more ");
}
