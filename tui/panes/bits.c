/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page-table entry field by field, old beside new:
 *
 *   bits, page 2 0x0000000000000000 was 0x00e8000012342f43
 *  *51     DBM       0 was 1   writable: hardware may set dirty
 *  *49..12 pfn       0 was 0x12342
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "panes/panes.h"

static u64 field_value(u64 pte, const struct pte_field *field)
{
	u32 width = (u32)field->hi - field->lo + 1;

	return width == 64 ? pte : pte >> field->lo & ((1ull << width) - 1);
}

static char *value_text(u64 value, char *buf, size_t size)
{
	snprintf(buf, size, value > 9 ? "0x%" PRIx64 : "%" PRIu64, value);
	return buf;
}

static void put_field(const struct area *a, u32 y, const struct pte_field *field, u64 now, u64 old)
{
	char range[16], text[24];
	u32 x;

	if (field->hi == field->lo)
		snprintf(range, sizeof(range), "%u", field->hi);
	else
		snprintf(range, sizeof(range), "%u..%u", field->hi, field->lo);
	put_mark(a, y, now != old);
	put_text(a, 1, y, STYLE_dim, range);
	x = put_text(a, 8, y, STYLE_normal, field->name);
	x = put_text(a, x < 18 ? 18 : x + 1, y, now != old ? STYLE_changed : STYLE_normal,
		     value_text(now, text, sizeof(text)));
	if (now != old) {
		x = put_text(a, x + 1, y, STYLE_dim, "was ");
		x = put_text(a, x, y, STYLE_old, value_text(old, text, sizeof(text)));
	}
	put_cut(a, x < 34 ? 34 : x + 2, y, a->w, STYLE_dim, field->text);
}

/* Fields of one kind of entry: first those that changed, then those that are set. */
static u32 put_fields(const struct view *v, const struct area *a, u32 y, enum pte_kind kind,
		      u64 now, u64 old)
{
	u32 nr;
	const struct pte_field *field = v->ops->fields(kind, &nr);

	for (u32 pass = 0; pass < 2; pass++)
		for (u32 i = 0; i < nr && y < a->h; i++) {
			u64 is = field_value(now, &field[i]), was = field_value(old, &field[i]);

			if (pass == 0 ? is != was : is == was && is)
				put_field(a, y++, &field[i], is, was);
		}
	return y;
}

void put_bits(const struct view *v, const struct area *a, u32 pte)
{
	struct pte_desc is, was;
	u64 old, now = *state_pte(v->s, pte);
	bool changed = view_changed64(v, state_pte(v->s, pte), &old);
	char label[64];
	u32 x, y = 2;

	put_mark(a, 0, changed);
	x = put_text(a, 1, 0, STYLE_label, "bits, page ");
	x = put_text(a, x, 0, STYLE_normal, page_label(v, pte, 1, label, sizeof(label)));
	x = put_format(a, x + 1, 0, changed ? STYLE_changed : STYLE_normal, "0x%016" PRIx64, now);
	if (changed && x + 23 <= a->w) {
		x = put_text(a, x + 1, 0, STYLE_dim, "was ");
		put_format(a, x, 0, STYLE_old, "0x%016" PRIx64, old);
		y = 1;
	} else if (changed) {
		x = put_text(a, x - 22, 1, STYLE_dim, "was ");
		put_format(a, x, 1, STYLE_old, "0x%016" PRIx64, old);
	} else {
		y = 1;
	}
	v->ops->decode(now, &v->types, &is);
	v->ops->decode(old, &v->types, &was);
	/* An entry that went or came is told in the words of what it was or is. */
	if (is.kind == was.kind || was.kind == PTE_NONE) {
		put_fields(v, a, y, is.kind, now, old);
	} else {
		y = put_fields(v, a, y, was.kind, 0, old);
		if (is.kind != PTE_NONE)
			put_fields(v, a, y, is.kind, now, 0);
	}
}
