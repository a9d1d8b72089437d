/* SPDX-License-Identifier: GPL-2.0-only */
/* The format, second half: what happens, what is said, what must hold; and the file as a whole. */
#include <stdlib.h>
#include <string.h>

#include <fnmatch.h>

#include "arch/pgtable.h"
#include "mm/check.h"
#include "scenario/expr.h"
#include "scenario/fields.h"
#include "scenario/ops.h"
#include "scenario/suggest.h"

#define MAX_NTH 1000000000

/* --- when ------------------------------------------------------------------ */

/* Functions stand first in event_info[], what happens in them after. */
static bool find_event(struct reader *r, u32 node, u32 from, u32 to, const char *what, void *target)
{
	struct scn_when *when = target;
	const char *word = r->doc->nodes[node].string;

	if (!is_string(r->doc, node))
		return read_fail(r, node, "expected the name of %s", what);
	when->event = event_find(word);
	if (when->event >= from && when->event < to)
		return true;
	if (when->event != NR_EVENTS)
		return read_fail(r, node, "expected %s, which \"%s\" is not "
				 "(did you mean the key \"%s\"?)",
				 what, word, from ? "enter" : "event");
	return unknown_word(r, node, what, &event_info[from].name, sizeof(event_info[0]),
			    to - from);
}

static bool read_enter(struct reader *r, u32 node, void *target)
{
	return find_event(r, node, 0, NR_FUNCTIONS, "a mirrored function", target);
}

static bool read_event(struct reader *r, u32 node, void *target)
{
	return find_event(r, node, NR_FUNCTIONS, NR_EVENTS, "an event", target);
}

static bool check_when(struct reader *r, u32 node, void *target)
{
	const struct scn_when *when = target;
	bool enter = member_or_self(r->doc, node, "enter") != node;
	bool event = member_or_self(r->doc, node, "event") != node;

	if (enter == event)
		return read_fail(r, node, "expected either \"enter\" or \"event\"");
	if (when->page != NONE && when->folio != NONE &&
	    when->page >> r->s->folios[when->folio].order)
		return read_fail(r, member_or_self(r->doc, node, "page"),
				 "expected a page within 0..%u of folio \"%s\"",
				 (1u << r->s->folios[when->folio].order) - 1,
				 r->s->folios[when->folio].id);
	return true;
}

static const struct field when_fields[] = {
	{ "enter", FIELD_READ, .read = read_enter },
	{ "event", FIELD_READ, .read = read_event },
	{ "folio", FIELD_REF, AT(scn_when, folio), .ids = &folio_ids },
	{ "page", FIELD_INT, AT(scn_when, page), .max = 511, .fallback = NONE },
	{ "nth", FIELD_INT, AT(scn_when, nth), .min = 1, .max = MAX_NTH, .fallback = 1 },
};
static const struct shape when_shape = { SHAPE(scn_when, when_fields), .check = check_when };

/* --- script ---------------------------------------------------------------- */

static bool read_do(struct reader *r, u32 node, void *target)
{
	struct scn_op *op = target;

	if (!is_string(r->doc, node))
		return read_fail(r, node, "expected the name of an operation");
	op->op = op_find(r->doc->nodes[node].string);
	return op->op || unknown_word(r, node, "an operation", &op_infos[0].name,
				      sizeof(op_infos[0]), nr_op_infos);
}

/* An asid that no other mm has. */
static u32 free_asid(const struct scenario *s)
{
	u32 asid = 1;

	for (u32 i = 0; i < s->nr_mms; i++)
		if (s->mms[i].asid == asid) {
			asid++;
			i = NONE;
		}
	return asid;
}

/* A new mm, which later operations may name. */
static bool read_child(struct reader *r, u32 node, void *target)
{
	struct scn_op *op = target;
	struct scenario *s = r->s;
	struct scn_mm *mm = realloc(s->mms, (s->nr_mms + (size_t)1) * sizeof(*mm));

	if (!mm)
		return error_no_memory(r->err);
	s->mms = mm;
	op->child = s->nr_mms;
	mm[op->child] = (struct scn_mm){ .asid = free_asid(s), .forked = true, .parent = op->mm };
	if (!read_id(r, node, &mm[op->child].id))
		return false;
	for (u32 i = 0; i < s->nr_mms; i++)
		if (strcmp(mm[i].id, mm[op->child].id) == 0) {
			free(mm[op->child].id);
			return read_fail(r, node, "expected an id of its own; \"%s\" is taken",
					 mm[i].id);
		}
	s->nr_mms++;
	return true;
}

/* Which arguments it has must be those that it takes. */
static bool check_args(struct reader *r, u32 node, const struct scn_op *op)
{
	for (u32 i = 0; i < nr_op_keys; i++) {
		const struct op_key *k = &op_keys[i];
		u32 child = member_or_self(r->doc, node, k->key);

		if (child == node && (op->op->takes & k->arg))
			return read_fail(r, node, "expected a key \"%s\", which %s needs",
					 k->key, op->op->name);
		if (child != node && !((op->op->takes | op->op->may) & k->arg))
			return json_fail(r->doc, child, r->doc->nodes[child].key_at, r->err,
					 "expected no \"%s\", which %s does not take", k->key,
					 op->op->name);
	}
	return true;
}

static bool check_op(struct reader *r, u32 node, void *target)
{
	struct scn_op *op = target;

	op->at = place_of(r, node);
	if (member_or_self(r->doc, node, "when") == node)
		op->when.event = NR_EVENTS;
	if (op->cpu >= r->s->cpus)
		return read_fail(r, member_or_self(r->doc, node, "cpu"),
				 "expected a CPU within 0..%u", r->s->cpus - 1);
	if (op->va % PAGE_SIZE)
		return read_fail(r, member_or_self(r->doc, node, "va"),
				 "expected the address of a page: a multiple of 0x1000");
	if (r->s->nr_ops == 1 && op->when.event != NR_EVENTS)
		return read_fail(r, member_or_self(r->doc, node, "when"),
				 "expected no \"when\": there is no operation before this one");
	return check_args(r, node, op);
}

static const char *const prots[] = {
	[PROT_READ] = "read", [PROT_READ_WRITE] = "read_write", NULL,
};

static const struct field op_fields[] = {
	{ "cpu", FIELD_INT, AT(scn_op, cpu), .max = 63 },
	{ "do", FIELD_READ, .read = read_do, .required = true },
	{ "mm", FIELD_REF, AT(scn_op, mm), .ids = &mm_ids },
	{ "folio", FIELD_REF, AT(scn_op, folio), .ids = &folio_ids },
	{ "va", FIELD_HEX, AT(scn_op, va), .min = PAGE_SIZE, .max = 0x7ffffffff000 },
	{ "pages", FIELD_INT, AT(scn_op, pages), .min = 1, .max = 1 << 24, .fallback = 1 },
	{ "child", FIELD_READ, .read = read_child },
	{ "prot", FIELD_WORD, AT(scn_op, prot), .words = prots },
	{ "when", FIELD_OBJECT, AT(scn_op, when), .shape = &when_shape },
};
static const struct shape op_shape = { SHAPE(scn_op, op_fields), .check = check_op };

/* --- say and expect -------------------------------------------------------- */

static bool read_lane_glob(struct reader *r, u32 node, char **glob)
{
	const struct scenario *s = r->s;

	*glob = read_text(r, node);
	if (!*glob)
		return false;
	for (u32 i = 0; i < s->nr_lanes; i++)
		if (fnmatch(*glob, s->lanes[i].name, 0) == 0)
			return true;
	return unknown_word(r, node, "a lane, or a pattern that fits one", &s->lanes[0].name,
			    sizeof(s->lanes[0]), s->nr_lanes);
}

static bool read_say_lane(struct reader *r, u32 node, void *target)
{
	return read_lane_glob(r, node, &((struct scn_say *)target)->lane);
}

static bool read_expect_lane(struct reader *r, u32 node, void *target)
{
	return read_lane_glob(r, node, &((struct scn_expect *)target)->lane);
}

static bool check_say(struct reader *r, u32 node, void *target)
{
	((struct scn_say *)target)->at = place_of(r, node);
	return true;
}

static const struct field say_fields[] = {
	{ "when", FIELD_OBJECT, AT(scn_say, when), .shape = &when_shape, .required = true },
	{ "lane", FIELD_READ, .read = read_say_lane },
	{ "text", FIELD_TEXT, AT(scn_say, text), .required = true },
};
static const struct shape say_shape = { SHAPE(scn_say, say_fields), .check = check_say };

static bool read_at(struct reader *r, u32 node, void *target)
{
	static const char *const words[] = {
		[EXPECT_END] = "end", [EXPECT_ALWAYS] = "always", [EXPECT_NEVER] = "never", NULL,
	};
	struct scn_expect *expect = target;
	u32 at;

	expect->when =
		(struct scn_when){ .event = NR_EVENTS, .page = NONE, .folio = NONE, .nth = 1 };
	if (r->doc->nodes[node].kind == JSON_OBJECT) {
		expect->at = EXPECT_WHEN;
		return read_object(r, node, &when_shape, &expect->when);
	}
	if (!is_string(r->doc, node))
		return read_fail(r, node,
				 "expected \"end\", \"always\", \"never\" or an object with "
				 "\"enter\" or \"event\"");
	if (!read_word(r, node, words, &at))
		return false;
	expect->at = (enum expect_at)at;
	return true;
}

static bool read_that(struct reader *r, u32 node, void *target)
{
	struct scn_expect *expect = target;
	struct scn_place at = r->doc->nodes[node].at;
	struct error why;
	u32 column;

	expect->that = read_text(r, node);
	if (!expect->that)
		return false;
	expect->expr = expr_parse(r->s, expect->that, &why, &column);
	if (!expect->expr && why.no_memory)
		return error_no_memory(r->err);
	if (!expect->expr && !r->doc->nodes[node].escaped)
		at.column += column;
	return expect->expr || json_fail(r->doc, node, at, r->err, "%s", why.text);
}

static bool read_breaks(struct reader *r, u32 node, void *target)
{
	struct scn_expect *expect = target;

	if (!is_string(r->doc, node))
		return read_fail(r, node, "expected an invariant such as \"V3\"");
	while (expect->breaks < NR_INVARIANTS &&
	       strcmp(invariants[expect->breaks].name, r->doc->nodes[node].string) != 0)
		expect->breaks++;
	return expect->breaks < NR_INVARIANTS ||
	       unknown_word(r, node, "an invariant", &invariants[0].name, sizeof(invariants[0]),
			    NR_INVARIANTS);
}

static bool check_expect(struct reader *r, u32 node, void *target)
{
	struct scn_expect *expect = target;
	u32 breaks = member_or_self(r->doc, node, "breaks");

	expect->line = r->doc->nodes[node].at.line;
	if (!expect->that == (breaks == node))
		return read_fail(r, node, "expected either \"that\" or \"breaks\"");
	if (breaks != node && expect->at != EXPECT_WHEN)
		return read_fail(r, breaks, "expected no \"breaks\" unless \"at\" is an object "
				 "with \"enter\" or \"event\"");
	return true;
}

static const struct field expect_fields[] = {
	{ "at", FIELD_READ, .read = read_at, .required = true },
	{ "lane", FIELD_READ, .read = read_expect_lane },
	{ "that", FIELD_READ, .read = read_that },
	{ "breaks", FIELD_READ, .read = read_breaks },
	{ "because", FIELD_TEXT, AT(scn_expect, because) },
};
static const struct shape expect_shape = { SHAPE(scn_expect, expect_fields),
					   .check = check_expect };

/* --- the file -------------------------------------------------------------- */

static bool read_schema(struct reader *r, u32 node, void *target)
{
	const char *text = r->doc->nodes[node].string, *slash;

	(void)target;
	if (is_string(r->doc, node)) {
		slash = strrchr(text, '/');
		if (strcmp(slash ? slash + 1 : text, "scenario-1.json") == 0)
			return true;
	}
	return read_fail(r, node, "expected a path or URL that ends in \"scenario-1.json\"");
}

static bool check_scenario(struct reader *r, u32 node, void *target)
{
	const struct scenario *s = target;

	if (s->nr_lanes == 0)
		return read_fail(r, member_or_self(r->doc, node, "lanes"),
				 "expected at least one lane");
	if (s->nr_ops == 0)
		return read_fail(r, member_or_self(r->doc, node, "script"),
				 "expected at least one operation");
	return true;
}

static const char *const levels[] = {
	[LEVEL_INTRO] = "intro", [LEVEL_CORE] = "core", [LEVEL_DEEP] = "deep", NULL,
};

static const struct field limits_fields[] = {
	{ "steps", FIELD_INT64, AT(scenario, max_steps), .min = 1, .max = 4000000000,
	  .fallback = 8000000 },
};
static const struct shape limits_shape = { SHAPE(scenario, limits_fields) };

static const char default_lanes[] = "{\"lanes\": ["
	"{\"arch\": \"arm64\", \"path\": \"unbatched\", \"kernel\": \"7.3\"},"
	"{\"arch\": \"arm64\", \"path\": \"batched\", \"kernel\": \"7.3+anon-batch\"},"
	"{\"arch\": \"x86_64\", \"path\": \"unbatched\", \"kernel\": \"7.3\"},"
	"{\"arch\": \"x86_64\", \"path\": \"batched\", \"kernel\": \"7.3+anon-batch\"}]}";

const char *const report_words[] = {
	[REPORT_MEASURED] = "measured", [REPORT_COMPUTED] = "computed", NULL,
};
static const struct field report_fields[] = {
	{ "text", FIELD_TEXT, AT(scn_report, text), .required = true },
	{ "how", FIELD_WORD, AT(scn_report, how), .words = report_words, .required = true },
};
static const struct shape report_shape = { SHAPE(scn_report, report_fields) };

static const struct field scenario_fields[] = {
	{ "$schema", FIELD_READ, .read = read_schema, .required = true },
	{ "title", FIELD_TEXT, AT(scenario, title), .required = true },
	{ "summary", FIELD_TEXT, AT(scenario, summary) },
	{ "level", FIELD_WORD, AT(scenario, level), .words = levels },
	{ "teaches", FIELD_TEXTS, LIST(scenario, teaches) },
	{ "refs", FIELD_TEXTS, LIST(scenario, refs) },
	{ "machine", FIELD_OBJECT, .shape = &machine_shape, .absent = "{\"machine\": {}}" },
	{ "lanes", FIELD_LIST, LIST(scenario, lanes), .shape = &lane_shape,
	  .absent = default_lanes },
	{ "world", FIELD_OBJECT, .shape = &world_shape, .required = true },
	{ "limits", FIELD_OBJECT, .shape = &limits_shape },
	{ "script", FIELD_LIST, LIST(scenario, ops), .shape = &op_shape, .required = true },
	{ "say", FIELD_LIST, LIST(scenario, says), .shape = &say_shape },
	{ "expect", FIELD_LIST, LIST(scenario, expects), .shape = &expect_shape },
	{ "reported", FIELD_LIST, LIST(scenario, reported), .shape = &report_shape },
};
const struct shape scenario_shape = { SHAPE(scenario, scenario_fields), .check = check_scenario };
