/* SPDX-License-Identifier: GPL-2.0-only */
/* The first half of case_generate(): a machine, lanes, a world, operations one after the other. */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include "case.h"
#include "dice.h"

struct gen;
struct op_info;

/* Fill in an empty object. What it remembers is for generate_op(); free() it. */
struct gen *generate_begin(struct dice *d, cJSON *json);
/* One more operation, with arguments that fit the world. */
cJSON *generate_op(struct gen *g, const struct op_info *info);

#endif
