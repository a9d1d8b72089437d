/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/fields.h"
#include "scenario/suggest.h"

#define MAX_LIST 4096		/* elements; groups of folios say more with less */
#define FEW_NAMES 8		/* that a message lists */
#define MAX_ID 20		/* characters; folio_name() adds an index */
#define MAX_SAFE 9007199254740992.0	/* 2^53: integers that a double holds exactly */

static const struct json_node *node_at(const struct reader *r, u32 node)
{
	return &r->doc->nodes[node];
}

/* --- messages -------------------------------------------------------------- */

bool read_fail(struct reader *r, u32 node, const char *format, ...)
{
	char text[sizeof(r->err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return json_fail(r->doc, node, node_at(r, node)->at, r->err, "%s", text);
}

/* "a, b, c", cut off when there are too many. */
static const char *name_list(const void *names, size_t stride, u32 nr, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (u32 i = 0; i < nr && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? ", " : "",
				      name_at(names, stride, i));
	return buf;
}

bool unknown_word(struct reader *r, u32 node, const char *what, const void *names, size_t stride,
		  u32 nr)
{
	const char *word = node_at(r, node)->string;
	const char *near = suggest(word, names, stride, nr);
	char all[200];

	if (near)
		return read_fail(r, node, "expected %s, not \"%.60s\" (did you mean \"%s\"?)", what,
				 word, near);
	if (nr && nr <= FEW_NAMES)
		return read_fail(r, node, "expected %s, not \"%.60s\"; known: %s", what, word,
				 name_list(names, stride, nr, all, sizeof(all)));
	return read_fail(r, node, "expected %s, not \"%.60s\"", what, word);
}

static bool unknown_key(struct reader *r, u32 node, const struct shape *shape)
{
	const struct json_node *member = node_at(r, node);
	const char *near = suggest(member->key, &shape->fields[0].key, sizeof(shape->fields[0]),
				   shape->nr);
	char keys[256];

	if (near)
		return json_fail(r->doc, node, member->key_at, r->err,
				 "unknown key (did you mean \"%s\"?)", near);
	return json_fail(r->doc, node, member->key_at, r->err, "unknown key; expected one of %s",
			 name_list(&shape->fields[0].key, sizeof(shape->fields[0]), shape->nr, keys,
				   sizeof(keys)));
}

/* --- numbers --------------------------------------------------------------- */

bool parse_number(const char **text, u64 *value)
{
	const char *p = *text;
	u32 base = p[0] == '0' && p[1] == 'x' ? 16 : 10;
	u32 digits = 0;

	p += base == 16 ? 2 : 0;
	for (*value = 0;; p++, digits++) {
		u32 digit;

		if (*p >= '0' && *p <= '9')
			digit = (u32)(*p - '0');
		else if (base == 16 && ((*p >= 'a' && *p <= 'f') || (*p >= 'A' && *p <= 'F')))
			digit = (u32)((*p | 0x20) - 'a' + 10);
		else
			break;
		if (*value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	*text = p;
	return digits > 0;
}

bool parse_range(const char **text, u64 *first, u64 *last)
{
	if (!parse_number(text, first))
		return false;
	*last = *first;
	if (strncmp(*text, "..", 2) != 0)
		return true;
	*text += 2;
	return parse_number(text, last) && *first <= *last;
}

static bool read_range(struct reader *r, u32 node, u64 min, u64 max, u32 *first, u32 *last)
{
	const char *text = node_at(r, node)->string;
	u64 from, to;

	if (!is_string(r->doc, node) || !parse_range(&text, &from, &to) || *text ||
	    from < min || to > max)
		return read_fail(r, node,
				 "expected a range such as \"%llu..%llu\" within %llu..%llu",
				 (unsigned long long)min,
				 (unsigned long long)(max - min < 15 ? max : min + 15),
				 (unsigned long long)min, (unsigned long long)max);
	*first = (u32)from;
	*last = (u32)to;
	return true;
}

static bool read_int(struct reader *r, u32 node, u64 min, u64 max, u64 *value)
{
	const struct json_node *n = node_at(r, node);

	if (n->kind != JSON_NUMBER || !(n->number >= (double)min && n->number <= (double)max) ||
	    n->number > MAX_SAFE || n->number != (double)(u64)n->number)
		return read_fail(r, node, "expected an integer from %llu to %llu",
				 (unsigned long long)min, (unsigned long long)max);
	*value = (u64)n->number;
	return true;
}

static bool read_hex(struct reader *r, u32 node, u64 min, u64 max, u64 *value)
{
	const char *text = node_at(r, node)->string;

	if (!is_string(r->doc, node) || strncmp(text, "0x", 2) != 0 ||
	    !parse_number(&text, value) || *text)
		return read_fail(r, node, "expected a hex string such as \"0x1000\"");
	if (*value < min || *value > max)
		return read_fail(r, node, "expected a value from 0x%llx to 0x%llx",
				 (unsigned long long)min, (unsigned long long)max);
	return true;
}

static bool read_offset(struct reader *r, u32 node, u64 min, u64 max, u64 *value)
{
	if (is_string(r->doc, node))
		return read_hex(r, node, min, max, value);
	return read_int(r, node, min, max, value);
}

static bool read_bool(struct reader *r, u32 node, bool *value)
{
	if (node_at(r, node)->kind != JSON_BOOL)
		return read_fail(r, node, "expected true or false");
	*value = node_at(r, node)->boolean;
	return true;
}

/* --- strings --------------------------------------------------------------- */

bool is_string(const struct json *doc, u32 node)
{
	return doc->nodes[node].kind == JSON_STRING;
}

bool has_control(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
			return true;
	return false;
}

char *read_text(struct reader *r, u32 node)
{
	const struct json_node *n = node_at(r, node);
	size_t size;
	char *copy;

	if (n->kind != JSON_STRING || !*n->string) {
		read_fail(r, node, "expected a string that is not empty");
		return NULL;
	}
	if (has_control(n->string)) {
		read_fail(r, node, "expected one line of text, without control characters");
		return NULL;
	}
	size = strlen(n->string) + 1;
	copy = malloc(size);
	if (!copy) {
		error_no_memory(r->err);
		return NULL;
	}
	return memcpy(copy, n->string, size);
}

bool read_id(struct reader *r, u32 node, char **id)
{
	const char *text = node_at(r, node)->string;
	size_t len = 0;

	if (is_string(r->doc, node))
		len = strspn(text,
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
	if (!len || text[len] || len > MAX_ID || (*text >= '0' && *text <= '9'))
		return read_fail(r, node,
				 "expected an id: a letter, then letters, digits and _, at most "
				 "%d in all",
				 MAX_ID);
	*id = read_text(r, node);
	return *id;
}

bool read_word(struct reader *r, u32 node, const char *const *words, u32 *value)
{
	char what[128];
	u32 nr, n = 0;

	for (nr = 0; words[nr]; nr++) {
		if (is_string(r->doc, node) && strcmp(words[nr], node_at(r, node)->string) == 0) {
			*value = nr;
			return true;
		}
		n += (u32)snprintf(what + n, sizeof(what) - n, "%s\"%s\"",
				   nr == 0 ? "" : words[nr + 1] ? ", " : " or ", words[nr]);
	}
	if (!is_string(r->doc, node) ||
	    !suggest(node_at(r, node)->string, words, sizeof(*words), nr))
		return read_fail(r, node, "expected %s", what);
	return unknown_word(r, node, what, words, sizeof(*words), nr);
}

/* --- lists and references -------------------------------------------------- */

static const char *ids_base(const struct scenario *s, const struct id_space *ids, u32 *nr)
{
	const char *list;

	memcpy(nr, (const char *)s + ids->nr, sizeof(*nr));
	memcpy(&list, (const char *)s + ids->list, sizeof(list));
	return list;
}

static bool read_ref(struct reader *r, u32 node, const struct id_space *ids, u32 *index)
{
	char what[64];
	u32 nr;
	const char *list = ids_base(r->s, ids, &nr);

	snprintf(what, sizeof(what), "the id of %s", ids->what);
	if (!is_string(r->doc, node))
		return read_fail(r, node, "expected %s", what);
	for (u32 i = 0; i < nr; i++) {
		if (strcmp(name_at(list, ids->size, i), node_at(r, node)->string) == 0) {
			*index = i;
			return true;
		}
	}
	return unknown_word(r, node, what, list, ids->size, nr);
}

/* An array of at most MAX_LIST: room for its elements, zeroed. */
static void *new_list(struct reader *r, u32 node, size_t size)
{
	const struct json_node *n = node_at(r, node);
	void *list;

	if (n->kind != JSON_ARRAY) {
		read_fail(r, node, "expected an array");
		return NULL;
	}
	if (n->nr > MAX_LIST) {
		read_fail(r, node, "expected at most %d elements", MAX_LIST);
		return NULL;
	}
	list = calloc(n->nr + 1, size);
	if (!list)
		error_no_memory(r->err);
	return list;
}

/* The count grows with the elements, so that each sees those before it. */
static bool read_list(struct reader *r, u32 node, const struct field *field, char *target)
{
	void **list = (void *)(target + field->offset);
	u32 *nr = (void *)(target + field->nr_offset);
	u32 child = json_first(node);

	*list = new_list(r, node, field->shape->size);
	if (!*list)
		return false;
	for (u32 i = 0; i < node_at(r, node)->nr; i++, child = node_at(r, child)->next) {
		void *element = (char *)*list + i * field->shape->size;

		*nr = i + 1;
		if (!read_object(r, child, field->shape, element))
			return false;
	}
	return true;
}

static bool read_texts(struct reader *r, u32 node, const struct field *field, char *target)
{
	char ***list = (void *)(target + field->offset);
	u32 *nr = (void *)(target + field->nr_offset);
	u32 child = json_first(node);

	*list = new_list(r, node, sizeof(**list));
	if (!*list)
		return false;
	for (; *nr < node_at(r, node)->nr; child = node_at(r, child)->next, ++*nr) {
		(*list)[*nr] = read_text(r, child);
		if (!(*list)[*nr])
			return false;
	}
	return true;
}

/* --- objects --------------------------------------------------------------- */

static bool read_field(struct reader *r, u32 node, const struct field *f, char *target)
{
	void *at = target + f->offset;
	u64 max = f->max ? f->max : f->kind == FIELD_HEX ? UINT64_MAX : UINT32_MAX;
	u64 value = 0;
	bool yes = false, ok = true;

	switch (f->kind) {
	case FIELD_BOOL: return read_bool(r, node, at);
	case FIELD_TEXT: return (*(char **)at = read_text(r, node));
	case FIELD_ID: return read_id(r, node, at);
	case FIELD_WORD: return read_word(r, node, f->words, at);
	case FIELD_REF: return read_ref(r, node, f->ids, at);
	case FIELD_TEXTS: return read_texts(r, node, f, target);
	case FIELD_LIST: return read_list(r, node, f, target);
	case FIELD_OBJECT: return read_object(r, node, f->shape, at);
	case FIELD_READ: return f->read(r, node, target);
	case FIELD_RANGE: return read_range(r, node, f->min, max, at, (u32 *)at + 1);
	case FIELD_BIT:
		ok = read_bool(r, node, &yes);
		*(u32 *)at = (*(u32 *)at & ~f->bit) | (yes ? f->bit : 0);
		return ok;
	case FIELD_ANSWER:
		ok = read_bool(r, node, &yes);
		*(s32 *)at = yes;
		return ok;
	case FIELD_INT: ok = read_int(r, node, f->min, max, &value); break;
	case FIELD_OFFSET: ok = read_offset(r, node, f->min, max, &value); break;
	case FIELD_HEX32: ok = read_hex(r, node, f->min, max, &value); break;
	case FIELD_INT64:
		return read_int(r, node, f->min, max, at);
	case FIELD_HEX:
		return read_hex(r, node, f->min, max, at);
	}
	*(u32 *)at = (u32)value;
	return ok;
}

static void set_default(const struct field *f, char *target)
{
	void *at = target + f->offset;

	switch (f->kind) {
	case FIELD_BOOL: *(bool *)at = f->fallback; break;
	case FIELD_BIT: *(u32 *)at |= f->fallback ? f->bit : 0; break;
	case FIELD_ANSWER: *(s32 *)at = -1; break;
	case FIELD_REF: *(u32 *)at = NONE; break;
	case FIELD_RANGE: ((u32 *)at)[0] = ((u32 *)at)[1] = NONE; break;
	case FIELD_INT64: case FIELD_HEX: *(u64 *)at = f->fallback; break;
	case FIELD_INT: case FIELD_OFFSET: case FIELD_HEX32: case FIELD_WORD:
		*(u32 *)at = (u32)f->fallback;
		break;
	case FIELD_OBJECT:
		for (u32 i = 0; i < f->shape->nr; i++)
			set_default(&f->shape->fields[i], at);
		break;
	default: break;
	}
}

static bool is_private(const struct json_node *member)
{
	return strncmp(member->key, "x-", 2) == 0;
}

static u32 find_member(const struct json *doc, u32 node, const char *key)
{
	u32 child = json_first(node);

	for (u32 left = doc->nodes[node].nr; left--; child = doc->nodes[child].next)
		if (strcmp(doc->nodes[child].key, key) == 0)
			return child;
	return NONE;
}

u32 member_or_self(const struct json *doc, u32 node, const char *key)
{
	u32 child = find_member(doc, node, key);

	return child == NONE ? node : child;
}

static bool check_keys(struct reader *r, u32 node, const struct shape *shape)
{
	u32 child = json_first(node);

	for (u32 left = node_at(r, node)->nr; left--; child = node_at(r, child)->next) {
		u32 i = 0;

		while (i < shape->nr && strcmp(shape->fields[i].key, node_at(r, child)->key) != 0)
			i++;
		if (i == shape->nr && !is_private(node_at(r, child)))
			return unknown_key(r, child, shape);
	}
	return true;
}

static bool read_absent(struct reader *r, const struct field *field, char *target)
{
	struct json doc;
	struct reader absent = { .doc = &doc, .s = r->s, .err = r->err };
	bool ok = json_parse(&doc, field->key, field->absent, strlen(field->absent), r->err) &&
		  read_field(&absent, json_first(0), field, target);

	json_free(&doc);
	return ok;
}

bool read_object(struct reader *r, u32 node, const struct shape *shape, void *target)
{
	if (node_at(r, node)->kind != JSON_OBJECT)
		return read_fail(r, node, "expected an object");
	if (!check_keys(r, node, shape))
		return false;
	for (u32 i = 0; i < shape->nr; i++)
		set_default(&shape->fields[i], target);
	for (u32 i = 0; i < shape->nr; i++) {
		const struct field *field = &shape->fields[i];
		u32 child = find_member(r->doc, node, field->key);

		if (child == NONE && field->required)
			return read_fail(r, node, "expected a key \"%s\"", field->key);
		if (child != NONE && !read_field(r, child, field, target))
			return false;
		if (child == NONE && field->absent && !read_absent(r, field, target))
			return false;
	}
	return !shape->check || shape->check(r, node, target);
}
