/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/run.h"
#include "small.h"

static void add(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, format);
	assert_true((size_t)vsnprintf(text + len, size - len, format, args) < size - len);
	va_end(args);
}

static struct scenario *load(const struct small *small)
{
	static char text[16384];
	struct scenario *s;
	struct error err;

	text[0] = '\0';
	add(text, sizeof(text),
	    "{\"$schema\": \"scenario-1.json\", \"title\": \"t\", \"machine\": {%s},"
	    " \"world\": {%s}, \"script\": [%s], ",
	    small->machine ? small->machine : "\"cpus\": 2", small->world, small->script);
	if (small->lanes)
		add(text, sizeof(text), "\"lanes\": [%s], ", small->lanes);
	add(text, sizeof(text), "\"expect\": [");
	for (u32 i = 0; i < MAX_EXPECT && small->expect[i]; i++)
		add(text, sizeof(text),
		    small->expect[i][0] == '{' ? "%s%s" : "%s{\"at\": \"end\", \"that\": \"%s\"}",
		    i ? ", " : "", small->expect[i]);
	add(text, sizeof(text), "]}");
	s = scenario_load("small", text, strlen(text), &err);
	if (!s)
		fail_msg("%s: %s", small->name, err.text);
	return s;
}

static void failed(void *ctx, const struct verdict *v)
{
	print_error("%s: %s\n", (const char *)ctx, v->text);
}

static struct run record(const struct small *small, struct scenario *s)
{
	struct error err;
	struct run run;

	if (!run_scenario(&run, s, RUN_RECORD, true, &err))
		fail_msg("%s: %s", small->name, err.text);
	for (u32 i = 0; i < run.nr_lanes; i++)
		if (run.lanes[i].invariant.text[0])
			fail_msg("%s: %s step %u: %s", small->name, run.lanes[i].spec->name,
				 run.lanes[i].invariant_step, run.lanes[i].invariant.text);
	return run;
}

static u64 counted(const struct lane *lane, u32 pos, enum counter counter)
{
	struct cursor c;
	u64 nr;

	assert_true(cursor_open(&c, lane->trace));
	cursor_seek(&c, pos);
	nr = c.live->count[counter];
	cursor_close(&c);
	return nr;
}

/* From where the operation begins to where the next one does. */
static u64 cost_of(const struct lane *lane, u32 op, enum counter counter)
{
	u32 end = op + 1 < lane->scenario->nr_ops ? lane->began[op + 1] : (u32)lane->steps;

	return counted(lane, end, counter) - counted(lane, lane->began[op], counter);
}

void small_costs(const struct small *small, const struct cost *costs, u32 nr)
{
	struct scenario *s = load(small);
	struct run run = record(small, s);

	for (u32 i = 0; i < nr; i++) {
		u32 lane = 0;
		u64 got;

		while (strcmp(run.lanes[lane].spec->name, costs[i].lane) != 0)
			assert_true(++lane < run.nr_lanes);
		got = cost_of(&run.lanes[lane], costs[i].op, costs[i].counter);
		if (got != costs[i].nr)
			fail_msg("%s: %s operation %u costs %llu %s, not %llu", small->name,
				 costs[i].lane, costs[i].op, (unsigned long long)got,
				 counter_names[costs[i].counter], (unsigned long long)costs[i].nr);
	}
	run_free(&run);
	scenario_free(s);
}

void small_run(const struct small *small)
{
	struct scenario *s = load(small);
	struct run run = record(small, s);

	if (run_expect(&run, failed, (void *)(uintptr_t)small->name))
		fail_msg("%s", small->name);
	run_free(&run);
	scenario_free(s);
}

void small_compare(const struct small *a, const struct small *b,
		   void (*compare)(const struct machine *a, const struct machine *b))
{
	struct scenario *s[] = { load(a), load(b) };
	struct run run[] = { record(a, s[0]), record(b, s[1]) };

	for (u32 i = 0; i < run[0].nr_lanes; i++)
		compare(&run[0].lanes[i].m, &run[1].lanes[i].m);
	for (u32 i = 0; i < NR_OF(run); i++) {
		run_free(&run[i]);
		scenario_free(s[i]);
	}
}

void small_refused(const struct small *small, const char *text)
{
	struct scenario *s = load(small);
	struct error err;
	struct run run;

	if (run_scenario(&run, s, RUN_RECORD, true, &err))
		fail_msg("%s: ran, expected: %s", small->name, text);
	if (!strstr(err.text, text))
		fail_msg("%s: %s, expected: %s", small->name, err.text, text);
	scenario_free(s);
}
