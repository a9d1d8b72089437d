/* SPDX-License-Identifier: GPL-2.0-only */
/* How an entry comes to allow more. arch/arm64/mm/fault.c; 7.3 has another name for it. */
#include "arch/access.h"
#include "arch/arm64/contpte.h"
#include "arch/arm64/pte.h"
#include "arch/arm64/tlbflush.h"

void arm64_flush_access(struct machine *m, u32 pte, u32 nr)
{
	u32 local = m->kernel->access_flush == ACCESS_FLUSH_LOCAL ? TLBF_NOBROADCAST : 0;
	u64 va = pte_va(m->s, pte);

	__flush_tlb_range(m, m->table[pte / PTRS_PER_PTE].mm, va, va + nr * PAGE_SIZE, PAGE_SIZE,
			  TLBF_NOWALKCACHE | local, watched_page(m, m->pte[pte]));
}

/* RDONLY allows more when it is clear: it is turned over, joined, and turned back. */
static pte_t more_permissive(pte_t val, pte_t entry)
{
	entry &= ARM64_PTE_RDONLY | ARM64_PTE_AF | ARM64_PTE_WRITE | ARM64_PTE_DIRTY;
	return ((val ^ ARM64_PTE_RDONLY) | (entry ^ ARM64_PTE_RDONLY)) ^ ARM64_PTE_RDONLY;
}

static bool set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty)
{
	pte_t val = pte_load(m, pte), old;

	step_pte(m, EV_ptep_get, pte, val, 1);
	if (val == entry)
		return false;
	do {
		old = val;
		val = pte_cmpxchg(m, pte, old, more_permissive(old, entry));
	} while (val != old);
	if (dirty)
		arm64_flush_access(m, pte, 1);
	return true;
}

/* arch/arm64/mm/fault.c:__ptep_set_access_flags_anysz; same */
__mirrored bool __ptep_set_access_flags_anysz(struct machine *m, u32 pte, pte_t entry, bool dirty)
{
	enter(m, EV___ptep_set_access_flags_anysz, watched_page(m, entry), 1);
	return set_access_flags(m, pte, entry, dirty);
}

/* arch/arm64/mm/fault.c:__ptep_set_access_flags (6.12); same */
__mirrored bool __ptep_set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty)
{
	enter(m, EV___ptep_set_access_flags, watched_page(m, entry), 1);
	return set_access_flags(m, pte, entry, dirty);
}

bool arm64_set_access_flags(struct machine *m, u32 pte, pte_t entry, bool dirty)
{
	if (m->kernel->access_flush == ACCESS_FLUSH_LOCAL)
		return __ptep_set_access_flags_anysz(m, pte, entry, dirty);
	return __ptep_set_access_flags(m, pte, entry, dirty);
}
