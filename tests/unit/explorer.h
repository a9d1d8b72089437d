/* SPDX-License-Identifier: GPL-2.0-only */
/* An explorer of one scenario, opened as the command line would open it; no terminal. */
#ifndef UNIT_EXPLORER_H
#define UNIT_EXPLORER_H

#include "app.h"

struct explorer {
	struct run run;
	struct app app;
};

/* words: what follows "folioscope", such as "swapout-64k --at 12 --view pte". Fails the test. */
struct explorer *explorer_open(const char *words);
void explorer_close(struct explorer *e);

/* The screen as text; the caller frees it. */
char *screen(const struct app *app, u32 w, u32 h);
/* The screen at 80x24 has this text, or has it not. */
void assert_shows(const struct app *app, const char *text);
void assert_hides(const struct app *app, const char *text);
u32 end_of(const struct app *app);
/* The event of the step that led a lane here; NR_EVENTS at its beginning. */
u32 event_at(const struct app *app, u32 lane);

#endif
