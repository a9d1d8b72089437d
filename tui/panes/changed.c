/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>

#include "panes/panes.h"
#include "trace/describe.h"

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

	list->nr++;
	if (list->skip) {
		list->skip--;
		return;
	}
	if (list->y >= a->h)
		return;
	put_mark(a, list->y, true);
	x = put_text(a, LABEL_COLUMNS + 2, list->y, STYLE_normal, change->what);
	x = put_text(a, x + 1, list->y, STYLE_changed, change->new);
	x = put_text(a, x + 1, list->y, STYLE_dim, "was ");
	put_text(a, x, list->y++, STYLE_old, change->old);
}

void draw_changed(const struct view *v, const struct area *a)
{
	struct list_state list = { .v = v, .a = a, .skip = v->zoom ? v->app->scroll : 0 };

	if (v->moves)
		describe_step(v->c, &v->app->names, put_change, &list);
	put_label(v, a, 0, "changed");
	if (!list.nr)
		put_text(a, LABEL_COLUMNS + 2, 0, STYLE_dim, "nothing");
	if (list.y == a->h && list.nr > list.y && a->h > 1)
		put_format(a, 1, a->h - 1, STYLE_dim, "of %u", list.nr);
}
