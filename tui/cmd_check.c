/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>

#include "cmd.h"
#include "out.h"

/* What is wrong with a scenario so far. */
struct findings {
	const struct scenario *s;
	const struct paint *paint;
	u32 nr;
};

/* What, and the command that opens the moment. The first one also says of which scenario. */
static void found(struct findings *f, const char *text, const char *command)
{
	if (!f->nr++)
		printf("%sfailed%s %s\n", f->paint->bad, f->paint->off, f->s->name);
	fputs("  ", stdout);
	for (const char *c = text; *c; c++) {
		putchar(*c);
		if (*c == '\n')
			fputs("    ", stdout);
	}
	printf("\n    %s\n", command);
}

static void on_failed_expectation(void *ctx, const struct verdict *v)
{
	found(ctx, v->text, v->command);
}

/* False: out of memory. */
static bool judge_invariants(struct findings *f, const struct run *run)
{
	char text[1024];

	for (u32 i = 0; i < run->nr_lanes; i++) {
		const struct lane *lane = &run->lanes[i];
		const char *name = lane->spec->name;
		char *command;

		if (!lane->invariant.text[0] || run_breaks(f->s, lane))
			continue;
		snprintf(text, sizeof(text), "%s step %u: %s", name, lane->invariant_step,
			 lane->invariant.text);
		command = run_command(f->s, NULL, name, lane->invariant_step);
		if (!command)
			return false;
		found(f, text, command);
		free(command);
	}
	return true;
}

static int check(const struct options *opt, const char *scenario)
{
	struct findings f = { .paint = paint(options_color(opt)) };
	struct run run;
	int status = command_open(opt, scenario, RUN_COUNT, true, &run);

	if (status != STATUS_OK)
		return status;
	f.s = run.scenario;
	if (judge_invariants(&f, &run) && run_expect(&run, on_failed_expectation, &f) != NONE)
		status = command_limits(&run);
	else
		status = complain(STATUS_INTERNAL, "%s: out of memory", scenario);
	if (!f.nr && status == STATUS_OK)
		printf("%sok%s %s (%u expectation%s)\n", f.paint->good, f.paint->off, f.s->name,
		       f.s->nr_expects, f.s->nr_expects == 1 ? "" : "s");
	if (status == STATUS_OK && f.nr)
		status = STATUS_DIFFERS;
	command_close(&run);
	return status;
}

int cmd_check(const struct options *opt)
{
	int worst = STATUS_OK;

	for (u32 i = 0; i < opt->nr_args; i++) {
		int status = check(opt, opt->args[i]);

		worst = status > worst ? status : worst;
	}
	return worst;
}
