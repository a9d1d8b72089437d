/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cmd.h"
#include "explorer.h"

#define MAX_WORDS 16

struct explorer *explorer_open(const char *words)
{
	struct explorer *e = calloc(1, sizeof(*e));
	char line[640], name[] = "folioscope";
	char *argv[MAX_WORDS + 1] = { name };
	struct options opt;
	struct error err;
	int argc = 1;

	assert_non_null(e);
	snprintf(line, sizeof(line), "%s", words);
	for (char *word = strtok(line, " "); word && argc < MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	if (!options_parse(&opt, argc, argv, &err))
		fail_msg("%s: %s", words, err.text);
	assert_int_equal(command_open(&opt, opt.args[0], RUN_EXPLORE, false, &e->run), STATUS_OK);
	assert_int_equal(command_open_app(&opt, &e->run, &e->app), STATUS_OK);
	return e;
}

void explorer_close(struct explorer *e)
{
	app_close(&e->app);
	command_close(&e->run);
	free(e);
}

char *screen(const struct app *app, u32 w, u32 h)
{
	struct canvas c;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_true(canvas_init(&c, w, h));
	app_draw(app, &c);
	canvas_print_text(&c, f);
	fclose(f);
	canvas_free(&c);
	return text;
}

void assert_shows(const struct app *app, const char *text)
{
	char *s = screen(app, 80, 24);

	if (!strstr(s, text))
		fail_msg("no \"%s\" in\n%s", text, s);
	free(s);
}

void assert_hides(const struct app *app, const char *text)
{
	char *s = screen(app, 80, 24);

	if (strstr(s, text))
		fail_msg("\"%s\" in\n%s", text, s);
	free(s);
}

u32 end_of(const struct app *app)
{
	return run_last_tick(app->run);
}

u32 event_at(const struct app *app, u32 lane)
{
	const struct step *step = cursor_step(&app->cursor[lane]);

	return step ? step->event : NR_EVENTS;
}
