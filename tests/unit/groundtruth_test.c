/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What real kernels executed, against the engine: order of calls, callers, counts.
 * Data and the rules of comparison: tests/groundtruth/README.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "scenario/run.h"

#define DIR "tests/groundtruth/"
#define MAX_CALLS 4096
#define MAX_CASES 128

/* A kernel of the data, and the engine's lane for it. */
struct source {
	const char *kernel;	/* in expected.json */
	const char *arch;
	const char *files;	/* how its traces begin */
	const char *lane;
	bool inlined;		/* try_to_unmap_flush() in try_to_unmap_flush_dirty() */
};
#define ANON_BATCH "7.3.4+anon-batch (reconstructed)"
static const struct source sources[] = {
	{ "7.3.4", "arm64", "7.3.4_arm64", "arm64/unbatched", false },
	{ "7.3.4", "amd64", "7.3.4_amd64", "x86_64/unbatched", true },
	{ ANON_BATCH, "arm64", "7.3.4-anon-batch_arm64", "arm64/batched", true },
	{ ANON_BATCH, "amd64", "7.3.4-anon-batch_amd64", "x86_64/batched", true },
};

static const struct {
	const char *window, *trace, *scenario;
} windows[] = {
	{ "W1/64k/1", "W1-64k-1", "64k-1" },
	{ "W1/64k/1/again", "W1-64k-1-again", "64k-1" },
	{ "W1/64k/4", "W1-64k-4", "64k-4" },
	{ "W1/64k/4/fill11", "W1-64k-4-fill11", "64k-4-fill11" },
	{ "W1/16k/4", "W1-16k-4", "16k-4" },
	{ "W1/4k/16", "W1-4k-16", "4k-16" },
};

struct test_case {
	const struct source *source;
	u32 window;
	const cJSON *row;	/* of expected.json; NULL: compare calls */
};

static cJSON *expected, *traceable;

struct call {
	enum event callee;
	enum event caller;	/* the kernel's, if mirrored, else NR_EVENTS */
	const struct call_path *path;	/* the engine's */
};
struct calls {
	u32 nr;
	struct call call[MAX_CALLS];
};

/* --- data ------------------------------------------------------------------ */

static char *read_stream(FILE *f)
{
	size_t len = 0, max = 1 << 20;
	char *text = malloc(max);

	assert_non_null(f);
	assert_non_null(text);
	len = fread(text, 1, max - 1, f);
	assert_true(len > 0 && len < max - 1);
	text[len] = 0;
	return text;
}

static cJSON *read_json(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = read_stream(f);
	cJSON *json = cJSON_Parse(text);

	fclose(f);
	free(text);
	assert_non_null(json);
	return json;
}

/* The mirrored function of that name without the compiler's suffix, or NR_EVENTS. */
static enum event mirrored_function(const char *name)
{
	char plain[128];
	enum event event;

	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "."), name);
	event = event_find(plain);
	return event < NR_EVENTS && event_is_function(event) ? event : NR_EVENTS;
}

/* Could that kernel's tracer see the function? */
static void traceable_set(const struct source *source, bool *seen)
{
	const cJSON *name;

	memset(seen, 0, NR_FUNCTIONS * sizeof(*seen));
	cJSON_ArrayForEach(name, cJSON_GetObjectItem(traceable, source->files)) {
		enum event event = mirrored_function(name->valuestring);

		if (event != NR_EVENTS)
			seen[event] = true;
	}
	assert_true(seen[EV_try_to_unmap_one]);
}

/* --- the kernel's call log ------------------------------------------------- */

struct frame {
	char name[64];
	bool hidden;		/* not mirrored, or below such: what it calls is left out */
};

/*
 * Where a caller stands on the stack of frames that the trace has shown so far. A
 * caller that it never showed was inlined or cannot be traced: the call goes on top.
 */
static u32 unwind_to(const struct frame *stack, u32 depth, const char *caller)
{
	for (u32 i = depth; i--; )
		if (strcmp(stack[i].name, caller) == 0)
			return i + 1;
	return depth;
}

static void read_trace(const char *text, const bool *seen, struct calls *calls)
{
	static struct frame stack[256];
	char callee[128], caller[128];
	const struct frame *top;
	u32 depth = 0;

	calls->nr = 0;
	for (const char *line = strstr(text, "madvise_pageout <-"); line && *line;
	     line = strchr(line, '\n'), line += line ? 1 : 0) {
		enum event event;
		bool hidden;

		if (sscanf(line, "%127s <-%127s", callee, caller) != 2)
			continue;
		event = mirrored_function(callee);
		depth = unwind_to(stack, depth, caller);
		top = depth ? &stack[depth - 1] : NULL;
		hidden = top && strcmp(top->name, caller) == 0 && top->hidden;
		assert_true(depth < NR_OF(stack));
		snprintf(stack[depth].name, sizeof(stack[depth].name), "%.63s", callee);
		stack[depth++].hidden = hidden || event == NR_EVENTS;
		if (hidden || event == NR_EVENTS || !seen[event])
			continue;
		assert_true(calls->nr < MAX_CALLS);
		calls->call[calls->nr++] = (struct call){
			.callee = event,
			.caller = mirrored_function(caller),
		};
	}
	assert_true(calls->nr > 20);
}

static void kernel_calls(const struct test_case *c, const bool *seen, struct calls *calls)
{
	char command[256];
	char *text;
	FILE *f;

	snprintf(command, sizeof(command), "gzip -dc " DIR "data/%s_%s.ftrace.gz", c->source->files,
		 windows[c->window].trace);
	f = popen(command, "r");
	text = read_stream(f);
	assert_int_equal(pclose(f), 0);
	read_trace(text, seen, calls);
	free(text);
}

/* --- the engine's ---------------------------------------------------------- */

/* The steps of the last operation, which is the window: *first .. *end - 1. */
static void window_of(const struct trace *t, u32 op, u32 *first, u32 *end)
{
	*end = trace_nr_steps(t);
	for (*first = 0; *first < *end; ++*first) {
		const struct step *step = trace_step(t, *first);

		if (step->event == EV_op_begin && step->arg == op)
			return;
	}
	fail_msg("the window's operation never began");
}

/* The compiler inlined this call of a function that it did not inline elsewhere. */
static bool inlined(const struct source *source, const struct trace *t, const struct step *step)
{
	const struct call_path *path = trace_path(t, step->path);

	return source->inlined && step->event == EV_try_to_unmap_flush && path->nr > 1 &&
	       path->function[1] == EV_try_to_unmap_flush_dirty;
}

static void engine_calls(const struct test_case *c, const struct trace *t, u32 op, const bool *seen,
			 struct calls *calls)
{
	u32 first, end;

	window_of(t, op, &first, &end);
	calls->nr = 0;
	for (u32 i = first; i < end; i++) {
		const struct step *step = trace_step(t, i);

		if (!event_is_function(step->event) || !seen[step->event] ||
		    inlined(c->source, t, step))
			continue;
		assert_true(calls->nr < MAX_CALLS);
		calls->call[calls->nr++] = (struct call){
			.callee = step->event,
			.path = trace_path(t, step->path),
		};
	}
}

static void open_lane(struct run *run, const struct test_case *c, bool features)
{
	char path[128];
	struct error err = { .text = "" };
	struct scenario *s;

	snprintf(path, sizeof(path), DIR "%.*s-%s.json", (int)strcspn(c->source->lane, "/"),
		 c->source->lane, windows[c->window].scenario);
	s = scenario_open(path, &err);
	if (!s)
		fail_msg("%s", err.text);
	if (!scenario_select_lanes(s, c->source->lane, &err))
		fail_msg("%s", err.text);
	if (features) {
		const char *cpu = cJSON_GetObjectItem(c->row, "cpu")->valuestring;

		if (strcmp(cpu, "cortex-a72") == 0 || strcmp(cpu, "neoverse-n1") == 0)
			assert_true(scenario_set_feature(s, "tlbi_range=off", &err));
		if (strcmp(cpu, "neoverse-n1") == 0)
			assert_true(scenario_set_feature(s, "repeat_tlbi=on", &err));
	}
	if (!run_scenario(run, s, RUN_RECORD, true, &err))
		fail_msg("%s", err.text);
	assert_string_equal(run->lanes[0].invariant.text, "");
}

static void close_lane(struct run *run)
{
	struct scenario *s = run->scenario;

	run_free(run);
	scenario_free(s);
}

/* --- comparing ------------------------------------------------------------- */

static const char *call_name(const struct calls *calls, u32 i)
{
	return i < calls->nr ? event_info[calls->call[i].callee].name : "(end)";
}

static void show_around(const struct calls *kernel, const struct calls *engine, u32 at)
{
	print_error("%6s %-36s %s\n", "call", "kernel", "engine");
	for (u32 i = at < 6 ? 0 : at - 6; i < at + 6; i++)
		print_error("%6u %-36s %-36s%s\n", i, call_name(kernel, i), call_name(engine, i),
			    i == at ? " <<<" : "");
}

static bool has_ancestor(const struct call_path *path, enum event callee, enum event caller)
{
	u32 i = path->nr && path->function[0] == callee;

	for (; i < path->nr; i++)
		if (path->function[i] == caller)
			return true;
	return false;
}

static void compare_calls(void **state)
{
	static struct calls kernel, engine;
	const struct test_case *c = *state;
	bool seen[NR_FUNCTIONS];
	struct run run;

	traceable_set(c->source, seen);
	kernel_calls(c, seen, &kernel);
	open_lane(&run, c, false);
	engine_calls(c, run.lanes[0].trace, run.scenario->nr_ops - 1, seen, &engine);
	for (u32 i = 0; i < kernel.nr || i < engine.nr; i++) {
		const struct call *want = &kernel.call[i], *got = &engine.call[i];

		if (i >= kernel.nr || i >= engine.nr || want->callee != got->callee) {
			show_around(&kernel, &engine, i);
			fail_msg("call %u of %u (kernel), %u (engine) differs", i, kernel.nr,
				 engine.nr);
		}
		if (want->caller == NR_EVENTS ||
		    has_ancestor(got->path, got->callee, want->caller))
			continue;
		show_around(&kernel, &engine, i);
		fail_msg("call %u: %s is not below %s in the engine", i, call_name(&kernel, i),
			 event_info[want->caller].name);
	}
	close_lane(&run);
}

/* Which counter or which function's entries a metric is; several metrics of a counter add up. */
struct metric {
	const char *names[2];
	const char *arch;	/* NULL: both */
	enum counter counter;	/* NR_COUNTERS: entries of functions */
	enum event function[2];
};
#define COUNTED(arch, counter, ...) { { __VA_ARGS__ }, arch, COUNT_##counter, { 0 } }
#define ENTERED(name, function) \
	{ { name }, NULL, NR_COUNTERS, { EV_##function, EV_##function } }

static const struct metric metrics[] = {
	COUNTED(NULL, pte_read, "pte_loads"),
	COUNTED(NULL, pte_store, "pte_stores"),
	COUNTED(NULL, pte_xchg, "pte_xchg"),
	COUNTED(NULL, walk_step, "page_vma_mapped_walk"),
	COUNTED(NULL, tlb_pending, "set_tlb_ubc_flush_pending"),
	COUNTED(NULL, rmap_remove, "folio_remove_rmap_ptes"),
	COUNTED(NULL, folio_mark_dirty, "folio_mark_dirty"),
	COUNTED(NULL, swap_dup_lock, "swap_dup_inner"),
	COUNTED(NULL, pmd_split, "split_huge_pmd"),
	COUNTED("arm64", contpte_unfold, "contpte_try_unfold"),
	COUNTED("arm64", tlbi_page, "tlbi vale1is", "tlbi vae1is"),
	COUNTED("arm64", tlbi_range, "tlbi rvale1is", "tlbi rvae1is"),
	COUNTED("arm64", tlbi_asid, "tlbi aside1is"),
	COUNTED("arm64", dsb_ishst, "dsb ishst"),
	COUNTED("arm64", dsb_ish, "dsb ish"),
	COUNTED("amd64", invlpg, "invlpg"),
	COUNTED("amd64", cr3_write, "mov_cr3"),
	ENTERED("try_to_unmap_one", try_to_unmap_one),
	ENTERED("check_pte", check_pte),
	ENTERED("contpte_ptep_get", contpte_ptep_get),
	ENTERED("contpte_convert", contpte_convert),
	ENTERED("contpte_get_and_clear_full_ptes", contpte_get_and_clear_full_ptes),
	ENTERED("try_to_unmap_flush_dirty", try_to_unmap_flush_dirty),
	ENTERED("try_to_unmap_flush(all callers)", try_to_unmap_flush),
	ENTERED("flush_tlb_batched_pending", flush_tlb_batched_pending),
	ENTERED("flush_tlb_mm_range", flush_tlb_mm_range),
	ENTERED("flush_tlb_func(self)", flush_tlb_func),
	ENTERED("arch_tlbbatch_flush", arch_tlbbatch_flush),
	{ { "swap_dup(per call)" }, NULL, NR_COUNTERS,
	  { EV_folio_dup_swap, EV_folio_dup_swap_pages } },
	ENTERED("folio_alloc_swap", folio_alloc_swap),
	ENTERED("deferred_split_folio", deferred_split_folio),
	ENTERED("writeout", swap_writeout),
	ENTERED("__remove_mapping", __remove_mapping),
	ENTERED("shrink_folio_list", shrink_folio_list),
	ENTERED("reclaim_pages", reclaim_pages),
};

/* What the engine has for a metric between two moments of a trace. */
static u64 engine_metric(const struct trace *t, const struct metric *m, u32 first, u32 end)
{
	struct cursor c;
	u64 n = 0;

	if (m->counter == NR_COUNTERS) {
		for (u32 i = first; i < end; i++)
			n += trace_step(t, i)->event == m->function[0] ||
			     trace_step(t, i)->event == m->function[1];
		return n;
	}
	assert_true(cursor_open(&c, t));
	cursor_seek(&c, end);
	n = c.live->count[m->counter];
	cursor_seek(&c, first);
	n -= c.live->count[m->counter];
	cursor_close(&c);
	return n;
}

static bool not_visible(const struct test_case *c, const char *name)
{
	const cJSON *hidden;
	size_t len = strcspn(name, "(");

	cJSON_ArrayForEach(hidden, cJSON_GetObjectItem(c->row, "not_visible_here"))
		if (strlen(hidden->valuestring) == len &&
		    strncmp(name, hidden->valuestring, len) == 0)
			return true;
	return false;
}

/* What the kernel has; false: its tracer could not see the function, so it does not say. */
static bool kernel_metric(const struct test_case *c, const struct metric *m, const bool *seen,
			  u64 *n)
{
	const cJSON *values = cJSON_GetObjectItem(c->row, "metrics");
	bool halve = m->counter == COUNT_pte_xchg &&
		     strcmp(cJSON_GetObjectItem(c->row, "cpu")->valuestring, "cortex-a72") == 0;
	bool found = false;

	*n = 0;
	if (not_visible(c, m->names[0]))
		return false;
	for (u32 i = 0; i < NR_OF(m->names) && m->names[i]; i++) {
		const cJSON *value = cJSON_GetObjectItem(values, m->names[i]);

		found |= value != NULL;
		*n += value ? (u64)value->valuedouble : 0;
	}
	if (halve)
		*n /= 2;
	/* A row leaves out what is zero. */
	return found || m->counter != NR_COUNTERS || seen[m->function[0]];
}

static void compare_counts(void **state)
{
	const struct test_case *c = *state;
	bool seen[NR_FUNCTIONS];
	u32 first, end, wrong = 0, compared = 0;
	struct run run;

	traceable_set(c->source, seen);
	open_lane(&run, c, true);
	window_of(run.lanes[0].trace, run.scenario->nr_ops - 1, &first, &end);
	for (u32 i = 0; i < NR_OF(metrics); i++) {
		const struct metric *m = &metrics[i];
		u64 want, got;

		if ((m->arch && strcmp(m->arch, c->source->arch) != 0) ||
		    !kernel_metric(c, m, seen, &want))
			continue;
		got = engine_metric(run.lanes[0].trace, m, first, end);
		compared++;
		if (want == got)
			continue;
		wrong++;
		print_error("%s: kernel %llu, engine %llu\n", m->names[0], (unsigned long long)want,
			    (unsigned long long)got);
	}
	close_lane(&run);
	assert_true(compared > 20);
	assert_int_equal(wrong, 0);
}

/* --- cases ----------------------------------------------------------------- */

static bool __attribute__((format(printf, 1, 2))) exists(const char *format, ...)
{
	char path[256];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	f = fopen(path, "r");
	if (f)
		fclose(f);
	return f != NULL;
}

static bool is(const cJSON *row, const char *key, const char *value)
{
	return strcmp(cJSON_GetObjectItem(row, key)->valuestring, value) == 0;
}

static struct test_case cases[MAX_CASES];
static char names[MAX_CASES][128];
static size_t nr_cases;

static void add_case(const struct source *source, u32 window, const cJSON *row)
{
	assert_true(nr_cases < MAX_CASES);
	snprintf(names[nr_cases], sizeof(names[0]), "%s %s %s%s%s", row ? "counts" : "calls",
		 source->files, windows[window].window, row ? " " : "",
		 row ? cJSON_GetObjectItem(row, "cpu")->valuestring : "");
	cases[nr_cases++] = (struct test_case){ source, window, row };
}

static void add_window(const struct source *source, u32 window)
{
	const cJSON *row;

	if (exists(DIR "data/%s_%s.ftrace.gz", source->files, windows[window].trace))
		add_case(source, window, NULL);
	cJSON_ArrayForEach(row, expected)
		if (is(row, "kernel", source->kernel) && is(row, "arch", source->arch) &&
		    is(row, "window", windows[window].window))
			add_case(source, window, row);
}

int main(void)
{
	static struct CMUnitTest tests[MAX_CASES];

	expected = read_json(DIR "data/expected.json");
	traceable = read_json(DIR "data/traceable.json");
	for (u32 s = 0; s < NR_OF(sources); s++)
		for (u32 w = 0; w < NR_OF(windows); w++)
			add_window(&sources[s], w);
	for (size_t i = 0; i < nr_cases; i++)
		tests[i] = (struct CMUnitTest){
			.name = names[i],
			.test_func = cases[i].row ? compare_counts : compare_calls,
			.initial_state = &cases[i],
		};
	return _cmocka_run_group_tests("groundtruth", tests, nr_cases, NULL, NULL);
}
