/* SPDX-License-Identifier: GPL-2.0-only */
/* The manual pages say what the tables say: nothing missing, nothing made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd.h"
#include "scenario/expr.h"
#include "scenario/fields.h"
#include "scenario/ops.h"

#define PROGRAM "docs/man/folioscope.1"
#define SCENARIO "docs/man/folioscope-scenario.5"
#define MAX_TAGS 256

/* The words in a page's tags: "s" and "Right" of ".It Ic s , Right", "-at" of ".It Fl -at Ar M". */
struct tags {
	char word[MAX_TAGS][32];
	u32 nr;
};

static bool is_macro(const char *word)
{
	return strcmp(word, "Fl") == 0 || strcmp(word, "Cm") == 0 || strcmp(word, "Ic") == 0;
}

/* Words behind macro in lines that begin with start; up to the next macro of any kind. */
static void read_tags(struct tags *tags, const char *page, const char *start, const char *macro)
{
	FILE *file = fopen(page, "r");
	char line[512];

	assert_non_null(file);
	tags->nr = 0;
	while (fgets(line, sizeof(line), file)) {
		bool on = false;

		if (strncmp(line, start, strlen(start)) != 0)
			continue;
		for (char *word = strtok(line + 1, " \n"); word; word = strtok(NULL, " \n")) {
			bool is_argument = !strcmp(word, "Ar") || !strcmp(word, "Ns") ||
					   !strcmp(word, "Pq");

			if (is_macro(word) || is_argument) {
				on = strcmp(word, macro) == 0;
			} else if (on && strcmp(word, ",") != 0) {
				word += strncmp(word, "\\&", 2) == 0 ? 2 : 0;
				assert_true(tags->nr < MAX_TAGS);
				snprintf(tags->word[tags->nr++], sizeof(tags->word[0]), "%s", word);
			}
		}
	}
	fclose(file);
	assert_true(tags->nr > 0);
}

static bool has(const struct tags *tags, const char *word)
{
	for (u32 i = 0; i < tags->nr; i++)
		if (strcmp(tags->word[i], word) == 0)
			return true;
	return false;
}

static void must_have(const struct tags *tags, const char *page, const char *what, const char *word)
{
	if (!has(tags, word))
		fail_msg("%s lacks the %s \"%s\"", page, what, word);
}

static void program_has_every_option(void **state)
{
	struct tags tags;

	(void)state;
	read_tags(&tags, PROGRAM, ".It Fl", "Fl");
	for (u32 i = 0; i < nr_option_infos; i++) {
		char word[32], letter[2] = { option_infos[i].letter };

		snprintf(word, sizeof(word), "-%s", option_infos[i].name);
		must_have(&tags, PROGRAM, "option", word);
		if (*letter)
			must_have(&tags, PROGRAM, "option", letter);
	}
	for (u32 k = 0; k < tags.nr; k++) {
		bool known = false;

		for (u32 i = 0; i < nr_option_infos; i++)
			known |= strcmp(tags.word[k] + (tags.word[k][0] == '-'),
					option_infos[i].name) == 0 ||
				 (!tags.word[k][1] && tags.word[k][0] == option_infos[i].letter);
		if (!known)
			fail_msg("%s has an option that is none: \"%s\"", PROGRAM, tags.word[k]);
	}
}

static void program_has_every_key(void **state)
{
	static const char *const labels[] = {
#define KEY(key, label, action, text) label,
#include "keys.def"
#undef KEY
	};
	struct tags tags;

	(void)state;
	read_tags(&tags, PROGRAM, ".It Ic", "Ic");
	for (u32 i = 0; i < NR_OF(labels); i++)
		must_have(&tags, PROGRAM, "key", labels[i]);
	for (u32 k = 0; k < tags.nr; k++) {
		bool known = false;

		for (u32 i = 0; i < NR_OF(labels); i++)
			known |= strcmp(tags.word[k], labels[i]) == 0;
		if (!known)
			fail_msg("%s has a key that is none: \"%s\"", PROGRAM, tags.word[k]);
	}
}

static void program_has_commands_panes_and_features(void **state)
{
	static const char *const typed[] = {
#define COMMAND(name, args, text) #name,
#include "commands.def"
#undef COMMAND
	};
	static const char *const panes[] = {
#define PANE(name, title, floor, text) #name,
#include "panes.def"
#undef PANE
	};
	struct tags tags;

	(void)state;
	read_tags(&tags, PROGRAM, ".It Cm", "Cm");
	for (u32 i = CMD_EXPLORE + 1; i < NR_COMMANDS; i++)
		must_have(&tags, PROGRAM, "command", commands[i].name);
	for (u32 i = 0; i < NR_OF(typed); i++)
		must_have(&tags, PROGRAM, "command of the explorer", typed[i]);
	for (u32 i = 0; i < NR_OF(panes); i++)
		must_have(&tags, PROGRAM, "pane", panes[i]);
	for (u32 i = 0; i < NR_CPU_FEATURES; i++)
		must_have(&tags, PROGRAM, "feature", cpu_features[i].name);
}

static void must_have_keys(const struct tags *items, const struct tags *others,
			   const struct shape *shape)
{
	for (u32 i = 0; i < shape->nr; i++) {
		const struct field *field = &shape->fields[i];

		if (!has(others, field->key))
			must_have(items, SCENARIO, "key", field->key);
		if (field->shape)
			must_have_keys(items, others, field->shape);
	}
}

static void scenario_has_every_key(void **state)
{
	struct tags items, others;

	(void)state;
	read_tags(&items, SCENARIO, ".It Cm", "Cm");
	read_tags(&others, SCENARIO, ".Cm", "Cm");
	must_have_keys(&items, &others, &scenario_shape);
	for (u32 i = 0; i < NR_CPU_FEATURES; i++)
		must_have(&others, SCENARIO, "feature", cpu_features[i].name);
	for (u32 i = 0; i < NR_BUGS; i++)
		must_have(&others, SCENARIO, "bug", bug_infos[i].name);
}

static void scenario_has_every_operation_and_function(void **state)
{
	const char *args, *text;
	struct tags tags;

	(void)state;
	read_tags(&tags, SCENARIO, ".It Cm", "Cm");
	for (u32 i = 0; i < nr_op_infos; i++)
		must_have(&tags, SCENARIO, "operation", op_infos[i].name);
	for (u32 i = 0; i < expr_nr_functions(); i++)
		must_have(&tags, SCENARIO, "function", expr_function(i, &args, &text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(program_has_every_option),
		cmocka_unit_test(program_has_every_key),
		cmocka_unit_test(program_has_commands_panes_and_features),
		cmocka_unit_test(scenario_has_every_key),
		cmocka_unit_test(scenario_has_every_operation_and_function),
	};

	return cmocka_run_group_tests_name("man", tests, NULL, NULL);
}
