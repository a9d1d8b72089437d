/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bug switches: each has a bundled scenario that shows what it breaks, and where, or that
 * it breaks nothing; and a `breaks` that is not so is found out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mm/check.h"
#include "scenario/run.h"

/* What they cost, or what they keep from happening, is their harm. */
static const u32 harmless = 1u << BUG_walk_not_skipped | 1u << BUG_no_ttu_sync;

static struct scenario *open_scenario(const char *name)
{
	struct error err;
	struct scenario *s = scenario_open(name, &err);

	if (!s)
		fail_msg("%s", err.text);
	return s;
}

static void run_or_fail(struct run *run, struct scenario *s)
{
	struct error err;

	if (!run_scenario(run, s, RUN_RECORD, false, &err))
		fail_msg("%s", err.text);
}

/* Lanes with this bug, and how many of them break something, as they must. */
static void count_broken(enum bug bug, u32 *lanes, u32 *broken)
{
	for (u32 i = 0; i < nr_bundled_scenarios; i++) {
		struct scenario *s = open_scenario(bundled_scenarios[i].name);
		struct run run = { .nr_lanes = 0 };
		bool has = false;

		for (u32 k = 0; k < s->nr_lanes; k++)
			has |= s->lanes[k].bugs >> bug & 1;
		if (has)
			run_or_fail(&run, s);
		for (u32 k = 0; k < run.nr_lanes; k++) {
			if (!(s->lanes[k].bugs >> bug & 1))
				continue;
			++*lanes;
			*broken += run.lanes[k].invariant.text[0] != '\0';
			assert_int_equal(run.lanes[k].invariant.text[0] != '\0',
					 run_breaks(s, &run.lanes[k]));
		}
		run_free(&run);
		scenario_free(s);
	}
}

static void test_each_bug_is_shown(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_BUGS; i++) {
		u32 lanes = 0, broken = 0;

		count_broken((enum bug)i, &lanes, &broken);
		if (lanes < 2)
			fail_msg("%s: no scenario shows it on both architectures",
				 bug_infos[i].name);
		if (!broken == !(harmless >> i & 1))
			fail_msg("%s: breaks something in %u of %u lanes", bug_infos[i].name,
				 broken, lanes);
	}
}

struct verdicts {
	u32 nr;
	char text[4][1200];
};

static void note(void *ctx, const struct verdict *v)
{
	struct verdicts *all = ctx;

	assert_true(all->nr < NR_OF(all->text));
	snprintf(all->text[all->nr++], sizeof(all->text[0]), "%s", v->text);
}

/* The scenario's own expectation, made wrong: `breaks` another invariant, or at another step. */
static void judge(enum invariant breaks, enum event event, u32 bugs, struct verdicts *all)
{
	struct scenario *s = open_scenario("bug-put-swap-forgotten");
	struct error err;
	struct run run;
	u32 nr;

	assert_true(scenario_select_lanes(s, "arm64/buggy", &err));
	assert_null(s->expects[0].that);
	s->lanes[0].bugs &= bugs;
	nr = s->nr_expects;
	s->nr_expects = 1;
	s->expects[0].breaks = breaks;
	s->expects[0].when.event = event;
	memset(all, 0, sizeof(*all));
	run_or_fail(&run, s);
	run_expect(&run, note, all);
	s->nr_expects = nr;
	run_free(&run);
	scenario_free(s);
}

static void test_breaks_is_judged(void **state)
{
	struct verdicts all;

	(void)state;
	judge(INVARIANT_V3, EV_still_mapped, UINT32_MAX, &all);
	assert_int_equal(all.nr, 0);
	judge(INVARIANT_V2, EV_still_mapped, UINT32_MAX, &all);
	assert_int_equal(all.nr, 1);
	assert_non_null(strstr(all.text[0], "expected V2 broken at still_mapped, but step "));
	assert_non_null(strstr(all.text[0], " breaks V3: a slot's count"));
	judge(INVARIANT_V3, EV_unmap_restored, UINT32_MAX, &all);
	assert_int_equal(all.nr, 1);
	assert_non_null(strstr(all.text[0], "expected V3 broken at unmap_restored, but step "));
	judge(INVARIANT_V3, EV_still_mapped, 0, &all);
	assert_int_equal(all.nr, 1);
	assert_non_null(strstr(all.text[0], "but every invariant holds\nbecause "));
	judge(INVARIANT_V3, EV_folio_freed, UINT32_MAX, &all);
	assert_int_equal(all.nr, 1);
	assert_non_null(strstr(all.text[0], "but that never happens"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_bug_is_shown),
		cmocka_unit_test(test_breaks_is_judged),
	};

	return cmocka_run_group_tests_name("bugs", tests, NULL, NULL);
}
