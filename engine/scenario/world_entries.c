/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in page tables beside mapped folios, who else counts on swap slots, what TLBs hold.
 *
 *	swap         a slot in use, counted once more
 *	migration    a page that somebody moves or splits: counted as memory of the mm
 *	hwpoison     a page frame that is broken
 *	uffd_wp      a marker: userfaultfd wants to hear of the first write
 */
#include "arch/tlb.h"
#include "scenario/builder.h"

static void count_slot(struct builder *b, u32 slot, u32 nr)
{
	if (slot_at(b, slot)->kind == SLOT_FREE)
		use_slot(b, slot, 0, SLOT_SHADOW);
	slot_at(b, slot)->count += nr;
	if (slot_at(b, slot)->count >= SWP_TB_COUNT_MAX)
		cluster_of(b, slot)->extend_table = 1;
}

bool place_slots(struct builder *b, struct error *err)
{
	for (u32 i = 0; i < b->s->nr_slots; i++) {
		const struct scn_slot *spec = &b->s->slots[i];

		for (u32 n = spec->first; n <= spec->last; n++) {
			u32 slot = state_device(b->state, spec->device)->first_slot + n;

			count_slot(b, slot, spec->count);
			if (spec->count > (u32)UINT16_MAX - slot_at(b, slot)->others)
				return fail_at(err, b->s, spec->at, "slots", i,
					       "expected at most %u users of slot %u, all told",
					       UINT16_MAX, n);
			slot_at(b, slot)->others =
				(u16)(slot_at(b, slot)->others + spec->count);
		}
	}
	return true;
}

static u32 entry_slot(const struct builder *b, const struct scn_entry *spec, u32 n)
{
	return state_device(b->state, spec->device)->first_slot + spec->slot + n;
}

static pte_t make_entry(struct builder *b, const struct scn_entry *spec, u32 n)
{
	const struct pte_ops *ops = b->arch->pte;
	const struct softleaf_types *types = &b->kernel->types;
	pte_t pte = 0;

	switch ((enum entry_kind)spec->kind) {
	case ENTRY_SWAP:
		pte = ops->swp_entry(spec->device, spec->slot + n);
		if (spec->exclusive)
			pte = ops->swp_mkexclusive(pte);
		break;
	case ENTRY_MIGRATION:
		pte = make_migration_entry(
			ops, types, spec->exclusive ? MIGRATION_READ_EXCLUSIVE : MIGRATION_READ,
			folio_at(b, scn_folio_state(b->s, spec->folio))->pfn + spec->page + n,
			false, false);
		break;
	case ENTRY_HWPOISON:
		pte = ops->swp_entry(softleaf_type(types, "hwpoison"), spec->pfn + n);
		break;
	case ENTRY_UFFD_WP:
		return make_pte_marker(ops, types, MARKER_UFFD_WP);
	}
	if (spec->soft_dirty && ops->has_soft_dirty)
		pte = ops->swp_mksoft_dirty(pte);
	return spec->uffd ? ops->swp_mkuffd(pte) : pte;
}

static void account_entry(struct builder *b, const struct scn_entry *spec, u32 n)
{
	struct mm *mm = mm_at(b, spec->mm);

	if (spec->kind == ENTRY_MIGRATION)
		mm->anonpages++;
	if (spec->kind != ENTRY_SWAP)
		return;
	mm->swapents++;
	mm->on_mmlist = 1;
	count_slot(b, entry_slot(b, spec, n), 1);
}

static bool place_entry(struct builder *b, const struct scn_entry *spec, u32 n, struct error *err)
{
	size_t index = (size_t)(spec - b->s->entries);
	u64 va = spec->va + n * PAGE_SIZE;
	u32 at = va_pte(b->state, spec->mm, va);
	u64 *pte = WRITABLE(u64, b, state_pte, at);

	if (*pte)
		return fail_at(err, b->s, spec->at, "entries", index,
			       "expected a free address: something is at 0x%llx of \"%s\" already",
			       (unsigned long long)va, b->s->mms[spec->mm].id);
	if (spec->kind == ENTRY_SWAP && slot_at(b, entry_slot(b, spec, n))->kind == SLOT_BAD)
		return fail_at(err, b->s, spec->at, "entries", index,
			       "expected a slot above the header of the device");
	*pte = make_entry(b, spec, n);
	WRITABLE(struct table, b, state_table, at / PTRS_PER_PTE)->populated = 1;
	account_entry(b, spec, n);
	return true;
}

/* The page that is in the swap cache there, or NONE. */
static u32 page_in_slot(struct builder *b, u32 index)
{
	const struct slot *slot = slot_at(b, index);

	if (slot->kind != SLOT_FOLIO)
		return NONE;
	return folio_at(b, slot->folio)->page + index - folio_at(b, slot->folio)->swap;
}

/* A page that somebody has a swap entry for is not exclusive. */
static bool check_shared(struct builder *b, u32 index, struct scn_place at,
			 const char *list, u32 i, struct error *err)
{
	u32 page = page_in_slot(b, index);

	if (page == NONE || !page_at(b, page)->anon_exclusive)
		return true;
	return fail_at(err, b->s, at, list, i,
		       "expected \"exclusive\": false where page %u of the folio in slot %u is "
		       "mapped, as a swap entry shares it",
		       page - folio_at(b, slot_at(b, index)->folio)->page,
		       index - state_device(b->state, slot_device(b->state, index))->first_slot);
}

static bool check_slots(struct builder *b, u32 i, struct error *err)
{
	const struct scn_slot *spec = &b->s->slots[i];
	u32 first = state_device(b->state, spec->device)->first_slot;

	for (u32 n = spec->first; spec->count && n <= spec->last; n++)
		if (!check_shared(b, first + n, spec->at, "slots", i, err))
			return false;
	return true;
}

/* Whoever has an exclusive swap entry has the page alone. */
static bool check_entry(struct builder *b, const struct scn_entry *spec, u32 n,
			struct error *err)
{
	u32 index = entry_slot(b, spec, n), page = page_in_slot(b, index);
	const struct slot *slot = slot_at(b, index);

	if (!check_shared(b, index, spec->at, "entries", (u32)(spec - b->s->entries), err))
		return false;
	if (spec->exclusive && (slot->count > 1 || (page != NONE && page_at(b, page)->mapcount)))
		return fail_at(err, b->s, spec->at, "entries", (size_t)(spec - b->s->entries),
			       "expected no \"exclusive\", as somebody else has slot %u too",
			       spec->slot + n);
	return true;
}

bool place_entries(struct builder *b, struct error *err)
{
	const struct scenario *s = b->s;

	for (u32 i = 0; i < s->nr_entries; i++)
		for (u32 n = 0; n < s->entries[i].pages; n++)
			if (!place_entry(b, &s->entries[i], n, err))
				return false;
	for (u32 i = 0; i < s->nr_entries; i++)
		for (u32 n = 0; s->entries[i].kind == ENTRY_SWAP && n < s->entries[i].pages; n++)
			if (!check_entry(b, &s->entries[i], n, err))
				return false;
	for (u32 i = 0; i < s->nr_slots; i++)
		if (!check_slots(b, i, err))
			return false;
	return true;
}

/* --- TLBs -------------------------------------------------------------------- */

static void set_flag(struct machine *m, u32 entry, u32 flag, s32 on)
{
	if (on >= 0)
		put(m, &m->tlb[entry].flags, (m->tlb[entry].flags & ~flag) | (on ? flag : 0));
}

/* What CPUs hold already: as the page table says, or as the scenario insists. */
static bool place_tlb(struct machine *m, const struct scenario *s, const struct scn_tlb *spec,
		      u64 va, struct error *err)
{
	u32 pte = va_pte(m->s, spec->mm, va), entry;
	struct leaf leaf = { .entry = NULL };

	if (pte != NONE)
		leaf = leaf_of(m->s, m->arch, pte);
	if (!(m->mm[spec->mm].cpumask >> spec->cpu & 1))
		return fail_at(err, s, spec->at, "tlbs", (size_t)(spec - s->tlbs),
			       "expected a CPU that has run \"%s\" (ran_on)", s->mms[spec->mm].id);
	if (pte == NONE || !leaf.ops->accessible(*leaf.entry))
		return fail_at(err, s, spec->at, "tlbs", (size_t)(spec - s->tlbs),
			       "expected a mapped address: \"%s\" maps nothing at 0x%llx",
			       s->mms[spec->mm].id, (unsigned long long)va);
	entry = tlb_find(m->s, spec->cpu, spec->mm, va);
	if (entry == NONE && m->cpu[spec->cpu].nr_tlb == m->s->nr_tlb)
		return fail_at(err, s, spec->at, "tlbs", (size_t)(spec - s->tlbs),
			       "expected at most %u translations on CPU %u (machine.tlb_entries)",
			       s->tlb_entries, spec->cpu);
	if (entry == NONE)
		entry = tlb_fill(m, spec->cpu, pte);
	set_flag(m, entry, TLB_WRITABLE, spec->writable);
	set_flag(m, entry, TLB_DIRTY, spec->dirty);
	return true;
}

bool place_tlbs(struct machine *m, const struct scenario *s, struct error *err)
{
	for (u32 i = 0; i < s->nr_tlbs; i++)
		for (u32 n = 0; n < s->tlbs[i].pages; n++)
			if (!place_tlb(m, s, &s->tlbs[i], s->tlbs[i].va + n * PAGE_SIZE, err))
				return false;
	return true;
}
