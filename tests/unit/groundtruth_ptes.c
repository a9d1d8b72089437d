/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page-table entries, bit for bit: 16 of them at each return of page_vma_mapped_walk().
 * Page frames and slots are those of another machine, all else must be equal.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "groundtruth.h"

#define NR_PTES 16

struct walk {
	u64 pte;		/* where pte[0] is, in the kernel's memory */
	u32 ret;
	u64 val[NR_PTES];
};

static u64 number_behind(const char **line, const char *key)
{
	const char *at = strstr(*line, key);
	char *end;
	u64 number;

	if (!at)
		fail_msg("no %s in %.40s", key, *line);
	number = strtoull(at + strlen(key), &end, 0);
	*line = end;
	return number;
}

/* "pvr: ... ret=1 addr=0x... pmdp=0x... ptep=0x... ptes={0x...,0x...}"; the line behind it. */
static const char *read_walk(const char *line, struct walk *walk)
{
	walk->ret = (u32)number_behind(&line, " ret=");
	walk->pte = number_behind(&line, " ptep=");
	walk->val[0] = number_behind(&line, " ptes={");
	for (u32 i = 1; i < NR_PTES; i++)
		walk->val[i] = number_behind(&line, ",");
	return line + strcspn(line, "\n") + 1;
}

/* The step in which the next walk of the window returned, from step i on. */
static u32 next_walk(const struct trace *t, u32 i)
{
	while (i < trace_nr_steps(t) && trace_step(t, i)->event != EV_walk_found &&
	       trace_step(t, i)->event != EV_walk_not_found)
		i++;
	return i;
}

/* slots: how far the kernel's swap slots are from the engine's, once one was seen. */
static bool same_pte(const struct machine *m, u64 kernel, u64 engine, s64 *slots)
{
	const struct pte_ops *ops = m->arch->pte;
	struct pte_desc k, e;

	ops->decode(kernel, &m->kernel->types, &k);
	ops->decode(engine, &m->kernel->types, &e);
	if (ops->encode(&k) != kernel)
		return false;
	if (k.kind == PTE_SWAP) {
		if (*slots == INT64_MAX)
			*slots = (s64)(k.offset - e.offset);
		k.offset -= (u64)*slots;
	} else {
		k.pfn = e.pfn;
	}
	return ops->encode(&k) == engine;
}

static bool same_walk(const struct machine *m, const struct walk *walk, const u64 *pte,
		      const struct step *step, s64 *slots)
{
	bool same = walk->ret == (step->event == EV_walk_found);

	for (u32 i = 0; same && i < NR_PTES; i++) {
		same = same_pte(m, walk->val[i], pte[i], slots);
		if (!same)
			say("entry %u: kernel 0x%" PRIx64 ", engine 0x%" PRIx64, i, walk->val[i],
			    pte[i]);
	}
	return same;
}

static bool compare_walks(const struct recording *r, const struct lane *lane, u32 op)
{
	const struct scn_op *window = &lane->scenario->ops[op];
	struct walk walk = { .ret = 0 };
	s64 slots = INT64_MAX;
	struct cursor c;
	u32 nr = 0, i = window_start(lane->trace, op), first;
	u64 start = 0;
	bool same = true;

	assert_true(cursor_open(&c, lane->trace));
	first = va_pte(c.live, window->mm, window->va);
	for (const char *line = r->log; same && *line; nr++) {
		line = read_walk(line, &walk);
		start = nr ? start : walk.pte;
		i = next_walk(lane->trace, i) + 1;
		cursor_seek(&c, i);
		same = i <= trace_nr_steps(lane->trace) &&
		       same_walk(&lane->m, &walk,
				 state_pte(c.live, first + (u32)((walk.pte - start) / 8)),
				 trace_step(lane->trace, i - 1), &slots);
		if (!same)
			say("return %u of page_vma_mapped_walk() differs, step %u", nr, i);
	}
	if (same && next_walk(lane->trace, i) < trace_nr_steps(lane->trace)) {
		say("the engine walks on after return %u of page_vma_mapped_walk()", nr);
		same = false;
	}
	assert_true(nr >= 16);
	cursor_close(&c);
	return same;
}

bool same_ptes(const struct recording *r)
{
	return run_window(r, compare_walks);
}
