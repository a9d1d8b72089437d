/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "scenario/ops.h"
#include "scenario/run.h"

#define FILE_NAME "case.json"
#define MAX_REPAIRS 40
#define MAX_WORDS CHECK_EACH_STEP_WORDS

struct scenario *case_load(const cJSON *json, struct error *err)
{
	char *text = cJSON_PrintUnformatted(json);
	struct scenario *s;

	if (!text)
		abort();
	*err = (struct error){ .text = "" };
	s = scenario_load(FILE_NAME, text, strlen(text), err);
	free(text);
	return s;
}

/* --- what was refused is left out ------------------------------------------ */

/* The member or element that the front of a JSON pointer names; *pointer moves behind it. */
static cJSON *step_into(const cJSON *node, const char **pointer)
{
	size_t len = strcspn(*pointer + 1, "/: ");
	char key[64];
	cJSON *child;

	snprintf(key, sizeof(key), "%.*s", (int)len, *pointer + 1);
	child = cJSON_IsArray(node) ? cJSON_GetArrayItem(node, atoi(key)) :
				      cJSON_GetObjectItemCaseSensitive(node, key);
	*pointer += 1 + len;
	return child;
}

/* Take away what a message is about: a member, or an element of an array. */
static bool repair(cJSON *json, const char *message)
{
	const char *pointer = strstr(message, ": /");
	cJSON *node = json, *parent = NULL;

	if (!pointer)
		return false;
	pointer += 2;
	while (*pointer == '/' && pointer[1] != ':') {
		cJSON *child = step_into(node, &pointer);

		if (!child)
			break;
		parent = node;
		node = child;
	}
	if (!parent)
		return false;
	cJSON_Delete(cJSON_DetachItemViaPointer(parent, node));
	return true;
}

/* An operation that is always possible. */
static const struct op_info *safe_op(void)
{
	u32 i = 0;

	while (op_infos[i].possible || op_infos[i].files != FILES_ANY || !op_infos[i].reclaims)
		i++;
	return &op_infos[i];
}

/* Until it loads, fits and runs to its end. False: that leads nowhere. */
static bool make_possible(struct gen *g, cJSON *json)
{
	cJSON *script = cJSON_GetObjectItem(json, "script");

	for (u32 i = 0; i < MAX_REPAIRS; i++) {
		struct error err;
		struct scenario *s = case_load(json, &err);
		struct run run;
		bool ok = s && run_scenario(&run, s, RUN_COUNT, false, &err), fits = false;

		if (ok) {
			fits = run.lanes[0].m.s->words <= MAX_WORDS;
			run_free(&run);
		}
		scenario_free(s);
		if (ok)
			return fits;
		if (!repair(json, err.text))
			return false;
		if (!script->child)
			cJSON_AddItemToArray(script, generate_op(g, safe_op()));
	}
	return false;
}

/* --- operations inside others ---------------------------------------------- */

/* Which untriggered operation a step happens in, and where that one begins. */
static u32 enclosing(const struct lane *lane, u32 i, u32 *begin)
{
	const struct scn_op *ops = lane->scenario->ops;

	for (;; i--) {
		const struct step *step = trace_step(lane->trace, i);

		if (step->event == EV_op_begin && ops[step->arg].when.event == NR_EVENTS) {
			*begin = i;
			return step->arg;
		}
	}
}

/* A `when` that comes true at step i of a lane. */
static void make_when(struct dice *d, cJSON *op, const struct lane *lane, u32 begin, u32 i)
{
	const struct mm_state *s = trace_start(lane->trace);
	const struct step *at = trace_step(lane->trace, i);
	struct scn_when when = { .event = (enum event)at->event, .page = NONE, .folio = NONE };
	u32 folio = page_placed_folio(s, at->page), nth = 0;
	cJSON *json = cJSON_AddObjectToObject(op, "when");

	cJSON_AddStringToObject(json, event_is_function(when.event) ? "enter" : "event",
				event_info[when.event].name);
	if (folio != NONE && chance(d, 2)) {
		when.page = at->page - state_folio(s, folio)->page;
		cJSON_AddNumberToObject(json, "page", when.page);
	}
	for (u32 k = begin; k <= i; k++) {
		const struct step *step = trace_step(lane->trace, k);

		nth += when_matches(lane->scenario, s, &when, (enum event)step->event, step->page);
	}
	if (nth > 1)
		cJSON_AddNumberToObject(json, "nth", nth);
}

/* Often a pin: it is what unmapping must give way to. */
static const struct op_info *any_inner_op(struct dice *d)
{
	const struct op_info *inner[64];
	u32 nr = 0;

	if (chance(d, 3))
		return op_find("pin");
	for (u32 i = 0; i < nr_op_infos && nr < NR_OF(inner); i++)
		if (!op_infos[i].reclaims)
			inner[nr++] = &op_infos[i];
	return inner[roll(d, nr)];
}

/* Put an element behind those up to index. */
static void insert_behind(cJSON *array, u32 index, cJSON *element)
{
	u32 nr = (u32)cJSON_GetArraySize(array);

	cJSON_AddItemToArray(array, element);
	for (u32 i = index + 1; i < nr; i++)
		cJSON_AddItemToArray(array, cJSON_DetachItemFromArray(array, (int)index + 1));
}

/*
 * A process that comes in runs on another CPU: this one is in the kernel, most often where
 * it cannot be preempted. False: there is no other.
 */
static bool run_elsewhere(const struct scenario *s, u32 outer, cJSON *op)
{
	cJSON *cpu = cJSON_GetObjectItem(op, "cpu");

	if (!cJSON_GetObjectItem(op, "mm") ||
	    (cpu ? (u32)cpu->valueint : 0) != s->ops[outer].cpu)
		return true;
	cJSON_DeleteItemFromObject(op, "cpu");
	cJSON_AddNumberToObject(op, "cpu", (s->ops[outer].cpu + 1) % s->cpus);
	return s->cpus > 1;
}

static void add_trigger(struct gen *g, struct dice *d, cJSON *json, const struct run *run)
{
	const struct lane *lane = &run->lanes[roll(d, run->nr_lanes)];
	u32 i = roll(d, trace_nr_steps(lane->trace) < 65536 ? trace_nr_steps(lane->trace) : 65536);
	cJSON *op = generate_op(g, any_inner_op(d));
	u32 begin, outer = enclosing(lane, i, &begin);

	make_when(d, op, lane, begin, i);
	if (run_elsewhere(lane->scenario, outer, op))
		insert_behind(cJSON_GetObjectItem(json, "script"), outer, op);
	else
		cJSON_Delete(op);
}

static void add_triggers(struct gen *g, struct dice *d, cJSON *json)
{
	static const u32 numbers[] = { 0, 1, 1, 2, 3 };
	struct error err;

	for (u32 nr = numbers[roll(d, NR_OF(numbers))]; nr; nr--) {
		struct scenario *s = case_load(json, &err);
		struct run run;

		if (s && run_scenario(&run, s, RUN_RECORD, false, &err)) {
			add_trigger(g, d, json, &run);
			run_free(&run);
		}
		scenario_free(s);
		if (!make_possible(g, json))
			return;
	}
}

cJSON *case_generate(const u8 *bytes, size_t len)
{
	struct dice d = { .at = bytes, .left = len };
	cJSON *json = cJSON_CreateObject();
	struct gen *g = generate_begin(&d, json);
	bool ok = make_possible(g, json);

	if (ok)
		add_triggers(g, &d, json);
	ok = ok && make_possible(g, json);
	free(g);
	if (ok)
		return json;
	cJSON_Delete(json);
	return NULL;
}

/* --- as a file ------------------------------------------------------------- */

static bool has_nested(const cJSON *node)
{
	const cJSON *child;

	cJSON_ArrayForEach(child, node)
		if (child->child)
			return true;
	return false;
}

static void print_node(FILE *out, const cJSON *node, int indent)
{
	bool object = cJSON_IsObject(node), lines = indent == 0 || (indent < 6 && has_nested(node));
	const cJSON *child;
	char *text;

	if (!lines) {
		text = cJSON_PrintUnformatted(node);
		fputs(text, out);
		free(text);
		return;
	}
	putc(object ? '{' : '[', out);
	cJSON_ArrayForEach(child, node) {
		fprintf(out, "%s\n%*s", child == node->child ? "" : ",", indent + 2, "");
		if (object)
			fprintf(out, "\"%s\": ", child->string);
		print_node(out, child, indent + 2);
	}
	fprintf(out, "\n%*s%c", indent, "", object ? '}' : ']');
}

char *case_print(const cJSON *json)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	print_node(out, json, 0);
	putc('\n', out);
	fclose(out);
	return text;
}
