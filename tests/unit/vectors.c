/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "vectors.h"

cJSON *read_json(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text;
	cJSON *json;
	long size;

	if (!file)
		fail_msg("%s cannot be read", path);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = calloc((size_t)size + 1, 1);
	if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
		fail_msg("%s cannot be read", path);
	fclose(file);
	json = cJSON_Parse(text);
	free(text);
	if (!json)
		fail_msg("%s is no JSON", path);
	return json;
}

const cJSON *member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *text_of(const cJSON *object, const char *key)
{
	const cJSON *item = member(object, key);

	if (!cJSON_IsString(item))
		fail_msg("no text \"%s\" in %s", key, cJSON_PrintUnformatted(object));
	return item->valuestring;
}

u64 u64_of(const cJSON *object, const char *key)
{
	const cJSON *item = member(object, key);

	if (cJSON_IsNumber(item))
		return (u64)item->valuedouble;
	return strtoull(text_of(object, key), NULL, 16);
}

int flag_of(const cJSON *object, const char *key, int otherwise)
{
	const cJSON *item = member(object, key);

	return cJSON_IsNumber(item) ? item->valueint : otherwise;
}

void assert_hex(u64 got, u64 want, const cJSON *row)
{
	char *text = row ? cJSON_PrintUnformatted(row) : NULL;

	if (got != want)
		fail_msg("0x%016" PRIx64 ", expected 0x%016" PRIx64 " %s", got, want,
			 text ? text : "");
	cJSON_free(text);
}
