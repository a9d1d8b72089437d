/* SPDX-License-Identifier: GPL-2.0-only */
/* Make a case small: leave out every element, member and number that does not matter. */
#include <string.h>

#include "case.h"

struct shrink {
	cJSON *json;
	const char *kind;
};

static bool still_wrong(const struct shrink *s)
{
	struct finding f;

	return !case_judge(s->json, &f) && strcmp(f.kind, s->kind) == 0;
}

static void swap_children(cJSON *a, cJSON *b)
{
	cJSON *child = a->child;

	a->child = b->child;
	b->child = child;
}

static bool try_without(struct shrink *s, cJSON *parent, int index)
{
	cJSON *without = cJSON_Duplicate(parent, true);
	bool wrong;

	cJSON_DeleteItemFromArray(without, index);
	swap_children(parent, without);
	wrong = still_wrong(s);
	if (!wrong)
		swap_children(parent, without);
	cJSON_Delete(without);
	return wrong;
}

static bool try_number(struct shrink *s, cJSON *item, double value)
{
	double old = item->valuedouble;

	if (value < 0 || value >= old)
		return false;
	cJSON_SetNumberValue(item, value);
	if (still_wrong(s))
		return true;
	cJSON_SetNumberValue(item, old);
	return false;
}

static bool shrink_number(struct shrink *s, cJSON *item)
{
	return try_number(s, item, 0) || try_number(s, item, 1) ||
	       try_number(s, item, (int)(item->valuedouble / 2)) ||
	       try_number(s, item, item->valuedouble - 1);
}

/* True: something has become smaller. */
static bool shrink_node(struct shrink *s, cJSON *node)
{
	bool any = false;

	if (cJSON_IsNumber(node))
		return shrink_number(s, node);
	for (int i = cJSON_GetArraySize(node); i-- > 0;) {
		if (try_without(s, node, i))
			any = true;
		else
			any |= shrink_node(s, cJSON_GetArrayItem(node, i));
	}
	return any;
}

void case_shrink(cJSON *json, const struct finding *finding)
{
	struct shrink s = { .json = json, .kind = finding->kind };

	while (shrink_node(&s, json))
		;
}
