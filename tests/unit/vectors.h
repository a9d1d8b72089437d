/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading the JSON tables of tests/data, and failing with the row that did it. */
#ifndef UNIT_VECTORS_H
#define UNIT_VECTORS_H

#include <cjson/cJSON.h>

#include "core/types.h"

/* The file, relative to the top of the sources; the test fails if it cannot be read. */
cJSON *read_json(const char *path);

const cJSON *member(const cJSON *object, const char *key);
/* A string member that must be there. */
const char *text_of(const cJSON *object, const char *key);
/* A number, or a string that holds one in hexadecimal; must be there. */
u64 u64_of(const cJSON *object, const char *key);
/* A number if it is there. */
int flag_of(const cJSON *object, const char *key, int otherwise);

void assert_hex(u64 got, u64 want, const cJSON *row);

#endif
