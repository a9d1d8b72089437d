/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The explorer in a terminal of its own, while its n-th allocation fails: whatever it comes
 * to, it ends by itself, leaves the terminal as it found it, and says why in one line.
 *
 *	FOLIOSCOPE, a pseudo-terminal, tests/preload/failing.c
 *
 * MEMORY_EVERY=1 tries every n; otherwise the later ones are sampled.
 */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <cmocka.h>

#include "core/types.h"

#define SHOWN "\033[?1049h"	/* the alternate screen of xterm, and back */
#define LEFT "\033[?1049l"
#define KEYS "sssbn}]fz\tzGay'aG:goto 50%\r/unfold\rq\033q"
#define DEADLINE_MS 20000

struct session {
	int fd, other;		/* the two sides of the terminal */
	int failed[2];		/* a pipe: the allocation that was to fail came */
	pid_t pid;
	struct termios before, after;
	char out[1 << 20];	/* all that was written to the terminal */
	size_t len;
	bool typed;
	int status;
};

static const char *program(void)
{
	const char *name = getenv("FOLIOSCOPE");

	return name ? name : "build/folioscope";
}

static void preload(char *path, size_t size)
{
	const char *o = getenv("O");
	char name[256];

	snprintf(name, sizeof(name), "%s/tests/preload/failing.so", o ? o : "build");
	assert_true(realpath(name, path) && strlen(path) < size);
}

static void become_program(const struct session *s, const char *path, u64 n)
{
	char nth[32], fd[16];

	snprintf(nth, sizeof(nth), "%llu", (unsigned long long)n);
	snprintf(fd, sizeof(fd), "%d", s->failed[1]);
	setenv("LD_PRELOAD", path, 1);
	setenv("FAIL_ALLOCATION", nth, 1);
	setenv("FAIL_FD", fd, 1);
	setenv("TERM", "xterm", 1);
	close(s->fd);
	if (login_tty(s->other) == 0)
		execl(program(), program(), "swapout-pinned", (char *)NULL);
	_exit(127);
}

static void start(struct session *s, u64 n)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	char path[4096];

	preload(path, sizeof(path));
	s->len = 0;
	s->typed = false;
	assert_int_equal(openpty(&s->fd, &s->other, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(s->other, &s->before), 0);
	s->before.c_lflag &= ~(tcflag_t)ECHO;	/* keys may come when it has left already */
	assert_int_equal(tcsetattr(s->other, TCSANOW, &s->before), 0);
	assert_int_equal(pipe(s->failed), 0);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0)
		become_program(s, path, n);
	close(s->failed[1]);
}

/* Read what there is; type as soon as the explorer is there. False: nothing came for long. */
static bool converse(struct session *s)
{
	struct pollfd fd = { .fd = s->fd, .events = POLLIN };
	ssize_t got;

	if (poll(&fd, 1, 50) > 0) {
		got = read(s->fd, s->out + s->len, sizeof(s->out) - 1 - s->len);
		s->len += got > 0 ? (size_t)got : 0;
	}
	s->out[s->len] = '\0';
	if (!s->typed && strstr(s->out, SHOWN)) {
		s->typed = true;
		return write(s->fd, KEYS, strlen(KEYS)) == (ssize_t)strlen(KEYS);
	}
	return true;
}

/* True: the allocation came. */
static bool finish(struct session *s)
{
	int waited = 0;
	bool failed;
	char byte;

	while (waitpid(s->pid, &s->status, WNOHANG) == 0) {
		waited += 50;
		if (!converse(s) || waited > DEADLINE_MS || s->len + 4096 > sizeof(s->out)) {
			kill(s->pid, SIGKILL);
			waitpid(s->pid, &s->status, 0);
			break;
		}
	}
	converse(s);
	assert_int_equal(tcgetattr(s->other, &s->after), 0);
	failed = read(s->failed[0], &byte, 1) == 1;
	close(s->failed[0]);
	close(s->other);
	close(s->fd);
	return failed;
}

static const char *last_of(const char *text, const char *what)
{
	const char *found = NULL;

	while ((text = strstr(text, what))) {
		found = text;
		text += strlen(what);
	}
	return found;
}

static bool is_restored(const struct session *s)
{
	const char *shown = last_of(s->out, SHOWN), *left = last_of(s->out, LEFT);
	const char *hidden = last_of(s->out, "\033[?25l"), *seen = last_of(s->out, "\033[?25h");

	return (!shown || (left && left > shown)) && (!hidden || (seen && seen > hidden)) &&
	       s->before.c_lflag == s->after.c_lflag && s->before.c_iflag == s->after.c_iflag &&
	       s->before.c_oflag == s->after.c_oflag;
}

/* The one line behind all that was on the screen. */
static bool is_told(const struct session *s)
{
	const char *message = strstr(s->out, "folioscope: "), *end;

	end = message ? strchr(message, '\n') : NULL;
	return message && strstr(message, "memory") && end && !end[1];
}

static void terminal_is_restored(void **state)
{
	static struct session s[1];
	const char *every = getenv("MEMORY_EVERY");
	u64 step = every ? strtoull(every, NULL, 10) : 0;
	u32 missed = 0;
	bool failed = true;

	(void)state;
#if defined(__SANITIZE_ADDRESS__)
	skip();			/* it wants to be loaded first itself */
#endif
	for (u64 n = 1; failed; n += step ? step : 1 + n / 6) {
		bool ended;

		start(s, n);
		failed = finish(s);
		ended = WIFEXITED(s->status) && (WEXITSTATUS(s->status) == 0 ||
						 (WEXITSTATUS(s->status) == 3 && is_told(s)));
		if (!ended || !is_restored(s))
			fail_msg("allocation %llu: status 0x%x, %srestored\n%.400s",
				 (unsigned long long)n, (unsigned int)s->status,
				 is_restored(s) ? "" : "not ",
				 s->len > 400 ? s->out + s->len - 400 : s->out);
		missed += WEXITSTATUS(s->status) == 3;
	}
	assert_true(missed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminal_is_restored),
	};

	return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
