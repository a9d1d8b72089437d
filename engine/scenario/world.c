/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a checked scenario to the state at step 0.
 *
 *	maps   -> VMAs (where none are given) -> page tables -> PTEs and all counts
 *	folios -> folio[] sorted by page frame, page[] behind it
 *	swap   -> devices, clusters, slots
 *
 * Placing the world costs no step and no counter: it writes the block directly.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mm/internal.h"
#include "scenario/builder.h"
#include "scenario/json.h"
#include "scenario/ops.h"

static u64 map_pages(const struct scenario *s, const struct scn_map *map)
{
	return (u64)(map->last - map->first + 1) * s->folios[map->folio].count;
}

u32 scn_folio_state(const struct scenario *s, u32 folio)
{
	return s->folios[folio].state;
}

bool fail_at(struct error *err, const struct scenario *s, struct scn_place at, const char *list,
	     size_t index, const char *format, ...)
{
	char pointer[64];
	va_list args;

	snprintf(pointer, sizeof(pointer), "/world/%s/%zu", list, index);
	va_start(args, format);
	error_vat(err, s->file, at, pointer, format, args);
	va_end(args);
	return false;
}

/* --- shape ---------------------------------------------------------------- */

static bool vma_given(const struct scenario *s, u32 mm, u64 start, u64 end)
{
	for (u32 i = 0; i < s->nr_vmas; i++)
		if (s->vmas[i].mm == mm && s->vmas[i].start <= start && end <= s->vmas[i].end)
			return true;
	return false;
}

/* Of what a VMA is that maps a folio. */
static u32 vma_kind(const struct scn_folio *folio)
{
	return folio->shmem ? VM_SHMEM : folio->file ? VM_FILE : 0;
}

/* VM_SHMEM or VM_FILE where that is mapped. */
static u32 file_flag(const struct scenario *s, u32 mm, u64 start, u64 end)
{
	for (u32 i = 0; i < s->nr_maps; i++) {
		u32 kind = vma_kind(&s->folios[s->maps[i].folio]);

		if (kind && s->maps[i].mm == mm && s->maps[i].va >= start && s->maps[i].va < end)
			return kind;
	}
	return 0;
}

/* For a map or an entry that is in no VMA of the file; from says which, as in fail_vma(). */
static void add_vma(struct builder *b, u32 mm, u64 va, u64 pages, u32 from)
{
	u64 end = va + pages * PAGE_SIZE;

	if (!vma_given(b->s, mm, va, end))
		b->vmas[b->nr_vmas++] = (struct vma){ .start = va,
						      .end = end,
						      .mm = mm,
						      .table = from,
						      .flags = VM_WRITE |
							       file_flag(b->s, mm, va, end),
						      .pgoff = va >> PAGE_SHIFT };
}

static int vma_order(const void *a, const void *b)
{
	const struct vma *x = a, *y = b;

	if (x->mm != y->mm)
		return x->mm < y->mm ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Until the tables are made, vma->table says where a VMA comes from: vmas, maps or entries. */
static bool fail_vma(const struct builder *b, const struct vma *vma, const char *text,
		     struct error *err)
{
	const struct scenario *s = b->s;
	u32 map = vma->table - s->nr_vmas, entry = map - s->nr_maps;

	if (vma->table < s->nr_vmas)
		return fail_at(err, s, s->vmas[vma->table].at, "vmas", vma->table, "%s", text);
	if (map < s->nr_maps)
		return fail_at(err, s, s->maps[map].at, "maps", map, "%s", text);
	return fail_at(err, s, s->entries[entry].at, "entries", entry, "%s", text);
}

/* Given VMAs, and one for each stretch of adjacent maps and entries outside them. */
static bool make_vmas(struct builder *b, struct error *err)
{
	const struct scenario *s = b->s;
	u32 nr, out = 0;

	b->vmas = calloc((size_t)s->nr_vmas + s->nr_maps + s->nr_entries + 1, sizeof(*b->vmas));
	if (!b->vmas)
		return error_no_memory(err);
	for (u32 i = 0; i < s->nr_vmas; i++)
		b->vmas[b->nr_vmas++] = (struct vma){ .start = s->vmas[i].start,
						      .end = s->vmas[i].end,
						      .pgoff = s->vmas[i].pgoff,
						      .mm = s->vmas[i].mm,
						      .table = i,
						      .flags = s->vmas[i].flags |
							       file_flag(s, s->vmas[i].mm,
									  s->vmas[i].start,
									  s->vmas[i].end) };
	for (u32 i = 0; i < s->nr_maps; i++)
		add_vma(b, s->maps[i].mm, s->maps[i].va, map_pages(s, &s->maps[i]),
			s->nr_vmas + i);
	for (u32 i = 0; i < s->nr_entries; i++)
		add_vma(b, s->entries[i].mm, s->entries[i].va, s->entries[i].pages,
			s->nr_vmas + s->nr_maps + i);
	nr = b->nr_vmas;
	if (nr)
		qsort(b->vmas, nr, sizeof(*b->vmas), vma_order);
	for (u32 i = 0; i < nr; i++) {
		struct vma *last = out ? &b->vmas[out - 1] : NULL;

		if (last && last->mm == b->vmas[i].mm && b->vmas[i].start < last->end)
			return fail_vma(b, &b->vmas[i],
					"expected addresses of its own: another "
					"mapping of the same mm reaches into it",
					err);
		if (last && last->mm == b->vmas[i].mm && b->vmas[i].start == last->end &&
		    last->flags == b->vmas[i].flags && !s->nr_vmas)
			last->end = b->vmas[i].end;
		else
			b->vmas[out++] = b->vmas[i];
	}
	b->nr_vmas = out;
	return true;
}

/* The mm of the world that an mm descends from. */
static u32 first_ancestor(const struct scenario *s, u32 mm)
{
	while (s->mms[mm].forked)
		mm = s->mms[mm].parent;
	return mm;
}

/* VMAs that an mm of the world begins with, and the PMD ranges that they touch. */
static u32 count_vmas(const struct builder *b, u32 mm, size_t *ranges)
{
	u32 nr = 0;

	for (u32 i = 0; i < b->nr_vmas; i++) {
		if (b->vmas[i].mm != mm)
			continue;
		*ranges += (size_t)(((b->vmas[i].end - 1) >> PMD_SHIFT) -
				    (b->vmas[i].start >> PMD_SHIFT) + 1);
		nr++;
	}
	return nr;
}

/* A child may have all that its first ancestor has had, and has a table for each. */
static void add_child_tables(struct builder *b, u32 mm)
{
	u32 nr = b->nr_tables;

	for (u32 i = 0; i < nr; i++) {
		if (b->range_mm[i] != first_ancestor(b->s, mm))
			continue;
		b->ranges[b->nr_tables] = b->ranges[i];
		b->range_mm[b->nr_tables++] = mm;
	}
}

/* One table for each PMD range that a VMA touches; neighbours may share one. */
static bool make_tables(struct builder *b, struct error *err)
{
	size_t max = 0;

	for (u32 i = 0; i < b->s->nr_mms; i++)
		count_vmas(b, first_ancestor(b->s, i), &max);
	if (max > 1u << 20)
		return fail_vma(b, &b->vmas[b->nr_vmas - 1],
				"expected at most 1048576 page tables in all", err);
	b->ranges = calloc(max + 1, sizeof(*b->ranges));
	b->range_mm = calloc(max + 1, sizeof(*b->range_mm));
	if (!b->ranges || !b->range_mm)
		return error_no_memory(err);
	for (u32 i = 0; i < b->nr_vmas; i++) {
		struct vma *vma = &b->vmas[i];
		u64 range = vma->start >> PMD_SHIFT, end = (vma->end - 1) >> PMD_SHIFT;
		u32 n = b->nr_tables;

		if (n && b->range_mm[n - 1] == vma->mm && b->ranges[n - 1] == range)
			n--;
		vma->table = n;
		for (; range <= end; range++) {
			b->ranges[n] = range;
			b->range_mm[n++] = vma->mm;
		}
		b->nr_tables = n;
	}
	for (u32 i = 0; i < b->s->nr_mms; i++)
		if (b->s->mms[i].forked)
			add_child_tables(b, i);
	return true;
}

/* Entries of vma[] that stand ready for what the script may split ... */
static u32 spare_vmas(const struct scenario *s)
{
	u32 nr = 0;

	for (u32 i = 0; i < s->nr_ops; i++)
		nr += s->ops[i].op->splits_vmas;
	return nr;
}

/* ... and for children, who have what their ancestors have, split or not. */
static u32 children_vmas(const struct builder *b)
{
	size_t ranges = 0;
	u32 nr = 0;

	for (u32 i = 0; i < b->s->nr_mms; i++)
		if (b->s->mms[i].forked)
			nr += count_vmas(b, first_ancestor(b->s, i), &ranges) + spare_vmas(b->s);
	return nr;
}

static void set_shape(const struct builder *b, struct mm_state *shape)
{
	const struct scenario *s = b->s;

	memset(shape, 0, sizeof(*shape));
	shape->nr_tlb = s->tlb_entries;
	shape->nr[ARRAY_CPU] = shape->nr[ARRAY_TASK] = s->cpus;
	shape->nr[ARRAY_MM] = s->nr_mms;
	shape->nr[ARRAY_ANON_VMA] = b->nr_vmas + children_vmas(b);
	shape->nr[ARRAY_VMA] = shape->nr[ARRAY_ANON_VMA] + spare_vmas(s);
	shape->nr[ARRAY_TABLE] = b->nr_tables;
	shape->nr[ARRAY_PTE] = b->nr_tables * PTRS_PER_PTE;
	shape->nr[ARRAY_DEVICE] = s->nr_devices;
	if (b->kernel->swap_alloc == ALLOC_SLOT_CACHE)
		shape->nr[ARRAY_SLOT_CACHE] = s->cpus;
	shape->nr[ARRAY_TLB] = s->cpus * s->tlb_entries;
	for (u32 i = 0; i < s->nr_folios; i++) {
		shape->nr_placed += s->folios[i].count;
		shape->nr[ARRAY_PAGE] += s->folios[i].count << s->folios[i].order;
	}
	shape->nr[ARRAY_FOLIO] = shape->nr[ARRAY_PAGE];
	for (u32 i = 0; i < s->nr_devices; i++) {
		shape->nr[ARRAY_SLOT] += s->devices[i].slots;
		shape->nr[ARRAY_CLUSTER] += s->devices[i].slots / SWAPFILE_CLUSTER;
	}
	state_layout(shape);
}

/* --- filling ---------------------------------------------------------------- */

static void list_add_head(struct builder *b, u32 i, enum folio_list to)
{
	struct list *list = &b->state->list[to];
	struct folio *folio = folio_at(b, i);

	folio->list = (u8)to;
	folio->prev = NONE;
	folio->next = list->first;
	if (list->first == NONE)
		list->last = i;
	else
		folio_at(b, list->first)->prev = i;
	list->first = i;
	list->nr++;
}

static void place_devices(struct builder *b)
{
	u32 slot = 0, cluster = 0;

	for (u32 i = 0; i < b->s->nr_devices; i++) {
		struct swap_device *si = WRITABLE(struct swap_device, b, state_device, i);

		*si = (struct swap_device){ .type = i,
					    .kind = b->s->devices[i].kind,
					    .first_slot = slot,
					    .nr_slots = b->s->devices[i].slots,
					    .first_cluster = cluster,
					    .nr_clusters =
						    b->s->devices[i].slots / SWAPFILE_CLUSTER };
		for (u32 n = 0; n < si->nr_slots; n++)
			slot_at(b, slot + n)->folio = NONE;
		slot_at(b, slot)->kind = SLOT_BAD;
		WRITABLE(struct cluster, b, state_cluster, cluster)->count = 1;
		slot += si->nr_slots;
		cluster += si->nr_clusters;
	}
}

void use_slot(struct builder *b, u32 slot, u32 order, u32 kind)
{
	struct swap_device *si =
		WRITABLE(struct swap_device, b, state_device, slot_device(b->state, slot));
	struct cluster *ci = cluster_of(b, slot);

	if (slot_at(b, slot)->kind == SLOT_FREE) {
		ci->count++;
		si->inuse++;
		ci->order = order;
	}
	slot_at(b, slot)->kind = (u8)kind;
}

static struct folio no_folio(u32 pfn, u32 page)
{
	return (struct folio){ .pfn = pfn,
			       .page = page,
			       .swap = NONE,
			       .anon_vma = NONE,
			       .list = LIST_NONE,
			       .next = NONE,
			       .prev = NONE };
}

/* Each page knows its folio; entries of folio[] stand ready for the tail pages. */
static void place_tails(struct builder *b, u32 i)
{
	const struct folio *folio = folio_at(b, i);
	u32 tail = b->state->nr_placed + folio->page - i;

	page_at(b, folio->page)->folio = i;
	for (u32 n = 1; n < folio_nr_pages(folio); n++) {
		page_at(b, folio->page + n)->folio = i;
		*folio_at(b, tail++) = no_folio(folio->pfn + n, folio->page + n);
	}
}

static void place_folio(struct builder *b, const struct scn_folio *spec, u32 i, u32 k, u32 page)
{
	struct folio *folio = folio_at(b, i);
	u32 nr = 1u << spec->order;

	*folio = no_folio(spec->pfn + k * nr, page);
	folio->order = (u8)spec->order;
	folio->flags = spec->flags | (vma_kind(spec) ? 1u << PG_pagecache : 1u << PG_anon) |
		       (u32)!(spec->lazyfree || spec->file) << PG_swapbacked | 1u << PG_uptodate |
		       (u32)spec->zero_filled << PG_zero_filled;
	folio->pincount = spec->pins;
	folio->gup = spec->refs + spec->pins * folio_pin_refs(folio);
	folio->refcount = folio->gup + (vma_kind(spec) ? nr : 0);
	if (spec->isolated) {
		folio->flags |= 1u << PG_isolated;
		folio->refcount++;
	} else {
		folio->flags |= 1u << PG_lru;
	}
	if (spec->device != NONE) {
		folio->swap =
			state_device(b->state, spec->device)->first_slot + spec->slot + k * nr;
		folio->flags |= 1u << PG_swapcache;
		folio->refcount += nr;
		for (u32 n = 0; n < nr; n++) {
			use_slot(b, folio->swap + n, spec->order, SLOT_FOLIO);
			slot_at(b, folio->swap + n)->folio = i;
		}
	}
}

static bool slots_are_free(struct builder *b, const struct scn_folio *spec)
{
	u32 nr = spec->count << spec->order;

	if (spec->device == NONE)
		return true;
	for (u32 n = 0; n < nr; n++)
		if (slot_at(b, state_device(b->state, spec->device)->first_slot + spec->slot + n)
			    ->kind != SLOT_FREE)
			return false;
	return true;
}

static void place_zeroes(struct builder *b, const struct scn_folio *spec, u32 page)
{
	for (u32 n = 0; n < 1u << spec->order; n++)
		page_at(b, page + n)->zero =
			spec->zero_filled || (spec->zeroes_first != NONE &&
					      spec->zeroes_first <= n && n <= spec->zeroes_last);
}

static bool place_folios(struct builder *b, struct error *err)
{
	const struct scenario *s = b->s;
	const struct scn_folio *last = NULL;
	u32 i = 0, page = 0;
	u64 end = 0;

	for (u32 n = 0; n < s->nr_folios; n++) {
		const struct scn_folio *spec = &s->folios[s->by_pfn[n]];

		if (spec->pfn < end)
			return fail_at(err, s, spec->at, "folios", s->by_pfn[n],
				       "expected free page frames: 0x%x is inside \"%s\"",
				       spec->pfn, last->id);
		if (ZERO_PFN - spec->pfn < spec->count << spec->order)
			return fail_at(err, s, spec->at, "folios", s->by_pfn[n],
				       "expected other page frames: 0x%x is the shared zero page",
				       ZERO_PFN);
		if (b->kernel->anon_orders == ORDERS_PAGE_PMD && !vma_kind(spec) && spec->order &&
		    1u << spec->order != PTRS_PER_PTE)
			return fail_at(err, s, spec->at, "folios", s->by_pfn[n],
				       "expected one page or 512: kernel %s has no other "
				       "anonymous folios",
				       b->kernel->name);
		if (!slots_are_free(b, spec))
			return fail_at(err, s, spec->at, "folios", s->by_pfn[n],
				       "expected swap slots that no other folio is in");
		for (u32 k = 0; k < spec->count; k++) {
			place_folio(b, spec, i, k, page);
			place_tails(b, i++);
			place_zeroes(b, spec, page);
			page += 1u << spec->order;
		}
		end = spec->pfn + ((u64)spec->count << spec->order);
		last = spec;
		b->state->has_shmem |= spec->shmem;
		b->state->has_file |= spec->file;
	}
	return true;
}

static bool is_migrating(const struct scenario *s, u32 folio)
{
	for (u32 i = 0; i < s->nr_entries; i++)
		if (s->entries[i].kind == ENTRY_MIGRATION && s->entries[i].folio == folio)
			return true;
	return false;
}

/* What unmapping its other pages has left behind: it waits to be split. */
static bool waits_for_split(const struct folio *folio)
{
	return folio_flag(folio, PG_anon) && folio->order > 1 && folio->nr_pages_mapped &&
	       folio->nr_pages_mapped < folio_nr_pages(folio) && !folio_flag(folio, PG_swapcache);
}

/*
 * The first in the file is the oldest: new folios enter their list at its head. Whom nobody
 * holds is free memory.
 */
static void place_lists(struct builder *b)
{
	for (u32 n = 0; n < b->s->nr_folios; n++) {
		const struct scn_folio *spec = &b->s->folios[n];

		for (u32 k = 0; k < spec->count; k++) {
			struct folio *folio = folio_at(b, spec->state + k);

			folio_ahead(b, spec->state + k);
			if (!folio->refcount && !is_migrating(b->s, n)) {
				folio->flags &= 1u << PG_zero_filled;
				continue;
			}
			if (waits_for_split(folio))
				folio->flags |= 1u << PG_partially_mapped | 1u << PG_deferred_list;
			list_add_head(b, spec->state + k,
				      spec->isolated ? LIST_FOLIO_LIST : folio_lru_list(folio));
		}
	}
}

/* ops: of a PTE or of a huge PMD */
static pte_t make_pte(const struct pte_ops *ops, const struct vma *vma, const struct scn_map *map,
		      u64 pfn)
{
	pte_t pte = ops->pfn_pte(pfn, vm_page_prot(vma));

	if (map->dirty)
		pte = ops->mkdirty(pte);
	if (map->write)
		pte = ops->mkwrite(pte);
	if (!map->young)
		pte = ops->mkold(pte);
	if (ops->has_soft_dirty)
		pte = map->soft_dirty ? ops->mksoft_dirty(pte) : ops->clear_soft_dirty(pte);
	return map->uffd ? ops->mkuffd(pte) : pte;
}

/* What stands in the PTE while a device has the page to itself. */
static pte_t make_device_pte(const struct builder *b, const struct scn_map *map, u64 pfn)
{
	const struct pte_ops *ops = b->arch->pte;
	pte_t pte = make_device_exclusive_entry(ops, &b->kernel->types, pfn, map->write);

	if (ops->has_soft_dirty && map->soft_dirty)
		pte = ops->swp_mksoft_dirty(pte);
	return map->uffd ? ops->swp_mkuffd(pte) : pte;
}

/* The block of 16 around this page is mapped whole, aligned, and belongs to one folio. */
static bool folds(const struct builder *b, const struct scn_map *map, u64 va, u64 pfn, u32 page)
{
	u32 in_block = (u32)(va >> PAGE_SHIFT) % 16;

	return b->arch->pte->has_cont && b->kernel->contpte != CONTPTE_NONE && map->fold &&
	       !map->device_exclusive && pfn % 16 == in_block && page >= map->first + in_block &&
	       page - in_block + 15 <= map->last;
}

static bool fail_exclusive(const struct builder *b, const struct scn_map *map, u32 page,
			   struct error *err)
{
	return fail_at(err, b->s, map->at, "maps", (size_t)(map - b->s->maps),
		       "expected \"exclusive\": false in each map of page %u, "
		       "which is mapped more than once",
		       page);
}

static bool place_page(struct builder *b, const struct scn_map *map, u32 i, u32 n, u64 va,
		       struct error *err)
{
	struct folio *folio = folio_at(b, i);
	struct page *page = page_at(b, folio->page + n);
	const struct vma *vma = state_vma(b->state, va_vma(b->state, map->mm, va));
	u32 at = vma_pte(vma, va);
	u64 *pte = WRITABLE(u64, b, state_pte, at);

	if (*pte || state_table(b->state, at / PTRS_PER_PTE)->pmd)
		return fail_at(err, b->s, map->at, "maps", (size_t)(map - b->s->maps),
			       "expected a free address: \"%s\" maps 0x%llx already",
			       b->s->mms[map->mm].id, (unsigned long long)va);
	if ((vma->flags & (VM_SHMEM | VM_FILE)) != vma_kind(&b->s->folios[map->folio]))
		return fail_at(err, b->s, map->at, "maps", (size_t)(map - b->s->maps),
			       "expected a VMA of its own: \"%s\" and what else is mapped there "
			       "are not both anonymous, shared memory or of a file on a disk",
			       b->s->folios[map->folio].id);
	if (map->uffd && !vma_is_anonymous(vma) && !(vma->flags & VM_UFFD_WP))
		return fail_at(err, b->s, map->at, "maps", (size_t)(map - b->s->maps),
			       "expected \"uffd\": false, or a VMA with uffd_wp: \"%s\" is of a "
			       "file",
			       b->s->folios[map->folio].id);
	if ((page->mapcount && page->anon_exclusive) ||
	    (folio->entire_mapcount && page_at(b, folio->page)->anon_exclusive) ||
	    ((page->mapcount || folio->entire_mapcount) && map->exclusive))
		return fail_exclusive(b, map, n, err);
	*pte = map->device_exclusive ?
		       make_device_pte(b, map, folio->pfn + n) :
		       make_pte(b->arch->pte, vma, map, folio->pfn + n);
	WRITABLE(struct table, b, state_table, at / PTRS_PER_PTE)->populated = 1;
	if (folds(b, map, va, folio->pfn + n, n))
		*pte = b->arch->pte->mkcont(*pte);
	if (page->mapcount++ == 0)
		folio->nr_pages_mapped++;
	page->anon_exclusive |= map->exclusive;
	folio->mapcount++;
	folio->refcount++;
	++*(u32 *)(uintptr_t)mm_counter(mm_at(b, map->mm), folio);
	return true;
}

/* One huge entry for the whole folio, which has waited to be split since it was mapped first. */
static bool place_huge(struct builder *b, const struct scn_map *map, u32 i, u64 va,
		       struct error *err)
{
	struct folio *folio = folio_at(b, i);
	struct page *head = page_at(b, folio->page);
	u32 at = va_pte(b->state, map->mm, va) / PTRS_PER_PTE;
	struct table *table = WRITABLE(struct table, b, state_table, at);

	if (table->populated)
		return fail_at(err, b->s, map->at, "maps", (size_t)(map - b->s->maps),
			       "expected free addresses: \"%s\" maps some behind 0x%llx already",
			       b->s->mms[map->mm].id, (unsigned long long)va);
	if (folio->mapcount && (head->anon_exclusive || map->exclusive))
		return fail_exclusive(b, map, 0, err);
	if (folio->entire_mapcount == UINT16_MAX)
		return fail_at(err, b->s, map->at, "maps", (size_t)(map - b->s->maps),
			       "expected at most %u huge entries for a folio", UINT16_MAX);
	table->pmd = make_pte(b->arch->pmd, state_vma(b->state, va_vma(b->state, map->mm, va)), map,
			      folio->pfn);
	table->populated = 1;
	if (folio->entire_mapcount++ == 0)
		folio->nr_pages_mapped += ENTIRELY_MAPPED;
	head->anon_exclusive |= map->exclusive;
	folio->mapcount++;
	folio->refcount++;
	folio->flags |= 1u << PG_deferred_list;
	mm_at(b, map->mm)->anonpages += PTRS_PER_PTE;
	return true;
}

/* A folio's place in its anon_vma comes from the first map; the others must agree. */
static bool place_index(struct builder *b, const struct scn_map *map, u32 i, u64 va,
			struct error *err)
{
	struct vma *vma = WRITABLE(struct vma, b, state_vma, va_vma(b->state, map->mm, va));
	struct folio *folio = folio_at(b, i);
	u64 pgoff = (va - vma->start) >> PAGE_SHIFT;

	if (folio->anon_vma == NONE) {
		folio->index = vma->pgoff + pgoff - map->first;
		folio->anon_vma = vma->anon_vma;
		return true;
	}
	if (vma->anon_vma != folio->anon_vma) {
		u32 from = vma->anon_vma;

		vma->pgoff = folio->index + map->first - pgoff;
		for (u32 v = 0; v < b->nr_vmas; v++)
			if (state_vma(b->state, v)->anon_vma == from)
				WRITABLE(struct vma, b, state_vma, v)->anon_vma = folio->anon_vma;
	}
	if (vma->pgoff + pgoff - map->first != folio->index)
		return fail_at(err, b->s, map->at, "maps", (size_t)(map - b->s->maps),
			       "expected folio \"%s\" at the offset where it is mapped already "
			       "(a VMA in world.vmas may have a pgoff)",
			       b->s->folios[map->folio].id);
	return true;
}

static bool place_map(struct builder *b, const struct scn_map *map, struct error *err)
{
	u32 first = scn_folio_state(b->s, map->folio);
	u64 va = map->va;

	for (u32 k = 0; k < b->s->folios[map->folio].count; k++) {
		folio_ahead(b, first + k);
		if (!place_index(b, map, first + k, va, err))
			return false;
		if (map->pmd && !place_huge(b, map, first + k, va, err))
			return false;
		for (u32 n = map->first; n <= map->last; n++, va += PAGE_SIZE)
			if (!map->pmd && !place_page(b, map, first + k, n, va, err))
				return false;
	}
	return true;
}

static void place_tables(struct builder *b)
{
	for (u32 i = 0; i < b->nr_tables; i++)
		*WRITABLE(struct table, b, state_table, i) =
			(struct table){ .va = b->ranges[i] << PMD_SHIFT, .mm = b->range_mm[i] };
	for (u32 i = 0; i < b->nr_vmas; i++) {
		b->vmas[i].anon_vma = i;
		*WRITABLE(struct vma, b, state_vma, i) = b->vmas[i];
	}
	for (u32 i = 0; i < b->state->nr[ARRAY_ANON_VMA]; i++)
		WRITABLE(struct anon_vma, b, state_anon_vma, i)->parent = NONE;
	b->state->nr_anon_vmas = b->nr_vmas;
	for (u32 i = b->nr_vmas; i < b->state->nr[ARRAY_VMA]; i++)
		*WRITABLE(struct vma, b, state_vma, i) =
			(struct vma){ .mm = NONE, .anon_vma = NONE };
}

static void place_cpus(struct builder *b)
{
	for (u32 c = 0; c < b->s->cpus; c++) {
		struct task *task = WRITABLE(struct task, b, state_task, c);
		struct cpu *cpu = WRITABLE(struct cpu, b, state_cpu, c);

		*task = (struct task){
			.walk_vma = NONE, .walk_pte = NONE, .walk_pmd = NONE,
			.folio = NONE, .page = NONE, .ptl = NONE, .src_ptl = NONE,
			.anon_vma = NONE,
			.fault_op = NONE, .fault_folio = NONE
		};
		cpu->mm = NONE;
		for (u32 i = b->s->nr_mms; i-- > 0;)
			if (b->s->mms[i].ran_on >> c & 1)
				cpu->mm = i;
	}
}

static void place_mms(struct builder *b)
{
	for (u32 i = 0; i < b->s->nr_mms; i++) {
		const struct scn_mm *spec = &b->s->mms[i];

		*mm_at(b, i) = (struct mm){ .cpumask = spec->ran_on,
					    .asid = spec->asid,
					    .tlb_pending = spec->tlb_pending,
					    .tlb_flushed = spec->tlb_flushed,
					    .on_mmlist = spec->on_mmlist,
					    .mm_users = !spec->forked };
	}
}

static bool fill(struct builder *b, struct error *err)
{
	for (u32 i = 0; i < NR_LISTS; i++)
		b->state->list[i] = (struct list){ .first = NONE, .last = NONE };
	place_cpus(b);
	place_mms(b);
	place_tables(b);
	place_devices(b);
	if (!place_folios(b, err))
		return false;
	if (!place_slots(b, err))
		return false;
	for (u32 i = 0; i < b->s->nr_maps; i++)
		if (!place_map(b, &b->s->maps[i], err))
			return false;
	if (!place_entries(b, err))
		return false;
	place_lists(b);
	for (u32 i = 0; i < b->s->nr_mms; i++)
		mm_at(b, i)->hiwater_rss = get_mm_rss(mm_at(b, i));
	return true;
}

/* A block of zeroes: the old one if it is as large. Anew a large one costs a page fault a page. */
static u32 *zeroed(u32 *old, u32 nr)
{
	if (old && ((struct mm_state *)(void *)old)->words == nr)
		return memset(old, 0, (size_t)nr * sizeof(u32));
	free(old);
	return calloc(nr, sizeof(u32));
}

bool world_build(const struct scenario *s, const struct scn_lane *lane, struct machine *m,
		 u32 **words, struct error *err)
{
	struct builder b = { .s = s, .arch = arch_find(lane->arch), .kernel = lane->kernel };
	struct mm_state shape;
	bool ok;

	ok = make_vmas(&b, err) && make_tables(&b, err);
	if (ok) {
		set_shape(&b, &shape);
		*words = zeroed(*words, shape.words);
		ok = *words || error_no_memory(err);
	}
	if (ok) {
		b.state = (struct mm_state *)(void *)*words;
		*b.state = shape;
		b.state->fail_atomic_alloc = s->fail_atomic_alloc;
		ok = fill(&b, err);
	}
	free(b.vmas);
	free(b.ranges);
	free(b.range_mm);
	if (!ok)
		return false;
	memset(m, 0, sizeof(*m));
	m->arch = b.arch;
	m->kernel = lane->kernel;
	m->features = lane->features;
	m->bugs = lane->bugs;
	machine_attach(m, *words);
	return place_tlbs(m, s, err);
}
