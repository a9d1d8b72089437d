/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "out.h"

static char *text;
static size_t len;

static void begin(struct json_out *o, u32 lines)
{
	FILE *file = open_memstream(&text, &len);

	assert_non_null(file);
	json_out_begin(o, file, lines);
}

static void wrote(struct json_out *o, const char *want)
{
	fclose(o->file);
	assert_string_equal(text, want);
	free(text);
}

static void values_on_one_line(void **state)
{
	struct json_out o;

	(void)state;
	begin(&o, 0);
	json_object(&o, NULL);
	json_string(&o, "s", "a");
	json_string(&o, "none", NULL);
	json_number(&o, "n", UINT64_MAX);
	json_hex(&o, "h", 0x1f, 1);
	json_hex(&o, "raw", 0x1f, 16);
	json_bool(&o, "t", true);
	json_array(&o, "a");
	json_number(&o, NULL, 1);
	json_array(&o, NULL);
	json_close(&o);
	json_bool(&o, NULL, false);
	json_close(&o);
	json_close(&o);
	wrote(&o, "{\"s\": \"a\", \"none\": null, \"n\": 18446744073709551615, \"h\": \"0x1f\", "
		  "\"raw\": \"0x000000000000001f\", \"t\": true, \"a\": [1, [], false]}\n");
}

static void strings_are_escaped(void **state)
{
	struct json_out o;

	(void)state;
	begin(&o, 0);
	json_array(&o, NULL);
	json_string(&o, NULL, "a\"b\\c\n\t\r\x01\x7f");
	json_close(&o);
	wrote(&o, "[\"a\\\"b\\\\c\\n\\t\\u000d\\u0001\\u007f\"]\n");
}

static void utf8_stays_and_the_rest_is_replaced(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		  "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\x80", "\\ufffd" }, /* no beginning */
		{ "\xc3", "\\ufffd" }, /* cut short */
		{ "\xc3(", "\\ufffd(" },
		{ "\xc0\xaf", "\\ufffd\\ufffd" }, /* too long a form */
		{ "\xe0\x80\xaf", "\\ufffd\\ufffd\\ufffd" },
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" }, /* a surrogate */
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" }, /* beyond U+10FFFF */
	};

	(void)state;
	for (u32 i = 0; i < NR_OF(cases); i++) {
		char want[64];
		struct json_out o;

		begin(&o, 0);
		json_array(&o, NULL);
		json_string(&o, NULL, cases[i].in);
		json_close(&o);
		snprintf(want, sizeof(want), "[\"%s\"]\n", cases[i].out);
		wrote(&o, want);
	}
}

static void lines_down_to_a_depth(void **state)
{
	struct json_out o;

	(void)state;
	begin(&o, 2);
	json_object(&o, NULL);
	json_number(&o, "n", 1);
	json_array(&o, "words");
	json_string(&o, NULL, "a");
	json_string(&o, NULL, "b");
	json_close(&o);
	json_array(&o, "objects");
	json_object(&o, NULL);
	json_number(&o, "x", 1);
	json_number(&o, "y", 2);
	json_close(&o);
	json_object(&o, NULL);
	json_close(&o);
	json_close(&o);
	json_close(&o);
	wrote(&o, "{\n"
		  "  \"n\": 1,\n"
		  "  \"words\": [\"a\", \"b\"],\n"
		  "  \"objects\": [\n"
		  "    {\"x\": 1, \"y\": 2},\n"
		  "    {}\n"
		  "  ]\n"
		  "}\n");
}

static void thousands_have_commas(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(thousands(0, buf), "0");
	assert_string_equal(thousands(999, buf), "999");
	assert_string_equal(thousands(1000, buf), "1,000");
	assert_string_equal(thousands(31457280, buf), "31,457,280");
	assert_string_equal(thousands(UINT64_MAX, buf), "18,446,744,073,709,551,615");
}

static void assert_folded(const char *words, int indent, int columns, const char *want)
{
	FILE *file = open_memstream(&text, &len);

	assert_non_null(file);
	print_folded(file, words, indent, columns);
	fclose(file);
	assert_string_equal(text, want);
	free(text);
}

static void words_are_folded(void **state)
{
	(void)state;
	assert_folded("", 2, 10, "\n");
	assert_folded("one two three", 0, 80, "one two three\n");
	assert_folded("one two three", 2, 9, "  one two\n  three\n");
	assert_folded("one two three", 2, 8, "  one\n  two\n  three\n");
	assert_folded("  one   indivisible x", 2, 8, "  one\n  indivisible\n  x\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_on_one_line),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(utf8_stays_and_the_rest_is_replaced),
		cmocka_unit_test(lines_down_to_a_depth),
		cmocka_unit_test(thousands_have_commas),
		cmocka_unit_test(words_are_folded),
	};

	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
