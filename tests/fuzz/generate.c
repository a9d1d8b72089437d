/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes into a case. Folios lie one behind the other in one stretch of addresses, the same
 * in each mm, as after fork(); each is mapped in runs that differ in what their entries say.
 *
 *	region   |  A (16 pages)  | gap |   B (4)   | C |
 *	VMAs     [-------------------)  [---------------)
 *	maps     [RW D][RO ][RW     ]   [both mms  ][RW ]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "generate.h"
#include "scenario/fields.h"
#include "scenario/ops.h"

#define BASE 0x7f0000000000u	/* of the first page table that the region touches */
#define MAX_CPUS 3
#define MAX_MMS 2
#define MAX_FOLIOS 3
#define MAX_VMAS 3
#define HUGE_ORDER 9

struct folio_plan {
	char id[4];
	u32 order, count;
	u32 page;		/* its place in the region */
	u32 device, slot;	/* in the swap cache; slot 0: not */
	bool lazyfree;
	bool swapped_out;	/* others have its slots in their page tables: not exclusive */
};

/* A VMA of each mm, in pages of the region. */
struct vma_plan {
	u32 start, end;
	bool write[MAX_MMS];
};

struct gen {
	struct dice *d;
	cJSON *world;
	enum anon_orders anon_orders;
	u32 cpus, nr_mms, nr_devices, nr_folios, nr_vmas;
	u32 slots[2];			/* of each device */
	bool async[2];
	bool files;			/* all folios are of files on a disk */
	u32 ran_on[MAX_MMS];
	u32 first;			/* entry of the page table at BASE: there it begins */
	u64 base;
	u32 pages;			/* of the region */
	struct folio_plan folio[MAX_FOLIOS];
	struct vma_plan vma[MAX_VMAS];
	u32 nr_named, nr_children;
};

static const char *const mm_names[MAX_MMS] = { "app", "child" };
static const char *const child_names[4] = { "kid", "kid2", "kid3", "kid4" };
static const char *const device_names[2] = { "d0", "d1" };

/* --- JSON ------------------------------------------------------------------ */

static void add_hex(cJSON *object, const char *key, u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	cJSON_AddStringToObject(object, key, text);
}

static void add_range(cJSON *object, const char *key, u32 first, u32 last)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu32 "..%" PRIu32, first, last);
	cJSON_AddStringToObject(object, key, text);
}

static cJSON *add_element(cJSON *array)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddItemToArray(array, object);
	return object;
}

/* Only what differs from what is there without it: small cases stay small. */
static void add_flag(cJSON *object, const char *key, bool value, bool absent)
{
	if (value != absent)
		cJSON_AddBoolToObject(object, key, value);
}

static void add_count(cJSON *object, const char *key, u32 value, u32 absent)
{
	if (value != absent)
		cJSON_AddNumberToObject(object, key, value);
}

static u32 pick(struct gen *g, const u32 *choice, u32 nr)
{
	return choice[roll(g->d, nr)];
}
#define PICK(g, ...) pick(g, (const u32[]){ __VA_ARGS__ }, NR_OF(((const u32[]){ __VA_ARGS__ })))

/* --- what the tables have and this file does not know ---------------------- */

static void add_unknown(struct gen *g, cJSON *object, const struct shape *shape,
			const char *known);

static u64 any_address(struct gen *g)
{
	const struct folio_plan *f = &g->folio[roll(g->d, g->nr_folios)];

	return g->base + (f->page + roll(g->d, f->count << f->order)) * PAGE_SIZE;
}

static u32 any_number(struct gen *g, const struct field *f)
{
	u64 span = f->max ? f->max - f->min + 1 : 8;

	if (strcmp(f->key, "cpu") == 0)
		return roll(g->d, g->cpus);
	if (strcmp(f->key, "pages") == 0)
		return 1 + roll(g->d, 32);
	return (u32)f->min + roll(g->d, span < 8 ? (u32)span : 8);
}

static cJSON *any_hex(struct gen *g, const struct field *f)
{
	bool address = !strcmp(f->key, "va") || !strcmp(f->key, "start") || !strcmp(f->key, "end");
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64,
		 address ? any_address(g) : f->min + roll(g->d, 64));
	return cJSON_CreateString(text);
}

static const char *any_id(struct gen *g, const struct id_space *ids)
{
	if (ids == &mm_ids && g->nr_children && chance(g->d, 2))
		return child_names[roll(g->d, g->nr_children)];
	if (ids == &mm_ids)
		return mm_names[roll(g->d, g->nr_mms)];
	if (ids == &device_ids)
		return device_names[roll(g->d, g->nr_devices)];
	return g->folio[roll(g->d, g->nr_folios)].id;
}

static cJSON *any_word(struct gen *g, const char *const *words)
{
	u32 nr = 0;

	while (words[nr])
		nr++;
	return cJSON_CreateString(words[roll(g->d, nr)]);
}

static cJSON *any_list(struct gen *g, const struct field *f)
{
	cJSON *list = cJSON_CreateArray();

	for (u32 nr = 1 + roll(g->d, 2); nr; nr--)
		add_unknown(g, add_element(list), f->shape, "");
	return list;
}

/* A value of a field's kind; NULL: only its own reader knows. */
static cJSON *any_value(struct gen *g, const struct field *f)
{
	cJSON *value = NULL;
	char text[32];

	switch (f->kind) {
	case FIELD_BOOL:
	case FIELD_BIT:
	case FIELD_ANSWER:
		return cJSON_CreateBool(chance(g->d, 2));
	case FIELD_INT:
	case FIELD_INT64:
	case FIELD_OFFSET:
		return cJSON_CreateNumber(any_number(g, f));
	case FIELD_HEX:
	case FIELD_HEX32:
		return any_hex(g, f);
	case FIELD_RANGE:
		snprintf(text, sizeof(text), "%" PRIu32, (u32)f->min + roll(g->d, 16));
		return cJSON_CreateString(text);
	case FIELD_ID:
		snprintf(text, sizeof(text), "x%" PRIu32, g->nr_named++);
		return cJSON_CreateString(text);
	case FIELD_WORD:
		return any_word(g, f->words);
	case FIELD_REF:
		return cJSON_CreateString(any_id(g, f->ids));
	case FIELD_OBJECT:
		value = cJSON_CreateObject();
		add_unknown(g, value, f->shape, "");
		return value;
	case FIELD_LIST:
		return any_list(g, f);
	case FIELD_TEXT:
	case FIELD_TEXTS:
	case FIELD_READ:
		break;
	}
	return NULL;
}

static bool is_known(const char *known, const char *key)
{
	size_t len = strlen(key);

	for (; (known = strstr(known, key)); known += len)
		if (known[len] == ' ')
			return true;
	return false;
}

/* known: keys that the caller sees to, a blank behind each */
static void add_unknown(struct gen *g, cJSON *object, const struct shape *shape, const char *known)
{
	for (u32 i = 0; i < shape->nr; i++) {
		const struct field *f = &shape->fields[i];
		cJSON *value;

		if (is_known(known, f->key) || !(f->required || chance(g->d, 8)))
			continue;
		value = any_value(g, f);
		if (value)
			cJSON_AddItemToObject(object, f->key, value);
	}
}

static const struct shape *shape_of(const struct shape *shape, const char *key)
{
	for (u32 i = 0; i < shape->nr; i++)
		if (strcmp(shape->fields[i].key, key) == 0)
			return shape->fields[i].shape;
	return NULL;
}

static void add_unknown_in_list(struct gen *g, cJSON *object, const char *list, const char *known)
{
	add_unknown(g, object, shape_of(&world_shape, list), known);
}

/* --- machine --------------------------------------------------------------- */

static void make_machine(struct gen *g, cJSON *json)
{
	cJSON *machine = cJSON_AddObjectToObject(json, "machine");
	cJSON *swap;

	g->cpus = PICK(g, 2, 1, 3);
	cJSON_AddNumberToObject(machine, "cpus", g->cpus);
	cJSON_AddNumberToObject(machine, "tlb_entries", PICK(g, 32, 16, 3, 1));
	swap = cJSON_AddArrayToObject(machine, "swap");
	g->nr_devices = 1 + chance(g->d, 4);
	for (u32 i = 0; i < g->nr_devices; i++) {
		cJSON *device = add_element(swap);

		g->slots[i] = SWAPFILE_CLUSTER * PICK(g, 2, 3, 1, 3);
		g->async[i] = chance(g->d, 3);
		cJSON_AddStringToObject(device, "id", device_names[i]);
		cJSON_AddNumberToObject(device, "slots", g->slots[i]);
		if (g->async[i])
			cJSON_AddStringToObject(device, "kind", "async");
		add_unknown(g, device, shape_of(&machine_shape, "swap"), "id kind slots ");
	}
	add_unknown(g, machine, &machine_shape, "cpus tlb_entries swap ");
}

/* A release, or a release and the series posted for it. */
static bool same_base(const char *a, const char *b)
{
	size_t len = strcspn(a, "+");

	return len == strcspn(b, "+") && strncmp(a, b, len) == 0;
}

static void add_lane(cJSON *lanes, const char *arch, const struct kernel *kernel, u32 features)
{
	cJSON *lane = add_element(lanes), *list;

	cJSON_AddStringToObject(lane, "arch", arch);
	cJSON_AddStringToObject(lane, "path", kernel->name);
	cJSON_AddStringToObject(lane, "kernel", kernel->name);
	if (features == cpu_features_default())
		return;
	list = cJSON_AddObjectToObject(lane, "features");
	for (u32 i = 0; i < NR_CPU_FEATURES; i++)
		add_flag(list, cpu_features[i].name, features >> i & 1, cpu_features[i].on);
}

/* One release and what was posted for it, on one architecture or both. */
static void make_lanes(struct gen *g, cJSON *json)
{
	cJSON *lanes = cJSON_AddArrayToObject(json, "lanes");
	u32 features = cpu_features_default(), archs = PICK(g, 1, 2, 3);
	const char *release = kernels[roll(g->d, nr_kernels)].name;

	for (u32 i = 0; i < NR_CPU_FEATURES; i++)
		features ^= (u32)chance(g->d, 6) << i;
	for (u32 k = 0; k < nr_kernels; k++) {
		if (!same_base(kernels[k].name, release))
			continue;
		g->anon_orders = kernels[k].anon_orders;
		if (archs & 1)
			add_lane(lanes, "arm64", &kernels[k], features);
		if (archs & 2)
			add_lane(lanes, "x86_64", &kernels[k], features);
	}
}

/* --- world ----------------------------------------------------------------- */

static void make_mms(struct gen *g)
{
	cJSON *mms = cJSON_AddArrayToObject(g->world, "mms");

	g->nr_mms = 1 + chance(g->d, 3);
	for (u32 i = 0; i < g->nr_mms; i++) {
		cJSON *mm = add_element(mms);
		u32 all = (1u << g->cpus) - 1, flushed = roll(g->d, 3);
		char list[16];
		size_t len = 0;

		g->ran_on[i] = all - roll(g->d, all);
		for (char cpu = '0'; g->ran_on[i] >> (cpu - '0'); cpu++) {
			if (!(g->ran_on[i] >> (cpu - '0') & 1))
				continue;
			if (len)
				list[len++] = ',';
			list[len++] = cpu;
		}
		list[len] = '\0';
		cJSON_AddStringToObject(mm, "id", mm_names[i]);
		cJSON_AddStringToObject(mm, "ran_on", list);
		add_count(mm, "tlb_flushed", flushed, 0);
		add_count(mm, "tlb_pending", flushed + PICK(g, 0, 0, 1, 2), 0);
		add_flag(mm, "on_mmlist", chance(g->d, 3), false);
		add_unknown_in_list(g, mm, "mms",
				    "id ran_on tlb_pending tlb_flushed on_mmlist asid ");
	}
}

static void add_folio_flags(struct gen *g, cJSON *folio, bool cached, bool async)
{
	static const char *const flags[] = { "referenced", "dirty", "active", "workingset" };
	cJSON *list = cJSON_CreateArray();

	for (u32 i = 0; i < NR_OF(flags); i++)
		if (chance(g->d, 5))
			cJSON_AddItemToArray(list, cJSON_CreateString(flags[i]));
	if (chance(g->d, cached ? 2 : 20))
		cJSON_AddItemToArray(list, cJSON_CreateString("locked"));
	else if (cached && async && chance(g->d, 4))
		cJSON_AddItemToArray(list, cJSON_CreateString("writeback"));
	if (chance(g->d, 20)) {
		cJSON_AddItemToArray(list, cJSON_CreateString("mlocked"));
		cJSON_AddItemToArray(list, cJSON_CreateString("unevictable"));
	}
	if (cJSON_GetArraySize(list))
		cJSON_AddItemToObject(folio, "flags", list);
	else
		cJSON_Delete(list);
}

static void make_folio(struct gen *g, u32 i, cJSON *folio)
{
	struct folio_plan *f = &g->folio[i];
	u32 nr;

	snprintf(f->id, sizeof(f->id), "%c", 'A' + (int)i);
	f->order = chance(g->d, 128) ? HUGE_ORDER : PICK(g, 4, 0, 2, 4, 1, 3, 5, 4);
	if (g->anon_orders == ORDERS_PAGE_PMD && !g->files && f->order < HUGE_ORDER)
		f->order = 0;
	f->count = 1 + (f->order < 3 && chance(g->d, 6));
	nr = f->count << f->order;
	/* at an aligned address unless it is to be misaligned */
	f->page = ((g->first + g->pages + (1u << f->order) - 1) >> f->order << f->order) - g->first;
	if (f->order < HUGE_ORDER && chance(g->d, 4))
		f->page += roll(g->d, 17);
	g->pages = f->page + nr;

	cJSON_AddStringToObject(folio, "id", f->id);
	add_count(folio, "order", f->order, 0);
	add_count(folio, "count", f->count, 1);
	if (chance(g->d, 3))
		cJSON_AddStringToObject(folio, "fill", "data");
	f->device = roll(g->d, g->nr_devices);
	f->slot = f->order < HUGE_ORDER && !g->files && chance(g->d, 3) ? 64 * (i + 1) : 0;
	f->lazyfree = !f->slot && !g->files && chance(g->d, 8);
	f->swapped_out = f->slot && chance(g->d, 2);
	add_folio_flags(g, folio, f->slot, g->async[f->device]);
	add_flag(folio, "isolated", chance(g->d, 3), false);
	add_count(folio, "pins", chance(g->d, 16), 0);
	add_count(folio, "refs", PICK(g, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2), 0);
	if (f->slot) {
		cJSON *swap = cJSON_AddObjectToObject(folio, "swap");

		cJSON_AddStringToObject(swap, "device", device_names[f->device]);
		cJSON_AddNumberToObject(swap, "slot", f->slot);
	}
	add_flag(folio, "lazyfree", f->lazyfree, false);
	add_flag(folio, "file", g->files, false);
	add_unknown_in_list(g, folio, "folios", "id count order pfn fill flags isolated pins refs "
						"swap lazyfree file ");
}

/* The region may begin anywhere in a page table, so that it may end in the next. */
static void make_folios(struct gen *g)
{
	cJSON *folios = cJSON_AddArrayToObject(g->world, "folios");

	g->first = PICK(g, 16, 0, 496, 512);
	if (g->first == 512)
		g->first -= 1 + roll(g->d, 64);
	g->base = BASE + g->first * PAGE_SIZE;
	g->files = chance(g->d, 8);
	g->nr_folios = PICK(g, 1, 1, 2, 3);
	for (u32 i = 0; i < g->nr_folios; i++)
		make_folio(g, i, add_element(folios));
}

/* One VMA for all, none of which the file speaks; or up to three with edges and holes. */
static void make_vmas(struct gen *g)
{
	u32 start = 0;
	cJSON *vmas;

	g->nr_vmas = 1;
	g->vma[0] = (struct vma_plan){ .end = g->pages, .write = { true, true } };
	if (!chance(g->d, 3))
		return;
	vmas = cJSON_AddArrayToObject(g->world, "vmas");
	g->nr_vmas = 0;
	while (g->nr_vmas < MAX_VMAS && start < g->pages) {
		struct vma_plan *v = &g->vma[g->nr_vmas];
		u32 left = g->pages - start;

		*v = (struct vma_plan){ .start = start + (chance(g->d, 8) ? roll(g->d, left) : 0) };
		v->end = v->start + 1 + roll(g->d, g->pages - v->start);
		if (chance(g->d, 2))
			v->end = g->pages;
		start = v->end;
		g->nr_vmas++;
		for (u32 mm = 0; mm < g->nr_mms; mm++) {
			cJSON *vma = add_element(vmas);

			v->write[mm] = !chance(g->d, 8);
			cJSON_AddStringToObject(vma, "mm", mm_names[mm]);
			add_hex(vma, "start", g->base + v->start * PAGE_SIZE);
			add_hex(vma, "end", g->base + v->end * PAGE_SIZE);
			add_flag(vma, "write", v->write[mm], true);
			add_flag(vma, "locked", chance(g->d, 6), false);
			add_flag(vma, "exec", chance(g->d, 8), false);
			add_flag(vma, "droppable", chance(g->d, 8), false);
			add_unknown_in_list(g, vma, "vmas",
					    "mm start end pgoff write locked exec droppable ");
		}
	}
}

/* What the entries of a run say, and who has them. */
struct run_plan {
	u32 mms;		/* a bit each */
	bool write, young, dirty, soft_dirty, uffd, exclusive, fold, pmd, device_exclusive;
};

static struct run_plan plan_run(struct gen *g, bool shared)
{
	struct run_plan r = { .mms = 1 };

	if (g->nr_mms > 1)
		r.mms = PICK(g, 1, 3, 2, 3);
	r.exclusive = !chance(g->d, 4) && r.mms != 3 && !shared;
	r.write = !chance(g->d, 5) && (r.exclusive || g->files);
	r.young = !chance(g->d, 3);
	r.dirty = !chance(g->d, 3);
	r.soft_dirty = !chance(g->d, 5);
	r.uffd = chance(g->d, 8) && !g->files;
	r.fold = !chance(g->d, 6);
	r.pmd = !chance(g->d, 4) && !g->files;
	r.device_exclusive = chance(g->d, 16) && r.exclusive && !g->files;
	return r;
}

/* Pages first..last of a folio, which lie in one VMA. */
static void add_map(struct gen *g, const struct run_plan *r, const struct folio_plan *f,
		    const struct vma_plan *v, u32 first, u32 last)
{
	for (u32 mm = 0; mm < g->nr_mms; mm++) {
		cJSON *map;

		if (!(r->mms >> mm & 1))
			continue;
		map = add_element(cJSON_GetObjectItem(g->world, "maps"));
		cJSON_AddStringToObject(map, "mm", mm_names[mm]);
		add_hex(map, "va", g->base + (f->page + first) * PAGE_SIZE);
		cJSON_AddStringToObject(map, "folio", f->id);
		if (last - first + 1 != f->count << f->order)
			add_range(map, "pages", first, last);
		add_flag(map, "write", r->write && v->write[mm], true);
		add_flag(map, "young", r->young, true);
		add_flag(map, "dirty", r->dirty, true);
		add_flag(map, "soft_dirty", r->soft_dirty, true);
		add_flag(map, "uffd", r->uffd, false);
		add_flag(map, "exclusive", r->exclusive, true);
		add_flag(map, "fold", r->fold, true);
		add_flag(map, "pmd", r->pmd && !first && last == 511, false);
		add_flag(map, "device_exclusive", r->device_exclusive, false);
		add_unknown_in_list(
			g, map, "maps",
			"mm va folio pages write young dirty soft_dirty uffd exclusive fold pmd "
			"device_exclusive ");
	}
}

/* Cut a run at the edges of the VMAs; what lies in none is not mapped. */
static void map_run(struct gen *g, const struct folio_plan *f, u32 first, u32 last)
{
	struct run_plan r = plan_run(g, f->swapped_out);

	for (u32 i = 0; i < g->nr_vmas; i++) {
		const struct vma_plan *v = &g->vma[i];
		u32 from = f->page + first, to = f->page + last + 1;

		from = from > v->start ? from : v->start;
		to = to < v->end ? to : v->end;
		if (from < to && (f->count == 1 || to - from == f->count << f->order))
			add_map(g, &r, f, v, from - f->page, to - 1 - f->page);
	}
}

/* Pages that no mm maps: something else may stand there. */
static void add_entry(struct gen *g, const struct folio_plan *f, u32 first, u32 nr)
{
	static const char *const kinds[] = { "swap", "migration", "hwpoison", "uffd_wp" };
	u32 kind = PICK(g, 0, 0, 1, 2, 3), device = f->slot ? f->device : roll(g->d, g->nr_devices);
	cJSON *entry = add_element(cJSON_GetObjectItem(g->world, "entries"));

	cJSON_AddStringToObject(entry, "mm", mm_names[roll(g->d, g->nr_mms)]);
	add_hex(entry, "va", g->base + (f->page + first) * PAGE_SIZE);
	add_count(entry, "pages", nr, 1);
	cJSON_AddStringToObject(entry, "kind", kinds[kind]);
	if (kind == 0) {
		cJSON_AddStringToObject(entry, "device", device_names[device]);
		cJSON_AddNumberToObject(entry, "slot",
					f->slot ? f->slot + first : 320 + roll(g->d, 128));
		add_flag(entry, "exclusive", !f->swapped_out && chance(g->d, 2), false);
	} else if (kind == 1) {
		cJSON_AddStringToObject(entry, "folio", f->id);
		add_count(entry, "page", first, 0);
	} else if (kind == 2) {
		add_hex(entry, "pfn", 0x20000 + first);
	}
	if (kind != 3) {
		add_flag(entry, "soft_dirty", chance(g->d, 2), false);
		add_flag(entry, "uffd", chance(g->d, 4), false);
	}
	add_unknown_in_list(g, entry, "entries", "mm va pages kind device slot folio page pfn "
						 "exclusive soft_dirty uffd ");
}

static void make_maps(struct gen *g)
{
	cJSON_AddArrayToObject(g->world, "maps");
	cJSON_AddArrayToObject(g->world, "entries");
	for (u32 i = 0; i < g->nr_folios; i++) {
		const struct folio_plan *f = &g->folio[i];
		u32 nr = f->count << f->order;
		bool uniform = f->count > 1 || !chance(g->d, 2);

		for (u32 page = 0, len; page < nr; page += len) {
			len = uniform ? nr : 1 + roll(g->d, nr - page);
			if (!chance(g->d, 8))
				map_run(g, f, page, page + len - 1);
			else if (f->count == 1 && !g->files && chance(g->d, 2))
				add_entry(g, f, page, len);
		}
	}
}

static void add_slots(struct gen *g, cJSON *slots, u32 device, u32 first, u32 last)
{
	cJSON *slot = add_element(slots);

	cJSON_AddStringToObject(slot, "device", device_names[device]);
	add_range(slot, "slots", first, last);
	add_count(slot, "count", PICK(g, 1, 2, 14, 15, 13, 20), 1);
	add_unknown_in_list(g, slot, "slots", "device slots count ");
}

/* Slots that somebody else uses: those of folios, then a few others or nearly all. */
static void make_slots(struct gen *g)
{
	const u32 after = 64 * (MAX_FOLIOS + 1);	/* those of folios */
	cJSON *slots = cJSON_AddArrayToObject(g->world, "slots");

	for (u32 i = 0; i < g->nr_folios; i++) {
		const struct folio_plan *f = &g->folio[i];
		u32 nr = f->count << f->order, first = roll(g->d, nr);

		if (f->swapped_out)
			add_slots(g, slots, f->device, f->slot + first,
				  f->slot + first + roll(g->d, nr - first));
	}
	for (u32 nr = PICK(g, 0, 0, 1, 2); nr; nr--) {
		u32 device = roll(g->d, g->nr_devices), last = g->slots[device] - 1;
		u32 first = PICK(g, after, 1, 500, after) + roll(g->d, 8);

		if (first < 64)
			add_slots(g, slots, device, first, first + roll(g->d, 64 - first));
		else
			add_slots(g, slots, device, first,
				  chance(g->d, 2) ? last - roll(g->d, 48) : first + roll(g->d, 4));
	}
}

/* Translations of what is mapped, or of less than the page table allows. */
static void make_tlbs(struct gen *g)
{
	cJSON *maps = cJSON_GetObjectItem(g->world, "maps"), *tlbs;
	u32 nr_maps = (u32)cJSON_GetArraySize(maps), nr = PICK(g, 0, 1, 2, 4);

	if (!nr || !nr_maps)
		return;
	tlbs = cJSON_AddArrayToObject(g->world, "tlbs");
	for (; nr; nr--) {
		const cJSON *map = cJSON_GetArrayItem(maps, (int)roll(g->d, nr_maps));
		const char *mm = cJSON_GetStringValue(cJSON_GetObjectItem(map, "mm"));
		u64 va = strtoull(cJSON_GetStringValue(cJSON_GetObjectItem(map, "va")), NULL, 16);
		u32 ran_on = g->ran_on[strcmp(mm, mm_names[0]) != 0], cpu = roll(g->d, g->cpus);
		cJSON *tlb;

		if (!(ran_on >> cpu & 1))
			continue;
		tlb = add_element(tlbs);
		cJSON_AddNumberToObject(tlb, "cpu", cpu);
		cJSON_AddStringToObject(tlb, "mm", mm);
		add_hex(tlb, "va", va + roll(g->d, 16) * PAGE_SIZE);
		add_count(tlb, "pages", PICK(g, 16, 1, 3, 2), 1);
		if (chance(g->d, 6))
			cJSON_AddBoolToObject(tlb, "writable", false);
		if (chance(g->d, 6))
			cJSON_AddBoolToObject(tlb, "dirty", false);
		add_unknown_in_list(g, tlb, "tlbs", "cpu mm va pages writable dirty ");
	}
}

static void make_world(struct gen *g, cJSON *json)
{
	g->world = cJSON_AddObjectToObject(json, "world");
	make_mms(g);
	make_folios(g);
	make_vmas(g);
	make_maps(g);
	make_slots(g);
	make_tlbs(g);
	add_unknown(g, g->world, &world_shape, "mms vmas folios maps entries slots tlbs ");
}

/* --- script ---------------------------------------------------------------- */

/* from: a page of the folio that the operation is about */
static void add_argument(struct gen *g, cJSON *op, const struct folio_plan *f, u32 from,
			 const char *key)
{
	const struct shape *shape = shape_of(&scenario_shape, "script");
	u32 nr = (f->count << f->order) - from;
	cJSON *value;

	if (strcmp(key, "folio") == 0) {
		cJSON_AddStringToObject(op, key, f->id);
	} else if (strcmp(key, "child") == 0) {
		g->nr_children += g->nr_children < NR_OF(child_names);
		cJSON_AddStringToObject(op, key, child_names[g->nr_children - 1]);
	} else if (strcmp(key, "va") == 0) {
		add_hex(op, key, g->base + (f->page + from) * PAGE_SIZE);
	} else if (strcmp(key, "pages") == 0) {
		cJSON_AddNumberToObject(op, key, chance(g->d, 4) ? 1 + roll(g->d, 64) : nr);
	} else {
		for (u32 i = 0; i < shape->nr; i++)
			if (strcmp(shape->fields[i].key, key) == 0 &&
			    (value = any_value(g, &shape->fields[i])))
				cJSON_AddItemToObject(op, key, value);
	}
}

cJSON *generate_op(struct gen *g, const struct op_info *info)
{
	const struct folio_plan *f = &g->folio[roll(g->d, g->nr_folios)];
	u32 from = chance(g->d, 3) ? roll(g->d, f->count << f->order) : 0;
	cJSON *op = cJSON_CreateObject();

	cJSON_AddStringToObject(op, "do", info->name);
	add_count(op, "cpu", roll(g->d, g->cpus), 0);
	for (u32 i = 0; i < nr_op_keys; i++)
		if ((info->takes & op_keys[i].arg) ||
		    ((info->may & op_keys[i].arg) && chance(g->d, 2)))
			add_argument(g, op, f, from, op_keys[i].key);
	return op;
}

/* One that reclaims, or any. */
static const struct op_info *any_op(struct gen *g)
{
	bool reclaims = !chance(g->d, 3);
	u32 i = roll(g->d, nr_op_infos);

	while ((reclaims && !op_infos[i].reclaims) ||
	       (g->files && op_infos[i].files == FILES_NONE))
		i = (i + 1) % nr_op_infos;
	return &op_infos[i];
}

static void make_script(struct gen *g, cJSON *json)
{
	cJSON *script = cJSON_AddArrayToObject(json, "script");

	for (u32 nr = PICK(g, 1, 2, 3, 6); nr; nr--)
		cJSON_AddItemToArray(script, generate_op(g, any_op(g)));
}

struct gen *generate_begin(struct dice *d, cJSON *json)
{
	struct gen *g = calloc(1, sizeof(*g));

	if (!g)
		abort();
	g->d = d;
	cJSON_AddStringToObject(json, "$schema", "scenario-1.json");
	cJSON_AddStringToObject(json, "title", "A generated case");
	make_machine(g, json);
	make_lanes(g, json);
	make_world(g, json);
	make_script(g, json);
	return g;
}
