/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/state.h"

const char *const folio_flag_names[NR_FOLIO_FLAGS] = {
#define FOLIO_FLAG(id, name) [PG_##id] = name,
#include "core/folio_flags.def"
#undef FOLIO_FLAG
};

const char *const phase_names[NR_PHASES] = {
#define PHASE(id, name, text) [PHASE_##id] = name,
#include "core/phases.def"
#undef PHASE
};

const char *const counter_names[NR_COUNTERS] = {
#define COUNTER(id, text) [COUNT_##id] = #id,
#include "core/counters.def"
#undef COUNTER
};
