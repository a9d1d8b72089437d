/* SPDX-License-Identifier: GPL-2.0-only */
/* One recording against the engine: what is compared, and what the comparisons share. */
#ifndef UNIT_GROUNDTRUTH_H
#define UNIT_GROUNDTRUTH_H

#include "recordings.h"
#include "scenario/run.h"

bool same_calls(const struct recording *r);
bool same_counts(const struct recording *r);
bool same_ptes(const struct recording *r);

/* Print a line if somebody asked for these recordings; groundtruth_test.c. */
void __attribute__((format(printf, 1, 2))) say(const char *format, ...);

/* The window as a scenario with the recorded kernel in one lane, or NULL; windows.c. */
struct scenario *open_window(const struct recording *r);
/* Record it, see that no invariant breaks, and compare. The last operation is the window. */
bool run_window(const struct recording *r,
		bool (*same)(const struct recording *r, const struct lane *lane, u32 op));
/* The first step of an operation. */
u32 window_start(const struct trace *t, u32 op);
/* Did that kernel's compiler inline this call, of a function that it did not inline elsewhere? */
bool inlined(const struct recording *r, enum event callee, enum event caller);

#endif
