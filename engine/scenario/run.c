/* SPDX-License-Identifier: GPL-2.0-only */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/tlb.h"
#include "mm/check.h"
#include "scenario/json.h"
#include "scenario/ops.h"
#include "scenario/run.h"

/* Watches a lane's machine: records, checks, and fires triggered operations. */
struct runner {
	struct observer observer; /* first: what the machine calls */
	struct lane *lane;
	const struct scenario *s;
	u32 *scratch; /* for the invariants, else NULL */
	u32 op; /* untriggered operation under way */
	u32 last_trigger; /* one past the operations triggered inside it */
	u32 *matches; /* of each operation's trigger so far */
	bool firing;
	struct error *err;
	bool failed;
};

bool when_matches(const struct scenario *scenario, const struct mm_state *s,
		  const struct scn_when *when, enum event event, u32 page)
{
	u32 folio;

	if (event != when->event)
		return false;
	if (when->page == NONE && when->folio == NONE)
		return true;
	folio = page_placed_folio(s, page);
	if (folio == NONE)
		return false;
	if (when->page != NONE && page - state_folio(s, folio)->page != when->page)
		return false;
	return when->folio == NONE ||
	       folio - scn_folio_state(scenario, when->folio) < scenario->folios[when->folio].count;
}

u32 when_position(const struct lane *lane, const struct scn_when *when)
{
	const struct mm_state *s = trace_start(lane->trace);
	u32 nr = trace_nr_steps(lane->trace), left = when->nth;

	for (u32 i = 0; i < nr; i++) {
		const struct step *step = trace_step(lane->trace, i);

		left -= when_matches(lane->scenario, s, when, (enum event)step->event, step->page);
		if (!left)
			return i + 1;
	}
	return 0;
}

u32 say_position(const struct lane *lane, const struct scn_say *say)
{
	if (say->lane && fnmatch(say->lane, lane->spec->name, 0) != 0)
		return 0;
	return when_position(lane, &say->when);
}

static void describe_violation(struct lane *lane, const struct violation *v)
{
	static const char *const on[] = {
		[ON_FOLIO] = "folio", [ON_PAGE] = "page",	[ON_PTE] = "PTE",
		[ON_SLOT] = "slot",   [ON_CLUSTER] = "cluster", [ON_DEVICE] = "swap device",
		[ON_MM] = "mm",	      [ON_CPU] = "CPU",
	};
	char name[32];

	if (v->on == ON_FOLIO)
		folio_name(lane->scenario, v->index, name);
	else
		snprintf(name, sizeof(name), "%u", v->index);
	snprintf(lane->invariant.text, sizeof(lane->invariant.text),
		 "%s: %s: %s %s has %llu (0x%llx), expected %llu (0x%llx)",
		 invariants[v->invariant].name, invariants[v->invariant].text, on[v->on], name,
		 (unsigned long long)v->got, (unsigned long long)v->got,
		 (unsigned long long)v->want, (unsigned long long)v->want);
	lane->broken = v->invariant;
	lane->invariant_step = (u32)lane->m.steps;
}

/* One operation of the script. Call paths end here: what it interrupts did not call it. */
__mirrored void run_op(struct runner *r, u32 i);

static void fire(struct runner *r, enum event event, u32 page)
{
	for (u32 i = r->op + 1; i < r->last_trigger; i++) {
		const struct scn_when *when = &r->s->ops[i].when;

		if (!when_matches(r->s, r->lane->m.s, when, event, page) ||
		    ++r->matches[i] != when->nth)
			continue;
		r->firing = true;
		run_op(r, i);
		r->firing = false;
	}
}

static bool check_due(const struct runner *r, enum event event)
{
	return r->lane->m.s->words <= CHECK_EACH_STEP_WORDS || event == EV_folio_free_queued ||
	       event == EV_folio_kept || event == EV_op_end;
}

static __mirrored void on_step(struct observer *o, enum event event, u32 page, u32 arg)
{
	struct runner *r = (struct runner *)(void *)o;
	struct lane *lane = r->lane;
	struct violation v;

	if (lane->trace)
		trace_record(lane->trace, event, page, arg, __builtin_return_address(0));
	if (r->scratch && !lane->invariant.text[0] && check_due(r, event) &&
	    !check_invariants(&lane->m, r->scratch, &v))
		describe_violation(lane, &v);
	if (!r->firing && !r->failed && r->last_trigger > r->op + 1)
		fire(r, event, page);
}

static void script_error(struct runner *r, u32 i)
{
	const struct scn_op *op = &r->s->ops[i];

	if (r->failed)
		return;
	snprintf(r->err->text, sizeof(r->err->text),
		 "%s:%u:%u: /script/%u: %s is impossible at step %llu of %s: %s", r->s->file,
		 op->at.line, op->at.column, i, op->op->name, (unsigned long long)r->lane->m.steps,
		 r->lane->spec->name, op->op->needs);
	r->failed = true;
}

__mirrored void run_op(struct runner *r, u32 i)
{
	struct machine *m = &r->lane->m;
	struct scn_op op = r->s->ops[i];
	u32 cpu = m->s->cpu, interrupted = m->s->op;

	if (op.folio != NONE)
		op.folio = scn_folio_state(r->s, op.folio);
	if (op.op->possible && !op.op->possible(m, &op)) {
		script_error(r, i);
		return;
	}
	machine_run_on(m, op.cpu);
	put(m, &m->s->op, i);
	if (!r->firing) {
		put(m, &m->task->phase, PHASE_start);
		put(m, &m->task->folio, NONE);
		put(m, &m->task->page, NONE);
	}
	step(m, EV_op_begin, NONE, i);
	if (op.op->takes & OP_MM)
		switch_mm(m, op.mm);
	op.op->run(m, &op);
	if (r->firing) {
		machine_run_on(m, cpu);
		put(m, &m->s->op, interrupted);
	}
	step(m, EV_op_end, NONE, i);
}

static void run_script(struct runner *r)
{
	const struct scenario *s = r->s;

	for (u32 i = 0; i < s->nr_ops && !r->failed; i = r->last_trigger) {
		r->lane->oom = r->lane->trace && trace_oom(r->lane->trace);
		if (r->lane->m.steps >= s->max_steps || r->lane->oom) {
			r->lane->limited = true;
			break;
		}
		r->op = i;
		r->last_trigger = i + 1;
		while (r->last_trigger < s->nr_ops &&
		       s->ops[r->last_trigger].when.event != NR_EVENTS)
			r->last_trigger++;
		run_op(r, i);
	}
}

static bool has_triggers(const struct scenario *s)
{
	for (u32 i = 0; i < s->nr_ops; i++)
		if (s->ops[i].when.event != NR_EVENTS)
			return true;
	return false;
}

/* What one lane's script may not do, whatever its state: two reclaimers at once. */
static bool script_check(const struct scenario *s, struct error *err)
{
	for (u32 i = 0; i < s->nr_ops; i++) {
		if (!s->ops[i].op->reclaims || s->ops[i].when.event == NR_EVENTS)
			continue;
		snprintf(err->text, sizeof(err->text),
			 "%s:%u:%u: /script/%u/when: %s cannot happen inside another operation",
			 s->file, s->ops[i].at.line, s->ops[i].at.column, i, s->ops[i].op->name);
		return false;
	}
	return true;
}

/* What a recorded lane may be, in words: it is kept several times over. */
#define MAX_RECORDED_STATE (64u << 20)

static bool run_lane(struct lane *lane, enum run_mode mode, bool check, struct error *err)
{
	const struct scenario *s = lane->scenario;
	struct runner r = { .observer = { .step = on_step }, .lane = lane, .s = s, .err = err };
	struct violation v;

	check |= lane->spec->bugs != 0;
	if (!world_build(s, lane->spec, &lane->m, &lane->words, err))
		return false;
	if (mode == RUN_RECORD && lane->m.s->words > MAX_RECORDED_STATE)
		return error_set(err,
				 "%.160s: a world of %u MiB of state is too large to be recorded, "
				 "at most %u can be (counts takes any)",
				 s->file, lane->m.s->words >> 18, MAX_RECORDED_STATE >> 18);
	r.matches = calloc((size_t)s->nr_ops + 1, sizeof(*r.matches));
	if (check)
		r.scratch = calloc(check_scratch_words(lane->m.s) + 1, sizeof(*r.scratch));
	if (mode == RUN_RECORD)
		lane->trace = trace_new(&lane->m);
	if (!r.matches || (check && !r.scratch) || (mode == RUN_RECORD && !lane->trace)) {
		free(r.matches);
		free(r.scratch);
		return error_no_memory(err);
	}
	if (lane->trace)
		trace_set_boundary(lane->trace, (void (*)(void))run_op);
	if (mode == RUN_RECORD || check || has_triggers(s))
		lane->m.observer = &r.observer;
	if (check && !check_invariants(&lane->m, r.scratch, &v))
		describe_violation(lane, &v);
	run_script(&r);
	lane->m.observer = NULL;
	lane->steps = lane->m.steps;
	if (lane->trace)
		trace_end(lane->trace);
	free(r.matches);
	free(r.scratch);
	return !r.failed;
}

bool run_scenario(struct run *run, struct scenario *s, enum run_mode mode, bool check,
		  struct error *err)
{
	*run = (struct run){ .scenario = s, .nr_lanes = s->nr_lanes };
	if (!script_check(s, err))
		return false;
	run->lanes = calloc((size_t)s->nr_lanes + 1, sizeof(*run->lanes));
	if (!run->lanes)
		return error_no_memory(err);
	for (u32 i = 0; i < s->nr_lanes; i++) {
		run->lanes[i] = (struct lane){ .scenario = s, .spec = &s->lanes[i], .index = i };
		if (!run_lane(&run->lanes[i], mode, check, err)) {
			run_free(run);
			return false;
		}
	}
	if (mode == RUN_RECORD) {
		const struct trace **traces = calloc((size_t)s->nr_lanes + 1, sizeof(*traces));

		for (u32 i = 0; traces && i < s->nr_lanes; i++)
			traces[i] = run->lanes[i].trace;
		run->align = traces ? align_new(traces, s->nr_lanes) : NULL;
		free(traces);
		if (!run->align) {
			run_free(run);
			return error_no_memory(err);
		}
	}
	return true;
}

void run_free(struct run *run)
{
	if (run->align)
		align_free(run->align);
	for (u32 i = 0; run->lanes && i < run->nr_lanes; i++) {
		if (run->lanes[i].trace)
			trace_free(run->lanes[i].trace);
		free(run->lanes[i].words);
	}
	free(run->lanes);
	*run = (struct run){ 0 };
}

static const char *write_name(const struct scn_folio *spec, u32 k, u32 page, char *buf)
{
	u32 n;

	if (spec->count == 1)
		n = (u32)snprintf(buf, 32, "%.20s", spec->id);
	else
		n = (u32)snprintf(buf, 32, "%.20s%u", spec->id, k);
	if (page)
		snprintf(buf + n, 32 - n, ".%u", page);
	return buf;
}

const char *folio_name(const struct scenario *s, u32 folio, char *buf)
{
	u32 placed = 0, tail;

	for (u32 i = 0; i < s->nr_folios; i++) {
		const struct scn_folio *spec = &s->folios[s->by_pfn[i]];

		if (folio - spec->state < spec->count)
			return write_name(spec, folio - spec->state, 0, buf);
		placed += spec->count;
	}
	tail = folio - placed;
	for (u32 i = 0; i < s->nr_folios; i++) {
		const struct scn_folio *spec = &s->folios[s->by_pfn[i]];
		u32 each = (1u << spec->order) - 1;

		if (tail < spec->count * each)
			return write_name(spec, tail / each, tail % each + 1, buf);
		tail -= spec->count * each;
	}
	return "?";
}

static bool parse_moment(const char *text, u32 end, u32 *pos)
{
	char *rest;
	unsigned long n;

	if (strcmp(text, "end") == 0) {
		*pos = end;
		return true;
	}
	if (*text < '0' || *text > '9')
		return false;
	n = strtoul(text, &rest, 10);
	if (*rest || n > end)
		return false;
	*pos = (u32)n;
	return true;
}

bool run_moment(const struct run *run, const char *moment, u32 *tick, u32 *lane, struct error *err)
{
	const char *colon = strrchr(moment, ':');
	size_t len = colon ? (size_t)(colon - moment) : 0;
	u32 pos, end;

	*lane = 0;
	if (colon) {
		while (*lane < run->nr_lanes &&
		       (strlen(run->lanes[*lane].spec->name) != len ||
			strncmp(run->lanes[*lane].spec->name, moment, len) != 0))
			++*lane;
		if (*lane == run->nr_lanes) {
			snprintf(err->text, sizeof(err->text),
				 "moment \"%s\": no lane \"%.*s\"; lanes are %s ...", moment,
				 (int)len, moment, run->lanes[0].spec->name);
			return false;
		}
		moment = colon + 1;
	}
	end = trace_nr_steps(run->lanes[*lane].trace);
	if (!parse_moment(moment, end, &pos)) {
		snprintf(err->text, sizeof(err->text),
			 "moment \"%s\": expected a step from 0 to %u of %s, or end", moment, end,
			 run->lanes[*lane].spec->name);
		return false;
	}
	*tick = align_tick(run->align, *lane, pos);
	return true;
}
