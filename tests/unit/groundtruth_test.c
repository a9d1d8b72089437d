/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What real kernels executed, against the engine: order of calls, callers, counts. With
 * words of a recording as arguments, those that fit, with what differs:
 *
 *	build/tests/unit/groundtruth_test 7.3 arm64 64k/4/half
 *
 * Data and the rules of comparison: tests/groundtruth/README.md.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "arch/tlb.h"
#include "recordings.h"
#include "scenario/ops.h"
#include "scenario/run.h"
#include "vectors.h"

#define DIR "tests/groundtruth/"

static struct exceptions exceptions;
static bool asked;		/* for these recordings: excuse none, say more */

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	char line[512];
	va_list args;

	if (!asked)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	print_error("# %s\n", line);
}

/* --- the engine's side ----------------------------------------------------- */

/*
 * "64k/4/half11" -> tests/groundtruth/64k-4-half11.json, unless there is one for that kernel and
 * architecture, 64k-4-half11@6.16-arm64.json, or for that kernel, 64k-4-half11@6.16.json.
 */
static void window_path(const struct recording *r, char *path, size_t size)
{
	for (u32 i = 0; i < 3; i++) {
		snprintf(path, size, DIR "%s%s%s%s%s.json", r->window, i < 2 ? "@" : "",
			 i < 2 ? r->engine : "", i < 1 ? "-" : "", i < 1 ? r->arch : "");
		for (char *p = path + strlen(DIR); *p; p++)
			if (*p == '/')
				*p = '-';
		if (access(path, R_OK) == 0)
			return;
	}
}

/* The recorded kernel in one lane. */
static struct scenario *open_window(const struct recording *r)
{
	const struct kernel *kernel = kernel_find(r->engine);
	char path[128];
	struct error err = { .text = "" };
	struct scenario *s;

	if (!kernel) {
		say("the engine has no kernel %s", r->engine);
		return NULL;
	}
	window_path(r, path, sizeof(path));
	s = scenario_open(path, &err);
	if (!s || !scenario_select_lanes(s, strcmp(r->arch, "arm64") == 0 ? "arm64/unbatched" :
								"x86_64/unbatched", &err)) {
		say("%s", err.text);
		scenario_free(s);
		return NULL;
	}
	s->lanes[0].kernel = kernel;
	if (strcmp(r->cpu, "cortex-a72") == 0 || strcmp(r->cpu, "neoverse-n1") == 0)
		assert_true(scenario_set_feature(s, "tlbi_range=off", &err));
	if (strcmp(r->cpu, "neoverse-n1") == 0 && strcmp(r->kernel, "6.16.12") != 0)
		assert_true(scenario_set_feature(s, "repeat_tlbi=on", &err));
	return s;
}

/* Calls of functions that the compiler inlined here and did not inline elsewhere. */
static const struct {
	const char *kernel, *arch;	/* globs */
	enum event callee, caller;
} inlinings[] = {
	{ "7.3.4+*", "*", EV_try_to_unmap_flush, EV_try_to_unmap_flush_dirty },
	{ "7.3.4", "amd64", EV_try_to_unmap_flush, EV_try_to_unmap_flush_dirty },
	{ "6.*", "*", EV_try_to_unmap_flush, EV_try_to_unmap_flush_dirty },
	{ "6.12*", "*", EV_rmap_walk, EV_try_to_unmap },
	{ "6.12*", "*", EV_rmap_walk_locked, EV_try_to_migrate },
	{ "6.16*", "arm64", EV_split_huge_page_to_list_to_order, EV_split_folio_to_list },
	{ "*", "*", EV_folio_putback_lru, EV_reclaim_folio_list },
};

static bool inlined(const struct recording *r, enum event callee, enum event caller)
{
	for (u32 i = 0; i < NR_OF(inlinings); i++)
		if (callee == inlinings[i].callee && caller == inlinings[i].caller &&
		    fnmatch(inlinings[i].kernel, r->kernel, 0) == 0 &&
		    fnmatch(inlinings[i].arch, r->arch, 0) == 0)
			return true;
	return false;
}

/* --- calls ----------------------------------------------------------------- */

struct engine_call {
	enum event callee;
	const struct call_path *path;
};

/* The steps of the last operation, which is the window, are those from here on. */
static u32 window_start(const struct trace *t, u32 op)
{
	u32 i = 0;

	while (trace_step(t, i)->event != EV_op_begin || trace_step(t, i)->arg != op)
		i++;
	return i;
}

static u32 engine_calls(const struct recording *r, const struct trace *t, u32 op, const bool *seen,
			struct engine_call *calls)
{
	u32 nr = 0;

	for (u32 i = window_start(t, op); i < trace_nr_steps(t); i++) {
		const struct step *step = trace_step(t, i);
		const struct call_path *path = trace_path(t, step->path);

		if (!event_is_function(step->event) || !seen[step->event] ||
		    inlined(r, step->event, path->nr > 1 ? path->function[1] : NR_EVENTS))
			continue;
		assert_true(nr < MAX_CALLS);
		calls[nr++] = (struct engine_call){ step->event, path };
	}
	return nr;
}

static bool has_ancestor(const struct call_path *path, enum event callee, enum event caller)
{
	u32 i = path->nr && path->function[0] == callee;

	for (; i < path->nr; i++)
		if (path->function[i] == caller)
			return true;
	return false;
}

static const char *name_of(enum event event)
{
	return event == NR_EVENTS ? "" : event_info[event].name;
}

static void show_calls(const struct call *kernel, u32 nr_kernel, const struct engine_call *engine,
		       u32 nr_engine, u32 at)
{
	const u32 before = 20, after = 40;
	u32 nr = nr_kernel > nr_engine ? nr_kernel : nr_engine;

	say("%6s %-34s %-34s %s", "call", "kernel", "(called by, if mirrored)", "engine");
	for (u32 i = at < before ? 0 : at - before; i < at + after && i < nr; i++)
		say("%6u %-34s %-34s %s%s", i, i < nr_kernel ? name_of(kernel[i].callee) : "(end)",
		    i < nr_kernel ? name_of(kernel[i].caller) : "",
		    i < nr_engine ? name_of(engine[i].callee) : "(end)", i == at ? " <<<" : "");
}

static bool calls_differ(const struct recording *r, const struct trace *t, u32 op)
{
	static struct call kernel[MAX_CALLS];
	static struct engine_call engine[MAX_CALLS];
	bool seen[NR_FUNCTIONS];
	u32 nr_kernel, nr_engine;

	assert_true(recording_traceable(r, seen));
	nr_kernel = recording_calls(r, seen, kernel);
	nr_engine = engine_calls(r, t, op, seen, engine);
	for (u32 i = 0; i < nr_kernel || i < nr_engine; i++) {
		if (i >= nr_kernel || i >= nr_engine || kernel[i].callee != engine[i].callee) {
			show_calls(kernel, nr_kernel, engine, nr_engine, i);
			say("call %u of %u (kernel), %u (engine) differs", i, nr_kernel, nr_engine);
			return true;
		}
		if (kernel[i].caller == NR_EVENTS ||
		    has_ancestor(engine[i].path, engine[i].callee, kernel[i].caller))
			continue;
		show_calls(kernel, nr_kernel, engine, nr_engine, i);
		say("call %u: %s is not below %s in the engine", i, name_of(kernel[i].callee),
		    name_of(kernel[i].caller));
		return true;
	}
	return false;
}

static bool same_calls(const struct recording *r)
{
	struct error err = { .text = "" };
	struct scenario *s = open_window(r);
	struct run run;
	bool same;

	if (!s)
		return false;
	same = run_scenario(&run, s, RUN_RECORD, true, &err);
	if (same && run.lanes[0].invariant.text[0]) {
		say("%s", run.lanes[0].invariant.text);
		same = false;
	} else if (same) {
		same = !calls_differ(r, run.lanes[0].trace, s->nr_ops - 1);
	} else {
		say("%s", err.text);
	}
	run_free(&run);
	scenario_free(s);
	return same;
}

/* --- counts ---------------------------------------------------------------- */

/* Which counter or which functions' entries a metric is; several metrics add up. */
struct metric {
	const char *names[2];
	const char *arch;	/* NULL: both */
	enum counter counter;	/* NR_COUNTERS: entries of functions */
	enum event function[3];	/* up to the first 0, which none of these is */
	enum { CALLS, PTE, INSN } kind;	/* PTE: of one page table */
};
#define COUNTED(arch, kind, counter, ...) \
	{ { __VA_ARGS__ }, arch, COUNT_##counter, { 0 }, kind }
#define ENTERED(name, function) \
	{ { name, NULL }, NULL, NR_COUNTERS, { EV_##function }, CALLS }

static const struct metric metrics[] = {
	COUNTED(NULL, PTE, pte_read, "pte_loads"),
	COUNTED(NULL, PTE, pte_store, "pte_stores"),
	COUNTED(NULL, PTE, pte_xchg, "pte_xchg"),
	COUNTED(NULL, CALLS, walk_step, "page_vma_mapped_walk"),
	COUNTED(NULL, CALLS, tlb_pending, "set_tlb_ubc_flush_pending"),
	COUNTED(NULL, CALLS, rmap_remove, "folio_remove_rmap_ptes"),
	COUNTED(NULL, CALLS, folio_mark_dirty, "folio_mark_dirty"),
	COUNTED(NULL, CALLS, swap_dup_lock, "swap_dup_inner"),
	COUNTED(NULL, CALLS, pmd_split, "split_huge_pmd"),
	COUNTED("arm64", CALLS, contpte_unfold, "contpte_try_unfold"),
	COUNTED("arm64", INSN, tlbi_page, "tlbi vale1is", "tlbi vae1is"),
	COUNTED("arm64", INSN, tlbi_range, "tlbi rvale1is", "tlbi rvae1is"),
	COUNTED("arm64", INSN, tlbi_asid, "tlbi aside1is"),
	COUNTED("arm64", INSN, dsb_ishst, "dsb ishst"),
	COUNTED("arm64", INSN, dsb_ish, "dsb ish"),
	COUNTED("amd64", INSN, invlpg, "invlpg"),
	COUNTED("amd64", INSN, cr3_write, "mov_cr3"),
	ENTERED("try_to_unmap_one", try_to_unmap_one),
	ENTERED("check_pte", check_pte),
	ENTERED("contpte_ptep_get", contpte_ptep_get),
	ENTERED("contpte_convert", contpte_convert),
	ENTERED("contpte_get_and_clear_full_ptes", contpte_get_and_clear_full_ptes),
	ENTERED("contpte_set_ptes", contpte_set_ptes),
	ENTERED("try_to_unmap_flush_dirty", try_to_unmap_flush_dirty),
	ENTERED("try_to_unmap_flush(all callers)", try_to_unmap_flush),
	ENTERED("flush_tlb_batched_pending", flush_tlb_batched_pending),
	ENTERED("flush_tlb_mm_range", flush_tlb_mm_range),
	ENTERED("flush_tlb_func(self)", flush_tlb_func),
	ENTERED("arch_tlbbatch_flush", arch_tlbbatch_flush),
	{ { "swap_dup(per call)", NULL }, NULL, NR_COUNTERS,
	  { EV_folio_dup_swap, EV_folio_dup_swap_pages, EV_swap_duplicate }, CALLS },
	ENTERED("ptep_clear_flush", ptep_clear_flush),
	ENTERED("folio_remove_rmap_pmd", folio_remove_rmap_pmd),
	ENTERED("split_folio", split_folio_to_list),
	ENTERED("folio_alloc_swap", folio_alloc_swap),
	ENTERED("deferred_split_folio", deferred_split_folio),
	{ { "writeout", NULL }, NULL, NR_COUNTERS, { EV_swap_writeout, EV_swap_writepage }, CALLS },
	ENTERED("__remove_mapping", __remove_mapping),
	ENTERED("shrink_folio_list", shrink_folio_list),
	ENTERED("reclaim_pages", reclaim_pages),
};

/* What the engine did in the window. */
struct tally {
	struct observer observer;	/* first */
	const struct recording *r;
	enum event last;		/* the caller, if it has done nothing else yet */
	u64 entered[NR_EVENTS];
	u64 count[NR_COUNTERS];
	u32 present, swapped;		/* PTEs of the range afterwards */
};

static void tally_step(struct observer *o, enum event event, u32 page, u32 arg)
{
	struct tally *tally = (struct tally *)(void *)o;

	(void)page;
	(void)arg;
	if (!inlined(tally->r, event, tally->last))
		tally->entered[event]++;
	tally->last = event;
}

/* False: an operation is impossible. */
static bool perform(struct machine *m, const struct scenario *s, u32 i)
{
	struct scn_op op = s->ops[i];

	if (op.folio != NONE)
		op.folio = scn_folio_state(s, op.folio);
	if (op.op->possible && !op.op->possible(m, &op)) {
		say("%s:%u: impossible: %s", s->file, op.at.line, op.op->needs);
		return false;
	}
	machine_run_on(m, op.cpu);
	if (op.mm != NONE)
		switch_mm(m, op.mm);
	op.op->run(m, &op);
	return true;
}

/* Whoever recorded looked at no more of the range afterwards. */
#define MAX_PAGES_LOOKED_AT 1024u

static void tally_ptes(const struct machine *m, const struct scn_op *op, struct tally *tally)
{
	u64 pages = op->pages < MAX_PAGES_LOOKED_AT ? op->pages : MAX_PAGES_LOOKED_AT;

	for (u64 va = op->va; va < op->va + pages * PAGE_SIZE; va += PAGE_SIZE) {
		u32 pte = va_pte(m->s, op->mm, va);
		pte_t val = pte == NONE ? 0 : m->pte[pte];

		tally->present += m->arch->pte->present(val);
		tally->swapped += !m->arch->pte->present(val) && !m->arch->pte->none(val);
	}
}

static bool engine_tally(const struct scenario *s, struct tally *tally)
{
	struct machine m = { 0 };
	struct error err = { .text = "" };
	u32 *words, last = s->nr_ops - 1;
	bool possible = true;

	if (!world_build(s, &s->lanes[0], &m, &words, &err)) {
		say("%s", err.text);
		return false;
	}
	for (u32 i = 0; i < last && possible; i++)
		possible = perform(&m, s, i);
	memcpy(tally->count, m.s->count, sizeof(tally->count));
	m.observer = &tally->observer;
	possible = possible && perform(&m, s, last);
	for (u32 i = 0; i < NR_COUNTERS; i++)
		tally->count[i] = m.s->count[i] - tally->count[i];
	if (possible)
		tally_ptes(&m, &s->ops[last], tally);
	free(words);
	return possible;
}

static u64 engine_metric(const struct tally *tally, const struct metric *m)
{
	u64 entered = 0;

	if (m->counter != NR_COUNTERS)
		return tally->count[m->counter];
	for (u32 i = 0; i < NR_OF(m->function) && m->function[i]; i++)
		entered += tally->entered[m->function[i]];
	return entered;
}

static bool not_visible(const struct recording *r, const char *name)
{
	const cJSON *hidden;
	size_t len = strcspn(name, "(");

	cJSON_ArrayForEach(hidden, member(r->row, "not_visible_here"))
		if (strlen(hidden->valuestring) == len &&
		    strncmp(name, hidden->valuestring, len) == 0)
			return true;
	return false;
}

/*
 * A row leaves out what is zero. So it says nothing where nobody looked: at instructions and
 * PTEs in the largest windows, at functions that the tracer could not see.
 */
static bool looked_at(const struct recording *r, const struct metric *m, const bool *seen)
{
	bool visible = m->counter != NR_COUNTERS;

	if (m->kind != CALLS)
		return member(r->row, "pte_page_pages_covered") != NULL;
	for (u32 i = 0; seen && i < NR_OF(m->function) && m->function[i]; i++)
		visible |= seen[m->function[i]];
	return seen && visible;
}

/* Populating a PMD ends with a DSB ISHST; whoever counted on 7.3.4 did not see these two. */
static bool hides_barriers(const struct recording *r)
{
	const cJSON *splits = member(member(r->row, "metrics"), "split_huge_pmd");

	return strncmp(r->kernel, "7.3.4", 5) == 0 && splits && splits->valuedouble > 0;
}

/* What the kernel has; false: it does not say. */
static bool kernel_metric(const struct recording *r, const struct metric *m, const bool *seen,
			  u64 *n)
{
	bool found = false;

	*n = 0;
	if (not_visible(r, m->names[0]) || (m->counter == COUNT_dsb_ishst && hides_barriers(r)))
		return false;
	for (u32 i = 0; i < NR_OF(m->names) && m->names[i]; i++) {
		const cJSON *value = member(member(r->row, "metrics"), m->names[i]);

		found |= value != NULL;
		*n += value ? (u64)value->valuedouble : 0;
	}
	if (m->counter == COUNT_pte_xchg && strcmp(r->cpu, "cortex-a72") == 0)
		*n /= 2;
	return found || looked_at(r, m, seen);
}

static bool is_count(const char *what, u64 kernel, u64 engine)
{
	if (kernel != engine)
		say("%s: kernel %llu, engine %llu", what, (unsigned long long)kernel,
		    (unsigned long long)engine);
	return kernel == engine;
}

static bool compare_metrics(const struct recording *r, const struct tally *tally)
{
	u64 pages = u64_of(r->row, "pages"), covered, kernel, engine;
	bool seen[NR_FUNCTIONS], known = recording_traceable(r, seen), same = true;
	u32 compared = 0;

	covered = (u64)flag_of(member(r->row, "metrics"), "pte_page_pages_covered", 0);
	for (u32 i = 0; i < NR_OF(metrics); i++) {
		const struct metric *m = &metrics[i];

		if ((m->arch && strcmp(m->arch, r->arch) != 0) ||
		    !kernel_metric(r, m, known ? seen : NULL, &kernel))
			continue;
		engine = engine_metric(tally, m);
		if (m->kind == PTE)
			engine = engine * covered / pages;
		same &= is_count(m->names[0], kernel, engine);
		compared++;
	}
	assert_true(compared > 10);
	same &= is_count("present PTEs afterwards", u64_of(r->row, "after_present"),
			 tally->present);
	same &= is_count("swap PTEs afterwards", u64_of(r->row, "after_swapped"), tally->swapped);
	return same;
}

static bool same_counts(const struct recording *r)
{
	struct tally tally = { .observer = { .step = tally_step }, .r = r, .last = NR_EVENTS };
	struct scenario *s = open_window(r);
	bool same;

	if (!s)
		return false;
	same = engine_tally(s, &tally) && compare_metrics(r, &tally);
	scenario_free(s);
	return same;
}

/* --- cases ----------------------------------------------------------------- */

static void compare(void **state)
{
	struct recording *r = *state;
	struct exception *excuse = exception_of(&exceptions, r);
	char name[128];

	r->reproduced = r->row ? same_counts(r) : same_calls(r);
	if (r->reproduced && excuse && !asked)
		fail_msg("reproduced now, but docs/model.md says it is not: %s | %s | %s | %s",
			 excuse->kernel, excuse->cpu, excuse->window, excuse->what);
	if (!r->reproduced && (!excuse || asked))
		fail_msg("%sthe kernel did something else; to see: "
			 "build/tests/unit/groundtruth_test %s",
			 excuse ? "known: " : "", recording_name(r, name));
	if (excuse)
		excuse->used++;
}

static void no_line_is_idle(void **state)
{
	(void)state;
	for (u32 i = 0; i < exceptions.nr; i++)
		if (!exceptions.exception[i].used)
			fail_msg("docs/model.md: this fits no recording: %s | %s | %s | %s",
				 exceptions.exception[i].kernel, exceptions.exception[i].cpu,
				 exceptions.exception[i].window, exceptions.exception[i].what);
}

/* How many recordings of a kernel and architecture, NULL for all, and how many reproduced. */
static void summarise(const struct recordings *all, const char *kernel, const char *arch)
{
	u32 calls = 0, counts = 0, nr_calls = 0, nr_counts = 0;

	for (u32 i = 0; i < all->nr; i++) {
		const struct recording *r = &all->recording[i];

		if (kernel && (strcmp(r->kernel, kernel) != 0 || strcmp(r->arch, arch) != 0))
			continue;
		nr_calls += !r->row;
		nr_counts += !!r->row;
		calls += !r->row && r->reproduced;
		counts += r->row && r->reproduced;
	}
	printf("# reproduced %3u of %3u (calls %u of %u, counts %u of %u)%s%s%s%s\n",
	       calls + counts, nr_calls + nr_counts, calls, nr_calls, counts, nr_counts,
	       kernel ? ": " : "", kernel ? kernel : "", kernel ? " " : "", kernel ? arch : "");
}

static void summarise_all(const struct recordings *all)
{
	for (u32 i = 0; i < all->nr; i++) {
		const struct recording *r = &all->recording[i];
		u32 first = 0;

		while (strcmp(all->recording[first].kernel, r->kernel) != 0 ||
		       strcmp(all->recording[first].arch, r->arch) != 0)
			first++;
		if (first == i)
			summarise(all, r->kernel, r->arch);
	}
	summarise(all, NULL, NULL);
}

static bool is_asked_for(const struct recording *r, char **words)
{
	while (*words && recording_fits(r, *words))
		words++;
	return !*words;
}

#define MAX_CASES 512

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[MAX_CASES];
	static char names[MAX_CASES][128];
	static struct recordings all;
	size_t nr = 0;
	int failed;

	all = recordings_read();
	exceptions = exceptions_read();
	asked = argc > 1;
	for (u32 i = 0; i < all.nr; i++) {
		if (!is_asked_for(&all.recording[i], argv + 1))
			continue;
		assert_true(nr < MAX_CASES - 1);
		tests[nr] = (struct CMUnitTest){
			.name = recording_name(&all.recording[i], names[nr]),
			.test_func = compare,
			.initial_state = &all.recording[i],
		};
		nr++;
	}
	if (!nr)
		fail_msg("no recording fits all of these words");
	if (!asked)
		tests[nr++] = (struct CMUnitTest)cmocka_unit_test(no_line_is_idle);
	failed = _cmocka_run_group_tests("groundtruth", tests, nr, NULL, NULL);
	if (!asked)
		summarise_all(&all);
	return failed;
}
