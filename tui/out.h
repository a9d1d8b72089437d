/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing data: JSON, and numbers for people.
 *
 *	struct json_out o;
 *
 *	json_out_begin(&o, stdout, 1);		{
 *	json_object(&o, NULL);			  "lane": "a\"b",
 *	json_string(&o, "lane", "a\"b");	  "steps": [1, 2]
 *	json_array(&o, "steps");		}
 *	json_number(&o, NULL, 1);
 *	json_number(&o, NULL, 2);
 *	json_close(&o);
 *	json_close(&o);
 *
 * A key of NULL inside arrays and for the outermost value. Down to lines levels
 * deep, members of the outermost value and whatever nests begin lines of their
 * own; 0: all on one line.
 */
#ifndef OUT_H
#define OUT_H

#include <stdio.h>

#include "core/types.h"

#define JSON_OUT_DEPTH 8

struct json_out {
	FILE *file;
	u32 lines;
	u32 depth;
	struct json_level {
		char end;		/* '}' or ']' */
		bool filled;
		bool lines;		/* some value in it began a line */
	} level[JSON_OUT_DEPTH];
};

void json_out_begin(struct json_out *o, FILE *file, u32 lines);
void json_object(struct json_out *o, const char *key);
void json_array(struct json_out *o, const char *key);
void json_close(struct json_out *o);	/* the innermost; the outermost also ends the line */
/* Bytes that are not UTF-8 become U+FFFD. NULL is written as null. */
void json_string(struct json_out *o, const char *key, const char *value);
void json_number(struct json_out *o, const char *key, u64 value);
/* "0x1f"; with 16 digits "0x000000000000001f" */
void json_hex(struct json_out *o, const char *key, u64 value, int digits);
void json_bool(struct json_out *o, const char *key, bool value);
void json_null(struct json_out *o, const char *key);

/* "31,457,280"; buf holds 32 bytes and is returned. */
char *thousands(u64 value, char *buf);

/* The words of a text, indented, folded so that no line is longer than that if it can be. */
void print_folded(FILE *file, const char *text, int indent, int columns);

/* ANSI attributes around text, or "" where there is to be no colour. */
struct paint {
	const char *dim, *bold, *good, *bad, *off;
};
const struct paint *paint(bool color);

/* first to second, as tables show it: "=" "3.90x" "gone" "new", "" if both are 0. May use buf. */
const char *ratio_text(u64 first, u64 second, char *buf, size_t size);

#endif
