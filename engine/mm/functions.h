/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the mirrored kernel functions are: what turns the addresses of a backtrace
 * into names, also in a stripped binary. One entry per line of core/functions.def.
 */
#ifndef MM_FUNCTIONS_H
#define MM_FUNCTIONS_H

#include "core/event.h"

struct mirrored {
	void (*fn)(void);	/* its first instruction; never called through this */
	enum event event;
};

extern const struct mirrored mirrored_functions[NR_FUNCTIONS];

#endif
