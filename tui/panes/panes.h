/* SPDX-License-Identifier: GPL-2.0-only */
/* The panes' entry points; panes.def lists them. */
#ifndef PANES_PANES_H
#define PANES_PANES_H

#include "pane.h"

void draw_path(const struct view *v, const struct area *a);
void draw_pte(const struct view *v, const struct area *a);
void draw_folio(const struct view *v, const struct area *a);
void draw_swap(const struct view *v, const struct area *a);
void draw_tlb(const struct view *v, const struct area *a);
void draw_changed(const struct view *v, const struct area *a);
void draw_counts(const struct lane_set *set, const struct area *a, bool zoom);
/* Row 0 is the rule above it. */
void draw_text(const struct lane_set *set, const struct area *a, bool zoom);

u32 most_path(const struct view *v, u32 width);
u32 most_pte(const struct view *v, u32 width);
u32 most_folio(const struct view *v, u32 width);
u32 most_swap(const struct view *v, u32 width);
u32 most_tlb(const struct view *v, u32 width);

struct change;
/* Is a changed field worth a row where rows are few? */
bool change_teaches(const struct change *change);

/* Counters worth a column, the most telling first; returns how many, at most max. */
u32 telling_counters(const struct lane_set *set, enum counter *counter, u32 max);

#endif
