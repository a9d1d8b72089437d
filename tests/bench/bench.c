/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench PROGRAM: how fast and how small, each figure beside its bar. Exit status 1
 * when one is missed. Best of several rounds: the machine may have other work.
 */
#define _GNU_SOURCE	/* wait4() */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app.h"

static u32 missed;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(3);
}

/* at_most: the bar is a ceiling, else a floor. */
static void report(const char *what, double value, const char *unit, bool at_most, double bar)
{
	bool good = at_most ? value <= bar : value >= bar;

	printf("%-44s %9.2f %-12s %s %g  %s\n", what, value, unit, at_most ? "<=" : ">=", bar,
	       good ? "ok" : "MISSED");
	fflush(stdout);
	missed += !good;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* --- worlds ---------------------------------------------------------------- */

struct text {
	char *buf;
	size_t len, max;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
	va_list args;

	if (t->max - t->len < 1024) {
		t->max = t->max * 2 + 4096;
		t->buf = realloc(t->buf, t->max);
		if (!t->buf)
			die("out of memory");
	}
	va_start(args, format);
	t->len += (size_t)vsnprintf(t->buf + t->len, t->max - t->len, format, args);
	va_end(args);
}

static void add_head(struct text *t, u32 cpus, u32 slots)
{
	add(t, "{\"$schema\": \"scenario-1.json\", \"title\": \"bench\", "
	    "\"limits\": {\"steps\": 4000000000}, \"machine\": {\"cpus\": %u, "
	    "\"swap\": [{\"id\": \"zram0\", \"kind\": \"sync\", \"slots\": %u}]}, "
	    "\"world\": {\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..%u\"}], \"folios\": [",
	    cpus, slots, cpus - 1);
}

static struct scenario *load(struct text *t, const char *lanes)
{
	struct error err = { .text = "" };
	struct scenario *s = scenario_load("bench.json", t->buf, t->len, &err);

	free(t->buf);
	if (!s || (lanes && !scenario_select_lanes(s, lanes, &err)))
		die(err.text);
	return s;
}

/* unmap-64k with many folios: nothing but try_to_unmap() and its flush. */
static struct scenario *unmap_world(u32 folios)
{
	struct text t = { 0 };

	add_head(&t, 2, (folios / 32 + 2) * 512);
	for (u32 i = 0; i < folios; i++)
		add(&t, "%s{\"id\": \"A%u\", \"order\": 4, \"isolated\": true, "
		    "\"flags\": [\"dirty\", \"locked\"], "
		    "\"swap\": {\"device\": \"zram0\", \"slot\": %u}}",
		    i ? ", " : "", i, 512 + 16 * i);
	add(&t, "], \"maps\": [");
	for (u32 i = 0; i < folios; i++)
		add(&t, "%s{\"mm\": \"app\", \"va\": \"0x%llx\", \"folio\": \"A%u\"}",
		    i ? ", " : "", 0x7f0000000000ull + 0x10000ull * i, i);
	add(&t, "]}, \"script\": [");
	for (u32 i = 0; i < folios; i++)
		add(&t, "{\"cpu\": 0, \"do\": \"try_to_unmap\", \"folio\": \"A%u\"}, ", i);
	add(&t, "{\"cpu\": 0, \"do\": \"try_to_unmap_flush\"}]}");
	return load(&t, NULL);
}

/* swapout-64k with many folios. */
static struct scenario *swapout_world(u32 folios, const char *lanes)
{
	struct text t = { 0 };

	add_head(&t, 2, (folios / 32 + 2) * 512);
	add(&t, "{\"id\": \"A\", \"count\": %u, \"order\": 4}], "
	    "\"maps\": [{\"mm\": \"app\", \"va\": \"0x7f0000000000\", \"folio\": \"A\"}]}, "
	    "\"script\": [{\"cpu\": 0, \"do\": \"madvise_pageout\", \"mm\": \"app\", "
	    "\"va\": \"0x7f0000000000\", \"pages\": %u}]}", folios, folios * 16);
	return load(&t, lanes);
}

/* pageout-20g of any size: small folios, six CPUs, a flush each or a flush for a range. */
static struct scenario *pageout_world(u32 pages)
{
	struct text t = { 0 };

	add_head(&t, 6, pages + 512);
	add(&t, "{\"id\": \"A\", \"count\": %u}], "
	    "\"maps\": [{\"mm\": \"app\", \"va\": \"0x7f0000000000\", \"folio\": \"A\"}]}, "
	    "\"lanes\": [{\"arch\": \"x86_64\", \"path\": \"unbatched\", \"kernel\": \"7.3\"}, "
	    "{\"arch\": \"x86_64\", \"path\": \"batched\", \"kernel\": \"7.3+flush-batch-v2\"}], "
	    "\"script\": [{\"cpu\": 0, \"do\": \"madvise_pageout\", \"mm\": \"app\", "
	    "\"va\": \"0x7f0000000000\", \"pages\": %u}]}", pages, pages);
	return load(&t, NULL);
}

/* --- engine ---------------------------------------------------------------- */

/* Seconds to run the script in all lanes, best of several; the world's making is not counted. */
static double run_time(struct scenario *s, enum run_mode mode, u32 rounds, u64 *steps)
{
	double best = 1e9, world = 1e9;
	struct error err = { .text = "" };

	for (u32 i = 0; i < rounds; i++) {
		double start = now();
		struct run run;

		for (u32 k = 0; k < s->nr_lanes; k++) {
			struct machine m;
			u32 *words = NULL;

			if (!world_build(s, &s->lanes[k], &m, &words, &err))
				die(err.text);
			free(words);
		}
		if (now() - start < world)
			world = now() - start;
		start = now();
		if (!run_scenario(&run, s, mode, false, &err))
			die(err.text);
		if (now() - start < best)
			best = now() - start;
		*steps = 0;
		for (u32 k = 0; k < run.nr_lanes; k++)
			*steps += run.lanes[k].steps;
		run_free(&run);
	}
	return best - world;
}

static void bench_engine(void)
{
	struct scenario *s = unmap_world(256);
	u32 pages = 256 * 16 * s->nr_lanes;
	double seconds;
	u64 steps;

	report("counting, unmap of 256 folios", run_time(s, RUN_COUNT, 20, &steps) * 1e9 / pages,
	       "ns/page/lane", true, 200);
	scenario_free(s);
	s = swapout_world(256, NULL);
	report("counting, swapout of 256 folios", run_time(s, RUN_COUNT, 20, &steps) * 1e9 / pages,
	       "ns/page/lane", true, 200);
	scenario_free(s);
	s = swapout_world(512, "arm64/unbatched");
	seconds = run_time(s, RUN_RECORD, 10, &steps);
	report("recording with call paths", (double)steps / seconds / 1e6, "M steps/s", false, 4);
	scenario_free(s);
}

/* --- a long trace ---------------------------------------------------------- */

static void bench_seek(const struct trace *t)
{
	u32 nr = trace_nr_steps(t), seed = 1;
	struct cursor c;
	double worst = 0;

	if (!cursor_open(&c, t))
		die("out of memory");
	for (u32 i = 0; i < 300; i++) {
		double start;

		seed = seed * 1664525 + 1013904223;
		start = now();
		cursor_seek(&c, i == 100 ? 0 : i == 101 ? nr : (u32)((u64)seed * nr >> 32));
		if (now() - start > worst)
			worst = now() - start;
	}
	cursor_close(&c);
	report("seek, worst of 300", worst * 1e3, "ms", true, 50);
}

static void bench_screen(struct run *run, u32 w, u32 h)
{
	static const char *const keys[] = {
		"s", "s", "b", "n", "}", "s", "p", "{", "]f", "[f", "700000G", "s", "b",
		"]d", "z", "z", "\t", "1000s", "900b", "G", "b", "g", "s", "12345G", "]u", "?", "?",
		"]w", "[r", "/barrier\r", "n", "N", "\033", "l",
	};
	double took[1000];
	struct canvas canvas;
	struct app app;
	char what[64];

	if (!app_open(&app, run) || !canvas_init(&canvas, w, h))
		die("out of memory");
	app_resize(&app, w, h);
	for (u32 i = 0; i < NR_OF(took); i++) {
		double start = now();

		app_keys(&app, keys[i % NR_OF(keys)]);
		app_draw(&app, &canvas);
		took[i] = now() - start;
	}
	canvas_free(&canvas);
	app_close(&app);
	qsort(took, NR_OF(took), sizeof(took[0]), by_value);
	snprintf(what, sizeof(what), "key to repaint, p99, %ux%u", w, h);
	report(what, took[NR_OF(took) * 99 / 100] * 1e3, "ms", true, 16);
}

static void bench_long_trace(void)
{
	struct scenario *s = swapout_world(2048, "arm64/unbatched,arm64/batched");
	struct error err = { .text = "" };
	struct run run;
	const struct trace *t;

	if (!run_scenario(&run, s, RUN_RECORD, false, &err))
		die(err.text);
	t = run.lanes[0].trace;
	printf("trace of %u steps, %u keyframes, %zu bytes\n", trace_nr_steps(t),
	       trace_nr_keyframes(t), trace_bytes(t));
	if (trace_nr_steps(t) < 1000000)
		die("the long trace is too short");
	report("trace", (double)trace_bytes(t) / trace_nr_steps(t), "bytes/step", true, 48);
	bench_seek(t);
	bench_screen(&run, 80, 24);
	bench_screen(&run, 200, 60);
	run_free(&run);
	scenario_free(s);
}

/* --- a run in windows ------------------------------------------------------- */

#define LARGE "swapout-256m"

/* Any moment, seen: its window recorded, all cursors there, the screen drawn. */
static void bench_moments(struct app *app, struct canvas *canvas)
{
	u32 last = run_last_tick(app->run), seed = 1;
	double took[300];

	for (u32 i = 0; i < NR_OF(took); i++) {
		double start = now();

		seed = seed * 1664525 + 1013904223;
		app_goto(app, i % 100 == 98 ? last : i % 100 == 99 ? 0 :
			      (u32)((u64)seed * last >> 32));
		app_draw(app, canvas);
		took[i] = now() - start;
	}
	qsort(took, NR_OF(took), sizeof(took[0]), by_value);
	report("any moment of " LARGE ", median", took[NR_OF(took) / 2] * 1e3, "ms", true, 50);
	report("any moment of " LARGE ", p99", took[NR_OF(took) * 99 / 100] * 1e3, "ms", true, 50);
	report("any moment of " LARGE ", worst", took[NR_OF(took) - 1] * 1e3, "ms", true, 50);
}

static void bench_windows(void)
{
	struct error err = { .text = "" };
	double start = now();
	struct scenario *s = scenario_open(LARGE, &err);
	struct canvas canvas;
	struct run run;
	struct app app;

	if (!s || !run_scenario(&run, s, RUN_EXPLORE, false, &err))
		die(err.text);
	if (!app_open(&app, &run) || !canvas_init(&canvas, 200, 60))
		die("out of memory");
	app_resize(&app, 200, 60);
	app_draw(&app, &canvas);
	report(LARGE ", to its first screen", (now() - start) * 1e3, "ms", true, 250);
	printf("%llu steps in %u windows\n", (unsigned long long)run.lanes[0].steps +
	       run.lanes[1].steps + run.lanes[2].steps + run.lanes[3].steps, run.nr_windows);
	bench_moments(&app, &canvas);
	canvas_free(&canvas);
	app_close(&app);
	run_free(&run);
	scenario_free(s);
}

/* --- the program ----------------------------------------------------------- */

static void exec_explorer(const char *program, const char *scenario, int terminal)
{
	struct winsize size = { .ws_col = 120, .ws_row = 40 };
	int fd;

	setsid();
	fd = open(ptsname(terminal), O_RDWR);
	if (fd < 0)
		_exit(127);
	ioctl(fd, TIOCSCTTY, 0);
	ioctl(fd, TIOCSWINSZ, &size);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	setenv("TERM", "xterm-256color", 1);
	execl(program, program, scenario, (char *)NULL);
	_exit(127);
}

/* Open the explorer, wait until it has painted, go to both ends, leave it with q. */
static double first_paint(const char *program, const char *scenario, double *mib)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), status;
	struct rusage usage;
	double start, last;
	char buf[65536];
	size_t painted = 0;
	pid_t child;

	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
		die("no pseudo terminal");
	start = last = now();
	child = fork();
	if (child == 0)
		exec_explorer(program, scenario, terminal);
	for (;;) {
		struct pollfd p = { .fd = terminal, .events = POLLIN };
		ssize_t n = 0;

		if (poll(&p, 1, painted ? 100 : 5000) > 0)
			n = read(terminal, buf, sizeof(buf));
		if (n <= 0)
			break;
		painted += (size_t)n;
		last = now();
	}
	if (write(terminal, "GgGq", 4) != 4)
		kill(child, SIGTERM);
	while (read(terminal, buf, sizeof(buf)) > 0)
		;
	if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status))
		die("the explorer did not leave in peace");
	close(terminal);
	if (painted < 1000)
		die("the explorer painted nothing");
	*mib = (double)usage.ru_maxrss / 1024;
	return last - start;
}

/* Seconds to count it, the most memory meanwhile. */
static double count_time(const char *program, const char *scenario, double *mib)
{
	double start = now();
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		execl(program, program, "counts", scenario, (char *)NULL);
		_exit(127);
	}
	if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status))
		die("counts failed");
	*mib = (double)usage.ru_maxrss / 1024;
	return now() - start;
}

/* What a page costs must not depend on how many there are. */
static void bench_whole(const char *program)
{
	const u32 gib = 1u << 18;
	double cost[2], mib, best = 1e9;

	for (u32 i = 0; i < 2; i++) {
		u32 pages = i ? 20 * gib : gib;
		struct scenario *s = pageout_world(pages);

		cost[i] = 1e9;
		for (u32 round = 0; round < 3; round++) {
			double start = now();
			struct error err = { .text = "" };
			struct run run;

			if (!run_scenario(&run, s, RUN_COUNT, false, &err))
				die(err.text);
			run_free(&run);
			if ((now() - start) * 1e9 / pages / 2 < cost[i])
				cost[i] = (now() - start) * 1e9 / pages / 2;
		}
		scenario_free(s);
	}
	report("a page of 1 GiB paged out, world included", cost[0], "ns/lane", true, 300);
	report("a page of 20 GiB, to one of 1 GiB", cost[1] / cost[0], "", true, 1.2);
	for (u32 i = 0; i < 3; i++) {
		double took = count_time(program, "pageout-20g", &mib);

		best = took < best ? took : best;
	}
	report("counts pageout-20g", best, "s", true, 3);
	report("memory of counts pageout-20g", mib, "MiB", true, 512);
}

static void bench_program(const char *program, const char *scenario, double ms, double most_mib)
{
	double took[15], mib = 0;
	char what[64];

	for (u32 i = 0; i < NR_OF(took); i++)
		took[i] = first_paint(program, scenario, &mib);
	qsort(took, NR_OF(took), sizeof(took[0]), by_value);
	snprintf(what, sizeof(what), "first paint of %s, median", scenario);
	report(what, took[NR_OF(took) / 2] * 1e3, "ms", true, ms);
	snprintf(what, sizeof(what), "memory of the explorer on %s", scenario);
	report(what, mib, "MiB", true, most_mib);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		die("usage: bench PROGRAM");
	bench_engine();
	bench_long_trace();
	bench_windows();
	bench_whole(argv[1]);
	bench_program(argv[1], "swapout-64k", 50, 32);
	bench_program(argv[1], LARGE, 250, 300);
	return missed != 0;
}
