/* SPDX-License-Identifier: GPL-2.0-only */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"
#include "pane.h"
#include "scenario/suggest.h"

#define MAX_SPEED 50

static u32 do_goto(struct app *app, const char *arg)
{
	size_t len = strlen(arg);
	struct error err;
	u32 lane, pos, shown[MAX_SHOWN];
	char moment[MAX_LINE + 80];

	if (len && arg[len - 1] == '%') {
		u64 percent = strtoull(arg, NULL, 10);

		percent = percent < 100 ? percent : 100;
		app_jump(app, (u32)(run_last_tick(app->run) * percent / 100));
		return EFFECT_REDRAW;
	}
	app_shown(app, app->w, shown);
	snprintf(moment, sizeof(moment), "%s%s%s",
		 strchr(arg, ':') ? "" : app->run->lanes[shown[0]].spec->name,
		 strchr(arg, ':') ? "" : ":", arg);
	if (run_moment(app->run, moment, &lane, &pos, &err))
		app_jump_to_step(app, lane, pos);
	else
		app_complain(app, "%s", err.text);
	return EFFECT_REDRAW;
}

static u32 do_lanes(struct app *app, const char *arg)
{
	struct error err;

	if (app_lanes(app, arg, &err))
		app_settle(app);
	else
		app_complain(app, "%s", err.text);
	return EFFECT_REDRAW;
}

static u32 do_view(struct app *app, const char *arg)
{
	if (!app_view(app, arg))
		app_complain(app, "No pane %s. Tab completes.", arg);
	return EFFECT_REDRAW;
}

static u32 do_until(struct app *app, const char *arg)
{
	struct error err = { .text = "" };
	u32 tick = find_until(app, arg, &err);

	app_jump(app, tick == NONE ? app->tick : tick);
	if (tick != NONE)
		return EFFECT_REDRAW;
	if (*err.text)
		app_complain(app, "%s", err.text);
	else
		app_complain(app, "It does not come true any more: %s", arg);
	return EFFECT_REDRAW;
}

static u32 do_mark(struct app *app, const char *arg)
{
	if (!isalpha((unsigned char)arg[0]) || arg[1]) {
		app_complain(app, "Marks are letters: mark a");
		return EFFECT_REDRAW;
	}
	app_key(app, 'm');
	return app_key(app, (u32)(unsigned char)arg[0]);
}

static u32 do_speed(struct app *app, const char *arg)
{
	u64 speed = strtoull(arg, NULL, 10);

	if (speed >= 1 && speed <= MAX_SPEED)
		app->speed = (u32)speed;
	else
		app_complain(app, "A speed is 1 to %d steps a second.", MAX_SPEED);
	return EFFECT_REDRAW;
}

static u32 do_help(struct app *app, const char *arg)
{
	(void)arg;
	app->mode = MODE_HELP;
	app->scroll = 0;
	return EFFECT_REDRAW;
}

static u32 do_quit(struct app *app, const char *arg)
{
	(void)app, (void)arg;
	return EFFECT_QUIT;
}

const struct command_info command_infos[] = {
#define COMMAND(name, args, text) { #name, args, text },
#include "commands.def"
#undef COMMAND
};
const u32 nr_command_infos = NR_OF(command_infos);

static u32 (*const doers[])(struct app *app, const char *arg) = {
#define COMMAND(name, args, text) do_##name,
#include "commands.def"
#undef COMMAND
};

u32 app_command(struct app *app, const char *line)
{
	char word[MAX_LINE], arg[MAX_LINE];
	size_t len;

	while (*line == ' ')
		line++;
	len = strcspn(line, " ");
	snprintf(word, sizeof(word), "%.*s", (int)len, line);
	line += len;
	while (*line == ' ')
		line++;
	snprintf(arg, sizeof(arg), "%s", line);
	for (len = strlen(arg); len && arg[len - 1] == ' '; len--)
		arg[len - 1] = '\0';
	if (!*word)
		return EFFECT_REDRAW;
	if (isdigit((unsigned char)*word) || strchr(word, ':'))
		return do_goto(app, word);
	for (u32 i = 0; i < nr_command_infos; i++)
		if (strncmp(word, command_infos[i].name, strlen(word)) == 0)
			return doers[i](app, arg);
	line = suggest(word, &command_infos[0].name, sizeof(command_infos[0]), nr_command_infos);
	if (line)
		app_complain(app, "No command %.60s. Did you mean %s?", word, line);
	else
		app_complain(app, "No command %.60s. Tab lists them.", word);
	return EFFECT_REDRAW;
}

/* What has been found for the word under completion. */
struct completion {
	const char *word;
	size_t len;
	char common[MAX_LINE];	/* to all candidates */
	char all[256];
	u32 nr;
};

static void offer(struct completion *c, const char *candidate)
{
	size_t used = strlen(c->all), same = 0;

	if (strncmp(candidate, c->word, c->len) != 0)
		return;
	if (c->nr++ == 0)
		snprintf(c->common, sizeof(c->common), "%s", candidate);
	while (c->common[same] && c->common[same] == candidate[same])
		same++;
	c->common[same] = '\0';
	snprintf(c->all + used, sizeof(c->all) - used, "%s%s", used ? "  " : "", candidate);
}

void app_complete(struct app *app)
{
	struct completion c = { .nr = 0 };
	const char *space = strrchr(app->line, ' ');
	const char *comma = strrchr(app->line, ',');
	u32 start;

	if (comma && (!space || comma > space))
		space = comma;
	start = space ? (u32)(space + 1 - app->line) : 0;
	c.word = app->line + start;
	c.len = app->line_len - start;
	if (!space) {
		for (u32 i = 0; i < nr_command_infos; i++)
			offer(&c, command_infos[i].name);
	} else if (strncmp(app->line, "view", 4) == 0) {
		for (u32 i = 0; i < NR_PANES; i++)
			offer(&c, panes[i].name);
	} else {
		for (u32 i = 0; i < app->run->nr_lanes; i++)
			offer(&c, app->run->lanes[i].spec->name);
	}
	if (c.nr != 1)
		app_say(app, "%s", c.nr ? c.all : "nothing begins like that");
	if (!c.nr)
		return;
	snprintf(app->line + start, sizeof(app->line) - start, "%s%s", c.common,
		 c.nr == 1 && !space ? " " : "");
	app->line_len = (u32)strlen(app->line);
}
