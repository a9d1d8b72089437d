/* SPDX-License-Identifier: GPL-2.0-only */
/* The windows of the recordings as scenarios. */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "groundtruth.h"

#define DIR "tests/groundtruth/"

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

struct scenario *open_window(const struct recording *r)
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
	{ "*", "amd64", EV_free_swap_cache, EV___folio_split },
	{ "6.12*", "*", EV_rmap_walk, EV_try_to_unmap },
	{ "6.12*", "*", EV_rmap_walk_locked, EV_try_to_migrate },
	{ "6.16*", "arm64", EV_split_huge_page_to_list_to_order, EV_split_folio_to_list },
	{ "*", "*", EV_folio_putback_lru, EV_reclaim_folio_list },
};

bool inlined(const struct recording *r, enum event callee, enum event caller)
{
	for (u32 i = 0; i < NR_OF(inlinings); i++)
		if (callee == inlinings[i].callee && caller == inlinings[i].caller &&
		    fnmatch(inlinings[i].kernel, r->kernel, 0) == 0 &&
		    fnmatch(inlinings[i].arch, r->arch, 0) == 0)
			return true;
	return false;
}

u32 window_start(const struct trace *t, u32 op)
{
	u32 i = 0;

	while (trace_step(t, i)->event != EV_op_begin || trace_step(t, i)->arg != op)
		i++;
	return i;
}

bool run_window(const struct recording *r,
		bool (*same)(const struct recording *r, const struct lane *lane, u32 op))
{
	struct error err = { .text = "" };
	struct scenario *s = open_window(r);
	bool ok = false;
	struct run run;

	if (!s)
		return false;
	if (!run_scenario(&run, s, RUN_RECORD, true, &err))
		say("%s", err.text);
	else if (run.lanes[0].invariant.text[0])
		say("%s", run.lanes[0].invariant.text);
	else
		ok = same(r, &run.lanes[0], s->nr_ops - 1);
	run_free(&run);
	scenario_free(s);
	return ok;
}
