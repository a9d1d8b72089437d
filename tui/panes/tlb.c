/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/tlb.h"
#include "panes/panes.h"

/* Alike entries of one CPU, one after the other in the address space. */
struct group {
	const struct tlb_entry *first;
	u32 pages;
	bool stale;
};

#define MAX_SORTED 512		/* entries of a CPU that are looked at */

static const struct tlb_entry *entry_of(const struct view *v, u32 cpu, u32 i)
{
	return state_tlb(v->s, v->s->nr_tlb * cpu + i);
}

static bool belongs(const struct view *v, const struct group *g, const struct tlb_entry *e)
{
	return e->mm == g->first->mm && e->flags == g->first->flags &&
	       e->va == g->first->va + ((u64)g->pages << PAGE_SHIFT) &&
	       e->pfn == g->first->pfn + g->pages && e->span == g->first->span &&
	       tlb_stale(v->s, v->lane->m.arch, e) == g->stale;
}

static int by_address(const void *a, const void *b)
{
	const struct tlb_entry *x = *(const struct tlb_entry *const *)a;
	const struct tlb_entry *y = *(const struct tlb_entry *const *)b;

	if (x->mm != y->mm)
		return x->mm < y->mm ? -1 : 1;
	return x->va < y->va ? -1 : x->va > y->va;
}

/* A CPU's entries in the order of their addresses; returns how many. */
static u32 sort_entries(const struct view *v, u32 cpu, const struct tlb_entry *sorted[MAX_SORTED])
{
	u32 nr = state_cpu(v->s, cpu)->nr_tlb;

	nr = nr < MAX_SORTED ? nr : MAX_SORTED;
	for (u32 i = 0; i < nr; i++)
		sorted[i] = entry_of(v, cpu, i);
	qsort(sorted, nr, sizeof(*sorted), by_address);
	return nr;
}

/* The group that begins with sorted[*i]; *i moves past it. */
static struct group next_group(const struct view *v, const struct tlb_entry *const *sorted, u32 nr,
			       u32 *i)
{
	struct group g = { .first = sorted[*i] };

	g.stale = tlb_stale(v->s, v->lane->m.arch, g.first);
	do {
		g.pages += sorted[*i]->span;
	} while (++*i < nr && belongs(v, &g, sorted[*i]));
	return g;
}

static u32 put_group(const struct view *v, const struct area *a, u32 x, u32 y,
		     const struct group *g)
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
	const struct tlb_entry *sorted[MAX_SORTED];
	u32 nr = sort_entries(v, cpu, sorted);
	u32 i = 0;

	x = put_format(a, x, y, STYLE_label, "cpu%" PRIu32, cpu) + 1;
	if (!nr)
		return put_text(a, x, y, cpu_changed(v, cpu) ? STYLE_changed : STYLE_dim, "empty");
	while (i < nr && x < a->w) {
		struct group g = next_group(v, sorted, nr, &i);

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

/* What the steps since the last deferred flush have left pending. */
struct pending {
	u32 noted;	/* unmaps, of a page or a run each */
	bool more;	/* and those before what is recorded */
	bool waited;	/* arm64: a DSB ISH came after the last TLBI */
	bool sent;	/* x86: the deferred flush has reached a CPU */
};

static bool under(const struct view *v, const struct step *step, enum event function)
{
	const struct call_path *path = trace_path(v->c->trace, step->path);

	for (u32 i = 0; i < path->nr; i++)
		if (path->function[i] == function)
			return true;
	return false;
}

static struct pending look_back(const struct view *v)
{
	struct pending p = { .noted = 0 };
	bool invalidated = false;

	for (u32 i = v->c->pos; i-- > trace_first(v->c->trace);) {
		const struct step *step = trace_step(v->c->trace, i);

		switch (step->event) {
		case EV_tlb_flush_done:
			return p;
		case EV_tlb_flush_pending:
			p.noted++;
			break;
		case EV_tlbi_page:
		case EV_tlbi_range:
		case EV_tlbi_asid:
			invalidated = true;
			break;
		case EV_dsb_ish:
			p.waited |= !invalidated;
			break;
		case EV_ipi_sent:
		case EV_cr3_write:
		case EV_invlpgb:
			p.sent |= !p.noted && under(v, step, EV_arch_tlbbatch_flush);
		}
	}
	p.more = state_task(trace_start(v->c->trace), v->s->cpu)->ubc_flush_required;
	return p;
}

/* Does a TLB keep what a TLBI of this CPU was about? Then no DSB has waited for it. */
static bool keeps_invalidated(const struct view *v)
{
	for (u32 cpu = 0; cpu < v->s->nr[ARRAY_CPU]; cpu++)
		for (u32 i = 0; i < state_cpu(v->s, cpu)->nr_tlb; i++)
			if (entry_of(v, cpu, i)->invalidated_by >> v->s->cpu & 1)
				return true;
	return false;
}

static const char *flush_stage(const struct view *v, const struct pending *p)
{
	if (v->ops->has_cont)
		return p->waited && !keeps_invalidated(v) ? "DSB done, not closed" : "no DSB yet";
	if (p->sent)
		return "flushing now";
	return v->lane->m.features >> FEATURE_invlpgb & 1 ? "not sent yet" : "no IPI yet";
}

/* arm64: TLBIs go out at once and are waited for later; x86: nothing goes out until the flush. */
static void put_flush(const struct view *v, const struct area *a, u32 y)
{
	const struct task *task = state_task(v->s, v->s->cpu);
	const char *writable = task->ubc_writable ? "writable, " : "";
	struct pending p;
	const char *stage;
	char text[160];

	put_text(a, 1, y, STYLE_label, "flush");
	put_mark(a, y, view_changed_any(v, &task->ubc_cpumask, sizeof(u64)) ||
		       view_changed_any(v, &task->ubc_flush_required, 3 * sizeof(u32)));
	if (!task->ubc_flush_required) {
		put_text(a, LABEL_COLUMNS, y, STYLE_dim, "nothing pending");
		return;
	}
	p = look_back(v);
	stage = flush_stage(v, &p);
	if (strlen(stage) > 12 && a->w < 50)
		writable = "";
	snprintf(text, sizeof(text), "%" PRIu32 "%s noted, %s%s", p.noted, p.more ? "+" : "",
		 writable, stage);
	if (!v->ops->has_cont && a->w >= 54)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", cpus 0x%" PRIx64,
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

/* Zoomed: a row a group, with its addresses. */
static u32 list_cpu(const struct view *v, const struct area *a, u32 y, u32 cpu)
{
	const struct tlb_entry *sorted[MAX_SORTED];
	u32 nr = sort_entries(v, cpu, sorted);

	put_mark(a, y, cpu_changed(v, cpu));
	put_format(a, 6, y, STYLE_label, "cpu%" PRIu32, cpu);
	put_format(a, 12, y++, STYLE_dim, "%" PRIu32 " of %" PRIu32 " entries",
		   state_cpu(v->s, cpu)->nr_tlb, v->s->nr_tlb);
	for (u32 i = 0; i < nr && y < a->h;) {
		struct group g = next_group(v, sorted, nr, &i);

		put_group(v, a, LABEL_COLUMNS, y++, &g);
		put_format(a, LABEL_COLUMNS + 2, y++, STYLE_dim, "va 0x%" PRIx64 " pfn 0x%" PRIx32,
			   g.first->va, g.first->pfn);
	}
	return y;
}

void draw_tlb(const struct view *v, const struct area *a)
{
	u32 cpus = v->s->nr[ARRAY_CPU];
	u32 y = 0;

	if (v->zoom) {
		for (u32 cpu = 0; cpu < cpus && y + 2 < a->h; cpu++)
			y = list_cpu(v, a, y, cpu);
	} else if (a->h < 1 + cpus || cpus == 0) {
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
