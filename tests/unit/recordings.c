/* SPDX-License-Identifier: GPL-2.0-only */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recordings.h"
#include "vectors.h"

#define DATA "tests/groundtruth/data/"
#define MAX_ARCHIVE (32u << 20)

/* --- the data -------------------------------------------------------------- */

const char *const recorded_names[NR_RECORDED] = { "counts", "calls", "ptes" };

static const struct {
	const char *release, *engine;
} kernel_names[] = {
	{ "6.1", "6.1" },
	{ "6.12.117", "6.12" },
	{ "6.16.12", "6.16" },
	{ "7.3-rc7", "7.3-rc7" },
	{ "7.3.4", "7.3" },
	{ "7.3.4+anon-batch", "7.3+anon-batch" },
	{ "7.3.4+flush-batch-v2", "7.3+flush-batch-v2" },
	{ "7.3.4+anon-batch+flush-batch-v2", "7.3+anon-batch+flush-batch-v2" },
};

static void add(struct recordings *all, struct recording r)
{
	for (u32 i = 0; i < NR_OF(kernel_names); i++)
		if (strcmp(r.kernel, kernel_names[i].release) == 0)
			r.engine = kernel_names[i].engine;
	assert_non_null(r.engine);
	all->recording = realloc(all->recording, (all->nr + 1) * sizeof(r));
	assert_non_null(all->recording);
	all->recording[all->nr++] = r;
}

/* W1 is what most are of: its windows are called by what follows. */
static const char *window_name(const char *window)
{
	return strncmp(window, "W1/", 3) == 0 ? window + 3 : window;
}

static void add_rows(struct recordings *all)
{
	const cJSON *row;

	all->rows = read_json(DATA "expected.json");
	cJSON_ArrayForEach(row, all->rows) {
		add(all, (struct recording){
			.what = RECORDED_COUNTS,
			.kernel = text_of(row, "kernel"),
			.arch = text_of(row, "arch"),
			.cpu = text_of(row, "cpu"),
			.window = window_name(text_of(row, "window")),
			.row = row,
		});
	}
}

/* "KERNEL/ARCH/WINDOW.calls" or ".ptes"; the name is cut into its parts. */
static void add_log(struct recordings *all, char *name, const char *log)
{
	char *arch = strchr(name, '/'), *window = arch ? strchr(arch + 1, '/') : NULL;
	char *end = strrchr(name, '.');

	assert_non_null(window);
	assert_non_null(log);
	*arch++ = *window++ = *end++ = '\0';
	add(all, (struct recording){
		.what = strcmp(end, "calls") == 0 ? RECORDED_CALLS : RECORDED_PTES,
		.kernel = name,
		.arch = arch,
		.cpu = strcmp(arch, "arm64") == 0 ? "max-tlbirange" : "max",
		.window = window,
		.log = log,
	});
}

/* A tar archive: a header of 512 bytes, the file, zeroes up to the next 512. */
static void add_logs(struct recordings *all)
{
	FILE *f = popen("xz -dc " DATA "logs.tar.xz", "r");
	char *tar = malloc(MAX_ARCHIVE);
	size_t len, size;

	assert_non_null(f);
	assert_non_null(tar);
	len = fread(tar, 1, MAX_ARCHIVE, f);
	assert_int_equal(pclose(f), 0);
	for (char *file = tar; file + 512 < tar + len && *file;
	     file += 512 + (size + 511) / 512 * 512) {
		size = strtoul(file + 124, NULL, 8);
		assert_true(file + 512 + size < tar + len);
		add_log(all, strdup(file), strndup(file + 512, size));
	}
	free(tar);
}

struct recordings recordings_read(void)
{
	struct recordings all = { 0 };

	add_rows(&all);
	add_logs(&all);
	return all;
}

const char *recording_name(const struct recording *r, char buf[128])
{
	snprintf(buf, 128, "%s %s %s %s %s", r->kernel, r->arch, r->cpu, r->window,
		 recorded_names[r->what]);
	return buf;
}

bool recording_fits(const struct recording *r, const char *word)
{
	const char *const fields[] = {
		r->kernel, r->engine, r->arch, r->cpu, r->window, recorded_names[r->what],
	};

	word = window_name(word);
	for (u32 i = 0; i < NR_OF(fields); i++)
		if (fnmatch(word, fields[i], 0) == 0)
			return true;
	return false;
}

enum event mirrored_function(const char *name)
{
	char plain[128];
	enum event event;

	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "."), name);
	event = event_find(plain);
	return event < NR_EVENTS && event_is_function(event) ? event : NR_EVENTS;
}

bool recording_traceable(const struct recording *r, bool seen[NR_FUNCTIONS])
{
	static cJSON *traceable;
	const cJSON *name;
	char key[64];

	if (!traceable)
		traceable = read_json(DATA "traceable.json");
	memset(seen, 0, NR_FUNCTIONS * sizeof(*seen));
	snprintf(key, sizeof(key), "%s/%s", r->kernel, r->arch);
	cJSON_ArrayForEach(name, member(traceable, key)) {
		enum event event = mirrored_function(name->valuestring);

		if (event != NR_EVENTS)
			seen[event] = true;
	}
	return member(traceable, key) != NULL;
}

/* --- calls ----------------------------------------------------------------- */

struct frame {
	char name[64];
	bool hidden;		/* not mirrored, or below such: what it calls is left out */
};

/* They do no more than call what they are given, here and on other CPUs. */
static bool passes_on(const char *function)
{
	return strcmp(function, "on_each_cpu_cond_mask") == 0 ||
	       strcmp(function, "smp_call_function_many_cond") == 0;
}

/*
 * Where a caller stands on the stack of frames that the trace has shown so far. A
 * caller that it never showed was inlined or cannot be traced: the call goes on top.
 */
static u32 unwind_to(const struct frame *stack, u32 depth, const char *caller)
{
	for (u32 i = depth; i--; )
		if (strcmp(stack[i].name, caller) == 0)
			return i + 1;
	return depth;
}

u32 recording_calls(const struct recording *r, const bool *seen, struct call *calls)
{
	static struct frame stack[1024];
	char callee[128], caller[128];
	u32 depth = 0, nr = 0;

	for (const char *line = r->log; line && *line;
	     line = strchr(line, '\n'), line += line ? 1 : 0) {
		const struct frame *top;
		enum event event;
		bool hidden;

		if (sscanf(line, "%127s <-%127s", callee, caller) != 2)
			fail_msg("no call: %.80s", line);
		event = mirrored_function(callee);
		depth = unwind_to(stack, depth, caller);
		top = depth ? &stack[depth - 1] : NULL;
		hidden = top && strcmp(top->name, caller) == 0 && top->hidden;
		assert_true(depth < NR_OF(stack));
		snprintf(stack[depth].name, sizeof(stack[depth].name), "%.63s", callee);
		stack[depth++].hidden = hidden || (event == NR_EVENTS && !passes_on(callee));
		if (hidden || event == NR_EVENTS || !seen[event])
			continue;
		assert_true(nr < MAX_CALLS);
		calls[nr++] = (struct call){ event, mirrored_function(caller) };
	}
	assert_true(nr > 5);
	return nr;
}

/* --- what is not reproduced ------------------------------------------------ */

#define SECTION "\n## Compared with real kernels\n"
#define CELLS 5

static char *read_section(void)
{
	FILE *f = fopen("docs/model.md", "r");
	char *text = calloc(1, 1 << 20), *section, *end;

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	section = strstr(text, SECTION);
	assert_non_null(section);
	end = strstr(section + strlen(SECTION), "\n## ");
	if (end)
		*end = '\0';
	return section + strlen(SECTION);
}

static char *trim(char *cell)
{
	size_t len;

	cell += strspn(cell, " `");
	len = strlen(cell);
	while (len && strchr(" `", cell[len - 1]))
		cell[--len] = '\0';
	return cell;
}

/* "| kernel | cpu | window | what | reason |"; false: some other line. */
static bool read_line(char *line, struct exception *e)
{
	char *cells[CELLS], *end;

	for (u32 i = 0; i < CELLS; i++) {
		if (*line != '|')
			return false;
		end = strchr(line + 1, '|');
		if (!end)
			return false;
		cells[i] = line + 1;
		line = end;
	}
	for (u32 i = 0; i < CELLS; i++) {
		*strchr(cells[i], '|') = '\0';
		cells[i] = trim(cells[i]);
	}
	*e = (struct exception){ cells[0], cells[1], cells[2], cells[3], cells[4], 0 };
	return strncmp(cells[0], "---", 3) != 0 && strcmp(cells[0], "kernel") != 0;
}

struct exceptions exceptions_read(void)
{
	struct exceptions all = { 0 };
	struct exception e;

	for (char *line = strtok(read_section(), "\n"); line; line = strtok(NULL, "\n")) {
		if (!read_line(line, &e))
			continue;
		all.exception = realloc(all.exception, (all.nr + 1) * sizeof(e));
		assert_non_null(all.exception);
		all.exception[all.nr++] = e;
	}
	return all;
}

struct exception *exception_of(const struct exceptions *all, const struct recording *r)
{
	char cpu[64];

	snprintf(cpu, sizeof(cpu), "%s/%s", r->arch, r->cpu);
	for (u32 i = 0; i < all->nr; i++) {
		struct exception *e = &all->exception[i];

		if (fnmatch(e->kernel, r->kernel, 0) == 0 && fnmatch(e->cpu, cpu, 0) == 0 &&
		    fnmatch(e->window, r->window, 0) == 0 &&
		    fnmatch(e->what, recorded_names[r->what], 0) == 0)
			return e;
	}
	return NULL;
}
