/* SPDX-License-Identifier: GPL-2.0-only */
/* The bundled scenarios for tests that look at every step. */
#ifndef UNIT_BUNDLED_H
#define UNIT_BUNDLED_H

#include "scenario/run.h"

/*
 * The i-th, or where its world is too large for that the copy in tests/small that has less
 * of everything: what scenario_open() takes. The caller frees it.
 */
char *bundled_or_small(u32 i);

#endif
