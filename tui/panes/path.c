/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "panes/panes.h"

static const char *fidelity_text(enum fidelity fidelity)
{
	static const char *const text[] = {
		[SAME] = "as the kernel's", [REDUCED] = "reduced", [STUB] = "stub",
		[CHANGED] = "changed by the series or the model",
	};

	return text[fidelity];
}

static void draw_chain(const struct call_path *path, const struct area *a, u32 x)
{
	enum style style = STYLE_strong;

	for (u32 i = 0; i < path->nr; i++) {
		const char *name = event_info[path->function[i]].name;

		if (x + strlen(name) + (i + 1 < path->nr ? 4 : 0) > a->w) {
			put_cut(a, x, 0, a->w, style, x + 6 < a->w ? name : "..");
			return;
		}
		x = put_text(a, x, 0, style, name);
		style = STYLE_normal;
		if (i + 1 < path->nr)
			x = put_text(a, x, 0, STYLE_dim, " < ");
	}
}

static void draw_stack(const struct call_path *path, const struct area *a, u32 left, bool files)
{
	for (u32 i = 0; i < path->nr && i < a->h; i++) {
		const struct event_info *info = &event_info[path->function[i]];
		u32 x = left;

		if (i + 1 == a->h && i + 1 < path->nr) {
			put_format(a, x, i, STYLE_dim, ".. and %u callers more", path->nr - i);
			break;
		}
		x = put_cut(a, x, i, a->w, i ? STYLE_normal : STYLE_strong, info->name);
		if (files && info->file)
			put_format(a, x < 36 ? 36 : x + 2, i, STYLE_dim, "%s  %s", info->file,
				   fidelity_text(info->fidelity));
	}
}

void draw_path(const struct view *v, const struct area *a)
{
	const struct call_path *path = cursor_path(v->c);
	const struct step *step = cursor_step(v->c);
	bool inside = step && path->nr;
	const char *label = !step ? "before" : inside ? v->moves ? "in" : "waits in" :
			    v->moves ? "outside" : "waits outside";
	u32 x = 1 + (u32)strlen(label) + 1;

	put_label(v, a, 0, label);
	if (!inside)
		put_text(a, x, 0, STYLE_normal, step ? "the kernel" : "the first step");
	else if (a->h == 1)
		draw_chain(path, a, x);
	else
		draw_stack(path, a, x, a->w >= 64);
}

u32 most_path(const struct view *v, u32 width)
{
	(void)v, (void)width;
	return 12;
}
