/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/tlb.h"
#include "panes/panes.h"

/* Alike entries of one CPU, one after the other in the address space. */
struct group {
	const struct tlb_entry *first;
	u32 pages, entries;
	bool stale;
};

static const struct tlb_entry *entry_of(const struct view *v, u32 cpu, u32 i)
{
	return state_tlb(v->s, v->s->nr_tlb * cpu + i);
}

static bool belongs(const struct view *v, const struct group *g, const struct tlb_entry *e)
{
	return e->mm == g->first->mm && e->flags == g->first->flags &&
	       e->va == g->first->va + ((u64)g->pages << PAGE_SHIFT) &&
	       e->pfn == g->first->pfn + g->pages && e->span == g->first->span &&
	       tlb_stale(v->s, v->ops, e) == g->stale;
}

/* The next group of a CPU from entry *i on. */
static struct group next_group(const struct view *v, u32 cpu, u32 *i)
{
	u32 nr = state_cpu(v->s, cpu)->nr_tlb;
	struct group g = { .first = entry_of(v, cpu, *i) };

	g.stale = tlb_stale(v->s, v->ops, g.first);
	do {
		g.pages += entry_of(v, cpu, *i)->span;
		g.entries++;
	} while (++*i < nr && belongs(v, &g, entry_of(v, cpu, *i)));
	return g;
}

static u32 put_group(const struct view *v, const struct area *a, u32 x, u32 y, const struct group *g)
{
	u32 pte = va_pte(v->s, g->first->mm, g->first->va);
	char pages[64], text[128];

	if (pte == NONE)
		snprintf(pages, sizeof(pages), "0x%" PRIx64, g->first->va);
	else
		page_label(v, pte, g->pages, pages, sizeof(pages));
	snprintf(text, sizeof(text), "%s %s%s%s", pages,
		 g->first->flags & TLB_WRITABLE ? "RW" : "RO",
		 g->first->flags & TLB_DIRTY ? " D" : "",
		 g->first->span == 16 ? " [16]" : g->first->span > 16 ? " [512]" : "");
	x = put_cut(a, x, y, a->w, g->stale ? STYLE_warn : STYLE_normal, text);
	if (g->stale)
		x = put_cut(a, x + 1, y, a->w, STYLE_warn, "stale");
	return x;
}

static bool cpu_changed(const struct view *v, u32 cpu)
{
	return view_changed_any(v, state_cpu(v->s, cpu), sizeof(struct cpu)) ||
	       view_changed_any(v, entry_of(v, cpu, 0), v->s->nr_tlb * sizeof(struct tlb_entry));
}

static u32 put_cpu(const struct view *v, const struct area *a, u32 x, u32 y, u32 cpu)
{
	u32 nr = state_cpu(v->s, cpu)->nr_tlb;
	u32 i = 0;

	x = put_format(a, x, y, STYLE_label, "cpu%" PRIu32, cpu) + 1;
	if (!nr)
		return put_text(a, x, y, cpu_changed(v, cpu) ? STYLE_changed : STYLE_dim, "empty");
	while (i < nr && x < a->w) {
		struct group g = next_group(v, cpu, &i);

		x = put_group(v, a, x, y, &g) + (i < nr ? 2 : 0);
	}
	if (i < nr && a->w > 3)
		put_format(a, a->w - 3, y, STYLE_dim, " ..");
	return x;
}

/* One row for all CPUs that hold anything; the others are empty. */
static void draw_short(const struct view *v, const struct area *a)
{
	u32 x = 6, empty = 0;
	bool changed = false;

	for (u32 cpu = 0; cpu < v->s->nr[ARRAY_CPU]; cpu++) {
		changed |= cpu_changed(v, cpu);
		if (state_cpu(v->s, cpu)->nr_tlb)
			x = put_cpu(v, a, x, 0, cpu) + 2;
		else
			empty++;
	}
	put_mark(a, 0, changed);
	if (empty == v->s->nr[ARRAY_CPU])
		put_text(a, 6, 0, changed ? STYLE_changed : STYLE_dim, "all empty");
}

/* arm64: TLBIs go out at once and are waited for later; x86: nothing goes out until the flush. */
static void put_flush(const struct view *v, const struct area *a, u32 y)
{
	const struct task *task = state_task(v->s, v->s->cpu);
	u32 mm_index = state_cpu(v->s, v->s->cpu)->mm;
	bool arm64 = v->ops->has_cont;
	char text[160];
	u32 noted = 0;

	if (mm_index < v->s->nr[ARRAY_MM])
		noted = state_mm(v->s, mm_index)->tlb_pending - state_mm(v->s, mm_index)->tlb_flushed;
	put_text(a, 1, y, STYLE_label, "flush");
	put_mark(a, y, view_changed_any(v, &task->ubc_cpumask, sizeof(u64)) ||
		       view_changed_any(v, &task->ubc_flush_required, 3 * sizeof(u32)));
	if (!task->ubc_flush_required) {
		put_text(a, LABEL_COLUMNS, y, STYLE_dim, "nothing pending");
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu32 " noted, %s%s", noted,
		 task->ubc_writable ? "writable, " : "", arm64 ? "no DSB yet" : "no IPI yet");
	if (!arm64 && a->w >= 50)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " to cpus 0x%" PRIx64,
			 task->ubc_cpumask);
	put_cut(a, LABEL_COLUMNS, y, a->w, STYLE_warn, text);
}

static void put_generations(const struct view *v, const struct area *a, u32 y)
{
	u32 x = LABEL_COLUMNS;
	u32 mm = state_cpu(v->s, v->s->cpu)->mm;

	if (v->ops->has_cont || mm >= v->s->nr[ARRAY_MM])
		return;
	put_mark(a, y, view_changed64(v, &state_mm(v->s, mm)->tlb_gen, NULL));
	x = put_format(a, x, y, STYLE_normal, "tlb_gen: mm %" PRIu64, state_mm(v->s, mm)->tlb_gen);
	for (u32 cpu = 0; cpu < v->s->nr[ARRAY_CPU] && x < a->w; cpu++)
		x = put_format(a, x, y, STYLE_dim, "  cpu%" PRIu32 " %" PRIu64 "%s", cpu,
			       state_cpu(v->s, cpu)->tlb_gen,
			       state_cpu(v->s, cpu)->lazy ? " lazy" : "");
}

void draw_tlb(const struct view *v, const struct area *a)
{
	u32 cpus = v->s->nr[ARRAY_CPU];
	u32 y = 0;

	if (a->h < 1 + cpus || cpus == 0) {
		draw_short(v, a);
		y = 1;
	} else {
		for (; y < cpus; y++) {
			put_cpu(v, a, 6, y, y);
			put_mark(a, y, cpu_changed(v, y));
		}
	}
	put_label(v, a, 0, "tlb");
	if (y < a->h)
		put_flush(v, a, y++);
	if (y < a->h)
		put_generations(v, a, y);
}

u32 most_tlb(const struct view *v, u32 width)
{
	(void)width;
	return v->s->nr[ARRAY_CPU] + (v->ops->has_cont ? 1 : 2);
}
