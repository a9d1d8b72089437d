/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A step in words, from the texts in the event tables, from those in wordings.def where a
 * kernel or an architecture does it in another way, and from the state at that moment.
 * Holes in the texts:
 *
 *	{page}		page 2 of A, or the	{cpu}		CPU arg
 *			address of its entry	{its_slot}	the slot of page 2 of A, or 0:0x1000
 *	{run}		pages 2 to 5 of A	{slot}		0:0x1000, of slot[arg]
 *	{folio}		A: the page's folio,	{op}		script operation arg
 *			or the task's		{mm}		of the CPU that runs
 *	{nr}		arg			{ref} {map}	the folio's counts, after
 *	{pages}		1 page, 16 pages	{old} {new}	the first entry changed
 *	{entries}	1 entry, 16 entries	{is|are}	the first if arg is 1
 *
 * A step that changes exactly one page-table entry says from what to what at its end.
 */
#ifndef TRACE_NARRATE_H
#define TRACE_NARRATE_H

#include "trace/trace.h"

/* Who a folio, mm or device is called; folio() may use buf (32 bytes). */
struct names {
	const void *ctx;
	const char *(*folio)(const void *ctx, u32 folio, char *buf);
	const char *(*mm)(const void *ctx, u32 mm);
	const char *(*device)(const void *ctx, u32 device);
	const char *(*op)(const void *ctx, u32 op);	/* for {op}: "madvise_pageout app" */
};

/* What the tables say of a step in this lane, holes and all. */
struct wording {
	const char *text, *why;
};
struct wording trace_wording(const struct trace *t, const struct step *step);

/* One complete sentence; c stands after the step. Returns buf. */
char *narrate(const struct cursor *c, const struct names *names, char *buf, size_t size);
/* The same with a text of the caller's. */
char *narrate_text(const struct cursor *c, const struct names *names, const char *text,
		   char *buf, size_t size);
/* Why the kernel does this, or "". */
const char *narrate_why(const struct cursor *c);

#endif
