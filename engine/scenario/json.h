/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A JSON document as a flat array of values in document order, each with the
 * place in the file where it stands.
 *
 *	{"a": [1, 2], "b": true}
 *
 *	node   0       1       2    3    4
 *	       object  a:[     1    2    b:true      children of 0: 1, 4
 *	next   5       4       3    4    5           the value after this one's last child
 *
 * Two readers walk the same bytes. scan.c checks what the grammar (RFC 8259) and
 * we demand, and notes positions; load.c lets cJSON build the values and hangs
 * them on the nodes. Nobody else sees cJSON.
 */
#ifndef SCENARIO_JSON_H
#define SCENARIO_JSON_H

#include <stdarg.h>

#include "scenario/scenario.h"

#define JSON_MAX_BYTES		(1u << 20)
#define JSON_MAX_DEPTH		32
#define JSON_MAX_MEMBERS	256	/* of one object */

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_node {
	enum json_kind kind;
	u32 parent;			/* NONE: the root */
	u32 next;
	u32 index;			/* among its parent's children */
	u32 nr;				/* children */
	struct scn_place at, key_at;
	bool escaped;			/* a string with backslashes in the file */
	const char *key;		/* members of objects; not terminated before cJSON ran */
	u32 key_len;
	const char *string;
	bool boolean;
	double number;
};

struct json {
	const char *file;		/* for messages; not owned */
	struct json_node *nodes;
	u32 nr, max;
	void *tree;			/* owner of the strings */
};

/* Check the bytes and fill in everything but the values. False with one line in err. */
bool json_scan(struct json *doc, const char *file, const char *bytes, size_t len,
	       struct error *err);
/* The same, and the values. json_free() is due in any case. */
bool json_parse(struct json *doc, const char *file, const char *bytes, size_t len,
		struct error *err);
void json_free(struct json *doc);

/* The first child, if there is one; nodes[child].next is the one after it. */
static inline u32 json_first(u32 node)
{
	return node + 1;
}

/* "file:line:column: /json/pointer: what was expected". Always false. */
bool json_fail(const struct json *doc, u32 node, struct scn_place at, struct error *err,
	       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* All digits, decimal or 0x; *text is moved behind them. False: none, or too large for 64 bits. */
bool parse_number(const char **text, u64 *value);
/* Fill err, printable. Always false. */
bool error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for what the file says at a place: "file:line:column: /json/pointer: ..." */
bool error_at(struct error *err, const char *file, struct scn_place at, const char *pointer,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));
void error_vat(struct error *err, const char *file, struct scn_place at, const char *pointer,
	       const char *format, va_list args) __attribute__((format(printf, 5, 0)));
bool error_no_memory(struct error *err);

#endif
