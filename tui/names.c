/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "scenario/ops.h"

const char *const level_names[] = {
	[LEVEL_INTRO] = "intro", [LEVEL_CORE] = "core", [LEVEL_DEEP] = "deep",
};

static const char *name_of_folio(const void *ctx, u32 folio, char *buf)
{
	return folio_name(ctx, folio, buf);
}

static const char *name_of_mm(const void *ctx, u32 mm)
{
	const struct scenario *s = ctx;

	return mm < s->nr_mms ? s->mms[mm].id : "?";
}

static const char *name_of_device(const void *ctx, u32 device)
{
	const struct scenario *s = ctx;

	return device < s->nr_devices ? s->devices[device].id : "?";
}

static const char *name_of_op(const void *ctx, u32 op)
{
	const struct scenario *s = ctx;

	return op < s->nr_ops ? s->ops[op].op->name : "?";
}

struct names scenario_names(const struct scenario *s)
{
	return (struct names){
		.ctx = s, .folio = name_of_folio, .mm = name_of_mm,
		.device = name_of_device, .op = name_of_op,
	};
}

const char *lane_remark(const struct scn_lane *lane, char *buf, size_t size)
{
	snprintf(buf, size, "%s", lane->kernel->proposed ? "proposed" : "");
	for (u32 i = 0; i < NR_BUGS; i++) {
		size_t len = strlen(buf);

		if (lane->bugs >> i & 1)
			snprintf(buf + len, size - len, "%sbug %s", len ? ", " : "",
				 bug_infos[i].name);
	}
	return buf;
}

void print_proposed(const struct scenario *s)
{
	bool proposed = false;

	for (u32 i = 0; i < s->nr_lanes; i++)
		proposed |= s->lanes[i].kernel->proposed;
	if (!proposed)
		return;
	puts("proposed: a series that was posted and is in no release; its counts were\n"
	     "checked on a reconstructed kernel.");
	for (u32 i = 0; i < s->nr_lanes; i++)
		if (s->lanes[i].kernel->unchecked)
			printf("Not those of %s: it follows a description alone.\n",
			       s->lanes[i].name);
}

void write_kernel(struct json_out *o, const struct scn_lane *lane)
{
	json_string(o, "kernel", lane->kernel->name);
	json_bool(o, "proposed", lane->kernel->proposed);
	json_array(o, "bugs");
	for (u32 i = 0; i < NR_BUGS; i++)
		if (lane->bugs >> i & 1)
			json_string(o, NULL, bug_infos[i].name);
	json_close(o);
}
