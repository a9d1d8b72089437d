/* SPDX-License-Identifier: GPL-2.0-only */
/* "Did you mean ...?": the nearest of the names in a table. */
#ifndef SCENARIO_SUGGEST_H
#define SCENARIO_SUGGEST_H

#include "core/types.h"

/*
 * names points to the first of nr name pointers, stride bytes apart, so that any
 * table of structs will do:
 *
 *	suggest(word, &kernels[0].name, sizeof(kernels[0]), nr_kernels)
 *
 * NULL when none is near. Letter case does not count.
 */
const char *suggest(const char *word, const void *names, size_t stride, u32 nr);

/* The i-th name of such a table. */
const char *name_at(const void *names, size_t stride, u32 i);

#endif
