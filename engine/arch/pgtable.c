/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arch/pgtable.h"

/* From the first type after the swap devices on; device types are those the kernel has. */
static const char *const softleaf_names[] = {
	"hwpoison", "migration_read", "migration_read_exclusive", "migration_write",
};
static const char *const device_names_3[] = {
	"device_private_write", "device_private_read", "device_exclusive",
};
static const char *const device_names_4[] = {
	"device_private_write", "device_private_read", "device_exclusive_write",
	"device_exclusive_read",
};
#define MAX_TYPE 31u

/* Behind it, in 6.1, is one for pages that could not be read back; it has a page frame. */
static u32 marker_type(const struct softleaf_types *types)
{
	return types->max_swapfiles + (u32)NR_OF(softleaf_names) + types->nr_device;
}

static const char *device_name(const struct softleaf_types *types, u32 i)
{
	if (types->nr_device == NR_OF(device_names_3))
		return device_names_3[i];
	return i < NR_OF(device_names_4) ? device_names_4[i] : "device";
}

static const char *type_name(const struct softleaf_types *types, u32 type)
{
	u32 special = type - types->max_swapfiles;

	if (type < types->max_swapfiles)
		return "swap";
	if (special < NR_OF(softleaf_names))
		return softleaf_names[special];
	special -= (u32)NR_OF(softleaf_names);
	if (special < types->nr_device)
		return device_name(types, special);
	return type == marker_type(types) ? "pte_marker" : "swapin_error";
}

u32 softleaf_type(const struct softleaf_types *types, const char *name)
{
	u32 type = 0;

	while (type <= MAX_TYPE && strcmp(type_name(types, type), name) != 0)
		type++;
	return type;
}

void softleaf_decode(const struct softleaf_types *types, u32 pfn_bits, struct pte_desc *desc)
{
	u32 special = desc->type - types->max_swapfiles;

	desc->name = type_name(types, desc->type);
	if (desc->type < types->max_swapfiles) {
		desc->kind = PTE_SWAP;
		return;
	}
	if (desc->type == marker_type(types)) {
		desc->kind = PTE_MARKER;
		return;
	}
	desc->pfn = desc->offset & ((1ull << pfn_bits) - 1);
	if (special == 0 || desc->type > marker_type(types)) {
		desc->kind = PTE_HWPOISON;
	} else if (special < NR_OF(softleaf_names)) {
		desc->kind = PTE_MIGRATION;
		desc->young = desc->offset >> pfn_bits & 1;
		desc->dirty = desc->offset >> (pfn_bits + 1) & 1;
		desc->write = special == 3;
	} else {
		desc->kind = PTE_DEVICE;
	}
}

pte_t make_migration_entry(const struct pte_ops *ops, const struct softleaf_types *types,
			   enum migration kind, u64 pfn, bool young, bool dirty)
{
	return ops->swp_entry(migration_type(types, kind),
			      pfn | (u64)young << ops->swp_pfn_bits |
				      (u64)dirty << (ops->swp_pfn_bits + 1));
}

bool softleaf_migration_pfn(const struct pte_ops *ops, const struct softleaf_types *types,
			    pte_t pte, u64 *pfn)
{
	if (ops->none(pte) || ops->present(pte) ||
	    ops->swp_type(pte) - migration_type(types, MIGRATION_READ) > MIGRATION_WRITE)
		return false;
	*pfn = ops->swp_offset(pte) & ((1ull << ops->swp_pfn_bits) - 1);
	return true;
}

static u32 device_exclusive_type(const struct softleaf_types *types)
{
	return types->max_swapfiles + (u32)NR_OF(softleaf_names) + 2;
}

pte_t make_device_exclusive_entry(const struct pte_ops *ops, const struct softleaf_types *types,
				  u64 pfn, bool write)
{
	u32 read_only = !write && types->nr_device == NR_OF(device_names_4);

	return ops->swp_entry(device_exclusive_type(types) + read_only, pfn);
}

bool softleaf_device_exclusive_pfn(const struct pte_ops *ops, const struct softleaf_types *types,
				   pte_t pte, u64 *pfn)
{
	if (ops->none(pte) || ops->present(pte) ||
	    ops->swp_type(pte) - device_exclusive_type(types) >= types->nr_device - 2)
		return false;
	*pfn = ops->swp_offset(pte) & ((1ull << ops->swp_pfn_bits) - 1);
	return true;
}

pte_t make_pte_marker(const struct pte_ops *ops, const struct softleaf_types *types, u32 markers)
{
	return ops->swp_entry(marker_type(types), markers);
}

bool pte_is_marker(const struct pte_ops *ops, const struct softleaf_types *types, pte_t pte,
		   u32 markers)
{
	return !ops->none(pte) && !ops->present(pte) && ops->swp_type(pte) == marker_type(types) &&
	       (ops->swp_offset(pte) & markers);
}

u64 pte_field_value(const struct pte_field *field, pte_t pte)
{
	u32 bits = field->hi - field->lo + 1u;
	u64 value = (field->name[0] == '~' ? ~pte : pte) >> field->lo;

	return bits == 64 ? value : value & ((1ull << bits) - 1);
}

bool pte_continues(const struct pte_ops *ops, const struct softleaf_types *types, pte_t first,
		   u32 nr, pte_t next)
{
	struct pte_desc desc;

	if (ops->none(first) || ops->none(next))
		return ops->none(first) && ops->none(next);
	if (ops->present(first))
		return next == (is_zero_pfn(ops->pfn(first)) ? first : ops->advance_pfn(first, nr));
	ops->decode(first, types, &desc);
	if (desc.kind != PTE_SWAP && desc.kind != PTE_MIGRATION)
		return next == first;
	desc.offset += nr;
	return next == ops->encode(&desc);
}

/* A growing line that never leaves its buffer. */
struct line {
	char *buf;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
	va_list args;
	int len;

	if (line->len + 1 >= line->size)
		return;
	va_start(args, format);
	len = vsnprintf(line->buf + line->len, line->size - line->len, format, args);
	va_end(args);
	if (len > 0)
		line->len += (size_t)len;
}

static void add_flag(struct line *line, bool set, const char *word)
{
	if (set)
		add(line, " %s", word);
}

static void add_page(struct line *line, const struct pte_ops *ops, const struct pte_desc *desc)
{
	if (desc->kind == PTE_PROTNONE)
		add(line, "prot-none ");
	if (desc->kind == PTE_INVALID)
		add(line, "invalid ");
	if (ops->nr_pages > 1)
		add(line, "huge ");
	add(line, "pfn 0x%" PRIx64 " %s", desc->pfn, desc->write ? "RW" : "RO");
	add_flag(line, desc->exec, "exec");
	add_flag(line, desc->young, "young");
	add_flag(line, !desc->young, "old");
	if (desc->hw_dirty && !desc->write)
		add(line, " shadow-stack");
	else
		add_flag(line, desc->dirty, "dirty");
	add_flag(line, !desc->dirty, "clean");
	add_flag(line, desc->soft_dirty, "soft-dirty");
	add_flag(line, desc->uffd, "uffd");
	add_flag(line, desc->cont, "cont");
	add_flag(line, desc->special, "special");
	add_flag(line, !desc->user && desc->kind == PTE_PRESENT, "kernel");
	if (desc->attr == 1)
		add(line, " tagged");
	else if (desc->attr)
		add(line, " attr %" PRIu32, desc->attr);
	if (desc->pkey)
		add(line, " pkey %" PRIu32, desc->pkey);
}

static void add_softleaf(struct line *line, const struct pte_desc *desc)
{
	switch (desc->kind) {
	case PTE_SWAP:
		add(line, "swap %" PRIu32 ":0x%" PRIx64, desc->type, desc->offset);
		break;
	case PTE_MARKER:
		add(line, "marker");
		add_flag(line, desc->offset & MARKER_UFFD_WP, "uffd-wp");
		add_flag(line, desc->offset & MARKER_POISONED, "poisoned");
		add_flag(line, desc->offset & MARKER_GUARD, "guard");
		break;
	default:
		add(line, "%s pfn 0x%" PRIx64, desc->name, desc->pfn);
		add_flag(line, desc->young, "young");
		add_flag(line, desc->dirty, "dirty");
		break;
	}
	add_flag(line, desc->exclusive, "excl");
	add_flag(line, desc->soft_dirty, "soft-dirty");
	add_flag(line, desc->uffd, "uffd");
}

char *pte_text(const struct pte_ops *ops, const struct softleaf_types *types,
	       pte_t pte, char *buf, size_t size)
{
	struct line line = { .buf = buf, .size = size };
	struct pte_desc desc;

	if (size)
		buf[0] = '\0';
	ops->decode(pte, types, &desc);
	if (desc.kind == PTE_NONE)
		add(&line, "none");
	else if (desc.kind == PTE_TABLE)
		add(&line, "page table at pfn 0x%" PRIx64, desc.pfn);
	else if (pte_kind_maps(desc.kind))
		add_page(&line, ops, &desc);
	else
		add_softleaf(&line, &desc);
	return buf;
}
