/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths read off the real stack, exact to the frame. Worth most in a stripped build
 * with -O3 -flto: nothing here may be inlined, cloned or turned into a jump.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bundled.h"
#include "mm/internal.h"
#include "scenario/ops.h"
#include "scenario/run.h"
#include "toy.h"
#include "trace/callpath.h"

static struct callpaths *paths;
static char seen[256];

/* The path that leads here, as numbers: "3 2 1". */
static __attribute__((noinline)) u16 look(void)
{
	u16 number = callpaths_here(paths);
	const struct call_path *path = callpaths_get(paths, number);
	size_t at = 0;

	seen[0] = 0;
	for (u32 i = 0; i < path->nr; i++)
		at += (size_t)snprintf(seen + at, sizeof(seen) - at, "%s%u", i ? " " : "",
				       path->function[i]);
	return number;
}

__mirrored u32 f1(u32 how);
__mirrored u32 f2(u32 how);
__mirrored u32 f3(u32 how);
__mirrored void operation(u32 how);

enum { PLAIN, BY_HELPER, TWICE, INTERRUPTED, DEEP = 100 };

/* No mirrored function: leaves no trace in a path. */
static __attribute__((noinline)) u32 helper(u32 how)
{
	return f3(how) + 1;
}

/* Ends in a call, which a compiler likes to turn into a jump. */
__mirrored u32 f1(u32 how)
{
	return f2(how);
}

__mirrored u32 f2(u32 how)
{
	return how == BY_HELPER ? helper(how) : f3(how);
}

__mirrored u32 f3(u32 how)
{
	if (how == INTERRUPTED) {
		operation(PLAIN);
		return 0;
	}
	if (how > DEEP)
		return f3(how - 1);
	return look();
}

/* The same body as f3's caller f1: must not be folded into it. */
__mirrored u32 f4(u32 how);
__mirrored u32 f4(u32 how)
{
	return f2(how);
}

__mirrored void operation(u32 how)
{
	f1(how);
}

static const struct mirrored table[] = {
	{ (void (*)(void))f1, (enum event)1 }, { (void (*)(void))f2, (enum event)2 },
	{ (void (*)(void))f3, (enum event)3 }, { (void (*)(void))f4, (enum event)4 },
};

static int open_paths(void **state)
{
	(void)state;
	paths = callpaths_new(table, NR_OF(table));
	return paths ? 0 : -1;
}

static int close_paths(void **state)
{
	(void)state;
	callpaths_free(paths);
	return 0;
}

static void each_frame_once(void **state)
{
	(void)state;
	f1(PLAIN);
	assert_string_equal(seen, "3 2 1");
	f2(PLAIN);
	assert_string_equal(seen, "3 2");
	f3(PLAIN);
	assert_string_equal(seen, "3");
	f4(PLAIN);
	assert_string_equal(seen, "3 2 4");
	look();
	assert_string_equal(seen, "");
}

static void helpers_are_left_out(void **state)
{
	(void)state;
	f1(BY_HELPER);
	assert_string_equal(seen, "3 2 1");
}

static void leaving_is_noticed(void **state)
{
	(void)state;
	for (u32 i = 0; i < 3; i++) {
		f1(PLAIN);
		assert_string_equal(seen, "3 2 1");
		look();
		assert_string_equal(seen, "");
		f3(PLAIN);
		assert_string_equal(seen, "3");
	}
}

static void one_path_one_number(void **state)
{
	u32 here, by_helper;

	(void)state;
	here = f1(PLAIN);
	by_helper = f1(BY_HELPER);
	assert_int_equal(by_helper, here + 1);	/* helper() adds one to the number */
	assert_int_not_equal(f4(PLAIN), here);
	assert_int_equal(f1(PLAIN), here);
}

static void the_boundary_cuts(void **state)
{
	(void)state;
	f1(INTERRUPTED);
	assert_string_equal(seen, "3 2 1 3 2 1");
	callpaths_set_boundary(paths, (void (*)(void))operation);
	for (u32 i = 0; i < 3; i++) {
		f1(INTERRUPTED);
		assert_string_equal(seen, "3 2 1");
		operation(PLAIN);
		assert_string_equal(seen, "3 2 1");
		operation(INTERRUPTED);
		assert_string_equal(seen, "3 2 1");
		f3(PLAIN);
		assert_string_equal(seen, "3");	/* no boundary below: the whole stack */
	}
}

/* From shallow to deep at once and back, with and without a boundary. */
static void any_depth(void **state)
{
	(void)state;
	for (u32 bounded = 0; bounded < 2; bounded++) {
		for (u32 depth = 0; depth < 200; depth += 3) {
			const struct call_path *path;
			u32 number;

			operation(PLAIN);
			assert_string_equal(seen, "3 2 1");
			number = f1(DEEP + depth);
			path = callpaths_get(paths, number);
			assert_int_equal(path->nr, depth + 3 < PATH_DEPTH ? depth + 3 : PATH_DEPTH);
			for (u32 i = 0; i < path->nr && i < depth + 1; i++)
				assert_int_equal(path->function[i], 3);
		}
		callpaths_set_boundary(paths, (void (*)(void))operation);
	}
}

static u32 nr_wrong;

/* A step as the recorder sees it: the short way, compared with the whole stack. */
static __attribute__((noinline)) void step_at_site(bool entered)
{
	const struct call_path *quick = callpaths_get(
		paths, callpaths_at(paths, entered, __builtin_return_address(0)));
	const struct call_path *full = callpaths_get(paths, callpaths_here(paths));

	nr_wrong += memcmp(quick, full, sizeof(*quick)) != 0;
}

/* Steps, but is not mirrored. */
static __attribute__((noinline)) void stepping_helper(void)
{
	step_at_site(false);
	__asm__ volatile("");	/* no jump */
}

__mirrored void f5(void);
__mirrored void f6(void);

/* One frame under f6: the same place as under its other caller. */
__mirrored void f5(void)
{
	step_at_site(true);
	stepping_helper();
	__asm__ volatile("");
}

static __attribute__((noinline)) void not_f5(void)
{
	stepping_helper();
	__asm__ volatile("");
}

__mirrored void f6(void)
{
	step_at_site(true);
	f5();
	not_f5();
	step_at_site(false);
	not_f5();
	f5();
}

static void a_helper_has_many_callers(void **state)
{
	static const struct mirrored two[] = {
		{ (void (*)(void))f5, (enum event)5 }, { (void (*)(void))f6, (enum event)6 },
	};
	struct callpaths *of_table = paths;

	(void)state;
	paths = callpaths_new(two, NR_OF(two));
	assert_non_null(paths);
	nr_wrong = 0;
	f6();
	callpaths_free(paths);
	paths = of_table;
	assert_int_equal(nr_wrong, 0);
}

static int crash_fd[2];

static void on_signal(int signal)
{
	(void)signal;
	callpath_crash(crash_fd[1]);
}

static void crash(struct observer *o, enum event event, u32 page, u32 arg)
{
	(void)o;
	(void)page;
	(void)arg;
	if (event == EV_try_to_unmap_flush)
		raise(SIGUSR1);
}

/* From a signal handler, through the frame that the kernel made for it. */
static void a_crash_names_the_frames(void **state)
{
	struct observer observer = { .step = crash };
	struct toy toy;
	char text[16384];
	ssize_t len;
	const char *inner, *outer;

	(void)state;
	toy_open(&toy);
	toy.m.observer = &observer;
	put(&toy.m, &toy.m.task->ubc_writable, 1);
	assert_int_equal(pipe(crash_fd), 0);
	signal(SIGUSR1, on_signal);
	try_to_unmap_flush_dirty(&toy.m);
	signal(SIGUSR1, SIG_DFL);
	close(crash_fd[1]);
	len = read(crash_fd[0], text, sizeof(text) - 1);
	close(crash_fd[0]);
	toy_close(&toy);
	assert_true(len > 0);
	text[len] = 0;
	assert_memory_equal(text, "  +0x", 5);
	assert_int_equal(text[len - 1], '\n');
	inner = strstr(text, " try_to_unmap_flush\n");
	outer = strstr(text, " try_to_unmap_flush_dirty\n");
	assert_non_null(inner);
	assert_non_null(outer);
	assert_true(inner < outer);
}

/* The real table: where a slot's count rises, in 7.3 and in the proposed series. */
static void assert_path(const struct run *run, const char *lane, enum event event,
			const char *expected)
{
	char text[512];

	for (u32 l = 0; l < run->nr_lanes; l++) {
		const struct trace *t = run->lanes[l].trace;
		u32 i = 0;
		const struct call_path *path;
		size_t at = 0;

		if (strcmp(run->lanes[l].spec->name, lane) != 0)
			continue;
		while (i < trace_nr_steps(t) && trace_step(t, i)->event != event)
			i++;
		assert_true(i < trace_nr_steps(t));
		path = trace_path(t, trace_step(t, i)->path);
		for (u32 k = 0; k < path->nr; k++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", k ? " " : "",
					       event_info[path->function[k]].name);
		assert_string_equal(text, expected);
		return;
	}
	fail_msg("no lane %s", lane);
}

static void mirrored_kernel_functions(void **state)
{
	struct error err;
	struct scenario *s = scenario_open("swapout-64k", &err);
	struct run run;

	(void)state;
	if (!s || !run_scenario(&run, s, RUN_RECORD, false, &err))
		fail_msg("%s", err.text);
#define SHRINK "shrink_folio_list reclaim_folio_list reclaim_pages " \
	"madvise_cold_or_pageout_pte_range madvise_pageout"
#define UNMAP "try_to_unmap_one rmap_walk_anon rmap_walk try_to_unmap " SHRINK
	assert_path(&run, "arm64/unbatched", EV_swap_count_raised,
		    "swap_dup_entries_cluster folio_dup_swap ttu_anon_swapbacked_folio "
		    "ttu_anon_folio " UNMAP);
	assert_path(&run, "x86_64/batched", EV_swap_count_raised,
		    "swap_dup_entries_cluster folio_dup_swap_pages ttu_anon_swapbacked_folio "
		    "ttu_anon_folio " UNMAP);
	assert_path(&run, "arm64/unbatched", EV_contpte_block_cleared,
		    "contpte_convert __contpte_try_unfold " UNMAP);
	assert_path(&run, "x86_64/unbatched", EV_tlb_flush_pending,
		    "set_tlb_ubc_flush_pending " UNMAP);
	assert_path(&run, "x86_64/unbatched", EV_folio_free_queued, SHRINK);
	run_free(&run);
	scenario_free(s);
}

#define PATH_TEST(test) cmocka_unit_test_setup_teardown(test, open_paths, close_paths)

/* Two recorders of one run: one takes the short way where it may, one reads every stack. */
struct both {
	struct observer observer;
	struct callpaths *quick, *full;
	u32 steps, nr_different;
};

static __mirrored void on_both(struct observer *o, enum event event, u32 page, u32 arg)
{
	struct both *b = (struct both *)(void *)o;
	u16 quick = callpaths_at(b->quick, event_is_function(event), __builtin_return_address(0));
	u16 full = callpaths_here(b->full);

	(void)page;
	(void)arg;
	b->steps++;
	b->nr_different += memcmp(callpaths_get(b->quick, quick), callpaths_get(b->full, full),
				  sizeof(struct call_path)) != 0;
}

static __mirrored void perform(struct machine *m, struct scn_op *op)
{
	op->op->run(m, op);
	put(m, &m->s->op, 0);	/* a frame of its own: nothing follows the call otherwise */
}

static void compare_lane(const struct scenario *s, const struct scn_lane *lane)
{
	struct both b = { .observer = { .step = on_both } };
	struct machine m;
	struct error err;
	u32 *words = NULL;

	b.quick = callpaths_new(mirrored_functions, NR_FUNCTIONS);
	b.full = callpaths_new(mirrored_functions, NR_FUNCTIONS);
	callpaths_set_boundary(b.quick, (void (*)(void))perform);
	callpaths_set_boundary(b.full, (void (*)(void))perform);
	assert_true(world_build(s, lane, &m, &words, &err));
	m.observer = &b.observer;
	for (u32 i = 0; i < s->nr_ops; i++) {
		struct scn_op op = s->ops[i];

		if (op.folio != NONE)
			op.folio = scn_folio_state(s, op.folio);
		perform(&m, &op);
	}
	assert_true(b.steps > 10);
	assert_int_equal(b.nr_different, 0);
	callpaths_free(b.quick);
	callpaths_free(b.full);
	free(words);
}

static void the_short_way_leads_to_the_same_paths(void **state)
{
	(void)state;
	for (u32 i = 0; i < nr_bundled_scenarios; i++) {
		struct error err;
		char *name = bundled_or_small(i);
		struct scenario *s = scenario_open(name, &err);

		free(name);
		assert_non_null(s);
		for (u32 k = 0; k < s->nr_lanes; k++)
			compare_lane(s, &s->lanes[k]);
		scenario_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PATH_TEST(each_frame_once),
		PATH_TEST(helpers_are_left_out),
		PATH_TEST(leaving_is_noticed),
		PATH_TEST(one_path_one_number),
		PATH_TEST(the_boundary_cuts),
		PATH_TEST(any_depth),
		PATH_TEST(a_helper_has_many_callers),
		cmocka_unit_test(a_crash_names_the_frames),
		cmocka_unit_test(mirrored_kernel_functions),
		cmocka_unit_test(the_short_way_leads_to_the_same_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
