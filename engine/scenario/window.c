/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A long run, one window after the other. Windows end at seams that all lanes have, so
 * that each shows the same folios in every lane:
 *
 *	arm64/unbatched  |A0 |A1 |A2 |A3 |A4 |A5 |      | seam
 *	arm64/batched    |A0|A1|A2|A3|A4|A5|
 *	windows          0: A0 A1 A2   1: A3 A4 A5
 *
 * The window shown has its lanes' traces and their alignment; to show another one each
 * lane is run again up to there, which costs a few milliseconds a million steps.
 */
#include <stdlib.h>
#include <string.h>

#include "scenario/json.h"
#include "scenario/run.h"

#define LOOK_AHEAD 1024u	/* seams of one lane among which another's may be */

/* Where a cut would be: the seam of each lane. */
struct place {
	u32 *seam, *pos;
};

/* The seam of a lane that is about the same as one of the first lane's; past its last: its end. */
static bool same_seam(const struct lane *lane, const struct seam *seam, u32 *at, u32 *pos)
{
	if (*at + 1 >= lane->nr_seams) {
		*pos = (u32)lane->steps;
		return true;
	}
	for (u32 i = *at; i < lane->nr_seams && i - *at < LOOK_AHEAD; i++) {
		if (lane->seams[i].op != seam->op || lane->seams[i].folio != seam->folio)
			continue;
		*at = i;
		*pos = lane->seams[i].pos;
		return true;
	}
	return false;
}

/* All lanes' positions at the i-th seam of the first. */
static bool find_place(const struct run *run, u32 i, struct place *place)
{
	for (u32 l = 0; l < run->nr_lanes; l++)
		if (!same_seam(&run->lanes[l], &run->lanes[0].seams[i], &place->seam[l],
			       &place->pos[l]))
			return false;
	return true;
}

static u64 sum(const u32 *pos, u32 nr)
{
	u64 steps = 0;

	for (u32 l = 0; l < nr; l++)
		steps += pos[l];
	return steps;
}

static bool add_edge(struct run *run, const u32 *pos, u32 row)
{
	size_t size = run->nr_lanes * sizeof(u32);
	u32 *grown = run->edge;

	if ((row & (row - 1)) == 0)
		grown = realloc(grown, (row ? 2 * (size_t)row : 1) * size + 1);
	if (!grown)
		return false;
	run->edge = grown;
	memcpy(grown + (size_t)row * run->nr_lanes, pos, size);
	return true;
}

/* One edge where enough steps have come together since the last; the lanes' ends come last. */
static bool add_edges(struct run *run, u32 steps, struct place *place, const u32 *end)
{
	u32 nr = run->nr_lanes;
	u64 last = 0, all = sum(end, nr);
	bool ok = add_edge(run, place->pos, 0);

	for (u32 i = 0; ok && nr && i < run->lanes[0].nr_seams; i++) {
		if (!find_place(run, i, place) || sum(place->pos, nr) - last < steps ||
		    sum(place->pos, nr) == all)
			continue;
		last = sum(place->pos, nr);
		ok = add_edge(run, place->pos, ++run->nr_windows);
	}
	return ok && add_edge(run, end, ++run->nr_windows);
}

bool run_cut(struct run *run, u32 steps, struct error *err)
{
	u32 nr = run->nr_lanes;
	u32 *scratch = calloc(3 * (size_t)nr + 1, sizeof(u32));
	struct place place = { scratch, scratch + nr };
	u32 *end = scratch + 2 * nr;
	u64 all = 0;
	bool ok;

	run->nr_windows = 0;
	run->window = NONE;
	for (u32 l = 0; scratch && l < nr; l++) {
		all += run->lanes[l].steps;
		end[l] = (u32)run->lanes[l].steps;
	}
	ok = all < UINT32_MAX ||
	     error_set(err, "%.160s: %llu steps are too many to be shown (counts takes any number)",
		       run->scenario->file, (unsigned long long)all);
	ok = ok && ((scratch && add_edges(run, steps, &place, end)) || error_no_memory(err));
	free(scratch);
	return ok;
}

static bool take_whole(void *ctx, struct trace *t)
{
	*(struct trace **)ctx = t;
	return false;
}

static bool record_window(const struct run *run, u32 window, struct trace **trace)
{
	bool ok = true;

	/* each from the step on that leads to where its part begins */
	for (u32 l = 0; ok && l < run->nr_lanes; l++) {
		u32 from = run_edge(run, window, l);

		ok = lane_record(&run->lanes[l], from - (from > 0), run_edge(run, window + 1, l),
				 UINT32_MAX, take_whole, &trace[l]);
	}
	return ok;
}

bool run_show(struct run *run, u32 window)
{
	struct trace **trace;
	struct align *align = NULL;

	if (window == run->window)
		return true;
	trace = calloc((size_t)run->nr_lanes + 1, sizeof(*trace));
	if (trace && record_window(run, window, trace))
		align = align_part((const struct trace *const *)trace, run->nr_lanes,
				   run->edge + (size_t)window * run->nr_lanes,
				   run_first_tick(run, window));
	for (u32 l = 0; trace && l < run->nr_lanes; l++) {
		struct lane *lane = &run->lanes[l];

		trace_free(lane->spare);
		lane->spare = align ? lane->trace : trace[l];
		if (align)
			lane->trace = trace[l];
	}
	free(trace);
	if (!align)
		return false;
	align_free(run->align);
	run->align = align;
	run->window = window;
	return true;
}

u32 run_first_tick(const struct run *run, u32 window)
{
	return (u32)sum(run->edge + (size_t)window * run->nr_lanes, run->nr_lanes);
}

u32 run_last_tick(const struct run *run)
{
	if (run->nr_windows == 1)
		return align_last_tick(run->align);
	return run_first_tick(run, run->nr_windows);
}

u32 run_window_at(const struct run *run, u32 tick)
{
	u32 low = 0, high = run->nr_windows;

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (run_first_tick(run, mid) < tick)
			low = mid;
		else
			high = mid;
	}
	return low;
}

u32 run_window_of(const struct run *run, u32 lane, u32 pos)
{
	u32 low = 0, high = run->nr_windows;

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (run_edge(run, mid, lane) < pos)
			low = mid;
		else
			high = mid;
	}
	return low;
}
