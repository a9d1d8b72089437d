/* SPDX-License-Identifier: GPL-2.0-only */
#include <unistd.h>

#include "app.h"
#include "cmd.h"
#include "term.h"

#define FIRST_LESSON "swapout-64k"

static int explore(const struct options *opt, const struct run *run)
{
	struct app app;
	struct error err = { "" };
	u32 tick = 0, lane;
	int status = STATUS_OK;

	if (opt->at && !run_moment(run, opt->at, &tick, &lane, &err))
		return complain(STATUS_USAGE, "%s", err.text);
	if (!app_open(&app, run))
		return complain(STATUS_INTERNAL, "out of memory");
	app_goto(&app, tick);
	if (opt->view && !app_view(&app, opt->view))
		status = no_such_pane(opt->view);
	else
		status = term_run(&app);
	app_close(&app);
	return status;
}

int cmd_explore(const struct options *opt)
{
	const char *scenario = opt->nr_args ? opt->args[0] : FIRST_LESSON;
	struct run run;
	int status;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return opt->nr_args ? cmd_run(opt) : cmd_list(opt);
	status = command_open(opt, scenario, RUN_RECORD, false, &run);
	if (status != STATUS_OK)
		return status;
	status = explore(opt, &run);
	if (status == STATUS_OK)
		status = command_limits(&run);
	command_close(&run);
	return status;
}
