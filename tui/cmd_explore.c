/* SPDX-License-Identifier: GPL-2.0-only */
#include "cmd.h"
#include "pane.h"
#include "scenario/suggest.h"
#include "term.h"

#define FIRST_LESSON "swapout-64k"

static int no_pane(const char *name)
{
	const char *near = suggest(name, &panes[0].name, sizeof(panes[0]), NR_PANES);

	if (near)
		return complain(STATUS_USAGE, "--view: no pane \"%s\" (did you mean \"%s\"?)", name,
				near);
	return complain(STATUS_USAGE, "--view: no pane \"%s\"; the first is \"%s\"", name,
			panes[0].name);
}

int command_open_app(const struct options *opt, struct run *run, struct app *app)
{
	struct error err = { .text = "" };
	u32 lane = 0, pos = 0;

	if (opt->at && !run_moment(run, opt->at, &lane, &pos, &err))
		return complain(STATUS_USAGE, "%s", err.text);
	if (!app_open(app, run))
		return complain(STATUS_INTERNAL, "out of memory");
	app_goto_step(app, lane, pos);
	if (opt->lanes)		/* as many of them as fit, not just the usual two */
		app_lanes(app, "*", &err);
	if (!opt->view || app_view(app, opt->view))
		return STATUS_OK;
	app_close(app);
	return no_pane(opt->view);
}

static int explore(const struct options *opt, struct run *run)
{
	struct term_options term = { .color = options_color(opt),
				     .ascii = opt->ascii };
	struct app app;
	int status = command_open_app(opt, run, &app);

	if (status != STATUS_OK)
		return status;
	status = term_run(&app, &term);
	if (status < 0)
		status = complain(STATUS_INTERNAL, status == TERM_UNUSABLE ?
				  "the terminal could not be used" : "out of memory");
	app_close(&app);
	return status == STATUS_OK ? command_limits(run) : status;
}

/* No terminal to explore in: the steps as text; the options must make sense all the same. */
static int print_steps(const struct options *opt, struct run *run)
{
	struct app app;
	int status = command_open_app(opt, run, &app);

	if (status != STATUS_OK)
		return status;
	app_close(&app);
	return command_print_steps(opt, run);
}

int cmd_explore(const struct options *opt)
{
	const char *scenario = opt->nr_args ? opt->args[0] : FIRST_LESSON;
	struct run run;
	int status;

	if (!term_usable() && !opt->nr_args)
		return cmd_list(opt);
	status = command_open(opt, scenario, RUN_EXPLORE, false, &run);
	if (status != STATUS_OK)
		return status;
	status = term_usable() ? explore(opt, &run) : print_steps(opt, &run);
	command_close(&run);
	return status;
}
