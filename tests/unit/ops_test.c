/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The operation fuzzer without a fuzzer: as many cases as there is time for in a test, from
 * numbers that are the same on every machine.
 *
 *	ops_test		the test; and what a fuzzer found once: tests/fuzz/found/
 *	ops_test FIRST NR	the cases of these seeds
 *	ops_test FILE.json	a case from a file
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "fuzz/case.h"

#define CASES 500
#define CASE_BYTES 400

static cJSON *case_of_seed(u32 seed)
{
	u8 bytes[CASE_BYTES];

	for (u32 i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (u8)(seed >> 24);
	}
	return case_generate(bytes, sizeof(bytes));
}

/* False: it is told on standard error, as small as it gets. */
static bool judge(cJSON *json, const char *name)
{
	struct finding finding;
	char *text;

	if (case_judge(json, &finding))
		return true;
	case_shrink(json, &finding);
	case_judge(json, &finding);
	text = case_print(json);
	fprintf(stderr, "%s\n%s: %s: %s\n", text, name, finding.kind, finding.text);
	free(text);
	return false;
}

static u32 run_seeds(u32 first, u32 nr, u32 *failed)
{
	u32 made = 0;

	for (u32 seed = first; seed < first + nr; seed++) {
		cJSON *json = case_of_seed(seed);
		char name[32];

		snprintf(name, sizeof(name), "seed %u", seed);
		made += json != NULL;
		*failed += json && !judge(json, name);
		cJSON_Delete(json);
	}
	return made;
}

static void random_operations(void **state)
{
	u32 failed = 0, made = run_seeds(0, CASES, &failed);

	(void)state;
	assert_int_equal(failed, 0);
	assert_true(made > CASES * 9 / 10);
}

static bool judge_file(const char *name)
{
	char text[1 << 16];
	FILE *file = fopen(name, "r");
	size_t len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	cJSON *json = cJSON_ParseWithLength(text, len);
	bool ok = json && judge(json, name);

	if (file)
		fclose(file);
	cJSON_Delete(json);
	return ok;
}

static void what_was_found_once(void **state)
{
	DIR *dir = opendir("tests/fuzz/found");
	struct dirent *entry;
	u32 nr = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char name[300];

		if (!strstr(entry->d_name, ".json"))
			continue;
		snprintf(name, sizeof(name), "tests/fuzz/found/%s", entry->d_name);
		if (!judge_file(name))
			fail_msg("%s", name);
		nr++;
	}
	closedir(dir);
	assert_true(nr > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_operations),
		cmocka_unit_test(what_was_found_once),
	};
	u32 failed = 0, nr;

	if (argc == 2)
		return !judge_file(argv[1]);
	if (argc == 3) {
		nr = run_seeds((u32)atoi(argv[1]), (u32)atoi(argv[2]), &failed);
		printf("%u cases, %u failed\n", nr, failed);
		return failed != 0;
	}
	return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
