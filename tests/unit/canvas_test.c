/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "canvas.h"

/* What a canvas of that size prints after draw(). */
static char *printed(u32 w, u32 h, bool ascii, bool ansi, void (*draw)(const struct area *a))
{
	struct canvas c;
	struct area a;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_true(canvas_init(&c, w, h));
	c.ascii = ascii;
	a = canvas_area(&c);
	draw(&a);
	if (ansi)
		canvas_print_ansi(&c, f, true);
	else
		canvas_print_text(&c, f);
	fclose(f);
	canvas_free(&c);
	return text;
}

static void assert_prints(u32 w, u32 h, bool ascii, void (*draw)(const struct area *a),
			  const char *expected)
{
	char *text = printed(w, h, ascii, false, draw);

	assert_string_equal(text, expected);
	free(text);
}

static void draw_beyond(const struct area *a)
{
	struct area part = area_part(a, 2, 1, 100, 100);

	assert_int_equal(put_text(a, 0, 0, STYLE_normal, "abcdefgh"), 8);
	put_text(&part, 0, 0, STYLE_normal, "xyz123");
	put_text(&part, 0, 1, STYLE_normal, "below");
	put_text(&part, 50, 0, STYLE_normal, "right");
	put_fill(a, 4, 7, 100, STYLE_normal, '#');
	put_rune(a, UINT32_MAX, UINT32_MAX, STYLE_normal, '!');
	put_right(a, 4, 0, STYLE_normal, "too long");
	part = area_part(a, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
	put_text(&part, 0, 0, STYLE_normal, "nowhere");
	put_cut(&part, 0, 0, 10, STYLE_normal, "nowhere");
	put_wrapped(&part, 0, 0, STYLE_normal, "nowhere at all");
}

static void test_clipping(void **state)
{
	(void)state;
	assert_prints(5, 2, false, draw_beyond, "abcde\n  xyz\n");
	assert_prints(1, 1, false, draw_beyond, "a\n");
}

static void draw_cut(const struct area *a)
{
	put_cut(a, 0, 0, 6, STYLE_normal, "exact!");
	put_cut(a, 0, 1, 6, STYLE_normal, "one too long");
	put_cut(a, 0, 2, 1, STYLE_normal, "one");
	put_right(a, 2, 3, STYLE_normal, "end");
}

static void test_cutting(void **state)
{
	(void)state;
	assert_prints(8, 4, false, draw_cut, "exact!\none ..\n.\n     end\n");
}

static void draw_wrapped(const struct area *a)
{
	u32 rows = put_wrapped(a, 2, 0, STYLE_normal, "one two  three fourfivesix");

	assert_int_equal(rows, text_rows("one two  three fourfivesix", a->w - 2));
}

static void test_wrapping(void **state)
{
	(void)state;
	assert_prints(9, 5, false, draw_wrapped, "  one two\n  three\n  fourfiv\n  esix\n\n");
	assert_int_equal(text_rows("", 10), 0);
	assert_int_equal(text_rows("word", 0), 0);
	assert_int_equal(text_rows("exactly10!", 10), 1);
}

static void draw_runes(const struct area *a)
{
	put_text(a, 0, 0, STYLE_normal, "\u2500\u2502\u2588 caf\u00e9 \u4e2d \xff\xc3 \x1b");
}

static void test_repertoire(void **state)
{
	(void)state;
	assert_prints(40, 1, false, draw_runes, "\u2500\u2502\u2588 caf\u00e9 ? ?? ?\n");
	assert_prints(40, 1, true, draw_runes, "-|= caf? ? ?? ?\n");
}

static void draw_styles(const struct area *a)
{
	put_text(a, 0, 0, STYLE_normal, "was ");
	put_text(a, 4, 0, STYLE_changed, "1");
	put_text(a, 5, 0, STYLE_normal, " end");
}

static void test_ansi(void **state)
{
	char *text = printed(10, 1, false, true, draw_styles);

	(void)state;
	assert_non_null(strstr(text, "was \033[0"));
	assert_non_null(strstr(text, ";7"));
	assert_non_null(strstr(text, "m1\033[0m end\n"));
	free(text);
}

/* Meaning never hangs on colour: what is changed differs from normal without it too. */
static void test_mono(void **state)
{
	(void)state;
	assert_true(style_infos[STYLE_changed].attrs & (ATTR_REVERSE | ATTR_BOLD));
	assert_int_not_equal(style_infos[STYLE_old].attrs, 0);
	assert_int_not_equal(style_infos[STYLE_warn].attrs, 0);
	assert_int_not_equal(style_infos[STYLE_focus].attrs, 0);
	assert_int_not_equal(style_infos[STYLE_proposed].attrs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clipping),
		cmocka_unit_test(test_cutting),
		cmocka_unit_test(test_wrapping),
		cmocka_unit_test(test_repertoire),
		cmocka_unit_test(test_ansi),
		cmocka_unit_test(test_mono),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
