/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"

const struct style_info style_infos[NR_STYLES] = {
#define STYLE(name, letter, attrs, fg16, bg16, fg256, bg256)				\
	[STYLE_##name] = { #name, letter, attrs, fg16, bg16, fg256, bg256 },
#include "style.def"
#undef STYLE
};

/* The repertoire beyond letters, and what stands for it in ASCII. */
static const struct {
	u32 rune;
	char ascii;
} runes[] = {
	{ RUNE_HLINE, '-' },
	{ RUNE_VLINE, '|' },
	{ RUNE_TEE_DOWN, '+' },
	{ RUNE_TEE_UP, '+' },
	{ RUNE_BLOCK, '=' },
	{ RUNE_LIGHT, '.' },
	/* what titles are written with */
	{ 0x2013, '-' }, { 0x2014, '-' }, { 0x2018, '\'' }, { 0x2019, '\'' },
	{ 0x201c, '"' }, { 0x201d, '"' }, { 0x2026, '.' }, { 0x2212, '-' },
};

static u32 in_repertoire(u32 rune, bool ascii)
{
	if (rune >= ' ' && rune < 0x7f)
		return rune;
	if (rune > 0xa0 && rune < 0x180 && rune != 0xad)
		return ascii ? '?' : rune;
	for (u32 i = 0; i < NR_OF(runes); i++)
		if (runes[i].rune == rune)
			return ascii ? (u32)runes[i].ascii : rune;
	return '?';
}

/* The next rune of a UTF-8 text; broken bytes come out as '?', one each. */
static u32 next_rune(const char **text)
{
	const unsigned char *s = (const unsigned char *)*text;
	u32 more = *s >= 0xf0 ? 3 : *s >= 0xe0 ? 2 : *s >= 0xc0 ? 1 : 0;
	u32 rune = more ? *s & (0x3fu >> more) : *s;

	if (*s >= 0x80 && (*s < 0xc2 || *s > 0xf4)) {
		(*text)++;
		return '?';
	}
	for (u32 i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			(*text)++;
			return '?';
		}
		rune = rune << 6 | (s[i] & 0x3f);
	}
	*text += more + 1;
	return rune;
}

u32 rune_utf8(u32 rune, char buf[4])
{
	if (rune < 0x80) {
		buf[0] = (char)rune;
		return 1;
	}
	if (rune < 0x800) {
		buf[0] = (char)(0xc0 | rune >> 6);
		buf[1] = (char)(0x80 | (rune & 0x3f));
		return 2;
	}
	if (rune < 0x10000) {
		buf[0] = (char)(0xe0 | rune >> 12);
		buf[1] = (char)(0x80 | (rune >> 6 & 0x3f));
		buf[2] = (char)(0x80 | (rune & 0x3f));
		return 3;
	}
	buf[0] = (char)(0xf0 | rune >> 18);
	buf[1] = (char)(0x80 | (rune >> 12 & 0x3f));
	buf[2] = (char)(0x80 | (rune >> 6 & 0x3f));
	buf[3] = (char)(0x80 | (rune & 0x3f));
	return 4;
}

bool canvas_init(struct canvas *c, u32 w, u32 h)
{
	*c = (struct canvas){ .w = w, .h = h };
	c->cell = malloc(((size_t)w * h + 1) * sizeof(*c->cell));
	if (!c->cell)
		return false;
	canvas_clear(c);
	return true;
}

void canvas_free(struct canvas *c)
{
	free(c->cell);
	*c = (struct canvas){ .w = 0 };
}

void canvas_clear(struct canvas *c)
{
	for (size_t i = 0; i < (size_t)c->w * c->h; i++)
		c->cell[i] = (struct cell){ ' ', STYLE_normal };
	c->cursor_x = c->cursor_y = 0;
	c->cursor_shown = false;
}

static u32 row_end(const struct canvas *c, u32 y)
{
	u32 end = c->w;

	while (end && c->cell[(size_t)y * c->w + end - 1].rune == ' ')
		end--;
	return end;
}

void canvas_print_text(const struct canvas *c, FILE *f)
{
	char buf[4];

	for (u32 y = 0; y < c->h; y++) {
		u32 end = row_end(c, y);

		for (u32 x = 0; x < end; x++)
			fwrite(buf, 1, rune_utf8(c->cell[(size_t)y * c->w + x].rune, buf), f);
		putc('\n', f);
	}
}

static void print_style(FILE *f, const struct style_info *style, bool color)
{
	fputs("\033[0", f);
	if (style->attrs & ATTR_BOLD)
		fputs(";1", f);
	if (style->attrs & ATTR_UNDERLINE)
		fputs(";4", f);
	if (style->attrs & ATTR_REVERSE)
		fputs(";7", f);
	if (color && style->fg256 >= 0)
		fprintf(f, ";38;5;%d", style->fg256);
	if (color && style->bg256 >= 0)
		fprintf(f, ";48;5;%d", style->bg256);
	putc('m', f);
}

void canvas_print_ansi(const struct canvas *c, FILE *f, bool color)
{
	char buf[4];

	for (u32 y = 0; y < c->h; y++) {
		u32 end = row_end(c, y);
		u8 style = STYLE_normal;

		for (u32 x = 0; x < end; x++) {
			const struct cell *cell = &c->cell[(size_t)y * c->w + x];

			if (cell->style != style)
				print_style(f, &style_infos[cell->style], color);
			style = cell->style;
			fwrite(buf, 1, rune_utf8(cell->rune, buf), f);
		}
		if (style != STYLE_normal)
			fputs("\033[0m", f);
		putc('\n', f);
	}
}

struct area canvas_area(struct canvas *c)
{
	return (struct area){ .canvas = c, .w = c->w, .h = c->h };
}

struct area area_part(const struct area *a, u32 x, u32 y, u32 w, u32 h)
{
	struct area part = { .canvas = a->canvas };

	x = x < a->w ? x : a->w;
	y = y < a->h ? y : a->h;
	part.x = a->x + x;
	part.y = a->y + y;
	part.w = w < a->w - x ? w : a->w - x;
	part.h = h < a->h - y ? h : a->h - y;
	return part;
}

static struct cell *cell_at(const struct area *a, u32 x, u32 y)
{
	if (x >= a->w || y >= a->h)
		return NULL;
	return &a->canvas->cell[(size_t)(a->y + y) * a->canvas->w + a->x + x];
}

void put_rune(const struct area *a, u32 x, u32 y, enum style style, u32 rune)
{
	struct cell *cell = cell_at(a, x, y);

	if (cell)
		*cell = (struct cell){ in_repertoire(rune, a->canvas->ascii), (u8)style };
}

u32 rune_at(const struct area *a, u32 x, u32 y)
{
	const struct cell *cell = cell_at(a, x, y);

	return cell ? cell->rune : 0;
}

void put_fill(const struct area *a, u32 x, u32 y, u32 w, enum style style, u32 rune)
{
	for (u32 i = 0; i < w && x + i < a->w; i++)
		put_rune(a, x + i, y, style, rune);
}

u32 put_text(const struct area *a, u32 x, u32 y, enum style style, const char *text)
{
	while (*text)
		put_rune(a, x++, y, style, next_rune(&text));
	return x;
}

u32 put_format(const struct area *a, u32 x, u32 y, enum style style, const char *format, ...)
{
	char buf[512];
	va_list args;

	va_start(args, format);
	vsnprintf(buf, sizeof(buf), format, args);
	va_end(args);
	return put_text(a, x, y, style, buf);
}

u32 text_width(const char *text)
{
	u32 w = 0;

	for (; *text; w++)
		next_rune(&text);
	return w;
}

u32 put_right(const struct area *a, u32 min_x, u32 y, enum style style, const char *text)
{
	u32 w = text_width(text);

	if (min_x + w > a->w)
		return a->w;
	put_text(a, a->w - w, y, style, text);
	return a->w - w;
}

u32 put_cut(const struct area *a, u32 x, u32 y, u32 end, enum style style, const char *text)
{
	u32 w = text_width(text);

	if (end > a->w)
		end = a->w;
	if (x >= end)
		return x;
	if (x + w <= end)
		return put_text(a, x, y, style, text);
	while (x + 2 < end)
		put_rune(a, x++, y, style, next_rune(&text));
	while (x < end)
		put_rune(a, x++, y, style, '.');
	return x;
}

/* One row's worth of text: *text moves past it; returns its columns. */
static u32 take_row(const char **text, u32 width, const char **start)
{
	const char *s, *fit = NULL;
	u32 w = 0, fit_w = 0;

	while (**text == ' ')
		(*text)++;
	*start = s = *text;
	while (*s && *s != '\n') {
		if (*s == ' ') {
			fit = s;
			fit_w = w;
		}
		if (w == width)
			break;
		next_rune(&s);
		w++;
	}
	if (!*s || *s == '\n') {
		*text = *s ? s + 1 : s;
		return w;
	}
	*text = fit ? fit : s;
	return fit ? fit_w : w;
}

u32 put_wrapped(const struct area *a, u32 x, u32 y, enum style style, const char *text)
{
	u32 rows = 0;

	if (x >= a->w)
		return 0;
	while (*text) {
		const char *s;
		u32 w = take_row(&text, a->w - x, &s);

		for (u32 i = 0; i < w; i++)
			put_rune(a, x + i, y + rows, style, next_rune(&s));
		rows++;
	}
	return rows;
}

u32 text_rows(const char *text, u32 width)
{
	const char *s;
	u32 rows = 0;

	while (width && *text) {
		take_row(&text, width, &s);
		rows++;
	}
	return rows;
}
