/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/slot.h"
#include "panes/panes.h"
#include "trace/describe.h"

#define GROUP 4u

/* The slot of a folio's page: from the swap cache, or from the swap entry that replaced it. */
static u32 slot_of(const struct view *v, const struct folio *f, u32 i)
{
	u32 page = f->page + i;

	if (f->swap != NONE)
		return f->swap + i;
	for (u32 k = v->app->page_ptes[page]; k < v->app->page_ptes[page + 1]; k++) {
		pte_t pte = *state_pte(v->s, v->app->page_pte[k]);
		struct pte_desc d;

		v->ops->decode(pte, &v->types, &d);
		for (u32 dev = 0; d.kind == PTE_SWAP && dev < v->s->nr[ARRAY_DEVICE]; dev++) {
			const struct swap_device *device = state_device(v->s, dev);

			if (device->type == d.type && d.offset < device->nr_slots)
				return device->first_slot + (u32)d.offset;
		}
	}
	return NONE;
}

/* The first slot of the folio at hand, or NONE. */
static u32 first_slot(const struct view *v, const struct folio *f)
{
	for (u32 i = 0; i < folio_nr_pages(f); i++) {
		u32 slot = slot_of(v, f, i);

		if (slot != NONE)
			return slot - i;
	}
	return NONE;
}

static const char *kind_text(const struct view *v, u32 slot, u32 nr)
{
	static const char *const text[] = {
		[SLOT_FREE] = "free", [SLOT_FOLIO] = "cached", [SLOT_SHADOW] = "shadow",
		[SLOT_BAD] = "bad", [SLOT_RESERVED] = "reserved",
	};
	u32 kind = state_slot(v->s, slot)->kind;

	for (u32 i = 1; i < nr; i++)
		if (state_slot(v->s, slot + i)->kind != kind)
			return "mixed";
	return kind < NR_OF(text) ? text[kind] : "?";
}

/* Counts of slots in one row, as many as fit before end; returns how many. */
static u32 put_counts(const struct view *v, const struct area *a, u32 x, u32 y, u32 end, u32 slot,
		      u32 nr, bool spaced)
{
	bool changed = false;
	u32 i;

	for (i = 0; i < nr && x < end; i++) {
		const struct slot *s = state_slot(v->s, slot + i);
		bool here = view_changed_any(v, s, sizeof(*s));

		if (spaced && i && i % GROUP == 0)
			x++;
		if (x >= end)
			break;
		put_rune(a, x++, y, here ? STYLE_changed : STYLE_normal,
			 s->kind == SLOT_FREE ? '.' : s->count > 9 ? '+' : '0' + s->count);
		changed |= here;
	}
	put_mark(a, y, changed);
	return i;
}

static void draw_device(const struct view *v, const struct area *a, u32 y, u32 slot)
{
	const struct swap_device *d = state_device(v->s, slot_device(v->s, slot));
	u32 offset = slot - d->first_slot;
	const struct cluster *c = state_cluster(v->s, d->first_cluster + offset / SWAPFILE_CLUSTER);
	char device[24] = "", text[96];

	put_mark(a, y, view_changed(v, &d->inuse, NULL) || view_changed_any(v, c, sizeof(*c)));
	if (a->w >= 48)
		snprintf(device, sizeof(device), "dev %" PRIu32 ": ", d->type);
	snprintf(text, sizeof(text), "%s%" PRIu32 " used, cluster %" PRIu32 ": %" PRIu32 "%s",
		 device, d->inuse, offset / SWAPFILE_CLUSTER, c->count,
		 c->locked ? " locked" : "");
	put_cut(a, LABEL_COLUMNS, y, a->w, STYLE_normal, text);
}

/* What the kernel keeps for them, in its table or in swap_map: runs that are alike. */
static void draw_raw(const struct view *v, const struct area *a, u32 y, u32 slot, u32 nr)
{
	const struct kernel *kernel = v->lane->spec->kernel;
	u32 x = put_text(a, 1, y, STYLE_dim, slot_place(kernel)) + 1;

	for (u32 i = 0, first = 0; i < nr && x < a->w; first = i) {
		u64 raw = slot_raw(v->s, kernel, slot + first);

		while (i < nr && slot_raw(v->s, kernel, slot + i) == raw)
			i++;
		x = put_format(a, x, y, STYLE_normal, "0x%0*" PRIx64, slot_digits(kernel), raw);
		x = put_format(a, x, y, STYLE_dim, " x%" PRIu32 "  ", i - first);
	}
}

/* Too many for a figure each: "0..95 1  96..511 0", numbered like the folio's pages. */
static void put_slot_runs(const struct view *v, const struct area *a, u32 x, u32 slot, u32 nr)
{
	for (u32 i = 0, first = 0; i < nr && x < a->w; first = i) {
		const struct slot *s = state_slot(v->s, slot + first);
		bool changed = false;
		char count[16];

		for (; i < nr && state_slot(v->s, slot + i)->count == s->count &&
		       state_slot(v->s, slot + i)->kind == s->kind; i++)
			changed |= view_changed_any(v, state_slot(v->s, slot + i), sizeof(*s));
		if (changed)
			put_mark(a, 0, true);
		x = put_format(a, x, 0, STYLE_dim, "%" PRIu32 "..%" PRIu32 " ", first, i - 1);
		snprintf(count, sizeof(count), "%" PRIu32, s->count);
		x = put_text(a, x, 0, changed ? STYLE_changed : STYLE_normal,
			     s->kind == SLOT_FREE ? "free" : count) + 2;
	}
}

/* The slots' counts in as many rows as there are; returns how many rows. */
static u32 draw_slots(const struct view *v, const struct area *a, u32 x, u32 slot, u32 nr)
{
	const char *kind = kind_text(v, slot, nr);
	u32 end = a->w > strlen(kind) + 1 ? a->w - (u32)strlen(kind) - 1 : 0;
	bool spaced = x + nr + (nr - 1) / GROUP <= end;
	u32 rows = a->h > 1 ? a->h - 1 : 1; /* the device's line comes behind them */
	u32 shown = 0, y;

	if (end <= x || nr > (end - x) * rows) {
		put_slot_runs(v, a, x, slot, nr);
		return 1;
	}
	for (y = 0; y < rows && shown < nr; y++)
		shown += put_counts(v, a, x, y, end, slot + shown, nr - shown, spaced);
	put_right(a, x, 0, STYLE_dim, kind);
	return y;
}

/* Without a folio: the first slots that were in use at the beginning, a run of them. */
static u32 first_used(const struct view *v, u32 *nr)
{
	const struct mm_state *s = trace_start(v->c->trace);
	u32 slot = 0;

	while (slot < s->nr[ARRAY_SLOT] && (state_slot(s, slot)->kind == SLOT_FREE ||
					    state_slot(s, slot)->kind == SLOT_BAD))
		slot++;
	for (*nr = 0; slot + *nr < s->nr[ARRAY_SLOT] && *nr < PTRS_PER_PTE; ++*nr)
		if (state_slot(s, slot + *nr)->kind == SLOT_FREE)
			break;
	return slot < s->nr[ARRAY_SLOT] ? slot : NONE;
}

void draw_swap(const struct view *v, const struct area *a)
{
	const struct folio *f = v->folio == NONE ? NULL : state_folio(v->s, v->folio);
	u32 nr = f ? folio_nr_pages(f) : 0, x, rows;
	u32 slot = f ? first_slot(v, f) : first_used(v, &nr);
	char text[32];

	put_label(v, a, 0, "swap");
	if (slot == NONE) {
		put_text(a, LABEL_COLUMNS, 0, STYLE_dim, "no slots");
		return;
	}
	x = put_text(a, 6, 0, STYLE_normal, slot_text(v->s, slot, text, sizeof(text))) + 1;
	rows = draw_slots(v, a, x, slot, nr);
	if (rows < a->h)
		draw_device(v, a, rows, slot);
	if (rows + 1 < a->h)
		draw_raw(v, a, rows + 1, slot, nr);
}

u32 most_swap(const struct view *v, u32 width)
{
	u32 nr = v->folio == NONE ? 1 : folio_nr_pages(state_folio(v->s, v->folio));
	u32 rows = 1 + nr / (width > 24 ? width - 22 : 4);

	return 2 + (rows < 6 ? rows : 6);
}
