/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "names.h"
#include "out.h"
#include "scenario/expr.h"
#include "scenario/suggest.h"

/* What a lane has cost. */
struct tally {
	const struct scn_lane *spec;
	u64 steps;
	u64 count[NR_COUNTERS];
	u32 ratio_to;		/* an architecture's second lane: its first; else NONE */
	int width;		/* of its column */
};

static bool is_under(const struct call_path *path, enum event function)
{
	for (u32 i = 0; i < path->nr; i++)
		if (path->function[i] == function)
			return true;
	return false;
}

struct sifting {
	struct tally *tally;
	enum event function;
	struct cursor c;
};

static bool sift_part(void *ctx, const struct trace *t)
{
	struct sifting *s = ctx;
	u64 before[NR_COUNTERS];

	if (s->c.words)
		cursor_move(&s->c, t);
	else if (!cursor_open(&s->c, t))
		return false;
	for (u32 pos = trace_first(t) + 1; pos <= trace_last(t); pos++) {
		memcpy(before, s->c.live->count, sizeof(before));
		cursor_seek(&s->c, pos);
		if (!is_under(cursor_path(&s->c), s->function))
			continue;
		s->tally->steps++;
		for (u32 i = 0; i < NR_COUNTERS; i++)
			s->tally->count[i] += s->c.live->count[i] - before[i];
	}
	return true;
}

/* The part of a lane's counts that happened while function was on the call path. */
static bool tally_under(struct tally *t, struct lane *lane, enum event function)
{
	struct sifting s = { .tally = t, .function = function };
	bool ok = lane_look(lane, 0, UINT32_MAX, sift_part, &s) && s.c.words;

	cursor_close(&s.c);
	return ok;
}

/* Each architecture's second lane is compared with its first. */
static u32 compare_with(const struct tally *tallies, u32 lane)
{
	u32 first = NONE, earlier = 0;

	for (u32 i = 0; i < lane; i++) {
		if (strcmp(tallies[i].spec->arch, tallies[lane].spec->arch) != 0)
			continue;
		first = earlier++ ? first : i;
	}
	return earlier == 1 ? first : NONE;
}

/* The rows above the numbers; the bugs of a lane, one a row, come last. */
enum heading { HEAD_NAME, HEAD_KERNEL, HEAD_PROPOSED, HEAD_BUG };

static const char *heading_text(const struct scn_lane *spec, u32 heading)
{
	u32 skip = heading - HEAD_BUG;

	switch (heading) {
	case HEAD_NAME:
		return spec->name;
	case HEAD_KERNEL:
		return spec->kernel->name;
	case HEAD_PROPOSED:
		return spec->kernel->proposed ? "proposed" : "";
	}
	for (u32 i = 0; i < NR_BUGS; i++)
		if (spec->bugs >> i & 1 && !skip--)
			return bug_infos[i].name;
	return "";
}

static int column_width(const struct tally *t)
{
	size_t width = 0;
	char buf[32];

	for (u32 i = 0; i < HEAD_BUG + NR_BUGS; i++) {
		size_t len = strlen(heading_text(t->spec, i));

		width = len > width ? len : width;
	}
	for (u32 i = 0; i < NR_COUNTERS; i++) {
		size_t len = strlen(thousands(t->count[i], buf));

		width = len > width ? len : width;
	}
	return (int)width;
}

#define LABEL_WIDTH 17
#define RATIO_WIDTH 6

/* A right-aligned cell; *blanks collects what is only written when something follows. */
static void print_cell(int *blanks, int width, const char *text)
{
	int len = (int)strlen(text);

	*blanks += 2 + width - len;
	if (!len)
		return;
	printf("%*s%s", *blanks, "", text);
	*blanks = 0;
}

#define STEPS NR_COUNTERS	/* a row like any counter's */

static u64 value(const struct tally *t, u32 row)
{
	return row == STEPS ? t->steps : t->count[row];
}

static void print_row(const struct tally *t, u32 nr, const char *label, u32 row)
{
	char buf[32], ratio[32];
	int blanks = 0;

	printf("%-*s", LABEL_WIDTH, label);
	for (u32 i = 0; i < nr; i++) {
		print_cell(&blanks, t[i].width, thousands(value(&t[i], row), buf));
		if (t[i].ratio_to != NONE)
			print_cell(&blanks, RATIO_WIDTH,
				   ratio_text(value(&t[t[i].ratio_to], row), value(&t[i], row),
					      ratio, sizeof(ratio)));
	}
	putchar('\n');
}

/* Nothing to say: no row. */
static void print_heading(const struct tally *t, u32 nr, u32 heading)
{
	int blanks = LABEL_WIDTH;
	bool any = false;

	for (u32 i = 0; i < nr; i++)
		any |= *heading_text(t[i].spec, heading) != '\0';
	if (!any)
		return;
	for (u32 i = 0; i < nr; i++) {
		print_cell(&blanks, t[i].width, heading_text(t[i].spec, heading));
		if (t[i].ratio_to != NONE)
			print_cell(&blanks, RATIO_WIDTH, heading == HEAD_NAME ? "ratio" : "");
	}
	putchar('\n');
}

/* What the bugs of these lanes are. */
static void print_bugs(const struct tally *t, u32 nr)
{
	u32 bugs = 0;

	for (u32 i = 0; i < nr; i++)
		bugs |= t[i].spec->bugs;
	for (u32 i = 0; i < NR_BUGS; i++)
		if (bugs >> i & 1)
			printf("%s: a bug of that lane alone; %s.\n", bug_infos[i].name,
			       bug_infos[i].text);
}

static bool any_ratio(const struct tally *t, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		if (t[i].ratio_to != NONE)
			return true;
	return false;
}

/* The first lane of the one architecture with something in this row; nr: several; NONE: none. */
static u32 row_owner(const struct tally *t, u32 nr, u32 row)
{
	u32 owner = NONE;

	for (u32 i = 0; i < nr; i++) {
		if (!value(&t[i], row))
			continue;
		if (owner != NONE && strcmp(t[owner].spec->arch, t[i].spec->arch) != 0)
			return nr;
		owner = owner == NONE ? i : owner;
	}
	for (u32 i = 0; owner != NONE && i < owner; i++)
		if (strcmp(t[i].spec->arch, t[owner].spec->arch) == 0)
			return i;
	return owner;
}

/* The rows of one owner. */
static void print_rows(const struct tally *t, u32 nr, u32 owner, const char *heading)
{
	bool any = false;

	for (u32 i = 0; i < NR_COUNTERS; i++) {
		if (row_owner(t, nr, i) != owner)
			continue;
		if (heading && !any)
			printf("\nonly on %s\n", heading);
		print_row(t, nr, counter_names[i], i);
		any = true;
	}
}

static bool one_arch(const struct tally *t, u32 nr)
{
	for (u32 i = 1; i < nr; i++)
		if (strcmp(t[0].spec->arch, t[i].spec->arch) != 0)
			return false;
	return true;
}

static void print_text(const struct options *opt, const struct scenario *s, const struct tally *t,
		       u32 nr)
{
	printf("%s: %s\n", s->name, s->title);
	if (opt->under)
		printf("Only what happened while %s was on the call path.\n", opt->under);
	putchar('\n');
	print_heading(t, nr, HEAD_NAME);
	print_heading(t, nr, HEAD_KERNEL);
	print_heading(t, nr, HEAD_PROPOSED);
	for (u32 i = 0; i < NR_BUGS; i++)
		print_heading(t, nr, HEAD_BUG + i);
	putchar('\n');
	print_row(t, nr, "steps", STEPS);
	print_rows(t, nr, nr, NULL);
	for (u32 i = 0; i < nr; i++)
		print_rows(t, nr, i, one_arch(t, nr) ? NULL : t[i].spec->arch);
	putchar('\n');
	if (any_ratio(t, nr))
		puts("ratio: the first lane of an architecture divided by its second.");
	print_proposed(s);
	if (s->nr_reported)
		puts("\nWhat the authors report; theirs, not counted here:");
	for (u32 i = 0; i < s->nr_reported; i++)
		printf("  %s: %s\n", report_words[s->reported[i].how], s->reported[i].text);
	print_bugs(t, nr);
}

static void print_json(const struct scenario *s, const struct tally *t, u32 nr)
{
	struct json_out o;

	json_out_begin(&o, stdout, 2);
	json_object(&o, NULL);
	json_string(&o, "scenario", s->name);
	json_array(&o, "lanes");
	for (u32 i = 0; i < nr; i++) {
		json_object(&o, NULL);
		json_string(&o, "name", t[i].spec->name);
		json_string(&o, "arch", t[i].spec->arch);
		write_kernel(&o, t[i].spec);
		json_number(&o, "steps", t[i].steps);
		json_object(&o, "counts");
		for (u32 k = 0; k < NR_COUNTERS; k++)
			json_number(&o, counter_names[k], t[i].count[k]);
		json_close(&o);
		json_close(&o);
	}
	json_close(&o);
	if (s->nr_reported)
		json_array(&o, "reported");
	for (u32 i = 0; i < s->nr_reported; i++) {
		json_object(&o, NULL);
		json_string(&o, "how", report_words[s->reported[i].how]);
		json_string(&o, "text", s->reported[i].text);
		json_close(&o);
	}
	if (s->nr_reported)
		json_close(&o);
	json_close(&o);
}

static bool tally_lanes(struct tally *tallies, const struct run *run, enum event under)
{
	for (u32 i = 0; i < run->nr_lanes; i++) {
		struct lane *lane = &run->lanes[i];
		struct tally *t = &tallies[i];

		t->spec = lane->spec;
		t->ratio_to = compare_with(tallies, i);
		if (under == NR_EVENTS) {
			t->steps = lane->steps;
			memcpy(t->count, lane->m.s->count, sizeof(t->count));
		} else if (!tally_under(t, lane, under)) {
			return false;
		}
		t->width = column_width(t);
	}
	return true;
}

static int print_counts(const struct options *opt, const struct run *run, enum event under)
{
	struct tally *t = calloc(run->nr_lanes, sizeof(*t));
	bool ok = t && tally_lanes(t, run, under);

	if (ok && opt->format == FORMAT_JSON)
		print_json(run->scenario, t, run->nr_lanes);
	else if (ok)
		print_text(opt, run->scenario, t, run->nr_lanes);
	free(t);
	return ok ? command_limits(run) : complain(STATUS_INTERNAL, "out of memory");
}

static int no_function(const char *name)
{
	const char *near = suggest(name, &event_info[0].name, sizeof(event_info[0]), NR_FUNCTIONS);

	if (near)
		return complain(STATUS_USAGE, "--under: no function \"%s\" (did you mean \"%s\"?)",
				name, near);
	return complain(STATUS_USAGE, "--under: no function \"%s\"", name);
}

int cmd_counts(const struct options *opt)
{
	enum event under = opt->under ? event_find(opt->under) : NR_EVENTS;
	struct run run;
	int status;

	if (opt->under && (under == NR_EVENTS || !event_is_function(under)))
		return no_function(opt->under);
	status = command_open(opt, opt->args[0], RUN_COUNT, false, &run);
	if (status != STATUS_OK)
		return status;
	status = print_counts(opt, &run, under);
	command_close(&run);
	return status;
}
