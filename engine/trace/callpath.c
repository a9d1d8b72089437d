/* SPDX-License-Identifier: GPL-2.0-only */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/callpath.h"

#define MAX_FRAMES 128
#define FRAMES_AHEAD 3		/* the next step may lie that much deeper than the last */
#define NR_CACHED 1024
#define MAX_PATHS 65536u
#define MAX_LIVE 64

/* A backtrace seen before, word for word. */
struct stack {
	u32 hash;
	u16 nr;
	u16 path;
	void *ip[];
};

/* What function an address belongs to; looking it up in the unwind tables is slow. */
struct resolved {
	const void *ip;
	uintptr_t start, end;
	enum event event;		/* NR_EVENTS: not in the table */
};

/* A frame on the stack now that had a step: where it is, whose it is, its path. */
struct live {
	uintptr_t frame, start, end;
	u16 path;
};

struct callpaths {
	const struct mirrored *table;
	u32 nr_table;
	uintptr_t boundary, boundary_size;
	u32 want;			/* frames that will likely do */

	struct stack **stack;		/* open addressing, size a power of two */
	u32 nr_stacks, size;
	struct call_path **path;	/* [0] is empty */
	u32 nr_paths, max_paths;
	size_t bytes;
	bool lost;
	struct resolved cache[NR_CACHED];
	struct live live[MAX_LIVE];	/* outermost first */
	u32 nr_live;
};

/* Hash the frames inside the boundary; *nr becomes their number. False: it is not there. */
static bool hash_frames(const struct callpaths *p, void *const *ip, u32 *nr, u32 *result)
{
	u64 hash = 0, factor = 0x9e3779b97f4a7c15;
	u32 i;

	for (i = 0; i < *nr; i++, factor += 0x3c6ef372fe94f82a) {
		uintptr_t at = (uintptr_t)ip[i];

		if (at - 1 - p->boundary < p->boundary_size)
			break;
		hash += (u64)at * factor;
	}
	*result = (u32)(hash >> 32);
	if (i == *nr)
		return false;
	*nr = i;
	return true;
}

static struct stack **find_stack(const struct callpaths *p, u32 hash, void *const *ip, u32 nr)
{
	u32 i = hash & (p->size - 1);

	for (; p->stack[i]; i = (i + 1) & (p->size - 1)) {
		const struct stack *stack = p->stack[i];

		if (stack->hash == hash && stack->nr == nr &&
		    memcmp(stack->ip, ip, nr * sizeof(*ip)) == 0)
			break;
	}
	return &p->stack[i];
}

static bool grow_stacks(struct callpaths *p)
{
	struct stack **old = p->stack;
	u32 old_size = p->size;
	u32 size = old_size ? 2 * old_size : 256;
	struct stack **stack = calloc(size, sizeof(struct stack *));

	if (!stack)
		return false;
	p->stack = stack;
	p->size = size;
	for (u32 i = 0; i < old_size; i++)
		if (old[i])
			*find_stack(p, old[i]->hash, old[i]->ip, old[i]->nr) = old[i];
	free(old);
	p->bytes += (size - old_size) * sizeof(struct stack *);
	return true;
}

static enum event event_at(const struct mirrored *table, u32 nr, uintptr_t start)
{
	for (u32 i = 0; i < nr; i++)
		if ((uintptr_t)table[i].fn == start)
			return table[i].event;
	return NR_EVENTS;
}

static const struct resolved *resolve_ip(struct callpaths *p, const void *ip)
{
	struct resolved *r = &p->cache[(uintptr_t)ip % NR_CACHED];
	unw_proc_info_t info;

	if (r->ip == ip)
		return r;
	*r = (struct resolved){ .ip = ip, .event = NR_EVENTS };
	/* ip is where the call returns to: that may be past the end of a function */
	if (unw_get_proc_info_by_ip(unw_local_addr_space, (unw_word_t)ip - 1, &info, NULL) == 0) {
		r->start = (uintptr_t)info.start_ip;
		r->end = (uintptr_t)info.end_ip;
		r->event = event_at(p->table, p->nr_table, r->start);
	}
	return r;
}

static void resolve(struct callpaths *p, void *const *ip, u32 nr, struct call_path *path)
{
	*path = (struct call_path){ .nr = 0 };
	for (u32 i = 0; i < nr && path->nr < PATH_DEPTH; i++) {
		enum event event = resolve_ip(p, ip[i])->event;

		if (event != NR_EVENTS)
			path->function[path->nr++] = (u16)event;
	}
}

static u32 lose(struct callpaths *p)
{
	p->lost = true;
	return 0;
}

/* Backtraces that differ in call sites alone share a path. */
static u32 intern_path(struct callpaths *p, const struct call_path *path)
{
	struct call_path *copy;

	for (u32 i = 0; i < p->nr_paths; i++)
		if (memcmp(p->path[i], path, sizeof(*path)) == 0)
			return i;
	if (p->nr_paths == MAX_PATHS)
		return lose(p);
	if (p->nr_paths == p->max_paths) {
		u32 max = p->max_paths ? 2 * p->max_paths : 64;
		struct call_path **grown = realloc(p->path, max * sizeof(struct call_path *));

		if (!grown)
			return lose(p);
		p->bytes += (max - p->max_paths) * sizeof(struct call_path *);
		p->path = grown;
		p->max_paths = max;
	}
	copy = malloc(sizeof(*copy));
	if (!copy)
		return lose(p);
	*copy = *path;
	p->bytes += sizeof(*copy);
	p->path[p->nr_paths] = copy;
	return p->nr_paths++;
}

static u16 new_stack(struct callpaths *p, u32 hash, void *const *ip, u32 nr)
{
	size_t bytes = sizeof(struct stack) + nr * sizeof(*ip);
	struct call_path path;
	struct stack *stack;
	u16 number;

	resolve(p, ip, nr, &path);
	number = (u16)intern_path(p, &path);
	if (p->nr_stacks >= p->size / 4 * 3 && !grow_stacks(p))
		return number;
	stack = malloc(bytes);
	if (!stack)
		return number;
	*stack = (struct stack){ .hash = hash, .nr = (u16)nr, .path = number };
	memcpy(stack->ip, ip, nr * sizeof(*ip));
	*find_stack(p, hash, ip, nr) = stack;
	p->nr_stacks++;
	p->bytes += bytes;
	return number;
}

static inline u32 backtrace(void **ip, u32 want)
{
	int got = unw_backtrace(ip, (int)want);

	return got > 0 ? (u32)got : 0;
}

u16 callpaths_here(struct callpaths *p)
{
	void *ip[MAX_FRAMES];
	u32 nr = backtrace(ip, p->want);
	const struct stack *stack;
	u32 hash;

	/* each frame costs: do not ask for those that are left out anyway */
	if (!hash_frames(p, ip, &nr, &hash) && nr == p->want && nr < MAX_FRAMES) {
		nr = backtrace(ip, MAX_FRAMES);
		hash_frames(p, ip, &nr, &hash);
	}
	p->want = nr + FRAMES_AHEAD;
	if (p->want > MAX_FRAMES || !p->boundary)
		p->want = MAX_FRAMES;
	stack = *find_stack(p, hash, ip, nr);
	return stack ? stack->path : new_stack(p, hash, ip, nr);
}

__attribute__((noinline)) u16 callpaths_at(struct callpaths *p, bool entered, const void *site)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0), at = (uintptr_t)site - 1;
	const struct resolved *r;
	const struct live *top;
	u16 path;

#if !defined(__OPTIMIZE__)
	/* helpers of headers have frames too: one frame may serve two callers, step after step */
	return callpaths_here(p);
#endif
	if (!site)
		return callpaths_here(p);
	while (p->nr_live && p->live[p->nr_live - 1].frame < frame)
		p->nr_live--;		/* deeper than this: returned */
	top = p->nr_live ? &p->live[p->nr_live - 1] : NULL;
	if (top && top->frame == frame) {
		if (!entered && at - top->start < top->end - top->start)
			return top->path;
		p->nr_live--;
	}

	path = callpaths_here(p);
	r = resolve_ip(p, site);
	/* a helper may have another caller in the same frame by the next step */
	if (r->event != NR_EVENTS && p->nr_live < MAX_LIVE)
		p->live[p->nr_live++] = (struct live){ .frame = frame, .start = r->start,
						       .end = r->end, .path = path };
	return path;
}

struct callpaths *callpaths_new(const struct mirrored *table, u32 nr)
{
	struct callpaths *p = calloc(1, sizeof(*p));
	const struct call_path empty = { .nr = 0 };

	if (!p)
		return NULL;
	p->table = table;
	p->nr_table = nr;
	p->want = MAX_FRAMES;
	p->bytes = sizeof(*p);
	if (!grow_stacks(p) || (intern_path(p, &empty), p->nr_paths == 0)) {
		callpaths_free(p);
		return NULL;
	}
	return p;
}

void callpaths_free(struct callpaths *p)
{
	if (!p)
		return;
	for (u32 i = 0; i < p->size; i++)
		free(p->stack[i]);
	for (u32 i = 0; i < p->nr_paths; i++)
		free(p->path[i]);
	free(p->stack);
	free(p->path);
	free(p);
}

void callpaths_set_boundary(struct callpaths *p, void (*fn)(void))
{
	unw_proc_info_t info;

	if (unw_get_proc_info_by_ip(unw_local_addr_space, (unw_word_t)fn, &info, NULL) != 0)
		return;
	p->boundary = info.start_ip;
	p->boundary_size = info.end_ip - info.start_ip;
}

void callpaths_restart(struct callpaths *p)
{
	p->nr_live = 0;
}

bool callpaths_lost(const struct callpaths *p)
{
	return p->lost;
}

const struct call_path *callpaths_get(const struct callpaths *p, u32 path)
{
	return p->path[path < p->nr_paths ? path : 0];
}

size_t callpaths_bytes(const struct callpaths *p)
{
	return p->bytes;
}

/* The linker's name for the start of the program in memory. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static void write_frame(int fd, const char *name, uintptr_t offset)
{
	char line[128] = "  +0x";
	size_t at = strlen(line);
	ssize_t written;

	for (u32 shift = 64; shift > 0; shift -= 4)
		line[at++] = "0123456789abcdef"[offset >> (shift - 4) & 15];
	line[at++] = ' ';
	for (; *name && at < sizeof(line) - 1; name++)
		line[at++] = *name;
	line[at++] = '\n';
	written = write(fd, line, at);
	(void)written;		/* crashing already: nobody left to tell */
}

void callpath_crash(int fd)
{
	unw_context_t context;
	unw_cursor_t cursor;
	u32 frames = 0;

	if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0)
		return;
	do {
		unw_proc_info_t info;
		unw_word_t ip = 0;
		enum event event = NR_EVENTS;

		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0)
			return;
		if (unw_get_proc_info(&cursor, &info) == 0)
			event = event_at(mirrored_functions, NR_FUNCTIONS, info.start_ip);
		write_frame(fd, event == NR_EVENTS ? "" : event_info[event].name,
			    (uintptr_t)ip - (uintptr_t)__ehdr_start);
	} while (unw_step(&cursor) > 0 && ++frames < MAX_FRAMES);
}
