/* SPDX-License-Identifier: GPL-2.0-only */
/* The expression language, and what run_expect() says about a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/expr.h"
#include "scenario/run.h"

/* Page 5 of A is not mapped; B0 .. B2 are 4K folios; slots 100..102 are swapped out. */
static const char world[] =
	"{\"$schema\": \"scenario-1.json\", \"title\": \"T\",\n"
	"\"machine\": {\"cpus\": 2, \"swap\": [{\"id\": \"zram0\", \"slots\": 1024}]},\n"
	"\"world\": {\n"
	" \"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\", \"tlb_pending\": 3, "
	"\"tlb_flushed\": 2}, {\"id\": \"big\"}],\n"
	" \"folios\": [\n"
	"  {\"id\": \"B\", \"count\": 3, \"pfn\": \"0x20000\", \"fill\": \"data\"},\n"
	"  {\"id\": \"H\", \"order\": 9, \"pfn\": \"0x40000\"},"
	"  {\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\", \"isolated\": true, \"pins\": 1, "
	"\"refs\": 2,\n"
	"   \"flags\": [\"locked\", \"dirty\"], "
	"\"swap\": {\"device\": \"zram0\", \"slot\": 32}}],\n"
	" \"maps\": [\n"
	"  {\"mm\": \"app\", \"va\": \"0x7f0000010000\", \"folio\": \"A\", \"pages\": \"0..4\"},\n"
	"  {\"mm\": \"app\", \"va\": \"0x7f0000016000\", \"folio\": \"A\", \"pages\": \"6..15\",\n"
	"   \"exclusive\": false, \"write\": false, \"dirty\": false, \"young\": false},\n"
	"  {\"mm\": \"app\", \"va\": \"0x7f0000020000\", \"folio\": \"B\"},"
	"  {\"mm\": \"big\", \"va\": \"0x7f0000200000\", \"folio\": \"H\", \"pmd\": true, "
	"\"dirty\": false}],\n"
	" \"entries\": [{\"mm\": \"app\", \"va\": \"0x7f0000030000\", \"pages\": 2, "
	"\"kind\": \"uffd_wp\"}],"
	" \"slots\": [{\"device\": \"zram0\", \"slots\": \"100..102\", \"count\": 2}],\n"
	" \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\", \"va\": \"0x7f0000010000\", \"pages\": 2}]},\n"
	"\"script\": [{\"do\": \"try_to_unmap\", \"folio\": \"A\"}, "
	"{\"do\": \"try_to_unmap_flush\"}]";

#define ONE_LANE "\"lane\": \"arm64/batched\", "

static struct scenario *load(const char *expect)
{
	char text[4096];
	struct error err;
	struct scenario *s;

	snprintf(text, sizeof(text), "%s,\n\"expect\": [%s]}", world, expect);
	s = scenario_load("x.json", text, strlen(text), &err);
	if (!s)
		fail_msg("%s", err.text);
	return s;
}

/* One lane's world before anything ran. */
struct fixture {
	struct scenario *s;
	struct machine m;
	u32 *words;
	struct expr_env env;
};

static void open_fixture(struct fixture *f, u32 lane)
{
	struct error err;

	f->s = load("");
	f->words = NULL;
	if (!world_build(f->s, &f->s->lanes[lane], &f->m, &f->words, &err))
		fail_msg("%s", err.text);
	f->env = (struct expr_env){ .scenario = f->s, .state = f->m.s, .lane = &f->s->lanes[lane],
				    .step = 7 };
}

static void close_fixture(struct fixture *f)
{
	free(f->words);
	scenario_free(f->s);
}

static struct expr *parse(const struct scenario *s, const char *text)
{
	struct error err;
	u32 column;
	struct expr *e = expr_parse(s, text, &err, &column);

	if (!e)
		fail_msg("%s: column %u: %s", text, column, err.text);
	return e;
}

struct value {
	const char *text;
	s64 value;
};

static void check_values(const struct fixture *f, const struct value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct expr *e = parse(f->s, values[i].text);
		struct error err;
		s64 value;

		if (!expr_eval(e, &f->env, &value, &err))
			fail_msg("%s: %s", values[i].text, err.text);
		if (value != values[i].value)
			fail_msg("%s is %lld, not %lld", values[i].text, (long long)value,
				 (long long)values[i].value);
		expr_free(e);
	}
}

static void test_operators(void **state)
{
	static const struct value values[] = {
		{ "42", 42 }, { "0x2a", 42 }, { "0xFFFFFFFFFFFFFFFF", -1 },
		{ "9223372036854775807", INT64_MAX },
		{ "1 + 2 * 3", 7 }, { "(1 + 2) * 3", 9 }, { "10 - 3 - 2", 5 }, { "7 / 2", 3 },
		{ "-7 / 2", -3 },
		{ "7 % 3", 1 }, { "-7 % 3", -1 }, { "-3 + 5", 2 }, { "--3", 3 }, { "2 - -2", 4 },
		{ "!0", 1 }, { "!5", 0 }, { "!!5", 1 }, { "! 1 == 0", 1 },
		{ "1 << 4", 16 }, { "256 >> 4", 16 }, { "-1 >> 63", -1 }, { "1 << 63 >> 63", -1 },
		{ "1 << 2 + 1", 8 }, { "6 & 3", 2 }, { "6 | 3", 7 }, { "1 | 6 & 2", 3 },
		/* bits bind before comparisons, unlike in C */
		{ "6 & 3 == 2", 1 }, { "4 | 1 == 5", 1 },
		{ "1 == 1", 1 }, { "1 != 1", 0 }, { "1 < 2", 1 }, { "2 <= 1", 0 }, { "2 > 1", 1 },
		{ "1 >= 2", 0 }, { "-1 < 0", 1 },
		{ "1 && 2", 1 }, { "1 && 0", 0 }, { "0 || 3", 1 }, { "0 || 0", 0 },
		{ "1 || 0 && 0", 1 },
		{ "0 == 1 || 2 == 2", 1 },
		/* what is not needed is not evaluated */
		{ "0 && 1 / 0", 0 }, { "1 || 1 / 0", 1 },
		/* two's complement */
		{ "9223372036854775807 + 1 < 0", 1 }, { "(1 << 63) / -1 == 1 << 63", 1 },
		{ "(1 << 63) % -1", 0 },
		{ "-(1 << 63) == 1 << 63", 1 }, { "9223372036854775807 * 2", -2 },
		{ " \t1+1 ", 2 },
	};
	struct fixture f;

	(void)state;
	open_fixture(&f, 0);
	check_values(&f, values, NR_OF(values));
	close_fixture(&f);
}

/* Every name of the table is used here: test_all_names_tested sees to it. */
static const struct value names[] = {
	{ "refcount(A)", 15 + 16 + 1 + 1 + 2 }, { "mapcount(A)", 15 }, { "entire_mapcount(A)", 0 },
	{ "nr_pages_mapped(A)", 15 }, { "pincount(A)", 1 }, { "gup(A)", 3 }, { "held(A)", 0 },
	{ "isolated(A)", 1 },
	{ "isolated(B0)", 0 }, { "swapcache(A)", 1 }, { "swapcache(B2)", 0 }, { "slot_of(A)", 32 },
	{ "slot_of(B0)", -1 }, { "flag(A, dirty)", 1 }, { "flag(A, lru)", 0 },
	{ "flag(B1, lru)", 1 },
	{ "exclusive(A)", 5 }, { "exclusive(A, 4)", 1 }, { "exclusive(A, 6)", 0 },
	{ "exclusive(B0)", 1 },
	{ "page_mapcount(A, 4)", 1 }, { "page_mapcount(A, 5)", 0 },

	{ "anonpages(app)", 18 }, { "swapents(app)", 0 }, { "hiwater_rss(app)", 18 },
	{ "tlb_pending(app)", 3 },
	{ "tlb_flushed(app)", 2 }, { "tlb_gen(app) >= 0", 1 }, { "mm_cpumask(app)", 3 },
	{ "mm_users(app)", 1 },
	{ "on_mmlist(app)", 0 },

	{ "pmd(app, 0x7f0000010000)", 0 }, { "pmd(app, 0x1000)", 0 },
	{ "pmd(big, 0x7f0000200000) != 0", 1 }, { "pmd_write(app, 0x7f0000010000)", 0 },
	{ "pmd_write(big, 0x7f00003ff000)", 1 }, { "pmd_young(big, 0x7f0000200000)", 1 },
	{ "pmd_dirty(big, 0x7f0000200000)", 0 },
	{ "pte(app, 0x7f0000015000)", 0 }, { "pte(app, 0x1000)", 0 },
	{ "migration(app, 0x7f0000010000, 16)", 0 }, { "zero_page(app, 0x7f0000010000, 16)", 0 },
		{ "device_exclusive(app, 0x7f0000010000, 16)", 0 },
		{ "shmempages(app)", 0 }, { "filepages(app)", 0 },
		{ "uffd_wp_marker(app, 0x7f0000030000, 8)", 2 },
	{ "pte(app, 0x7f0000010000) & 1", 1 },
	{ "pfn(app, 0x7f0000016000)", 0x12346 }, { "pfn(app, 0x7f0000016fff)", 0x12346 },
	{ "pfn(app, 0x7f0000015000)", -1 }, { "pfn(app, 0x7f0000021000)", 0x20001 },
	{ "present(app, 0x7f0000010000)", 1 }, { "present(app, 0x7f0000015000)", 0 },
	{ "present(app, 0x7f0000010000, 16)", 15 }, { "empty(app, 0x7f0000010000, 16)", 1 },
	{ "empty(app, 0x1000)", 1 }, { "swap_pte(app, 0x7f0000010000, 16)", 0 },
	{ "write(app, 0x7f0000010000, 16)", 5 }, { "young(app, 0x7f0000010000, 16)", 5 },
	{ "dirty(app, 0x7f0000010000, 16)", 5 }, { "cont(app, 0x7f0000010000, 16)", 0 },
	{ "uffd(app, 0x7f0000010000, 16)", 0 }, { "swp_exclusive(app, 0x7f0000010000, 16)", 0 },
	{ "swp_offset(app, 0x7f0000010000)", -1 },

	{ "slot_count(zram0, 100)", 2 }, { "slot_count(zram0, 99, 5)", 6 },
	{ "slot_count(zram0, slot_of(A))", 0 },
	{ "slot_free(zram0, 96, 8)", 5 }, { "slot_free(zram0, 0)", 0 },
	{ "slot_cached(zram0, 30, 20)", 16 },
	{ "slot_swapped(zram0, 99, 5)", 3 }, { "slot_zero(zram0, 32, 16)", 0 },
	{ "cluster_count(zram0, 511) - cluster_count(zram0, 512)", 16 + 3 + 1 },
	{ "inuse(zram0)", 19 },

	{ "tlb(1, app, 0x7f0000011000)", 1 }, { "tlb(0, app, 0x7f0000011000)", 0 },
	{ "tlb(1, app, 0x7f0000012000)", 0 }, { "tlb_entries(1)", 2 }, { "tlb_entries(0)", 0 },
	{ "tlb_stale(1)", 0 },
	{ "ubc_flush_required", 0 }, { "ubc_flush_required()", 0 }, { "ubc_flush_required(1)", 0 },
	{ "ubc_writable", 0 }, { "ubc_cpumask", 0 },

	{ "count(pte_read)", 0 }, { "steps", 7 }, { "steps * 2 + 1", 15 },
};

static void test_names(void **state)
{
	static const struct value arm64[] = { { "soft_dirty(app, 0x7f0000010000, 16)", 0 } };
	static const struct value x86[] = { { "soft_dirty(app, 0x7f0000010000, 16)", 15 } };
	struct fixture f;

	(void)state;
	for (u32 lane = 0; lane < 4; lane++) {
		open_fixture(&f, lane);
		check_values(&f, names, NR_OF(names));
		check_values(&f, strcmp(f.env.lane->arch, "arm64") == 0 ? arm64 : x86, 1);
		close_fixture(&f);
	}
}

/* The function that a text begins with or holds. */
static bool uses(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; (p = strstr(p, name)); p++)
		if ((p == text || p[-1] == ' ') && strchr("( ", p[len]))
			return true;
	return false;
}

static void test_all_names_tested(void **state)
{
	(void)state;
	for (u32 i = 0; i < expr_nr_functions(); i++) {
		const char *args, *text, *name = expr_function(i, &args, &text);
		bool used = strcmp(name, "soft_dirty") == 0;

		for (u32 k = 0; k < NR_OF(names) && !used; k++)
			used = uses(names[k].text, name);
		if (!used)
			fail_msg("no test calls %s(%s)", name, args);
		assert_true(*text);
	}
}

/* Negative entries: arm64 swap entries and x86 ones have high bits set. Compare with hex. */
static void test_raw_entries(void **state)
{
	struct fixture f;
	char text[80];
	u64 raw;

	(void)state;
	open_fixture(&f, 3);
	raw = *state_pte(f.m.s, va_pte(f.m.s, 0, 0x7f0000010000));
	assert_true(raw >> 63);		/* no-execute */
	snprintf(text, sizeof(text), "pte(app, 0x7f0000010000) == 0x%llx", (unsigned long long)raw);
	check_values(&f, (const struct value[]){ { text, 1 }, { "pte(app, 0x7f0000010000) < 0", 1 },
						 { "pte(app, 0x7f0000010000) >> 63 & 1", 1 } }, 3);
	close_fixture(&f);
}

static void test_unknown(void **state)
{
	static const struct { const char *text; u32 column; const char *message; } errors[] = {
		{ "", 1, "expected a number, a name or '(', found the end of the expression" },
		{ "1 +", 4, "expected a number, a name or '(', found the end of the expression" },
		{ "1 1", 3, "expected an operator or the end, found '1'" },
		{ "1 = 1", 3, "expected an operator or the end, found '= 1'" },
		{ "(1", 3, "expected ')', found the end of the expression" },
		{ "1 < 2 < 3", 7, "comparisons do not chain: expected && between them" },
		{ "12x", 1, "expected a decimal or 0x number" },
		{ "0x", 1, "expected a number of at most 64 bits" },
		{ "9223372036854775808", 1, "expected a number of at most 64 bits" },
		{ "refcont(A)", 1,
		  "expected a name, not \"refcont\" (did you mean \"refcount\"?)" },
		{ "1 + refcount(C)", 14, "expected a folio, not \"C\"" },
		{ "refcount(B)", 10, "expected one folio of the group: \"B0\" to \"B2\"" },
		{ "refcount(B3)", 10, "expected a folio, not \"B3\"" },
		{ "refcount(B01)", 10, "expected a folio, not \"B01\"" },
		{ "refcount(A0)", 10, "expected a folio, not \"A0\"" },
		{ "refcount(A + 1)", 12, "expected refcount(folio)" },
		{ "refcount", 9, "expected refcount(folio)" },
		{ "present(app)", 12, "expected present(mm, va[, n])" },
		{ "present(app, 0x1000, 1, 1)", 23, "expected present(mm, va[, n])" },
		{ "steps(1)", 7, "expected a lane in quotes, found '1)'" },
		{ "count(pte_red)", 7,
		  "expected a counter, not \"pte_red\" (did you mean \"pte_read\"?)" },
		{ "count(pte_read, \"arm64\")", 17,
		  "expected a lane, not \"arm64\" (did you mean \"arm64/unbatched\"?)" },
		{ "count(pte_read, \"arm64", 17, "expected a lane in quotes, found '\"arm64'" },
		{ "\xc3\xa9 + 1", 1, "expected a number, a name or '(', found '\xc3\xa9 + 1'" },
	};
	struct scenario *s = load("");

	(void)state;
	for (u32 i = 0; i < NR_OF(errors); i++) {
		struct error err = { .text = "" };
		u32 column = 0;

		assert_null(expr_parse(s, errors[i].text, &err, &column));
		assert_string_equal(err.text, errors[i].message);
		assert_int_equal(column, errors[i].column);
	}
	scenario_free(s);
}

static void test_impossible(void **state)
{
	static const struct { const char *text, *message; } errors[] = {
		{ "1 / (1 - 1)", "a division by zero" },
		{ "1 % 0", "a division by zero" },
		{ "1 << 64", "a shift by 64" },
		{ "1 >> -1", "a shift by -1" },
		{ "exclusive(A, 16)", "exclusive(A, 16): expected a page within 0..15, not 16" },
		{ "tlb_entries(2)", "tlb_entries(2): expected a CPU within 0..1, not 2" },
		{ "slot_count(zram0, 1024)",
		  "slot_count(zram0, 1024): expected slots within 0..1023" },
		{ "slot_free(zram0, 1020, 5)",
		  "slot_free(zram0, 1020, 5): expected slots within 0..1023" },
		{ "present(app, 0x1000, 0)",
		  "present(app, 0x1000, 0): expected 1 to 16777216 of them, not 0" },
		{ "count(pte_read, \"arm64/batched\")",
		  "count(pte_read, \"arm64/batched\"): lane \"arm64/batched\" has not run" },
	};
	struct fixture f;

	(void)state;
	open_fixture(&f, 0);
	for (u32 i = 0; i < NR_OF(errors); i++) {
		struct expr *e = parse(f.s, errors[i].text);
		struct error err = { .text = "" };
		s64 value;

		assert_false(expr_eval(e, &f.env, &value, &err));
		assert_string_equal(err.text, errors[i].message);
		expr_free(e);
	}
	close_fixture(&f);
}

static void test_explain(void **state)
{
	static const struct { const char *text, *words; } cases[] = {
		{ "refcount(A) == 1 && mapcount(A) < refcount(A)",
		  "refcount(A) is 35, mapcount(A) is 15" },
		{ "slot_count(zram0, slot_of(A)) > 1",
		  "slot_of(A) is 32, slot_count(zram0, slot_of(A)) is 0" },
		{ "mm_cpumask(app) == 1", "mm_cpumask(app) is 0x3" },
		{ "tlb_entries(9)", "tlb_entries(9) is unknown" },
		{ "pfn(app, 0x7f0000010000) == 1 || pfn(app, 0x1000) == 1",
		  "pfn(app, 0x7f0000010000) is 0x12340, pfn(app, 0x1000) is -1" },
		{ "steps  == 1", "steps is 7" },
		{ "1 == 2", "" },
	};
	struct fixture f;
	char buf[200];

	(void)state;
	open_fixture(&f, 0);
	for (u32 i = 0; i < NR_OF(cases); i++) {
		struct expr *e = parse(f.s, cases[i].text);

		expr_explain(e, &f.env, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].words);
		expr_explain(e, &f.env, buf, 8);
		assert_int_equal(strncmp(buf, cases[i].words, strlen(buf)), 0);
		assert_true(strlen(buf) < 8);
		expr_free(e);
	}
	close_fixture(&f);
}

/* --- verdicts -------------------------------------------------------------- */

#define OMEGAS_10 "ωωωωωωωωωω"
#define OMEGAS_100 OMEGAS_10 OMEGAS_10 OMEGAS_10 OMEGAS_10 OMEGAS_10 OMEGAS_10 OMEGAS_10 \
	OMEGAS_10 OMEGAS_10 OMEGAS_10
#define SUM_40 "0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + "
#define SUM_360 SUM_40 SUM_40 SUM_40 SUM_40 SUM_40 SUM_40 SUM_40 SUM_40 SUM_40 "0"

struct verdicts {
	u32 nr;
	char text[8][2000];
};

static void note(void *ctx, const struct verdict *v)
{
	struct verdicts *all = ctx;

	assert_true(all->nr < 8);
	snprintf(all->text[all->nr++], sizeof(all->text[0]), "%s\n%s", v->text, v->command);
}

static void judge(const char *expect, struct verdicts *all)
{
	struct scenario *s = load(expect);
	struct error err;
	struct run run;
	u32 failed;

	memset(all, 0, sizeof(*all));
	if (!run_scenario(&run, s, RUN_COUNT, false, &err))
		fail_msg("%s", err.text);
	failed = run_expect(&run, note, all);
	assert_int_equal(failed, all->nr);
	run_free(&run);
	scenario_free(s);
}

static void test_what_holds(void **state)
{
	struct verdicts all;

	(void)state;
	judge("{\"at\": \"end\", \"that\": \"mapcount(A) == 15 || mapcount(A) == 0\"},"
	      "{\"at\": \"always\", \"that\": \"refcount(A) >= 16 + 3 + 1\"},"
	      "{\"at\": \"never\", \"that\": \"swapcache(A) == 0\"},"
	      "{\"at\": {\"enter\": \"try_to_unmap_one\"}, \"that\": \"mapcount(A) == 15\"},"
	      "{\"at\": \"end\", \"lane\": \"arm64/*\", \"that\": \"count(ipi_sent) == 0\"},"
	      "{\"at\": \"end\", \"that\": \"steps == steps('arm64/batched') || 1\"}", &all);
	assert_int_equal(all.nr, 0);
}

/* "x.json:19: arm64/batched step N: ..." without the number, which is not ours to know. */
static void has(const struct verdicts *all, u32 i, const char *part)
{
	if (!strstr(all->text[i], part))
		fail_msg("expected \"%s\" in \"%s\"", part, all->text[i]);
}

static void test_verdicts(void **state)
{
	struct verdicts all;

	(void)state;
	judge("{\"at\": \"end\", " ONE_LANE "\"that\": \"mapcount(A) == 99\","
	      " \"because\": \"it is so\"}", &all);
	assert_int_equal(all.nr, 1);
	has(&all, 0, "x.json:17: arm64/batched step ");
	has(&all, 0, ": expected mapcount(A) == 99 at the end, but mapcount(A) is ");
	has(&all, 0, "\nbecause it is so\n");
	has(&all, 0, "\nfolioscope x.json --at arm64/batched:");

	/* whole, whatever its length */
	judge("{\"at\": \"end\", " ONE_LANE "\"that\": \"" SUM_360 " == 1\", \"because\": \""
	      OMEGAS_100 OMEGAS_100 "\"}", &all);
	assert_int_equal(all.nr, 1);
	has(&all, 0, SUM_360 " == 1 at the end, but ");
	has(&all, 0, "\nbecause " OMEGAS_100 OMEGAS_100 "\n");

	judge("{\"at\": \"always\", \"lane\": \"*/batched\", \"that\": \"steps < 3\"}", &all);
	assert_int_equal(all.nr, 2);
	assert_string_equal(all.text[0], "x.json:17: arm64/batched step 3: expected "
			    "steps < 3 always, but steps is 3\n"
			    "folioscope x.json --at arm64/batched:3");
	has(&all, 1, "x.json:17: x86_64/batched step 3: ");

	judge("{\"at\": \"never\", " ONE_LANE "\"that\": \"steps == 0\"}", &all);
	assert_int_equal(all.nr, 1);
	assert_string_equal(all.text[0], "x.json:17: arm64/batched step 0: expected "
			    "never steps == 0, but steps is 0\n"
			    "folioscope x.json --at arm64/batched:0");

	judge("{\"at\": {\"enter\": \"try_to_unmap_one\", \"folio\": \"B\"}, " ONE_LANE
	      "\"that\": \"1\"}", &all);
	assert_int_equal(all.nr, 1);
	has(&all, 0, "expected 1 at try_to_unmap_one of folio B, but that never happens\n");

	judge("{\"at\": {\"enter\": \"try_to_unmap_one\", \"nth\": 2}, " ONE_LANE
	      "\"that\": \"1\"}", &all);
	has(&all, 0, "at try_to_unmap_one, time 2, but that never happens");

	judge("{\"at\": {\"enter\": \"try_to_unmap_one\"}, " ONE_LANE "\"that\": \"0\"}", &all);
	has(&all, 0, ": expected 0 at try_to_unmap_one, but it is a constant");

	judge("{\"at\": \"end\", " ONE_LANE "\"that\": \"1 / count(pmd_split)\"}", &all);
	has(&all, 0, "at the end, but a division by zero\n");
}

/* A condition at an event sees the state just behind it. */
static void test_when(void **state)
{
	struct verdicts all;

	(void)state;
	judge("{\"at\": {\"event\": \"pte_cleared\", \"page\": 0, \"folio\": \"A\"},"
	      " \"lane\": \"x86_64/unbatched\","
	      " \"that\": \"empty(app, 0x7f0000010000) && present(app, 0x7f0000011000)\"}", &all);
	if (all.nr)
		fail_msg("%s", all.text[0]);
}

/* The first moment that is wrong, at the beginning, on the way and at the end. */
static void test_first_moment(void **state)
{
	struct verdicts all;

	(void)state;
	judge("{\"at\": \"never\", " ONE_LANE "\"that\": \"steps == 0\"},"
	      "{\"at\": \"always\", " ONE_LANE "\"that\": \"steps < 5\"},"
	      "{\"at\": \"never\", " ONE_LANE "\"that\": \"steps == steps('arm64/batched')\"},"
	      "{\"at\": {\"event\": \"op_begin\"}, " ONE_LANE "\"that\": \"steps > 1\"}", &all);
	assert_int_equal(all.nr, 4);
	has(&all, 0, "step 0: expected never steps == 0, but steps is 0");
	has(&all, 1, "step 5: expected steps < 5 always, but steps is 5");
	has(&all, 2, "expected never steps == steps(");
	has(&all, 3, "step 1: expected steps > 1 at op_begin, but steps is 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_all_names_tested),
		cmocka_unit_test(test_raw_entries),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_what_holds),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_when),
		cmocka_unit_test(test_first_moment),
	};

	return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
