/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/access.h"
#include "arch/arm64/contpte.h"
#include "arch/arm64/pte.h"
#include "arch/arm64/tlbflush.h"

static u32 block_start(u32 pte)
{
	return pte & ~(CONT_PTES - 1);
}

static u32 pte_mm(const struct machine *m, u32 pte)
{
	return m->table[pte / PTRS_PER_PTE].mm;
}

pte_t contpte_check(struct machine *m, u32 pte)
{
	pte_t val = pte_load(m, pte);

	step_pte(m, EV_contpte_checked, pte, val, 1);
	return val;
}

pte_t contpte_try_unfold(struct machine *m, u32 pte)
{
	pte_t val = contpte_check(m, pte);

	if (unlikely(arm64_pte_valid_cont(val)))
		__contpte_try_unfold(m, pte, val);
	return val;
}

/* The first page of a block for those who watch. */
static u32 block_page(const struct machine *m, u32 pte, pte_t val)
{
	u32 page = watched_page(m, val);

	return page == NONE ? NONE : page - pte % CONT_PTES;
}

/* arch/arm64/mm/contpte.c:contpte_convert; same */
__mirrored void contpte_convert(struct machine *m, u32 pte, pte_t val)
{
	u32 start = block_start(pte), page = block_page(m, pte, val);
	u64 va = pte_va(m->s, start);

	enter(m, EV_contpte_convert, page, CONT_PTES);
	val = arm64_pte_advance_pfn(val, -(s64)(arm64_pte_pfn(val) % CONT_PTES));
	for (u32 i = 0; i < CONT_PTES; i++) {
		pte_t old = pte_exchange(m, start + i, EV_contpte_block_cleared);

		if (arm64_pte_dirty(old))
			val = arm64_pte_mkdirty(val);
		if (arm64_pte_young(old))
			val = arm64_pte_mkyoung(val);
	}
	if (!cpu_has(m, FEATURE_bbml3) || m->kernel->contpte == CONTPTE_FULL_READ)
		__flush_tlb_range(m, pte_mm(m, pte), va, va + CONT_PTE_SIZE, PAGE_SIZE,
				  TLBF_NOWALKCACHE, page);
	for (u32 i = 0; i < CONT_PTES; i++)
		pte_store(m, start + i, arm64_pte_advance_pfn(val, i), EV_contpte_block_written);
}

/* arch/arm64/mm/contpte.c:__contpte_try_unfold; same */
__mirrored void __contpte_try_unfold(struct machine *m, u32 pte, pte_t val)
{
	u32 page = watched_page(m, val);

	enter(m, EV___contpte_try_unfold, page, CONT_PTES);
	contpte_convert(m, pte, arm64_pte_mknoncont(val));
	count(m, COUNT_contpte_unfold, 1);
	step(m, EV_contpte_unfolded, page, CONT_PTES);
}

/* Would the block lie inside the folio that val's page belongs to? */
static bool folio_covers_block(const struct machine *m, u32 pte, pte_t val)
{
	u64 pfn = arm64_pte_pfn(val);
	u32 folio = pfn_folio(m->s, pfn);
	u64 before;

	if (folio == NONE)
		return false;
	before = pfn - m->folio[folio].pfn;
	return before >= pte % CONT_PTES &&
	       folio_nr_pages(&m->folio[folio]) - before >= CONT_PTES - pte % CONT_PTES;
}

/* arch/arm64/mm/contpte.c:__contpte_try_fold; same */
__mirrored void __contpte_try_fold(struct machine *m, u32 pte, pte_t val)
{
	u32 start = block_start(pte), page = block_page(m, pte, val), i;
	pte_t expected = arm64_pte_advance_pfn(arm64_pte_mkold(arm64_pte_mkclean(val)),
					       -(s64)(arm64_pte_pfn(val) % CONT_PTES));

	enter(m, EV___contpte_try_fold, page, CONT_PTES);
	if (!folio_covers_block(m, pte, val))
		return;
	for (i = 0; i < CONT_PTES; i++) {
		pte_t found = pte_load(m, start + i);

		if (arm64_pte_mkold(arm64_pte_mkclean(found)) != arm64_pte_advance_pfn(expected, i))
			break;
	}
	step(m, EV_contpte_compared, page, i < CONT_PTES ? i + 1 : i);
	if (i < CONT_PTES)
		return;
	contpte_convert(m, pte, arm64_pte_mkcont(val));
	count(m, COUNT_contpte_fold, 1);
	step(m, EV_contpte_folded, page, CONT_PTES);
}

static pte_t gather_all(const struct machine *m, u32 start, pte_t orig, u32 *loads)
{
	for (u32 i = 0; i < CONT_PTES; i++, ++*loads) {
		if (arm64_pte_dirty(m->pte[start + i]))
			orig = arm64_pte_mkdirty(orig);
		if (arm64_pte_young(m->pte[start + i]))
			orig = arm64_pte_mkyoung(orig);
	}
	return orig;
}

/*
 * Collect accessed and dirty of a block: entry by entry until one has either, then on
 * for the other. Dirty found first: its own entry is read again, as the kernel does.
 */
static pte_t gather(const struct machine *m, u32 pte, pte_t orig, u32 *loads)
{
	u32 start = block_start(pte), i = 0;
	bool dirty = false, young = false;

	if (m->kernel->contpte == CONTPTE_FULL_READ)
		return gather_all(m, start, orig, loads);
	for (; i < CONT_PTES && !dirty && !young; i++, ++*loads) {
		dirty = arm64_pte_dirty(m->pte[start + i]);
		young = !dirty && arm64_pte_young(m->pte[start + i]);
	}
	if (dirty) {
		for (i--; i < CONT_PTES && !young; i++, ++*loads)
			young = arm64_pte_young(m->pte[start + i]);
	} else if (young) {
		for (; i < CONT_PTES && !dirty; i++, ++*loads)
			dirty = arm64_pte_dirty(m->pte[start + i]);
	}
	if (dirty)
		orig = arm64_pte_mkdirty(orig);
	return young ? arm64_pte_mkyoung(orig) : orig;
}

/* arch/arm64/mm/contpte.c:contpte_ptep_get; same. The load of orig is the caller's. */
__mirrored pte_t contpte_ptep_get(struct machine *m, u32 pte, pte_t orig)
{
	u32 page = watched_page(m, orig), loads = 0;

	enter(m, EV_contpte_ptep_get, page, 1);
	orig = gather(m, pte, orig, &loads);
	count(m, COUNT_pte_read, loads);
	step(m, EV_contpte_gathered, page, loads);
	return orig;
}

/* arch/arm64/mm/contpte.c:contpte_ptep_get_lockless; reduced: nobody else changes the
 * block meanwhile, so it never starts over. */
__mirrored pte_t contpte_ptep_get_lockless(struct machine *m, u32 pte)
{
	pte_t orig = m->pte[pte];
	u32 page = watched_page(m, orig), loads = 1;

	enter(m, EV_contpte_ptep_get_lockless, page, 1);
	if (arm64_pte_valid_cont(orig))
		orig = gather(m, pte, orig, &loads);
	count(m, COUNT_pte_read, loads);
	step(m, EV_contpte_gathered, page, loads);
	return orig;
}

void __set_ptes(struct machine *m, u32 pte, pte_t val, u32 nr)
{
	enum event event = set_event(m, val);

	for (u32 i = 0; i < nr; i++)
		pte_store(m, pte + i, i ? arm64_pte_advance_pfn(val, i) : val, event);
}

/* arch/arm64/mm/contpte.c:contpte_set_ptes; same. The entries must be empty. */
__mirrored void contpte_set_ptes(struct machine *m, u32 pte, pte_t val, u32 nr)
{
	u32 end = pte + nr, next;

	enter(m, EV_contpte_set_ptes, watched_page(m, val), nr);
	if (!arm64_pte_valid(val)) {
		__set_ptes(m, pte, val, nr);
		return;
	}
	for (; pte != end; pte = next) {
		next = block_start(pte) + CONT_PTES;
		if (next > end)
			next = end;
		if (((pte | next | arm64_pte_pfn(val)) & (CONT_PTES - 1)) == 0)
			val = arm64_pte_mkcont(val);
		else
			val = arm64_pte_mknoncont(val);
		__set_ptes(m, pte, val, next - pte);
		val = arm64_pte_advance_pfn(val, next - pte);
	}
}

/* arch/arm64/mm/contpte.c:contpte_try_unfold_partial; same */
__mirrored void contpte_try_unfold_partial(struct machine *m, u32 pte, u32 nr)
{
	enter(m, EV_contpte_try_unfold_partial, watched_page(m, m->pte[pte]), nr);
	if (pte % CONT_PTES || nr < CONT_PTES)
		contpte_try_unfold(m, pte);
	if ((pte + nr) % CONT_PTES)
		contpte_try_unfold(m, pte + nr - 1);
}

pte_t __get_and_clear_full_ptes(struct machine *m, u32 pte, u32 nr)
{
	pte_t val = pte_exchange(m, pte, EV_pte_cleared);

	for (u32 i = 1; i < nr; i++) {
		pte_t old = pte_exchange(m, pte + i, EV_pte_cleared);

		if (arm64_pte_dirty(old))
			val = arm64_pte_mkdirty(val);
		if (arm64_pte_young(old))
			val = arm64_pte_mkyoung(val);
	}
	return val;
}

/* arch/arm64/mm/contpte.c:contpte_get_and_clear_full_ptes; same */
__mirrored pte_t contpte_get_and_clear_full_ptes(struct machine *m, u32 pte, u32 nr)
{
	enter(m, EV_contpte_get_and_clear_full_ptes, watched_page(m, m->pte[pte]), nr);
	contpte_try_unfold_partial(m, pte, nr);
	return __get_and_clear_full_ptes(m, pte, nr);
}

/* arch/arm64/mm/contpte.c:contpte_clear_full_ptes; same */
__mirrored void contpte_clear_full_ptes(struct machine *m, u32 pte, u32 nr)
{
	enter(m, EV_contpte_clear_full_ptes, watched_page(m, m->pte[pte]), nr);
	contpte_try_unfold_partial(m, pte, nr);
	__get_and_clear_full_ptes(m, pte, nr);
}

void ___ptep_set_wrprotect(struct machine *m, u32 pte, pte_t val)
{
	pte_t old;

	do {
		old = val;
		val = pte_cmpxchg(m, pte, old, arm64_pte_wrprotect(old));
	} while (val != old);
}

void __wrprotect_ptes(struct machine *m, u32 pte, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		___ptep_set_wrprotect(m, pte + i, pte_load(m, pte + i));
}

/* arch/arm64/mm/contpte.c:contpte_wrprotect_ptes; same */
__mirrored void contpte_wrprotect_ptes(struct machine *m, u32 pte, u32 nr)
{
	enter(m, EV_contpte_wrprotect_ptes, watched_page(m, m->pte[pte]), nr);
	contpte_try_unfold_partial(m, pte, nr);
	__wrprotect_ptes(m, pte, nr);
}

bool __ptep_test_and_clear_young(struct machine *m, u32 pte)
{
	pte_t val = pte_load(m, pte), old;

	do {
		old = val;
		val = pte_cmpxchg(m, pte, old, arm64_pte_mkold(old));
	} while (val != old);
	return arm64_pte_young(val);
}

/* Widen a run to the blocks that its ends are in; two loads. */
static void align_to_blocks(struct machine *m, u32 *pte, u32 *end)
{
	if (contpte_check(m, *end - 1) & ARM64_PTE_CONT)
		*end = block_start(*end + CONT_PTES - 1);
	if (contpte_check(m, *pte) & ARM64_PTE_CONT)
		*pte = block_start(*pte);
}

/* arch/arm64/mm/contpte.c:contpte_test_and_clear_young_ptes; same */
__mirrored bool contpte_test_and_clear_young_ptes(struct machine *m, u32 pte, u32 nr)
{
	u32 end = pte + nr;
	bool young = false;

	enter(m, EV_contpte_test_and_clear_young_ptes, watched_page(m, m->pte[pte]), nr);
	align_to_blocks(m, &pte, &end);
	for (; pte != end; pte++)
		young |= __ptep_test_and_clear_young(m, pte);
	return young;
}

/* arch/arm64/mm/contpte.c:contpte_clear_flush_young_ptes; same */
__mirrored bool contpte_clear_flush_young_ptes(struct machine *m, u32 pte, u32 nr)
{
	u32 end = pte + nr;
	bool young;

	enter(m, EV_contpte_clear_flush_young_ptes, watched_page(m, m->pte[pte]), nr);
	young = contpte_test_and_clear_young_ptes(m, pte, nr);
	if (young) {
		u64 va;

		align_to_blocks(m, &pte, &end);
		va = pte_va(m->s, pte);
		__flush_tlb_range(m, pte_mm(m, pte), va, va + (end - pte) * PAGE_SIZE, PAGE_SIZE,
				  TLBF_NOWALKCACHE | TLBF_NOSYNC, watched_page(m, m->pte[pte]));
	}
	return young;
}

static void clear_by_cmpxchg(struct machine *m, u32 pte, pte_t val, u32 cydp)
{
	pte_t old, new;

	do {
		old = val;
		new = cydp & CYDP_CLEAR_YOUNG ? arm64_pte_mkold(old) : old;
		new = cydp & CYDP_CLEAR_DIRTY ? arm64_pte_mkclean(new) : new;
		val = pte_cmpxchg(m, pte, old, new);
	} while (val != old);
}

void __clear_young_dirty_ptes(struct machine *m, u32 pte, u32 nr, u32 cydp)
{
	for (u32 i = 0; i < nr; i++) {
		pte_t val = pte_load(m, pte + i);

		if (cydp == (CYDP_CLEAR_YOUNG | CYDP_CLEAR_DIRTY))
			pte_store(m, pte + i, arm64_pte_mkclean(arm64_pte_mkold(val)), EV_pte_set);
		else
			clear_by_cmpxchg(m, pte + i, val, cydp);
	}
}

/* arch/arm64/mm/contpte.c:contpte_clear_young_dirty_ptes; same */
__mirrored void contpte_clear_young_dirty_ptes(struct machine *m, u32 pte, u32 nr, u32 cydp)
{
	u32 end = pte + nr;

	enter(m, EV_contpte_clear_young_dirty_ptes, watched_page(m, m->pte[pte]), nr);
	align_to_blocks(m, &pte, &end);
	__clear_young_dirty_ptes(m, pte, end - pte, cydp);
}

/* arch/arm64/mm/contpte.c:contpte_ptep_test_and_clear_young (6.12); same */
__mirrored bool contpte_ptep_test_and_clear_young(struct machine *m, u32 pte)
{
	u32 start = block_start(pte);
	bool young = false;

	enter(m, EV_contpte_ptep_test_and_clear_young, block_page(m, pte, m->pte[pte]), CONT_PTES);
	for (u32 i = 0; i < CONT_PTES; i++)
		young |= __ptep_test_and_clear_young(m, start + i);
	return young;
}

/* arch/arm64/mm/contpte.c:contpte_ptep_clear_flush_young (6.12); same */
__mirrored bool contpte_ptep_clear_flush_young(struct machine *m, u32 pte)
{
	u32 page = block_page(m, pte, m->pte[pte]);
	u64 va = pte_va(m->s, block_start(pte));
	bool young;

	enter(m, EV_contpte_ptep_clear_flush_young, page, CONT_PTES);
	young = contpte_ptep_test_and_clear_young(m, pte);
	if (young)
		__flush_tlb_range(m, pte_mm(m, pte), va, va + CONT_PTE_SIZE, PAGE_SIZE,
				  TLBF_NOWALKCACHE | TLBF_NOSYNC, page);
	return young;
}

/* Does each raw entry of the block have the wanted flags? */
static bool all_match_access_flags(struct machine *m, u32 pte, pte_t entry)
{
	const pte_t flags = ARM64_PTE_RDONLY | ARM64_PTE_AF | ARM64_PTE_WRITE | ARM64_PTE_DIRTY;
	u32 start = block_start(pte), i = 0;

	while (i < CONT_PTES && !((m->pte[start + i] ^ entry) & flags))
		i++;
	count(m, COUNT_pte_read, i < CONT_PTES ? i + 1 : i);
	step(m, EV_access_flags_compared, block_page(m, pte, m->pte[pte]),
	     i < CONT_PTES ? i + 1 : i);
	return i == CONT_PTES;
}

/* Nothing to do? Else *orig is what the block's write bit is read from. */
static bool has_access_flags(struct machine *m, u32 pte, pte_t entry, pte_t *orig)
{
	if (m->kernel->access_compare == ACCESS_GATHERED) {
		*orig = arm64_pte_mknoncont(m->arch->ptep_get(m, pte));
		return *orig == entry;
	}
	if (all_match_access_flags(m, pte, entry))
		return true;
	*orig = arm64_pte_mknoncont(contpte_check(m, pte));
	return false;
}

/* arch/arm64/mm/contpte.c:contpte_ptep_set_access_flags; same */
__mirrored bool contpte_ptep_set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty)
{
	u32 start = block_start(pte);
	pte_t orig;

	enter(m, EV_contpte_ptep_set_access_flags, watched_page(m, entry), CONT_PTES);
	if (has_access_flags(m, pte, entry, &orig))
		return false;
	if (arm64_pte_write(orig) != arm64_pte_write(entry)) {
		__contpte_try_unfold(m, pte, orig);
		arm64_set_access_flags(m, pte, entry, dirty);
		return true;
	}
	for (u32 i = 0; i < CONT_PTES; i++)
		arm64_set_access_flags(m, start + i, entry, false);
	if (dirty)
		arm64_flush_access(m, start, CONT_PTES);
	return true;
}
