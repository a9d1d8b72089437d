/* SPDX-License-Identifier: GPL-2.0-only */
#include "core/slot.h"

/* mm/swap_table.h (7.3) */
#define SWP_TB_COUNT_SHIFT	60
#define SWP_TB_ZERO_FLAG	(1ull << 59)
#define SWP_TB_PFN_MARK		2u
#define SWP_TB_SHADOW_MARK	1u
#define SWP_TB_BAD		(~0ull << 3)

static u64 table_word(const struct mm_state *s, const struct slot *slot)
{
	u64 count = slot->count < SWP_TB_COUNT_MAX ? slot->count : SWP_TB_COUNT_MAX;
	u64 flags = count << SWP_TB_COUNT_SHIFT | (slot->zero ? SWP_TB_ZERO_FLAG : 0);

	switch (slot->kind) {
	case SLOT_FOLIO:
		return flags | (u64)state_folio(s, slot->folio)->pfn << 2 | SWP_TB_PFN_MARK;
	case SLOT_SHADOW:
		return flags | SWP_TB_SHADOW_MARK;
	case SLOT_BAD:
		return SWP_TB_BAD;
	}
	return 0;
}

/* A count above SWAP_MAP_MAX goes on, in digits of base 63, in a page of its own. */
static u64 map_byte(const struct slot *slot)
{
	bool cached = slot->kind == SLOT_FOLIO || slot->kind == SLOT_RESERVED;
	u32 byte = slot->count;

	if (slot->kind == SLOT_BAD)
		return SWAP_MAP_BAD;
	if (slot->count > SWAP_MAP_MAX)
		byte = COUNT_CONTINUED | slot->count % (SWAP_MAP_MAX + 1);
	return byte | (cached ? SWAP_HAS_CACHE : 0);
}

u64 slot_raw(const struct mm_state *s, const struct kernel *kernel, u32 slot)
{
	const struct slot *entry = state_slot(s, slot);

	return kernel->swap_slots == SLOTS_TABLE ? table_word(s, entry) : map_byte(entry);
}

const char *slot_place(const struct kernel *kernel)
{
	return kernel->swap_slots == SLOTS_TABLE ? "swap table" : "swap_map";
}

int slot_digits(const struct kernel *kernel)
{
	return kernel->swap_slots == SLOTS_TABLE ? 16 : 2;
}
