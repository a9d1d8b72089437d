/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "panes/panes.h"

/* Seldom the point: left out first when there is no room. */
#define DULL (1u << PG_anon | 1u << PG_uptodate | 1u << PG_swapbacked | 1u << PG_zero_filled | \
	      1u << PG_isolated)

static u32 flags_width(u32 flags)
{
	u32 w = 0;

	for (u32 i = 0; i < NR_FOLIO_FLAGS; i++)
		if (flags >> i & 1)
			w += (u32)strlen(folio_flag_names[i]) + 1;
	return w;
}

static void draw_flags(const struct view *v, const struct area *a, u32 x, const struct folio *f)
{
	u32 old;
	bool changed = view_changed(v, &f->flags, &old);
	u32 delta = changed ? old ^ f->flags : 0;
	u32 shown = f->flags | delta;

	if (x + flags_width(shown) + 2 > a->w)
		shown &= ~DULL | delta;
	put_mark(a, 0, changed);
	for (u32 i = 0; i < NR_FOLIO_FLAGS; i++) {
		bool set = f->flags >> i & 1;
		char word[32];

		if (!(shown >> i & 1))
			continue;
		snprintf(word, sizeof(word), "%s%s", delta >> i & 1 ? set ? "+" : "-" : "",
			 folio_flag_names[i]);
		x = put_cut(a, x, 0, a->w, delta >> i & 1 ? STYLE_changed : STYLE_normal, word) + 1;
	}
}

/* One sum, in ever fewer columns until it fits. */
struct sum {
	const char *words[3][6];	/* by width */
	u32 nr[6];
	u32 parts;
};

static void add_part(struct sum *sum, u32 nr, const char *wide, const char *narrow,
		     const char *least)
{
	if (!nr)
		return;
	sum->nr[sum->parts] = nr;
	sum->words[0][sum->parts] = wide;
	sum->words[1][sum->parts] = narrow;
	sum->words[2][sum->parts++] = least;
}

static char *sum_text(const struct sum *sum, u32 form, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (u32 i = 0; i < sum->parts && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%" PRIu32 " %s",
					!i ? "" : form == 2 ? "+" : " + ", sum->nr[i],
					sum->words[form][i]);
	return buf;
}

static void draw_refcount(const struct view *v, const struct area *a, u32 y, const struct folio *f)
{
	u32 cache = folio_cache_refs(f);
	u32 pins = f->pincount * folio_pin_refs(f);
	u32 others = f->gup > pins ? f->gup - pins : 0;
	u32 known = f->mapcount + cache + folio_isolated(f) + f->held + f->gup;
	u32 extra = f->refcount > known ? f->refcount - known : 0;
	struct sum sum = { .parts = 0 };
	char text[120], pin[32];
	u32 old, x, form = 0;
	bool changed = view_changed(v, &f->refcount, &old);

	add_part(&sum, f->mapcount, f->mapcount == 1 ? "map" : "maps", "maps", "maps");
	add_part(&sum, cache, folio_flag(f, PG_pagecache) ? "page cache" : "swap cache", "cache",
		 "cache");
	add_part(&sum, folio_isolated(f), "isolated", "isolated", "isol");
	add_part(&sum, f->held, "held", "held", "held");
	if (folio_pin_refs(f) == 1)
		snprintf(pin, sizeof(pin), f->pincount == 1 ? "pin" : "pins");
	else
		snprintf(pin, sizeof(pin), "of %" PRIu32 " pin%s", f->pincount,
			 f->pincount == 1 ? "" : "s");
	add_part(&sum, pins, pin, pin, pin);
	add_part(&sum, others, others == 1 ? "other ref" : "other refs", "other", "other");
	if (f->entire_mapcount)
		add_part(&sum, extra, "for maps to come", "to come", "to come");
	else
		add_part(&sum, extra, "not yet dropped", "to drop", "to drop");
	put_mark(a, y, changed);
	put_text(a, 1, y, STYLE_label, "ref");
	x = put_format(a, 5, y, changed ? STYLE_changed : STYLE_strong, "%" PRIu32, f->refcount);
	if (changed) {
		x = put_text(a, x + 1, y, STYLE_dim, "was ");
		x = put_format(a, x, y, STYLE_old, "%" PRIu32, old);
	}
	if (!sum.parts)
		return;
	while (x + 3 + text_width(sum_text(&sum, form, text, sizeof(text))) > a->w && form < 2)
		form++;
	x = put_text(a, x, y, STYLE_dim, x + 3 + text_width(text) > a->w ? "=" : " = ");
	x = put_cut(a, x, y, a->w, STYLE_normal, text);
	if (f->refcount < known)
		put_format(a, x, y, STYLE_warn, " - %" PRIu32 " taken early", known - f->refcount);
}

/* How many PTEs map the folio's pages now, and the pages whose count says otherwise. */
struct mapped {
	u32 ptes;
	u32 first, last, nr;	/* pages that differ */
	bool counted;		/* they are counted and not mapped; else the other way round */
	bool ahead;		/* they are about to be mapped: the count comes first */
};

static struct mapped count_mapped(const struct view *v, const struct folio *f)
{
	struct mapped m = { .first = NONE, .ahead = f->entire_mapcount > 0 };
	u64 pfn;

	for (u32 i = 0; i < folio_nr_pages(f); i++) {
		u32 page = f->page + i, nr = 0;
		u32 counted = state_page(v->s, page)->mapcount;

		for (u32 k = v->app->page_ptes[page]; k < v->app->page_ptes[page + 1]; k++) {
			pte_t pte = *state_pte(v->s, v->app->page_pte[k]);

			nr += v->ops->present(pte) && v->ops->pfn(pte) == f->pfn + i;
			m.ahead |= softleaf_migration_pfn(v->ops, &v->types, pte, &pfn);
		}
		m.ptes += nr;
		if (nr == counted)
			continue;
		if (m.first == NONE)
			m.first = i;
		m.last = i;
		m.nr++;
		m.counted = counted > nr;
	}
	return m;
}

static void draw_mapcount(const struct view *v, const struct area *a, u32 y, const struct folio *f)
{
	struct mapped m = count_mapped(v, f);
	char pages[48], text[120];
	u32 old, x;
	bool changed = view_changed(v, &f->mapcount, &old);

	put_mark(a, y, changed);
	put_text(a, 1, y, STYLE_label, "map");
	x = put_format(a, 5, y, changed ? STYLE_changed : STYLE_strong, "%" PRIu32, f->mapcount);
	if (changed) {
		x = put_text(a, x + 1, y, STYLE_dim, "was ");
		x = put_format(a, x, y, STYLE_old, "%" PRIu32, old);
	}
	if (f->entire_mapcount)
		x = put_format(a, x, y, STYLE_normal, " = %" PRIu32 " pmd%s", f->entire_mapcount,
			       f->entire_mapcount == 1 ? "" : "s");
	if (!m.nr) {
		if (m.ptes)
			put_format(a, x, y, STYLE_normal, " %c %" PRIu32 " pte%s",
				   f->entire_mapcount ? '+' : '=', m.ptes, m.ptes == 1 ? "" : "s");
		return;
	}
	if (m.first == m.last)
		snprintf(pages, sizeof(pages), "page %" PRIu32, m.first);
	else
		snprintf(pages, sizeof(pages), "%" PRIu32 "..%" PRIu32 "%s", m.first, m.last,
			 m.nr == m.last - m.first + 1 ? "" : " partly");
	snprintf(text, sizeof(text), ", %" PRIu32 " pte%s: %s %s", m.ptes, m.ptes == 1 ? "" : "s",
		 pages, !m.counted ? "not counted yet" : m.ahead ? "counted already" :
								    "still counted");
	put_cut(a, x, y, a->w, STYLE_warn, text);
}

static void draw_exclusive(const struct view *v, const struct area *a, u32 y, const struct folio *f)
{
	u32 nr = 0, x;

	for (u32 i = 0; i < folio_nr_pages(f); i++)
		nr += state_page(v->s, f->page + i)->anon_exclusive;
	put_mark(a, y, false);
	for (u32 i = 0; i < folio_nr_pages(f); i++)
		if (view_changed_any(v, &state_page(v->s, f->page + i)->anon_exclusive, 1))
			put_mark(a, y, true);
	put_text(a, 1, y, STYLE_label, "excl");
	x = put_format(a, 6, y, STYLE_normal, "%" PRIu32 " of %" PRIu32 " pages", nr,
		       folio_nr_pages(f));
	x = put_text(a, x + 2, y, STYLE_label, "pins");
	put_format(a, x + 1, y, STYLE_normal, "%" PRIu32, f->pincount);
}

/* What an mm counts; where files are mapped too, what it has not is left out. */
static void draw_mm(const struct view *v, const struct area *a, u32 y)
{
	const bool files = v->s->has_shmem || v->s->has_file;

	for (u32 i = 0; i < v->s->nr[ARRAY_MM]; i++) {
		const struct mm *mm = state_mm(v->s, i);
		const struct { const char *name; const u32 *value; bool always; } counter[] = {
			{ "anonpages", &mm->anonpages, !files },
			{ "swapents", &mm->swapents, !files },
			{ "shmem", &mm->shmempages, v->s->has_shmem },
			{ "file", &mm->filepages, v->s->has_file },
		};
		u32 x = put_format(a, 1, y + i, STYLE_label, "mm %s",
				   v->app->names.mm(v->app->names.ctx, i));
		bool any = false;

		for (u32 k = 0; k < NR_OF(counter); k++) {
			bool changed = view_changed(v, counter[k].value, NULL);

			any |= changed;
			if (changed || *counter[k].value || counter[k].always)
				x = put_format(a, x + 2, y + i, STYLE_normal, "%s %" PRIu32,
					       counter[k].name, *counter[k].value);
		}
		put_mark(a, y + i, any);
	}
}

static void draw_shape(const struct view *v, const struct area *a, u32 y, const struct folio *f)
{
	static const char *const lists[NR_LISTS] = {
		[LRU_INACTIVE_ANON] = "inactive anon LRU", [LRU_ACTIVE_ANON] = "active anon LRU",
		[LRU_INACTIVE_FILE] = "inactive file LRU", [LRU_ACTIVE_FILE] = "active file LRU",
		[LRU_UNEVICTABLE] = "unevictable LRU", [LIST_FOLIO_LIST] = "folio_list",
		[LIST_NODE] = "node_folio_list", [LIST_RET] = "ret_folios",
		[LIST_PAGEOUT] = "waiting for the flush", [LIST_FREE] = "free_folios",
		[LIST_HOLD] = "l_hold", [LIST_INACTIVE] = "l_inactive", [LIST_ACTIVE] = "l_active",
		[LIST_PUT] = "put_folios",
	};
	const char *list = f->list < NR_LISTS ? lists[f->list] : "no list";
	char text[160];

	snprintf(text, sizeof(text), "order %" PRIu32 ", %" PRIu32 " KiB, pfn 0x%" PRIx32 ", on %s",
		 f->order, 4u << f->order, f->pfn,
		 list);
	if (1 + strlen(text) > a->w)
		snprintf(text, sizeof(text), "order %" PRIu32 ", pfn 0x%" PRIx32 ", %s", f->order,
			 f->pfn, list);
	put_mark(a, y, view_changed_any(v, &f->list, sizeof(f->list)));
	put_cut(a, 1, y, a->w, STYLE_normal, text);
}

/* What a page's PTE is now: the first one, should several map it. */
static const char *pte_word(const struct view *v, u32 page)
{
	struct leaf leaf;
	struct pte_desc d;

	if (v->app->page_ptes[page] == v->app->page_ptes[page + 1])
		return "never mapped";
	leaf = leaf_of(v->s, v->lane->m.arch, v->app->page_pte[v->app->page_ptes[page]]);
	leaf.ops->decode(*leaf.entry, &v->types, &d);
	switch (d.kind) {
	case PTE_NONE: return "none";
	case PTE_PRESENT: return leaf.ops->nr_pages > 1 ? "huge PMD" : "mapped";
	case PTE_INVALID: return "invalid";
	case PTE_PROTNONE: return "prot-none";
	default: return d.name;
	}
}

static bool same_page_row(const struct view *v, u32 a, u32 b)
{
	const struct page *x = state_page(v->s, a), *y = state_page(v->s, b);

	return x->mapcount == y->mapcount && x->anon_exclusive == y->anon_exclusive &&
	       strcmp(pte_word(v, a), pte_word(v, b)) == 0 &&
	       view_changed_any(v, x, sizeof(*x)) == view_changed_any(v, y, sizeof(*y));
}

/* Zoomed: the folio page by page, runs of alike ones in one row. */
static void draw_pages(const struct view *v, const struct area *a, u32 y, const struct folio *f)
{
	put_text(a, LABEL_COLUMNS, y++, STYLE_label, "pages    map  excl  pte");
	for (u32 i = 0, n; i < folio_nr_pages(f) && y < a->h; i += n, y++) {
		const struct page *page = state_page(v->s, f->page + i);
		bool changed = view_changed_any(v, page, sizeof(*page));

		for (n = 1; i + n < folio_nr_pages(f); n++)
			if (!same_page_row(v, f->page + i, f->page + i + n))
				break;
		put_mark(a, y, changed);
		if (n > 1)
			put_format(a, LABEL_COLUMNS, y, STYLE_normal, "%" PRIu32 "..%" PRIu32, i,
				   i + n - 1);
		else
			put_format(a, LABEL_COLUMNS, y, STYLE_normal, "%" PRIu32, i);
		put_format(a, LABEL_COLUMNS + 9, y, changed ? STYLE_changed : STYLE_normal,
			   "%3" PRIu32 "  %4s", page->mapcount, page->anon_exclusive ? "yes" : "-");
		put_cut(a, LABEL_COLUMNS + 20, y, a->w, STYLE_normal, pte_word(v, f->page + i));
	}
}

void draw_folio(const struct view *v, const struct area *a)
{
	const struct folio *f;
	char buf[32], label[48];

	if (v->folio == NONE) {
		put_label(v, a, 0, "folio");
		return;
	}
	f = state_folio(v->s, v->folio);
	if (a->h == 2) {
		draw_refcount(v, a, 0, f);
		draw_mapcount(v, a, 1, f);
		return;
	}
	snprintf(label, sizeof(label), "folio %.30s",
		 v->app->names.folio(v->app->names.ctx, v->folio, buf));
	put_label(v, a, 0, label);
	if (f->refcount)
		draw_flags(v, a, (u32)strlen(label) + 2, f);
	else
		put_text(a, (u32)strlen(label) + 2, 0, STYLE_dim, "freed");
	if (a->h > 1)
		draw_refcount(v, a, 1, f);
	if (a->h > 2)
		draw_mapcount(v, a, 2, f);
	if (a->h > 3)
		draw_exclusive(v, a, 3, f);
	if (a->h > 4)
		draw_shape(v, a, 4, f);
	if (a->h > 5)
		draw_mm(v, a, 5);
	if (v->zoom)
		draw_pages(v, a, 6 + v->s->nr[ARRAY_MM], f);
}

u32 most_folio(const struct view *v, u32 width)
{
	(void)width;
	return 5 + v->s->nr[ARRAY_MM];
}
