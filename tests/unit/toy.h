/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine with hardly anything in it, for tests of what watches machines. No kernel
 * runs on it: the test puts and steps as it likes.
 *
 *	mm "app", VMA and page table at 0x200000; folios A (4 pages) and B (1 page)
 *	device 0 with 512 slots; 2 CPUs with 8 TLB entries each
 */
#ifndef TOY_H
#define TOY_H

#include "trace/trace.h"
#include "trace/narrate.h"

struct toy {
	struct observer observer;	/* records in trace, if there is one */
	struct machine m;
	struct trace *trace;
	u32 *words;
	u64 seed;
};

void toy_open(struct toy *toy);
/* From here on steps are recorded. */
void toy_record(struct toy *toy);
void toy_close(struct toy *toy);

/* The same numbers on every machine: 0 .. below - 1. */
u32 toy_random(struct toy *toy, u32 below);
/* A few random puts, then a step. */
void toy_random_step(struct toy *toy);
/* A step of the task on this CPU with these words in it. */
void toy_step(struct toy *toy, u32 cpu, u32 folio, enum phase phase, u32 page);

extern const struct names toy_names;

#endif
