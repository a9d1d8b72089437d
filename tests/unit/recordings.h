/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What real kernels did, as tests/groundtruth/data holds it, and the cases that
 * docs/model.md says are not reproduced. Rules: tests/groundtruth/README.md.
 */
#ifndef UNIT_RECORDINGS_H
#define UNIT_RECORDINGS_H

#include <cjson/cJSON.h>

#include "core/event.h"

enum recorded { RECORDED_COUNTS, RECORDED_CALLS, RECORDED_PTES, NR_RECORDED };
extern const char *const recorded_names[NR_RECORDED];	/* "counts", "calls", "ptes" */

/* One window of one kernel on one CPU, one kind of what was recorded. */
struct recording {
	enum recorded what;
	const char *kernel, *arch, *cpu;
	const char *engine;	/* what the engine calls that kernel */
	const char *window;	/* "64k/4/half11" */
	const cJSON *row;	/* counts */
	const char *log;	/* calls: "callee <-caller" a line; PTEs: a return of a walk */
	bool reproduced;	/* set by whoever compares */
};

struct recordings {
	u32 nr;
	struct recording *recording;
	cJSON *rows;		/* of all that was counted */
};

struct recordings recordings_read(void);
/* "7.3.4 amd64 max 64k/4/half counts" */
const char *recording_name(const struct recording *r, char buf[128]);
/* Is word its kernel, arch, cpu, window or kind? Globs and "W1/..." work too. */
bool recording_fits(const struct recording *r, const char *word);

/* The mirrored function of that name without the compiler's suffix, or NR_EVENTS. */
enum event mirrored_function(const char *name);
/* seen[function]: that kernel's tracer could see it. False: nobody knows what it could see. */
bool recording_traceable(const struct recording *r, bool seen[NR_FUNCTIONS]);

/* A call of one mirrored, traceable function. */
struct call {
	enum event callee;
	enum event caller;	/* NR_EVENTS: not mirrored */
};
#define MAX_CALLS 8192
/* The calls that the engine must make too; how many. */
u32 recording_calls(const struct recording *r, const bool *seen, struct call *calls);

/* A line of docs/model.md: the cases that these four globs fit are not reproduced. */
struct exception {
	char *kernel, *cpu, *window, *what, *reason;
	u32 used;
};
struct exceptions {
	u32 nr;
	struct exception *exception;
};
struct exceptions exceptions_read(void);
/* The line that excuses a recording, or NULL. */
struct exception *exception_of(const struct exceptions *e, const struct recording *r);

#endif
