/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Panes: what there is to see of a lane at a moment. One file each in panes/, one row
 * each in panes.def.
 *
 *   *pte   2     none was 0x12342 RW D A
 *   |label |     `- body
 *   `- '*': the last step changed it; '>': the kernel's walk stands here
 *
 * A lane's pane is drawn once for each lane, side by side; a wide one once for all.
 * Drawing reads a view and writes cells: nothing else.
 */
#ifndef PANE_H
#define PANE_H

#include "app.h"
#include "arch/arch.h"
#include "names.h"

#define LABEL_COLUMNS 7		/* mark and label */

/* One lane at the app's moment. */
struct view {
	const struct app *app;
	enum pane_id pane;		/* being drawn */
	u32 index;			/* of the lane in run->lanes */
	const struct lane *lane;
	const struct cursor *c;
	const struct mm_state *s;
	const struct pte_ops *ops;
	struct softleaf_types types;
	u32 folio;			/* the folio at hand, NONE only in a world without folios */
	bool moves;			/* the last tick moved this lane */
	bool zoom;
};

struct lane_set {
	const struct app *app;
	u32 nr;
	u32 lane[MAX_SHOWN];
	bool same_arch;
	bool tell_changes;	/* in the narration: no other pane does */
};

struct pane {
	const char *name, *text;
	/* One of the two. */
	void (*draw)(const struct view *v, const struct area *a);
	void (*draw_wide)(const struct lane_set *set, const struct area *a, bool zoom);
	/* Rows beyond which it has nothing more to show, whatever the moment; NULL: none. */
	u32 (*most)(const struct view *v, u32 width);
};
extern const struct pane panes[NR_PANES];

struct view view_of(const struct app *app, u32 lane, enum pane_id pane);

/*
 * A pane's label, marked when the pane has the focus: reversed, and with the terminal's
 * cursor on it, hidden, for magnifiers and screen readers. Returns the column after it.
 */
u32 put_focus(const struct area *a, u32 y, const char *label, bool focus);
void put_label(const struct view *v, const struct area *a, u32 y, const char *label);
void put_mark(const struct area *a, u32 y, bool changed);

/* "unbatched" where all lanes shown are of one architecture, else "arm64/unbatched". */
const char *lane_label(const struct lane_set *set, u32 i);

/* Old values are those before the last step, if that step moved this lane. */
static inline bool view_changed(const struct view *v, const u32 *field, u32 *old)
{
	bool changed = cursor_changed(v->c, field, old);

	if (!v->moves && old)
		*old = *field;
	return v->moves && changed;
}

static inline bool view_changed64(const struct view *v, const u64 *field, u64 *old)
{
	bool changed = cursor_changed64(v->c, field, old);

	if (!v->moves && old)
		*old = *field;
	return v->moves && changed;
}

static inline bool view_changed_any(const struct view *v, const void *from, size_t bytes)
{
	return v->moves && cursor_changed_any(v->c, from, bytes);
}

/* "0..15", or the folio's name before it when it is not the one at hand. */
char *page_label(const struct view *v, u32 pte, u32 nr, char *buf, size_t size);
/* An entry in at most so many columns: "pfn 0x12342.. RW D A", "swap 0:0x202 excl", "none". */
char *pte_brief(const struct view *v, const struct pte_ops *ops, pte_t pte, bool run, u32 columns,
		char *buf, size_t size);
/* Of the entry at hand in pte[]: changed by the last step, else where the walk stands, or NONE.
 * For a PMD it is the first PTE below. */
u32 pte_at_hand(const struct view *v);
/* Its bits, or those of the huge PMD above, field by field, the first ones skipped. */
void put_bits(const struct view *v, const struct area *a, u32 pte, u32 skip);

#endif
