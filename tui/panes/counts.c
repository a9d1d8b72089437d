/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bill so far: a column a counter, a row a lane, and how they compare.
 *
 *    counts      pte_read  pte_xchg  pte_store  contpte_unfold
 *    unbatched         22        19         18               1
 *    batched           10        16          0               0
 *    so far         2.20x     1.19x       gone            gone
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "panes/panes.h"

static const char *const names[NR_COUNTERS] = {
#define COUNTER(id, text) [COUNT_##id] = #id,
#include "core/counters.def"
#undef COUNTER
};

static const char *const texts[NR_COUNTERS] = {
#define COUNTER(id, text) [COUNT_##id] = text,
#include "core/counters.def"
#undef COUNTER
};

/* The costs that the series is about come first, whatever their place in the table. */
static const enum counter first_counters[] = {
	COUNT_pte_read, COUNT_pte_xchg, COUNT_pte_store, COUNT_contpte_unfold, COUNT_tlbi_page,
	COUNT_tlbi_range, COUNT_dsb_ish, COUNT_tlb_gen_inc, COUNT_ipi_sent, COUNT_tlb_flush,
	COUNT_walk_step, COUNT_swap_dup_lock, COUNT_rmap_remove, COUNT_ref_op, COUNT_mapcount_op,
};

/* Counts at the end of the run tell which counters matter here: columns stay where they are. */
static bool is_used(const struct lane_set *set, enum counter counter)
{
	for (u32 i = 0; i < set->nr; i++)
		if (set->app->run->lanes[set->lane[i]].m.s->count[counter])
			return true;
	return false;
}

static bool is_first(enum counter counter)
{
	for (u32 i = 0; i < NR_OF(first_counters); i++)
		if (first_counters[i] == counter)
			return true;
	return false;
}

/* Do lanes of one architecture end with different counts? */
static bool tells_apart(const struct lane_set *set, enum counter counter)
{
	for (u32 i = 0; i < set->nr; i++)
		for (u32 k = 0; k < i; k++) {
			const struct lane *a = &set->app->run->lanes[set->lane[i]];
			const struct lane *b = &set->app->run->lanes[set->lane[k]];

			if (a->m.arch == b->m.arch &&
			    a->m.s->count[counter] != b->m.s->count[counter])
				return true;
		}
	return false;
}

static u32 add_counters(const struct lane_set *set, enum counter *counter, u32 nr, u32 max,
			bool apart)
{
	for (u32 i = 0; i < NR_OF(first_counters) && nr < max; i++)
		if (is_used(set, first_counters[i]) && tells_apart(set, first_counters[i]) == apart)
			counter[nr++] = first_counters[i];
	for (u32 i = 0; i < NR_COUNTERS && nr < max; i++)
		if (is_used(set, (enum counter)i) && !is_first((enum counter)i) &&
		    tells_apart(set, (enum counter)i) == apart)
			counter[nr++] = (enum counter)i;
	return nr;
}

/* Those that tell the lanes apart come first. */
u32 telling_counters(const struct lane_set *set, enum counter *counter, u32 max)
{
	u32 nr = add_counters(set, counter, 0, max, true);

	return add_counters(set, counter, nr, max, false);
}

static u64 count_of(const struct lane_set *set, u32 i, enum counter counter)
{
	return app_cursor(set->app, set->lane[i])->live->count[counter];
}

/* One of the two lanes may be ahead: only at the end of both it is the ratio. */
static const char *ratio_label(const struct lane_set *set, u32 i)
{
	for (u32 k = i; k < i + 2; k++) {
		if (app_cursor(set->app, set->lane[k])->pos < app_steps(set->app, set->lane[k]))
			return "so far";
	}
	return "ratio";
}

/* Lane i's count, right-aligned before end. */
static void put_count(const struct lane_set *set, const struct area *a, u32 end, u32 y, u32 i,
		      enum counter counter)
{
	const struct cursor *c = app_cursor(set->app, set->lane[i]);
	bool changed = app_moves(set->app, set->lane[i]) &&
		       cursor_changed64(c, &c->live->count[counter], NULL);
	char text[24];
	u32 w = (u32)snprintf(text, sizeof(text), "%" PRIu64, count_of(set, i, counter));
	u32 x = end > w ? end - w : 0;

	put_text(a, x, y, changed ? STYLE_changed : STYLE_normal, text);
	if (changed && x)
		put_rune(a, x - 1, y, STYLE_changed, '*');
}

static void put_ratio(const struct lane_set *set, const struct area *a, u32 end, u32 y, u32 i,
		      enum counter counter)
{
	char buf[48];
	const char *text = ratio_text(count_of(set, i, counter), count_of(set, i + 1, counter),
				      buf, sizeof(buf));
	u32 w = (u32)strlen(text);

	put_text(a, end > w ? end - w : 0, y, STYLE_strong, text);
}

static u32 label_width(const struct lane_set *set)
{
	u32 w = 8;

	for (u32 i = 0; i < set->nr; i++) {
		u32 l = (u32)strlen(lane_label(set, i)) + 2;

		w = l > w ? l : w;
	}
	return w;
}

/* The row of lane i below the heads: after each two lanes comes their ratio. */
static u32 lane_row(u32 i)
{
	return 1 + i + i / 2;
}

/* As many columns as fit, from counter k on; returns how many, 0 when there is no room. */
static u32 draw_band(const struct lane_set *set, const struct area *a, u32 y,
		     const enum counter *counter, u32 nr)
{
	u32 x = label_width(set);
	u32 k;

	for (u32 i = 0; i < set->nr; i++)
		put_text(a, 1, y + lane_row(i), STYLE_lane, lane_label(set, i));
	for (u32 i = 0; i + 1 < set->nr; i += 2)
		put_text(a, 1, y + lane_row(i) + 2, STYLE_dim, ratio_label(set, i));
	for (k = 0; k < nr; k++) {
		u32 w = (u32)strlen(names[counter[k]]);
		u32 end = x + (w < 6 ? 6 : w) + 2;

		if (end > a->w)
			break;
		put_text(a, end - w, y, STYLE_label, names[counter[k]]);
		for (u32 i = 0; i < set->nr; i++)
			put_count(set, a, end, y + lane_row(i), i, counter[k]);
		for (u32 i = 0; i + 1 < set->nr; i += 2)
			put_ratio(set, a, end, y + lane_row(i) + 2, i, counter[k]);
		x = end;
	}
	return k;
}

/* Zoomed: a row a counter, with what it counts. */
static void draw_list(const struct lane_set *set, const struct area *a)
{
	enum counter counter[NR_COUNTERS];
	u32 nr = telling_counters(set, counter, NR_COUNTERS);
	u32 first = set->app->scroll < nr ? set->app->scroll : nr;
	u32 x = 16;

	for (u32 i = 0; i < set->nr; i++) {
		const char *label = lane_label(set, i);

		x += (u32)strlen(label) + 2;
		put_text(a, x - (u32)strlen(label), 0, STYLE_lane, label);
		for (u32 k = first; k < nr; k++)
			put_count(set, a, x, 1 + k - first, i, counter[k]);
	}
	if (set->nr > 1)
		put_text(a, x + 9 - (u32)strlen(ratio_label(set, 0)), 0, STYLE_dim,
			 ratio_label(set, 0));
	for (u32 k = first; k < nr; k++) {
		put_text(a, 1, 1 + k - first, STYLE_label, names[counter[k]]);
		if (set->nr > 1)
			put_ratio(set, a, x + 9, 1 + k - first, 0, counter[k]);
		put_cut(a, x + 11, 1 + k - first, a->w, STYLE_dim, texts[counter[k]]);
	}
}

void draw_counts(const struct lane_set *set, const struct area *a, bool zoom)
{
	enum counter counter[NR_COUNTERS];
	u32 nr = telling_counters(set, counter, NR_COUNTERS);
	u32 rows = 1 + set->nr + set->nr / 2;
	u32 k = 0;

	if (zoom) {
		draw_list(set, a);
		return;
	}
	for (u32 y = 0; y < a->h && k < nr; y += rows) {
		u32 n = draw_band(set, a, y, counter + k, nr - k);

		if (!n)
			break;
		k += n;
	}
}
