/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scenario loader: what is wrong is refused with one exact line, what is right
 * arrives in the struct. tests/bad/NAME.json and NAME.expected are the wrong ones.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/expr.h"
#include "scenario/fields.h"
#include "scenario/ops.h"
#include "scenario/run.h"
#include "scenario/suggest.h"

#define MAX_BAD 1024

static const char *root(void)
{
	const char *root = getenv("TEST_ROOT");

	return root ? root : "tests";
}

/* A whole file; the caller frees it. One byte more than it has, a 0. */
static char *slurp(const char *name, size_t *len)
{
	FILE *file = fopen(name, "rb");
	char *bytes = malloc(2 << 20);

	if (!file || !bytes)
		fail_msg("%s: cannot be read", name);
	*len = fread(bytes, 1, (2 << 20) - 1, file);
	bytes[*len] = '\0';
	fclose(file);
	return bytes;
}

/* Loading from exactly as many bytes as there are: a read beyond them is seen by ASan. */
static struct scenario *load_exactly(const char *file, const char *bytes, size_t len,
				     struct error *err)
{
	char *copy = malloc(len ? len : 1);
	struct scenario *s;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	s = scenario_load(file, copy, len, err);
	free(copy);
	return s;
}

static struct scenario *load(const char *text)
{
	struct error err = { .text = "" };
	struct scenario *s = load_exactly("good.json", text, strlen(text), &err);

	if (!s)
		fail_msg("%s", err.text);
	return s;
}

static void refuse(const char *text, const char *message)
{
	struct error err = { .text = "" };

	assert_null(load_exactly("bad.json", text, strlen(text), &err));
	assert_string_equal(err.text, message);
}

/* --- what is wrong --------------------------------------------------------- */

static void test_bad(void **state)
{
	const char *name = *state;
	char path[512], file[300], *bytes, *expected;
	struct error err = { .text = "" };
	size_t len;

	snprintf(path, sizeof(path), "%s/bad/%s.json", root(), name);
	bytes = slurp(path, &len);
	snprintf(file, sizeof(file), "%s.json", name);
	assert_null(load_exactly(file, bytes, len, &err));
	free(bytes);

	snprintf(path, sizeof(path), "%s/bad/%s.expected", root(), name);
	expected = slurp(path, &len);
	assert_int_equal(expected[len - 1], '\n');
	expected[len - 1] = '\0';
	assert_string_equal(err.text, expected);
	free(expected);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

/* One test for each tests/bad/NAME.json; how many. */
static size_t find_bad(struct CMUnitTest *tests)
{
	char path[512];
	DIR *dir;
	size_t nr = 0;

	snprintf(path, sizeof(path), "%s/bad", root());
	dir = opendir(path);
	for (struct dirent *entry; dir && nr < MAX_BAD && (entry = readdir(dir));) {
		size_t len = strlen(entry->d_name);
		char *name;

		if (len <= 5 || strcmp(entry->d_name + len - 5, ".json") != 0)
			continue;
		name = strdup(entry->d_name);
		name[len - 5] = '\0';
		tests[nr++] = (struct CMUnitTest){ .name = name, .test_func = test_bad,
						   .initial_state = name };
	}
	if (dir)
		closedir(dir);
	qsort(tests, nr, sizeof(*tests), by_name);
	return nr;
}

#define SCHEMA "\"$schema\": \"scenario-1.json\", "
#define FLUSH "\"script\": [{\"do\": \"try_to_unmap_flush\"}]"

static void test_too_large(void **state)
{
	size_t len = JSON_MAX_BYTES + 1;
	char *bytes = malloc(len);
	struct error err = { .text = "" };

	(void)state;
	assert_non_null(bytes);
	memset(bytes, ' ', len);
	bytes[0] = '{';
	assert_null(scenario_load("big.json", bytes, len, &err));
	assert_string_equal(err.text, "big.json:1:1: /: expected a file of at most 1048576 bytes");
	assert_null(scenario_load("big.json", bytes, len - 1, &err));
	assert_string_equal(err.text, "big.json:1:1048577: /: expected a key in double quotes, "
			    "found the end of the file");
	free(bytes);
}

/* A message is one line and cannot play tricks on a terminal, whatever the file holds. */
static void test_message_is_one_line(void **state)
{
	struct error err = { .text = "" };
	char key[1200] = "{\"";

	(void)state;
	refuse("{\"a\\n\\u001b[2J\\u009b\\u007f\": 1}",
	       "bad.json:1:2: /a??[2J???: unknown key; expected one of $schema, title, summary, "
	       "level, "
	       "teaches, refs, machine, lanes, world, limits, script, say, expect, reported");
	for (u32 i = 2; i + 8 < sizeof(key); i += 2)
		memcpy(key + i, "\xc3\xa9", 2);
	strcpy(key + sizeof(key) - 8, "\": 1}");
	assert_null(load_exactly("bad\n\x1b.json", key, strlen(key), &err));
	assert_true(strlen(err.text) < sizeof(err.text));
	for (const char *c = err.text; *c; c++)
		assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
}

/* Every beginning of a good file is bad, and so it is with a byte more. */
static void test_prefixes(void **state)
{
	const struct bundled *b = &bundled_scenarios[0];
	size_t end = b->len;
	struct error err;

	(void)state;
	while (end > 0 && b->bytes[end - 1] != '}')
		end--;
	for (size_t len = 0; len < end; len++) {
		struct scenario *s = load_exactly("prefix.json", b->bytes, len, &err);

		assert_null(s);
		assert_int_equal(strncmp(err.text, "prefix.json:", 12), 0);
	}
}

/* Changed bytes may make a good file or a bad one, but nothing else. */
static void test_mutations(void **state)
{
	static const unsigned char bytes[] = { 0, 1, '"', '\\', '{', '}', '[', ']', ',', '9',
					       0x80, 0xff };

	(void)state;
	for (u32 i = 0; i < nr_bundled_scenarios; i++) {
		const struct bundled *b = &bundled_scenarios[i];
		char *copy = malloc(b->len);

		assert_non_null(copy);
		for (size_t at = i % 7; at < b->len; at += 7) {
			struct error err = { .text = "" };
			struct scenario *s;

			memcpy(copy, b->bytes, b->len);
			copy[at] = (char)bytes[at % sizeof(bytes)];
			s = load_exactly("changed.json", copy, b->len, &err);
			if (!s)
				assert_int_equal(strncmp(err.text, "changed.json:", 13), 0);
			scenario_free(s);
		}
		free(copy);
	}
}

/* --- what is right --------------------------------------------------------- */

static void test_bundled(void **state)
{
	(void)state;
	assert_true(nr_bundled_scenarios > 0);
	for (u32 i = 0; i < nr_bundled_scenarios; i++) {
		struct error err;
		struct scenario *s = scenario_open(bundled_scenarios[i].name, &err);

		if (!s)
			fail_msg("%s", err.text);
		assert_string_equal(s->name, bundled_scenarios[i].name);
		assert_string_equal(s->file, bundled_scenarios[i].name);
		scenario_free(s);
	}
}

static void test_defaults(void **state)
{
	struct scenario *s = load("{" SCHEMA "\"title\": \"T\", \"world\": {}, " FLUSH "}");
	static const char *const lanes[] = {
		"arm64/unbatched", "arm64/batched", "x86_64/unbatched", "x86_64/batched",
	};

	(void)state;
	assert_string_equal(s->name, "good");
	assert_string_equal(s->title, "T");
	assert_null(s->summary);
	assert_int_equal(s->level, LEVEL_INTRO);
	assert_int_equal(s->cpus, 1);
	assert_int_equal(s->tlb_entries, 64);
	assert_int_equal(s->max_steps, 8000000);
	assert_int_equal(s->nr_devices, 1);
	assert_string_equal(s->devices[0].id, "zram0");
	assert_int_equal(s->devices[0].kind, SWAP_SYNC);
	assert_int_equal(s->devices[0].slots, 4096);
	assert_int_equal(s->nr_lanes, 4);
	for (u32 i = 0; i < 4; i++) {
		assert_string_equal(s->lanes[i].name, lanes[i]);
		assert_string_equal(s->lanes[i].kernel->name, i & 1 ? "7.3+anon-batch" : "7.3");
		assert_int_equal(strncmp(s->lanes[i].arch, lanes[i], strlen(s->lanes[i].arch)), 0);
		assert_int_equal(s->lanes[i].features, cpu_features_default());
	}
	assert_int_equal(s->nr_mms + s->nr_folios + s->nr_maps + s->nr_says + s->nr_expects, 0);
	assert_int_equal(s->nr_ops, 1);
	assert_int_equal(s->ops[0].cpu, 0);
	assert_int_equal(s->ops[0].mm, NONE);
	assert_int_equal(s->ops[0].folio, NONE);
	assert_int_equal(s->ops[0].when.event, NR_EVENTS);
	scenario_free(s);
}

/* Everything once, in an order that refers forward, with private keys in every object. */
static const char everything[] =
	"{ \"x-by\": [1, {\"x\": null}],\n"
	"\"expect\": [{\"at\": {\"event\": \"pte_cleared\", \"page\": 3, \"folio\": \"A\", "
	"\"nth\": 2},"
	"  \"lane\": \"*/old\", \"that\": \"refcount(A) >= 0\", \"because\": \"counts\", "
	"\"x-\": 1},\n"
	" {\"at\": \"always\", \"that\": \"1\"}, {\"at\": \"never\", \"that\": \"0\"}],\n"
	"\"say\": [{\"when\": {\"enter\": \"try_to_unmap\"}, "
	"\"text\": \"Caf\\u00e9 \xc3\xa9 \\ud83d\\ude00\"}],\n"
	"\"script\": [{\"do\": \"madvise_pageout\", \"mm\": \"b\", \"va\": \"0x10000\", "
	"\"pages\": 16},\n"
	" {\"cpu\": 3, \"do\": \"pin\", \"folio\": \"A\","
	"  \"when\": {\"enter\": \"try_to_unmap_one\", \"x-y\": 0}}],\n"
	"\"world\": {\"x-y\": 0,\n"
	" \"tlbs\": [{\"cpu\": 1, \"mm\": \"b\", \"va\": \"0x10000\", \"pages\": 16, "
	"\"dirty\": false}],\n"
	" \"slots\": [{\"device\": \"ssd\", \"slots\": \"0x20..47\", \"count\": 3}],\n"
	" \"maps\": [{\"mm\": \"b\", \"va\": \"0x10000\", \"folio\": \"A\", \"write\": false, "
	"\"uffd\": true},\n"
	"  {\"mm\": \"a\", \"va\": \"0x7fffffffe000\", \"folio\": \"B\", \"pages\": \"7\", "
	"\"fold\": false,"
	"   \"write\": false, \"exclusive\": false}],\n"
	" \"folios\": [{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\", \"fill\": \"data\", "
	"\"isolated\": true,"
	"   \"pins\": 1, \"refs\": 2, \"flags\": [\"dirty\", \"active\"],"
	"   \"swap\": {\"device\": \"ssd\", \"slot\": \"0x10\", \"x-y\": 0}},\n"
	"  {\"id\": \"B\", \"order\": 9}, {\"id\": \"C\", \"count\": 5, \"order\": 2}, "
	"{\"id\": \"D\", \"order\": 2}],\n"
	" \"vmas\": [{\"mm\": \"b\", \"start\": \"0x10000\", \"end\": \"0x20000\", "
	"\"locked\": true, \"write\": false},"
	"  {\"mm\": \"a\", \"start\": \"0x10000\", \"end\": \"0x11000\", \"pgoff\": \"0x5\"}],\n"
	" \"mms\": [{\"id\": \"a\"}, {\"id\": \"b\", \"ran_on\": \"0..1,3\", \"tlb_pending\": 5,"
	"   \"tlb_flushed\": 4, \"on_mmlist\": true, \"asid\": 77}]},\n"
	"\"limits\": {\"steps\": 1e3},\n"
	"\"lanes\": [{\"arch\": \"x86_64\", \"path\": \"old\", \"kernel\": \"7.3\","
	"  \"features\": {\"invlpgb\": true, \"tlbi_range\": false}}],\n"
	"\"machine\": {\"cpus\": 4.0, \"tlb_entries\": 8,"
	"  \"swap\": [{\"id\": \"zram\", \"slots\": 512}, {\"id\": \"ssd\", "
	"\"kind\": \"async\", \"slots\": 1024}]},\n"
	"\"refs\": [\"one\", \"two\"], \"teaches\": [\"swap\"], \"level\": \"deep\", "
	"\"summary\": \"S\",\n"
	"\"title\": \"T\", \"$schema\": \"https://example.org/schema/scenario-1.json\"}\n";

static void check_machine(const struct scenario *s)
{
	assert_int_equal(s->level, LEVEL_DEEP);
	assert_int_equal(s->nr_refs, 2);
	assert_string_equal(s->refs[1], "two");
	assert_string_equal(s->teaches[0], "swap");
	assert_int_equal(s->max_steps, 1000);
	assert_int_equal(s->cpus, 4);
	assert_int_equal(s->tlb_entries, 8);
	assert_int_equal(s->nr_devices, 2);
	assert_int_equal(s->devices[1].kind, SWAP_ASYNC);
	assert_int_equal(s->devices[1].slots, 1024);
	assert_int_equal(s->nr_lanes, 1);
	assert_string_equal(s->lanes[0].name, "x86_64/old");
	assert_int_equal(s->lanes[0].features, 1u << FEATURE_invlpgb);
}

static void check_world(const struct scenario *s)
{
	assert_int_equal(s->nr_mms, 2);
	assert_int_equal(s->mms[0].ran_on, 1);
	assert_int_equal(s->mms[0].asid, 1);
	assert_int_equal(s->mms[1].ran_on, 0xb);
	assert_int_equal(s->mms[1].tlb_pending, 5);
	assert_int_equal(s->mms[1].tlb_flushed, 4);
	assert_int_equal(s->mms[1].asid, 77);
	assert_true(s->mms[1].on_mmlist);
	assert_int_equal(s->vmas[0].mm, 1);
	assert_int_equal(s->vmas[0].end, 0x20000);
	assert_int_equal(s->vmas[0].pgoff, 0x10);
	assert_int_equal(s->vmas[0].flags, VM_LOCKED);
	assert_int_equal(s->vmas[1].pgoff, 5);
	assert_int_equal(s->vmas[1].flags, VM_WRITE);
	assert_int_equal(s->slots[0].device, 1);
	assert_int_equal(s->slots[0].first, 32);
	assert_int_equal(s->slots[0].last, 47);
	assert_int_equal(s->slots[0].count, 3);
	assert_int_equal(s->tlbs[0].cpu, 1);
	assert_int_equal(s->tlbs[0].pages, 16);
	assert_int_equal(s->tlbs[0].writable, -1);
	assert_int_equal(s->tlbs[0].dirty, 0);
}

static void check_folios(const struct scenario *s)
{
	const struct scn_folio *a = &s->folios[0];

	assert_int_equal(s->nr_folios, 4);
	assert_false(a->zero_filled);
	assert_true(a->isolated);
	assert_int_equal(a->pins, 1);
	assert_int_equal(a->refs, 2);
	assert_int_equal(a->flags, 1u << PG_dirty | 1u << PG_active);
	assert_int_equal(a->device, 1);
	assert_int_equal(a->slot, 16);
	assert_true(s->folios[1].zero_filled);
	assert_int_equal(s->folios[1].device, NONE);
	/* those without a pfn follow above the others, aligned */
	assert_int_equal(s->folios[1].pfn, 0x12400);
	assert_int_equal(s->folios[2].pfn, 0x12600);
	assert_int_equal(s->folios[3].pfn, 0x12614);
	assert_int_equal(s->maps[0].first, 0);
	assert_int_equal(s->maps[0].last, 15);
	assert_false(s->maps[0].write);
	assert_true(s->maps[0].young && s->maps[0].dirty && s->maps[0].soft_dirty);
	assert_true(s->maps[0].uffd && s->maps[0].exclusive && s->maps[0].fold);
	assert_int_equal(s->maps[1].folio, 1);
	assert_int_equal(s->maps[1].first, 7);
	assert_int_equal(s->maps[1].last, 7);
	assert_false(s->maps[1].fold || s->maps[1].exclusive || s->maps[1].uffd);
}

static void check_script(const struct scenario *s)
{
	assert_int_equal(s->nr_ops, 2);
	assert_ptr_equal(s->ops[0].op, op_find("madvise_pageout"));
	assert_int_equal(s->ops[0].mm, 1);
	assert_int_equal(s->ops[0].va, 0x10000);
	assert_int_equal(s->ops[0].pages, 16);
	assert_int_equal(s->ops[0].at.line, 5);
	assert_int_equal(s->ops[1].cpu, 3);
	assert_int_equal(s->ops[1].folio, 0);
	assert_int_equal(s->ops[1].when.event, EV_try_to_unmap_one);
	assert_int_equal(s->ops[1].when.nth, 1);
	assert_int_equal(s->ops[1].when.page, NONE);
	assert_int_equal(s->says[0].when.event, EV_try_to_unmap);
	assert_string_equal(s->says[0].text, "Caf\xc3\xa9 \xc3\xa9 \xf0\x9f\x98\x80");
	assert_null(s->says[0].lane);
	assert_int_equal(s->nr_expects, 3);
	assert_int_equal(s->expects[0].at, EXPECT_WHEN);
	assert_int_equal(s->expects[0].when.event, event_find("pte_cleared"));
	assert_int_equal(s->expects[0].when.page, 3);
	assert_int_equal(s->expects[0].when.folio, 0);
	assert_int_equal(s->expects[0].when.nth, 2);
	assert_int_equal(s->expects[0].line, 2);
	assert_string_equal(s->expects[0].lane, "*/old");
	assert_string_equal(s->expects[0].because, "counts");
	assert_int_equal(s->expects[1].at, EXPECT_ALWAYS);
	assert_int_equal(s->expects[2].at, EXPECT_NEVER);
	assert_non_null(s->expects[2].expr);
}

static void test_everything(void **state)
{
	struct scenario *s = load(everything);

	(void)state;
	check_machine(s);
	check_world(s);
	check_folios(s);
	check_script(s);
	scenario_free(s);
}

static void test_no_swap(void **state)
{
	struct scenario *s = load("{" SCHEMA "\"title\": \"T\", \"machine\": {\"swap\": []},"
				  "\"world\": {}, "
				  FLUSH "}");

	(void)state;
	assert_int_equal(s->nr_devices, 0);
	scenario_free(s);
}

/* --- opening --------------------------------------------------------------- */

static void refuse_open(const char *arg, const char *message)
{
	struct error err = { .text = "" };

	assert_null(scenario_open(arg, &err));
	assert_string_equal(err.text, message);
}

/* As many devices as a file may have: to no kernel is the last one's type something else. */
static void test_most_devices(void **state)
{
	char text[2048] = "{" SCHEMA "\"title\": \"T\", \"world\": {}, " FLUSH
			  ", \"machine\": {\"swap\": [";
	struct scenario *s;
	u32 nr = 22;

	(void)state;
	for (u32 i = 0; i < nr; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s{\"id\": \"d%u\", \"slots\": 512}", i ? ", " : "", i);
	strcat(text, "]}}");
	s = load(text);
	assert_int_equal(s->nr_devices, nr);
	for (u32 i = 0; i < nr_kernels; i++)
		assert_true(kernels[i].types.max_swapfiles >= nr);
	scenario_free(s);
}

static void test_open(void **state)
{
	char path[512];
	struct error err = { .text = "" };

	(void)state;
	refuse_open("swapout-64", "expected a bundled scenario "
		    "(did you mean \"swapout-64k\"?)");
	refuse_open("nothing-like-it",
		    "expected a bundled scenario (folioscope list), "
		    "a file with a '/' or .json in its name, or -");
	refuse_open("./not-there", "cannot be opened: No such file or directory");
	refuse_open("not-there.json",
		    "cannot be opened: No such file or directory");
	refuse_open("./", "cannot be read: Is a directory");
	snprintf(path, sizeof(path), "%s/bad/cpus-zero.json", root());
	assert_null(scenario_open(path, &err));
	assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
	assert_non_null(strstr(err.text, ":4:23: /machine/cpus: "));
}

/* --- what the command line changes ----------------------------------------- */

static const char comparing[] =
	"{" SCHEMA "\"title\": \"T\", \"world\": {}, " FLUSH ", \"expect\": ["
	"{\"at\": \"end\", \"that\": \"count(pte_read) >= count(pte_read, 'arm64/batched')\"},"
	"{\"at\": \"end\", \"that\": \"steps > 0\"}]}";

static void test_select_lanes(void **state)
{
	struct scenario *s = load(comparing);
	struct error err = { .text = "" };

	(void)state;
	assert_false(scenario_select_lanes(s, "arm64/batched,x86_64/bached", &err));
	assert_string_equal(err.text, "no lane fits \"x86_64/bached\" (did you mean "
			    "\"x86_64/batched\"?)");
	assert_false(scenario_select_lanes(s, "", &err));
	assert_int_equal(s->nr_lanes, 4);
	assert_true(scenario_select_lanes(s, "*/batched,arm64/*", &err));
	assert_int_equal(s->nr_lanes, 3);
	assert_string_equal(s->lanes[0].name, "arm64/batched");
	assert_string_equal(s->lanes[1].name, "x86_64/batched");
	assert_string_equal(s->lanes[2].name, "arm64/unbatched");
	assert_int_equal(s->nr_expects, 2);
	/* a comparison with a lane that is left out goes with it */
	assert_true(scenario_select_lanes(s, "x86_64/batched", &err));
	assert_int_equal(s->nr_lanes, 1);
	assert_int_equal(s->nr_expects, 1);
	assert_string_equal(s->expects[0].that, "steps > 0");
	assert_false(scenario_select_lanes(s, "arm64/batched", &err));
	scenario_free(s);
}

static void test_set_feature(void **state)
{
	struct scenario *s = load(comparing);
	struct error err = { .text = "" };

	(void)state;
	assert_true(scenario_set_feature(s, "bbml3=on", &err));
	assert_true(scenario_set_feature(s, "tlbi_range=off", &err));
	for (u32 i = 0; i < s->nr_lanes; i++)
		assert_int_equal(s->lanes[i].features, 1u << FEATURE_bbml3);
	assert_true(scenario_set_feature(s, "bbml3=off", &err));
	assert_int_equal(s->lanes[0].features, 0);
	assert_false(scenario_set_feature(s, "bbml=on", &err));
	assert_string_equal(err.text, "bbml=on: unknown CPU feature (did you mean \"bbml3\"?)");
	assert_false(scenario_set_feature(s, "bbml3=yes", &err));
	assert_string_equal(err.text, "bbml3=yes: expected NAME=on or NAME=off");
	assert_false(scenario_set_feature(s, "bbml3", &err));
	assert_false(scenario_set_feature(s, "=on", &err));
	scenario_free(s);
}

static void is_command(struct scenario *s, const char *want)
{
	char *command = run_command(s, NULL, "x86_64/batched", 12);

	assert_string_equal(command, want);
	free(command);
}

/* What made the run is in the command that opens it again; a shell takes it back. */
static void test_run_command(void **state)
{
	struct scenario *s = load(comparing);
	struct error err;
	char *command;

	(void)state;
	is_command(s, "folioscope good.json --at x86_64/batched:12");
	command = run_command(s, "arm64/batched", "arm64/batched", 0);
	assert_string_equal(command, "folioscope good.json --lanes arm64/batched "
			    "--at arm64/batched:0");
	free(command);
	assert_true(scenario_set_feature(s, "bbml3=on", &err));
	assert_true(scenario_set_feature(s, "tlbi_range=off", &err));
	assert_true(scenario_select_lanes(s, "*/batched", &err));
	is_command(s, "folioscope good.json --lanes arm64/batched,x86_64/batched "
		     "--feature bbml3=on --feature tlbi_range=off --at x86_64/batched:12");
	scenario_free(s);

	s = scenario_load("-it's mine.json", comparing, sizeof(comparing) - 1, &err);
	is_command(s, "folioscope './-it'\\''s mine.json' --at x86_64/batched:12");
	scenario_free(s);
}

/* The state has folios by page frame, whatever their order in the file. */
static void test_folio_names(void **state)
{
	static const char file[] =
		"{" SCHEMA "\"title\": \"T\", \"world\": {\"folios\": ["
		"{\"id\": \"C\", \"pfn\": \"0x3000\"},"
		"{\"id\": \"B\", \"pfn\": \"0x2000\", \"order\": 2, \"count\": 3},"
		"{\"id\": \"A\", \"pfn\": \"0x1000\"}]}, " FLUSH "}";
	static const char *const want[] = { "A", "B0", "B1", "B2", "C", "B0.1", "B0.2",
					    "B0.3", "B1.1", "B1.2", "B1.3", "B2.1", "B2.2",
					    "B2.3", "?" };
	struct scenario *s = load(file);
	char name[32];

	(void)state;
	assert_int_equal(scn_folio_state(s, 0), 4);
	assert_int_equal(scn_folio_state(s, 1), 1);
	assert_int_equal(scn_folio_state(s, 2), 0);
	for (u32 i = 0; i < NR_OF(want); i++)
		assert_string_equal(folio_name(s, i, name), want[i]);
	scenario_free(s);
}

static void test_suggest(void **state)
{
	static const char *const names[] = { "madvise_pageout", "pin", "unpin",
					     "x86_64", NULL, "arm64" };
#define NEAR(word) suggest(word, names, sizeof(names[0]), NR_OF(names))

	(void)state;
	assert_string_equal(NEAR("madvise_pagout"), "madvise_pageout");
	assert_string_equal(NEAR("madivse_pageout"), "madvise_pageout");
	assert_string_equal(NEAR("MADVISE_PAGEOUT"), "madvise_pageout");
	assert_string_equal(NEAR("madvise"), "madvise_pageout");
	assert_string_equal(NEAR("pni"), "pin");
	assert_string_equal(NEAR("unpinn"), "unpin");
	assert_string_equal(NEAR("x86"), "x86_64");
	assert_string_equal(NEAR("arm46"), "arm64");
	assert_null(NEAR("p"));
	assert_null(NEAR(""));
	assert_null(NEAR("fork"));
	assert_null(NEAR("a_word_that_is_much_longer_than_any_name_could_be_in_any_table_here"));
}

/* --- documentation --------------------------------------------------------- */

/* A word of the format stands in docs/scenario.md as `word`, a key in the schema as "key":. */
struct references {
	char *docs, *schema;
	u32 nr;
};

static void documented(const struct references *refs, const char *word)
{
	char text[80];

	snprintf(text, sizeof(text), "`%s`", word);
	if (!strstr(refs->docs, text))
		fail_msg("docs/scenario.md does not name %s", text);
}

static void in_schema(const struct references *refs, const char *key)
{
	char text[80];

	snprintf(text, sizeof(text), "\"%s\":", key);
	if (!strstr(refs->schema, text))
		fail_msg("the schema has no key %s", text);
}

static void check_shape(struct references *refs, const struct shape *shape)
{
	for (u32 i = 0; i < shape->nr; i++) {
		documented(refs, shape->fields[i].key);
		in_schema(refs, shape->fields[i].key);
		refs->nr++;
		if (shape->fields[i].shape)
			check_shape(refs, shape->fields[i].shape);
	}
}

static void test_documented(void **state)
{
	struct references refs = { 0 };
	char path[512];
	size_t len;

	(void)state;
	snprintf(path, sizeof(path), "%s/../docs/scenario.md", root());
	refs.docs = slurp(path, &len);
	snprintf(path, sizeof(path), "%s/../scenarios/schema/scenario-1.json", root());
	refs.schema = slurp(path, &len);
	check_shape(&refs, &scenario_shape);
	assert_true(refs.nr > 60);
	for (u32 i = 0; i < NR_CPU_FEATURES; i++) {
		documented(&refs, cpu_features[i].name);
		in_schema(&refs, cpu_features[i].name);
	}
	for (u32 i = 0; i < nr_op_infos; i++)
		documented(&refs, op_infos[i].name);
	for (u32 i = 0; i < NR_FOLIO_FLAGS; i++)
		documented(&refs, folio_flag_names[i]);
	for (u32 i = 0; i < expr_nr_functions(); i++) {
		const char *args, *text, *name = expr_function(i, &args, &text);
		char call[120];

		snprintf(call, sizeof(call), *args == '[' ? "%s" : "%s(%s)", name, args);
		documented(&refs, call);
	}
	free(refs.docs);
	free(refs.schema);
}

int main(void)
{
	static struct CMUnitTest tests[MAX_BAD + 32] = {
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_message_is_one_line),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_bundled),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_no_swap),
		cmocka_unit_test(test_most_devices),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_select_lanes),
		cmocka_unit_test(test_set_feature),
		cmocka_unit_test(test_run_command),
		cmocka_unit_test(test_folio_names),
		cmocka_unit_test(test_suggest),
		cmocka_unit_test(test_documented),
	};
	size_t nr = 0, bad;
	int failed;

	while (tests[nr].name)
		nr++;
	bad = find_bad(tests + nr);
	if (bad < 60) {
		fprintf(stderr, "only %zu bad scenarios in %s/bad\n", bad, root());
		return 1;
	}
	failed = _cmocka_run_group_tests("scenario", tests, nr + bad, NULL, NULL);
	for (size_t i = 0; i < bad; i++)
		free(tests[nr + i].initial_state);
	return failed;
}
