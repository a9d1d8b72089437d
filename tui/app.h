/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The explorer without a terminal.
 *
 *   key -> app_key(app) -> effects          what the terminal must do about it
 *          app_draw(app, canvas)            pure: (run, tick, settings) -> cells
 *          app_tick(app, ms) -> effects     time passes, for play
 *
 * Where the explorer stands is one number, the tick of the alignment; every lane's
 * cursor follows it. Lanes are named by their index in run->lanes.
 *
 * A long run is there window by window (scenario/run.h). app_goto() shows the one that its
 * tick is in; what looks for another moment may leave a different one shown until then.
 */
#ifndef APP_H
#define APP_H

#include "canvas.h"
#include "scenario/run.h"
#include "trace/narrate.h"

/* Keys beyond Unicode. */
#define K_CTRL(letter) ((letter) & 0x1f)
#define K_ESC 0x1b
#define K_BACKSPACE 0x7f
enum key {
	K_FIRST = 0x110000, K_LEFT, K_RIGHT, K_UP, K_DOWN, K_HOME, K_END, K_PAGE_UP, K_PAGE_DOWN,
	K_BACKTAB, K_DELETE, K_F1, K_F10,
};

enum effect {
	EFFECT_REDRAW = 1,
	EFFECT_QUIT = 2,
	EFFECT_SUSPEND = 4,
	EFFECT_COPY = 8,	/* app->copied goes to the clipboard */
	EFFECT_REPAINT = 16,	/* every cell anew: the terminal may show something else */
};

enum pane_id {
#define PANE(name, scope, most, text) PANE_##name,
#include "panes.def"
#undef PANE
	NR_PANES
};

enum mode { MODE_KEYS, MODE_SEARCH, MODE_COMMAND, MODE_HELP };

#define MAX_SHOWN 4
#define MAX_JUMPS 32
#define MAX_LINE 160

struct app {
	struct run *run;
	struct names names;
	u32 tick;
	struct cursor *cursor;		/* [run->nr_lanes], all at tick */

	u32 w, h;			/* of the screen, as app_resize() was told */
	u32 lanes[MAX_SHOWN];		/* asked for */
	u32 nr_lanes, first_lane;	/* 0: as many as fit, from first_lane on */
	enum pane_id focus;
	bool zoom;
	u32 scroll;			/* rows, in the zoomed pane or the help */

	enum mode mode;
	u32 count;			/* digits typed so far; 0: none */
	u32 pending;			/* a key that waits for its second: [ ] m ' */
	char line[MAX_LINE];		/* being typed after / or : */
	u32 line_len;
	char pattern[MAX_LINE];		/* of the search under way, or "" */
	char message[640];		/* shown until the next key */
	bool complaint;			/* the message is one */
	char copied[640];

	u32 mark[52];			/* tick + 1; a-z A-Z */
	u32 jump[MAX_JUMPS];
	u32 nr_jumps;
	bool playing;
	u32 speed;			/* steps a second */
	u32 elapsed;			/* ms since the last step played */

	/* Made once from the world as placed: which page a PTE mapped, and the way back. */
	u32 *pte_page;			/* [nr PTEs]: index in page[], or NONE */
	u32 *page_ptes;			/* [nr pages + 1]: first in page_pte[] */
	u32 *page_pte;			/* PTEs by page */
};

/* A run to be explored, which must outlive the app. False: out of memory, nothing to close. */
bool app_open(struct app *app, struct run *run);
void app_close(struct app *app);
void app_resize(struct app *app, u32 w, u32 h);

u32 app_key(struct app *app, u32 key);			/* effects */
u32 app_keys(struct app *app, const char *keys);	/* one after the other; effects of all */
u32 app_tick(struct app *app, u32 ms);			/* effects; call while app->playing */
void app_draw(const struct app *app, struct canvas *canvas);

void app_goto(struct app *app, u32 tick);		/* clamped */
void app_goto_step(struct app *app, u32 lane, u32 pos);	/* the first tick at which it is there */
/* Show a window; the one after (dir > 0) or before it. False: there is none, or no memory. */
bool app_show(struct app *app, u32 window);
bool app_turn(struct app *app, int dir);
/*
 * A tick may move none of the lanes shown, only others: back to the last that did. Every
 * lane shown stays where it is.
 */
void app_settle(struct app *app);
/*
 * The nearest tick after (dir > 0) or before a tick of the window shown that moves a lane
 * shown; its window is shown then. Nothing ahead: the tick itself; nothing before: 0.
 */
u32 app_next(struct app *app, u32 tick, int dir);
/* Has a lane shown steps ahead of it? */
bool app_has_next(const struct app *app);
/* Does a tick of the window shown move a lane shown? */
bool app_moves_any(const struct app *app, u32 tick);
/* What is to be said of a lane's position: that an invariant breaks, or a remark; else NULL. */
const char *app_said(const struct app *app, u32 lane, u32 pos);
/* Zoom a pane by its name; "" or "all": none. False: no such pane. */
bool app_view(struct app *app, const char *name);
/* Show these lanes, names or globs with commas; "": as many as fit. */
bool app_lanes(struct app *app, const char *list, struct error *err);
/* Which lanes a screen of this width shows; returns how many, at least 1. */
u32 app_shown(const struct app *app, u32 w, u32 lane[MAX_SHOWN]);
/* The command that reopens this moment with the lanes shown where they are, in buf. */
char *app_reopen(const struct app *app, char *buf, size_t size);

/* What the screen says at the bottom when it says something. */
void app_say(struct app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
void app_complain(struct app *app, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A lane's cursor and whether the last tick moved it. */
static inline const struct cursor *app_cursor(const struct app *app, u32 lane)
{
	return &app->cursor[lane];
}

static inline bool app_moves(const struct app *app, u32 lane)
{
	return align_moves(app->run->align, app->tick, lane);
}

/* Of a lane in all: its last position. */
static inline u32 app_steps(const struct app *app, u32 lane)
{
	return (u32)app->run->lanes[lane].steps;
}

#endif
