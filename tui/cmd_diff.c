/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "out.h"
#include "scenario/compare.h"
#include "state_text.h"

#define COLUMNS 78		/* what a mail takes without folding it */
#define RATIO_WIDTH 6

/* Two lanes and how they differ. */
struct diff {
	const struct run *run;
	const struct lane *lane[2];
	struct names names;
	const struct paint *paint;
	u32 tick;		/* at which they part; 0: never */
	u32 same_steps;		/* before that */
	struct difference *end;
	u32 nr, max;
	bool oom;
};

static void keep(void *ctx, const struct difference *difference)
{
	struct diff *d = ctx;

	if (d->nr == d->max) {
		u32 max = d->max ? 2 * d->max : 64;
		struct difference *grown = realloc(d->end, max * sizeof(*grown));

		d->oom |= !grown;
		if (!grown)
			return;
		d->end = grown;
		d->max = max;
	}
	d->end[d->nr++] = *difference;
}

static u64 counted(const struct diff *d, u32 k, u32 counter)
{
	return d->lane[k]->m.s->count[counter];
}

static bool counts_differ(const struct diff *d)
{
	for (u32 i = 0; i < NR_COUNTERS; i++)
		if (counted(d, 0, i) != counted(d, 1, i))
			return true;
	return false;
}

/* --- the step at which they part ------------------------------------------- */

/* A lane after its first step that the other does not make. */
struct parting {
	struct lane *lane;
	struct trace *trace;	/* of that step */
	struct cursor c;
	bool waits;		/* it makes that step later than the other lane its own */
	bool ended;		/* there is none */
	char *command;
};

static bool take_step(void *ctx, struct trace *t)
{
	((struct parting *)ctx)->trace = t;
	return false;
}

static void parting_close(struct parting *p)
{
	cursor_close(&p->c);
	trace_free(p->trace);
	free(p->command);
}

static bool parting_open(const struct diff *d, u32 k, struct parting *p)
{
	u32 pos = d->same_steps + 1;

	*p = (struct parting){ .lane = &d->run->lanes[k] };
	p->ended = pos > p->lane->steps;
	p->waits = !align_moves(d->run->align, d->tick, k);
	pos -= p->ended;
	p->command = run_command(d->run->scenario, NULL, p->lane->spec->name, pos);
	if (!p->command ||
	    !lane_record(p->lane, pos - (pos > 0), pos, UINT32_MAX, take_step, p) ||
	    !cursor_open(&p->c, p->trace)) {
		parting_close(p);
		return false;
	}
	cursor_seek(&p->c, pos);
	return true;
}

/* "page 3 of A", "folio A", "" */
static void about_text(const struct diff *d, const struct align_group *group, char *buf,
		       size_t size)
{
	const struct mm_state *s = d->lane[0]->m.s;
	u32 folio = group->page == NONE ? group->folio : page_placed_folio(s, group->page);
	char name[32];

	*buf = '\0';
	if (folio == NONE)
		return;
	if (group->page == NONE)
		snprintf(buf, size, ", folio %s", d->names.folio(d->names.ctx, folio, name));
	else
		snprintf(buf, size, ", page %" PRIu32 " of %s",
			 group->page - state_folio(s, folio)->page,
			 d->names.folio(d->names.ctx, folio, name));
}

static void print_parting_step(const struct diff *d, const struct parting *p)
{
	const struct paint *paint = d->paint;
	const struct step *step = cursor_step(&p->c);
	char text[1024], remark[128];

	lane_remark(p->lane->spec, remark, sizeof(remark));
	printf("\n%s%s%s%s%s%s ", paint->bold, p->lane->spec->name, paint->off,
	       *remark ? " (" : "", remark, *remark ? ")" : "");
	if (p->ended) {
		puts("has ended.");
	} else {
		printf("step %" PRIu32 ", %s%s\n", p->c.pos, event_info[step->event].name,
		       p->waits ? ", later: it waits for the other" : "");
		print_folded(stdout, narrate(&p->c, &d->names, text, sizeof(text)), 4, COLUMNS);
		print_path(cursor_path(&p->c), 4);
	}
	printf("    %s%s%s\n", paint->dim, p->command, paint->off);
}

static bool print_parting(const struct diff *d)
{
	struct align_group group = align_group(d->run->align, d->tick);
	char about[64];

	about_text(d, &group, about, sizeof(about));
	if (d->same_steps)
		printf("The first %" PRIu32 " steps are the same. ", d->same_steps);
	printf("They part in phase %s%s:\n", phase_names[group.phase], about);
	for (u32 k = 0; k < 2; k++) {
		struct parting p;

		if (!parting_open(d, k, &p))
			return false;
		print_parting_step(d, &p);
		parting_close(&p);
	}
	return true;
}

/* --- tables ---------------------------------------------------------------- */

static int width_of(const char *text, int width)
{
	int len = (int)strlen(text);

	return len > width ? len : width;
}

static int lane_width(const struct diff *d, u32 k)
{
	char remark[128];

	lane_remark(d->lane[k]->spec, remark, sizeof(remark));
	return width_of(d->lane[k]->spec->name, width_of(remark, (int)strlen("proposed")));
}

static void print_heading(const struct diff *d, const char *title, int label, int w0, int w1)
{
	char remark[2][128];

	for (u32 k = 0; k < 2; k++)
		lane_remark(d->lane[k]->spec, remark[k], sizeof(remark[k]));
	printf("\n%s%-*s%s  %*s  %*s\n", d->paint->bold, label, title, d->paint->off, w0,
	       d->lane[0]->spec->name, w1, d->lane[1]->spec->name);
	if (*remark[1])
		printf("%*s  %*s  %*s\n", label, "", w0, remark[0], w1, remark[1]);
	else if (*remark[0])
		printf("%*s  %*s\n", label, "", w0, remark[0]);
}

/* "pte app 0x7f0000010000 x16" */
static const char *label_of(const struct difference *difference, char *buf, size_t size)
{
	if (difference->nr == 1)
		snprintf(buf, size, "  %s", difference->what);
	else
		snprintf(buf, size, "  %s x%" PRIu32, difference->what, difference->nr);
	return buf;
}

static bool fits(const struct diff *d, const struct difference *x)
{
	char label[136];
	int width = (int)strlen(label_of(x, label, sizeof(label))) + 4;

	for (u32 k = 0; k < 2; k++)
		width += width_of(x->value[k], lane_width(d, k));
	return !*x->text[0] && width <= COLUMNS;
}

/* What does not fit in a row gets a line a lane. */
static void print_difference(const struct diff *d, const struct difference *x, int label,
			     const int width[2])
{
	int names = width_of(d->lane[0]->spec->name, (int)strlen(d->lane[1]->spec->name));
	char text[136];

	label_of(x, text, sizeof(text));
	if (fits(d, x)) {
		printf("%-*s  %*s  %*s%s\n", label, text, width[0], x->value[0], width[1],
		       x->value[1], x->generation ? "  counts flushes" : "");
		return;
	}
	puts(text);
	for (u32 k = 0; k < 2; k++)
		printf("      %-*s  %s%s%s\n", names, d->lane[k]->spec->name, x->value[k],
		       *x->text[k] ? "  " : "", x->text[k]);
}

static void print_end(const struct diff *d)
{
	int label = (int)strlen("At the end"), width[2] = { lane_width(d, 0), lane_width(d, 1) };
	char text[136];

	if (!d->nr) {
		puts("\nAt the end both machines are the same: folios, page tables, swap, lists, "
		     "TLBs\nand pending flushes.");
		return;
	}
	for (u32 i = 0; i < d->nr; i++) {
		if (!fits(d, &d->end[i]))
			continue;
		label = width_of(label_of(&d->end[i], text, sizeof(text)), label);
		for (u32 k = 0; k < 2; k++)
			width[k] = width_of(d->end[i].value[k], width[k]);
	}
	print_heading(d, "At the end", label, width[0], width[1]);
	for (u32 i = 0; i < d->nr; i++)
		print_difference(d, &d->end[i], label, width);
}

static void print_count(const char *label, u64 first, u64 second, int label_width,
			const int width[2])
{
	char a[32], b[32], ratio[32];

	printf("  %-*s  %*s  %*s  %*s\n", label_width - 2, label, width[0], thousands(first, a),
	       width[1], thousands(second, b), RATIO_WIDTH,
	       ratio_text(first, second, ratio, sizeof(ratio)));
}

static void print_counts(const struct diff *d)
{
	int label = (int)strlen("  folio_write_start");
	int width[2] = { lane_width(d, 0), lane_width(d, 1) };

	if (!counts_differ(d)) {
		puts("\nEvery operation was done equally often.");
		return;
	}
	print_heading(d, "Counts that differ", label, width[0], width[1]);
	if (d->lane[0]->steps != d->lane[1]->steps)
		print_count("steps", d->lane[0]->steps, d->lane[1]->steps, label, width);
	for (u32 i = 0; i < NR_COUNTERS; i++)
		if (counted(d, 0, i) != counted(d, 1, i))
			print_count(counter_names[i], counted(d, 0, i), counted(d, 1, i), label,
				    width);
}

static bool print_text(const struct diff *d)
{
	printf("%s: %s\n\n", d->run->scenario->name, d->run->scenario->title);
	for (u32 k = 0; k < 2; k++) {
		const struct scn_lane *spec = d->lane[k]->spec;
		char remark[128];

		lane_remark(spec, remark, sizeof(remark));
		printf("  %-*s  %s%s%s%s\n",
		       width_of(d->lane[0]->spec->name, (int)strlen(d->lane[1]->spec->name)),
		       spec->name, spec->kernel->name, *remark ? " (" : "", remark,
		       *remark ? ")" : "");
	}
	putchar('\n');
	if (d->lane[0]->m.arch != d->lane[1]->m.arch)
		puts("The architectures differ, so page-table entries are compared by what they "
		     "say,\nnot by their bits.\n");
	if (!d->tick)
		printf("Both make the same %" PRIu32 " steps.\n", d->same_steps);
	else if (!print_parting(d))
		return false;
	print_end(d);
	print_counts(d);
	if (d->lane[0]->spec->kernel->proposed || d->lane[1]->spec->kernel->proposed)
		putchar('\n');
	print_proposed(d->run->scenario);
	return true;
}

/* --- JSON ------------------------------------------------------------------ */

static void write_parting_step(struct json_out *o, const struct diff *d, const struct parting *p)
{
	const struct step *step = cursor_step(&p->c);
	const struct call_path *path = cursor_path(&p->c);
	char text[1024];

	json_object(o, NULL);
	json_string(o, "lane", p->lane->spec->name);
	json_number(o, "step", p->c.pos);
	json_string(o, "event", p->ended ? NULL : event_info[step->event].name);
	json_bool(o, "waits", p->waits);
	json_string(o, "text", p->ended ? NULL : narrate(&p->c, &d->names, text, sizeof(text)));
	json_array(o, "path");
	for (u32 i = 0; !p->ended && i < path->nr; i++)
		json_string(o, NULL, event_info[path->function[i]].name);
	json_close(o);
	json_string(o, "command", p->command);
	json_close(o);
}

static bool write_parting(struct json_out *o, const struct diff *d)
{
	struct align_group group = align_group(d->run->align, d->tick);
	bool ok = true;
	char name[32];

	json_object(o, "parting");
	json_string(o, "phase", phase_names[group.phase]);
	json_string(o, "folio",
		    group.folio == NONE ? NULL : d->names.folio(d->names.ctx, group.folio, name));
	json_array(o, "steps");
	for (u32 k = 0; k < 2 && ok; k++) {
		struct parting p;

		ok = parting_open(d, k, &p);
		if (!ok)
			break;
		write_parting_step(o, d, &p);
		parting_close(&p);
	}
	json_close(o);
	json_close(o);
	return ok;
}

static void write_value(struct json_out *o, const struct difference *x, u32 k)
{
	if (x->number)
		json_number(o, NULL, strtoull(x->value[k], NULL, 10));
	else
		json_string(o, NULL, x->value[k]);
}

static void write_difference(struct json_out *o, const struct difference *x)
{
	json_object(o, NULL);
	json_string(o, "of", x->of);
	json_string(o, "what", x->what);
	json_number(o, "nr", x->nr);
	json_bool(o, "generation", x->generation);
	json_array(o, "values");
	for (u32 k = 0; k < 2; k++)
		write_value(o, x, k);
	json_close(o);
	if (*x->text[0]) {
		json_array(o, "texts");
		for (u32 k = 0; k < 2; k++)
			json_string(o, NULL, x->text[k]);
		json_close(o);
	} else {
		json_null(o, "texts");
	}
	json_close(o);
}

static void write_lane(struct json_out *o, const struct lane *lane)
{
	json_object(o, NULL);
	json_string(o, "name", lane->spec->name);
	json_string(o, "arch", lane->spec->arch);
	write_kernel(o, lane->spec);
	json_number(o, "steps", lane->steps);
	json_close(o);
}

static bool print_json(const struct diff *d)
{
	struct json_out o;
	bool ok = true;

	json_out_begin(&o, stdout, 2);
	json_object(&o, NULL);
	json_string(&o, "scenario", d->run->scenario->name);
	json_array(&o, "lanes");
	for (u32 k = 0; k < 2; k++)
		write_lane(&o, d->lane[k]);
	json_close(&o);
	json_number(&o, "same_steps", d->same_steps);
	if (d->tick)
		ok = write_parting(&o, d);
	else
		json_null(&o, "parting");
	json_array(&o, "end");
	for (u32 i = 0; i < d->nr; i++)
		write_difference(&o, &d->end[i]);
	json_close(&o);
	json_object(&o, "counts");
	for (u32 i = 0; i < NR_COUNTERS; i++) {
		if (counted(d, 0, i) == counted(d, 1, i))
			continue;
		json_array(&o, counter_names[i]);
		json_number(&o, NULL, counted(d, 0, i));
		json_number(&o, NULL, counted(d, 1, i));
		json_close(&o);
	}
	json_close(&o);
	json_close(&o);
	return ok;
}

/* --- the command ----------------------------------------------------------- */

static int print_diff(const struct options *opt, struct run *run)
{
	struct diff d = {
		.run = run, .lane = { &run->lanes[0], &run->lanes[1] },
		.names = scenario_names(run->scenario), .paint = paint(options_color(opt)),
	};
	int status;
	bool ok;

	ok = lanes_part(run, (const u32[]){ 0, 1 }, &d.tick);
	d.same_steps = d.tick ? align_pos(run->align, d.tick - 1, 0) : (u32)d.lane[0]->steps;
	compare_ends(d.lane, &d.names, keep, &d);
	ok = ok && !d.oom && (opt->format == FORMAT_JSON ? print_json(&d) : print_text(&d));
	free(d.end);
	if (!ok)
		return complain(STATUS_INTERNAL, "out of memory");
	status = command_limits(run);
	return status == STATUS_OK && (d.tick || d.nr || counts_differ(&d)) ? STATUS_DIFFERS :
									     status;
}

/* Run the two lanes alone. */
static int open_two(const struct options *opt, char **names, struct run *run)
{
	size_t size = strlen(names[0]) + strlen(names[1]) + 2;
	struct options narrowed = *opt;
	char *lanes = malloc(size);
	int status;

	if (!lanes)
		return complain(STATUS_INTERNAL, "out of memory");
	snprintf(lanes, size, "%s,%s", names[0], names[1]);
	narrowed.lanes = lanes;
	status = command_open(&narrowed, opt->args[0], RUN_EXPLORE, false, run);
	free(lanes);
	if (status != STATUS_OK || run->nr_lanes == 2)
		return status;
	complain(STATUS_USAGE, run->nr_lanes == 1 ?
		 "diff compares two lanes; \"%s\" and \"%s\" are one" :
		 "diff compares two lanes; \"%s\" and \"%s\" fit more", names[0], names[1]);
	command_close(run);
	return STATUS_USAGE;
}

int cmd_diff(const struct options *opt)
{
	struct run run;
	int status = open_two(opt, opt->args + 1, &run);

	if (status != STATUS_OK)
		return status;
	status = print_diff(opt, &run);
	command_close(&run);
	return status;
}
