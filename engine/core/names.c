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

const char *const list_names[NR_LISTS] = {
	[LRU_INACTIVE_ANON] = "inactive_anon", [LRU_ACTIVE_ANON] = "active_anon",
	[LRU_INACTIVE_FILE] = "inactive_file", [LRU_ACTIVE_FILE] = "active_file",
	[LRU_UNEVICTABLE] = "unevictable", [LIST_FOLIO_LIST] = "folio_list",
	[LIST_NODE] = "node_folio_list", [LIST_HOLD] = "l_hold", [LIST_INACTIVE] = "l_inactive",
	[LIST_ACTIVE] = "l_active",
	[LIST_PUT] = "put_folios",
	[LIST_RET] = "ret_folios", [LIST_PAGEOUT] = "pageout_folios", [LIST_FREE] = "free_folios",
};

const char *const slot_kind_names[NR_SLOT_KINDS] = {
	[SLOT_FREE] = "free", [SLOT_FOLIO] = "folio", [SLOT_SHADOW] = "shadow", [SLOT_BAD] = "bad",
	[SLOT_RESERVED] = "reserved",
};
