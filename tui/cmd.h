/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands: one row each in the table of cmd.c, one file each.
 *
 *	folioscope counts unmap-64k --format json
 *	           |      |         `--- options.h
 *	           |      `------------- args
 *	           `-------------------- struct command: run(opt) -> exit status
 *
 * Data goes to standard output, messages to standard error, a line each that
 * begins with "folioscope: ".
 */
#ifndef CMD_H
#define CMD_H

#include "options.h"
#include "scenario/run.h"

enum exit_status {
	STATUS_OK,
	STATUS_DIFFERS,		/* an expectation failed, a difference found, a limit reached */
	STATUS_USAGE,		/* usage, or a bad scenario */
	STATUS_INTERNAL,	/* out of memory, or the output could not be written */
};

/* The explorer is the command without a word. */
enum command_id {
	CMD_EXPLORE, CMD_LIST, CMD_RUN, CMD_COUNTS, CMD_STATE, CMD_CHECK, CMD_DIFF, CMD_SCREEN,
	CMD_PTE,
	NR_COMMANDS
};

struct command {
	const char *name;
	const char *usage;	/* what follows the name: "SCENARIO [--lane LANE]" */
	const char *text;	/* one line of help */
	u32 min_args, max_args;
	u32 formats;		/* bit i: enum format i; the lowest is the default */
	int (*run)(const struct options *opt);
};
extern const struct command commands[NR_COMMANDS];

int cmd_explore(const struct options *opt);
int cmd_list(const struct options *opt);
int cmd_run(const struct options *opt);
int cmd_counts(const struct options *opt);
int cmd_state(const struct options *opt);
int cmd_check(const struct options *opt);
int cmd_diff(const struct options *opt);
int cmd_screen(const struct options *opt);
int cmd_pte(const struct options *opt);

/* The whole program but for what a process does around it. */
int command_main(int argc, char **argv);

/* A message; returns status. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Load the scenario of the command line, narrow it to its --lanes and --feature,
 * and run it. Anything but STATUS_OK has been complained about and left nothing
 * to free; otherwise command_close() is due.
 */
int command_open(const struct options *opt, const char *scenario, enum run_mode mode,
		 bool invariants, struct run *run);
/* What `run` prints, of the lanes of --lane. */
int command_print_steps(const struct options *opt, struct run *run);
/* STATUS_OK, or what a lane that could not run to its end means; complains. */
int command_limits(const struct run *run);
void command_close(struct run *run);

struct app;
/* The explorer of a run at --at and --view; app_close() is due after STATUS_OK. */
int command_open_app(const struct options *opt, struct run *run, struct app *app);

#endif
