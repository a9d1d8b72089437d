/* SPDX-License-Identifier: GPL-2.0-only */
/* The calls of mirrored functions, in order, and who called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "groundtruth.h"

struct engine_call {
	enum event callee;
	const struct call_path *path;
};

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

static bool compare_calls(const struct recording *r, const struct lane *lane, u32 op)
{
	static struct call kernel[MAX_CALLS];
	static struct engine_call engine[MAX_CALLS];
	bool seen[NR_FUNCTIONS];
	u32 nr_kernel, nr_engine;

	assert_true(recording_traceable(r, seen));
	nr_kernel = recording_calls(r, seen, kernel);
	nr_engine = engine_calls(r, lane->trace, op, seen, engine);
	for (u32 i = 0; i < nr_kernel || i < nr_engine; i++) {
		if (i >= nr_kernel || i >= nr_engine || kernel[i].callee != engine[i].callee) {
			show_calls(kernel, nr_kernel, engine, nr_engine, i);
			say("call %u of %u (kernel), %u (engine) differs", i, nr_kernel, nr_engine);
			return false;
		}
		if (kernel[i].caller == NR_EVENTS ||
		    has_ancestor(engine[i].path, engine[i].callee, kernel[i].caller))
			continue;
		show_calls(kernel, nr_kernel, engine, nr_engine, i);
		say("call %u: %s is not below %s in the engine", i, name_of(kernel[i].callee),
		    name_of(kernel[i].caller));
		return false;
	}
	return true;
}

bool same_calls(const struct recording *r)
{
	return run_window(r, compare_calls);
}
