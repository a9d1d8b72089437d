/* SPDX-License-Identifier: GPL-2.0-only */
/* What the things in a state are called, from the scenario that placed them. */
#ifndef NAMES_H
#define NAMES_H

#include "out.h"
#include "scenario/run.h"
#include "trace/narrate.h"

/* For narrate() and describe_step(); valid as long as the scenario. */
struct names scenario_names(const struct scenario *s);

/* Why not to take a lane for a release: "proposed", "bug put_swap_forgotten", both, or "". */
const char *lane_remark(const struct scn_lane *lane, char *buf, size_t size);
/* A line below a table of lanes, where one of them is proposed. */
void print_proposed(const struct scenario *s);
/* The same as members of an object: "kernel", "proposed", "bugs". */
void write_kernel(struct json_out *o, const struct scn_lane *lane);

extern const char *const level_names[];		/* by enum level */

#endif
