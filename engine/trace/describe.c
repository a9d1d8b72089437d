/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/describe.h"

struct word_field {
	u32 byte;		/* within its struct */
	u32 nr;			/* elements of an array, else 1 */
	u32 size;		/* of an element */
	enum value_kind kind;
	const char *name;
};

#define FIELD(type, field, kind_) FIELDS(type, field, 1, kind_)
#define FIELDS(type, field, nr_, kind_)							\
	{ .byte = offsetof(struct type, field), .nr = nr_,				\
	  .size = sizeof(((struct type *)0)->field) / (nr_),				\
	  .kind = VALUE_##kind_, .name = #field }

static const struct word_field cpu_fields[] = {
	FIELD(cpu, tlb_gen, NUMBER), FIELD(cpu, mm, MM), FIELD(cpu, lazy, NUMBER),
	FIELD(cpu, nr_tlb, NUMBER),
};
static const struct word_field task_fields[] = {
	FIELD(task, ubc_cpumask, HEX), FIELD(task, walk_address, HEX),
	FIELD(task, madvise_address, HEX),
	FIELD(task, ubc_flush_required, NUMBER), FIELD(task, ubc_writable, NUMBER),
	FIELD(task, ubc_unmapped_pages, NUMBER), FIELD(task, walk_vma, INDEX),
	FIELD(task, walk_pte, PTE), FIELD(task, walk_pmd, INDEX), FIELD(task, walk_flags, HEX),
	FIELD(task, phase, TASK_PHASE),
	FIELD(task, folio, FOLIO), FIELD(task, page, PAGE), FIELD(task, nr_pages, NUMBER),
	FIELD(task, run.pte, PTE), FIELD(task, run.nr, NUMBER), FIELD(task, run.pins, NUMBER),
	FIELD(task, run.done, NUMBER), FIELD(task, run.lazyfree, NUMBER),
	FIELDS(task, run.write, 16, HEX),
	FIELDS(task, run.soft_dirty, 16, HEX), FIELDS(task, run.uffd, 16, HEX),
	FIELD(task, kept_pte, PTE), FIELD(task, kept, HEX),
	FIELD(task, ptl, INDEX), FIELD(task, src_ptl, INDEX),
	FIELD(task, anon_vma, INDEX), FIELD(task, fault_op, INDEX),
	FIELD(task, fault_folio, FOLIO),
};
static const struct word_field mm_fields[] = {
	FIELD(mm, cpumask, HEX), FIELD(mm, tlb_gen, NUMBER), FIELD(mm, anonpages, NUMBER),
	FIELD(mm, swapents, NUMBER), FIELD(mm, hiwater_rss, NUMBER), FIELD(mm, tlb_pending, NUMBER),
	FIELD(mm, tlb_flushed, NUMBER), FIELD(mm, on_mmlist, NUMBER), FIELD(mm, asid, NUMBER),
	FIELD(mm, mm_users, NUMBER),
	FIELD(mm, shmempages, NUMBER), FIELD(mm, filepages, NUMBER),
	FIELD(mm, mmap_lock, MMAP_LOCK), FIELD(mm, tlb_flush_pending, NUMBER),
	FIELD(mm, tlb_gathered, NUMBER),
};
static const struct word_field vma_fields[] = {
	FIELD(vma, start, HEX), FIELD(vma, end, HEX), FIELD(vma, pgoff, HEX), FIELD(vma, mm, MM),
	FIELD(vma, anon_vma, INDEX), FIELD(vma, flags, HEX), FIELD(vma, table, INDEX),
};
static const struct word_field folio_fields[] = {
	FIELD(folio, index, HEX), FIELD(folio, pfn, HEX), FIELD(folio, order, NUMBER),
	FIELD(folio, flags, FLAGS), FIELD(folio, refcount, NUMBER), FIELD(folio, mapcount, NUMBER),
	FIELD(folio, entire_mapcount, NUMBER), FIELD(folio, nr_pages_mapped, NUMBER),
	FIELD(folio, pincount, NUMBER), FIELD(folio, gup, NUMBER), FIELD(folio, swap, SLOT),
	FIELD(folio, page, INDEX), FIELD(folio, anon_vma, INDEX), FIELD(folio, list, LIST),
	FIELD(folio, next, FOLIO), FIELD(folio, prev, FOLIO), FIELD(folio, held, NUMBER),
};
static const struct word_field page_fields[] = {
	FIELD(page, mapcount, NUMBER), FIELD(page, anon_exclusive, NUMBER),
	FIELD(page, folio, FOLIO), FIELD(page, zero, NUMBER),
};
static const struct word_field table_fields[] = {
	FIELD(table, va, HEX), FIELD(table, pmd, HEX), FIELD(table, mm, MM),
	FIELD(table, populated, NUMBER), FIELD(table, ptl, NUMBER),
};
static const struct word_field pte_fields[] = {
	{ .nr = 1, .size = sizeof(u64), .kind = VALUE_HEX, .name = "" },
};
static const struct word_field device_fields[] = {
	FIELD(swap_device, type, NUMBER), FIELD(swap_device, kind, NUMBER),
	FIELD(swap_device, first_slot, NUMBER), FIELD(swap_device, nr_slots, NUMBER),
	FIELD(swap_device, first_cluster, NUMBER), FIELD(swap_device, nr_clusters, NUMBER),
	FIELD(swap_device, inuse, NUMBER), FIELDS(swap_device, next, 10, HEX),
};
static const struct word_field cluster_fields[] = {
	FIELD(cluster, count, NUMBER), FIELD(cluster, order, NUMBER),
	FIELD(cluster, locked, NUMBER), FIELD(cluster, extend_table, NUMBER),
};
static const struct word_field slot_fields[] = {
	FIELD(slot, folio, FOLIO), FIELD(slot, kind, SLOT_KIND), FIELD(slot, count, NUMBER),
	FIELD(slot, others, NUMBER), FIELD(slot, zero, NUMBER),
};
static const struct word_field slot_cache_fields[] = {
	FIELD(slot_cache, cur, NUMBER), FIELD(slot_cache, nr, NUMBER),
	FIELD(slot_cache, n_ret, NUMBER), FIELDS(slot_cache, slots, 64, SLOT),
	FIELDS(slot_cache, slots_ret, 64, SLOT),
};
static const struct word_field tlb_fields[] = {
	FIELD(tlb_entry, va, HEX), FIELD(tlb_entry, mm, MM), FIELD(tlb_entry, pfn, HEX),
	FIELD(tlb_entry, span, NUMBER), FIELD(tlb_entry, flags, TLB_FLAGS),
	FIELD(tlb_entry, invalidated_by, CPUS),
};
static const struct word_field anon_vma_fields[] = {
	FIELD(anon_vma, parent, INDEX),
};
static const struct word_field list_fields[] = {
	FIELD(list, first, FOLIO), FIELD(list, last, FOLIO), FIELD(list, nr, NUMBER),
};
static const struct word_field state_fields[] = {
	FIELD(mm_state, cpu, NUMBER), FIELD(mm_state, op, NUMBER),
	FIELD(mm_state, slot_cache_active, NUMBER),
	FIELD(mm_state, fail_atomic_alloc, NUMBER), FIELD(mm_state, nr_anon_vmas, NUMBER),
};

struct word_fields {
	const struct word_field *field;
	u32 nr;
	u32 words;		/* of an element */
	const char *prefix;	/* of its name */
};
#define FIELDS_OF(fields, type, prefix)							\
	{ fields, NR_OF(fields), sizeof(type) / sizeof(u32), prefix }

static const struct word_fields array_fields[NR_ARRAYS] = {
	[ARRAY_CPU] = FIELDS_OF(cpu_fields, struct cpu, "cpu"),
	[ARRAY_TASK] = FIELDS_OF(task_fields, struct task, "task"),
	[ARRAY_MM] = FIELDS_OF(mm_fields, struct mm, "mm "),
	[ARRAY_VMA] = FIELDS_OF(vma_fields, struct vma, "vma "),
	[ARRAY_FOLIO] = FIELDS_OF(folio_fields, struct folio, "folio "),
	[ARRAY_PAGE] = FIELDS_OF(page_fields, struct page, "page "),
	[ARRAY_TABLE] = FIELDS_OF(table_fields, struct table, "table "),
	[ARRAY_PTE] = FIELDS_OF(pte_fields, u64, "pte "),
	[ARRAY_DEVICE] = FIELDS_OF(device_fields, struct swap_device, "device "),
	[ARRAY_CLUSTER] = FIELDS_OF(cluster_fields, struct cluster, "cluster "),
	[ARRAY_SLOT] = FIELDS_OF(slot_fields, struct slot, "slot "),
	[ARRAY_SLOT_CACHE] = FIELDS_OF(slot_cache_fields, struct slot_cache, "slot_cache"),
	[ARRAY_ANON_VMA] = FIELDS_OF(anon_vma_fields, struct anon_vma, "anon_vma "),
	[ARRAY_TLB] = FIELDS_OF(tlb_fields, struct tlb_entry, "tlb "),
};

char *slot_text(const struct mm_state *s, u32 slot, char *buf, size_t size)
{
	u32 i = slot_device(s, slot);

	if (i == NONE)
		snprintf(buf, size, "none");
	else
		snprintf(buf, size, "%" PRIu32 ":0x%" PRIx32, state_device(s, i)->type,
			 slot - state_device(s, i)->first_slot);
	return buf;
}

static const char *mm_name(const struct mm_state *s, const struct names *names, u32 mm)
{
	return mm < s->nr[ARRAY_MM] ? names->mm(names->ctx, mm) : "none";
}

static void page_text(const struct mm_state *s, const struct names *names, u32 page,
		      char *buf, size_t size)
{
	u32 folio = page_folio(s, page);
	char name[32];

	if (folio == NONE)
		snprintf(buf, size, "none");
	else
		snprintf(buf, size, "%s[%" PRIu32 "]", names->folio(names->ctx, folio, name),
			 page - state_folio(s, folio)->page);
}

static void pte_va_text(const struct mm_state *s, const struct names *names, u32 pte,
			char *buf, size_t size)
{
	if (pte >= s->nr[ARRAY_PTE])
		snprintf(buf, size, "none");
	else
		snprintf(buf, size, "%s 0x%" PRIx64,
			 mm_name(s, names, state_table(s, pte / PTRS_PER_PTE)->mm),
			 pte_va(s, pte));
}

static void cluster_text(const struct mm_state *s, const struct names *names, u32 cluster,
			 char *buf, size_t size)
{
	for (u32 i = 0; i < s->nr[ARRAY_DEVICE]; i++) {
		const struct swap_device *device = state_device(s, i);

		if (cluster - device->first_cluster < device->nr_clusters)
			snprintf(buf, size, "%s:%" PRIu32, names->device(names->ctx, i),
				 cluster - device->first_cluster);
	}
}

/* Which element of an array. */
static void element_text(const struct mm_state *s, const struct names *names,
			 enum state_array array, u32 i, char *buf, size_t size)
{
	char name[32];

	switch (array) {
	case ARRAY_CPU:
	case ARRAY_TASK:
	case ARRAY_SLOT_CACHE:
	case ARRAY_ANON_VMA:
		snprintf(buf, size, "%" PRIu32, i);
		break;
	case ARRAY_MM:
		snprintf(buf, size, "%s", mm_name(s, names, i));
		break;
	case ARRAY_VMA:
		snprintf(buf, size, "%s 0x%" PRIx64, mm_name(s, names, state_vma(s, i)->mm),
			 state_vma(s, i)->start);
		break;
	case ARRAY_FOLIO:
		snprintf(buf, size, "%s", names->folio(names->ctx, i, name));
		break;
	case ARRAY_PAGE:
		page_text(s, names, i, buf, size);
		break;
	case ARRAY_TABLE:
		snprintf(buf, size, "%s 0x%" PRIx64, mm_name(s, names, state_table(s, i)->mm),
			 state_table(s, i)->va);
		break;
	case ARRAY_PTE:
		pte_va_text(s, names, i, buf, size);
		break;
	case ARRAY_DEVICE:
		snprintf(buf, size, "%s", names->device(names->ctx, i));
		break;
	case ARRAY_CLUSTER:
		cluster_text(s, names, i, buf, size);
		break;
	case ARRAY_SLOT:
		slot_text(s, i, buf, size);
		break;
	case ARRAY_TLB:
		snprintf(buf, size, "cpu%" PRIu32 "[%" PRIu32 "]", i / s->nr_tlb, i % s->nr_tlb);
		break;
	case NR_ARRAYS:
		break;
	}
}

/* The bits of a word of a struct that belong to its bytes from .. from + size. */
static u32 bits_of(u32 word, u32 from, u32 size)
{
	u32 bits = 0;

	for (u32 k = 0; k < sizeof(bits); k++)
		if (word * (u32)sizeof(bits) + k - from < size)
			memset((char *)&bits + k, 0xff, 1);
	return bits;
}

/*
 * word counts from the start of the struct, whose name stands in info->what; the field must
 * have one of the bits.
 */
static bool describe_field(const struct word_field *field, u32 nr, u32 word, u32 bits,
			   struct word_info *info)
{
	size_t at = strlen(info->what);

	for (u32 i = 0; i < nr; i++, field++) {
		u32 words = field->size > sizeof(u32) ? 2 : 1, first = field->byte / sizeof(u32);
		u32 k = (word - first) / words;

		if (word < first || k >= field->nr ||
		    !(bits & bits_of(word, field->byte, field->nr * field->size)))
			continue;
		if (*field->name)
			snprintf(info->what + at, sizeof(info->what) - at, "%s%s", at ? "." : "",
				 field->name);
		at = strlen(info->what);
		if (field->nr > 1)
			snprintf(info->what + at, sizeof(info->what) - at, "[%" PRIu32 "]", k);
		info->word -= (word - first) % words;
		info->bits = bits_of(word, field->byte, field->nr * field->size);
		info->is64 = words == 2;
		info->kind = field->kind;
		return true;
	}
	return false;
}

/* Lists, counters and what else stands in front of the arrays. */
static bool describe_head(u32 word, u32 bits, struct word_info *info)
{
	const u32 list = offsetof(struct mm_state, list) / sizeof(u32);
	const u32 list_words = sizeof(struct list) / sizeof(u32);
	const u32 counts = offsetof(struct mm_state, count) / sizeof(u32);

	if (word - list < NR_LISTS * list_words) {
		snprintf(info->what, sizeof(info->what), "list %s",
			 list_names[(word - list) / list_words]);
		return describe_field(list_fields, NR_OF(list_fields), (word - list) % list_words,
				      bits, info);
	}
	if (word - counts < NR_COUNTERS * 2) {
		snprintf(info->what, sizeof(info->what), "count.%s",
			 counter_names[(word - counts) / 2]);
		info->word = word - (word - counts) % 2;
		info->bits = UINT32_MAX;
		info->is64 = true;
		info->kind = VALUE_NUMBER;
		return true;
	}
	return describe_field(state_fields, NR_OF(state_fields), word, bits, info);
}

bool describe_word(const struct mm_state *s, const struct names *names, u32 word, u32 bits,
		   struct word_info *info)
{
	char element[64] = "";

	*info = (struct word_info){ .word = word };
	if (!bits)
		return false;
	if (word < sizeof(*s) / sizeof(u32))
		return describe_head(word, bits, info);
	for (u32 i = 0; i < NR_ARRAYS; i++) {
		const struct word_fields *fields = &array_fields[i];
		u32 offset = word - s->at[i];

		if (offset >= s->nr[i] * fields->words)
			continue;
		element_text(s, names, (enum state_array)i, offset / fields->words, element,
			     sizeof(element));
		snprintf(info->what, sizeof(info->what), "%s%s", fields->prefix, element);
		return describe_field(fields->field, fields->nr, offset % fields->words, bits,
				      info);
	}
	return false;
}

static const char *const tlb_flag_names[] = { "writable", "dirty" };	/* enum tlb_flag */

static void flags_text(u64 flags, const char *const *names, u32 nr, char *buf, size_t size)
{
	size_t at = 0;

	snprintf(buf, size, "-");
	for (u32 i = 0; i < nr; i++) {
		int len;

		if (!(flags >> i & 1) || at >= size)
			continue;
		len = snprintf(buf + at, size - at, "%s%s", at ? " " : "", names[i]);
		at += len > 0 ? (size_t)len : 0;
	}
}

static void cpus_text(u64 mask, char *buf, size_t size)
{
	size_t at = 0;

	snprintf(buf, size, "-");
	for (u32 i = 0; i < 64; i++) {
		int len;

		if (!(mask >> i & 1) || at >= size)
			continue;
		len = snprintf(buf + at, size - at, "%scpu%" PRIu32, at ? " " : "", i);
		at += len > 0 ? (size_t)len : 0;
	}
}

static const char *name_in(const char *const *table, u32 nr, u64 value)
{
	return value < nr ? table[value] : "none";
}

void describe_value(const struct mm_state *s, const struct names *names, enum value_kind kind,
		    u64 value, char *buf, size_t size)
{
	u32 index = (u32)value;
	char name[32];

	switch (kind) {
	case VALUE_NUMBER:
		snprintf(buf, size, "%" PRIu64, value);
		break;
	case VALUE_HEX:
		snprintf(buf, size, "0x%" PRIx64, value);
		break;
	case VALUE_MMAP_LOCK:
		if (value == MMAP_WRITE_LOCKED)
			snprintf(buf, size, "writer");
		else
			snprintf(buf, size, "%" PRIu64, value);
		break;
	case VALUE_FLAGS:
		flags_text(value, folio_flag_names, NR_FOLIO_FLAGS, buf, size);
		break;
	case VALUE_TLB_FLAGS:
		flags_text(value, tlb_flag_names, NR_OF(tlb_flag_names), buf, size);
		break;
	case VALUE_CPUS:
		cpus_text(value, buf, size);
		break;
	case VALUE_TASK_PHASE:
		snprintf(buf, size, "%s", name_in(phase_names, NR_PHASES, value));
		break;
	case VALUE_LIST:
		snprintf(buf, size, "%s", name_in(list_names, NR_LISTS, value));
		break;
	case VALUE_SLOT_KIND:
		snprintf(buf, size, "%s", name_in(slot_kind_names, NR_SLOT_KINDS, value));
		break;
	case VALUE_FOLIO:
		snprintf(buf, size, "%s", index < s->nr[ARRAY_FOLIO] ?
			 names->folio(names->ctx, index, name) : "none");
		break;
	case VALUE_PAGE:
		page_text(s, names, index, buf, size);
		break;
	case VALUE_MM:
		snprintf(buf, size, "%s", mm_name(s, names, index));
		break;
	case VALUE_SLOT:
		slot_text(s, index, buf, size);
		break;
	case VALUE_PTE:
		pte_va_text(s, names, index, buf, size);
		break;
	case VALUE_INDEX:
		if (index == NONE)
			snprintf(buf, size, "none");
		else
			snprintf(buf, size, "%" PRIu32, index);
		break;
	}
}

/* Was this 64-bit field described already, at its other half? */
static bool seen_before(const struct delta *delta, u32 i, u32 word)
{
	for (u32 k = 0; k < i; k++)
		if (delta[k].word - word < 2)
			return true;
	return false;
}

u64 described_value(const u32 *words, const struct word_info *info)
{
	const u32 *word = words + info->word;

	if (info->is64)
		return *(const u64 *)(const void *)word;
	return (*word & info->bits) >> __builtin_ctz(info->bits);
}

static void describe_change(const struct cursor *c, const struct names *names,
			    const struct word_info *info, u32 xor,
			    void (*emit)(void *ctx, const struct change *change), void *ctx)
{
	u64 new = described_value(c->words, info), old;
	char old_text[256], new_text[256];

	if (info->is64)
		cursor_changed64(c, (const u64 *)(const void *)(c->words + info->word), &old);
	else
		old = new ^ (xor & info->bits) >> __builtin_ctz(info->bits);
	describe_value(c->live, names, info->kind, old, old_text, sizeof(old_text));
	describe_value(c->live, names, info->kind, new, new_text, sizeof(new_text));
	emit(ctx, &(struct change){ .what = info->what, .old = old_text, .new = new_text,
				    .number = info->kind == VALUE_NUMBER });
}

void describe_step(const struct cursor *c, const struct names *names,
		   void (*emit)(void *ctx, const struct change *change), void *ctx)
{
	const struct delta *delta;
	u32 nr;

	if (!cursor_step(c))
		return;
	delta = trace_deltas(c->trace, c->pos - 1, &nr);
	for (u32 i = 0; i < nr; i++) {
		struct word_info info;

		for (u32 left = delta[i].xor;
		     describe_word(c->live, names, delta[i].word, left, &info);
		     left &= ~info.bits)
			if (!info.is64 || !seen_before(delta, i, info.word))
				describe_change(c, names, &info, delta[i].xor, emit, ctx);
	}
}
