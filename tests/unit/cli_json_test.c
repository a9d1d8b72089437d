/* SPDX-License-Identifier: GPL-2.0-only */
/* The JSON that $FOLIOSCOPE prints: shapes, types, and that the commands agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "scenario/expr.h"

/* Standard output of a command that must succeed. */
static char *output(const char *arguments)
{
	const char *program = getenv("FOLIOSCOPE");
	char command[512];
	size_t len = 0, size = 1 << 16;
	char *text = malloc(size);
	FILE *pipe;

	snprintf(command, sizeof(command), "%s %s </dev/null",
		 program ? program : "build/folioscope", arguments);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while (!feof(pipe) && !ferror(pipe)) {
		if (size - len < 4096)
			text = realloc(text, size *= 2);
		assert_non_null(text);
		len += fread(text + len, 1, size - len - 1, pipe);
	}
	text[len] = '\0';
	if (pclose(pipe) != 0)
		fail_msg("%s failed", command);
	return text;
}

static cJSON *parse(const char *text)
{
	const char *end;
	cJSON *json = cJSON_ParseWithOpts(text, &end, false);

	assert_non_null(json);
	assert_string_equal(end + strspn(end, "\n"), "");
	return json;
}

static cJSON *json_of(const char *arguments)
{
	char *text = output(arguments);
	cJSON *json = parse(text);

	free(text);
	return json;
}

/*
 * The keys of an object, in order, each with a letter for its type:
 * s string, n number, b boolean, a array, o object, h hex string, ? null or hex.
 */
static void has_keys(const cJSON *object, const char *want)
{
	char got[512] = "";
	const char *letter = want;

	assert_true(cJSON_IsObject(object));
	for (const cJSON *c = object->child; c; c = c->next) {
		size_t len = strlen(got);
		const char *colon = strchr(letter, ':');
		char type = colon ? colon[1] : ' ';
		bool hex = cJSON_IsString(c) && strncmp(c->valuestring, "0x", 2) == 0 &&
			   strspn(c->valuestring + 2, "0123456789abcdef") ==
				   strlen(c->valuestring) - 2;
		bool right = type == 's' ? cJSON_IsString(c) :
			     type == 'n' ? cJSON_IsNumber(c) :
			     type == 'b' ? cJSON_IsBool(c) :
			     type == 'a' ? cJSON_IsArray(c) :
			     type == 'o' ? cJSON_IsObject(c) :
			     type == 'h' ? hex :
			     type == '?' ? cJSON_IsNull(c) || hex : false;

		snprintf(got + len, sizeof(got) - len, "%s%s:%c", len ? " " : "", c->string,
			 right ? type : '!');
		letter = colon ? colon + 2 : letter;
	}
	assert_string_equal(got, want);
}

static const char *string_of(const cJSON *object, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);

	assert_true(cJSON_IsNumber(item));
	return item->valuedouble;
}

static void counts_have_every_counter(void **state)
{
	cJSON *json = json_of("counts unmap-64k --format json"), *lane;

	(void)state;
	has_keys(json, "scenario:s lanes:a");
	assert_string_equal(string_of(json, "scenario"), "unmap-64k");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "lanes")), 4);
	cJSON_ArrayForEach(lane, cJSON_GetObjectItem(json, "lanes")) {
		const cJSON *counts = cJSON_GetObjectItem(lane, "counts"), *c = counts->child;
		bool batched = strstr(string_of(lane, "name"), "/batched") != NULL;

		has_keys(lane, "name:s arch:s kernel:s proposed:b bugs:a steps:n counts:o");
		assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(lane, "proposed")), batched);
		for (u32 i = 0; i < NR_COUNTERS; i++, c = c->next) {
			assert_non_null(c);
			assert_string_equal(c->string, counter_names[i]);
			assert_true(cJSON_IsNumber(c));
		}
		assert_null(c);
	}
	cJSON_Delete(json);
}

static void state_has_its_keys(void **state)
{
	cJSON *json = json_of("state unmap-64k --at x86_64/batched:80 --format json");
	const cJSON *item, *folio = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "folios"), 0);

	(void)state;
	has_keys(
		json,
		"lane:s step:n event:s path:a folios:a mms:a ptes:a slots_in:s slots:a clusters:a "
		"ubc:o tlbs:a");
	assert_string_equal(string_of(json, "lane"), "x86_64/batched");
	assert_int_equal(number_of(json, "step"), 80);
	has_keys(folio, "id:s order:n refcount:n mapcount:n nr_pages_mapped:n entire_mapcount:n "
			"pincount:n flags:a swap:? exclusive:a");
	assert_string_equal(string_of(folio, "id"), "A");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(folio, "exclusive")), 16);
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "mms"))
		has_keys(item, "id:s anonpages:n shmempages:n filepages:n swapents:n tlb_pending:n "
			       "tlb_flushed:n");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "ptes")), 16);
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "ptes"))
		has_keys(item, "mm:s va:h level:s raw:h text:s");
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "slots")) >= 16);
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "slots"))
		has_keys(item, "device:s offset:n kind:s count:n raw:h");
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "clusters"))
		has_keys(item, "device:s index:n count:n order:n locked:b");
	has_keys(cJSON_GetObjectItem(json, "ubc"), "flush_required:b writable:b cpumask:h");
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "tlbs")) > 0);
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "tlbs"))
		has_keys(item, "cpu:n va:h pfn:h span:n writable:b dirty:b stale:b");
	cJSON_Delete(json);
}

static void state_before_the_first_step(void **state)
{
	cJSON *json = json_of("state unmap-64k --at 0 --format json");
	const cJSON *folio = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "folios"), 0);
	const cJSON *pte = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "ptes"), 0);

	(void)state;
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "event")));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "path")), 0);
	assert_int_equal(number_of(folio, "refcount"), 33);
	assert_int_equal(number_of(folio, "mapcount"), 16);
	assert_string_equal(string_of(pte, "raw"), "0x00f8000012340f43");
	cJSON_Delete(json);
}

/* The word "end" and the number that counts gives are one moment. */
static void the_end_is_where_counts_says(void **state)
{
	cJSON *counts = json_of("counts swapout-64k --format json"), *end, *same;
	char arguments[128];

	(void)state;
	snprintf(arguments, sizeof(arguments), "state swapout-64k --at %.0f --format json",
		 number_of(cJSON_GetArrayItem(cJSON_GetObjectItem(counts, "lanes"), 0), "steps"));
	end = json_of("state swapout-64k --at arm64/unbatched:end --format json");
	same = json_of(arguments);
	assert_true(cJSON_Compare(end, same, true));
	assert_int_equal(
		number_of(cJSON_GetArrayItem(cJSON_GetObjectItem(end, "mms"), 0), "swapents"), 16);
	cJSON_Delete(counts);
	cJSON_Delete(end);
	cJSON_Delete(same);
}

static const cJSON *change_of(const cJSON *step, const char *what)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, cJSON_GetObjectItem(step, "changed"))
		if (strcmp(string_of(c, "what"), what) == 0)
			return c;
	return NULL;
}

/* Each line is an object; what changes adds up to what state shows. */
static void jsonl_is_a_step_a_line(void **state)
{
	char *text = output("run unmap-64k --lane arm64/batched --format jsonl");
	u32 steps = 0;
	double refcount = 33;

	(void)state;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		cJSON *step = parse(line);
		const cJSON *page = cJSON_GetObjectItem(step, "page"), *c;

		has_keys(step, cJSON_IsNull(page) ?
			 "lane:s step:n event:s phase:s page:? nr:n text:s path:a changed:a" :
			 "lane:s step:n event:s phase:s page:n nr:n text:s path:a changed:a");
		assert_string_equal(string_of(step, "lane"), "arm64/batched");
		assert_int_equal(number_of(step, "step"), ++steps);
		cJSON_ArrayForEach(c, cJSON_GetObjectItem(step, "changed")) {
			assert_non_null(string_of(c, "what"));
			assert_false(cJSON_Compare(cJSON_GetObjectItem(c, "old"),
						   cJSON_GetObjectItem(c, "new"), true));
		}
		c = change_of(step, "folio A.refcount");
		if (c) {
			assert_int_equal(number_of(c, "old"), refcount);
			refcount = number_of(c, "new");
		}
		cJSON_Delete(step);
	}
	free(text);
	assert_true(steps > 50);
	assert_int_equal(refcount, 17);
}

/* It ends with 1, for it finds something. */
static void diff_has_its_keys(void **state)
{
	cJSON *json = json_of("diff swapout-pinned arm64/unbatched arm64/batched --format json || "
			      "test $? -eq 1");
	const cJSON *item, *parting = cJSON_GetObjectItem(json, "parting");
	u32 entries = 0;

	(void)state;
	has_keys(json, "scenario:s lanes:a same_steps:n parting:o end:a counts:o");
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "lanes"))
		has_keys(item, "name:s arch:s kernel:s proposed:b bugs:a steps:n");
	has_keys(parting, "phase:s folio:s steps:a");
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(parting, "steps")) {
		has_keys(item, "lane:s step:n event:s waits:b text:s path:a command:s");
		assert_int_equal(number_of(item, "step"), number_of(json, "same_steps") + 1);
	}
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "end")) {
		bool entry = strcmp(string_of(item, "of"), "pte") == 0;

		has_keys(item, entry ? "of:s what:s nr:n generation:b values:a texts:a" :
				       "of:s what:s nr:n generation:b values:a texts:?");
		assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(item, "values")), 2);
		entries += entry ? (u32)number_of(item, "nr") : 0;
	}
	assert_int_equal(entries, 16);
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "counts"))
		assert_false(cJSON_Compare(cJSON_GetArrayItem(item, 0),
					   cJSON_GetArrayItem(item, 1), true));
	assert_int_equal(
		cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "counts"),
						       "walk_step"), 0)->valueint, 6);
	cJSON_Delete(json);
}

/* What happens under a function is part of the whole; all of it under all that is called. */
static void under_is_a_part(void **state)
{
	static const char *const under[3] = {
		"", "--under try_to_unmap", "--under madvise_pageout",
	};
	const cJSON *counts[3];
	cJSON *json[3];

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		char arguments[128];

		snprintf(arguments, sizeof(arguments),
			 "counts swapout-64k --lanes x86_64/unbatched --format json %s", under[i]);
		json[i] = json_of(arguments);
		counts[i] = cJSON_GetObjectItem(
			cJSON_GetArrayItem(cJSON_GetObjectItem(json[i], "lanes"), 0), "counts");
	}
	assert_true(cJSON_Compare(counts[0], counts[2], true));
	for (u32 i = 0; i < NR_COUNTERS; i++)
		assert_true(number_of(counts[1], counter_names[i]) <=
			    number_of(counts[0], counter_names[i]));
	assert_int_equal(number_of(counts[1], "pte_xchg"), 16);
	assert_int_equal(number_of(counts[1], "folio_freed"), 0);
	assert_int_equal(number_of(counts[0], "folio_freed"), 1);
	for (u32 i = 0; i < 3; i++)
		cJSON_Delete(json[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_have_every_counter),
		cmocka_unit_test(state_has_its_keys),
		cmocka_unit_test(state_before_the_first_step),
		cmocka_unit_test(the_end_is_where_counts_says),
		cmocka_unit_test(jsonl_is_a_step_a_line),
		cmocka_unit_test(under_is_a_part),
		cmocka_unit_test(diff_has_its_keys),
	};

	return cmocka_run_group_tests_name("cli_json", tests, NULL, NULL);
}
