/* SPDX-License-Identifier: GPL-2.0-only */
/* What input.c, command.c and search.c know of each other. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "app.h"

/* As app_goto() and app_goto_step(), but remember where it was for an undo. */
void app_jump(struct app *app, u32 tick);
void app_jump_to_step(struct app *app, u32 lane, u32 pos);

/*
 * Searches return a tick, NONE if there is nothing. They may leave another window shown:
 * app_goto() must follow.
 */

/* The nearest event of a kind, ahead (dir > 0) or behind. */
u32 find_kind(struct app *app, u32 letter, int dir);
struct event_kind {
	char letter;
	const char *name, *text;
};
extern const struct event_kind event_kinds[];
extern const u32 nr_event_kinds;

/* The nearest step whose narration or event name holds app->pattern. */
u32 find_pattern(struct app *app, int dir, bool *limited);
/* The nearest tick ahead at which an expression becomes true in a lane shown. */
u32 find_until(struct app *app, const char *expr, struct error *err);

/* Perform a command line; returns effects. */
u32 app_command(struct app *app, const char *line);
/* Complete the word at the end of app->line, or say what it could be. */
void app_complete(struct app *app);

struct command_info {
	const char *name, *args, *text;
};
extern const struct command_info command_infos[];
extern const u32 nr_command_infos;

struct key_info {
	u32 key;
	const char *label;
	const char *text;
	u32 (*act)(struct app *app, u32 count);
};
extern const struct key_info key_infos[];
extern const u32 nr_key_infos;

#endif
