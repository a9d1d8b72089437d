/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must hold for any scenario, whoever wrote it: the invariants after every step,
 * counting and recording leave the same, rewinding leads to the start, seeking anywhere is
 * stepping there, every step can be told; and batched and unbatched end alike, except
 *
 *	- where an unmap was undone: the one had converted more than the other by then, young
 *	  and dirty spread over a run, and arm64 may have unfolded a block for good
 *	- where one writes after a flush for several folios: in the order of LRU lists; and in which
 *	  slots were taken where others were freed before, as it has them in use for longer
 *	- where an operation came in the middle of an unmap, or at another moment of it
 *	- in soft-dirty on x86-64: whoever clears a run sets dirty in its first entry if any
 *	  was, by pte_mkdirty(), and that sets soft-dirty too; and in how many entries that are
 *	  alike but for it are swapped in together afterwards
 *	- in generations, which count flushes
 *	- in what a TLB holds while a flush is still pending, or a TLBI under way
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/tlb.h"
#include "case.h"
#include "names.h"
#include "scenario/compare.h"
#include "trace/describe.h"

#define SEEKS 16

__attribute__((format(printf, 3, 4))) static bool bad(struct finding *f, const char *kind,
						      const char *format, ...)
{
	va_list args;

	snprintf(f->kind, sizeof(f->kind), "%s", kind);
	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
	return false;
}

/* A world in which an invariant is broken from the start proves nothing. */
static bool invariants_hold(const struct run *run, struct finding *f)
{
	for (u32 i = 0; i < run->nr_lanes; i++) {
		const struct lane *lane = &run->lanes[i];
		char kind[8];

		if (!lane->invariant.text[0] || lane->invariant_step == 0)
			continue;
		snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(lane->invariant.text, ":"),
			 lane->invariant.text);
		return bad(f, kind, "%s step %" PRIu32 ": %s\nfolioscope check FILE",
			   lane->spec->name, lane->invariant_step, lane->invariant.text);
	}
	return true;
}

static bool recorded_is_counted(const struct run *counted, const struct run *recorded,
				struct finding *f)
{
	for (u32 i = 0; i < counted->nr_lanes; i++) {
		const struct lane *a = &counted->lanes[i], *b = &recorded->lanes[i];

		if (a->steps != b->steps || b->steps != trace_nr_steps(b->trace))
			return bad(f, "recording", "%s: %llu steps counted, %llu recorded",
				   a->spec->name, (unsigned long long)a->steps,
				   (unsigned long long)b->steps);
		if (memcmp(a->words, b->words, a->m.s->words * sizeof(u32)) != 0)
			return bad(f, "recording", "%s: counted and recorded end states differ",
				   a->spec->name);
	}
	return true;
}

static u64 hash(const struct cursor *c)
{
	u64 h = 14695981039346656037u;

	for (u32 i = 0; i < c->live->words; i++)
		h = (h ^ c->words[i]) * 1099511628211u;
	return h;
}

static void ignore_change(void *ctx, const struct change *change)
{
	*(size_t *)ctx += strlen(change->what) + strlen(change->old) + strlen(change->new);
}

/* A step can be told: a sentence, and what it changed. */
static bool is_told(const struct cursor *c, const struct names *names)
{
	char text[1024];
	size_t letters = 0;

	describe_step(c, names, ignore_change, &letters);
	narrate(c, names, text, sizeof(text));
	return !c->pos || (strlen(text) > 2 && !strchr(text, '{'));
}

/* Positions to go to, in any order, and what the state is there. */
struct seek {
	u32 pos;
	u64 hash;
};

static bool seek_anywhere(const struct lane *lane, const struct names *names, struct cursor *c,
			  const struct seek *seek, struct finding *f)
{
	for (u32 i = 0; i < SEEKS; i++) {
		cursor_seek(c, seek[i].pos);
		if (hash(c) != seek[i].hash)
			return bad(f, "seeking", "%s: seeking to %" PRIu32 " is not stepping there",
				   lane->spec->name, seek[i].pos);
		if (!is_told(c, names))
			return bad(f, "narration", "%s: step %" PRIu32 " cannot be told",
				   lane->spec->name, seek[i].pos);
	}
	return true;
}

/* Step to the end and look at the state on the way wherever we shall want to be again. */
static void step_through(struct cursor *c, u32 nr, struct seek *seek)
{
	u32 seed = nr;

	for (u32 i = 0; i < SEEKS; i++) {
		seed = seed * 1664525 + 1013904223;
		seek[i].pos = (u32)((u64)seed * (nr + 1) >> 32);
	}
	for (u32 pos = 0; pos <= nr; pos++) {
		cursor_seek(c, pos);
		for (u32 i = 0; i < SEEKS; i++)
			if (seek[i].pos == pos)
				seek[i].hash = hash(c);
	}
}

static bool travel(const struct lane *lane, const struct names *names, struct cursor *c,
		   struct finding *f)
{
	u32 nr = trace_nr_steps(lane->trace);
	size_t bytes = c->live->words * sizeof(u32);
	struct seek seek[SEEKS];

	step_through(c, nr, seek);
	if (memcmp(c->words, lane->words, bytes) != 0)
		return bad(f, "stepping", "%s: the last step does not lead to the end",
			   lane->spec->name);
	if (!seek_anywhere(lane, names, c, seek, f))
		return false;
	for (u32 i = nr + 1; i-- > 0;)
		cursor_seek(c, i);
	if (memcmp(c->words, trace_start(lane->trace), bytes) != 0)
		return bad(f, "rewinding", "%s: rewinding does not lead to the start",
			   lane->spec->name);
	return true;
}

static bool time_travel(const struct run *run, const struct names *names, struct finding *f)
{
	bool ok = true;

	for (u32 i = 0; i < run->nr_lanes && ok; i++) {
		const struct lane *lane = &run->lanes[i];
		struct cursor c;

		if (!cursor_open(&c, lane->trace))
			abort();
		ok = travel(lane, names, &c, f);
		cursor_close(&c);
	}
	return ok;
}

/* --- batched and unbatched ------------------------------------------------- */

/* With first NONE: does second happen at all? */
static bool happens_after(const struct lane *lane, u32 first, enum event second)
{
	bool met = first == NONE;

	for (u32 i = 0; i < trace_nr_steps(lane->trace); i++) {
		u32 event = trace_step(lane->trace, i)->event;

		if (met && event == second)
			return true;
		met |= event == first;
	}
	return false;
}

static bool was_undone(const struct lane *lane)
{
	return happens_after(lane, NONE, EV_unmap_restored);
}

static bool takes_freed_slots(const struct lane *lane)
{
	return happens_after(lane, EV_swap_slot_freed, EV_swap_slots_allocated);
}

/* All that waits for a flush is unmapped before the first is written. */
static bool reordered(const struct lane *a, const struct lane *b)
{
	return a->spec->kernel->dirty_flush != b->spec->kernel->dirty_flush;
}

static bool refaults(const struct lane *lane)
{
	return happens_after(lane, EV_unmap_batch, EV_do_swap_page);
}

/* Folios that have waited come back later than others: the tail of a list is another one. */
static bool meets_other_folios(const struct lane *lane)
{
	return happens_after(lane, EV_folio_waits_for_flush, EV_isolate_lru_folios);
}

static bool may_differ(const struct lane *a, const struct lane *b)
{
	return was_undone(a) || was_undone(b) ||
	       (a->m.arch->pte->has_soft_dirty && (refaults(a) || refaults(b))) ||
	       (reordered(a, b) && (takes_freed_slots(a) || takes_freed_slots(b) ||
				    meets_other_folios(a) || meets_other_folios(b)));
}

/* Where an operation came in: at which tick of the alignment, and was that in an unmap? */
struct moment_of {
	u32 tick;		/* 0: nowhere */
	bool in_unmap;
};

static struct moment_of moment_of(const struct align *align, const struct lane *lane, u32 op)
{
	struct moment_of at = { .tick = 0 };
	struct cursor c;

	if (!cursor_open(&c, lane->trace))
		abort();
	for (u32 i = 0; i < trace_nr_steps(lane->trace) && !at.tick; i++) {
		const struct step *step = trace_step(lane->trace, i);

		if (step->event != EV_op_begin || step->arg != op)
			continue;
		cursor_seek(&c, i);
		at.tick = align_tick(align, lane->index, i);
		at.in_unmap = state_task(c.live, c.live->cpu)->phase == PHASE_unmap;
	}
	cursor_close(&c);
	return at;
}

/* Did what is triggered meet other folios, or in other stations? */
static bool interfered(const struct align *align, const struct lane *a, const struct lane *b)
{
	const struct scenario *s = a->scenario;

	for (u32 i = 0; i < s->nr_ops; i++) {
		struct moment_of x, y;

		if (s->ops[i].when.event == NR_EVENTS)
			continue;
		if (reordered(a, b) && (a->began[i] || b->began[i]))
			return true;
		x = moment_of(align, a, i);
		y = moment_of(align, b, i);
		if (x.tick != y.tick || x.in_unmap || y.in_unmap)
			return true;
	}
	return false;
}

struct ends {
	const struct lane *lane[2];
	bool pending;		/* a flush or a TLBI, in either */
	bool reordered;		/* folios come back to their list in another order */
	struct finding *finding;
	u32 nr;
};

static bool is_link(const struct difference *d)
{
	const char *field = strrchr(d->what, '.');

	return (strcmp(d->of, "folio") == 0 || strcmp(d->of, "list") == 0) && field &&
	       (!strcmp(field, ".next") || !strcmp(field, ".prev") || !strcmp(field, ".first") ||
		!strcmp(field, ".last"));
}

static void on_difference(void *ctx, const struct difference *d)
{
	struct ends *e = ctx;
	size_t len = strlen(e->finding->text);

	if (d->generation || (e->pending && strcmp(d->of, "tlb") == 0) ||
	    (e->reordered && is_link(d)))
		return;
	e->nr++;
	snprintf(e->finding->text + len, sizeof(e->finding->text) - len, "%s x%" PRIu32
		 ": %s %s, %s %s\n", d->what, d->nr, d->value[0], d->text[0], d->value[1],
		 d->text[1]);
}

static bool flush_is_pending(const struct lane *lane)
{
	for (u32 i = 0; i < lane->m.s->nr[ARRAY_TASK]; i++)
		if (state_task(lane->m.s, i)->ubc_flush_required)
			return true;
	for (u32 i = 0; i < lane->m.s->nr[ARRAY_TLB]; i++)
		if (tlb_invalidated(state_tlb(lane->m.s, i)))
			return true;
	return false;
}

/* Swap entries that are soft-dirty in one lane alone become so in both. */
static void forgive_soft_dirty(struct machine *a, struct machine *b)
{
	const struct pte_ops *ops = a->arch->pte;

	for (u32 i = 0; ops->has_soft_dirty && i < a->s->nr[ARRAY_PTE]; i++) {
		pte_t x = a->pte[i], y = b->pte[i];

		if (x == y || ops->none(x) || ops->none(y) || ops->present(x) || ops->present(y))
			continue;
		put64(a, &a->pte[i], ops->swp_mksoft_dirty(x));
		put64(b, &b->pte[i], ops->swp_mksoft_dirty(y));
	}
}

static bool ends_are_equal(const struct align *align, struct lane *a, struct lane *b,
			   const struct names *names, struct finding *f)
{
	struct ends e = { .lane = { a, b }, .finding = f,
			  .pending = flush_is_pending(a) || flush_is_pending(b),
			  .reordered = reordered(a, b) };

	if (may_differ(a, b) || interfered(align, a, b))
		return true;
	snprintf(f->text, sizeof(f->text), "folioscope diff FILE %s %s\n", a->spec->name,
		 b->spec->name);
	forgive_soft_dirty(&a->m, &b->m);
	compare_ends(e.lane, names, on_difference, &e);
	if (e.nr)
		snprintf(f->kind, sizeof(f->kind), "different ends");
	return !e.nr;
}

/* Of one release and architecture: the series posted for it changes nothing but the cost. */
static bool same_release(const struct scn_lane *a, const struct scn_lane *b)
{
	size_t len = strcspn(a->kernel->name, "+");

	return strcmp(a->arch, b->arch) == 0 && len == strcspn(b->kernel->name, "+") &&
	       strncmp(a->kernel->name, b->kernel->name, len) == 0;
}

static bool lanes_end_alike(struct run *run, const struct names *names, struct finding *f)
{
	for (u32 i = 0; i < run->nr_lanes; i++)
		for (u32 j = 0; j < i; j++)
			if (same_release(run->lanes[i].spec, run->lanes[j].spec) &&
			    !ends_are_equal(run->align, &run->lanes[j], &run->lanes[i], names, f))
				return false;
	return true;
}

bool case_judge(const cJSON *json, struct finding *f)
{
	struct error err;
	struct scenario *s = case_load(json, &err);
	struct run counted, recorded;
	struct names names;
	bool ok;

	*f = (struct finding){ .kind = "" };
	if (!s || !run_scenario(&counted, s, RUN_COUNT, true, &err)) {
		scenario_free(s);
		return true;	/* no case at all */
	}
	if (!run_scenario(&recorded, s, RUN_RECORD, false, &err))
		return bad(f, "recording", "counts, but does not record: %s", err.text);
	names = scenario_names(s);
	ok = invariants_hold(&counted, f) && recorded_is_counted(&counted, &recorded, f) &&
	     time_travel(&recorded, &names, f) && lanes_end_alike(&recorded, &names, f);
	run_free(&counted);
	run_free(&recorded);
	scenario_free(s);
	return ok;
}
