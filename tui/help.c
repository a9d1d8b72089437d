/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "layout.h"

#define KEY_COLUMN 1
#define TEXT_COLUMN 22

/* Draws, or with nothing but y to move counts, the rows of the help. */
struct writer {
	const struct area *a;
	u32 y, skip;
};

static void row(struct writer *w, enum style style, const char *key, const char *text)
{
	if (w->y >= w->skip && w->y - w->skip < w->a->h) {
		u32 y = w->y - w->skip;

		put_text(w->a, KEY_COLUMN, y, style, key);
		put_cut(w->a, TEXT_COLUMN, y, w->a->w, STYLE_normal, text);
	}
	w->y++;
}

static void write_keys(struct writer *w)
{
	row(w, STYLE_strong, "Keys", "a number before a key repeats it: 10s, 3n, 2]f");
	for (u32 i = 0; i < nr_key_infos;) {
		char keys[64];
		const char *text = key_infos[i].text;
		size_t len = (size_t)snprintf(keys, sizeof(keys), "%s", key_infos[i].label);

		for (i++; i < nr_key_infos && !*key_infos[i].text; i++)
			len += (size_t)snprintf(keys + len, sizeof(keys) - len, " %s",
						key_infos[i].label);
		row(w, STYLE_key, keys, text);
	}
}

static void write_all(struct writer *w)
{
	char text[120];

	write_keys(w);
	row(w, STYLE_strong, "", "");
	row(w, STYLE_strong, "Kinds of event", "for ]x and [x");
	for (u32 i = 0; i < nr_event_kinds; i++) {
		char letter = event_kinds[i].letter;

		snprintf(text, sizeof(text), "]%c [%c", letter, letter);
		row(w, STYLE_key, text, event_kinds[i].text);
	}
	row(w, STYLE_strong, "", "");
	row(w, STYLE_strong, "Commands", "after ':'; Tab completes, a beginning is enough");
	for (u32 i = 0; i < nr_command_infos; i++) {
		snprintf(text, sizeof(text), "%s %s", command_infos[i].name, command_infos[i].args);
		row(w, STYLE_key, text, command_infos[i].text);
	}
	row(w, STYLE_strong, "", "");
	row(w, STYLE_strong, "Panes", "");
	for (u32 i = 0; i < NR_PANES; i++)
		row(w, STYLE_key, panes[i].name, panes[i].text);
	row(w, STYLE_strong, "", "");
	row(w, STYLE_strong, "What the signs mean", "");
	row(w, STYLE_key, "* .. was ..", "the last step changed this; the value before it");
	row(w, STYLE_key, ">", "the kernel's page-table walk stands here");
	row(w, STYLE_key, "0..15  x16", "pages of the folio at hand, and how many");
	row(w, STYLE_key, "[16]", "a contpte block: 16 entries that may be one TLB entry");
	row(w, STYLE_key, "RW RO D A", "writable, read-only, dirty, accessed");
	row(w, STYLE_key, "S U C", "soft-dirty, userfaultfd, contiguous");
	row(w, STYLE_key, "excl", "the page belonged to this process alone");
	row(w, STYLE_key, "stale", "a TLB entry that the page table no longer backs");
	row(w, STYLE_key, "waits", "the lane has nothing to do for this page or phase");
	row(w, STYLE_key, "2.2x  0.33x  =  5:0", "the first lane's count over the second's");
	row(w, STYLE_key, "proposed", "a posted series that is not in the kernel");
}

void draw_help(const struct app *app, const struct area *a)
{
	struct area body = area_part(a, 0, 0, a->w, a->h - 1);
	struct area none = area_part(a, 0, 0, a->w, 0);
	struct area foot = area_part(a, 0, a->h - 1, a->w, 1);
	struct writer w = { .a = &none };
	u32 total;

	write_all(&w);
	total = w.y;
	w = (struct writer){ .a = &body, .skip = app->scroll };
	if (w.skip + body.h > total)
		w.skip = total > body.h ? total - body.h : 0;
	write_all(&w);
	put_text(&foot, 1, 0, STYLE_dim, "q or Esc: back   j k Space: scroll");
	if (w.skip + body.h < total)
		put_right(&foot, 0, 0, STYLE_now, " more below ");
}
