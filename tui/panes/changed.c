/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>

#include "panes/panes.h"
#include "trace/describe.h"

#define LEFT (LABEL_COLUMNS + 2)

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && strcmp(text + len - n, end) == 0;
}

/* Not the machine's bookkeeping about itself: list links, whose turn it is, the walk's place. */
bool change_teaches(const struct change *change)
{
	const char *what = change->what;

	if (strncmp(what, "task", 4) == 0)
		return strstr(what, ".ubc_") != NULL;
	return strncmp(what, "list ", 5) != 0 && !ends_with(what, ".next") &&
	       !ends_with(what, ".prev") && !strstr(what, ".next[") && strcmp(what, "cpu") != 0 &&
	       strcmp(what, "op") != 0;
}

struct list_state {
	const struct view *v;
	const struct area *a;
	u32 y, skip, nr;
};

static void put_change(void *ctx, const struct change *change)
{
	struct list_state *list = ctx;
	const struct area *a = list->a;
	u32 x;

	if (!list->v->zoom && !change_teaches(change))
		return;
	list->nr++;
	if (list->skip) {
		list->skip--;
		return;
	}
	if (list->y >= a->h)
		return;
	put_mark(a, list->y, true);
	x = put_cut(a, LEFT, list->y, a->w, STYLE_normal, change->what);
	if (list->v->zoom && x + strlen(change->new) + strlen(change->old) + 6 > a->w) {
		list->y++;
		x = LEFT + 1;
	}
	x = put_cut(a, x + 1, list->y, a->w, STYLE_changed, change->new);
	x = put_cut(a, x + 1, list->y, a->w, STYLE_dim, "was ");
	put_cut(a, x, list->y++, a->w, STYLE_old, change->old);
}

void draw_changed(const struct view *v, const struct area *a)
{
	struct list_state list = { .v = v, .a = a, .skip = v->zoom ? v->app->scroll : 0 };

	if (v->moves)
		describe_step(v->c, &v->app->names, put_change, &list);
	put_label(v, a, 0, "changed");
	if (!list.nr)
		put_text(a, LEFT, 0, STYLE_dim, "nothing");
	if (list.y == a->h && list.nr > list.y && a->h > 1)
		put_format(a, 1, a->h - 1, STYLE_dim, "of %u", list.nr);
}
