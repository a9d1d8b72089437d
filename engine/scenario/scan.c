/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The strict reader: RFC 8259 to the letter, with the position of every value.
 * It builds nothing but the list of values; cJSON, which is more forgiving and
 * knows no positions, reads only what passed here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/json.h"

#define MAX_NUMBER 60		/* characters; cJSON copies numbers into 64 bytes */
#define MAX_EXPONENT 300	/* decimal; doubles end at 308 */

struct scanner {
	struct json *doc;
	struct error *err;
	const unsigned char *p, *end;
	struct scn_place at;
	u32 node;		/* innermost value begun, for the pointer of messages */
	u32 depth;
};

/* --- messages -------------------------------------------------------------- */

/* Bytes of the UTF-8 character at p, 0 if it is none (overlong, surrogate, too large, cut off). */
static u32 utf8_len(const unsigned char *p, const unsigned char *end)
{
	u32 len = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

	if (len > (size_t)(end - p))
		return 0;
	for (u32 i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90))
		return 0;
	return len;
}

void make_printable(char *text)
{
	unsigned char *p = (unsigned char *)text, *end = p + strlen(text);

	while (p < end) {
		u32 len = utf8_len(p, end);

		if (len == 0 && end - p < 4) {
			*p = '\0';	/* cut off */
			return;
		}
		if (len == 0 || *p < 0x20 || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] < 0xa0)
			p[0] = p[1] = '?';
		p += len ? len : 1;
	}
}

__attribute__((format(printf, 3, 0)))
static void error_vset(struct error *err, size_t at, const char *format, va_list args)
{
	if (at < sizeof(err->text))
		vsnprintf(err->text + at, sizeof(err->text) - at, format, args);
	make_printable(err->text);
	err->placed = at > 0;
	err->no_memory = false;
}

void error_vat(struct error *err, const char *file, struct scn_place at, const char *pointer,
	       const char *format, va_list args)
{
	int n = snprintf(err->text, sizeof(err->text), "%.160s:%u:%u: %s: ", file, at.line,
			 at.column, pointer);

	error_vset(err, (size_t)n, format, args);
}

bool error_at(struct error *err, const char *file, struct scn_place at, const char *pointer,
	      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_vat(err, file, at, pointer, format, args);
	va_end(args);
	return false;
}

bool error_set(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_vset(err, 0, format, args);
	va_end(args);
	return false;
}

bool error_no_memory(struct error *err)
{
	error_set(err, "out of memory");
	err->no_memory = true;
	return false;
}

/* RFC 6901; the root, an empty pointer, is shown as "/". */
static void pointer(const struct json *doc, u32 node, char *buf, size_t size)
{
	u32 path[JSON_MAX_DEPTH + 2], depth = 0;
	size_t n = 0;

	for (; node != NONE && doc->nodes[node].parent != NONE; node = doc->nodes[node].parent)
		path[depth++] = node;
	snprintf(buf, size, "/");
	while (depth-- > 0 && n + 16 < size) {
		const struct json_node *v = &doc->nodes[path[depth]];

		buf[n++] = '/';
		if (!v->key)
			n += (size_t)snprintf(buf + n, size - n, "%u", v->index);
		for (u32 i = 0; v->key && i < v->key_len && n + 3 < size; i++) {
			char c = v->key[i];

			if (c == '~' || c == '/')
				buf[n++] = '~';
			buf[n++] = c == '~' ? '0' : c == '/' ? '1' : c;
		}
		buf[n] = '\0';
	}
}

__attribute__((format(printf, 5, 0)))
static void fail_at(const struct json *doc, u32 node, struct scn_place at, struct error *err,
		    const char *format, va_list args)
{
	char where[192];

	pointer(doc, node, where, sizeof(where));
	error_vat(err, doc->file, at, where, format, args);
}

bool json_fail(const struct json *doc, u32 node, struct scn_place at, struct error *err,
	       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_at(doc, node, at, err, format, args);
	va_end(args);
	return false;
}

__attribute__((format(printf, 2, 3)))
static bool fail(const struct scanner *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fail_at(s->doc, s->node, s->at, s->err, format, args);
	va_end(args);
	return false;
}

/* What stands here, for "..., found ...": a byte, or the end. */
static const char *found(const struct scanner *s, char *buf, size_t size)
{
	if (s->p == s->end)
		return "the end of the file";
	if (*s->p > 0x20 && *s->p < 0x7f)
		snprintf(buf, size, "'%c'", *s->p);
	else
		snprintf(buf, size, "byte 0x%02x", *s->p);
	return buf;
}

static bool expected(const struct scanner *s, const char *what)
{
	char buf[32];

	return fail(s, "expected %s, found %s", what, found(s, buf, sizeof(buf)));
}

/* --- characters ------------------------------------------------------------ */

static bool is_digit(const struct scanner *s)
{
	return s->p < s->end && *s->p >= '0' && *s->p <= '9';
}

static void ascii(struct scanner *s, u32 nr)
{
	s->p += nr;
	s->at.column += nr;
}

static void skip_space(struct scanner *s)
{
	for (; s->p < s->end; s->p++) {
		if (*s->p == '\n') {
			s->at.line++;
			s->at.column = 1;
		} else if (*s->p == ' ' || *s->p == '\t' || *s->p == '\r') {
			s->at.column++;
		} else {
			return;
		}
	}
}

/* \uXXXX at p: its value, or NONE. */
static u32 hex4(const struct scanner *s, const unsigned char *p)
{
	u32 value = 0;

	if (s->end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return NONE;
	for (u32 i = 2; i < 6; i++) {
		unsigned char c = p[i];

		if (c >= '0' && c <= '9')
			value = value << 4 | (u32)(c - '0');
		else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
			value = value << 4 | (u32)((c | 0x20) - 'a' + 10);
		else
			return NONE;
	}
	return value;
}

static bool scan_unicode_escape(struct scanner *s)
{
	u32 value = hex4(s, s->p), low;

	if (value == NONE)
		return fail(s, "expected four hex digits after \\u");
	if (value == 0)
		return fail(s, "a string must not hold \\u0000");
	if (value >= 0xd800 && value < 0xe000) {
		low = value < 0xdc00 ? hex4(s, s->p + 6) : NONE;
		if (low == NONE || low < 0xdc00 || low >= 0xe000)
			return fail(
				s, "\\u%04x is half of a surrogate pair; its other half is missing",
				value);
		ascii(s, 6);
	}
	ascii(s, 6);
	return true;
}

static bool scan_escape(struct scanner *s)
{
	if (s->end - s->p < 2 || !s->p[1] || !strchr("\"\\/bfnrtu", s->p[1]))
		return fail(s, "expected one of \" \\ / b f n r t u after the backslash");
	if (s->p[1] == 'u')
		return scan_unicode_escape(s);
	ascii(s, 2);
	return true;
}

/* At the opening quote. *escaped: it holds backslashes. */
static bool scan_string(struct scanner *s, bool *escaped)
{
	struct scn_place start = s->at;

	ascii(s, 1);
	while (s->p < s->end && *s->p != '"') {
		u32 len;

		if (*s->p == '\\') {
			*escaped = true;
			if (!scan_escape(s))
				return false;
			continue;
		}
		if (*s->p < 0x20)
			return fail(s, "a string must not hold the raw byte 0x%02x; write \\u%04x",
				    *s->p, *s->p);
		len = utf8_len(s->p, s->end);
		if (!len)
			return fail(s, "byte 0x%02x is not valid UTF-8", *s->p);
		s->p += len;
		s->at.column++;
	}
	if (s->p == s->end) {
		s->at = start;
		return fail(s, "expected a closing '\"' for this string");
	}
	ascii(s, 1);
	return true;
}

static u32 scan_digits(struct scanner *s)
{
	u32 nr = 0;

	for (; is_digit(s); nr++)
		ascii(s, 1);
	return nr;
}

/* The e-part: *exponent is clamped far beyond what is allowed. */
static bool scan_exponent(struct scanner *s, u32 *exponent, bool *negative)
{
	ascii(s, 1);
	if (s->p < s->end && (*s->p == '+' || *s->p == '-')) {
		*negative = *s->p == '-';
		ascii(s, 1);
	}
	if (!is_digit(s))
		return expected(s, "a digit of the exponent");
	for (; is_digit(s); ascii(s, 1))
		*exponent = *exponent > 9999 ? *exponent : *exponent * 10 + *s->p - '0';
	return true;
}

static bool scan_number(struct scanner *s)
{
	const unsigned char *start = s->p;
	struct scn_place at = s->at;
	u32 digits, exponent = 0;
	bool negative = false;

	if (*s->p == '-')
		ascii(s, 1);
	if (!is_digit(s))
		return expected(s, "a digit after '-'");
	if (*s->p == '0' && s->end - s->p > 1 && s->p[1] >= '0' && s->p[1] <= '9')
		return fail(s, "a number must not begin with 0");
	digits = scan_digits(s);
	if (s->p < s->end && *s->p == '.') {
		ascii(s, 1);
		if (scan_digits(s) == 0)
			return expected(s, "a digit after the decimal point");
	}
	if (s->p < s->end && (*s->p == 'e' || *s->p == 'E') &&
	    !scan_exponent(s, &exponent, &negative))
		return false;
	if (s->p - start <= MAX_NUMBER && (negative || exponent + digits <= MAX_EXPONENT))
		return true;
	s->at = at;
	return fail(s,
		    s->p - start > MAX_NUMBER ? "expected a number of at most %d characters" :
						"expected a number below 1e%d",
		    s->p - start > MAX_NUMBER ? MAX_NUMBER : MAX_EXPONENT);
}

/* --- values ---------------------------------------------------------------- */

static bool scan_value(struct scanner *s, u32 parent, const struct json_node *member);

/* A value begins: its number, or NONE when memory is out. */
static u32 add_node(struct scanner *s, u32 parent, const struct json_node *member,
		    enum json_kind kind)
{
	struct json *doc = s->doc;
	struct json_node *node;

	if (doc->nr == doc->max) {
		u32 max = doc->max ? 2 * doc->max : 256;
		struct json_node *nodes = realloc(doc->nodes, max * sizeof(*nodes));

		if (!nodes) {
			error_no_memory(s->err);
			return NONE;
		}
		doc->nodes = nodes;
		doc->max = max;
	}
	node = &doc->nodes[doc->nr];
	*node = member ? *member : (struct json_node){ .key = NULL };
	node->kind = kind;
	node->parent = parent;
	node->index = parent == NONE ? 0 : doc->nodes[parent].nr++;
	node->at = s->at;
	s->node = doc->nr++;
	return s->node;
}

static bool scan_key(struct scanner *s, struct json_node *member)
{
	bool escaped = false;

	if (s->p == s->end || *s->p != '"')
		return expected(s, "a key in double quotes");
	member->key = (const char *)s->p + 1;
	member->key_at = s->at;
	if (!scan_string(s, &escaped))
		return false;
	member->key_len = (u32)((const char *)s->p - member->key) - 1;
	skip_space(s);
	if (s->p == s->end || *s->p != ':')
		return expected(s, "':' after the key");
	ascii(s, 1);
	skip_space(s);
	return true;
}

/* At the opening bracket of node. */
static bool scan_children(struct scanner *s, u32 node, char close)
{
	const char *more = close == '}' ? "',' or '}'" : "',' or ']'";

	if (++s->depth > JSON_MAX_DEPTH)
		return fail(s, "expected at most %d levels of nesting", JSON_MAX_DEPTH);
	ascii(s, 1);
	skip_space(s);
	for (bool first = true; first || (s->p < s->end && *s->p == ','); first = false) {
		struct json_node member = { .key = NULL };

		if (first && s->p < s->end && *s->p == close)
			break;
		if (!first)
			ascii(s, 1);
		skip_space(s);
		if (close == '}' && s->doc->nodes[node].nr == JSON_MAX_MEMBERS)
			return fail(s, "expected at most %d members in an object",
				    JSON_MAX_MEMBERS);
		if (close == '}' && !scan_key(s, &member))
			return false;
		if (!scan_value(s, node, &member))
			return false;
		s->node = node;
		skip_space(s);
	}
	if (s->p == s->end || *s->p != close)
		return expected(s, more);
	ascii(s, 1);
	s->depth--;
	return true;
}

static bool scan_word(struct scanner *s, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(s->end - s->p) < len || memcmp(s->p, word, len) != 0)
		return expected(s, "true, false or null");
	ascii(s, (u32)len);
	return true;
}

static enum json_kind kind_of(unsigned char c)
{
	switch (c) {
	case '{': return JSON_OBJECT;
	case '[': return JSON_ARRAY;
	case '"': return JSON_STRING;
	case 't': case 'f': return JSON_BOOL;
	case 'n': return JSON_NULL;
	default: return JSON_NUMBER;
	}
}

static bool scan_value(struct scanner *s, u32 parent, const struct json_node *member)
{
	enum json_kind kind;
	bool escaped = false, ok = true;
	u32 node;

	if (s->p == s->end || !*s->p || !strchr("{[\"tfn-0123456789", *s->p))
		return expected(s, "a value");
	kind = kind_of(*s->p);
	node = add_node(s, parent, member, kind);
	if (node == NONE)
		return false;
	switch (kind) {
	case JSON_OBJECT: ok = scan_children(s, node, '}'); break;
	case JSON_ARRAY: ok = scan_children(s, node, ']'); break;
	case JSON_STRING: ok = scan_string(s, &escaped); break;
	case JSON_NUMBER: ok = scan_number(s); break;
	case JSON_NULL: ok = scan_word(s, "null"); break;
	case JSON_BOOL: ok = scan_word(s, *s->p == 't' ? "true" : "false"); break;
	}
	s->doc->nodes[node].escaped = escaped;
	s->doc->nodes[node].next = s->doc->nr;
	return ok;
}

bool json_scan(struct json *doc, const char *file, const char *bytes, size_t len, struct error *err)
{
	struct scanner s = {
		.doc = doc, .err = err, .node = NONE, .at = { .line = 1, .column = 1 },
		.p = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + len,
	};

	*doc = (struct json){ .file = file };
	if (len > JSON_MAX_BYTES)
		return fail(&s, "expected a file of at most %u bytes", JSON_MAX_BYTES);
	skip_space(&s);
	if (s.p == s.end || *s.p != '{')
		return expected(&s, "a JSON object");
	if (!scan_value(&s, NONE, NULL))
		return false;
	skip_space(&s);
	if (s.p != s.end)
		return expected(&s, "nothing after the closing '}'");
	return true;
}
