/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "version.h"

#define FORMAT(id) (1u << FORMAT_##id)
#define ANY UINT32_MAX

const struct command commands[NR_COMMANDS] = {
	[CMD_EXPLORE] = { .usage = "[SCENARIO] [--at MOMENT] [--view PANE]",
		.max_args = 1, .run = cmd_explore,
		.text = "the explorer; without a terminal like run, or like list" },
	[CMD_LIST] = { .name = "list", .usage = "",
		.formats = FORMAT(TEXT), .run = cmd_list,
		.text = "the bundled scenarios: id, level and title" },
	[CMD_RUN] = { .name = "run", .usage = "SCENARIO [--lane LANE]",
		.min_args = 1, .max_args = 1, .run = cmd_run,
		.formats = FORMAT(TEXT) | FORMAT(JSONL) | FORMAT(CALLS),
		.text = "every step, a sentence a line" },
	[CMD_COUNTS] = { .name = "counts", .usage = "SCENARIO [--under FUNC]",
		.min_args = 1, .max_args = 1, .run = cmd_counts,
		.formats = FORMAT(TEXT) | FORMAT(JSON),
		.text = "how often each operation was done, lanes side by side" },
	[CMD_STATE] = { .name = "state", .usage = "SCENARIO --at MOMENT",
		.min_args = 1, .max_args = 1, .run = cmd_state,
		.formats = FORMAT(TEXT) | FORMAT(JSON),
		.text = "the whole machine at a moment" },
	[CMD_CHECK] = { .name = "check", .usage = "SCENARIO...",
		.min_args = 1, .max_args = ANY, .formats = FORMAT(TEXT), .run = cmd_check,
		.text = "judge every expectation; the exit status is the verdict" },
	[CMD_DIFF] = { .name = "diff", .usage = "SCENARIO LANE LANE",
		.min_args = 3, .max_args = 3, .run = cmd_diff,
		.formats = FORMAT(TEXT) | FORMAT(JSON),
		.text = "where two lanes part, and what differs at the end" },
	[CMD_SCREEN] = { .name = "screen", .usage = "SCENARIO --at MOMENT --size CxR [--view PANE]",
		.min_args = 1, .max_args = 1, .run = cmd_screen,
		.formats = FORMAT(TEXT) | FORMAT(ANSI),
		.text = "one screen of the explorer, without a terminal" },
	[CMD_PTE] = { .name = "pte", .usage = "ARCH HEX... | --encode ARCH FIELD=VALUE...",
		.min_args = 2, .max_args = ANY, .run = cmd_pte,
		.formats = FORMAT(TEXT) | FORMAT(JSON),
		.text = "take raw page-table entries apart, or put one together" },
};

int complain(int status, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	make_printable(text);
	fflush(stdout);
	fprintf(stderr, "folioscope: %s\n", text);
	return status;
}

/* A message that says where in a file comes as editors like it: the file first. */
static int complain_about(const char *file, const struct error *err)
{
	if (err->no_memory)
		return complain(STATUS_INTERNAL, "%.200s: out of memory", file);
	if (!err->placed)
		return complain(STATUS_USAGE, "%.200s: %s", file, err->text);
	fflush(stdout);
	fprintf(stderr, "%s\n", err->text);
	return STATUS_USAGE;
}

int command_open(const struct options *opt, const char *scenario, enum run_mode mode,
		 bool invariants, struct run *run)
{
	struct error err = { .text = "" };
	struct scenario *s = scenario_open(scenario, &err);
	bool ok = s && (!opt->lanes || scenario_select_lanes(s, opt->lanes, &err));

	for (u32 i = 0; ok && i < opt->nr_features; i++)
		ok = scenario_set_feature(s, opt->feature[i], &err);
	memset(run, 0, sizeof(*run));
	if (ok && run_scenario(run, s, mode, invariants, &err))
		return STATUS_OK;
	scenario_free(s);
	return complain_about(scenario, &err);
}

int command_limits(const struct run *run)
{
	int status = STATUS_OK;

	for (u32 i = 0; i < run->nr_lanes; i++) {
		const struct lane *lane = &run->lanes[i];

		if (lane->limited)
			status = complain(STATUS_DIFFERS,
					  "%s: stopped at the limit of %llu steps (limits.steps)",
					  lane->spec->name,
					  (unsigned long long)run->scenario->max_steps);
	}
	return status;
}

void command_close(struct run *run)
{
	struct scenario *s = run->scenario;

	run_free(run);
	scenario_free(s);
}

int command_main(int argc, char **argv)
{
	struct options opt;
	struct error err = { .text = "" };

	if (!options_parse(&opt, argc, argv, &err))
		return complain(STATUS_USAGE, "%s", err.text);
	if (opt.version) {
		printf("folioscope %s\n", VERSION);
		return STATUS_OK;
	}
	if (opt.help) {
		options_help(&opt);
		return STATUS_OK;
	}
	return opt.command->run(&opt);
}
