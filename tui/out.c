/* SPDX-License-Identifier: GPL-2.0-only */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "out.h"

void json_out_begin(struct json_out *o, FILE *file, u32 lines)
{
	*o = (struct json_out){ .file = file, .lines = lines };
}

static void new_line(struct json_out *o)
{
	fprintf(o->file, "\n%*s", (int)(2 * o->depth), "");
}

/*
 * The length of the character that begins at s, 0 when the bytes are not UTF-8:
 * too long a form, a surrogate, or beyond U+10FFFF.
 */
static size_t utf8_length(const unsigned char *s)
{
	size_t len = s[0] < 0x80 ? 1 :
		     s[0] < 0xc2 ? 0 :
		     s[0] < 0xe0 ? 2 :
		     s[0] < 0xf0 ? 3 :
		     s[0] < 0xf5 ? 4 :
				   0;

	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static void quote(FILE *file, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', file);
	while (*s) {
		size_t len = utf8_length(s);

		if (*s == '"' || *s == '\\')
			fprintf(file, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", file);
		else if (*s == '\t')
			fputs("\\t", file);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(file, "\\u%04x", (unsigned int)*s);
		else if (len)
			fwrite(s, 1, len, file);
		else
			fputs("\\ufffd", file);
		s += len ? len : 1;
	}
	putc('"', file);
}

/* What stands between the last value and this one. */
static void separate(struct json_out *o, const char *key, bool nests)
{
	if (o->depth) {
		struct json_level *level = &o->level[o->depth - 1];
		bool line = o->depth <= o->lines && (o->depth == 1 || nests);

		if (level->filled)
			putc(',', o->file);
		if (line)
			new_line(o);
		else if (level->filled)
			putc(' ', o->file);
		level->filled = true;
		level->lines |= line;
	}
	if (key) {
		quote(o->file, key);
		fputs(": ", o->file);
	}
}

static void open_level(struct json_out *o, const char *key, char begin, char end)
{
	separate(o, key, true);
	putc(begin, o->file);
	assert(o->depth < JSON_OUT_DEPTH);
	o->level[o->depth++] = (struct json_level){ .end = end };
}

void json_object(struct json_out *o, const char *key)
{
	open_level(o, key, '{', '}');
}

void json_array(struct json_out *o, const char *key)
{
	open_level(o, key, '[', ']');
}

void json_close(struct json_out *o)
{
	struct json_level *level = &o->level[--o->depth];

	if (level->lines)
		new_line(o);
	putc(level->end, o->file);
	if (!o->depth)
		putc('\n', o->file);
}

void json_string(struct json_out *o, const char *key, const char *value)
{
	if (!value) {
		json_null(o, key);
		return;
	}
	separate(o, key, false);
	quote(o->file, value);
}

void json_number(struct json_out *o, const char *key, u64 value)
{
	separate(o, key, false);
	fprintf(o->file, "%" PRIu64, value);
}

void json_hex(struct json_out *o, const char *key, u64 value, int digits)
{
	separate(o, key, false);
	fprintf(o->file, "\"0x%0*" PRIx64 "\"", digits, value);
}

void json_bool(struct json_out *o, const char *key, bool value)
{
	separate(o, key, false);
	fputs(value ? "true" : "false", o->file);
}

void json_null(struct json_out *o, const char *key)
{
	separate(o, key, false);
	fputs("null", o->file);
}

char *thousands(u64 value, char *buf)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *to = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buf;
}

void print_folded(FILE *file, const char *text, int indent, int columns)
{
	int column = 0;

	while (*(text += strspn(text, " "))) {
		int len = (int)strcspn(text, " ");

		if (column && column + 1 + len <= columns)
			column += fprintf(file, " %.*s", len, text);
		else
			column = fprintf(file, "%s%*s%.*s", column ? "\n" : "", indent, "", len,
					 text) - (column != 0);
		text += len;
	}
	putc('\n', file);
}

const struct paint *paint(bool color)
{
	static const struct paint colored = {
		.dim = "\033[2m", .bold = "\033[1m", .good = "\033[36m", .bad = "\033[1;33m",
		.off = "\033[0m",
	};
	static const struct paint plain = {
		.dim = "", .bold = "", .good = "", .bad = "", .off = "",
	};

	return color ? &colored : &plain;
}

const char *ratio_text(u64 first, u64 second, char *buf, size_t size)
{
	if (first == second)
		return first ? "=" : "";
	if (!first)
		return "new";
	if (!second)
		return "gone";
	snprintf(buf, size, "%.*fx", first % second && first < 100 * second ? 2 : 0,
		 (double)first / (double)second);
	return buf;
}
