/* SPDX-License-Identifier: GPL-2.0-only */
/* docs/model.md says of every counter, invariant, bug and mirrored function what the tables say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/event.h"
#include "core/kernel.h"
#include "core/state.h"
#include "mm/check.h"

static char *text;

static int read_model(void **state)
{
	FILE *f = fopen("docs/model.md", "r");
	size_t len;

	(void)state;
	text = calloc(1, 1 << 20);
	if (!f || !text)
		return -1;
	len = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return len ? 0 : -1;
}

static int drop_model(void **state)
{
	(void)state;
	free(text);
	return 0;
}

static void has_row(const char *row)
{
	if (!strstr(text, row))
		fail_msg("docs/model.md has no row\n%s", row);
}

static void test_counters(void **state)
{
	static const char *const rows[] = {
#define COUNTER(id, what) "| `" #id "` | " what " |\n",
#include "core/counters.def"
#undef COUNTER
	};

	(void)state;
	for (u32 i = 0; i < NR_OF(rows); i++)
		has_row(rows[i]);
}

static void test_invariants(void **state)
{
	char row[512];

	(void)state;
	for (u32 i = 0; i < NR_INVARIANTS; i++) {
		snprintf(row, sizeof(row), "| %s | %s |\n", invariants[i].name, invariants[i].text);
		has_row(row);
	}
}

static void test_bugs(void **state)
{
	char row[512];

	(void)state;
	for (u32 i = 0; i < NR_BUGS; i++) {
		snprintf(row, sizeof(row), "| `%s` | %s |\n", bug_infos[i].name, bug_infos[i].text);
		has_row(row);
	}
}

static void test_functions(void **state)
{
	static const char *const words[] = {
		[SAME] = "same", [REDUCED] = "reduced", [STUB] = "stub", [CHANGED] = "changed",
	};
	char row[512];

	(void)state;
	for (u32 i = 0; i < NR_FUNCTIONS; i++) {
		snprintf(row, sizeof(row), "| `%s` | %s | %s |\n", event_info[i].name,
			 event_info[i].file, words[event_info[i].fidelity]);
		has_row(row);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_invariants),
		cmocka_unit_test(test_bugs),
		cmocka_unit_test(test_functions),
	};

	return cmocka_run_group_tests_name("model.md", tests, read_model, drop_model);
}
