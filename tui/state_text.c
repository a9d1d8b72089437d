/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/tlb.h"
#include "core/slot.h"
#include "scenario/expr.h"
#include "state_text.h"
#include "trace/describe.h"

u64 vma_pages(const struct mm_state *s, u32 vma)
{
	return (state_vma(s, vma)->end - state_vma(s, vma)->start) >> PAGE_SHIFT;
}

u32 vma_page_pte(const struct mm_state *s, u32 vma, u64 page)
{
	u32 pte = va_pte(s, state_vma(s, vma)->mm, state_vma(s, vma)->start + (page << PAGE_SHIFT));

	return pte == NONE || state_table(s, pte / PTRS_PER_PTE)->pmd ? NONE : pte;
}

/* What the last step changed has a * in front. */
static char mark(const struct moment *at, const void *from, size_t bytes)
{
	return cursor_changed_any(&at->c, from, bytes) ? '*' : ' ';
}

void print_path(const struct call_path *path, int indent)
{
	size_t column = 0;

	for (u32 i = 0; i < path->nr; i++) {
		const char *name = event_info[path->function[i]].name;

		if (column + strlen(name) > 72) {
			fputs(" <\n", stdout);
			column = 0;
		}
		if (column)
			column += (size_t)printf(" < %s", name);
		else
			column = (size_t)printf("%*s%s", indent, "", name);
	}
	if (path->nr)
		putchar('\n');
}

static void print_step(const struct moment *at)
{
	const struct mm_state *s = at->c.live;
	const struct step *step = cursor_step(&at->c);
	const struct call_path *path = cursor_path(&at->c);
	const struct kernel *kernel = at->lane->spec->kernel;
	char text[512], remark[128];

	lane_remark(at->lane->spec, remark, sizeof(remark));
	printf("%s  %s%s%s%s  step %" PRIu32 " of %" PRIu32 "  %s\n", at->lane->spec->name,
	       kernel->name, *remark ? " (" : "", remark, *remark ? ")" : "", at->c.pos,
	       (u32)at->lane->steps, phase_names[state_task(s, s->cpu)->phase]);
	printf("  %s\n",
	       step ? narrate(&at->c, &at->names, text, sizeof(text)) : "Before the first step.");
	if (step && *narrate_why(&at->c))
		printf("  %s\n", narrate_why(&at->c));
	if (step)
		print_path(path, 2);
}

/* "33 = 16 maps + 16 swap cache + 1 isolated" */
static void print_references(const struct folio *folio)
{
	u32 cache = folio_cache_refs(folio);
	u32 pins = folio->pincount * folio_pin_refs(folio);
	u32 known = folio->mapcount + cache + folio_isolated(folio) + folio->held + folio->gup;
	const struct {
		u32 nr;
		const char *of;
	} parts[] = {
		{ folio->mapcount, folio->mapcount == 1 ? "map" : "maps" },
		{ cache, folio_flag(folio, PG_pagecache) ? "page cache" : "swap cache" },
		{ folio_isolated(folio), "isolated" },
		{ folio->held, "held by code at work" },
		{ pins, pins == 1 ? "pin" : "pins" },
		{ folio->gup - pins, "held by others" },
		{ folio->refcount > known ? folio->refcount - known : 0,
		  folio->entire_mapcount ? "for maps to come" : "not dropped yet" },
	};
	const char *before = " = ";

	printf("refcount %" PRIu32, folio->refcount);
	for (u32 i = 0; i < NR_OF(parts); i++) {
		if (!parts[i].nr)
			continue;
		printf("%s%" PRIu32 " %s", before, parts[i].nr, parts[i].of);
		before = " + ";
	}
	if (folio->refcount < known)
		printf(" - %" PRIu32 " not taken", known - folio->refcount);
	putchar('\n');
}

/* "0..15", "0..3 8..15", "none" */
static void print_exclusive(const struct mm_state *s, const struct folio *folio)
{
	u32 nr = folio_nr_pages(folio), first = nr;
	bool any = false;

	printf("           exclusive");
	for (u32 i = 0; i <= nr; i++) {
		bool exclusive = i < nr && state_page(s, folio->page + i)->anon_exclusive;

		if (exclusive && first == nr)
			first = i;
		if (exclusive || first == nr)
			continue;
		printf(first == i - 1 ? " %" PRIu32 : " %" PRIu32 "..%" PRIu32, first, i - 1);
		any = true;
		first = nr;
	}
	puts(any ? "" : " none");
}

static bool same_folio_text(const struct moment *at, const struct folio *a, const struct folio *b)
{
	const struct mm_state *s = at->c.live;

	return page_placed_folio(s, a->page) == page_placed_folio(s, b->page) &&
	       mark(at, a, sizeof(*a)) == mark(at, b, sizeof(*b)) && a->flags == b->flags &&
	       a->refcount == b->refcount && a->mapcount == b->mapcount &&
	       a->pincount == b->pincount && a->gup == b->gup && a->held == b->held &&
	       (a->swap == NONE ? b->swap == NONE : b->swap - a->swap == b->page - a->page) &&
	       state_page(s, a->page)->anon_exclusive == state_page(s, b->page)->anon_exclusive;
}

/* Tails of one folio that a split has made alike are told of together. */
static u32 alike(const struct moment *at, u32 i)
{
	const struct mm_state *s = at->c.live;
	u32 nr = 1;

	while (i >= s->nr_placed && i + nr < s->nr[ARRAY_FOLIO] && folio_exists(s, i + nr) &&
	       same_folio_text(at, state_folio(s, i), state_folio(s, i + nr)))
		nr++;
	return nr;
}

static void print_folios(const struct moment *at, u32 i, u32 nr)
{
	const struct mm_state *s = at->c.live;
	const struct folio *folio = state_folio(s, i);
	char name[32], slot[32];

	printf("%c folio %-2s", mark(at, folio, sizeof(*folio)),
	       at->names.folio(at->names.ctx, i, name));
	if (nr > 1)
		printf("..%s, each", at->names.folio(at->names.ctx, i + nr - 1, name));
	putchar(' ');
	print_references(folio);
	printf("           mapcount %" PRIu32 ", pages mapped %" PRIu32, folio->mapcount,
	       folio->nr_pages_mapped & (ENTIRELY_MAPPED - 1));
	if (folio->entire_mapcount)
		printf(", entirely %" PRIu32, folio->entire_mapcount);
	if (folio->pincount)
		printf(", pins %" PRIu32, folio->pincount);
	printf("\n           %" PRIu32 " KiB", 4u << folio->order);
	for (u32 k = 0; k < NR_FOLIO_FLAGS; k++)
		if (folio_flag(folio, (enum folio_flag)k))
			printf(" %s", folio_flag_names[k]);
	if (folio->swap != NONE)
		printf(", slot %s", slot_text(s, folio->swap, slot, sizeof(slot)));
	putchar('\n');
	print_exclusive(s, folio);
}

static void print_mm(const struct moment *at, u32 i)
{
	const struct mm *mm = state_mm(at->c.live, i);

	printf("%c mm %-6s anonpages %" PRIu32 ", ", mark(at, mm, sizeof(*mm)),
	       at->names.mm(at->names.ctx, i), mm->anonpages);
	if (mm->shmempages)
		printf("shmempages %" PRIu32 ", ", mm->shmempages);
	if (mm->filepages)
		printf("filepages %" PRIu32 ", ", mm->filepages);
	printf("swapents %" PRIu32 ", flushes pending %" PRIu32 ", flushed %" PRIu32 "\n",
	       mm->swapents, mm->tlb_pending, mm->tlb_flushed);
}

/* Does an entry continue the run that began nr entries before it? */
static bool continues(const struct moment *at, u32 first, u32 nr)
{
	const u64 *pte = state_pte(at->c.live, first);

	if (mark(at, pte, sizeof(*pte)) != mark(at, pte + nr, sizeof(*pte)))
		return false;
	return pte_continues(at->lane->m.arch->pte, &at->lane->spec->kernel->types, *pte, nr,
			     pte[nr]);
}

static void print_run(const struct moment *at, u32 first, u32 nr)
{
	const u64 *pte = state_pte(at->c.live, first);
	char text[160];

	printf("%c   0x%012" PRIx64 " %4" PRIu32 "  0x%016" PRIx64 "  %s\n",
	       mark(at, pte, sizeof(*pte)), pte_va(at->c.live, first), nr, *pte,
	       pte_text(at->lane->m.arch->pte, &at->lane->spec->kernel->types, *pte, text,
			sizeof(text)));
}

static void print_vma(const struct moment *at, u32 vma)
{
	const struct mm_state *s = at->c.live;
	u64 pages = vma_pages(s, vma);
	bool any = false;

	for (u64 i = 0; i < pages;) {
		u32 first = vma_page_pte(s, vma, i), nr = 1;

		if (first == NONE) {
			i++;
			continue;
		}
		if (!any)
			printf("  ptes %s, first of a run, entries\n",
			       at->names.mm(at->names.ctx, state_vma(s, vma)->mm));
		any = true;
		while (i + nr < pages && (first + nr) % PTRS_PER_PTE && continues(at, first, nr))
			nr++;
		print_run(at, first, nr);
		i += nr;
	}
}

static void print_huge(const struct moment *at, u32 i)
{
	const struct table *table = state_table(at->c.live, i);
	char text[160];

	if (table->pmd)
		printf("%c   0x%012" PRIx64 "  pmd  0x%016" PRIx64 "  %s\n",
		       mark(at, table, sizeof(*table)), table->va, table->pmd,
		       pte_text(at->lane->m.arch->pmd, &at->lane->spec->kernel->types, table->pmd,
				text, sizeof(text)));
}

static void print_slots(const struct moment *at, u32 i)
{
	static const char *const kinds[] = {
		[SLOT_FREE] = "free",
		[SLOT_FOLIO] = "in the swap cache",
		[SLOT_SHADOW] = "on the device",
		[SLOT_BAD] = "bad",
		[SLOT_RESERVED] = "reserved",
	};
	const struct mm_state *s = at->c.live;
	const struct kernel *kernel = at->lane->spec->kernel;
	const struct swap_device *device = state_device(s, i);
	const struct slot *slot = state_slot(s, device->first_slot);
	u32 first = device->first_slot;

	printf("  swap %s, %" PRIu32 " slots in use, in its %s\n", at->scenario->devices[i].id,
	       device->inuse, slot_place(kernel));
	for (u32 k = 0, nr; k < device->nr_slots; k += nr) {
		u64 raw = slot_raw(s, kernel, first + k);

		for (nr = 1; k + nr < device->nr_slots && slot[k].kind == slot[k + nr].kind &&
			     slot[k].count == slot[k + nr].count &&
			     slot[k].zero == slot[k + nr].zero &&
			     slot_raw(s, kernel, first + k + nr) == raw;
		     nr++)
			;
		if (slot[k].kind != SLOT_FREE && slot[k].kind != SLOT_BAD)
			printf("%c   0x%" PRIx32 " %4" PRIu32 "  0x%0*" PRIx64 "  count %" PRIu32
			       "  %s%s\n",
			       mark(at, &slot[k], nr * sizeof(*slot)), k, nr, slot_digits(kernel),
			       raw, slot[k].count, kinds[slot[k].kind],
			       slot[k].zero ? ", all zeroes" : "");
	}
}

/* Entries nr apart that continue one another are one line. */
static bool tlb_continues(const struct moment *at, const struct tlb_entry *first, u32 nr)
{
	const struct arch *arch = at->lane->m.arch;
	const struct tlb_entry *entry = first + nr;

	return entry->mm == first->mm && entry->span == first->span &&
	       entry->flags == first->flags &&
	       entry->invalidated_by == first->invalidated_by &&
	       entry->va == first->va + (u64)nr * first->span * PAGE_SIZE &&
	       entry->pfn == first->pfn + nr * first->span &&
	       tlb_stale(at->c.live, arch, entry) == tlb_stale(at->c.live, arch, first);
}

static void print_tlb(const struct moment *at, u32 cpu)
{
	const struct mm_state *s = at->c.live;
	const struct tlb_entry *entry = state_tlb(s, cpu * s->nr_tlb);
	u32 in_use = state_cpu(s, cpu)->nr_tlb;

	if (!in_use)
		printf("%c   cpu%" PRIu32 " holds nothing\n",
		       mark(at, state_cpu(s, cpu), sizeof(struct cpu)), cpu);
	for (u32 i = 0, nr; i < in_use; i += nr) {
		for (nr = 1; i + nr < in_use && tlb_continues(at, &entry[i], nr); nr++)
			;
		printf("%c   cpu%" PRIu32 " 0x%012" PRIx64 " %4" PRIu32 "  pfn 0x%" PRIx32
		       "%s%s%s%s, %" PRIu32 " %s\n",
		       mark(at, &entry[i], nr * sizeof(*entry)), cpu, entry[i].va,
		       nr * entry[i].span, entry[i].pfn,
		       entry[i].flags & TLB_WRITABLE ? " writable" : "",
		       entry[i].flags & TLB_DIRTY ? " dirty" : "",
		       tlb_stale(s, at->lane->m.arch, &entry[i]) ? " stale" : "",
		       tlb_invalidated(&entry[i]) ? ", TLBI under way" : "", nr,
		       nr == 1 ? "entry" : "entries");
	}
}

static void print_flush(const struct moment *at)
{
	const struct task *task = state_task(at->c.live, at->c.live->cpu);

	if (!task->ubc_flush_required) {
		puts("  no flush is deferred");
		return;
	}
	printf("  a flush is deferred, %s",
	       task->ubc_writable ? "writable entries among them" : "read-only entries alone");
	if (task->ubc_cpumask)
		printf(", CPUs 0x%" PRIx64, task->ubc_cpumask);
	putchar('\n');
}

void print_state_text(const struct moment *at)
{
	const struct mm_state *s = at->c.live;

	print_step(at);
	putchar('\n');
	for (u32 i = 0, nr; i < s->nr[ARRAY_FOLIO]; i += nr) {
		nr = alike(at, i);
		if (folio_exists(s, i))
			print_folios(at, i, nr);
	}
	for (u32 i = 0; i < s->nr[ARRAY_MM]; i++)
		print_mm(at, i);
	for (u32 i = 0; i < s->nr[ARRAY_TABLE]; i++)
		print_huge(at, i);
	for (u32 i = 0; i < s->nr[ARRAY_VMA]; i++)
		if (state_vma(s, i)->mm != NONE)
			print_vma(at, i);
	for (u32 i = 0; i < s->nr[ARRAY_DEVICE]; i++)
		print_slots(at, i);
	puts("  tlbs, first page of a run, pages");
	for (u32 i = 0; i < s->nr[ARRAY_CPU]; i++)
		print_tlb(at, i);
	print_flush(at);
}
