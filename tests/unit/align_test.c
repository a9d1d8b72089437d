/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "toy.h"
#include "trace/align.h"

#define MAX_LANES 4

/*
 * Lanes written as strings, a step a letter:
 *	i isolate, s slots, 0..4 unmap of that page, f flush, w write;
 *	A..E the same task writing that page (phase write); x another CPU's step;
 *	| begins the next operation, which is no step
 */
struct lanes {
	u32 nr;
	struct toy toy[MAX_LANES];
	const struct trace *trace[MAX_LANES];
	struct align *align;
};

static void perform(struct toy *toy, const char *script)
{
	for (; *script; script++) {
		char c = *script;

		if (c == '|')
			put(&toy->m, &toy->m.s->op, toy->m.s->op + 1);
		else if (c == 'x')
			toy_step(toy, 1, NONE, PHASE_start, NONE);
		else if (c >= '0' && c <= '4')
			toy_step(toy, 0, c == '4', PHASE_unmap, (u32)(c - '0'));
		else if (c >= 'A' && c <= 'E')
			toy_step(toy, 0, c == 'E', PHASE_write, (u32)(c - 'A'));
		else
			toy_step(toy, 0, 0, c == 'i' ? PHASE_isolate : c == 's' ? PHASE_slots :
				 c == 'f' ? PHASE_flush : PHASE_write, NONE);
	}
}

static void lanes_open(struct lanes *lanes, const char *const *script)
{
	for (lanes->nr = 0; script[lanes->nr]; lanes->nr++) {
		struct toy *toy = &lanes->toy[lanes->nr];

		toy_open(toy);
		toy_record(toy);
		perform(toy, script[lanes->nr]);
		trace_end(toy->trace);
		lanes->trace[lanes->nr] = toy->trace;
	}
	lanes->align = align_new(lanes->trace, lanes->nr);
	assert_non_null(lanes->align);
}

static void lanes_close(struct lanes *lanes)
{
	align_free(lanes->align);
	for (u32 i = 0; i < lanes->nr; i++)
		toy_close(&lanes->toy[i]);
}

/* What must hold whatever the lanes do. */
static void assert_lockstep(const struct lanes *lanes)
{
	const struct align *a = lanes->align;

	for (u32 l = 0; l < lanes->nr; l++) {
		u32 pos = 0;

		assert_int_equal(align_pos(a, 0, l), 0);
		assert_false(align_moves(a, 0, l));
		assert_int_equal(align_tick(a, l, 0), 0);
		for (u32 tick = 1; tick <= align_nr_ticks(a); tick++) {
			if (align_moves(a, tick, l)) {
				pos++;
				assert_int_equal(align_tick(a, l, pos), tick);
			}
			assert_int_equal(align_pos(a, tick, l), pos);
		}
		assert_int_equal(pos, trace_nr_steps(lanes->trace[l]));
		assert_int_equal(align_pos(a, UINT32_MAX, l), pos);
	}
	for (u32 tick = 1; tick <= align_nr_ticks(a); tick++) {
		u32 moving = 0;

		for (u32 l = 0; l < lanes->nr; l++)
			moving += align_moves(a, tick, l);
		assert_true(moving > 0);
	}
}

/* The lanes side by side as align has them, '.' where one waits. */
static void assert_aligned(const char *const *script, const char *const *expected)
{
	struct lanes lanes;

	lanes_open(&lanes, script);
	assert_lockstep(&lanes);
	for (u32 l = 0; l < lanes.nr; l++) {
		const char *step = script[l];
		char text[256];
		u32 tick;

		for (tick = 1; tick <= align_nr_ticks(lanes.align); tick++) {
			while (*step == '|')
				step++;
			text[tick - 1] = align_moves(lanes.align, tick, l) ? *step++ : '.';
		}
		text[tick - 1] = 0;
		assert_string_equal(text, expected[l]);
	}
	lanes_close(&lanes);
}

#define ALIGNED(...) (const char *const []){ __VA_ARGS__, NULL }

static void equal_lanes_move_together(void **state)
{
	(void)state;
	assert_aligned(ALIGNED("iiss0011ff", "iiss0011ff"), ALIGNED("iiss0011ff", "iiss0011ff"));
	assert_aligned(ALIGNED("iiss0011ff"), ALIGNED("iiss0011ff"));
}

static void the_shorter_waits_in_a_group(void **state)
{
	(void)state;
	assert_aligned(ALIGNED("iiiis0ff", "iss000f"),
		       ALIGNED("iiiis.0..ff", "i...ss000f."));
}

static void a_batched_lane_waits_for_the_pages(void **state)
{
	(void)state;
	assert_aligned(ALIGNED("is00011122233fw", "is00000fw"),
		       ALIGNED("is000..11122233fw", "is00000........fw"));
}

static void four_lanes(void **state)
{
	(void)state;
	assert_aligned(ALIGNED("i0011f", "i000f", "ii01ff", "i0f"),
		       ALIGNED("i.00.11f.", "i.000..f.", "ii0..1.ff", "i.0....f."));
}

/* All unmaps and then all writes beside page by page. */
static void crossed_orders(void **state)
{
	(void)state;
	assert_aligned(ALIGNED("012AABBCC", "0A1B2C"),
		       ALIGNED("012AA.BB.CC", "0..A.1B.2C."));
}

static void a_group_may_return(void **state)
{
	(void)state;
	/* the second 0 of one lane is not the first of the other */
	assert_aligned(ALIGNED("0011", "0010"), ALIGNED("0011.", "001.0"));
	assert_aligned(ALIGNED("i0i0i0", "i0i0"), ALIGNED("i0i0i0", "i0i0.."));
	assert_aligned(ALIGNED("0x0f", "00f"), ALIGNED("0.x0f", "00..f"));
}

static void operations_are_apart(void **state)
{
	(void)state;
	assert_aligned(ALIGNED("i0|i0", "i0ff|i00"), ALIGNED("i0..i0.", "i0ffi00"));
}

static void a_lane_without_steps(void **state)
{
	(void)state;
	assert_aligned(ALIGNED("i01", ""), ALIGNED("i01", "..."));
	assert_aligned(ALIGNED("", ""), ALIGNED("", ""));
}

/* From a tick to the nearest that is about something else. */
static u32 other(const struct align *a, u32 tick, int dir, enum align_by by)
{
	struct align_group here = align_group(a, tick);

	return align_other(a, tick, dir, by, &here);
}

static void to_pages_and_phases(void **state)
{
	struct lanes lanes;
	const struct align *a;

	(void)state;
	lanes_open(&lanes, ALIGNED("iiss001122ffw", "iiss0000ffw"));
	a = lanes.align;
	/* iiss 00.. 11 22 ff w: 15 ticks */
	assert_int_equal(align_nr_ticks(a), 15);
	assert_int_equal(other(a, 0, 1, ALIGN_PHASE), 3);
	assert_int_equal(other(a, 3, 1, ALIGN_PHASE), 5);
	assert_int_equal(other(a, 6, 1, ALIGN_PHASE), 13);
	assert_int_equal(other(a, 15, 1, ALIGN_PHASE), NONE);
	assert_int_equal(other(a, 14, -1, ALIGN_PHASE), 12);
	assert_int_equal(other(a, 11, -1, ALIGN_PHASE), 4);
	assert_int_equal(other(a, 4, -1, ALIGN_PHASE), 2);
	assert_int_equal(other(a, 2, -1, ALIGN_PHASE), NONE);
	assert_int_equal(other(a, 0, 1, ALIGN_PAGE), 5);
	assert_int_equal(other(a, 5, 1, ALIGN_PAGE), 9);
	assert_int_equal(other(a, 9, 1, ALIGN_PAGE), 11);
	assert_int_equal(other(a, 11, 1, ALIGN_PAGE), 13);
	assert_int_equal(other(a, 13, 1, ALIGN_PAGE), NONE);
	assert_int_equal(other(a, 14, -1, ALIGN_PAGE), 12);
	assert_int_equal(other(a, 12, -1, ALIGN_PAGE), 10);
	assert_int_equal(other(a, 6, -1, ALIGN_PAGE), 4);
	assert_int_equal(other(a, 1, -1, ALIGN_PAGE), NONE);
	assert_int_equal(align_group(a, 11).page, 2);
	assert_int_equal(align_group(a, 11).phase, PHASE_unmap);
	assert_int_equal(align_group(a, 11).folio, 0);
	assert_int_equal(align_group(a, 15).page, NONE);
	assert_int_equal(align_group(a, 15).phase, PHASE_write);
	lanes_close(&lanes);
}

/* Any two lanes: no step lost, none out of order. */
static void random_lanes(void **state)
{
	struct toy dice = { .seed = 7 };

	(void)state;
	for (u32 round = 0; round < 200; round++) {
		char text[MAX_LANES][61];
		const char *script[MAX_LANES + 1] = { NULL };
		u32 nr = 1 + toy_random(&dice, MAX_LANES);
		struct lanes lanes;

		for (u32 l = 0; l < nr; l++) {
			u32 len = toy_random(&dice, 60);

			for (u32 i = 0; i < len; i++)
				text[l][i] = "iis0011234ffwABCDEx|"[toy_random(&dice, 20)];
			text[l][len] = 0;
			script[l] = text[l];
		}
		lanes_open(&lanes, script);
		assert_lockstep(&lanes);
		lanes_close(&lanes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_lanes_move_together),
		cmocka_unit_test(the_shorter_waits_in_a_group),
		cmocka_unit_test(a_batched_lane_waits_for_the_pages),
		cmocka_unit_test(four_lanes),
		cmocka_unit_test(crossed_orders),
		cmocka_unit_test(a_group_may_return),
		cmocka_unit_test(operations_are_apart),
		cmocka_unit_test(a_lane_without_steps),
		cmocka_unit_test(to_pages_and_phases),
		cmocka_unit_test(random_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
