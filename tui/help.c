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

/* Where the rows scrolled away end up, above the area, nothing is drawn. */
static void row(struct writer *w, enum style style, const char *key, const char *text)
{
	u32 y = w->y - w->skip;
	u32 column = w->a->w > 2 * TEXT_COLUMN ? TEXT_COLUMN : KEY_COLUMN + 2;
	u32 below = column < TEXT_COLUMN && *key && *text;
	u32 rows;

	put_text(w->a, KEY_COLUMN, y, style, key);
	rows = below + put_wrapped(w->a, column, y + below, STYLE_normal, text);
	w->y += rows ? rows : 1;
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

static void write_legend(struct writer *w)
{
	static const struct {
		const char *sign, *text;
	} legend[] = {
		{ "step 143/767", "of the first lane shown: where it stands, and how many it has" },
		{ "tick 201/833", "of all lanes: a tick moves each that has a step to do in the "
				  "same page or phase; the others wait" },
		{ "page 2 of 0..15", "what the tick is about; pages count from 0 everywhere" },
		{ "*  32 was 33", "the last step changed this; the value before it" },
		{ ">", "the kernel's page-table walk stands here" },
		{ "2..15  x14", "a run of 14 entries, pages 2 to 15 of the folio, alike but for "
				"page frame or slot" },
		{ "[16]", "one contpte block: 16 entries that may be one TLB entry; 2x[16]: two" },
		{ "RW RO D A -", "writable, read-only, dirty, accessed; -: not dirty, not "
				 "accessed" },
		{ "S U C", "soft-dirty, userfaultfd, contiguous" },
		{ "swap 0:0x200", "a swap entry: device 0, slot 0x200" },
		{ "excl", "the page belonged to this process alone" },
		{ "1110 0000", "a digit a slot: how many swap entries point to it; '.': free" },
		{ "cached", "the slots know the folio: it is in the swap cache" },
		{ "shadow", "they only remember when it was reclaimed" },
		{ "ref 32 = 15 maps", "the reference count and who holds the references" },
		{ "+ 1 pin", "a pin for DMA; on an order-0 folio a pin holds 1024 references" },
		{ "map 15, 14 ptes", "the mapcount and the PTEs there are: they differ on the "
				     "way" },
		{ "stale", "a TLB entry that the page table no longer backs" },
		{ "flush 3 noted", "unmaps, of a page or a run each, that wait for the deferred "
				   "flush; writable: a CPU may still write through them" },
		{ "so far  ratio", "the first lane's count over the second's; so far: not both "
				   "are at the end, and one may be ahead" },
		{ "2x 0.62x = gone new", "two times, less, the same, only the first has any, only "
					 "the second" },
		{ "waits", "the lane has nothing to do for this page or phase" },
		{ "note", "what the scenario says about this step" },
		{ "proposed", "a posted series that is not in the kernel" },
	};

	row(w, STYLE_strong, "What the signs mean", "");
	for (u32 i = 0; i < NR_OF(legend); i++)
		row(w, STYLE_key, legend[i].sign, legend[i].text);
}

static void write_all(struct writer *w)
{
	char key[16], text[120];

	write_keys(w);
	row(w, STYLE_strong, "", "");
	row(w, STYLE_strong, "Kinds of event", "for ]x and [x");
	for (u32 i = 0; i < nr_event_kinds; i++) {
		char letter = event_kinds[i].letter;

		snprintf(key, sizeof(key), "]%c [%c", letter, letter);
		snprintf(text, sizeof(text), "%s: %s", event_kinds[i].name, event_kinds[i].text);
		row(w, STYLE_key, key, text);
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
	write_legend(w);
}

void draw_help(const struct app *app, const struct area *a)
{
	struct area body = area_part(a, 0, 0, a->w, a->h - 1);
	struct area none = { .canvas = a->canvas, .w = a->w };
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
		put_right(&foot, 0, 0, STYLE_now, " more below, the signs last ");
}
