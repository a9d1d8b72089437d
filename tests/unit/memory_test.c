/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is not there: the n-th allocation of a command fails, for n = 1, 2, 3 ... until
 * the command does not come to its n-th. It says so in one line and ends with 3; or it can do
 * without, and then it prints what it prints otherwise. Nothing crashes, nothing leaks.
 *
 * The program's calls of malloc(), free() and the like lead here by the linker's --wrap, those
 * of cJSON by its hooks. MEMORY_EVERY=1 tries every n; otherwise the later ones are sampled.
 *
 *	memory_test 'diff*'	those commands alone
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "cmd.h"
#include "app.h"

#define MAX_WORDS 16

/* --- allocations ----------------------------------------------------------- */

static struct {
	bool armed;
	u64 made;		/* since it was armed */
	u64 fail;		/* this one fails; 0: none */
	s64 live;		/* of those made since, not freed */
} memory;

static bool fails(void)
{
	return memory.armed && ++memory.made == memory.fail;
}

static void *made(void *block)
{
	memory.live += memory.armed && block;
	return block;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *block);
char *__real_strdup(const char *text);
FILE *__real_open_memstream(char **text, size_t *size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : made(__real_malloc(size));
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : made(__real_calloc(nr, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	return old ? __real_realloc(old, size) : made(__real_malloc(size));
}

void __wrap_free(void *block)
{
	memory.live -= memory.armed && block;
	__real_free(block);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : made(__real_strdup(text));
}

/* What is freed is not the stream, but its text. */
FILE *__wrap_open_memstream(char **text, size_t *size)
{
	return fails() ? NULL : made(__real_open_memstream(text, size));
}

static void arm(u64 fail)
{
	memory.made = 0;
	memory.live = 0;
	memory.fail = fail;
	memory.armed = true;
}

static void disarm(void)
{
	memory.armed = false;
}

/* The next n to try. */
static u64 next(u64 n)
{
	const char *every = getenv("MEMORY_EVERY");
	u64 step = every ? strtoull(every, NULL, 10) : 0;

	return n + (step ? step : 1 + n / 128);
}

/* --- what it prints -------------------------------------------------------- */

/* A standard stream that goes to a file for a while. */
struct diverted {
	int fd, kept;
	FILE *file;
};

static void divert(struct diverted *d, int fd)
{
	fflush(stdout);
	d->fd = fd;
	d->kept = dup(fd);
	d->file = tmpfile();
	assert_non_null(d->file);
	assert_true(d->kept >= 0 && dup2(fileno(d->file), fd) == fd);
}

/* The stream is itself again; what went astray is returned, for the caller to free. */
static char *restore(struct diverted *d)
{
	off_t size;
	char *text;

	fflush(stdout);
	dup2(d->kept, d->fd);
	close(d->kept);
	size = lseek(fileno(d->file), 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(pread(fileno(d->file), text, (size_t)size, 0), size);
	fclose(d->file);
	return text;
}

static int split(char *line, char **argv)
{
	int argc = 0;

	for (char *word = strtok(line, " "); word && argc < MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

/* What came of a command with one allocation less. */
struct outcome {
	int status;
	bool failed;		/* it came to the allocation that fails */
	s64 kept;		/* blocks that were not freed */
	char *out, *err;
};

static void forget(struct outcome *o)
{
	free(o->out);
	free(o->err);
}

/* "folioscope: swapout-4k: out of memory", a line and no more. */
static bool is_message(const char *err)
{
	const char *end = strchr(err, '\n');

	return strncmp(err, "folioscope: ", 12) == 0 && strstr(err, "memory") && end && !end[1];
}

static bool is_fine(const struct outcome *o, const struct outcome *normal)
{
	if (o->status == STATUS_INTERNAL)
		return is_message(o->err);
	return o->status == normal->status && strcmp(o->out, normal->out) == 0 &&
	       strcmp(o->err, normal->err) == 0;
}

/* --- commands -------------------------------------------------------------- */

static struct outcome run_command_line(const char *words, u64 fail)
{
	char line[256], *argv[MAX_WORDS + 1];
	struct diverted out, err;
	struct outcome o;
	int argc;

	snprintf(line, sizeof(line), "folioscope %s", words);
	argc = split(line, argv);
	divert(&out, STDOUT_FILENO);
	divert(&err, STDERR_FILENO);
	arm(fail);
	o.status = command_main(argc, argv);
	disarm();
	o.failed = fail && memory.made >= fail;
	o.kept = memory.live;
	o.err = restore(&err);
	o.out = restore(&out);
	return o;
}

static void without(const char *words, struct outcome (*run)(const char *words, u64 fail))
{
	struct outcome normal = run(words, 0), o;
	u64 tried = 0;

	assert_true(normal.status == STATUS_OK || normal.status == STATUS_DIFFERS);
	for (u64 n = 1;; n = next(n)) {
		bool go_on;

		o = run(words, n);
		go_on = o.failed;
		if (!is_fine(&o, &normal))
			fail_msg("%s, allocation %llu: status %d\n%s%.2000s", words,
				 (unsigned long long)n, o.status, o.err, o.out);
		if (o.kept)
			fail_msg("%s, allocation %llu: %lld blocks are never freed", words,
				 (unsigned long long)n, (long long)o.kept);
		forget(&o);
		if (!go_on)
			break;
		tried++;
	}
	forget(&normal);
	assert_true(tried > 0);
}

static void command(void **state)
{
	without(*state, run_command_line);
}

/* --- the explorer ---------------------------------------------------------- */

/* Each key, and what stands on the screen after all of them; messages go with the keys. */
struct session {
	struct app app;
	struct canvas canvas;
	bool told;		/* the screen said that memory is short */
};

static void press(struct session *s, u32 key)
{
	app_key(&s->app, key);
	s->told |= strstr(s->app.message, "memory") || strstr(s->app.copied, "memory");
	app_draw(&s->app, &s->canvas);
}

static void use(struct session *s)
{
	static const char keys[] = "sssbn}]fG[dgz\tz?\033/unfold\nNl40G";
	static const char more[] = ":until refcount(A) == 1\n:lanes x86_64/*\nmaG'ay:goto 50%\nt";

	app_resize(&s->app, 80, 24);
	app_draw(&s->app, &s->canvas);
	for (const char *key = keys; *key; key++)
		press(s, (u32)*key);
	for (const char *key = more; *key; key++)
		press(s, (u32)*key);
}

/* As explore() does it, without the terminal. The screen is what it prints. */
static int explore(int argc, char **argv, struct session *s)
{
	struct options opt;
	struct error err;
	struct run run;
	int status;

	assert_true(options_parse(&opt, argc, argv, &err));
	status = command_open(&opt, opt.args[0], RUN_EXPLORE, false, &run);
	if (status != STATUS_OK)
		return status;
	status = command_open_app(&opt, &run, &s->app);
	if (status == STATUS_OK) {
		use(s);
		app_close(&s->app);
	}
	command_close(&run);
	return status;
}

static struct outcome run_explorer(const char *words, u64 fail)
{
	char line[256], *argv[MAX_WORDS + 1];
	struct session s = { .told = false };
	struct diverted out, err;
	struct outcome o;
	int argc;

	snprintf(line, sizeof(line), "folioscope %s", words);
	argc = split(line, argv);
	assert_true(canvas_init(&s.canvas, 80, 24));
	divert(&out, STDOUT_FILENO);
	divert(&err, STDERR_FILENO);
	arm(fail);
	o.status = explore(argc, argv, &s);
	disarm();
	o.failed = fail && memory.made >= fail;
	o.kept = memory.live;
	if (!s.told)
		canvas_print_text(&s.canvas, stdout);
	o.err = restore(&err);
	o.out = restore(&out);
	if (s.told) {		/* it may stand anywhere then */
		free(o.out);
		o.out = NULL;
	}
	canvas_free(&s.canvas);
	return o;
}

/* Who was told that something is missing may see anything. */
static struct outcome explorer_or_told(const char *words, u64 fail)
{
	static char *normal;
	struct outcome o = run_explorer(words, fail);

	if (!fail) {
		free(normal);
		normal = strdup(o.out);
	} else if (!o.out) {
		o.out = strdup(normal);
	}
	return o;
}

static void explorer(void **state)
{
	without(*state, explorer_or_told);
}

#define COMMAND(words) { words, command, NULL, NULL, (void *)(uintptr_t)words }
#define EXPLORER(words) { words, explorer, NULL, NULL, (void *)(uintptr_t)words }

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		COMMAND("list"),
		COMMAND("run swapout-4k"),
		COMMAND("run swapout-4k --format jsonl --lane arm64/batched"),
		COMMAND("run swapout-4k --format calls --lane x86_64/batched"),
		COMMAND("counts swapout-4k"),
		COMMAND("counts swapout-4k --under try_to_unmap --format json"),
		COMMAND("counts swapout-4k --lanes */batched --feature bbml3=on"),
		COMMAND("state swapout-4k --at end"),
		COMMAND("state swapout-4k --at x86_64/batched:40 --format json"),
		COMMAND("check swapout-4k swapout-pinned"),
		COMMAND("check tests/data/fails.json"),
		COMMAND("diff swapout-4k arm64/unbatched arm64/batched"),
		COMMAND("diff swapout-pinned arm64/unbatched x86_64/batched --format json"),
		COMMAND("screen swapout-4k --at 30 --size 80x24"),
		COMMAND("screen swapout-4k --at end --size 100x30 --format ansi --color always"),
		COMMAND("pte arm64 0x00e80000434c0f43 0"),
		EXPLORER("swapout-64k"),
		EXPLORER("swapout-pinned --at 40 --view pte"),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	cJSON_InitHooks(&(cJSON_Hooks){ .malloc_fn = __wrap_malloc, .free_fn = __wrap_free });
	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
