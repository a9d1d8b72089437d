/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals only write their number into a pipe that the loop polls beside the keyboard,
 * so nothing happens between two bytes of output. A crash cannot wait for the loop: its
 * handler sends the terminal's own reset strings, kept since the start, with write().
 */
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termcap.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "term.h"
#include "trace/callpath.h"

#define ESCAPE_MS 25
#define RESET_SIZE 256
#define READ_MS 50

static struct {
	SCREEN *screen;
	FILE *in;
	int in_fd, out_fd;
	int pipe[2];
	struct termios saved;
	bool saved_ok;
	char reset[RESET_SIZE];	/* what a crash sends */
	size_t reset_len;
	bool color, ascii;
	bool more_keys;		/* curses may have some that poll() does not know of */
	attr_t attr[NR_STYLES];
	short pair[NR_STYLES];
} term;

static const int loop_signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2,
				    SIGXCPU, SIGXFSZ, SIGPIPE, SIGPOLL, SIGPROF, SIGVTALRM,
				    SIGTSTP, SIGCONT, SIGWINCH };
static const struct {
	int number;
	const char *name;
} crash_signals[] = {
	{ SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" }, { SIGABRT, "SIGABRT" },
	{ SIGFPE, "SIGFPE" }, { SIGILL, "SIGILL" }, { SIGSYS, "SIGSYS" }, { SIGTRAP, "SIGTRAP" },
};

static void on_signal(int signal)
{
	int saved_errno = errno;
	unsigned char byte = (unsigned char)signal;
	ssize_t n = write(term.pipe[1], &byte, 1);

	(void)n;
	errno = saved_errno;
}

static void write_text(int fd, const char *text, size_t len)
{
	ssize_t n = write(fd, text, len);

	(void)n;
}

static void on_crash(int signal)
{
	static const char report[] = "folioscope: crash (";
	static const char rest[] = "); the stack, innermost first:\n";
	const char *name = "signal";

	for (u32 i = 0; i < NR_OF(crash_signals); i++)
		if (crash_signals[i].number == signal)
			name = crash_signals[i].name;
	write_text(term.out_fd, term.reset, term.reset_len);
	if (term.saved_ok)
		tcsetattr(term.in_fd, TCSANOW, &term.saved);
	write_text(STDERR_FILENO, report, sizeof(report) - 1);
	write_text(STDERR_FILENO, name, strlen(name));
	write_text(STDERR_FILENO, rest, sizeof(rest) - 1);
	callpath_crash(STDERR_FILENO);
	raise(signal);	/* the default action: SA_RESETHAND */
}

static void add_reset(const char *capability)
{
	char *text = tigetstr(capability);
	size_t len;

	if (!text || text == (char *)-1)
		return;
	len = strlen(text);
	if (term.reset_len + len > RESET_SIZE)
		return;
	memcpy(term.reset + term.reset_len, text, len);
	term.reset_len += len;
}

static bool catch_signals(void)
{
	static char stack[65536];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction loop = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sigaction crash = { .sa_handler = on_crash,
				   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK) };

	if (pipe(term.pipe))
		return false;
	for (int i = 0; i < 2; i++) {
		fcntl(term.pipe[i], F_SETFL, O_NONBLOCK);
		fcntl(term.pipe[i], F_SETFD, FD_CLOEXEC);
	}
	add_reset("sgr0");
	add_reset("rmkx");
	add_reset("cnorm");
	add_reset("rmcup");
	sigaltstack(&alternate, NULL);
	for (u32 i = 0; i < NR_OF(crash_signals); i++)
		sigaction(crash_signals[i].number, &crash, NULL);
	for (u32 i = 0; i < NR_OF(loop_signals); i++)
		sigaction(loop_signals[i], &loop, NULL);
	return true;
}

static void forget_signals(void)
{
	for (u32 i = 0; i < NR_OF(loop_signals); i++)
		signal(loop_signals[i], SIG_DFL);
	for (u32 i = 0; i < NR_OF(crash_signals); i++)
		signal(crash_signals[i].number, SIG_DFL);
	close(term.pipe[0]);
	close(term.pipe[1]);
}

static void start_styles(void)
{
	bool many = COLORS >= 256;

	for (u32 i = 0; i < NR_STYLES; i++) {
		const struct style_info *s = &style_infos[i];
		s32 fg = many ? s->fg256 : s->fg16, bg = many ? s->bg256 : s->bg16;

		term.attr[i] = (s->attrs & ATTR_BOLD ? A_BOLD : 0) |
			       (s->attrs & ATTR_UNDERLINE ? A_UNDERLINE : 0) |
			       (s->attrs & ATTR_REVERSE ? A_REVERSE : 0);
		if (term.color && (fg >= 0 || bg >= 0) && (short)i + 1 < COLOR_PAIRS &&
		    init_pair((short)(i + 1), (short)fg, (short)bg) == OK)
			term.pair[i] = (short)(i + 1);
	}
}

static void set_modes(void)
{
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	meta(stdscr, TRUE);
	leaveok(stdscr, FALSE);
}

static bool start(const struct term_options *options)
{
	memset(&term, 0, sizeof(term));
	setlocale(LC_CTYPE, "");
	term.ascii = options->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	term.in = isatty(STDIN_FILENO) ? stdin : fopen("/dev/tty", "r");
	if (!term.in)
		return false;
	term.in_fd = fileno(term.in);
	term.out_fd = STDOUT_FILENO;
	term.saved_ok = tcgetattr(term.in_fd, &term.saved) == 0;
	term.screen = newterm(NULL, stdout, term.in);
	if (!term.screen)
		return false;
	set_term(term.screen);
	set_escdelay(getenv("ESCDELAY") ? atoi(getenv("ESCDELAY")) : ESCAPE_MS);
	set_modes();
	term.color = options->color && has_colors() && start_color() == OK &&
		     use_default_colors() == OK;
	start_styles();
	if (catch_signals())
		return true;
	endwin();
	delscreen(term.screen);
	return false;
}

static void stop(void)
{
	endwin();
	forget_signals();
	delscreen(term.screen);
	if (term.saved_ok)
		tcsetattr(term.in_fd, TCSADRAIN, &term.saved);
	if (term.in != stdin)
		fclose(term.in);
}

static void put_row(const struct canvas *c, u32 y)
{
	const struct cell *cell = &c->cell[(size_t)y * c->w];
	wchar_t text[256];
	u32 x = 0;

	while (x < c->w) {
		u32 n = 0, start_x = x;
		u8 style = cell[x].style;

		while (x < c->w && cell[x].style == style && n < NR_OF(text))
			text[n++] = (wchar_t)cell[x++].rune;
		attr_set(term.attr[style], term.pair[style], NULL);
		mvaddnwstr((int)y, (int)start_x, text, (int)n);
	}
}

static void put_canvas(const struct canvas *c)
{
	for (u32 y = 0; y < c->h; y++)
		put_row(c, y);
	curs_set(c->cursor_shown);
	if (c->h && c->w)
		move((int)c->cursor_y, (int)c->cursor_x);
	refresh();
}

static void fit_size(void)
{
	struct winsize size;

	if (ioctl(term.out_fd, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

static bool repaint(struct app *app)
{
	struct canvas canvas;

	if (!canvas_init(&canvas, (u32)COLS, (u32)LINES))
		return false;
	canvas.ascii = term.ascii;
	app_resize(app, canvas.w, canvas.h);
	app_draw(app, &canvas);
	put_canvas(&canvas);
	canvas_free(&canvas);
	return true;
}

/* Stop as the shell expects, with its terminal, and come back with ours. */
static void suspend(void)
{
	struct sigaction now = { .sa_handler = SIG_DFL }, ours;

	def_prog_mode();
	endwin();
	sigaction(SIGTSTP, &now, &ours);
	kill(0, SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
	reset_prog_mode();
	set_modes();
	fit_size();
	clearok(curscr, TRUE);
}

/* To the clipboard of a terminal that knows OSC 52; others ignore it. */
static void copy(const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = strlen(text);

	fputs("\033]52;c;", stdout);
	for (size_t i = 0; i < len; i += 3) {
		u32 b = (u32)(unsigned char)text[i] << 16;

		b |= i + 1 < len ? (u32)(unsigned char)text[i + 1] << 8 : 0;
		b |= i + 2 < len ? (u32)(unsigned char)text[i + 2] : 0;
		putchar(digits[b >> 18]);
		putchar(digits[b >> 12 & 63]);
		putchar(i + 1 < len ? digits[b >> 6 & 63] : '=');
		putchar(i + 2 < len ? digits[b & 63] : '=');
	}
	fputs("\033\\", stdout);
	fflush(stdout);
}

/* What curses calls a key, as the app calls it; 0: nothing to do with it. */
static u32 translate(int status, wint_t c)
{
	static const struct {
		wint_t curses;
		u32 key;
	} keys[] = {
		{ KEY_LEFT, K_LEFT }, { KEY_RIGHT, K_RIGHT },
		{ KEY_UP, K_UP }, { KEY_DOWN, K_DOWN },
		{ KEY_HOME, K_HOME }, { KEY_END, K_END },
		{ KEY_PPAGE, K_PAGE_UP }, { KEY_NPAGE, K_PAGE_DOWN },
		{ KEY_BTAB, K_BACKTAB }, { KEY_DC, K_DELETE },
		{ KEY_BACKSPACE, K_BACKSPACE }, { KEY_ENTER, '\r' },
		{ KEY_F(1), K_F1 }, { KEY_F(10), K_F10 },
	};

	if (status == OK)
		return (u32)c;
	for (u32 i = 0; i < NR_OF(keys); i++)
		if (keys[i].curses == c)
			return keys[i].key;
	return 0;
}


static u32 take_signals(int *ended_by)
{
	unsigned char signal;
	u32 effects = 0;

	while (read(term.pipe[0], &signal, 1) == 1) {
		switch (signal) {
		case SIGTSTP:
			effects |= EFFECT_SUSPEND;
			break;
		case SIGWINCH:
			fit_size();
			effects |= EFFECT_REDRAW;
			break;
		case SIGCONT:
			effects |= EFFECT_REPAINT;
			break;
		default:
			*ended_by = signal;
			effects |= EFFECT_QUIT;
		}
	}
	return effects;
}

static u32 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u32)t.tv_sec * 1000 + (u32)(t.tv_nsec / 1000000);
}

/* What was typed, for so long that the screen follows and signals are seen in between. */
static u32 read_keys(struct app *app)
{
	u32 effects = 0, start_ms = now_ms();
	wint_t c;
	int status;

	term.more_keys = false;
	while (!term.more_keys && (status = get_wch(&c)) != ERR) {
		u32 key = translate(status, c);

		if (key)
			effects |= app_key(app, key);
		term.more_keys = effects & (EFFECT_QUIT | EFFECT_SUSPEND) ||
				 now_ms() - start_ms > READ_MS;
	}
	return effects;
}

/* Sleep until something happens; returns its effects. */
static u32 wait_for_effects(struct app *app, int *ended_by)
{
	struct pollfd fds[2] = { { .fd = term.in_fd, .events = POLLIN },
				 { .fd = term.pipe[0], .events = POLLIN } };
	u32 start_ms = now_ms(), effects = 0;

	poll(fds, 2, term.more_keys ? 0 : app->playing ? (int)(1000 / app->speed / 4 + 1) : -1);
	if (app->playing)
		effects |= app_tick(app, now_ms() - start_ms);
	effects |= take_signals(ended_by);
	if (effects & EFFECT_QUIT)
		return effects;
	effects |= read_keys(app);
	if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) && !(fds[0].revents & POLLIN))
		effects |= EFFECT_QUIT;
	return effects;
}

bool term_usable(void)
{
	const char *name = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && name && *name &&
	       tgetent(NULL, name) == 1 && tgetstr("cm", NULL);
}

int term_run(struct app *app, const struct term_options *options)
{
	int ended_by = 0;
	u32 effects = EFFECT_REDRAW;

	if (!start(options))
		return TERM_UNUSABLE;
	while (!(effects & EFFECT_QUIT)) {
		if (effects & EFFECT_SUSPEND)
			suspend();
		if (effects & EFFECT_REPAINT)
			clearok(curscr, TRUE);
		if (effects & EFFECT_COPY)
			copy(app->copied);
		if (effects && !repaint(app))
			break;
		effects = wait_for_effects(app, &ended_by);
	}
	stop();
	return ended_by ? 128 + ended_by : effects & EFFECT_QUIT ? 0 : TERM_NO_MEMORY;
}
