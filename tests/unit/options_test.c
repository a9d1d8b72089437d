/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd.h"

#define MAX_WORDS 16

/* Parse a command line given as one string. */
static bool parse(struct options *opt, const char *line, struct error *err)
{
	static char copy[256];
	static char *argv[MAX_WORDS + 1];
	int argc = 0;

	snprintf(copy, sizeof(copy), "folioscope %s", line);
	for (char *word = strtok(copy, " "); word && argc < MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return options_parse(opt, argc, argv, err);
}

static void parses(struct options *opt, const char *line, enum command_id id)
{
	struct error err = { .text = "" };

	if (!parse(opt, line, &err))
		fail_msg("\"%s\": %s", line, err.text);
	assert_ptr_equal(opt->command, &commands[id]);
}

static void refuses(const char *line, const char *message)
{
	struct options opt;
	struct error err = { .text = "" };

	if (parse(&opt, line, &err))
		fail_msg("\"%s\" was taken", line);
	assert_string_equal(err.text, message);
}

static void commands_are_found(void **state)
{
	struct options opt;

	(void)state;
	parses(&opt, "", CMD_EXPLORE);
	parses(&opt, "unmap-64k", CMD_EXPLORE);
	assert_string_equal(opt.args[0], "unmap-64k");
	parses(&opt, "./list", CMD_EXPLORE);
	parses(&opt, "list.json", CMD_EXPLORE);
	parses(&opt, "-", CMD_EXPLORE);
	parses(&opt, "list", CMD_LIST);
	parses(&opt, "run unmap-64k", CMD_RUN);
	parses(&opt, "check a b c", CMD_CHECK);
	assert_int_equal(opt.nr_args, 3);
	parses(&opt, "pte arm64 0x1 0x2", CMD_PTE);
}

static void options_are_set(void **state)
{
	struct options opt;

	(void)state;
	parses(&opt,
	       "counts x --lanes a,b --format=json --feature p=on --feature q=off --under f "
	       "--ascii",
	       CMD_COUNTS);
	assert_string_equal(opt.lanes, "a,b");
	assert_string_equal(opt.under, "f");
	assert_int_equal(opt.format, FORMAT_JSON);
	assert_int_equal(opt.nr_features, 2);
	assert_string_equal(opt.feature[1], "q=off");
	assert_true(opt.ascii);
	assert_int_equal(opt.color, COLOR_AUTO);
	assert_null(opt.at);

	parses(&opt, "--at end screen --size 120x40 x --view pte --color never --format ansi",
	       CMD_SCREEN);
	assert_string_equal(opt.at, "end");
	assert_int_equal(opt.cols, 120);
	assert_int_equal(opt.rows, 40);
	assert_int_equal(opt.color, COLOR_NEVER);
	assert_int_equal(opt.format, FORMAT_ANSI);
}

/* Help and version do not ask for the rest to be right. */
static void help_comes_first(void **state)
{
	struct options opt;

	(void)state;
	parses(&opt, "run --help", CMD_RUN);
	assert_true(opt.help);
	parses(&opt, "-h", CMD_EXPLORE);
	assert_true(opt.help);
	parses(&opt, "-V counts", CMD_COUNTS);
	assert_true(opt.version);
}

static void mistakes_are_named(void **state)
{
	(void)state;
	refuses("cuonts x", "no command \"cuonts\" (did you mean \"counts\"?)");
	refuses("frob x", "no command \"frob\"; folioscope --help lists them");
	refuses("run", "usage: folioscope run SCENARIO [--lane LANE]");
	refuses("list x", "usage: folioscope list");
	refuses("run x --formt text", "unknown option --formt (did you mean --format?)");
	refuses("run x --quux=1", "unknown option --quux");
	refuses("run x -q", "unknown option -q");
	refuses("run x --at 1", "run takes no --at; it is for state, screen");
	refuses("x.json --under f", "--under needs a command: counts");
	refuses("run x --format json",
		"--format takes text, jsonl or calls, not \"json\" (did you mean \"jsonl\"?)");
	refuses("counts x --format", "--format needs a value: FORMAT");
	refuses("counts x --ascii=1", "--ascii takes no value");
	refuses("screen x --size 80x",
		"--size takes columns x rows up to 1000x1000, such as 80x24, not \"80x\"");
	refuses("screen x --size 80x1001",
		"--size takes columns x rows up to 1000x1000, such as 80x24, not \"80x1001\"");
	refuses("counts x --color=ever", "--color takes auto, always or never, not \"ever\" "
					 "(did you mean \"never\"?)");
}

static void tables_are_whole(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_COMMANDS; i++) {
		assert_non_null(commands[i].usage);
		assert_non_null(commands[i].text);
		assert_non_null(commands[i].run);
		assert_true(commands[i].min_args <= commands[i].max_args);
		assert_int_equal(commands[i].name == NULL, i == CMD_EXPLORE);
	}
	for (u32 i = 0; i < nr_option_infos; i++) {
		assert_non_null(option_infos[i].text);
		assert_non_null(option_infos[i].set);
		assert_true(option_infos[i].commands >> NR_COMMANDS == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_found),
		cmocka_unit_test(options_are_set),
		cmocka_unit_test(help_comes_first),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(tables_are_whole),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
