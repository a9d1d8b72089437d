/* SPDX-License-Identifier: GPL-2.0-only */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "names.h"
#include "out.h"
#include "scenario/suggest.h"
#include "trace/describe.h"

#define SCRIPT "script"		/* what called the outermost function */

/* A lane on its way through its steps, to be printed. */
struct printer {
	const struct run *run;
	const struct lane *lane;
	struct cursor c;
	struct names names;
	const struct paint *paint;
	void (*print)(struct printer *p);
	int lane_width, step_width, function_width;
	struct json_out json;
};

static const char *function_name(const struct call_path *path, u32 i)
{
	return i < path->nr ? event_info[path->function[i]].name : SCRIPT;
}

/* The sentence of this step, and what the scenario has to say here. */
static const char *text_of(struct printer *p, char *buf, size_t size)
{
	const struct scenario *s = p->run->scenario;
	const struct lane *lane = p->lane;

	narrate(&p->c, &p->names, buf, size);
	for (u32 i = 0; i < s->nr_says; i++) {
		size_t len = strlen(buf);

		if (lane_said(p->lane, i) == p->c.pos)
			snprintf(buf + len, size - len, " %s", s->says[i].text);
	}
	if (lane->invariant.text[0] && lane->invariant_step == p->c.pos) {
		size_t len = strlen(buf);

		snprintf(buf + len, size - len, " Broken: %s", lane->invariant.text);
	}
	return buf;
}

static void print_text(struct printer *p)
{
	const struct paint *paint = p->paint;
	char text[1024], remark[128];

	lane_remark(p->lane->spec, remark, sizeof(remark));
	printf("%s%-*s %*" PRIu32 "%s %s%-*s%s  %s%s%s%s\n", paint->dim, p->lane_width,
	       p->lane->spec->name, p->step_width, p->c.pos, paint->off, paint->bold,
	       p->function_width, function_name(cursor_path(&p->c), 0), paint->off,
	       *remark ? "(" : "", remark, *remark ? ") " : "",
	       text_of(p, text, sizeof(text)));
}

static void print_change(void *ctx, const struct change *change)
{
	struct json_out *o = ctx;

	json_object(o, NULL);
	json_string(o, "what", change->what);
	if (change->number) {
		json_number(o, "old", strtoull(change->old, NULL, 10));
		json_number(o, "new", strtoull(change->new, NULL, 10));
	} else {
		json_string(o, "old", change->old);
		json_string(o, "new", change->new);
	}
	json_close(o);
}

static void print_jsonl(struct printer *p)
{
	const struct mm_state *s = p->c.live;
	const struct step *step = cursor_step(&p->c);
	const struct call_path *path = cursor_path(&p->c);
	u32 folio = page_folio(s, step->page);
	struct json_out *o = &p->json;
	char text[1024];

	json_out_begin(o, stdout, 0);
	json_object(o, NULL);
	json_string(o, "lane", p->lane->spec->name);
	json_number(o, "step", p->c.pos);
	json_string(o, "event", event_info[step->event].name);
	json_string(o, "phase", phase_names[state_task(s, s->cpu)->phase]);
	if (folio == NONE)
		json_null(o, "page");
	else
		json_number(o, "page", step->page - state_folio(s, folio)->page);
	json_number(o, "nr", step->arg);
	json_string(o, "text", text_of(p, text, sizeof(text)));
	json_array(o, "path");
	for (u32 i = 0; i < path->nr; i++)
		json_string(o, NULL, function_name(path, i));
	json_close(o);
	json_array(o, "changed");
	describe_step(&p->c, &p->names, print_change, o);
	json_close(o);
	json_close(o);
}

static void print_call(struct printer *p)
{
	u32 event = cursor_step(&p->c)->event;

	if (event_is_function(event))
		printf("%s <-%s\n", event_info[event].name, function_name(cursor_path(&p->c), 1));
}

static bool is_chosen(const struct options *opt, const struct lane *lane)
{
	return !opt->lane || fnmatch(opt->lane, lane->spec->name, 0) == 0;
}

static int bad_choice(const struct options *opt, const struct run *run, u32 chosen)
{
	const struct scn_lane *specs = run->scenario->lanes;
	const char *near =
		opt->lane ? suggest(opt->lane, &specs->name, sizeof(*specs), run->nr_lanes) : NULL;

	if (chosen > 1)
		return complain(STATUS_USAGE,
				"--format calls prints one lane: choose it with --lane, such as %s",
				specs->name);
	if (near)
		return complain(STATUS_USAGE, "no lane \"%s\" (did you mean \"%s\"?)", opt->lane,
				near);
	return complain(STATUS_USAGE, "no lane \"%s\"; the first is \"%s\"", opt->lane,
			specs->name);
}

static int digits(u64 n)
{
	return n < 10 ? 1 : 1 + digits(n / 10);
}

static bool measure_part(void *ctx, const struct trace *t)
{
	struct printer *p = ctx;

	for (u32 i = trace_first(t); i < trace_last(t); i++) {
		int len = (int)strlen(function_name(trace_path(t, trace_step(t, i)->path), 0));

		p->function_width = len > p->function_width ? len : p->function_width;
	}
	return true;
}

/* The columns of all lanes that will be printed. */
static bool measure(struct printer *p, const struct options *opt)
{
	for (u32 i = 0; i < p->run->nr_lanes; i++) {
		struct lane *lane = &p->run->lanes[i];
		int len = (int)strlen(lane->spec->name), steps = digits(lane->steps);

		if (!is_chosen(opt, lane))
			continue;
		p->lane_width = len > p->lane_width ? len : p->lane_width;
		p->step_width = steps > p->step_width ? steps : p->step_width;
		if (opt->format == FORMAT_TEXT &&
		    !lane_look(lane, 0, UINT32_MAX, measure_part, p))
			return false;
	}
	return true;
}

static bool print_part(void *ctx, const struct trace *t)
{
	struct printer *p = ctx;

	if (p->c.words)
		cursor_move(&p->c, t);
	else if (!cursor_open(&p->c, t))
		return false;
	for (u32 pos = trace_first(t) + 1; pos <= trace_last(t) && !ferror(stdout); pos++) {
		cursor_seek(&p->c, pos);
		p->print(p);
	}
	return !ferror(stdout);
}

static bool print_lane(struct printer *p, struct lane *lane)
{
	bool ok;

	p->lane = lane;
	ok = lane_look(lane, 0, UINT32_MAX, print_part, p) && p->c.words;
	cursor_close(&p->c);
	return ok;
}

int command_print_steps(const struct options *opt, struct run *run)
{
	static void (*const print[NR_FORMATS])(struct printer *) = {
		[FORMAT_TEXT] = print_text,
		[FORMAT_JSONL] = print_jsonl,
		[FORMAT_CALLS] = print_call,
	};
	struct printer p = {
		.run = run,
		.print = print[opt->format],
		.names = scenario_names(run->scenario),
		.paint = paint(options_color(opt)),
	};
	u32 chosen = 0;
	bool ok;

	for (u32 i = 0; i < run->nr_lanes; i++)
		chosen += is_chosen(opt, &run->lanes[i]);
	if (!chosen || (chosen > 1 && opt->format == FORMAT_CALLS))
		return bad_choice(opt, run, chosen);
	ok = measure(&p, opt);
	for (u32 i = 0; ok && i < run->nr_lanes; i++)
		if (is_chosen(opt, &run->lanes[i]))
			ok = print_lane(&p, &run->lanes[i]);
	return ok ? command_limits(run) : complain(STATUS_INTERNAL, "out of memory");
}

int cmd_run(const struct options *opt)
{
	struct run run;
	int status = command_open(opt, opt->args[0], RUN_COUNT, false, &run);

	if (status != STATUS_OK)
		return status;
	status = command_print_steps(opt, &run);
	command_close(&run);
	return status;
}
