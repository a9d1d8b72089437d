/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What real kernels executed, against the engine: calls, counts, page-table entries. With
 * words of a recording as arguments, those that fit, with what differs:
 *
 *	build/tests/unit/groundtruth_test 7.3 arm64 64k/4/half
 *
 * Data and the rules of comparison: tests/groundtruth/README.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "groundtruth.h"

static struct exceptions exceptions;
static bool asked;		/* for these recordings: excuse none, say more */

void say(const char *format, ...)
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

static void compare(void **state)
{
	static bool (*const same[NR_RECORDED])(const struct recording *r) = {
		same_counts, same_calls, same_ptes,
	};
	struct recording *r = *state;
	struct exception *excuse = exception_of(&exceptions, r);
	char name[128];

	r->reproduced = same[r->what](r);
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

/* The bar that docs/model.md names. */
static void enough_is_reproduced(void **state)
{
	const struct recordings *all = *state;
	u32 reproduced = 0;

	for (u32 i = 0; i < all->nr; i++)
		reproduced += all->recording[i].reproduced;
	assert_true(reproduced * 100 >= all->nr * 95);
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
	u32 nr[NR_RECORDED] = { 0 }, good[NR_RECORDED] = { 0 }, sum = 0, good_sum = 0;

	for (u32 i = 0; i < all->nr; i++) {
		const struct recording *r = &all->recording[i];

		if (kernel && (strcmp(r->kernel, kernel) != 0 || strcmp(r->arch, arch) != 0))
			continue;
		nr[r->what]++;
		good[r->what] += r->reproduced;
	}
	for (u32 i = 0; i < NR_RECORDED; i++) {
		sum += nr[i];
		good_sum += good[i];
	}
	printf("# %-17s %-5s: reproduced %3u of %3u", kernel ? kernel : "all",
	       kernel ? arch : "", good_sum, sum);
	for (u32 i = 0; i < NR_RECORDED; i++)
		printf(", %s %u of %u", recorded_names[i], good[i], nr[i]);
	printf("\n");
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

#define MAX_CASES 1024

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
		assert_true(nr < MAX_CASES - 2);
		tests[nr] = (struct CMUnitTest){
			.name = recording_name(&all.recording[i], names[nr]),
			.test_func = compare,
			.initial_state = &all.recording[i],
		};
		nr++;
	}
	if (!nr)
		fail_msg("no recording fits all of these words");
	if (!asked) {
		tests[nr++] = (struct CMUnitTest)cmocka_unit_test(no_line_is_idle);
		tests[nr++] = (struct CMUnitTest)cmocka_unit_test_prestate(enough_is_reproduced,
									   &all);
	}
	failed = _cmocka_run_group_tests("groundtruth", tests, nr, NULL, NULL);
	if (!asked)
		summarise_all(&all);
	return failed;
}
