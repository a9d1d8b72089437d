/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "core/state.h"

static const u32 element_words[NR_ARRAYS] = {
	[ARRAY_CPU] = sizeof(struct cpu) / 4,
	[ARRAY_TASK] = sizeof(struct task) / 4,
	[ARRAY_MM] = sizeof(struct mm) / 4,
	[ARRAY_VMA] = sizeof(struct vma) / 4,
	[ARRAY_FOLIO] = sizeof(struct folio) / 4,
	[ARRAY_PAGE] = sizeof(struct page) / 4,
	[ARRAY_TABLE] = sizeof(struct table) / 4,
	[ARRAY_PTE] = sizeof(u64) / 4,
	[ARRAY_DEVICE] = sizeof(struct swap_device) / 4,
	[ARRAY_CLUSTER] = sizeof(struct cluster) / 4,
	[ARRAY_SLOT] = sizeof(struct slot) / 4,
	[ARRAY_SLOT_CACHE] = sizeof(struct slot_cache) / 4,
	[ARRAY_ANON_VMA] = sizeof(struct anon_vma) / 4,
	[ARRAY_TLB] = sizeof(struct tlb_entry) / 4,
};

static u32 align2(u32 words)
{
	return (words + 1) & ~1u;
}

void state_layout(struct mm_state *shape)
{
	u32 at = align2(sizeof(*shape) / 4);

	for (u32 i = 0; i < NR_ARRAYS; i++) {
		shape->at[i] = at;
		at = align2(at + shape->nr[i] * element_words[i]);
	}
	shape->words = at;
}

/* The entries of folio[] that stand ready for tails: words spare .. behind - 1. */
static u32 spare_words(const struct mm_state *s, u32 *spare, u32 *behind)
{
	*spare = s->at[ARRAY_FOLIO] + s->nr_placed * element_words[ARRAY_FOLIO];
	*behind = s->has_tails ? *spare : s->at[ARRAY_FOLIO + 1];
	return *behind - *spare;
}

u32 state_saved_words(const struct mm_state *s)
{
	u32 spare, behind;

	return s->words - spare_words(s, &spare, &behind);
}

void state_save(u32 *to, const u32 *from)
{
	const struct mm_state *s = (const struct mm_state *)(const void *)from;
	u32 spare, behind;

	spare_words(s, &spare, &behind);
	memcpy(to, from, spare * sizeof(u32));
	memcpy(to + behind, from + behind, (s->words - behind) * sizeof(u32));
}

void state_copy(u32 *to, const u32 *from)
{
	const struct mm_state *old = (const struct mm_state *)(const void *)to;
	const struct mm_state *s = (const struct mm_state *)(const void *)from;

	if (old->words != s->words || old->has_tails)
		memcpy(to, from, s->words * sizeof(u32));
	else
		state_save(to, from);
}

const void *state_array(const struct mm_state *s, enum state_array array)
{
	return (const u32 *)(const void *)s + s->at[array];
}

static u64 folio_key(const struct mm_state *s, u32 i, bool by_pfn)
{
	return by_pfn ? state_folio(s, i)->pfn : state_folio(s, i)->page;
}

/* The last placed folio that does not begin behind key: a page frame, or an index of page[]. */
static u32 last_not_above(const struct mm_state *s, u64 key, bool by_pfn)
{
	u32 low = 0, high = s->nr_placed, mid;
	u64 first, last;

	if (!high || key < (first = folio_key(s, 0, by_pfn)))
		return NONE;
	last = folio_key(s, high - 1, by_pfn);
	if (key >= last)
		return high - 1;
	/* First where it is if they are all alike, one next to the other. */
	for (mid = (u32)((key - first) * (high - 1) / (last - first)); high - low > 1;
	     mid = low + (high - low) / 2) {
		if (folio_key(s, mid, by_pfn) > key)
			high = mid;
		else if (folio_key(s, mid + 1, by_pfn) > key)
			return mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Is there no page frame between the placed folios that is not theirs? */
static bool without_gaps(const struct mm_state *s)
{
	const struct folio *first = state_folio(s, 0), *last = first + s->nr_placed - 1;

	return s->nr_placed && last->pfn - first->pfn == last->page;
}

u32 pfn_page(const struct mm_state *s, u64 pfn)
{
	u64 page;
	u32 i, end;

	if (without_gaps(s)) {
		page = pfn - state_folio(s, 0)->pfn;
		return page < s->nr[ARRAY_PAGE] ? (u32)page : NONE;
	}
	i = last_not_above(s, pfn, true);
	if (i == NONE)
		return NONE;
	end = i + 1 < s->nr_placed ? state_folio(s, i + 1)->page : s->nr[ARRAY_PAGE];
	page = state_folio(s, i)->page + (pfn - state_folio(s, i)->pfn);
	return page < end ? (u32)page : NONE;
}

u32 pfn_folio(const struct mm_state *s, u64 pfn)
{
	return page_folio(s, pfn_page(s, pfn));
}

u32 page_placed_folio(const struct mm_state *s, u32 page)
{
	return page < s->nr[ARRAY_PAGE] ? last_not_above(s, page, false) : NONE;
}

u32 page_own_folio(const struct mm_state *s, u32 page)
{
	u32 placed = page_placed_folio(s, page);

	if (state_folio(s, placed)->page == page)
		return placed;
	return s->nr_placed + page - placed - 1;
}

u32 va_table(const struct mm_state *s, u32 mm, u64 va)
{
	u32 i = 0;

	while (state_table(s, i)->mm != mm || state_table(s, i)->va != (va & ~(PMD_SIZE - 1)))
		i++;
	return i;
}

u32 va_vma(const struct mm_state *s, u32 mm, u64 va)
{
	for (u32 i = 0; i < s->nr[ARRAY_VMA]; i++) {
		const struct vma *vma = state_vma(s, i);

		if (vma->mm == mm && vma->start <= va && va < vma->end)
			return i;
	}
	return NONE;
}

u32 find_vma(const struct mm_state *s, u32 mm, u64 va)
{
	u32 first = NONE;

	for (u32 i = 0; i < s->nr[ARRAY_VMA]; i++) {
		const struct vma *vma = state_vma(s, i);

		if (vma->mm == mm && vma->end > va &&
		    (first == NONE || vma->start < state_vma(s, first)->start))
			first = i;
	}
	return first;
}

u32 va_pte(const struct mm_state *s, u32 mm, u64 va)
{
	u32 i = va_vma(s, mm, va);

	return i == NONE ? NONE : vma_pte(state_vma(s, i), va);
}

u64 pte_va(const struct mm_state *s, u32 pte)
{
	return state_table(s, pte / PTRS_PER_PTE)->va + pte % PTRS_PER_PTE * PAGE_SIZE;
}

u32 slot_page(const struct mm_state *s, u32 slot)
{
	u32 folio = state_slot(s, slot)->folio;

	if (state_slot(s, slot)->kind != SLOT_FOLIO || state_folio(s, folio)->swap == NONE)
		return NONE;
	return state_folio(s, folio)->page + slot - state_folio(s, folio)->swap;
}
