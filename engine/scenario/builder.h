/* SPDX-License-Identifier: GPL-2.0-only */
/* The state while a world is being laid out in it: for world.c and world_entries.c alone. */
#ifndef SCENARIO_BUILDER_H
#define SCENARIO_BUILDER_H

#include "arch/arch.h"
#include "scenario/run.h"

/* The block while it is being filled, writable. */
struct builder {
	const struct scenario *s;
	const struct arch *arch;
	const struct kernel *kernel;
	struct mm_state *state;
	struct vma *vmas; /* before they are in the block */
	u32 nr_vmas;
	u64 *ranges; /* first PMD range of each table */
	u32 *range_mm;
	u32 nr_tables;
};

#define WRITABLE(type, b, accessor, i) ((type *)(uintptr_t)accessor((b)->state, i))
static inline struct folio *folio_at(struct builder *b, u32 i)
{
	return WRITABLE(struct folio, b, state_folio, i);
}
/* Its turn comes soon. The folios of a large world are not in any cache. */
static inline void folio_ahead(struct builder *b, u32 i)
{
	__builtin_prefetch(folio_at(b, i + 16), 1);
}
static inline struct page *page_at(struct builder *b, u32 i)
{
	return WRITABLE(struct page, b, state_page, i);
}
static inline struct slot *slot_at(struct builder *b, u32 i)
{
	return WRITABLE(struct slot, b, state_slot, i);
}
static inline struct mm *mm_at(struct builder *b, u32 i)
{
	return WRITABLE(struct mm, b, state_mm, i);
}
/* Slots and clusters are numbered through all devices alike. */
static inline struct cluster *cluster_of(struct builder *b, u32 slot)
{
	return WRITABLE(struct cluster, b, state_cluster, slot / SWAPFILE_CLUSTER);
}

/* A slot is this from now on, and in use. */
void use_slot(struct builder *b, u32 slot, u32 order, u32 kind);
/* world.slots */
bool place_slots(struct builder *b, struct error *err);
/* world.entries, behind the maps */
bool place_entries(struct builder *b, struct error *err);

/* world.tlbs, when all else is there */
bool place_tlbs(struct machine *m, const struct scenario *s, struct error *err);

/* A world that cannot be: where in the file, and why. Always false. */
bool fail_at(struct error *err, const struct scenario *s, struct scn_place at, const char *list,
	     size_t index, const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
