/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON objects into C structs, by table: one row a key. The tables in
 * load_world.c and load_script.c are the scenario format.
 *
 *	{ "order", FIELD_INT, AT(scn_folio, order), .max = 9 }
 *
 * Rows are read in the order of the table, whatever the order in the file: an id
 * is known by the time something refers to it. Keys that begin with "x-" are the
 * author's own. The first thing wrong ends it all, with one line in err.
 */
#ifndef SCENARIO_FIELDS_H
#define SCENARIO_FIELDS_H

#include "scenario/json.h"

struct reader {
	const struct json *doc;
	struct scenario *s;
	struct error *err;
};

enum field_kind {
	FIELD_BOOL,		/* bool */
	FIELD_BIT,		/* true or false: bit .bit of a u32 */
	FIELD_ANSWER,		/* s32: 0 or 1; -1 when left out */
	FIELD_INT,		/* u32 in .min .. .max */
	FIELD_INT64,		/* u64 in .min .. .max */
	FIELD_HEX,		/* u64 in .min .. .max, "0x..." */
	FIELD_HEX32,		/* u32, "0x..." */
	FIELD_OFFSET,		/* u32, an integer or "0x..." */
	FIELD_RANGE,		/* two u32, first and last: "0..15", "7" */
	FIELD_TEXT,		/* char *, one line */
	FIELD_ID,		/* char *, an identifier */
	FIELD_WORD,		/* u32: index in .words, which NULL ends */
	FIELD_REF,		/* u32: index of the object with that id; NONE when left out */
	FIELD_TEXTS,		/* char ** and, at .nr_offset, u32: array of strings */
	FIELD_LIST,		/* pointer and, at .nr_offset, u32: array of .shape objects */
	FIELD_OBJECT,		/* .shape, into the struct itself at offset */
	FIELD_READ,		/* .read() sees to it */
};

/* Objects that others refer to by id; the id is their first member. */
struct id_space {
	const char *what;	/* "a folio" */
	size_t list, nr;	/* offsets in struct scenario */
	size_t size;
};
extern const struct id_space device_ids, mm_ids, folio_ids;

struct field {
	const char *key;
	enum field_kind kind;
	size_t offset, nr_offset;
	bool required;
	const char *absent;	/* read instead of a missing key: an object of this one key */
	u64 min, max, fallback;	/* max 0: no bound of its own */
	u32 bit;
	const char *const *words;
	const struct id_space *ids;
	const struct shape *shape;
	bool (*read)(struct reader *r, u32 node, void *target);
};

#define AT(type, member) .offset = offsetof(struct type, member)
#define LIST(type, member) AT(type, member), .nr_offset = offsetof(struct type, nr_##member)

/* An object: its keys, and what must hold between them (check may be NULL). */
struct shape {
	size_t size;
	u32 nr;
	const struct field *fields;
	bool (*check)(struct reader *r, u32 node, void *target);
};
#define SHAPE(type, table) .size = sizeof(struct type), .fields = table, .nr = NR_OF(table)

extern const struct shape scenario_shape;
extern const struct shape machine_shape, lane_shape, world_shape;	/* load_world.c */

bool read_object(struct reader *r, u32 node, const struct shape *shape, void *target);
bool read_word(struct reader *r, u32 node, const char *const *words, u32 *value);
char *read_text(struct reader *r, u32 node);		/* NULL: err says why */
bool read_id(struct reader *r, u32 node, char **id);
/* "first..last" or "one" at *text, moved behind it. */
bool parse_range(const char **text, u64 *first, u64 *last);

/* The member of that key, or the object itself when it has none: a place for messages. */
u32 member_or_self(const struct json *doc, u32 node, const char *key);
bool is_string(const struct json *doc, u32 node);

/* Where a value stands. */
static inline struct scn_place place_of(const struct reader *r, u32 node)
{
	return r->doc->nodes[node].at;
}

/* A message about node, with its place. Always false. */
bool read_fail(struct reader *r, u32 node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for a word that is not in a table: "WHAT, not "word" (did you mean "name"?)". */
bool unknown_word(struct reader *r, u32 node, const char *what, const void *names, size_t stride,
		  u32 nr);

#endif
