/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mprotect: what the entries of a range allow changes, what they map does not.
 *
 *	present     exchanged with nothing, so that no CPU sets accessed or dirty meanwhile,
 *	            and written again; to be flushed if a TLB may hold what is different now
 *	migration   may not come back writable
 *	swap        as it is: the fault asks the VMA
 *
 * A private VMA that becomes writable gets writable entries at once where no fault would have
 * anything to decide: the page is exclusive. 7.3 takes the entries in runs, and cuts a run
 * where exclusivity changes; older kernels take one after the other.
 */
#include "arch/mmu_gather.h"
#include "mm/internal.h"

/* One range of a VMA, and what is to become of it. */
struct change {
	struct mmu_gather *tlb;
	const struct vma *vma;
	bool try_writable;	/* MM_CP_TRY_CHANGE_WRITABLE */
};

/* mm/mprotect.c:maybe_change_pte_writable. Entries that are not soft-dirty are being tracked. */
static bool maybe_change_pte_writable(const struct pte_ops *ops, const struct vma *vma, pte_t pte)
{
	if (ops->has_soft_dirty && !ops->soft_dirty(pte))
		return false;
	return !(vma->flags & VM_UFFD_WP && ops->uffd(pte));
}

/* mm/mprotect.c:can_change_pte_writable, private memory */
__mirrored bool can_change_pte_writable(struct machine *m, const struct vma *vma, pte_t pte)
{
	u32 page;

	enter(m, EV_can_change_pte_writable, pte_page(m, pte), 0);
	if (m->kernel->prot_upgrade == UPGRADE_DIRTY_PTES && !m->arch->pte->dirty(pte))
		return false;
	if (!maybe_change_pte_writable(m->arch->pte, vma, pte))
		return false;
	page = vm_normal_page(m, pte);
	return page != NONE && folio_flag(m->folio + page_folio(m->s, page), PG_anon) &&
	       m->page[page].anon_exclusive;
}

/* mm/mprotect.c:prot_commit_flush_ptes, for nr entries from the idx-th of a run on */
static void prot_commit_flush_ptes(struct machine *m, const struct change *c, u32 pte,
				   pte_t oldpte, pte_t ptent, u32 nr, u32 idx, bool set_write)
{
	const struct pte_ops *ops = m->arch->pte;

	oldpte = ops->advance_pfn(oldpte, idx);
	ptent = ops->advance_pfn(ptent, idx);
	if (set_write)
		ptent = ops->mkwrite(ptent);
	m->arch->set_ptes(m, pte + idx, ptent, nr);
	if (m->arch->pte_needs_flush(m->kernel, oldpte, ptent))
		tlb_remove_tlb_entries(m, c->tlb, pte_va(m->s, pte + idx), nr);
}

/* mm/mprotect.c:commit_anon_folio_batch: what the first page may, the others may not be allowed */
static void commit_anon_folio_batch(struct machine *m, const struct change *c, u32 page, u32 pte,
				    pte_t oldpte, pte_t ptent, u32 nr)
{
	for (u32 idx = 0, len; idx < nr; idx += len) {
		bool exclusive = m->page[page + idx].anon_exclusive;

		len = 1;
		while (idx + len < nr && m->page[page + idx + len].anon_exclusive == exclusive)
			len++;
		step(m, exclusive ? EV_prot_write_allowed : EV_prot_write_left, page + idx, len);
		prot_commit_flush_ptes(m, c, pte, oldpte, ptent, len, idx, exclusive);
	}
}

/* mm/mprotect.c:change_present_ptes */
static void change_present_ptes(struct machine *m, const struct change *c, u32 pte, u32 nr,
				u32 page)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t oldpte = m->arch->get_and_clear_ptes(m, pte, nr);
	pte_t ptent = ops->modify(oldpte, vm_page_prot(c->vma));

	if (c->try_writable && maybe_change_pte_writable(ops, c->vma, ptent) && page != NONE &&
	    folio_flag(m->folio + page_folio(m->s, page), PG_anon))
		commit_anon_folio_batch(m, c, page, pte, oldpte, ptent, nr);
	else
		prot_commit_flush_ptes(m, c, pte, oldpte, ptent, nr, 0, false);
}

/* How many entries of a run were changed. */
static u32 change_present_run(struct machine *m, const struct change *c, u32 pte, pte_t oldpte,
			      u32 max)
{
	u32 page = vm_normal_page(m, oldpte), nr = 1;
	const struct folio *folio;

	if (page != NONE) {
		folio = m->folio + page_folio(m->s, page);
		put(m, &m->task->folio, folio_idx(m, folio));
		if (folio_test_large(folio))
			nr = folio_pte_batch_flags(m, folio, pte, &oldpte, max,
						   FPB_RESPECT_SOFT_DIRTY | FPB_RESPECT_WRITE);
	}
	change_present_ptes(m, c, pte, nr, page);
	return nr;
}

/* The same up to 6.16, in change_pte_range(): one entry, whatever its folio. */
static u32 change_present_pte(struct machine *m, const struct change *c, u32 pte)
{
	const struct pte_ops *ops = m->arch->pte;
	pte_t oldpte = m->arch->get_and_clear_ptes(m, pte, 1);
	pte_t ptent = ops->modify(oldpte, vm_page_prot(c->vma));

	prot_commit_flush_ptes(m, c, pte, oldpte, ptent, 1, 0,
			       c->try_writable && can_change_pte_writable(m, c->vma, ptent));
	return 1;
}

/* mm/mprotect.c:change_softleaf_pte. Entries of other kinds keep what they say. */
static void change_softleaf_pte(struct machine *m, u32 pte, pte_t oldpte)
{
	const struct pte_ops *ops = m->arch->pte;
	const struct softleaf_types *types = &m->kernel->types;
	pte_t newpte;
	u64 pfn;

	if (softleaf_migration_pfn(ops, types, oldpte, &pfn) &&
	    ops->swp_type(oldpte) == migration_type(types, MIGRATION_WRITE)) {
		newpte = ops->swp_entry(migration_type(types, MIGRATION_READ_EXCLUSIVE),
					ops->swp_offset(oldpte));
	} else if (softleaf_device_exclusive_pfn(ops, types, oldpte, &pfn)) {
		newpte = make_device_exclusive_entry(ops, types, pfn, false);
		if (ops->swp_uffd(oldpte))
			newpte = ops->swp_mkuffd(newpte);
	} else {
		return;
	}
	if (ops->has_soft_dirty && ops->swp_soft_dirty(oldpte))
		newpte = ops->swp_mksoft_dirty(newpte);
	if (newpte != oldpte)
		m->arch->set_ptes(m, pte, newpte, 1);
}

/* mm/mprotect.c:change_pte_range */
__mirrored void change_pte_range(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				 u64 addr, u64 end, bool try_writable)
{
	const struct change c = { tlb, vma, try_writable };
	u32 pte = vma_pte(vma, addr), last = pte + (u32)((end - addr) >> PAGE_SHIFT);
	const struct pte_ops *ops = m->arch->pte;

	enter(m, EV_change_pte_range, NONE, last - pte);
	lock_pte_table(m, pte / PTRS_PER_PTE);
	flush_tlb_batched_pending(m, vma->mm);
	for (u32 nr = 1; pte < last; pte += nr, nr = 1) {
		pte_t oldpte = m->arch->ptep_get(m, pte);

		if (ops->present(oldpte))
			nr = m->kernel->prot_batch == PROT_RUN ?
				     change_present_run(m, &c, pte, oldpte, last - pte) :
				     change_present_pte(m, &c, pte);
		else if (!ops->none(oldpte))
			change_softleaf_pte(m, pte, oldpte);
	}
	put(m, &m->task->folio, NONE);
	unlock_pte_table(m);
}

/* mm/huge_memory.c:can_change_pmd_writable, private memory */
static bool can_change_pmd_writable(const struct machine *m, const struct vma *vma, pmd_t pmd)
{
	u32 page = pfn_page(m->s, m->arch->pmd->pfn(pmd));

	return m->kernel->prot_upgrade == UPGRADE_EXCLUSIVE &&
	       maybe_change_pte_writable(m->arch->pmd, vma, pmd) && m->page[page].anon_exclusive;
}

/* mm/huge_memory.c:change_huge_pmd: never empty in between, since others look without the lock */
__mirrored void change_huge_pmd(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				u32 table, bool try_writable)
{
	const struct folio *folio = pmd_folio(m, table);
	pmd_t oldpmd, entry;

	enter(m, EV_change_huge_pmd, folio->page, PTRS_PER_PTE);
	put(m, &m->task->folio, folio_idx(m, folio));
	lock_pte_table(m, table);
	oldpmd = pmdp_invalidate_ad(m, vma_idx(m, vma), table);
	entry = m->arch->pmd->modify(oldpmd, vm_page_prot(vma));
	if (try_writable && can_change_pmd_writable(m, vma, entry))
		entry = m->arch->pmd->mkwrite(entry);
	set_pmd_at(m, table, entry);
	if (m->arch->huge_pmd_needs_flush(m->kernel, oldpmd, entry))
		tlb_remove_pmd_tlb_entry(m, tlb, m->table[table].va);
	put(m, &m->task->folio, NONE);
	unlock_pte_table(m);
}

/* mm/mprotect.c:change_pmd_range, for one entry. A huge one that changes only in part is split. */
static void change_pmd(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
		       u64 start, u64 end, bool try_writable)
{
	u32 table = vma_pte(vma, start) / PTRS_PER_PTE;

	if (m->table[table].pmd && end - start == PMD_SIZE) {
		change_huge_pmd(m, tlb, vma, table, try_writable);
		return;
	}
	if (m->table[table].pmd)
		__split_huge_pmd(m, vma, table, false);
	if (m->table[table].populated)
		change_pte_range(m, tlb, vma, start, end, try_writable);
}

/* mm/mprotect.c:change_protection */
__mirrored void change_protection(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				  u64 start, u64 end, bool try_writable)
{
	enter(m, EV_change_protection, NONE, (u32)((end - start) >> PAGE_SHIFT));
	for (u64 next; start < end; start = next) {
		next = (start | (PMD_SIZE - 1)) + 1;
		if (next > end)
			next = end;
		change_pmd(m, tlb, vma, start, next, try_writable);
	}
	if (m->arch->tlb_flush_each_vma)
		tlb_flush_mmu_tlbonly(m, tlb);
}

/* mm/mprotect.c:mprotect_fixup; reduced: a locked VMA that becomes writable is not populated */
__mirrored void mprotect_fixup(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			       u64 start, u64 end, u32 flags)
{
	enter(m, EV_mprotect_fixup, NONE, vma_idx(m, vma));
	if (flags == vma->flags)
		return;
	vma = vma_modify_flags(m, vma, start, end, flags);
	change_protection(m, tlb, vma, start, end, flags & VM_WRITE);
}

/* mm/mprotect.c:do_mprotect_pkey: up to the first hole */
__mirrored void do_mprotect_pkey(struct machine *m, u32 mm, u64 start, u64 end, u32 prot)
{
	struct mmu_gather tlb;
	u32 i;

	enter(m, EV_do_mprotect_pkey, NONE, (u32)((end - start) >> PAGE_SHIFT));
	tlb_gather_mmu(m, &tlb, mm, false);
	for (u64 next; start < end && (i = va_vma(m->s, mm, start)) != NONE; start = next) {
		const struct vma *vma = m->vma + i;

		next = vma->end < end ? vma->end : end;
		mprotect_fixup(m, &tlb, vma, start, next,
			       (vma->flags & ~(u32)(VM_WRITE | VM_EXEC)) | prot);
	}
	tlb_finish_mmu(m, &tlb);
}
