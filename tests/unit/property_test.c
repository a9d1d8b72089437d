/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must hold for every scenario, bundled or a stranger's: counting and recording
 * leave the same state, rewinding leads to the start, seeking is stepping, the
 * invariants hold after every step, and so do the expectations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bundled.h"
#include "names.h"
#include "scenario/compare.h"

static struct scenario *open_scenario(const char *name)
{
	struct error err;
	struct scenario *s = scenario_open(name, &err);

	if (!s)
		fail_msg("%s", err.text);
	return s;
}

static void run_or_fail(struct run *run, struct scenario *s, enum run_mode mode, bool check)
{
	struct error err;

	if (!run_scenario(run, s, mode, check, &err))
		fail_msg("%s", err.text);
}

static size_t state_bytes(const struct lane *lane)
{
	return lane->m.s->words * sizeof(u32);
}

static void counted_equals_recorded(struct scenario *s)
{
	struct run counted, recorded;

	run_or_fail(&counted, s, RUN_COUNT, false);
	run_or_fail(&recorded, s, RUN_RECORD, false);
	for (u32 i = 0; i < s->nr_lanes; i++) {
		assert_int_equal(counted.lanes[i].steps, recorded.lanes[i].steps);
		assert_int_equal(recorded.lanes[i].steps, trace_nr_steps(recorded.lanes[i].trace));
		assert_memory_equal(counted.lanes[i].words, recorded.lanes[i].words,
				    state_bytes(&counted.lanes[i]));
	}
	run_free(&counted);
	run_free(&recorded);
}

/* With somebody who waits for certain steps, and with nobody: then other objects run it. */
static void counting_equals_recording(struct scenario *s)
{
	u32 says = s->nr_says, expects = s->nr_expects;

	counted_equals_recorded(s);
	s->nr_says = s->nr_expects = 0;
	counted_equals_recorded(s);
	s->nr_says = says;
	s->nr_expects = expects;
}

static u64 hash(const struct cursor *c)
{
	u64 h = 14695981039346656037ull;

	for (u32 i = 0; i < c->live->words; i++)
		h = (h ^ c->words[i]) * 1099511628211ull;
	return h;
}

#define NR_SEEKS 100

static u32 random_below(u32 *seed, u32 below)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed % below;
}

/* Step through it all and hash the state at some positions; then go there in any order. */
static void seeking_is_stepping(const struct lane *lane)
{
	u32 nr = trace_nr_steps(lane->trace), seed = 1;
	u64 *hashes = calloc((size_t)nr + 1, sizeof(*hashes));
	struct cursor c;

	assert_non_null(hashes);
	assert_true(cursor_open(&c, lane->trace));
	for (u32 i = 0; i < NR_SEEKS; i++)
		hashes[random_below(&seed, nr + 1)] = 1;
	for (u32 i = 0; i <= nr; i++) {
		cursor_seek(&c, i);
		if (hashes[i])
			hashes[i] = hash(&c);
	}
	assert_memory_equal(c.words, lane->words, state_bytes(lane));
	seed = 1;
	for (u32 i = 0; i < NR_SEEKS; i++) {
		u32 pos = random_below(&seed, nr + 1);

		cursor_seek(&c, pos);
		assert_int_equal(hash(&c), hashes[pos]);
	}
	for (u32 i = nr + 1; i-- > 0;)
		cursor_seek(&c, i);
	assert_memory_equal(c.words, trace_start(lane->trace), state_bytes(lane));
	cursor_close(&c);
	free(hashes);
}

static void report(void *ctx, const struct verdict *v)
{
	(void)ctx;
	print_error("%s\n", v->text);
}

static void test_counting(void **state)
{
	struct scenario *s = open_scenario(*state);

	counting_equals_recording(s);
	scenario_free(s);
}

static void test_seeking(void **state)
{
	struct scenario *s = open_scenario(*state);
	struct run run;

	run_or_fail(&run, s, RUN_RECORD, false);
	for (u32 i = 0; i < run.nr_lanes; i++)
		seeking_is_stepping(&run.lanes[i]);
	run_free(&run);
	scenario_free(s);
}

static void test_invariants(void **state)
{
	struct scenario *s = open_scenario(*state);
	struct run run;

	run_or_fail(&run, s, RUN_COUNT, true);
	for (u32 i = 0; i < run.nr_lanes; i++)	/* or they are looked at between folios only */
		assert_true(run.lanes[i].m.s->words <= CHECK_EACH_STEP_WORDS);
	for (u32 i = 0; i < run.nr_lanes; i++)
		if (run.lanes[i].invariant.text[0] && !run_breaks(s, &run.lanes[i]))
			fail_msg("%s step %u: %s", run.lanes[i].spec->name,
				 run.lanes[i].invariant_step, run.lanes[i].invariant.text);
	run_free(&run);
	scenario_free(s);
}

static void must_be_sound(struct run *run)
{
	for (u32 i = 0; i < run->nr_lanes; i++)
		if (run->lanes[i].invariant.text[0])
			fail_msg("kernel %s, %s step %u: %s", run->lanes[i].spec->kernel->name,
				 run->lanes[i].spec->name, run->lanes[i].invariant_step,
				 run->lanes[i].invariant.text);
}

/* One lane for each architecture: with the same kernel the others do the same. */
static void one_lane_an_arch(struct scenario *s)
{
	char lanes[256] = "";
	struct error err;

	for (u32 i = 0; i < s->nr_lanes; i++) {
		size_t len = strlen(lanes);

		if (!strstr(lanes, s->lanes[i].arch))
			snprintf(lanes + len, sizeof(lanes) - len, "%s%s", len ? "," : "",
				 s->lanes[i].name);
	}
	assert_true(scenario_select_lanes(s, lanes, &err));
}

/* The same world under every kernel that can have it, no bugs. */
static void test_every_kernel(void **state)
{
	struct scenario *s = open_scenario(*state);

	if (strstr(s->file, "tests/small/")) {	/* more of what other scenarios have */
		scenario_free(s);
		skip();
	}
	one_lane_an_arch(s);
	for (u32 k = 0; k < nr_kernels; k++) {
		struct machine m;
		struct error err;
		struct run run;
		u32 *words = NULL;

		for (u32 i = 0; i < s->nr_lanes; i++) {
			s->lanes[i].kernel = &kernels[k];
			s->lanes[i].bugs = 0;
		}
		if (!world_build(s, &s->lanes[0], &m, &words, &err)) {
			free(words);
			continue;
		}
		free(words);
		if (run_scenario(&run, s, RUN_COUNT, true, &err)) {
			must_be_sound(&run);
			run_free(&run);
		} else if (!strstr(err.text, "is impossible at step")) {
			fail_msg("%s", err.text);
		}
	}
	scenario_free(s);
}

static void test_expectations(void **state)
{
	struct scenario *s = open_scenario(*state);
	struct run run;

	assert_true(s->nr_expects > 0);
	run_or_fail(&run, s, RUN_RECORD, false);
	assert_int_equal(run_expect(&run, report, NULL), 0);
	run_free(&run);
	scenario_free(s);
}

/* Batched and unbatched end alike: everything but the generations that count flushes. */
static void must_be_a_generation(void *ctx, const struct difference *d)
{
	const struct lane *const *lane = ctx;

	if (!d->generation)
		fail_msg("%s x%u: %s in %s, %s in %s", d->what, d->nr, d->value[0],
			 lane[0]->spec->name, d->value[1], lane[1]->spec->name);
}

/*
 * An unmap that reclaim had to give up, because of somebody's triggered operation or for
 * want of memory, leaves what each path had done by then; so does a folio that is in use again
 * before it is written out. Else there is no such excuse.
 */
static bool unmap_given_up(const struct run *run)
{
	bool disturbed = run->scenario->fail_atomic_alloc;

	for (u32 i = 0; i < run->scenario->nr_ops; i++)
		disturbed |= run->scenario->ops[i].when.event != NR_EVENTS;
	if (!disturbed)
		return false;
	for (u32 i = 0; i < run->nr_lanes; i++)
		if (run->lanes[i].spec->kernel->dirty_flush != DIRTY_FLUSH_EACH ||
		    (run->lanes[i].m.s->count[COUNT_pte_xchg] &&
		     state_folio(run->lanes[i].m.s, 0)->mapcount))
			return true;
	return false;
}

/* Of one release and architecture: the series posted for it changes nothing but the cost. */
static bool same_release(const struct scn_lane *a, const struct scn_lane *b)
{
	size_t len = strcspn(a->kernel->name, "+");

	return strcmp(a->arch, b->arch) == 0 && len == strcspn(b->kernel->name, "+") &&
	       strncmp(a->kernel->name, b->kernel->name, len) == 0;
}

static void test_same_end(void **state)
{
	struct scenario *s = open_scenario(*state);
	struct names names;
	u32 pairs = 0, bugs = 0;
	struct run run;

	run_or_fail(&run, s, RUN_COUNT, false);
	if (unmap_given_up(&run)) {
		run_free(&run);
		scenario_free(s);
		skip();
	}
	names = scenario_names(s);
	for (u32 i = 0; i < run.nr_lanes; i++)
		bugs |= s->lanes[i].bugs;
	for (u32 i = 0; i < run.nr_lanes; i++)
		for (u32 j = 0; j < i; j++) {
			const struct lane *lane[2] = { &run.lanes[j], &run.lanes[i] };

			if (!same_release(&s->lanes[i], &s->lanes[j]) || s->lanes[i].bugs ||
			    s->lanes[j].bugs)
				continue;
			compare_ends(lane, &names, must_be_a_generation, lane);
			pairs++;
		}
	run_free(&run);
	scenario_free(s);
	if (!bugs && !pairs)
		skip();		/* releases do end otherwise than each other */
}

static const struct {
	const char *name;
	CMUnitTestFunction run;
} properties[] = {
	{ "counting == recording", test_counting },
	{ "seeking == stepping, rewind == start", test_seeking },
	{ "invariants after every step", test_invariants },
	{ "invariants on every kernel", test_every_kernel },
	{ "expectations", test_expectations },
	{ "batched and unbatched end alike", test_same_end },
};

int main(void)
{
	size_t nr = nr_bundled_scenarios * NR_OF(properties), n = 0;
	struct CMUnitTest *tests = calloc(nr, sizeof(*tests));

	for (u32 i = 0; i < nr_bundled_scenarios; i++)
		for (u32 k = 0; k < NR_OF(properties); k++) {
			char *scenario = bundled_or_small(i), *name = malloc(256);

			snprintf(name, 256, "%s: %s", scenario, properties[k].name);
			tests[n++] = (struct CMUnitTest){
				.name = name,
				.test_func = properties[k].run,
				.initial_state = scenario
			};
		}
	return _cmocka_run_group_tests("properties", tests, nr, NULL, NULL);
}
