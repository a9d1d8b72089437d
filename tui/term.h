/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal: the one place that knows curses.
 *
 *   bytes -> curses -> key codes -> app_key() -> effects
 *   app_draw() -> canvas -> curses, which sends only what differs
 *
 * Whatever ends the program, the terminal is put back as it was.
 */
#ifndef TERM_H
#define TERM_H

#include "app.h"

struct term_options {
	bool color;		/* as far as the terminal has any */
	bool ascii;		/* also in a UTF-8 locale */
};

/* Can this be a full screen: standard input and output on a terminal that can move its cursor? */
bool term_usable(void);

/*
 * Explore until the user leaves or a signal ends it: 0, or 128 + signal. Negative: it came to
 * nothing, or to an end.
 */
enum term_failure { TERM_UNUSABLE = -1, TERM_NO_MEMORY = -2 };
int term_run(struct app *app, const struct term_options *options);

#endif
