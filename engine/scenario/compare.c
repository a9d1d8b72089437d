/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/tlb.h"
#include "scenario/compare.h"
#include "trace/describe.h"

bool lanes_agree(const struct run *run, const u32 *lane, u32 nr, u32 tick)
{
	const struct step *first = NULL;
	u32 moving = 0;

	for (u32 i = 0; i < nr; i++) {
		const struct step *step;

		if (!align_moves(run->align, tick, lane[i]))
			continue;
		moving++;
		step = trace_step(run->lanes[lane[i]].trace,
				  align_pos(run->align, tick, lane[i]) - 1);
		if (!first)
			first = step;
		if (step->event != first->event || step->page != first->page ||
		    step->arg != first->arg)
			return false;
	}
	return moving == 0 || moving == nr;
}

bool lanes_part(struct run *run, const u32 lane[2], u32 *tick)
{
	for (u32 window = 0; window < run->nr_windows; window++) {
		if (!run_show(run, window))
			return false;
		*tick = align_first_tick(run->align);
		while (++*tick <= align_last_tick(run->align))
			if (!lanes_agree(run, lane, 2, *tick))
				return true;
	}
	*tick = 0;
	return true;
}

struct compare {
	const struct lane *const *lane;
	const struct mm_state *s[2];
	const struct names *names;
	bool same_arch;
	bool same_entries;	/* equal page-table entries mean the same */
	void (*emit)(void *ctx, const struct difference *d);
	void *ctx;
	u32 nr;
};

#define WORDS(array, type, field)							\
	ARRAY_##array, offsetof(struct type, field) / sizeof(u32),			\
	sizeof(((struct type *)0)->field) / sizeof(u32)

/* Words that are not compared like others. */
enum trait { LEFT_OUT, ONE_ARCH, GENERATION };
static const struct {
	enum trait trait;
	enum state_array array;
	u32 first, nr;
} traits[] = {
	/* of a call that has returned */
	{ LEFT_OUT, WORDS(TASK, task, walk_address) },
	{ LEFT_OUT, WORDS(TASK, task, madvise_address) }, { LEFT_OUT, WORDS(TASK, task, walk_vma) },
	{ LEFT_OUT, WORDS(TASK, task, walk_pte) }, { LEFT_OUT, WORDS(TASK, task, walk_pmd) },
	{ LEFT_OUT, WORDS(TASK, task, walk_flags) },
	{ LEFT_OUT, WORDS(TASK, task, phase) }, { LEFT_OUT, WORDS(TASK, task, folio) },
	{ LEFT_OUT, WORDS(TASK, task, page) }, { LEFT_OUT, WORDS(TASK, task, nr_pages) },
	{ LEFT_OUT, WORDS(TASK, task, run) },
	/* page-table entries are compared by what they mean */
	{ LEFT_OUT, WORDS(TABLE, table, pmd) },
	/* of TLBs, which are compared page by page */
	{ LEFT_OUT, WORDS(CPU, cpu, nr_tlb) },
	{ ONE_ARCH, WORDS(MM, mm, cpumask) }, { ONE_ARCH, WORDS(MM, mm, tlb_gen) },
	{ ONE_ARCH, WORDS(CPU, cpu, tlb_gen) }, { ONE_ARCH, WORDS(TASK, task, ubc_cpumask) },
	{ ONE_ARCH, WORDS(TASK, task, ubc_unmapped_pages) },
	{ GENERATION, WORDS(MM, mm, tlb_gen) }, { GENERATION, WORDS(MM, mm, tlb_pending) },
	{ GENERATION, WORDS(MM, mm, tlb_flushed) }, { GENERATION, WORDS(CPU, cpu, tlb_gen) },
};

static bool has_trait(enum trait trait, enum state_array array, u32 word)
{
	for (u32 i = 0; i < NR_OF(traits); i++)
		if (traits[i].trait == trait && traits[i].array == array &&
		    word - traits[i].first < traits[i].nr)
			return true;
	return false;
}

static void found(struct compare *c, const struct difference *d)
{
	c->nr++;
	c->emit(c->ctx, d);
}

static u64 field_value(const struct mm_state *s, const struct word_info *info)
{
	return described_value((const u32 *)(const void *)s, info);
}

/* nr elements of that many words from this field on differ in the same way. */
static void found_field(struct compare *c, const char *of, const struct word_info *info, u32 nr,
			bool generation)
{
	struct difference d = { .of = of, .nr = nr, .number = info->kind == VALUE_NUMBER,
				.generation = generation };

	snprintf(d.what, sizeof(d.what), "%s", info->what);
	for (u32 k = 0; k < 2; k++)
		describe_value(c->s[k], c->names, info->kind, field_value(c->s[k], info),
			       d.value[k], sizeof(d.value[k]));
	found(c, &d);
}

/* The bits of a word that are not the same in both states. */
static u32 differing(const struct compare *c, u32 word)
{
	return ((const u32 *)(const void *)c->s[0])[word] ^
	       ((const u32 *)(const void *)c->s[1])[word];
}

/* Do both states have the same at other as at word? */
static bool repeats(const struct compare *c, const struct word_info *info, u32 other)
{
	struct word_info there = *info;

	there.word = other;
	return field_value(c->s[0], info) == field_value(c->s[0], &there) &&
	       field_value(c->s[1], info) == field_value(c->s[1], &there);
}

/* What element i of an array is a part of: a run ends where that does. */
static u32 whole(const struct compare *c, enum state_array array, u32 i)
{
	if (array == ARRAY_PAGE)
		return page_placed_folio(c->s[0], i);
	if (array == ARRAY_SLOT)
		return slot_device(c->s[0], i);
	return array == ARRAY_TABLE ? i : 0;
}

/* One field of every element of an array: it has these bits of the word'th. */
static void compare_field(struct compare *c, enum state_array array, const char *of, u32 stride,
			  u32 word, u32 bits)
{
	u32 nr = c->s[0]->nr[array];

	for (u32 i = 0, run; i < nr; i += run) {
		struct word_info info;
		u32 at = c->s[0]->at[array] + i * stride + word;

		run = 1;
		if (!(differing(c, at) & bits))
			continue;
		describe_word(c->s[0], c->names, at, bits, &info);
		if (info.word != at && differing(c, info.word))
			continue;	/* the other half was told of already */
		while (i + run < nr && whole(c, array, i + run) == whole(c, array, i) &&
		       repeats(c, &info, info.word + run * stride))
			run++;
		found_field(c, of, &info, run, has_trait(GENERATION, array, word));
	}
}

static void compare_array(struct compare *c, enum state_array array, const char *of, size_t size)
{
	u32 words = (u32)(size / sizeof(u32)), first = c->s[0]->at[array];
	struct word_info info;

	for (u32 i = 0; i < words && c->s[0]->nr[array]; i++) {
		if (has_trait(LEFT_OUT, array, i) ||
		    (!c->same_arch && has_trait(ONE_ARCH, array, i)))
			continue;
		for (u32 left = UINT32_MAX;
		     describe_word(c->s[0], c->names, first + i, left, &info); left &= ~info.bits)
			compare_field(c, array, of, words, i, info.bits);
	}
}

static void compare_lists(struct compare *c)
{
	u32 first = offsetof(struct mm_state, list) / sizeof(u32);
	u32 nr = NR_LISTS * sizeof(struct list) / sizeof(u32);
	struct word_info info;

	for (u32 word = first; word < first + nr; word++)
		if (differing(c, word) &&
		    describe_word(c->s[0], c->names, word, UINT32_MAX, &info))
			found_field(c, "list", &info, 1, false);
}

/* A page-table entry: pte[i], or the PMD of table[i]. */
struct entry {
	bool pmd;
	u32 i;
};

static const struct pte_ops *ops_of(const struct compare *c, u32 k, struct entry e)
{
	return e.pmd ? c->lane[k]->m.arch->pmd : c->lane[k]->m.arch->pte;
}

static u64 value_of(const struct compare *c, u32 k, struct entry e)
{
	return e.pmd ? state_table(c->s[k], e.i)->pmd : *state_pte(c->s[k], e.i);
}

static const struct softleaf_types *types_of(const struct compare *c, u32 k)
{
	return &c->lane[k]->spec->kernel->types;
}

static void decode(const struct compare *c, u32 k, struct entry e, struct pte_desc *desc)
{
	ops_of(c, k, e)->decode(value_of(c, k, e), types_of(c, k), desc);
}

static bool same_bits(const struct pte_desc *a, const struct pte_desc *b)
{
	return a->write == b->write && a->young == b->young && a->dirty == b->dirty &&
	       a->uffd == b->uffd && a->special == b->special && a->exec == b->exec &&
	       a->user == b->user && a->exclusive == b->exclusive;
}

/* Does the entry say the same in both states? */
static bool same_entry(const struct compare *c, struct entry e)
{
	struct pte_desc a, b;

	if (c->same_entries)
		return value_of(c, 0, e) == value_of(c, 1, e);
	decode(c, 0, e, &a);
	decode(c, 1, e, &b);
	if (a.kind != b.kind || !same_bits(&a, &b))
		return false;
	if (ops_of(c, 0, e)->has_soft_dirty && ops_of(c, 1, e)->has_soft_dirty &&
	    a.soft_dirty != b.soft_dirty)
		return false;
	if (a.kind == PTE_SWAP || a.kind == PTE_MARKER)
		return a.type == b.type && a.offset == b.offset;
	return a.kind == PTE_NONE ||
	       (a.pfn == b.pfn && (!a.name || !b.name || strcmp(a.name, b.name) == 0));
}

/* Do both states' PTEs go on as they began nr entries before? */
static bool entry_goes_on(const struct compare *c, struct entry e, u32 nr)
{
	struct entry next = { .i = e.i + nr };

	for (u32 k = 0; k < 2; k++)
		if (!pte_continues(ops_of(c, k, e), types_of(c, k), value_of(c, k, e), nr,
				   value_of(c, k, next)))
			return false;
	return true;
}

static void found_entries(struct compare *c, struct entry e, u32 nr)
{
	struct difference d = { .of = e.pmd ? "pmd" : "pte", .nr = nr };
	struct word_info info;
	u32 at = c->s[0]->at[ARRAY_PTE] + e.i * 2;

	if (e.pmd)
		at = (u32)((const u32 *)(const void *)&state_table(c->s[0], e.i)->pmd -
			   (const u32 *)(const void *)c->s[0]);
	describe_word(c->s[0], c->names, at, UINT32_MAX, &info);
	snprintf(d.what, sizeof(d.what), "%s", info.what);
	for (u32 k = 0; k < 2; k++) {
		u64 value = value_of(c, k, e);

		snprintf(d.value[k], sizeof(d.value[k]), "0x%016" PRIx64, value);
		pte_text(ops_of(c, k, e), types_of(c, k), value, d.text[k], sizeof(d.text[k]));
	}
	found(c, &d);
}

static void compare_entries(struct compare *c)
{
	for (u32 i = 0; i < c->s[0]->nr[ARRAY_TABLE]; i++)
		if (!same_entry(c, (struct entry){ true, i }))
			found_entries(c, (struct entry){ true, i }, 1);
	for (u32 i = 0, run; i < c->s[0]->nr[ARRAY_PTE]; i += run) {
		struct entry e = { .i = i };

		run = 1;
		if (same_entry(c, e))
			continue;
		while ((i + run) % PTRS_PER_PTE &&
		       !same_entry(c, (struct entry){ .i = i + run }) && entry_goes_on(c, e, run))
			run++;
		found_entries(c, e, run);
	}
}

/* What a CPU's TLB says about a page; pfn NONE: nothing. */
struct translation {
	u32 pfn, flags;
	bool stale;
};

static struct translation translate(const struct compare *c, u32 k, u32 cpu, u32 mm, u64 va)
{
	u32 i = tlb_find(c->s[k], cpu, mm, va);
	const struct tlb_entry *entry = state_tlb(c->s[k], i == NONE ? 0 : i);

	if (i == NONE)
		return (struct translation){ .pfn = NONE };
	return (struct translation){
		.pfn = entry->pfn + (u32)((va - entry->va) >> PAGE_SHIFT), .flags = entry->flags,
		.stale = tlb_stale(c->s[k], c->lane[k]->m.arch, entry),
	};
}

static bool goes_on(const struct translation *first, u32 nr, const struct translation *t)
{
	return first->flags == t->flags && first->stale == t->stale &&
	       (first->pfn == NONE ? t->pfn == NONE : t->pfn == first->pfn + nr);
}

static void translation_text(const struct translation *t, char *buf, size_t size)
{
	if (t->pfn == NONE)
		snprintf(buf, size, "nothing");
	else
		snprintf(buf, size, "pfn 0x%" PRIx32 "%s%s%s", t->pfn,
			 t->flags & TLB_WRITABLE ? " writable" : "",
			 t->flags & TLB_DIRTY ? " dirty" : "", t->stale ? " stale" : "");
}

/* Pages that a CPU's TLB has otherwise in both states, as long as they go on alike. */
struct tlb_run {
	u32 cpu, mm, nr;
	u64 va;
	struct translation t[2];
};

static void end_tlb_run(struct compare *c, struct tlb_run *run)
{
	struct difference d = { .of = "tlb", .nr = run->nr };

	if (!run->nr)
		return;
	snprintf(d.what, sizeof(d.what), "tlb cpu%" PRIu32 " %s 0x%" PRIx64, run->cpu,
		 c->names->mm(c->names->ctx, run->mm), run->va);
	for (u32 k = 0; k < 2; k++)
		translation_text(&run->t[k], d.value[k], sizeof(d.value[k]));
	found(c, &d);
	run->nr = 0;
}

static void compare_page(struct compare *c, struct tlb_run *run, u32 cpu, u32 mm, u64 va)
{
	struct translation t[2] = { translate(c, 0, cpu, mm, va), translate(c, 1, cpu, mm, va) };

	if (goes_on(&t[0], 0, &t[1]))
		return;
	if (run->nr && run->cpu == cpu && run->mm == mm && run->va + run->nr * PAGE_SIZE == va &&
	    goes_on(&run->t[0], run->nr, &t[0]) && goes_on(&run->t[1], run->nr, &t[1])) {
		run->nr++;
		return;
	}
	end_tlb_run(c, run);
	*run = (struct tlb_run){ .cpu = cpu, .mm = mm, .nr = 1, .va = va, .t = { t[0], t[1] } };
}

/* The pages in the first state's TLBs, then those that are in the second's alone. */
static void compare_tlbs(struct compare *c, u32 cpu, u32 k)
{
	const struct mm_state *s = c->s[k];
	struct tlb_run run = { .nr = 0 };

	for (u32 i = 0; i < state_cpu(s, cpu)->nr_tlb; i++) {
		const struct tlb_entry *entry = state_tlb(s, cpu * s->nr_tlb + i);

		for (u32 page = 0; page < entry->span; page++) {
			u64 va = entry->va + page * PAGE_SIZE;

			if (k == 0 || tlb_find(c->s[0], cpu, entry->mm, va) == NONE)
				compare_page(c, &run, cpu, entry->mm, va);
		}
	}
	end_tlb_run(c, &run);
}

u32 compare_ends(const struct lane *const lane[2], const struct names *names,
		 void (*emit)(void *ctx, const struct difference *d), void *ctx)
{
	struct compare c = { .lane = lane, .s = { lane[0]->m.s, lane[1]->m.s }, .names = names,
			     .same_arch = lane[0]->m.arch == lane[1]->m.arch,
			     .emit = emit, .ctx = ctx };

	c.same_entries = c.same_arch && memcmp(types_of(&c, 0), types_of(&c, 1),
					       sizeof(struct softleaf_types)) == 0;
	compare_array(&c, ARRAY_FOLIO, "folio", sizeof(struct folio));
	compare_array(&c, ARRAY_PAGE, "page", sizeof(struct page));
	compare_lists(&c);
	compare_array(&c, ARRAY_MM, "mm", sizeof(struct mm));
	compare_array(&c, ARRAY_VMA, "vma", sizeof(struct vma));
	compare_array(&c, ARRAY_TABLE, "table", sizeof(struct table));
	compare_entries(&c);
	compare_array(&c, ARRAY_SLOT, "slot", sizeof(struct slot));
	compare_array(&c, ARRAY_CLUSTER, "cluster", sizeof(struct cluster));
	compare_array(&c, ARRAY_DEVICE, "device", sizeof(struct swap_device));
	compare_array(&c, ARRAY_TASK, "task", sizeof(struct task));
	compare_array(&c, ARRAY_CPU, "cpu", sizeof(struct cpu));
	for (u32 cpu = 0; cpu < c.s[0]->nr[ARRAY_CPU]; cpu++)
		for (u32 k = 0; k < 2; k++)
			compare_tlbs(&c, cpu, k);
	return c.nr;
}
