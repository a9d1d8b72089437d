/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CPU's cache of swap slots for small folios, 6.1 and 6.12: it is filled with 64 slots in
 * one go, and a slot that is freed alone waits in it until 64 go back together.
 *
 *	clusters --get_swap_pages()--> slots[] --folio_alloc_swap()--> a folio
 *	    ^                                                             v
 *	    '--swapcache_free_entries()-- slots_ret[] <--free_swap_slot()-'
 *
 * All of them count as in use and have SWAP_HAS_CACHE in swap_map.
 */
#include "mm/internal.h"

#define THRESHOLD_ACTIVATE_SWAP_SLOTS_CACHE	(5 * SWAP_SLOTS_CACHE_SIZE)
#define THRESHOLD_DEACTIVATE_SWAP_SLOTS_CACHE	(2 * SWAP_SLOTS_CACHE_SIZE)

static const struct slot_cache *this_slot_cache(const struct machine *m)
{
	return m->slot_cache + m->s->cpu;
}

/* mm/swap_slots.c:drain_slots_cache_cpu */
static void drain_slots_cache_cpu(struct machine *m, const struct slot_cache *cache)
{
	swapcache_free_entries(m, cache->slots + cache->cur, cache->nr);
	put(m, &cache->cur, 0);
	put(m, &cache->nr, 0);
	swapcache_free_entries(m, cache->slots_ret, cache->n_ret);
	put(m, &cache->n_ret, 0);
}

/* mm/swap_slots.c:check_cache_active: 64 slots for each CPU must not be all that is left. */
static bool check_cache_active(struct machine *m)
{
	u32 pages = nr_swap_pages(m), nr_cpus = m->s->nr[ARRAY_CPU];

	if (!m->s->slot_cache_active) {
		if (pages > nr_cpus * THRESHOLD_ACTIVATE_SWAP_SLOTS_CACHE)
			put(m, &m->s->slot_cache_active, 1);
	} else if (pages < nr_cpus * THRESHOLD_DEACTIVATE_SWAP_SLOTS_CACHE) {
		put(m, &m->s->slot_cache_active, 0);
		step(m, EV_slot_caches_drained, NONE, 0);
		for (u32 i = 0; i < nr_cpus; i++)
			drain_slots_cache_cpu(m, m->slot_cache + i);
	}
	return m->s->slot_cache_active;
}

/* mm/swap_slots.c:refill_swap_slots_cache */
static void refill_swap_slots_cache(struct machine *m, const struct folio *folio)
{
	const struct slot_cache *cache = this_slot_cache(m);
	u32 slots[SWAP_SLOTS_CACHE_SIZE];
	u32 nr = get_swap_pages(m, folio, SWAP_SLOTS_CACHE_SIZE, slots);

	for (u32 i = 0; i < nr; i++)
		put(m, &cache->slots[i], slots[i]);
	put(m, &cache->cur, 0);
	put(m, &cache->nr, nr);
	step(m, EV_slot_cache_filled, folio->page, nr);
}

static u32 take_cached_slot(struct machine *m, const struct folio *folio)
{
	const struct slot_cache *cache = this_slot_cache(m);
	u32 slot;

	if (!cache->nr)
		refill_swap_slots_cache(m, folio);
	if (!cache->nr)
		return NONE;
	slot = cache->slots[cache->cur];
	put(m, &cache->slots[cache->cur], 0);
	put(m, &cache->cur, cache->cur + 1);
	put(m, &cache->nr, cache->nr - 1);
	step(m, EV_slot_cache_taken, folio->page, slot);
	return slot;
}

u32 swap_alloc_cached(struct machine *m, const struct folio *folio)
{
	u32 slot = NONE;

	if (!folio_test_large(folio) && check_cache_active(m))
		slot = take_cached_slot(m, folio);
	if (slot == NONE && !get_swap_pages(m, folio, 1, &slot))
		return NONE;
	return slot;
}

/* mm/swap_slots.c:free_swap_slot */
__mirrored void free_swap_slot(struct machine *m, u32 slot)
{
	const struct slot_cache *cache = this_slot_cache(m);

	enter(m, EV_free_swap_slot, NONE, slot);
	if (cache->n_ret == SWAP_SLOTS_CACHE_SIZE) {
		swapcache_free_entries(m, cache->slots_ret, cache->n_ret);
		put(m, &cache->n_ret, 0);
	}
	put(m, &cache->slots_ret[cache->n_ret], slot);
	put(m, &cache->n_ret, cache->n_ret + 1);
	step(m, EV_slot_cache_returned, NONE, slot);
}
