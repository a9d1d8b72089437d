/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the panes share a screen.
 *
 *    header      scenario, title                      step, page, tick
 *    track       start isolate slots [unmap ===...] flush write free
 *    - lane ------------------- + - lane ----------------------
 *    in, pte, folio, swap, tlb, changed: as high as there is room for
 *    - counts -----------------------------------------------
 *    - phase: what it is for -------------------------------------
 *    narration
 *    hints, message or command line
 *
 * Heights depend on the screen and the run, not on the moment: stepping moves nothing
 * but what it changes.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "pane.h"

/* Rows of each part; 0: not shown. */
struct layout {
	u32 header, track, title, hints;
	u32 body;			/* the lanes' panes */
	u32 rows[NR_PANES];
	u32 gap[NR_PANES];		/* blank rows after a pane */
};

struct layout layout_screen(const struct lane_set *set, u32 w, u32 h);

/* header.c */
void draw_header(const struct lane_set *set, const struct area *a);
void draw_track(const struct lane_set *set, const struct area *a);
void draw_title(const struct lane_set *set, u32 i, const struct area *a);
void draw_phase_rule(const struct lane_set *set, const struct area *a);
void draw_hints(const struct app *app, const struct area *a);
/* A screen too small for panes: the step, what happens, and how to leave. */
void draw_tiny(const struct lane_set *set, const struct area *a);
/* help.c */
void draw_help(const struct app *app, const struct area *a);

#endif
