/* SPDX-License-Identifier: GPL-2.0-only */
#include "app.h"
#include "cmd.h"

static int print_screen(const struct options *opt, struct app *app)
{
	struct canvas canvas;

	if (!canvas_init(&canvas, opt->cols ? opt->cols : 80, opt->rows ? opt->rows : 24))
		return complain(STATUS_INTERNAL, "out of memory");
	canvas.ascii = opt->ascii;
	app_resize(app, canvas.w, canvas.h);
	app_draw(app, &canvas);
	if (opt->format == FORMAT_ANSI)
		canvas_print_ansi(&canvas, stdout, options_color(opt));
	else
		canvas_print_text(&canvas, stdout);
	canvas_free(&canvas);
	return STATUS_OK;
}

int cmd_screen(const struct options *opt)
{
	struct run run;
	struct app app;
	int status = command_open(opt, opt->args[0], RUN_EXPLORE, false, &run);

	if (status != STATUS_OK)
		return status;
	status = command_open_app(opt, &run, &app);
	if (status == STATUS_OK) {
		status = print_screen(opt, &app);
		app_close(&app);
	}
	command_close(&run);
	return status;
}
