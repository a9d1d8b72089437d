/* SPDX-License-Identifier: GPL-2.0-only */
/* The format, first half: what the machine is and how its memory stands before the script. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "scenario/expr.h"
#include "scenario/fields.h"
#include "scenario/suggest.h"

#define MAX_ORDER	9
#define MAX_COUNT	(1u << 24)	/* folios of a group, swap slots of a device */
#define MAX_TOTAL	(1u << 26)	/* pages, slots: the state's words must fit in 32 bits */
#define MAX_DEVICES	22		/* the least MAX_SWAPFILES of the kernels */
#define FIRST_PFN	0x10000u	/* where folios go that do not say */
#define VA_END		0x800000000000u	/* both architectures: 47 bits of user addresses */
#define MAX_VA		(VA_END - PAGE_SIZE)
#define MAX_BATCHED	0x7fff		/* tlb_flush_batched: two counters of 15 bits */

const struct id_space device_ids = {
	.what = "a swap device", .list = offsetof(struct scenario, devices),
	.nr = offsetof(struct scenario, nr_devices), .size = sizeof(struct scn_device),
};
const struct id_space mm_ids = {
	.what = "an mm", .list = offsetof(struct scenario, mms),
	.nr = offsetof(struct scenario, nr_mms), .size = sizeof(struct scn_mm),
};
const struct id_space folio_ids = {
	.what = "a folio", .list = offsetof(struct scenario, folios),
	.nr = offsetof(struct scenario, nr_folios), .size = sizeof(struct scn_folio),
};

static bool taken(struct reader *r, u32 node, const char *id)
{
	return read_fail(r, member_or_self(r->doc, node, "id"),
			 "expected an id of its own; \"%s\" is taken", id);
}

/* --- machine --------------------------------------------------------------- */

static const char *const swap_kinds[] = { [SWAP_SYNC] = "sync", [SWAP_ASYNC] = "async", NULL };

static const struct field device_fields[] = {
	{ "id", FIELD_ID, AT(scn_device, id), .required = true },
	{ "kind", FIELD_WORD, AT(scn_device, kind), .words = swap_kinds },
	{ "slots", FIELD_INT, AT(scn_device, slots), .min = SWAPFILE_CLUSTER, .max = MAX_COUNT,
	  .fallback = 4096 },
};

static bool check_device(struct reader *r, u32 node, void *target)
{
	const struct scn_device *device = target;
	u64 total = device->slots;

	for (u32 i = 0; i + 1 < r->s->nr_devices; i++) {
		if (strcmp(r->s->devices[i].id, device->id) == 0)
			return taken(r, node, device->id);
		total += r->s->devices[i].slots;
	}
	if (r->s->nr_devices > MAX_DEVICES)
		return read_fail(r, node, "expected at most %d swap devices", MAX_DEVICES);
	if (total > MAX_TOTAL)
		return read_fail(r, node, "expected at most %u slots on all devices together",
				 MAX_TOTAL);
	if (device->slots % SWAPFILE_CLUSTER)
		return read_fail(r, member_or_self(r->doc, node, "slots"),
				 "expected a multiple of %d, the slots of a cluster",
				 SWAPFILE_CLUSTER);
	return true;
}

static const struct shape device_shape = { SHAPE(scn_device, device_fields),
					   .check = check_device };

static const struct field machine_fields[] = {
	{ "cpus", FIELD_INT, AT(scenario, cpus), .min = 1, .max = 64, .fallback = 1 },
	{ "tlb_entries", FIELD_INT, AT(scenario, tlb_entries), .min = 1, .max = 4096,
	  .fallback = 64 },
	{ "fail_atomic_alloc", FIELD_BOOL, AT(scenario, fail_atomic_alloc) },
	{ "swap", FIELD_LIST, LIST(scenario, devices), .shape = &device_shape,
	  .absent = "{\"swap\": [{\"id\": \"zram0\"}]}" },
};
const struct shape machine_shape = { SHAPE(scenario, machine_fields) };

/* --- lanes ----------------------------------------------------------------- */

static bool read_arch(struct reader *r, u32 node, void *target)
{
	struct scn_lane *lane = target;
	const char *names[8];
	u32 nr = nr_archs < NR_OF(names) ? nr_archs : NR_OF(names);

	if (!is_string(r->doc, node))
		return read_fail(r, node, "expected the name of an architecture");
	for (u32 i = 0; i < nr; i++)
		names[i] = archs[i]->name;
	if (!arch_find(r->doc->nodes[node].string))
		return unknown_word(r, node, "an architecture", names, sizeof(names[0]), nr);
	lane->arch = arch_find(r->doc->nodes[node].string)->name;
	return true;
}

static bool read_kernel(struct reader *r, u32 node, void *target)
{
	struct scn_lane *lane = target;

	if (!is_string(r->doc, node))
		return read_fail(r, node, "expected the name of a kernel");
	lane->kernel = kernel_find(r->doc->nodes[node].string);
	return lane->kernel ||
	       unknown_word(r, node, "a kernel", &kernels[0].name, sizeof(kernels[0]), nr_kernels);
}

static bool read_features(struct reader *r, u32 node, void *target)
{
	struct scn_lane *lane = target;
	struct field fields[NR_CPU_FEATURES];

	for (u32 i = 0; i < NR_CPU_FEATURES; i++)
		fields[i] = (struct field){
			.key = cpu_features[i].name, .kind = FIELD_BIT, AT(scn_lane, features),
			.bit = 1u << i, .fallback = cpu_features[i].on,
		};
	return read_object(r, node, &(struct shape){ SHAPE(scn_lane, fields) }, lane);
}

static bool read_bugs(struct reader *r, u32 node, void *target)
{
	struct scn_lane *lane = target;
	u32 child = json_first(node);

	if (r->doc->nodes[node].kind != JSON_ARRAY)
		return read_fail(r, node, "expected an array of bugs");
	for (u32 left = r->doc->nodes[node].nr; left--; child = r->doc->nodes[child].next) {
		u32 i = 0;

		if (!is_string(r->doc, child))
			return read_fail(r, child, "expected the name of a bug");
		while (i < NR_BUGS && strcmp(bug_infos[i].name, r->doc->nodes[child].string) != 0)
			i++;
		if (i == NR_BUGS)
			return unknown_word(r, child, "a bug", &bug_infos[0].name,
					    sizeof(bug_infos[0]), NR_BUGS);
		lane->bugs |= 1u << i;
	}
	return true;
}

/* lane->name holds the path until arch and path are put together. */
static bool read_path(struct reader *r, u32 node, void *target)
{
	struct scn_lane *lane = target;
	const char *path = r->doc->nodes[node].string;

	if (!is_string(r->doc, node) || !*path || strlen(path) > 32 ||
	    path[strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789._+-")])
		return read_fail(
			r, node,
			"expected a path such as \"unbatched\": lower-case letters, digits "
			"and . _ + -, at most 32");
	lane->name = read_text(r, node);
	return lane->name;
}

static bool check_lane(struct reader *r, u32 node, void *target)
{
	struct scn_lane *lane = target;
	size_t size = strlen(lane->arch) + strlen(lane->name) + 2;
	char *name = malloc(size);

	if (!name)
		return error_no_memory(r->err);
	snprintf(name, size, "%s/%s", lane->arch, lane->name);
	free(lane->name);
	lane->name = name;
	for (u32 i = 0; i + 1 < r->s->nr_lanes; i++)
		if (strcmp(r->s->lanes[i].name, name) == 0)
			return read_fail(r, member_or_self(r->doc, node, "path"),
					 "expected a lane of its own; \"%s\" is there already",
					 name);
	return true;
}

static const struct field lane_fields[] = {
	{ "arch", FIELD_READ, .required = true, .read = read_arch },
	{ "path", FIELD_READ, .required = true, .read = read_path },
	{ "kernel", FIELD_READ, .required = true, .read = read_kernel },
	{ "features", FIELD_READ, .read = read_features, .absent = "{\"features\": {}}" },
	{ "bugs", FIELD_READ, .read = read_bugs },
};
const struct shape lane_shape = { SHAPE(scn_lane, lane_fields), .check = check_lane };

/* --- mms and vmas ---------------------------------------------------------- */

/* "0..1" or "0,2" or "0..3,8" */
static bool read_ran_on(struct reader *r, u32 node, void *target)
{
	struct scn_mm *mm = target;
	const char *text = r->doc->nodes[node].string;
	u64 first, last;
	bool ok = is_string(r->doc, node);

	while (ok) {
		ok = parse_range(&text, &first, &last) && last < r->s->cpus;
		for (u64 cpu = first; ok && cpu <= last; cpu++)
			mm->ran_on |= 1ull << cpu;
		if (ok && !*text)
			return true;
		ok = ok && *text++ == ',';
	}
	return read_fail(r, node, "expected CPUs such as \"0..1\" or \"0,2\" within 0..%u",
			 r->s->cpus - 1);
}

static bool check_mm(struct reader *r, u32 node, void *target)
{
	struct scn_mm *mm = target;
	u32 index = r->s->nr_mms - 1;

	if (!mm->asid)
		mm->asid = index + 1;
	for (u32 i = 0; i < index; i++) {
		if (strcmp(r->s->mms[i].id, mm->id) == 0)
			return taken(r, node, mm->id);
		if (r->s->mms[i].asid == mm->asid)
			return read_fail(r, member_or_self(r->doc, node, "asid"),
					 "expected an asid of its own; %u is that of \"%s\"",
					 mm->asid, r->s->mms[i].id);
	}
	return true;
}

static const struct field mm_fields[] = {
	{ "id", FIELD_ID, AT(scn_mm, id), .required = true },
	{ "ran_on", FIELD_READ, .read = read_ran_on, .absent = "{\"ran_on\": \"0\"}" },
	{ "tlb_pending", FIELD_INT, AT(scn_mm, tlb_pending), .max = MAX_BATCHED },
	{ "tlb_flushed", FIELD_INT, AT(scn_mm, tlb_flushed), .max = MAX_BATCHED },
	{ "on_mmlist", FIELD_BOOL, AT(scn_mm, on_mmlist) },
	{ "asid", FIELD_INT, AT(scn_mm, asid), .min = 1, .max = 0xffff },
};
static const struct shape mm_shape = { SHAPE(scn_mm, mm_fields), .check = check_mm };

static bool page_aligned(struct reader *r, u32 node, const char *key, u64 va)
{
	return va % PAGE_SIZE == 0 || read_fail(r, member_or_self(r->doc, node, key),
						"expected the address of a page: a multiple "
						"of 0x1000");
}

static bool check_vma(struct reader *r, u32 node, void *target)
{
	struct scn_vma *vma = target;

	vma->at = place_of(r, node);
	if (!page_aligned(r, node, "start", vma->start) || !page_aligned(r, node, "end", vma->end))
		return false;
	if (vma->end <= vma->start)
		return read_fail(r, member_or_self(r->doc, node, "end"),
				 "expected an end above the start");
	if (vma->pgoff == UINT64_MAX)
		vma->pgoff = vma->start >> PAGE_SHIFT;
	return true;
}

static const struct field vma_fields[] = {
	{ "mm", FIELD_REF, AT(scn_vma, mm), .ids = &mm_ids, .required = true },
	{ "start", FIELD_HEX, AT(scn_vma, start), .min = PAGE_SIZE, .max = MAX_VA,
	  .required = true },
	{ "end", FIELD_HEX, AT(scn_vma, end), .min = PAGE_SIZE, .max = VA_END, .required = true },
	{ "pgoff", FIELD_HEX, AT(scn_vma, pgoff), .max = VA_END >> PAGE_SHIFT,
	  .fallback = UINT64_MAX },
	{ "write", FIELD_BIT, AT(scn_vma, flags), .bit = VM_WRITE, .fallback = true },
	{ "locked", FIELD_BIT, AT(scn_vma, flags), .bit = VM_LOCKED },
	{ "exec", FIELD_BIT, AT(scn_vma, flags), .bit = VM_EXEC },
	{ "uffd_wp", FIELD_BIT, AT(scn_vma, flags), .bit = VM_UFFD_WP },
	{ "dontfork", FIELD_BIT, AT(scn_vma, flags), .bit = VM_DONTCOPY },
	{ "droppable", FIELD_BIT, AT(scn_vma, flags), .bit = VM_DROPPABLE },
};
static const struct shape vma_shape = { SHAPE(scn_vma, vma_fields), .check = check_vma };

/* --- folios ---------------------------------------------------------------- */

static const char *const fills[] = { "data", "zero", NULL };

static u64 nr_pages(const struct scn_folio *folio)
{
	return (u64)folio->count << folio->order;
}

static bool read_fill(struct reader *r, u32 node, void *target)
{
	struct scn_folio *folio = target;
	u32 fill;

	if (!read_word(r, node, fills, &fill))
		return false;
	folio->zero_filled = fill == 1;
	return true;
}

/* What a folio may have on top of what its place in the world implies. */
#define SETTABLE_FLAGS                                                               \
	(1u << PG_locked | 1u << PG_referenced | 1u << PG_dirty | 1u << PG_active |  \
	 1u << PG_workingset | 1u << PG_writeback | 1u << PG_reclaim |               \
	 1u << PG_unevictable | 1u << PG_mlocked)

static bool read_flags(struct reader *r, u32 node, void *target)
{
	struct scn_folio *folio = target;
	u32 child = json_first(node);

	if (r->doc->nodes[node].kind != JSON_ARRAY)
		return read_fail(r, node, "expected an array of folio flags");
	for (u32 left = r->doc->nodes[node].nr; left--; child = r->doc->nodes[child].next) {
		const char *word = r->doc->nodes[child].string;
		u32 i = 0;

		if (!is_string(r->doc, child))
			return read_fail(r, child, "expected the name of a folio flag");
		while (i < NR_FOLIO_FLAGS && strcmp(folio_flag_names[i], word) != 0)
			i++;
		if (i == PG_zero_filled || i == PG_isolated || i == PG_swapcache ||
		    i == PG_pagecache)
			return read_fail(r, child,
					 "expected the folio's key \"%s\" instead of this flag",
					 i == PG_zero_filled ? "fill" :
					 i == PG_isolated    ? "isolated" :
					 i == PG_pagecache   ? "file\" or \"shmem" :
							       "swap");
		if (i < NR_FOLIO_FLAGS && !(SETTABLE_FLAGS >> i & 1))
			return read_fail(r, child, "expected a flag that the world does not set "
					 "itself, such as dirty, locked, active or referenced");
		if (i == NR_FOLIO_FLAGS)
			return unknown_word(r, child, "a folio flag", folio_flag_names,
					    sizeof(folio_flag_names[0]), NR_FOLIO_FLAGS);
		folio->flags |= 1u << i;
	}
	return true;
}

static bool check_cached(struct reader *r, u32 node, void *target)
{
	const struct scn_folio *folio = target;
	u64 end = folio->slot + nr_pages(folio);

	node = member_or_self(r->doc, node, "slot");
	if (folio->slot & ((1u << folio->order) - 1))
		return read_fail(r, node, "expected a multiple of %u, the folio's pages",
				 1u << folio->order);
	if (end > r->s->devices[folio->device].slots)
		return read_fail(r, node, "expected %llu slots from here on; \"%s\" ends at %u",
				 (unsigned long long)nr_pages(folio),
				 r->s->devices[folio->device].id,
				 r->s->devices[folio->device].slots);
	return true;
}

static const struct field cached_fields[] = {
	{ "device", FIELD_REF, AT(scn_folio, device), .ids = &device_ids, .required = true },
	{ "slot", FIELD_OFFSET, AT(scn_folio, slot), .min = 1, .max = MAX_COUNT, .required = true },
};
static const struct shape cached_shape = { SHAPE(scn_folio, cached_fields), .check = check_cached };

/* A single folio "A3" and the fourth of a group "A" would be one name for two. */
static bool names_meet(const struct scn_folio *a, const struct scn_folio *b)
{
	const struct scn_folio *group = a->count > 1 ? a : b, *other = a->count > 1 ? b : a;
	size_t len = strlen(group->id);
	const char *digits = other->id + len;
	u64 index;

	if (strcmp(a->id, b->id) == 0)
		return true;
	if (group->count == 1 || other->count > 1 || strncmp(other->id, group->id, len) != 0)
		return false;
	return (*digits != '0' || !digits[1]) && parse_number(&digits, &index) && !*digits &&
	       index < group->count;
}

static bool check_name(struct reader *r, u32 node, const struct scn_folio *folio)
{
	char last = folio->id[strlen(folio->id) - 1];

	if (folio->count > 1 && last >= '0' && last <= '9')
		return read_fail(
			r, member_or_self(r->doc, node, "id"),
			"expected an id without a digit at its end: its folios are numbered");
	for (u32 i = 0; i + 1 < r->s->nr_folios; i++)
		if (names_meet(&r->s->folios[i], folio))
			return taken(r, node, folio->id);
	return true;
}

/* The first aligned page frame above all folios before this one. */
static u64 next_pfn(const struct scenario *s, u32 order)
{
	u64 next = FIRST_PFN;

	for (u32 i = 0; i + 1 < s->nr_folios; i++)
		if (s->folios[i].pfn + nr_pages(&s->folios[i]) > next)
			next = s->folios[i].pfn + nr_pages(&s->folios[i]);
	return (next + (1u << order) - 1) >> order << order;
}

static bool check_folio(struct reader *r, u32 node, void *target)
{
	struct scn_folio *folio = target;
	u32 place = member_or_self(r->doc, node, "pfn");
	u64 pfn = folio->pfn ? folio->pfn : next_pfn(r->s, folio->order), total = 0;

	folio->at = place_of(r, node);
	if (!check_name(r, node, folio))
		return false;
	if (folio->zeroes_first != NONE &&
	    (folio->zero_filled || folio->zeroes_last >= 1u << folio->order))
		return read_fail(r, member_or_self(r->doc, node, "zeroes"),
				 "expected pages within 1..%u of a folio with \"fill\": \"data\"",
				 (1u << folio->order) - 1);
	if (folio->shmem && (folio->lazyfree || folio->device != NONE))
		return read_fail(r, member_or_self(r->doc, node, "shmem"),
				 "expected false: shared memory is in no swap cache here, nor "
				 "lazyfree");
	if (folio->file && (folio->shmem || folio->lazyfree || folio->device != NONE))
		return read_fail(r, member_or_self(r->doc, node, "file"),
				 "expected false: what a disk file holds is in no swap cache, nor "
				 "lazyfree or shmem");
	if (folio->lazyfree && folio->device != NONE)
		return read_fail(r, member_or_self(r->doc, node, "swap"),
				 "expected no slot: a lazyfree folio is in no swap cache");
	for (u32 i = 0; i < r->s->nr_folios; i++)
		total += nr_pages(&r->s->folios[i]);
	if (total > MAX_TOTAL)
		return read_fail(r, node, "expected at most %u pages in all folios together",
				 MAX_TOTAL);
	if (pfn & ((1u << folio->order) - 1))
		return read_fail(r, place,
				 "expected a multiple of 0x%x: a folio of order %u is aligned",
				 1u << folio->order, folio->order);
	if (pfn + nr_pages(folio) > UINT32_MAX)
		return read_fail(r, place,
				 "expected %llu page frames below 0xffffffff from here on",
				 (unsigned long long)nr_pages(folio));
	folio->pfn = (u32)pfn;
	return true;
}

static const struct field folio_fields[] = {
	{ "id", FIELD_ID, AT(scn_folio, id), .required = true },
	{ "count", FIELD_INT, AT(scn_folio, count), .min = 1, .max = MAX_COUNT, .fallback = 1 },
	{ "order", FIELD_INT, AT(scn_folio, order), .max = MAX_ORDER },
	{ "pfn", FIELD_HEX32, AT(scn_folio, pfn), .min = 1 },
	{ "fill", FIELD_READ, .read = read_fill, .absent = "{\"fill\": \"zero\"}" },
	{ "zeroes", FIELD_RANGE, AT(scn_folio, zeroes_first), .min = 1,
	  .max = (1 << MAX_ORDER) - 1 },
	{ "flags", FIELD_READ, .read = read_flags },
	{ "shmem", FIELD_BOOL, AT(scn_folio, shmem) },
	{ "file", FIELD_BOOL, AT(scn_folio, file) },
	{ "isolated", FIELD_BOOL, AT(scn_folio, isolated) },
	{ "lazyfree", FIELD_BOOL, AT(scn_folio, lazyfree) },
	{ "pins", FIELD_INT, AT(scn_folio, pins), .max = 0xffff },
	{ "refs", FIELD_INT, AT(scn_folio, refs), .max = 0xffff },
	{ "swap", FIELD_OBJECT, .shape = &cached_shape },
};
static const struct shape folio_shape = { SHAPE(scn_folio, folio_fields), .check = check_folio };

/* --- what maps folios, and what remembers them ----------------------------- */

/* pages pages from va on, all of them user addresses */
static bool check_va(struct reader *r, u32 node, u64 va, u64 pages)
{
	if (!page_aligned(r, node, "va", va))
		return false;
	if (va + pages * PAGE_SIZE > VA_END)
		return read_fail(r, member_or_self(r->doc, node, "va"),
				 "expected %llu pages from here on below 0x%llx",
				 (unsigned long long)pages, (unsigned long long)VA_END);
	return true;
}

static bool check_map(struct reader *r, u32 node, void *target)
{
	struct scn_map *map = target;
	const struct scn_folio *folio = &r->s->folios[map->folio];
	u32 pages = 1u << folio->order, place = member_or_self(r->doc, node, "pages");

	map->at = place_of(r, node);
	if (map->first == NONE) {
		map->first = 0;
		map->last = pages - 1;
	} else if (folio->count > 1) {
		return read_fail(r, place, "expected no pages: a group of folios is mapped whole");
	}
	if (map->last >= pages)
		return read_fail(r, place, "expected pages within 0..%u of folio \"%s\"", pages - 1,
				 folio->id);
	if (map->write && !map->exclusive && !folio->shmem && !folio->file)
		return read_fail(r, member_or_self(r->doc, node, "write"),
				 "expected \"write\": false, as a page that is not exclusive is "
				 "mapped read-only");
	if (map->pmd && (folio->order != MAX_ORDER || map->last - map->first + 1 != pages ||
			 map->va % PMD_SIZE || map->device_exclusive || folio->shmem ||
			 folio->file))
		return read_fail(r, member_or_self(r->doc, node, "pmd"),
				 "expected false: a huge entry maps all of a folio of order %u, at "
				 "a multiple of 0x%llx",
				 MAX_ORDER, (unsigned long long)PMD_SIZE);
	if (map->device_exclusive && (folio->shmem || folio->file))
		return read_fail(r, member_or_self(r->doc, node, "device_exclusive"),
				 "expected false: \"%s\" is not anonymous", folio->id);
	if (folio->shmem || folio->file)
		map->exclusive = false;
	if (map->device_exclusive && !map->exclusive)
		return read_fail(r, member_or_self(r->doc, node, "exclusive"),
				 "expected no \"exclusive\": false, as a device gets pages to "
				 "itself that one process has alone");
	return check_va(r, node, map->va, (u64)folio->count * (map->last - map->first + 1));
}

static const struct field map_fields[] = {
	{ "mm", FIELD_REF, AT(scn_map, mm), .ids = &mm_ids, .required = true },
	{ "va", FIELD_HEX, AT(scn_map, va), .min = PAGE_SIZE, .max = MAX_VA, .required = true },
	{ "folio", FIELD_REF, AT(scn_map, folio), .ids = &folio_ids, .required = true },
	{ "pages", FIELD_RANGE, AT(scn_map, first), .max = (1 << MAX_ORDER) - 1 },
	{ "write", FIELD_BOOL, AT(scn_map, write), .fallback = true },
	{ "young", FIELD_BOOL, AT(scn_map, young), .fallback = true },
	{ "dirty", FIELD_BOOL, AT(scn_map, dirty), .fallback = true },
	{ "soft_dirty", FIELD_BOOL, AT(scn_map, soft_dirty), .fallback = true },
	{ "uffd", FIELD_BOOL, AT(scn_map, uffd) },
	{ "exclusive", FIELD_BOOL, AT(scn_map, exclusive), .fallback = true },
	{ "fold", FIELD_BOOL, AT(scn_map, fold), .fallback = true },
	{ "pmd", FIELD_BOOL, AT(scn_map, pmd) },
	{ "device_exclusive", FIELD_BOOL, AT(scn_map, device_exclusive) },
};
static const struct shape map_shape = { SHAPE(scn_map, map_fields), .check = check_map };

static const char *const entry_kinds[] = {
	[ENTRY_SWAP] = "swap", [ENTRY_MIGRATION] = "migration", [ENTRY_HWPOISON] = "hwpoison",
	[ENTRY_UFFD_WP] = "uffd_wp", NULL,
};

/* Which kinds need a key, and which may have it. */
static bool check_entry_keys(struct reader *r, u32 node, u32 kind)
{
	const u32 swap = 1u << ENTRY_SWAP, migration = 1u << ENTRY_MIGRATION;
	const u32 hwpoison = 1u << ENTRY_HWPOISON;
	const struct { const char *key; u32 need, may; } keys[] = {
		{ "device", swap, swap }, { "slot", swap, swap },
		{ "folio", migration, migration }, { "page", 0, migration },
		{ "pfn", hwpoison, hwpoison }, { "exclusive", 0, swap | migration },
		{ "soft_dirty", 0, swap | migration | hwpoison },
		{ "uffd", 0, swap | migration | hwpoison },
	};

	for (u32 i = 0; i < NR_OF(keys); i++) {
		u32 child = member_or_self(r->doc, node, keys[i].key);

		if (child == node && keys[i].need >> kind & 1)
			return read_fail(r, node, "expected a key \"%s\", which %s needs",
					 keys[i].key, entry_kinds[kind]);
		if (child != node && !(keys[i].may >> kind & 1))
			return json_fail(r->doc, child, r->doc->nodes[child].key_at, r->err,
					 "expected no \"%s\", which %s does not take", keys[i].key,
					 entry_kinds[kind]);
	}
	return true;
}

static bool check_entry(struct reader *r, u32 node, void *target)
{
	struct scn_entry *entry = target;
	const struct scenario *s = r->s;

	entry->at = place_of(r, node);
	if (!check_entry_keys(r, node, entry->kind))
		return false;
	if (entry->kind == ENTRY_SWAP && (u64)entry->slot + entry->pages >
						 s->devices[entry->device].slots)
		return read_fail(r, member_or_self(r->doc, node, "slot"),
				 "expected %u slots from here on; \"%s\" ends at %u", entry->pages,
				 s->devices[entry->device].id, s->devices[entry->device].slots);
	if (entry->kind == ENTRY_MIGRATION &&
	    (s->folios[entry->folio].shmem || s->folios[entry->folio].file))
		return read_fail(r, member_or_self(r->doc, node, "folio"),
				 "expected an anonymous folio: those of files are not moved here");
	if (entry->kind == ENTRY_MIGRATION &&
	    entry->page + entry->pages > 1u << s->folios[entry->folio].order)
		return read_fail(r, member_or_self(r->doc, node, "page"),
				 "expected %u pages of \"%s\" from here on, which has %u",
				 entry->pages, s->folios[entry->folio].id,
				 1u << s->folios[entry->folio].order);
	return check_va(r, node, entry->va, entry->pages);
}

static const struct field entry_fields[] = {
	{ "mm", FIELD_REF, AT(scn_entry, mm), .ids = &mm_ids, .required = true },
	{ "va", FIELD_HEX, AT(scn_entry, va), .min = PAGE_SIZE, .max = MAX_VA, .required = true },
	{ "pages", FIELD_INT, AT(scn_entry, pages), .min = 1, .max = MAX_COUNT,
	  .fallback = 1 },
	{ "kind", FIELD_WORD, AT(scn_entry, kind), .words = entry_kinds, .required = true },
	{ "device", FIELD_REF, AT(scn_entry, device), .ids = &device_ids },
	{ "slot", FIELD_OFFSET, AT(scn_entry, slot), .min = 1, .max = MAX_COUNT },
	{ "folio", FIELD_REF, AT(scn_entry, folio), .ids = &folio_ids },
	{ "page", FIELD_INT, AT(scn_entry, page), .max = (1 << MAX_ORDER) - 1 },
	{ "pfn", FIELD_HEX32, AT(scn_entry, pfn), .min = 1 },
	{ "exclusive", FIELD_BOOL, AT(scn_entry, exclusive) },
	{ "soft_dirty", FIELD_BOOL, AT(scn_entry, soft_dirty) },
	{ "uffd", FIELD_BOOL, AT(scn_entry, uffd) },
};
static const struct shape entry_shape = { SHAPE(scn_entry, entry_fields), .check = check_entry };

static bool check_slot(struct reader *r, u32 node, void *target)
{
	struct scn_slot *slot = target;
	const struct scn_device *device = &r->s->devices[slot->device];

	slot->at = place_of(r, node);
	return slot->last < device->slots ||
	       read_fail(r, member_or_self(r->doc, node, "slots"),
			 "expected slots within 1..%u of \"%s\"", device->slots - 1, device->id);
}

static const struct field slot_fields[] = {
	{ "device", FIELD_REF, AT(scn_slot, device), .ids = &device_ids, .required = true },
	{ "slots", FIELD_RANGE, AT(scn_slot, first), .min = 1, .max = MAX_COUNT - 1,
	  .required = true },
	{ "count", FIELD_INT, AT(scn_slot, count), .max = 0xffff, .fallback = 1 },
};
static const struct shape slot_shape = { SHAPE(scn_slot, slot_fields), .check = check_slot };

static bool check_tlb(struct reader *r, u32 node, void *target)
{
	struct scn_tlb *tlb = target;

	tlb->at = place_of(r, node);
	if (tlb->cpu >= r->s->cpus)
		return read_fail(r, member_or_self(r->doc, node, "cpu"),
				 "expected a CPU within 0..%u", r->s->cpus - 1);
	return check_va(r, node, tlb->va, tlb->pages);
}

static const struct field tlb_fields[] = {
	{ "cpu", FIELD_INT, AT(scn_tlb, cpu), .max = 63, .required = true },
	{ "mm", FIELD_REF, AT(scn_tlb, mm), .ids = &mm_ids, .required = true },
	{ "va", FIELD_HEX, AT(scn_tlb, va), .min = PAGE_SIZE, .max = MAX_VA, .required = true },
	{ "pages", FIELD_INT, AT(scn_tlb, pages), .min = 1, .max = 4096, .fallback = 1 },
	{ "writable", FIELD_ANSWER, AT(scn_tlb, writable) },
	{ "dirty", FIELD_ANSWER, AT(scn_tlb, dirty) },
};
static const struct shape tlb_shape = { SHAPE(scn_tlb, tlb_fields), .check = check_tlb };

static const struct field world_fields[] = {
	{ "mms", FIELD_LIST, LIST(scenario, mms), .shape = &mm_shape },
	{ "vmas", FIELD_LIST, LIST(scenario, vmas), .shape = &vma_shape },
	{ "folios", FIELD_LIST, LIST(scenario, folios), .shape = &folio_shape },
	{ "maps", FIELD_LIST, LIST(scenario, maps), .shape = &map_shape },
	{ "entries", FIELD_LIST, LIST(scenario, entries), .shape = &entry_shape },
	{ "slots", FIELD_LIST, LIST(scenario, slots), .shape = &slot_shape },
	{ "tlbs", FIELD_LIST, LIST(scenario, tlbs), .shape = &tlb_shape },
};
const struct shape world_shape = { SHAPE(scenario, world_fields) };
