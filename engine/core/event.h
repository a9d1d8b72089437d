/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a step can be. Two flat tables: functions.def lists the mirrored kernel
 * functions (entering one is an event), events.def what happens inside them.
 * Names, narration, help, the scenario's `when` and the trace all read these.
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "core/types.h"

enum event {
#define FUNCTION(name, file, fidelity, text, why) EV_##name,
#include "core/functions.def"
#undef FUNCTION
	NR_FUNCTIONS,
	FIRST_EVENT = NR_FUNCTIONS - 1,	/* the next one is NR_FUNCTIONS */
#define EVENT(id, name, text, why) EV_##id,
#include "core/events.def"
#undef EVENT
	NR_EVENTS
};

/* How close a mirrored function is to the kernel's. */
enum fidelity { SAME, REDUCED, STUB, CHANGED };

struct event_info {
	const char *name;	/* "try_to_unmap_one", "pte_cleared" */
	const char *file;	/* functions: the kernel file; else NULL */
	enum fidelity fidelity;
	const char *text;	/* what: a sentence with holes, see trace/narrate.h */
	const char *why;	/* why; may be "" */
};

extern const struct event_info event_info[NR_EVENTS];

/* The event of that name, or NR_EVENTS. */
enum event event_find(const char *name);

static inline bool event_is_function(enum event event)
{
	return event < NR_FUNCTIONS;
}

/*
 * The end of what is done to one folio, or of an operation: where a long run may be cut
 * into parts that can be looked at alone.
 */
static inline bool event_is_seam(enum event event)
{
	return event == EV_folio_free_queued || event == EV_folio_kept || event == EV_op_end;
}

#endif
