/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A screen as a grid of cells, with no terminal anywhere near.
 *
 *   canvas  80 x 24 cells {rune, style}
 *   area    a rectangle of it: what a pane draws into; everything is clipped to it
 *
 * Runes come from a small repertoire, each one column wide: ASCII, Latin letters,
 * and the lines, blocks and quotes of runes[] in canvas.c. Anything else becomes '?'.
 * An ASCII canvas takes their ASCII stand-ins, as wide as the original.
 */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdio.h>

#include "core/types.h"

enum attr { ATTR_BOLD = 1, ATTR_UNDERLINE = 2, ATTR_REVERSE = 4 };

enum style {
#define STYLE(name, letter, attrs, fg16, bg16, fg256, bg256) STYLE_##name,
#include "style.def"
#undef STYLE
	NR_STYLES
};

struct style_info {
	const char *name;
	char letter;		/* for screens as text with their styles beside them */
	u8 attrs;		/* enum attr bits */
	s32 fg16, bg16, fg256, bg256;	/* -1: default */
};
extern const struct style_info style_infos[NR_STYLES];

struct cell {
	u32 rune;
	u8 style;
};

struct canvas {
	u32 w, h;
	bool ascii;
	u32 cursor_x, cursor_y;	/* where the terminal's cursor belongs */
	bool cursor_shown;
	struct cell *cell;	/* [h][w], owned */
};

bool canvas_init(struct canvas *c, u32 w, u32 h);	/* blank; false: out of memory */
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);

/* A row a line, without trailing blanks. */
void canvas_print_text(const struct canvas *c, FILE *f);
/* The same with escape sequences for the styles; in colour only if told so. */
void canvas_print_ansi(const struct canvas *c, FILE *f, bool color);
/* UTF-8 of a rune; returns its length, 1 to 4. */
u32 rune_utf8(u32 rune, char buf[4]);

struct area {
	struct canvas *canvas;
	u32 x, y, w, h;
};

struct area canvas_area(struct canvas *c);
/* A part of an area, cut where it would stick out. */
struct area area_part(const struct area *a, u32 x, u32 y, u32 w, u32 h);

/* Each returns the column after what was (or would have been) put. Text is UTF-8. */
u32 put_text(const struct area *a, u32 x, u32 y, enum style style, const char *text);
u32 put_format(const struct area *a, u32 x, u32 y, enum style style, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Ends at the right edge; nothing when it would begin left of min_x. Returns its first column. */
u32 put_right(const struct area *a, u32 min_x, u32 y, enum style style, const char *text);
/* Cut with ".." when it is longer than the columns up to end. */
u32 put_cut(const struct area *a, u32 x, u32 y, u32 end, enum style style, const char *text);
/* Breaks at blanks; returns the rows it takes. */
u32 put_wrapped(const struct area *a, u32 x, u32 y, enum style style, const char *text);
void put_rune(const struct area *a, u32 x, u32 y, enum style style, u32 rune);
/* What stands there, an ASCII stand-in on an ASCII canvas; 0 outside. */
u32 rune_at(const struct area *a, u32 x, u32 y);
void put_fill(const struct area *a, u32 x, u32 y, u32 w, enum style style, u32 rune);

/* Columns of a text. */
u32 text_width(const char *text);
/* Rows it takes wrapped into a width. */
u32 text_rows(const char *text, u32 width);

#define RUNE_HLINE	0x2500
#define RUNE_VLINE	0x2502
#define RUNE_TEE_DOWN	0x252c
#define RUNE_TEE_UP	0x2534
#define RUNE_BLOCK	0x2588
#define RUNE_LIGHT	0x2591

#endif
