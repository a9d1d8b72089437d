/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes to scenario. cJSON is known here and nowhere else. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "scenario/fields.h"

static bool kind_matches(const cJSON *item, enum json_kind kind)
{
	switch (kind) {
	case JSON_NULL: return cJSON_IsNull(item);
	case JSON_BOOL: return cJSON_IsBool(item);
	case JSON_NUMBER: return cJSON_IsNumber(item);
	case JSON_STRING: return cJSON_IsString(item);
	case JSON_ARRAY: return cJSON_IsArray(item);
	case JSON_OBJECT: return cJSON_IsObject(item);
	}
	return false;
}

/* The member's key now that it is decoded: "a" and "\u0061" are the same. */
static bool is_duplicate(const struct json *doc, u32 node, u32 child)
{
	for (u32 i = json_first(node); i != child; i = doc->nodes[i].next)
		if (strcmp(doc->nodes[i].key, doc->nodes[child].key) == 0)
			return true;
	return false;
}

/* Both trees have the same shape and order. False: they have not, or a key is there twice. */
static bool fill(struct json *doc, u32 node, const cJSON *item, struct error *err)
{
	struct json_node *n = &doc->nodes[node];
	u32 child = json_first(node), left = n->nr;

	if (!kind_matches(item, n->kind))
		return error_set(err, "%s: cannot be parsed", doc->file);
	n->string = item->valuestring;
	n->number = item->valuedouble;
	n->boolean = cJSON_IsTrue(item);
	for (const cJSON *c = item->child; c; c = c->next, left--, child = doc->nodes[child].next) {
		if (left == 0)
			return error_set(err, "%s: cannot be parsed", doc->file);
		if (c->string) {
			doc->nodes[child].key = c->string;
			doc->nodes[child].key_len = (u32)strlen(c->string);
			if (is_duplicate(doc, node, child))
				return json_fail(doc, child, doc->nodes[child].key_at, err,
						 "expected each key once");
		}
		if (!fill(doc, child, c, err))
			return false;
	}
	return left == 0 || error_set(err, "%s: cannot be parsed", doc->file);
}

bool json_parse(struct json *doc, const char *file, const char *bytes, size_t len,
		struct error *err)
{
	cJSON *tree;

	if (!json_scan(doc, file, bytes, len, err))
		return false;
	tree = cJSON_ParseWithLength(bytes, len);
	if (!tree)
		return error_no_memory(err);
	doc->tree = tree;
	return fill(doc, 0, tree, err);
}

void json_free(struct json *doc)
{
	cJSON_Delete(doc->tree);
	free(doc->nodes);
	*doc = (struct json){ .file = NULL };
}

static char *copy_string(const char *text, size_t len)
{
	char *copy = malloc(len + 1);

	if (copy) {
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	return copy;
}

/* The file's stem: "scenarios/swapout-64k.json" -> "swapout-64k" */
static char *stem(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	size_t len = strlen(name);

	if (len > 5 && strcmp(name + len - 5, ".json") == 0)
		len -= 5;
	return copy_string(name, len);
}

/* Overlaps are the world's to find: here folios of one page frame are as good as sorted. */
static int folio_order(const void *a, const void *b)
{
	const struct scn_folio *const *x = a, *const *y = b;

	if ((*x)->pfn != (*y)->pfn)
		return (*x)->pfn < (*y)->pfn ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* Where each folio will be in the state's folio[], which is sorted by page frame. */
static bool order_folios(struct scenario *s, struct error *err)
{
	struct scn_folio **sorted = calloc((size_t)s->nr_folios + 1, sizeof(struct scn_folio *));
	u32 state = 0;

	s->by_pfn = calloc((size_t)s->nr_folios + 1, sizeof(*s->by_pfn));
	if (!sorted || !s->by_pfn) {
		free(sorted);
		return error_no_memory(err);
	}
	for (u32 i = 0; i < s->nr_folios; i++)
		sorted[i] = &s->folios[i];
	qsort(sorted, s->nr_folios, sizeof(*sorted), folio_order);
	for (u32 i = 0; i < s->nr_folios; i++) {
		s->by_pfn[i] = (u32)(sorted[i] - s->folios);
		sorted[i]->state = state;
		state += sorted[i]->count;
	}
	free(sorted);
	return true;
}

struct scenario *scenario_load(const char *file, const char *bytes, size_t len, struct error *err)
{
	struct json doc = { .file = file };
	struct scenario *s = calloc(1, sizeof(*s));
	struct reader r = { .doc = &doc, .s = s, .err = err };
	bool ok = false;

	if (s) {
		s->name = stem(file);
		s->file = copy_string(file, strlen(file));
	}
	if (s && s->name)
		make_printable(s->name);
	if (!s || !s->name || !s->file)
		error_no_memory(err);
	else
		ok = json_parse(&doc, file, bytes, len, err) &&
		     read_object(&r, 0, &scenario_shape, s) && order_folios(s, err);
	json_free(&doc);
	if (ok)
		return s;
	scenario_free(s);
	return NULL;
}
