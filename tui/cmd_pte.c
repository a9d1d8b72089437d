/* SPDX-License-Identifier: GPL-2.0-only */
/* Raw page-table entries, as from a crash dump, taken apart; or one put together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "out.h"
#include "pte_encode.h"
#include "scenario/suggest.h"

#define MAX_NAMES 32

static const char *const kind_names[] = {
	[PTE_NONE] = "none", [PTE_PRESENT] = "present", [PTE_PROTNONE] = "protnone",
	[PTE_INVALID] = "invalid", [PTE_TABLE] = "table",
	[PTE_SWAP] = "swap", [PTE_HWPOISON] = "hwpoison", [PTE_MIGRATION] = "migration",
	[PTE_DEVICE] = "device", [PTE_MARKER] = "marker",
};

static const char *const kind_texts[] = {
	[PTE_NONE] = "nothing is mapped here",
	[PTE_PRESENT] = "a page is mapped; the hardware uses this entry",
	[PTE_PROTNONE] = "a page is mapped, but every access faults (PROT_NONE or NUMA balancing)",
	[PTE_INVALID] = "a page is mapped, but every access faults while the entry is changed",
	[PTE_TABLE] = "a page table is below",
	[PTE_SWAP] = "the page was swapped out",
	[PTE_HWPOISON] = "the page was lost to a memory error; an access kills the process",
	[PTE_MIGRATION] = "the page is being moved; an access waits",
	[PTE_DEVICE] = "the page is in a device's memory or reserved for its use",
	[PTE_MARKER] = "no page; only marks that must not get lost",
};

/* Where raw entries come from. */
struct source {
	const struct arch *arch;
	const struct pte_ops *ops;	/* of the level: arch->pte or arch->pmd */
	const struct softleaf_types *types;
};

/* The names, "arm64, x86_64", to choose from. */
static const char *joined(const char *const *names, u32 nr, char *buf, size_t size)
{
	size_t at = 0;

	*buf = '\0';
	for (u32 i = 0; i < nr && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", names[i]);
	return buf;
}

static bool no_such(const char *what, const char *name, const char *const *names, u32 nr)
{
	const char *near = suggest(name, names, sizeof(names[0]), nr);
	char list[160];

	if (near)
		complain(STATUS_USAGE, "no %s \"%.40s\" (did you mean \"%s\"?)", what, name, near);
	else
		complain(STATUS_USAGE, "no %s \"%.40s\": expected one of %s", what, name,
			 joined(names, nr, list, sizeof(list)));
	return false;
}

static bool find_arch(const char *name, struct source *source)
{
	const char *names[MAX_NAMES] = { NULL };

	source->arch = arch_find(name);
	if (source->arch)
		return true;
	for (u32 i = 0; i < nr_archs && i < MAX_NAMES; i++)
		names[i] = archs[i]->name;
	return no_such("architecture", name, names, nr_archs);
}

static bool find_types(const char *name, struct source *source)
{
	const struct kernel *kernel = name ? kernel_find(name) : &kernels[0];
	const char *names[MAX_NAMES] = { NULL };

	if (kernel) {
		source->types = &kernel->types;
		return true;
	}
	for (u32 i = 0; i < nr_kernels && i < MAX_NAMES; i++)
		names[i] = kernels[i].name;
	return no_such("kernel", name, names, nr_kernels);
}

static bool read_hex(const char *word, pte_t *pte)
{
	const char *digits = word[0] == '0' && (word[1] | 32) == 'x' ? word + 2 : word;
	size_t len = strlen(digits);

	*pte = 0;
	if (len == 0 || len > 16 || strspn(digits, "0123456789abcdefABCDEF") != len)
		return false;
	for (; *digits; digits++) {
		u32 c = (u32)(*digits | 32);

		*pte = *pte << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return true;
}

/* --- text ------------------------------------------------------------------ */

static void print_text(const struct source *source, pte_t pte, const struct paint *paint)
{
	struct pte_desc desc;
	char meaning[160], bits[8], value[24];
	const struct pte_field *field;
	u32 nr;

	source->ops->decode(pte, source->types, &desc);
	printf("%s%s%s 0x%016" PRIx64 "%s  %s\n", paint->bold, source->arch->name,
	       source->ops == source->arch->pmd ? " PMD" : "", pte, paint->off,
	       pte_text(source->ops, source->types, pte, meaning, sizeof(meaning)));
	if (desc.kind == PTE_SWAP)
		printf("  %s: page slot 0x%" PRIx64 " of swap device %" PRIu32 "\n",
		       kind_texts[desc.kind], desc.offset, desc.type);
	else
		printf("  %s\n", kind_texts[desc.kind]);
	field = source->ops->fields[desc.kind].field;
	nr = source->ops->fields[desc.kind].nr;
	for (u32 i = 0; i < nr; i++) {
		u64 held = pte_field_value(&field[i], pte);

		if (held == 0 && strcmp(field[i].name, "type") != 0)
			continue;
		if (field[i].hi == field[i].lo)
			snprintf(bits, sizeof(bits), "%u", field[i].hi);
		else
			snprintf(bits, sizeof(bits), "%u:%u", field[i].hi, field[i].lo);
		snprintf(value, sizeof(value), held < 10 ? "%" PRIu64 : "0x%" PRIx64, held);
		printf("  %-5s  %-10s  %-12s  %s%s%s\n", bits, field[i].name, value, paint->dim,
		       field[i].text, paint->off);
	}
}

/* --- json ------------------------------------------------------------------ */

static void json_page(struct json_out *o, const struct pte_ops *ops, const struct pte_desc *desc)
{
	json_hex(o, "pfn", desc->pfn, 1);
	json_bool(o, "write", desc->write);
	json_bool(o, "young", desc->young);
	json_bool(o, "dirty", desc->dirty);
	json_bool(o, "hw_dirty", desc->hw_dirty);
	json_bool(o, "sw_dirty", desc->sw_dirty);
	if (ops->has_soft_dirty)
		json_bool(o, "soft_dirty", desc->soft_dirty);
	json_bool(o, "uffd", desc->uffd);
	if (ops->has_cont)
		json_bool(o, "cont", desc->cont);
	json_bool(o, "special", desc->special);
	json_bool(o, "exec", desc->exec);
	json_bool(o, "user", desc->user);
	json_number(o, "pkey", desc->pkey);
	if (ops->has_cont)
		json_number(o, "attr", desc->attr);
}

static void json_leaf(struct json_out *o, const struct pte_ops *ops, const struct pte_desc *desc)
{
	json_string(o, "name", desc->name);
	json_number(o, "type", desc->type);
	json_hex(o, "offset", desc->offset, 1);
	if (desc->kind == PTE_HWPOISON || desc->kind == PTE_MIGRATION || desc->kind == PTE_DEVICE)
		json_hex(o, "pfn", desc->pfn, 1);
	if (desc->kind == PTE_MIGRATION) {
		json_bool(o, "young", desc->young);
		json_bool(o, "dirty", desc->dirty);
	}
	if (desc->kind == PTE_MARKER) {
		json_bool(o, "uffd_wp", desc->offset & MARKER_UFFD_WP);
		json_bool(o, "poisoned", desc->offset & MARKER_POISONED);
		json_bool(o, "guard", desc->offset & MARKER_GUARD);
	}
	json_bool(o, "exclusive", desc->exclusive);
	if (ops->has_soft_dirty)
		json_bool(o, "soft_dirty", desc->soft_dirty);
	json_bool(o, "uffd", desc->uffd);
}

static void json_fields(struct json_out *o, const struct pte_ops *ops, enum pte_kind kind,
			pte_t pte)
{
	const struct pte_field *field = ops->fields[kind].field;
	u32 nr = ops->fields[kind].nr;

	json_array(o, "fields");
	for (u32 i = 0; i < nr; i++) {
		u64 held = pte_field_value(&field[i], pte);

		if (held == 0 && strchr(field[i].name, '-'))
			continue;
		json_object(o, NULL);
		json_string(o, "name", field[i].name + (field[i].name[0] == '~'));
		json_number(o, "hi", field[i].hi);
		json_number(o, "lo", field[i].lo);
		json_hex(o, "value", held, 1);
		json_string(o, "text", field[i].text);
		json_close(o);
	}
	json_close(o);
}

static void json_entry(struct json_out *o, const struct source *source, pte_t pte)
{
	const struct pte_ops *ops = source->ops;
	struct pte_desc desc;
	char text[160];

	ops->decode(pte, source->types, &desc);
	json_object(o, NULL);
	json_string(o, "arch", source->arch->name);
	json_string(o, "level", source->ops == source->arch->pmd ? "pmd" : "pte");
	json_hex(o, "raw", pte, 16);
	json_string(o, "kind", kind_names[desc.kind]);
	json_string(o, "text", pte_text(ops, source->types, pte, text, sizeof(text)));
	if (pte_kind_maps(desc.kind))
		json_page(o, ops, &desc);
	else if (desc.kind != PTE_NONE)
		json_leaf(o, ops, &desc);
	json_fields(o, ops, desc.kind, pte);
	json_close(o);
}

/* One entry is an object, several are an array. */
static void print_entries(const struct options *opt, const struct source *source, const pte_t *pte,
			  u32 nr)
{
	struct json_out o;

	if (opt->format != FORMAT_JSON) {
		for (u32 i = 0; i < nr; i++) {
			if (i)
				putchar('\n');
			print_text(source, pte[i], paint(options_color(opt)));
		}
		return;
	}
	json_out_begin(&o, stdout, nr > 1 ? 3 : 2);
	if (nr > 1)
		json_array(&o, NULL);
	for (u32 i = 0; i < nr; i++)
		json_entry(&o, source, pte[i]);
	if (nr > 1)
		json_close(&o);
}

static int decode_all(const struct options *opt, const struct source *source, char *const *words,
		      u32 nr)
{
	pte_t *pte = calloc(nr, sizeof(*pte));
	const char *what = "is no 64-bit hexadecimal number";
	const char *hint = " (for FIELD=VALUE add --encode)";
	int status = STATUS_OK;

	if (!pte)
		return complain(STATUS_INTERNAL, "out of memory");
	for (u32 i = 0; i < nr && status == STATUS_OK; i++)
		if (!read_hex(words[i], &pte[i]))
			status = complain(STATUS_USAGE, "\"%.40s\" %s%s", words[i], what,
					  strchr(words[i], '=') ? hint : "");
	if (status == STATUS_OK)
		print_entries(opt, source, pte, nr);
	free(pte);
	return status;
}

int cmd_pte(const struct options *opt)
{
	struct error err = { .text = "" };
	struct source source;
	pte_t pte;

	if (!find_arch(opt->args[0], &source) || !find_types(opt->kernel, &source))
		return STATUS_USAGE;
	source.ops = opt->level == AT_PMD ? source.arch->pmd : source.arch->pte;
	if (!opt->encode)
		return decode_all(opt, &source, opt->args + 1, opt->nr_args - 1);
	if (!pte_encode(source.arch, source.ops, source.types, opt->args + 1, opt->nr_args - 1,
			&pte, &err))
		return complain(STATUS_USAGE, "%s", err.text);
	print_entries(opt, &source, &pte, 1);
	return STATUS_OK;
}
