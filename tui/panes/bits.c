/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page-table entry field by field, old beside new:
 *
 *   bits, page 2 0x0000000000000000 was 0x00e8000012342f43
 *  *51     WRITE     0 was 1   may be written
 *  *49:12  pfn       0 was 0x12342
 *
 * Ranges, names and values are those of `folioscope pte`. What a field means stands behind
 * it or below, where there is room.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "panes/panes.h"

#define MAX_FIELDS 96
#define NAME_COLUMN 8
#define VALUE_COLUMN 18
#define TEXT_COLUMN 34
#define LEAST_TEXT 26		/* columns in which a text may stand behind its field */

struct field {
	const struct pte_field *field;
	u64 now, old;
};

struct fields {
	u32 nr;
	struct field field[MAX_FIELDS];
};

/* An empty entry has no fields: not even one that is stored inverted. */
static u64 field_value(const struct pte_field *field, u64 pte)
{
	return pte ? pte_field_value(field, pte) : 0;
}

/*
 * Fields of one kind of entry: first those that changed, then those that are set. What the
 * old entry held in them is read as its own kind, which keeps the same fields, says.
 */
static void add_fields(struct fields *fields, const struct pte_fields *of, u64 now,
		       const struct pte_fields *of_old, u64 old)
{
	const struct pte_field *field = of->field;

	for (u32 pass = 0; pass < 2; pass++)
		for (u32 i = 0; i < of->nr && fields->nr < MAX_FIELDS; i++) {
			u64 is = field_value(&field[i], now);
			u64 was = field_value(&of_old->field[i], old);

			if (pass == 0 ? is != was : is == was && is)
				fields->field[fields->nr++] = (struct field){ &field[i], is, was };
		}
}

static char *value_text(u64 value, char *buf, size_t size)
{
	snprintf(buf, size, value > 9 ? "0x%" PRIx64 : "%" PRIu64, value);
	return buf;
}

/* Returns the column after it. */
static u32 put_field(const struct area *a, u32 y, const struct field *f)
{
	bool changed = f->now != f->old;
	char text[24];
	u32 x;

	if (f->field->hi == f->field->lo)
		snprintf(text, sizeof(text), "%u", f->field->hi);
	else
		snprintf(text, sizeof(text), "%u:%u", f->field->hi, f->field->lo);
	put_mark(a, y, changed);
	put_text(a, 1, y, STYLE_dim, text);
	x = put_text(a, NAME_COLUMN, y, STYLE_normal, f->field->name);
	x = put_text(a, x < VALUE_COLUMN ? VALUE_COLUMN : x + 1, y,
		     changed ? STYLE_changed : STYLE_normal,
		     value_text(f->now, text, sizeof(text)));
	if (changed) {
		x = put_text(a, x + 1, y, STYLE_dim, "was ");
		x = put_text(a, x, y, STYLE_old, value_text(f->old, text, sizeof(text)));
	}
	return x;
}

/* Where a field's text begins: on its row if that leaves enough columns, else on the next. */
static u32 text_column(const struct area *a, u32 x, const char *text, u32 *row)
{
	u32 column = x + 2 < TEXT_COLUMN ? TEXT_COLUMN : x + 2;

	*row = 0;
	if (column + text_width(text) <= a->w || column + LEAST_TEXT <= a->w)
		return column;
	if (x + 2 + text_width(text) <= a->w)
		return x + 2;
	*row = 1;
	return NAME_COLUMN;
}

/* All fields that fit, then texts as long as there are rows for them. Returns fields put. */
static u32 put_fields(const struct area *a, const struct fields *fields, u32 skip, u32 y)
{
	u32 left = fields->nr - skip, rows = a->h > y ? a->h - y : 0;
	u32 spare = rows > left ? rows - left : 0;
	u32 nr = 0;

	for (; nr < left && y < a->h; nr++) {
		const struct field *f = &fields->field[skip + nr];
		const char *text = f->field->text;
		u32 row, more, x = put_field(a, y, f);

		x = text_column(a, x, text, &row);
		more = row + (a->w > x ? text_rows(text, a->w - x) : 1) - 1;
		if (more <= spare) {
			put_wrapped(a, x, y + row, STYLE_dim, text);
			spare -= more;
			y += more;
		} else if (!row) {
			put_cut(a, x, y, a->w, STYLE_dim, text);
		}
		y++;
	}
	return nr;
}

/* The entry as a whole; returns the rows it takes. */
static u32 put_entry(const struct view *v, const struct area *a, u32 pte, u32 nr, u64 now,
		     u64 old)
{
	bool changed = now != old;
	char label[64];
	u32 x;

	put_mark(a, 0, changed);
	x = put_text(a, 1, 0, STYLE_label, nr > 1 ? "bits, PMD " : "bits, page ");
	x = put_text(a, x, 0, STYLE_normal, page_label(v, pte, nr, label, sizeof(label)));
	x = put_format(a, x + 1, 0, changed ? STYLE_changed : STYLE_normal, "0x%016" PRIx64, now);
	if (!changed)
		return 1;
	if (x + 23 <= a->w) {
		x = put_text(a, x + 1, 0, STYLE_dim, "was ");
		put_format(a, x, 0, STYLE_old, "0x%016" PRIx64, old);
		return 1;
	}
	x = put_text(a, x - 22, 1, STYLE_dim, "was ");
	put_format(a, x, 1, STYLE_old, "0x%016" PRIx64, old);
	return 2;
}

/* Do both kinds of entry have their fields in the same bits? */
static bool same_layout(const struct pte_fields *a, const struct pte_fields *b)
{
	u32 i = 0;

	while (a->nr == b->nr && i < a->nr && a->field[i].lo == b->field[i].lo)
		i++;
	return a->nr == b->nr && i == a->nr;
}

void put_bits(const struct view *v, const struct area *a, u32 pte, u32 skip)
{
	struct fields fields = { .nr = 0 };
	struct leaf leaf = leaf_of(v->s, v->lane->m.arch, pte);
	const struct pte_fields *of, *of_old;
	struct pte_desc is, was;
	u64 old, now = *leaf.entry;
	u32 y, nr;

	view_changed64(v, leaf.entry, &old);
	y = put_entry(v, a, pte - leaf.behind, leaf.ops->nr_pages, now, old);
	leaf.ops->decode(now, &v->types, &is);
	leaf.ops->decode(old, &v->types, &was);
	of = &leaf.ops->fields[is.kind];
	of_old = &leaf.ops->fields[was.kind];
	/* An entry that went or came is told in the words of what it was or is. */
	if (same_layout(of, of_old)) {
		add_fields(&fields, of, now, of_old, old);
	} else if (was.kind == PTE_NONE) {
		add_fields(&fields, of, now, of, old);
	} else {
		add_fields(&fields, of_old, 0, of_old, old);
		if (is.kind != PTE_NONE)
			add_fields(&fields, of, now, of, 0);
	}
	skip = skip < fields.nr ? skip : fields.nr ? fields.nr - 1 : 0;
	nr = put_fields(a, &fields, skip, y);
	if (skip + nr < fields.nr && a->h > y) {
		char more[32];

		snprintf(more, sizeof(more), " .. %u more", fields.nr - skip - nr);
		put_right(a, 0, a->h - 1, STYLE_key, more);
	}
}
