/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "core/event.h"

const struct event_info event_info[NR_EVENTS] = {
#define FUNCTION(function, file_, fidelity_, text_, why_)				\
	[EV_##function] = { .name = #function, .file = file_, .fidelity = fidelity_,	\
			    .text = text_, .why = why_ },
#include "core/functions.def"
#undef FUNCTION
#define EVENT(id, name_, text_, why_)							\
	[EV_##id] = { .name = name_, .text = text_, .why = why_ },
#include "core/events.def"
#undef EVENT
};

enum event event_find(const char *name)
{
	for (u32 i = 0; i < NR_EVENTS; i++)
		if (event_info[i].name && strcmp(event_info[i].name, name) == 0)
			return (enum event)i;
	return NR_EVENTS;
}
