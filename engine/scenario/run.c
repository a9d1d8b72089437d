/* SPDX-License-Identifier: GPL-2.0-only */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/tlb.h"
#include "mm/check.h"
#include "scenario/json.h"
#include "scenario/ops.h"
#include "scenario/run.h"

/* What is noted of a lane while it is counted. */
struct survey {
	struct journal journal; /* first; where each step is checked: what changes */
	struct delta changed[32];
	u32 concerns; /* enum concern of what has changed since they were looked at */
	struct lane *lane;
	u32 *left; /* of each `when` of a remark or expectation: matches to go, or 0 */
	u32 nr_left;
	u32 *scratch; /* for the invariants, else NULL */
	u64 checked; /* step at which they were looked at last */
	bool seams; /* note them: the lane is going to be cut */
	bool oom;
};

/* What of a lane is recorded, and for whom: lane_record(). */
struct recording {
	struct lane *lane;
	u32 from, to, part;
	u32 last; /* the lane's last position: only there the script is left to end */
	bool (*take)(void *ctx, struct trace *t);
	void *ctx;
	struct trace *trace; /* the part under way, or NULL */
	bool oom;
	jmp_buf enough;
};

/* Performs a lane's script and watches its machine. */
struct runner {
	struct observer observer; /* first: what the machine calls */
	struct machine *m;
	const struct lane *lane;
	const struct scenario *s;
	u32 op; /* untriggered operation under way */
	u32 last_trigger; /* one past the operations triggered inside it */
	u32 *matches; /* of each operation's trigger so far */
	bool firing;
	struct survey *survey; /* one of the two */
	struct recording *rec;
	const struct snapshot *jump; /* to be put in place where it was kept, or NULL */
	struct error *err;
	bool failed, limited;
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

/* --- counting --------------------------------------------------------------- */

/* Remarks first, then expectations. */
static u32 nr_whens(const struct scenario *s)
{
	return s->nr_says + s->nr_expects;
}

static const struct scn_when *when_of(const struct scenario *s, u32 i)
{
	return i < s->nr_says ? &s->says[i].when : &s->expects[i - s->nr_says].when;
}

static bool when_is_for(const struct lane *lane, u32 i)
{
	const struct scenario *s = lane->scenario;
	const char *glob = i < s->nr_says ? s->says[i].lane : s->expects[i - s->nr_says].lane;

	if (i >= s->nr_says && s->expects[i - s->nr_says].at != EXPECT_WHEN)
		return false;
	return !glob || fnmatch(glob, lane->spec->name, 0) == 0;
}

static bool checks_each_step(const struct survey *survey)
{
	return survey->scratch && survey->lane->m.s->words <= CHECK_EACH_STEP_WORDS;
}

/* What they are is enough: the changes themselves are forgotten. */
static void note_changes(struct journal *journal)
{
	struct survey *survey = (struct survey *)(void *)journal;

	for (u32 i = 0; i < journal->nr; i++)
		survey->concerns |= check_concern(survey->lane->m.s, journal->delta[i].word);
	journal->nr = 0;
}

static bool survey_open(struct survey *survey, bool check)
{
	struct lane *lane = survey->lane;
	const struct scenario *s = lane->scenario;

	survey->left = calloc((size_t)nr_whens(s) + 1, sizeof(u32));
	lane->met = calloc((size_t)nr_whens(s) + 1, sizeof(u32));
	lane->began = calloc((size_t)s->nr_ops + 1, sizeof(u32));
	if (check)
		survey->scratch = calloc(check_scratch_words(lane->m.s) + 1, sizeof(u32));
	if (!survey->left || !lane->met || !lane->began || (check && !survey->scratch))
		return false;
	survey->concerns = CONCERNS_SOME | CONCERNS_ENTRIES;
	survey->journal = (struct journal){ .delta = survey->changed,
					    .max = NR_OF(survey->changed), .grow = note_changes };
	if (checks_each_step(survey))
		lane->m.journal = &survey->journal;
	for (u32 i = 0; i < nr_whens(s); i++)
		if (when_is_for(lane, i)) {
			survey->left[i] = when_of(s, i)->nth;
			survey->nr_left++;
		}
	return true;
}

static void survey_close(struct survey *survey)
{
	survey->lane->m.journal = NULL;
	free(survey->left);
	free(survey->scratch);
}

static void note_seam(struct survey *survey, enum event event)
{
	struct lane *lane = survey->lane;
	struct seam *grown = lane->seams;

	if ((lane->nr_seams & (lane->nr_seams - 1)) == 0)
		grown = realloc(grown, (lane->nr_seams ? 2 * (size_t)lane->nr_seams : 1) *
				       sizeof(*grown));
	if (!grown) {
		survey->oom = true;
		return;
	}
	lane->seams = grown;
	grown[lane->nr_seams++] = (struct seam){
		.pos = (u32)lane->m.steps, .op = lane->m.s->op,
		.folio = event == EV_op_end ? NONE : lane->m.task->folio };
}

static void note_whens(struct survey *survey, enum event event, u32 page)
{
	struct lane *lane = survey->lane;

	for (u32 i = 0; i < nr_whens(lane->scenario); i++) {
		if (!survey->left[i] || !when_matches(lane->scenario, lane->m.s,
						      when_of(lane->scenario, i), event, page))
			continue;
		if (--survey->left[i])
			continue;
		lane->met[i] = (u32)lane->m.steps;
		survey->nr_left--;
	}
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

static bool check_due(const struct survey *survey, enum event event)
{
	const struct machine *m = &survey->lane->m;

	if (!survey->scratch || survey->lane->invariant.text[0])
		return false;
	return checks_each_step(survey) || event == EV_op_end ||
	       (event_is_seam(event) &&
		(m->steps - survey->checked) * CHECK_WORDS_A_STEP >=
			(u64)m->s->words * (1 + m->s->words / CHECK_RARELY_WORDS));
}

static void check(struct survey *survey)
{
	bool each = checks_each_step(survey);
	struct violation v;

	survey->checked = survey->lane->m.steps;
	note_changes(&survey->journal);
	if (each && !survey->concerns)
		return;
	if (!check_invariants(&survey->lane->m, survey->scratch,
			      !each || survey->concerns & CONCERNS_ENTRIES, &v))
		describe_violation(survey->lane, &v);
	survey->concerns = 0;
}

static void survey_step(struct survey *survey, enum event event, u32 page)
{
	if (survey->seams && event_is_seam(event))
		note_seam(survey, event);
	if (survey->nr_left)
		note_whens(survey, event, page);
	if (check_due(survey, event))
		check(survey);
}

/* --- recording -------------------------------------------------------------- */

/* One operation of the script. Call paths end here: what it interrupts did not call it. */
__mirrored void run_op(struct runner *r, u32 i);

static bool begin_part(struct recording *rec, struct machine *m)
{
	struct trace *t = rec->lane->spare;

	rec->lane->spare = NULL;
	if (t && !trace_again(t, m)) {
		trace_free(t);
		t = NULL;
	} else if (!t) {
		t = trace_new(m);
		if (t)
			trace_set_boundary(t, (void (*)(void))run_op);
	}
	rec->trace = t;
	rec->oom = !t;
	return t;
}

/* False: nothing more is wanted. */
static bool end_part(struct recording *rec)
{
	struct trace *t = rec->trace;

	rec->trace = NULL;
	trace_end(t);
	rec->oom = trace_oom(t);
	if (!rec->oom)
		return rec->take(rec->ctx, t);
	trace_free(t);
	return false;
}

/* The engine keeps nothing but the machine's state: it can be left at any step. */
static void record_step(struct recording *rec, struct machine *m)
{
	bool enough = m->steps == rec->to && rec->to < rec->last;
	bool full = rec->trace && (trace_nr_steps(rec->trace) == rec->part ||
				   trace_oom(rec->trace));

	if (rec->trace && (enough || (full && m->steps < rec->to)) && !end_part(rec))
		longjmp(rec->enough, 1);
	if (enough)
		longjmp(rec->enough, 1);
	if (!rec->trace && m->steps >= rec->from && m->steps < rec->to && !begin_part(rec, m))
		longjmp(rec->enough, 1);
}

/* --- the script ------------------------------------------------------------- */

static void fire(struct runner *r, enum event event, u32 page)
{
	for (u32 i = r->op + 1; i < r->last_trigger; i++) {
		const struct scn_when *when = &r->s->ops[i].when;

		if (!when_matches(r->s, r->m->s, when, event, page) ||
		    ++r->matches[i] != when->nth)
			continue;
		r->firing = true;
		run_op(r, i);
		r->firing = false;
	}
}

static bool has_triggers(const struct runner *r)
{
	return r->last_trigger > r->op + 1;
}

/* Is a lane counted that nothing is noted of? */
static bool only_counts(const struct runner *r)
{
	return r->survey && !r->survey->nr_left && !r->survey->seams && !r->survey->scratch;
}

static void let_watch(struct machine *m, struct observer *observer)
{
	m->observer = observer;
	m->arch = observer ? arch_find(m->arch->name) : unwatched_arch_find(m->arch->name);
}

/* Sleep while none but the seams matter, or not even they. */
static void doze(struct runner *r)
{
	let_watch(r->m, only_counts(r) && !has_triggers(r) ? NULL : &r->observer);
	if (has_triggers(r) || (r->survey && (r->survey->nr_left || checks_each_step(r->survey))))
		r->m->watch_from = 0;
	else
		r->m->watch_from = r->rec ? r->rec->from : UINT64_MAX;
}

static __mirrored void on_step(struct observer *o, enum event event, u32 page, u32 arg)
{
	struct runner *r = (struct runner *)(void *)o;

	if (r->rec) {
		if (r->rec->trace)
			trace_record(r->rec->trace, event, page, arg, __builtin_return_address(0));
		record_step(r->rec, r->m);
	} else {
		survey_step(r->survey, event, page);
		doze(r);
	}
	if (!r->firing && !r->failed && has_triggers(r))
		fire(r, event, page);
}

static void on_rest(struct observer *o, u32 loop)
{
	struct runner *r = (struct runner *)(void *)o;

	if (r->survey)
		snapshots_offer(&r->survey->lane->snapshots, r->m, r->op, loop, r->matches);
	if (!r->jump || r->jump->op != r->op || r->jump->loop != loop)
		return;
	snapshot_restore(&r->lane->snapshots, r->jump, r->m, r->matches);
	r->jump = NULL;
}

static void script_error(struct runner *r, u32 i, const char *needs)
{
	const struct scn_op *op = &r->s->ops[i];
	char pointer[32];

	if (r->failed)
		return;
	snprintf(pointer, sizeof(pointer), "/script/%u", i);
	error_at(r->err, r->s->file, op->at, pointer, "%s is impossible at step %llu of %s: %s",
		 op->op->name, (unsigned long long)r->m->steps, r->lane->spec->name, needs);
	r->failed = true;
}

static void perform(struct machine *m, const struct scn_op *op)
{
	const struct op_info *rows = m->observer ? op_infos : unwatched_op_infos;

	rows[op->op - op_infos].run(m, op);
}

/* Whoever waits in a fault tries again, now that an operation is over. */
static void resume_faults(struct runner *r)
{
	struct machine *m = r->m;

	for (u32 cpu = 0; cpu < m->s->nr[ARRAY_CPU]; cpu++) {
		u32 i = state_task(m->s, cpu)->fault_op;

		if (i == NONE)
			continue;
		machine_run_on(m, cpu);
		put(m, &m->s->op, i);
		step(m, EV_fault_resumed, NONE, cpu);
		perform(m, &r->s->ops[i]);
		if (m->task->fault_op == NONE)
			step(m, EV_op_end, NONE, i);
	}
}

static bool is_possible(struct runner *r, const struct scn_op *op, u32 i)
{
	const char *needs = NULL;

	if (op->mm != NONE && !r->m->mm[op->mm].mm_users)
		needs = "the process must have been forked, and may not have exited";
	else if (op->op->files != FILES_ANY && r->m->s->has_shmem)
		needs = "there may be no shared memory, of which this is not modelled";
	else if (op->op->files == FILES_NONE && r->m->s->has_file)
		needs = "there may be no folios of files, of which this is not modelled";
	else if (op->op->possible && !op->op->possible(r->m, op))
		needs = op->op->needs;
	if (needs)
		script_error(r, i, needs);
	return !needs;
}

__mirrored void run_op(struct runner *r, u32 i)
{
	struct machine *m = r->m;
	struct scn_op op = r->s->ops[i];
	u32 cpu = m->s->cpu, interrupted = m->s->op;
	bool waits;

	if (op.folio != NONE)
		op.folio = scn_folio_state(r->s, op.folio);
	if (!is_possible(r, &op, i))
		return;
	machine_run_on(m, op.cpu);
	put(m, &m->s->op, i);
	if (!r->firing || op.cpu != cpu) {
		put(m, &m->task->phase, PHASE_start);
		put(m, &m->task->folio, NONE);
		put(m, &m->task->page, NONE);
	}
	step(m, EV_op_begin, NONE, i);
	if (r->survey)
		r->survey->lane->began[i] = (u32)m->steps;
	if (op.op->takes & OP_MM)
		switch_mm(m, op.mm);
	/* What happens at its first steps may have made it impossible. */
	if (is_possible(r, &op, i))
		perform(m, &op);
	waits = m->task->fault_op == i;
	if (r->firing) {
		machine_run_on(m, cpu);
		put(m, &m->s->op, interrupted);
	}
	if (!waits)
		step(m, EV_op_end, NONE, i);
	if (!r->firing)
		resume_faults(r);
}

static void run_script(struct runner *r, u32 first)
{
	const struct scenario *s = r->s;

	for (u32 i = first; i < s->nr_ops && !r->failed; i = r->last_trigger) {
		r->limited = r->m->steps >= s->max_steps;
		if (r->limited)
			break;
		if (r->survey)
			snapshots_offer(&r->survey->lane->snapshots, r->m, i, NONE, r->matches);
		r->op = i;
		r->last_trigger = i + 1;
		while (r->last_trigger < s->nr_ops &&
		       s->ops[r->last_trigger].when.event != NR_EVENTS)
			r->last_trigger++;
		doze(r);
		run_op(r, i);
	}
}

/* What one lane's script may not do, whatever its state: be on one CPU twice, reclaim twice. */
static bool script_check(const struct scenario *s, struct error *err)
{
	u32 cpu = 0;

	for (u32 i = 0; i < s->nr_ops; i++) {
		const struct scn_op *op = &s->ops[i];
		char pointer[32];
		const char *where = op->op->reclaims		       ? "another operation" :
				    op->op->own_cpu && op->cpu == cpu ? "what its own CPU does" :
									 NULL;

		if (op->when.event == NR_EVENTS) {
			cpu = op->cpu;
			continue;
		}
		if (!where)
			continue;
		snprintf(pointer, sizeof(pointer), "/script/%u/when", i);
		return error_at(err, s->file, op->at, pointer, "%s cannot happen inside %s",
				op->op->name, where);
	}
	return true;
}

static bool runner_open(struct runner *r, const struct lane *lane, struct machine *m)
{
	*r = (struct runner){ .observer = { .step = on_step, .rest = on_rest }, .lane = lane,
			      .m = m, .s = lane->scenario };
	r->matches = calloc((size_t)lane->scenario->nr_ops + 1, sizeof(*r->matches));
	return r->matches != NULL;
}

static bool keep_start(struct lane *lane, struct error *err)
{
	size_t size = (size_t)lane->m.s->words * sizeof(u32);

	if (lane->m.s->words > MAX_RECORDED_STATE)
		return error_set(err,
				 "a world of %u MiB of state is too large to be recorded, "
				 "at most %u can be (counts takes any)",
				 lane->m.s->words >> 18, MAX_RECORDED_STATE >> 18);
	lane->placed = malloc(size);
	if (!lane->placed)
		return error_no_memory(err);
	memcpy(lane->placed, lane->words, size);
	snapshots_open(&lane->snapshots, lane->m.s, lane->scenario->nr_ops);
	return true;
}

static bool count_lane(struct lane *lane, enum run_mode mode, bool checks, struct error *err)
{
	struct survey survey = { .lane = lane, .seams = mode != RUN_COUNT };
	struct runner r = { .failed = true };
	bool ok;

	checks |= lane->spec->bugs != 0;
	if (!world_build(lane->scenario, lane->spec, &lane->m, &lane->words, err) ||
	    (mode != RUN_COUNT && !keep_start(lane, err)))
		return false;
	ok = survey_open(&survey, checks) && runner_open(&r, lane, &lane->m);
	if (ok) {
		r.survey = &survey;
		r.err = err;
		if (checks)
			check(&survey);
		run_script(&r, 0);
		lane->m.arch = arch_find(lane->spec->arch);
		lane->m.observer = NULL;
		lane->steps = lane->m.steps;
		lane->limited = r.limited;
	}
	free(r.matches);
	survey_close(&survey);
	return ok && !survey.oom ? !r.failed : error_no_memory(err);
}

/* Keep what was counted; the arrays are left to the next lane. */
static void keep_head(struct lane *lane, u32 **spent)
{
	struct mm_state *head = malloc(sizeof(*head));

	if (!head)
		return;
	*head = *lane->m.s;
	*spent = lane->words;
	memset(head->nr, 0, sizeof(head->nr));
	head->nr_placed = 0;
	head->cpu = 0;
	state_layout(head);
	lane->words = (u32 *)(void *)head;
	machine_attach(&lane->m, lane->words);
}

/* The machine as it was before the lane's first step. */
static bool machine_again(struct lane *lane, struct machine *m, u32 **words)
{
	size_t size = (size_t)lane->m.s->words * sizeof(u32);
	struct error err;

	if (!lane->placed)
		return world_build(lane->scenario, lane->spec, m, words, &err);
	*words = lane->spare_words ? lane->spare_words : calloc(1, size);
	lane->spare_words = NULL;
	if (!*words)
		return false;
	state_copy(*words, lane->placed);
	*m = lane->m;
	m->steps = 0;
	machine_attach(m, *words);
	return true;
}

/* To the state nearest before what is to be recorded; the operation to go on with. */
static u32 rewind_script(struct runner *r)
{
	const struct snapshots *all = &r->lane->snapshots;
	const struct snapshot *near = snapshots_before(all, r->rec->from);
	const struct snapshot *base = snapshots_base(all, near);

	r->jump = near == base ? NULL : near;
	if (!base)
		return 0;
	snapshot_restore(all, base, r->m, r->matches);
	machine_attach(r->m, r->m->words);
	return base->op;
}

/* Up to where nothing more is wanted. */
static void record_script(struct runner *r, u32 first)
{
	struct recording *rec = r->rec;

	if (setjmp(rec->enough) || (rec->from == 0 && !begin_part(rec, r->m)))
		return;
	if (rec->to > 0)
		run_script(r, first);
	if (rec->trace)
		end_part(rec);
}

bool lane_record(struct lane *lane, u32 from, u32 to, u32 part,
		 bool (*take)(void *ctx, struct trace *t), void *ctx)
{
	u32 last = (u32)lane->steps;
	struct recording rec = { .lane = lane, .from = from, .to = to < last ? to : last,
				 .last = last, .part = part, .take = take, .ctx = ctx };
	struct machine m;
	struct runner r = { .matches = NULL };
	u32 *words = NULL;
	bool ok = machine_again(lane, &m, &words) && runner_open(&r, lane, &m);

	if (ok) {
		r.rec = &rec;
		m.observer = &r.observer;
		record_script(&r, rewind_script(&r));
	}
	if (lane->placed)
		lane->spare_words = words;
	else
		free(words);
	free(r.matches);
	return ok && !rec.oom;
}

struct viewer {
	struct lane *lane;
	bool (*see)(void *ctx, const struct trace *t);
	void *ctx;
};

static bool show_part(void *ctx, struct trace *t)
{
	const struct viewer *viewer = ctx;

	viewer->lane->spare = t;
	return viewer->see(viewer->ctx, t);
}

bool lane_look(struct lane *lane, u32 from, u32 to,
	       bool (*see)(void *ctx, const struct trace *t), void *ctx)
{
	struct viewer viewer = { lane, see, ctx };

	return lane_record(lane, from, to, WINDOW_STEPS, show_part, &viewer);
}

/* --- all lanes --------------------------------------------------------------- */

static u32 window_steps(const struct run *run, enum run_mode mode)
{
	u64 steps = 0;

	for (u32 i = 0; i < run->nr_lanes; i++)
		steps += run->lanes[i].steps;
	return mode == RUN_EXPLORE && steps > WHOLE_STEPS ? WINDOW_STEPS : UINT32_MAX;
}

bool run_scenario(struct run *run, struct scenario *s, enum run_mode mode, bool check,
		  struct error *err)
{
	u32 *spent = NULL;
	bool ok;

	*run = (struct run){ .scenario = s, .nr_lanes = s->nr_lanes };
	if (!script_check(s, err))
		return false;
	run->lanes = calloc((size_t)s->nr_lanes + 1, sizeof(*run->lanes));
	ok = run->lanes || error_no_memory(err);
	for (u32 i = 0; ok && i < s->nr_lanes; i++) {
		run->lanes[i] = (struct lane){
			.scenario = s, .spec = &s->lanes[i], .index = i, .words = spent
		};
		spent = NULL;
		ok = count_lane(&run->lanes[i], mode, check, err);
		if (ok && run->lanes[i].m.s->words > MAX_RECORDED_STATE) {
			ok = lane_judge_end(run, &run->lanes[i]) || error_no_memory(err);
			keep_head(&run->lanes[i], &spent);
		}
	}
	free(spent);
	if (ok && mode != RUN_COUNT)
		ok = run_cut(run, window_steps(run, mode), err) &&
		     (run_show(run, 0) || error_no_memory(err));
	if (!ok)
		run_free(run);
	return ok;
}

void run_free(struct run *run)
{
	align_free(run->align);
	for (u32 i = 0; run->lanes && i < run->nr_lanes; i++) {
		struct lane *lane = &run->lanes[i];

		trace_free(lane->trace);
		trace_free(lane->spare);
		free(lane->spare_words);
		free(lane->words);
		free(lane->placed);
		snapshots_close(&lane->snapshots);
		free(lane->seams);
		free(lane->ends);
		free(lane->began);
		free(lane->met);
	}
	free(run->lanes);
	free(run->edge);
	*run = (struct run){ 0 };
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

bool run_moment(const struct run *run, const char *moment, u32 *lane, u32 *pos,
		struct error *err)
{
	const char *colon = strrchr(moment, ':'), *step = colon ? colon + 1 : moment;
	size_t len = colon ? (size_t)(colon - moment) : 0;
	u32 end;

	*lane = 0;
	if (colon) {
		while (*lane < run->nr_lanes &&
		       (strlen(run->lanes[*lane].spec->name) != len ||
			strncmp(run->lanes[*lane].spec->name, moment, len) != 0))
			++*lane;
		if (*lane == run->nr_lanes)
			return error_set(err,
					 "moment \"%.80s\": no lane \"%.*s\"; lanes are %s ...",
					 moment, (int)(len < 80 ? len : 80), moment,
					 run->lanes[0].spec->name);
	}
	end = (u32)run->lanes[*lane].steps;
	if (parse_moment(step, end, pos))
		return true;
	return error_set(err, "moment \"%.80s\": expected a step from 0 to %u of %s, or end",
			 moment, end, run->lanes[*lane].spec->name);
}
