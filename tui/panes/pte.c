/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "panes/panes.h"

#define VALUE_COLUMN 13
#define MAX_WINDOWS 4
#define MAX_ROWS 512
#define BITS_ROWS 9
#define LEAST_BITS_ROWS 4
#define BLOCK 16u		/* entries of a contpte block */

/* A run of entries that differ in nothing but their page frame or slot; or one huge PMD. */
struct row {
	u32 first, nr;		/* PTEs */
	const struct pte_ops *ops;
	pte_t value, old;	/* of the first */
	bool changed;
};

struct rows {
	u32 nr, at;		/* at: the row that must be seen */
	struct row row[MAX_ROWS];
};

static void present_brief(const struct pte_desc *d, const char *word, const char *more, char *buf,
			  size_t size)
{
	char frame[40];

	if (d->special && is_zero_pfn(d->pfn))
		snprintf(frame, sizeof(frame), "zero page");
	else
		snprintf(frame, sizeof(frame), "%s%s0x%" PRIx64 "%s",
			 d->kind == PTE_INVALID ? "inv " : "", word, d->pfn, more);
	snprintf(buf, size, "%s %s %s %s%s%s%s", frame, d->write ? "RW" : "RO",
		 d->dirty ? "D" : "-", d->young ? "A" : "-", d->soft_dirty ? " S" : "",
		 d->uffd ? " U" : "", d->cont ? " C" : "");
}

char *pte_brief(const struct view *v, const struct pte_ops *ops, pte_t pte, bool run, u32 columns,
		char *buf, size_t size)
{
	const char *more = run ? ".." : "";
	struct pte_desc d;

	ops->decode(pte, &v->types, &d);
	switch (d.kind) {
	case PTE_NONE:
		snprintf(buf, size, "none");
		break;
	case PTE_PRESENT:
	case PTE_INVALID:
		present_brief(&d, "pfn ", more, buf, size);
		if (strlen(buf) > columns)
			present_brief(&d, "", more, buf, size);
		break;
	case PTE_SWAP:
		snprintf(buf, size, "swap %" PRIu32 ":0x%" PRIx64 "%s%s%s", d.type, d.offset, more,
			 d.exclusive ? " excl" : "", d.uffd ? " U" : "");
		break;
	default:
		pte_text(ops, &v->types, pte, buf, size);
	}
	return buf;
}

static u32 home_folio(const struct view *v, u32 pte)
{
	u32 page = v->app->pte_page[pte];

	return page == NONE ? NONE : page_folio(v->s, page);
}

/* Number of the page that a PTE mapped in its folio; without one, in its VMA. */
static u64 page_number(const struct view *v, u32 pte)
{
	u32 page = v->app->pte_page[pte];
	u32 mm = state_table(v->s, pte / PTRS_PER_PTE)->mm;
	u32 vma;

	if (page != NONE)
		return page - state_folio(v->s, page_folio(v->s, page))->page;
	vma = va_vma(v->s, mm, pte_va(v->s, pte));
	return vma == NONE ? 0 : (pte_va(v->s, pte) - state_vma(v->s, vma)->start) >> PAGE_SHIFT;
}

char *page_label(const struct view *v, u32 pte, u32 nr, char *buf, size_t size)
{
	u32 folio = home_folio(v, pte), last = home_folio(v, pte + nr - 1);
	const struct names *names = &v->app->names;
	char name[32] = "", to[32];
	int len;

	if (folio == NONE)
		strcpy(name, "+");
	else if (folio != v->folio)
		snprintf(name, sizeof(name), "%.30s", names->folio(names->ctx, folio, to));
	if (folio != last && folio != NONE && last != NONE) {
		snprintf(buf, size, "%s..%s", name, names->folio(names->ctx, last, to));
		return buf;
	}
	len = snprintf(buf, size, "%s%s%" PRIu64, name, folio != NONE && *name ? ":" : "",
		       page_number(v, pte));
	if (nr > 1 && len > 0 && (size_t)len < size)
		snprintf(buf + len, size - (size_t)len, "..%" PRIu64, page_number(v, pte + nr - 1));
	return buf;
}

static void add_entry(const struct view *v, struct rows *rows, u32 pte, u32 hand)
{
	struct row *last = rows->nr ? &rows->row[rows->nr - 1] : NULL;
	struct row row = { .first = pte, .nr = 1, .ops = v->ops, .value = *state_pte(v->s, pte) };

	row.changed = view_changed64(v, state_pte(v->s, pte), &row.old);
	if (last && last->ops == v->ops && last->first + last->nr == pte &&
	    last->changed == row.changed &&
	    (home_folio(v, pte) == v->folio) == (home_folio(v, last->first) == v->folio) &&
	    pte_continues(v->ops, &v->types, last->value, last->nr, row.value) &&
	    (!row.changed || pte_continues(v->ops, &v->types, last->old, last->nr, row.old))) {
		last->nr++;
	} else if (rows->nr < MAX_ROWS) {
		rows->row[rows->nr++] = row;
	}
	if (pte == hand)
		rows->at = rows->nr - 1;
}

static void add_huge(const struct view *v, struct rows *rows, u32 table)
{
	struct row row = { .first = table * PTRS_PER_PTE, .nr = PTRS_PER_PTE,
			   .ops = v->lane->m.arch->pmd, .value = state_table(v->s, table)->pmd };

	row.changed = view_changed64(v, &state_table(v->s, table)->pmd, &row.old);
	if (rows->nr < MAX_ROWS)
		rows->row[rows->nr++] = row;
}

struct window {
	u32 first, last;
};

/* The VMAs that the folio at hand is mapped in, each cut to one page table. */
static u32 windows(const struct view *v, struct window *w)
{
	const struct app *app = v->app;
	u32 nr = 0;

	for (u32 i = 0; v->folio != NONE && i < folio_nr_pages(state_folio(v->s, v->folio)); i++) {
		u32 page = state_folio(v->s, v->folio)->page + i;

		for (u32 k = app->page_ptes[page]; k < app->page_ptes[page + 1]; k++) {
			u32 pte = app->page_pte[k];
			u32 table = pte / PTRS_PER_PTE * PTRS_PER_PTE;
			bool known = false;

			for (u32 j = 0; j < nr; j++)
				known |= pte >= w[j].first && pte <= w[j].last;
			if (!known && nr < MAX_WINDOWS)
				w[nr++] = (struct window){ table, table + PTRS_PER_PTE - 1 };
		}
	}
	if (!nr && v->s->nr[ARRAY_PTE])
		w[nr++] = (struct window){ 0, PTRS_PER_PTE - 1 };
	return nr;
}

/* Below a huge PMD there is nothing to see but a table in the making. */
static bool is_shown(const struct view *v, u32 pte)
{
	return !state_table(v->s, pte / PTRS_PER_PTE)->pmd || !v->ops->none(*state_pte(v->s, pte));
}

static void collect(const struct view *v, struct rows *rows)
{
	struct window w[MAX_WINDOWS];
	u32 nr = windows(v, w);
	u32 hand = pte_at_hand(v);

	rows->nr = rows->at = 0;
	for (u32 i = 0; i < nr; i++) {
		u32 table = w[i].first / PTRS_PER_PTE;
		u32 mm = state_table(v->s, table)->mm;

		if (state_table(v->s, table)->pmd)
			add_huge(v, rows, table);
		for (u32 pte = w[i].first; pte <= w[i].last; pte++)
			if (is_shown(v, pte) && va_vma(v->s, mm, pte_va(v->s, pte)) != NONE)
				add_entry(v, rows, pte, hand);
	}
}

/* The entry in pte[] that a word of the state belongs to, or the first below its PMD; or NONE. */
static u32 word_pte(const struct mm_state *s, u32 word)
{
	const u32 words = sizeof(struct table) / sizeof(u32);
	u32 pte = (word - s->at[ARRAY_PTE]) / 2, table = (word - s->at[ARRAY_TABLE]) / words;

	if (word >= s->at[ARRAY_PTE] && pte < s->nr[ARRAY_PTE])
		return pte;
	if (word >= s->at[ARRAY_TABLE] && table < s->nr[ARRAY_TABLE])
		return table * PTRS_PER_PTE;
	return NONE;
}

u32 pte_at_hand(const struct view *v)
{
	const struct task *task = state_task(v->s, v->s->cpu);
	const struct step *step = cursor_step(v->c);
	u32 nr = 0;
	const struct delta *delta = v->moves && step ? trace_deltas(v->c->trace, v->c->pos - 1, &nr)
						      : NULL;

	for (u32 i = 0; i < nr; i++)
		if (word_pte(v->s, delta[i].word) != NONE)
			return word_pte(v->s, delta[i].word);
	if (task->walk_pte != NONE && task->walk_pte < v->s->nr[ARRAY_PTE])
		return task->walk_pte;
	if (step && step->page != NONE && step->page < v->s->nr[ARRAY_PAGE] &&
	    v->app->page_ptes[step->page] < v->app->page_ptes[step->page + 1])
		return v->app->page_pte[v->app->page_ptes[step->page]];
	return NONE;
}

/* "x13", for whole contpte blocks "[16]", "32x[16]", for a huge PMD "[512]". */
static char *extent(const struct row *row, char *buf, size_t size)
{
	bool blocks = row->first % BLOCK == 0 && row->nr % BLOCK == 0;

	buf[0] = '\0';
	if (row->ops->nr_pages > 1)
		snprintf(buf, size, "[512]");
	else if (blocks && row->ops->valid_cont(row->value) && row->nr == BLOCK)
		snprintf(buf, size, "[16]");
	else if (blocks && row->ops->valid_cont(row->value))
		snprintf(buf, size, "%" PRIu32 "x[16]", row->nr / BLOCK);
	else if (row->nr > 1)
		snprintf(buf, size, "x%" PRIu32, row->nr);
	return buf;
}

/* The brackets of a block say that it is contiguous. */
static void drop_cont(char *text)
{
	size_t len = strlen(text);

	if (len > 2 && strcmp(text + len - 2, " C") == 0)
		text[len - 2] = '\0';
}

/* An entry, and what it was before the step, between x and end. */
static void put_value(const struct view *v, const struct area *a, u32 x, u32 y, u32 end,
		      const struct row *row, bool block)
{
	char value[128], old[128];
	u32 room = end > x ? end - x : 0;
	bool run = row->nr > row->ops->nr_pages;

	if (!row->changed) {
		if (a->w >= 76)
			pte_text(row->ops, &v->types, row->value, value, sizeof(value));
		else
			pte_brief(v, row->ops, row->value, run, room + 2 * block, value,
				  sizeof(value));
		if (block)
			drop_cont(value);
		put_cut(a, x, y, end, STYLE_normal, value);
		return;
	}
	pte_brief(v, row->ops, row->value, run, room, value, sizeof(value));
	pte_brief(v, row->ops, row->old, run, room, old, sizeof(old));
	if (strlen(value) + strlen(" was ") + strlen(old) > room) {
		pte_brief(v, row->ops, row->value, run, 0, value, sizeof(value));
		pte_brief(v, row->ops, row->old, run, 0, old, sizeof(old));
	}
	x = put_cut(a, x, y, end, STYLE_changed, value);
	x = put_cut(a, x + 1, y, end, STYLE_dim, "was ");
	put_cut(a, x, y, end, STYLE_old, old);
}

static void draw_row(const struct view *v, const struct area *a, u32 y, const struct row *row)
{
	const struct task *task = state_task(v->s, v->s->cpu);
	char label[64], nr[16];
	u32 x, end = a->w;

	put_mark(a, y, row->changed);
	if (!row->changed && task->walk_pte - row->first < row->nr)
		put_rune(a, 0, y, STYLE_key, '>');
	x = put_text(a, LABEL_COLUMNS, y, STYLE_normal,
		     page_label(v, row->first, row->nr, label, sizeof(label)));
	x = x < VALUE_COLUMN ? VALUE_COLUMN : x + 1;
	extent(row, nr, sizeof(nr));
	if (*nr)
		end = put_right(a, x, y, STYLE_strong, nr) - 1;
	put_value(v, a, x, y, end, row, strchr(nr, '[') != NULL);
}

/* Show the row at hand in the middle of a part that is too small for all. */
static u32 first_row(const struct rows *rows, u32 h, u32 scroll)
{
	u32 first = rows->at > h / 2 ? rows->at - h / 2 : 0;

	if (rows->nr <= h)
		return 0;
	first += scroll;
	return first + h > rows->nr ? rows->nr - h : first;
}

/* Rows left for the runs when the bits of an entry go below them. */
static u32 room_for_rows(u32 h, u32 rows)
{
	u32 room = h > BITS_ROWS + 3 ? h - BITS_ROWS : 3;

	return room < rows && h < rows + LEAST_BITS_ROWS ? room : rows;
}

static void put_hidden(const struct area *a, u32 y, const char *where, u32 nr)
{
	put_format(a, 1, y, STYLE_dim, "%s%" PRIu32, where, nr);
}

void draw_pte(const struct view *v, const struct area *a)
{
	u32 hand = pte_at_hand(v);
	u32 scroll = v->zoom ? v->app->scroll : 0;
	struct rows rows;
	u32 room, first, shown;
	bool bits;

	collect(v, &rows);
	bits = hand != NONE && (v->zoom || a->h > BITS_ROWS || a->h >= rows.nr + LEAST_BITS_ROWS);
	room = bits ? room_for_rows(a->h, rows.nr) : a->h;
	first = first_row(&rows, room, scroll);
	shown = rows.nr - first < room ? rows.nr - first : room;
	for (u32 i = 0; i < shown; i++)
		draw_row(v, a, i, &rows.row[first + i]);
	put_label(v, a, 0, "pte");
	if (first && shown > 1)
		put_hidden(a, 1, "^", first);
	if (rows.nr > first + shown && shown > 2)
		put_hidden(a, shown - 1, "v", rows.nr - first - shown);
	if (bits) {
		u32 gap = a->h >= shown + LEAST_BITS_ROWS + 2;
		struct area rest = area_part(a, 0, shown + gap, a->w, a->h);

		put_bits(v, &rest, hand, shown < rows.nr ? 0 : scroll);
	}
}

u32 most_pte(const struct view *v, u32 width)
{
	u32 nr = v->folio == NONE ? 0 : folio_nr_pages(state_folio(v->s, v->folio));

	(void)width;
	return 14 + (nr < 16 ? nr : 16);
}
