/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run that is looked at window by window is the run that is recorded whole: the same
 * steps, call paths and states, and the same keys lead to the same moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explore.h"
#include "explorer.h"

/* Folios of two sizes in two PMD ranges, a pin on the way, a second operation. */
static const char many_folios[] =
	"{\"$schema\": \"scenario-1.json\", \"title\": \"Many folios\","
	"\"machine\": {\"cpus\": 2,"
	" \"swap\": [{\"id\": \"z\", \"kind\": \"sync\", \"slots\": 1024}]},"
	"\"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
	" \"folios\": [{\"id\": \"A\", \"count\": 5, \"order\": 4, \"pfn\": \"0x10000\"},"
	"  {\"id\": \"B\", \"count\": 40, \"pfn\": \"0x20000\"},"
	"  {\"id\": \"C\", \"order\": 4, \"pfn\": \"0x30000\"}],"
	" \"maps\": [{\"mm\": \"app\", \"va\": \"0x7f00001b0000\", \"folio\": \"A\"},"
	"  {\"mm\": \"app\", \"va\": \"0x7f0000200000\", \"folio\": \"B\"},"
	"  {\"mm\": \"app\", \"va\": \"0x7f0000600000\", \"folio\": \"C\"}]},"
	"\"script\": [{\"do\": \"madvise_pageout\", \"mm\": \"app\","
	"  \"va\": \"0x7f00001b0000\", \"pages\": 120},"
	" {\"cpu\": 1, \"do\": \"pin\", \"folio\": \"C\","
	"  \"when\": {\"event\": \"folio_free_queued\", \"folio\": \"A\", \"nth\": 3}},"
	" {\"do\": \"madvise_pageout\", \"mm\": \"app\","
	"  \"va\": \"0x7f0000600000\", \"pages\": 16}],"
	"\"say\": [{\"when\": {\"event\": \"folio_free_queued\", \"nth\": 20},"
	"  \"text\": \"Twenty.\"}]}";

/*
 * Long enough for snapshots: operations over several VMAs of several PMD ranges, and one
 * that is triggered late inside each.
 */
static const char many_ranges[] =
	"{\"$schema\": \"scenario-1.json\", \"title\": \"Many ranges\","
	"\"machine\": {\"cpus\": 2,"
	" \"swap\": [{\"id\": \"z\", \"kind\": \"sync\", \"slots\": 512}]},"
	"\"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
	" \"vmas\": [{\"mm\": \"app\", \"start\": \"0x200000\", \"end\": \"0x800000\"},"
	"  {\"mm\": \"app\", \"start\": \"0x800000\", \"end\": \"0xc00000\"},"
	"  {\"mm\": \"app\", \"start\": \"0xc00000\", \"end\": \"0x1000000\"}],"
	" \"folios\": [{\"id\": \"A\", \"count\": 96, \"pfn\": \"0x10000\"},"
	"  {\"id\": \"B\", \"count\": 160, \"pfn\": \"0x20000\"},"
	"  {\"id\": \"C\", \"count\": 96, \"pfn\": \"0x30000\"},"
	"  {\"id\": \"D\", \"pfn\": \"0x40000\"},"
	"  {\"id\": \"E\", \"count\": 140, \"pfn\": \"0x50000\"}],"
	" \"maps\": [{\"mm\": \"app\", \"va\": \"0x200000\", \"folio\": \"A\"},"
	"  {\"mm\": \"app\", \"va\": \"0x5d0000\", \"folio\": \"B\"},"
	"  {\"mm\": \"app\", \"va\": \"0x9d0000\", \"folio\": \"C\"},"
	"  {\"mm\": \"app\", \"va\": \"0xc00000\", \"folio\": \"D\"},"
	"  {\"mm\": \"app\", \"va\": \"0xd80000\", \"folio\": \"E\"}]},"
	"\"script\": [{\"do\": \"read\", \"mm\": \"app\", \"va\": \"0x200000\"},"
	" {\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"0x200000\", \"pages\": 1536},"
	" {\"cpu\": 1, \"do\": \"pin\", \"folio\": \"D\","
	"  \"when\": {\"event\": \"folio_free_queued\", \"nth\": 180}},"
	" {\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"0x800000\", \"pages\": 1025},"
	" {\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"0x800000\", \"pages\": 2048},"
	" {\"cpu\": 1, \"do\": \"unpin\", \"folio\": \"D\","
	"  \"when\": {\"event\": \"folio_free_queued\", \"nth\": 80}}]}";

static struct scenario *load(const char *text)
{
	struct error err;
	struct scenario *s = scenario_load("many.json", text, strlen(text), &err);

	if (!s)
		fail_msg("%s", err.text);
	return s;
}

/* A bundled one, or one of those above. */
static struct scenario *open_scenario(const char *name)
{
	struct error err;
	struct scenario *s = *name == '{' ? load(name) : scenario_open(name, &err);

	if (!s)
		fail_msg("%s", err.text);
	return s;
}

/* Recorded whole, and in windows that end at every so many steps. */
static void run_both(struct run *whole, struct run *cut, struct scenario *s, u32 steps)
{
	struct error err;

	if (!run_scenario(whole, s, RUN_RECORD, false, &err) ||
	    !run_scenario(cut, s, RUN_EXPLORE, false, &err) || !run_cut(cut, steps, &err) ||
	    !run_show(cut, 0))
		fail_msg("%s", err.text);
}

static void assert_same_step(const struct trace *a, const struct trace *b, u32 i)
{
	const struct step *x = trace_step(a, i), *y = trace_step(b, i);
	u32 nr, other;
	const struct delta *p = trace_deltas(a, i, &nr), *q = trace_deltas(b, i, &other);

	assert_int_equal(x->event, y->event);
	assert_int_equal(x->page, y->page);
	assert_int_equal(x->arg, y->arg);
	assert_memory_equal(trace_path(a, x->path), trace_path(b, y->path),
			    sizeof(struct call_path));
	assert_int_equal(nr, other);
	assert_memory_equal(p, q, nr * sizeof(*p));
}

/* All that a part tells, against the whole. */
static void assert_part(const struct trace *whole, const struct trace *part)
{
	struct cursor a, b;

	assert_true(cursor_open(&a, whole) && cursor_open(&b, part));
	assert_int_equal(b.pos, trace_first(part));
	for (u32 pos = trace_first(part); pos <= trace_last(part); pos++) {
		if (pos > trace_first(part))
			assert_same_step(whole, part, pos - 1);
		cursor_seek(&a, pos);
		cursor_seek(&b, pos);
		/* memcmp(): cmocka compares byte by byte */
		assert_int_equal(memcmp(a.words, b.words, a.live->words * sizeof(u32)), 0);
	}
	cursor_seek(&b, UINT32_MAX);
	assert_int_equal(b.pos, trace_last(part));
	cursor_seek(&b, 0);
	assert_int_equal(b.pos, trace_first(part));
	assert_null(cursor_step(&b));
	cursor_close(&a);
	cursor_close(&b);
}

static void windows_of(const char *name, u32 steps, u32 at_least)
{
	struct scenario *s = open_scenario(name);
	struct run whole, cut;

	run_both(&whole, &cut, s, steps);
	assert_true(cut.nr_windows >= at_least);
	for (u32 w = 0; w < cut.nr_windows; w++) {
		assert_true(run_show(&cut, w));
		assert_int_equal(align_first_tick(cut.align), run_first_tick(&cut, w));
		assert_true(align_last_tick(cut.align) <= run_first_tick(&cut, w + 1));
		for (u32 l = 0; l < cut.nr_lanes; l++) {
			const struct trace *part = cut.lanes[l].trace;
			u32 from = run_edge(&cut, w, l), to = run_edge(&cut, w + 1, l);

			assert_int_equal(trace_first(part), from - (from > 0));
			assert_int_equal(trace_last(part), to);
			assert_int_equal(align_pos(cut.align, 0, l), from);
			assert_int_equal(align_pos(cut.align, UINT32_MAX, l), to);
			assert_part(whole.lanes[l].trace, part);
		}
	}
	for (u32 l = 0; l < cut.nr_lanes; l++) {
		assert_int_equal(run_edge(&cut, 0, l), 0);
		assert_int_equal(run_edge(&cut, cut.nr_windows, l), cut.lanes[l].steps);
		for (u32 pos = 0; pos <= cut.lanes[l].steps; pos++) {
			u32 w = run_window_of(&cut, l, pos);

			assert_true(pos <= run_edge(&cut, w + 1, l));
			assert_true(pos > run_edge(&cut, w, l) || !pos);
		}
	}
	run_free(&whole);
	run_free(&cut);
	scenario_free(s);
}

static void each_seam_a_window(void **state)
{
	(void)state;
	windows_of(many_folios, 1, 46);
}

static void some_seams_a_window(void **state)
{
	(void)state;
	windows_of(many_folios, 3000, 5);
}

/* Windows far from the beginning: lanes run there from a state that was kept on the way. */
static void windows_after_snapshots(void **state)
{
	struct scenario *s = open_scenario(many_ranges);
	struct error err;
	struct run run;
	u32 inside = 0, before = 0;

	(void)state;
	if (!run_scenario(&run, s, RUN_EXPLORE, false, &err))
		fail_msg("%s", err.text);
	for (u32 l = 0; l < run.nr_lanes; l++)
		for (u32 i = 0; i < run.lanes[l].snapshots.nr; i++) {
			inside += run.lanes[l].snapshots.at[i].loop != NONE;
			before += run.lanes[l].snapshots.at[i].loop == NONE;
		}
	assert_true(inside >= run.nr_lanes && before >= run.nr_lanes);
	run_free(&run);
	scenario_free(s);
	windows_of(many_ranges, 700, 150);
	windows_of(many_ranges, 9000, 15);
}

static void bundled_in_windows(void **state)
{
	(void)state;
	windows_of("unmap-64k", 1, 2);
	windows_of("swapout-64k", 1, 2);
	windows_of("swapout-mixed-exclusive", 1, 2);
}

/* The same folios in each lane. */
static void seams_are_the_same(void **state)
{
	struct scenario *s = open_scenario(many_folios);
	struct run whole, cut;

	(void)state;
	run_both(&whole, &cut, s, 1);
	for (u32 w = 1; w < cut.nr_windows; w++) {
		u32 folio = NONE;

		for (u32 l = 0; l < cut.nr_lanes; l++) {
			u32 pos = run_edge(&cut, w, l);
			const struct step *step = trace_step(whole.lanes[l].trace, pos - 1);

			assert_true(event_is_seam((enum event)step->event));
			if (l == 0)
				folio = step->page;
			assert_int_equal(step->page, folio);
		}
	}
	run_free(&whole);
	run_free(&cut);
	scenario_free(s);
}

struct parts {
	const struct trace *whole;
	u32 next, nr, longest;
};

static bool see_part(void *ctx, const struct trace *t)
{
	struct parts *parts = ctx;

	assert_int_equal(trace_first(t), parts->next);
	assert_part(parts->whole, t);
	parts->next = trace_last(t);
	parts->longest = trace_nr_steps(t) > parts->longest ? trace_nr_steps(t) : parts->longest;
	return ++parts->nr < 100;
}

static bool take_part(void *ctx, struct trace *t)
{
	bool more = see_part(ctx, t);

	trace_free(t);
	return more;
}

/* Part after part of one execution, from anywhere to anywhere. */
static void parts_of_a_lane(void **state)
{
	struct scenario *s = open_scenario(many_folios);
	struct run whole;
	struct error err;

	(void)state;
	if (!run_scenario(&whole, s, RUN_RECORD, false, &err))
		fail_msg("%s", err.text);
	for (u32 l = 0; l < whole.nr_lanes; l++) {
		struct lane *lane = &whole.lanes[l];
		u32 end = (u32)lane->steps;
		const u32 cases[][3] = {
			{ 0, UINT32_MAX, UINT32_MAX }, { 0, end, end / 3 }, { 0, 100, 100 },
			{ end / 2, UINT32_MAX, end / 20 + 1 }, { end - 1, end, 5 }, { 0, 0, 5 },
			{ end / 3, end / 3 + 1, 1 }, { 1, 50, 7 },
		};

		for (u32 i = 0; i < NR_OF(cases); i++) {
			struct parts parts = { .whole = lane->trace, .next = cases[i][0] };
			u32 to = cases[i][1] < end ? cases[i][1] : end;

			assert_true(lane_record(lane, cases[i][0], cases[i][1], cases[i][2],
						take_part, &parts));
			assert_int_equal(parts.next, to);
			assert_true(parts.longest <= cases[i][2]);
			parts = (struct parts){ .whole = lane->trace, .next = cases[i][0] };
			assert_true(lane_look(lane, cases[i][0], cases[i][1], see_part, &parts));
			assert_int_equal(parts.next, to);
		}
	}
	run_free(&whole);
	scenario_free(s);
}

/* --- the explorer ------------------------------------------------------------ */

struct twins {
	struct scenario *s;
	struct run run[2];
	struct app app[2];	/* the run whole, and in windows */
	u32 compared, window;
};

static int open_twins(void **state)
{
	struct twins *t = calloc(1, sizeof(*t));
	struct error err;

	t->s = open_scenario(many_folios);
	assert_true(scenario_select_lanes(t->s, "arm64/*", &err));
	run_both(&t->run[0], &t->run[1], t->s, 2000);
	assert_true(t->run[1].nr_windows > 4);
	for (u32 i = 0; i < 2; i++)
		assert_true(app_open(&t->app[i], &t->run[i]));
	*state = t;
	return 0;
}

static int close_twins(void **state)
{
	struct twins *t = *state;

	for (u32 i = 0; i < 2; i++) {
		app_close(&t->app[i]);
		run_free(&t->run[i]);
	}
	scenario_free(t->s);
	free(t);
	return 0;
}

/* From the third row on: those above tell ticks and parts. */
static char *body(const struct app *app)
{
	char *text = screen(app, 120, 40);
	char *rest = strchr(strchr(text, '\n') + 1, '\n');

	memmove(text, rest, strlen(rest) + 1);
	return text;
}

/* Both stand at the same moment, and now and then, and at each edge, show the same. */
static void assert_same(struct twins *t, const char *keys)
{
	char *a, *b;

	for (u32 l = 0; l < t->run[0].nr_lanes; l++)
		if (t->app[0].cursor[l].pos != t->app[1].cursor[l].pos)
			fail_msg("after %s lane %u is at %u and %u", keys, l,
				 t->app[0].cursor[l].pos, t->app[1].cursor[l].pos);
	assert_string_equal(t->app[0].message, t->app[1].message);
	if (t->compared++ % 16 && t->window == t->run[1].window)
		return;
	t->window = t->run[1].window;
	a = body(&t->app[0]);
	b = body(&t->app[1]);
	if (strcmp(a, b) != 0)
		fail_msg("after %s, in part %u:\n%s\n%s", keys, t->run[1].window, a, b);
	free(a);
	free(b);
}

static void type(struct twins *t, const char *keys)
{
	for (u32 i = 0; i < 2; i++)
		app_keys(&t->app[i], keys);
	assert_same(t, keys);
}

static void type_times(struct twins *t, const char *keys, u32 times)
{
	while (times--)
		type(t, keys);
}

static void keys_over_edges(void **state)
{
	struct twins *t = *state;
	u32 before = 0, turned = 0;

	for (u32 i = 0; app_has_next(&t->app[0]); i++) {
		type(t, "s");
		turned += t->run[1].window != before;
		before = t->run[1].window;
		assert_true(i < 100000);
	}
	assert_int_equal(turned + 1, t->run[1].nr_windows);
	assert_false(app_has_next(&t->app[1]));
	while (t->app[0].tick)
		type(t, "b");
	assert_int_equal(t->app[1].tick, 0);
	type_times(t, "n", 300);
	type_times(t, "p", 300);
	type_times(t, "}", 300);
	type_times(t, "{", 300);
	type(t, "G");
	type_times(t, "40p", 12);
	type_times(t, "5{", 12);
}

static void jumps_over_edges(void **state)
{
	static const char *const keys[] = {
		"3000G", "100G", "9000G", "ma", "G", "'a", "''", "g", "''", "777s", "700b",
		":goto 5000\r", ":goto end\r", ":arm64/batched:1500\r", "\x0f", "\x0f", "2500s",
		"99n", ":goto 99999999\r", "5G", "12000s", "l", "3000G",
		":lanes arm64/batched\r", "2000s", "100b", "30}", "500G", "3n", ":lanes\r",
	};
	struct twins *t = *state;

	for (u32 round = 0; round < 3; round++)
		for (u32 i = 0; i < NR_OF(keys); i++)
			type(t, keys[(i * (round + 1)) % NR_OF(keys)]);
}

static void searches_over_edges(void **state)
{
	static const char *const kinds[] = { "f", "u", "w", "r", "s", "e", "d", "x" };
	struct twins *t = *state;
	char keys[8];

	for (u32 i = 0; i < NR_OF(kinds); i++) {
		type(t, "g");
		snprintf(keys, sizeof(keys), "]%s", kinds[i]);
		type_times(t, keys, 60);
		snprintf(keys, sizeof(keys), "30]%s", kinds[i]);
		type_times(t, keys, 6);
		snprintf(keys, sizeof(keys), "[%s", kinds[i]);
		type_times(t, keys, 60);
		type(t, "G");
		type_times(t, keys, 60);
	}
	type(t, "g/B31\r");
	type_times(t, "n", 20);
	type_times(t, "N", 25);
	type(t, "\033g/pin\r");
	type_times(t, "n", 5);
	type(t, "G");
	type_times(t, "N", 5);
	type(t, "/no such thing\r");
	type(t, "\033g:until swapents(app) == 70\r");
	type(t, ":until isolated(C)\r");
	type(t, ":until refcount(C) == 99\r");
	type(t, "g:until pincount(C) == 1\r");
}

static void play_over_edges(void **state)
{
	struct twins *t = *state;
	u32 edge = run_edge(&t->run[1], 2, 0);

	for (u32 i = 0; i < 2; i++) {
		app_goto_step(&t->app[i], 0, edge - 50);
		app_key(&t->app[i], ' ');
	}
	assert_int_equal(t->run[1].window, 1);
	while (t->app[0].cursor[0].pos < edge + 50) {
		for (u32 i = 0; i < 2; i++)
			app_tick(&t->app[i], 1000);
		assert_same(t, "play");
		assert_true(t->app[1].playing);
	}
	assert_int_equal(t->run[1].window, 2);
}

static u32 random_below(u64 *seed, u32 below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*seed >> 33) % below;
}

/* Any moment by its step, in any lane. */
static void random_moments(void **state)
{
	struct twins *t = *state;
	u64 seed = 5;

	for (u32 n = 0; n < 300; n++) {
		u32 lane = random_below(&seed, 2);
		u32 pos = random_below(&seed, (u32)t->run[0].lanes[lane].steps + 1);

		for (u32 i = 0; i < 2; i++) {
			app_goto_step(&t->app[i], lane, pos);
			assert_int_equal(t->app[i].cursor[lane].pos, pos);
		}
		assert_same(t, "a step");
	}
}

/* More than can be recorded; two pages of it are swapped out. */
static const char large_world[] =
	"{\"$schema\": \"scenario-1.json\", \"title\": \"Large\", \"machine\": {\"cpus\": 1,"
	" \"swap\": [{\"id\": \"z\", \"kind\": \"sync\", \"slots\": 512}]},"
	"\"lanes\": [{\"arch\": \"arm64\", \"path\": \"unbatched\", \"kernel\": \"7.3\"},"
	" {\"arch\": \"arm64\", \"path\": \"batched\", \"kernel\": \"7.3+anon-batch\"}],"
	"\"world\": {\"mms\": [{\"id\": \"app\"}],"
	" \"folios\": [{\"id\": \"A\", \"count\": 3276800, \"pfn\": \"0x100000\"}],"
	" \"maps\": [{\"mm\": \"app\", \"va\": \"0x7f0000000000\", \"folio\": \"A\"}]},"
	"\"script\": [{\"do\": \"madvise_pageout\", \"mm\": \"app\","
	"  \"va\": \"0x7f0000000000\", \"pages\": 2}],"
	"\"expect\": ["
	" {\"at\": \"end\", \"that\": \"refcount(A1) == 0 && refcount(A2) == 1\"},"
	" {\"at\": \"end\", \"that\": \"refcount(A3) == 7\"},"
	" {\"at\": \"end\", \"lane\": \"arm64/batched\","
	"  \"that\": \"count(folio_freed, 'arm64/unbatched') == 2\"}]}";

static void note_failure(void *ctx, const struct verdict *v)
{
	assert_non_null(strstr(v->text, "expected refcount(A3) == 7 at the end, but"));
	++*(u32 *)ctx;
}

/* It is judged before it goes; what it counted stays. */
static void large_lane(void **state)
{
	struct error err = { .text = "" };
	struct scenario *s = scenario_load("large", large_world, strlen(large_world), &err);
	u32 failures = 0;
	struct run run;

	(void)state;
	if (!s)
		fail_msg("%s", err.text);
	assert_true(run_scenario(&run, s, RUN_COUNT, false, &err));
	assert_int_equal(run.nr_lanes, 2);
	for (u32 i = 0; i < 2; i++) {
		assert_true(run.lanes[i].m.s->words < 4096);
		assert_int_equal(run.lanes[i].m.s->count[COUNT_folio_freed], 2);
	}
	assert_int_equal(run_expect(&run, note_failure, &failures), 2);
	assert_int_equal(failures, 2);
	run_free(&run);
	assert_false(run_scenario(&run, s, RUN_EXPLORE, false, &err));
	assert_non_null(strstr(err.text, "too large to be recorded"));
	scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_seam_a_window),
		cmocka_unit_test(some_seams_a_window),
		cmocka_unit_test(windows_after_snapshots),
		cmocka_unit_test(bundled_in_windows),
		cmocka_unit_test(seams_are_the_same),
		cmocka_unit_test(parts_of_a_lane),
		cmocka_unit_test(large_lane),
#define TWINS(name) cmocka_unit_test_setup_teardown(name, open_twins, close_twins)
		TWINS(keys_over_edges),
		TWINS(jumps_over_edges),
		TWINS(searches_over_edges),
		TWINS(play_over_edges),
		TWINS(random_moments),
	};

	return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
