/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mirrored functions, file by file as in the kernel's mm/.
 *
 *   madvise.c          who asks: one PMD range after the other
 *      v
 *   vmscan.c           shrink_folio_list(): a folio's way out
 *      |--> swapfile.c, swap_state.c      slots, counts, swap cache
 *      |--> rmap.c --> page_vma_mapped.c  each PTE becomes a swap entry
 *      |--> huge_memory.c                 taken apart
 *      |      '--> rmap_migrate.c, migrate.c   ... while its PTEs are migration entries
 *      |--> page_io.c                     write-out
 *      '--> filemap.c, page_alloc.c       unlock, free
 *
 * Objects are const pointers into the state; put() writes through them. An address
 * space is a u32 mm, a PTE a u32 index in pte[]. Each function is its kernel
 * namesake unless functions.def says otherwise (7.3.4).
 */
#ifndef MM_INTERNAL_H
#define MM_INTERNAL_H

#include "arch/arch.h"
#include "arch/pgtable_generic.h"
#include "core/list.h"

#define FOLIO_BATCH_SIZE 31	/* PAGEVEC_SIZE: a full batch of folios to free */

/* --- helpers that the kernel inlines ------------------------------------- */

static inline u32 vma_idx(const struct machine *m, const struct vma *vma)
{
	return (u32)(vma - m->vma);
}

static inline void folio_set_flag(struct machine *m, const struct folio *folio,
				  enum folio_flag flag)
{
	put(m, &folio->flags, folio->flags | 1u << flag);
}

static inline void folio_clear_flag(struct machine *m, const struct folio *folio,
				    enum folio_flag flag)
{
	put(m, &folio->flags, folio->flags & ~(1u << flag));
}

/* New bytes in a page: zeroes, or not all of them. A folio is zero-filled if all its pages are. */
void page_fill(struct machine *m, u32 page, bool zero);

static inline bool folio_test_large(const struct folio *folio)
{
	return folio->order > 0;
}

/* mm/internal.h:folio_evictable */
static inline bool folio_evictable(const struct folio *folio)
{
	return !folio_flag(folio, PG_unevictable) && !folio_flag(folio, PG_mlocked);
}

static inline bool folio_mapped(const struct folio *folio)
{
	return folio->mapcount > 0;
}

static inline void folio_ref_add(struct machine *m, const struct folio *folio, u32 nr)
{
	put(m, &folio->refcount, folio->refcount + nr);
	count(m, COUNT_ref_op, 1);
}

static inline void folio_ref_sub(struct machine *m, const struct folio *folio, u32 nr)
{
	put(m, &folio->refcount, folio->refcount - nr);
	count(m, COUNT_ref_op, 1);
}

/* mm/huge_memory.c:folio_cache_ref_count, anonymous folios */
static inline u32 folio_cache_ref_count(const struct folio *folio)
{
	return folio_cache_refs(folio);
}

/* include/linux/mm.h:folio_expected_ref_count: what its mappings and the swap cache hold */
static inline u32 folio_expected_ref_count(const struct folio *folio)
{
	return folio->mapcount + folio_cache_ref_count(folio);
}

/* include/linux/mm.h:folio_maybe_dma_pinned: may a device use its pages? */
static inline bool folio_maybe_dma_pinned(struct machine *m, const struct folio *folio, u32 page)
{
	if (bug(m, BUG_pins_ignored))
		return false;
	count(m, COUNT_pin_check, 1);
	step(m, folio->pincount ? EV_pinned : EV_not_pinned, page, folio->pincount);
	return folio->pincount > 0;
}

/* mm/swap.h:folio_matches_swap_entry */
static inline bool folio_covers(const struct folio *folio, u32 slot)
{
	return folio_flag(folio, PG_swapcache) && slot - folio->swap < folio_nr_pages(folio);
}

/* include/linux/mm.h:folio_test_pmd_mappable */
static inline bool folio_test_pmd_mappable(const struct folio *folio)
{
	return folio_nr_pages(folio) >= PTRS_PER_PTE;
}

/* The folio that the huge entry of table[table] maps. */
static inline const struct folio *pmd_folio(const struct machine *m, u32 table)
{
	return m->folio + pfn_folio(m->s, m->arch->pmd->pfn(pmdp_get(m, table)));
}

/* Is it among the VMAs that the reverse map of an anon_vma finds? Those of children are too. */
static inline bool vma_in_anon_vma(const struct machine *m, const struct vma *vma, u32 anon_vma)
{
	u32 i = vma->mm == NONE ? NONE : vma->anon_vma;

	while (i != NONE && i != anon_vma)
		i = m->anon_vma[i].parent;
	return i != NONE;
}

/* The one whose lock is that of the whole family. */
static inline u32 anon_vma_root(const struct machine *m, u32 anon_vma)
{
	while (anon_vma != NONE && m->anon_vma[anon_vma].parent != NONE)
		anon_vma = m->anon_vma[anon_vma].parent;
	return anon_vma;
}

/* include/linux/mmap_lock.h. Nothing waits: range_is_locked() is asked before. */
static inline void mmap_read_lock(struct machine *m, u32 mm)
{
	put(m, &m->mm[mm].mmap_lock, m->mm[mm].mmap_lock + 1);
}

static inline void mmap_read_unlock(struct machine *m, u32 mm)
{
	put(m, &m->mm[mm].mmap_lock, m->mm[mm].mmap_lock - 1);
}

static inline void mmap_write_lock(struct machine *m, u32 mm)
{
	put(m, &m->mm[mm].mmap_lock, MMAP_WRITE_LOCKED);
}

static inline void mmap_write_unlock(struct machine *m, u32 mm)
{
	put(m, &m->mm[mm].mmap_lock, 0);
}

static inline void enter_phase(struct machine *m, enum phase phase)
{
	put(m, &m->task->phase, phase);
}

/* include/linux/mm.h:folio_maybe_mapped_shared: more than one address space maps it */
bool folio_maybe_mapped_shared(const struct machine *m, const struct folio *folio);

/* --- mm/page_vma_mapped.c ------------------------------------------------- */

enum {
	PVMW_SYNC = 1, PVMW_MIGRATION = 2, PVMW_PGTABLE_CROSSED = 4,
	PVMW_PTL = 8,		/* pvmw->ptl: the walk has the page-table lock */
};

/* What stays the same during a walk; where it stands is in struct task. */
struct page_vma_mapped_walk {
	const struct folio *folio;
	const struct vma *vma;
};

/* Where the VMA would map the folio's first page; *end one past the last. */
u64 vma_address(const struct vma *vma, const struct folio *folio, u64 *end);
void page_vma_mapped_walk_start(struct machine *m, const struct page_vma_mapped_walk *pvmw,
				u32 flags);
/* The entry under the walk has changed: look at the same address again. */
void page_vma_mapped_walk_restart(struct machine *m);
void page_vma_mapped_walk_done(struct machine *m);
/* The page that the walk stands on, in page[]. */
u32 walk_page(const struct machine *m, const struct page_vma_mapped_walk *pvmw);
__mirrored bool page_vma_mapped_walk(struct machine *m, const struct page_vma_mapped_walk *pvmw);
__mirrored bool check_pte(struct machine *m, const struct page_vma_mapped_walk *pvmw);

/* --- mm/rmap.c ------------------------------------------------------------ */

enum ttu_flags {
	TTU_SYNC = 1,
	TTU_BATCH_FLUSH = 2,
	TTU_USE_SHARED_ZEROPAGE = 4,
};

/* mm/vmscan.c: how shrink_folio_list() asks for a folio to be unmapped */
static inline u32 reclaim_ttu_flags(const struct machine *m, const struct folio *folio)
{
	bool sync = folio_test_large(folio) && m->kernel->unmap_sync == SYNC_LARGE &&
		    !bug(m, BUG_no_ttu_sync);

	return TTU_BATCH_FLUSH | (sync ? TTU_SYNC : 0);
}

/* include/linux/rmap.h: what to do in each VMA that may map the folio. */
struct rmap_walk_control {
	/* False: look at no further VMA. */
	bool (*rmap_one)(struct machine *m, const struct folio *folio, const struct vma *vma,
			 void *arg);
	bool (*done)(const struct folio *folio);	/* NULL: never before the last VMA */
	void *arg;
};

__mirrored void try_to_unmap(struct machine *m, const struct folio *folio, u32 flags);
__mirrored void rmap_walk(struct machine *m, const struct folio *folio,
			  const struct rmap_walk_control *rwc);
__mirrored void rmap_walk_locked(struct machine *m, const struct folio *folio,
				 const struct rmap_walk_control *rwc);
__mirrored void rmap_walk_anon(struct machine *m, const struct folio *folio,
			       const struct rmap_walk_control *rwc, bool locked);
__mirrored void rmap_walk_file(struct machine *m, const struct folio *folio,
			       const struct rmap_walk_control *rwc);
__mirrored void __rmap_walk_file(struct machine *m, const struct folio *folio,
				 const struct rmap_walk_control *rwc);
__mirrored void folio_lock_anon_vma_read(struct machine *m, const struct folio *folio);
/* arg: enum ttu_flags */
__mirrored bool try_to_unmap_one(struct machine *m, const struct folio *folio,
				 const struct vma *vma, void *arg);
__mirrored u32 folio_unmap_pte_batch(struct machine *m, const struct folio *folio,
				     const struct page_vma_mapped_walk *pvmw, pte_t pteval);
__mirrored bool ttu_anon_folio(struct machine *m, const struct folio *folio,
			       const struct vma *vma, u32 page, u32 pte, pte_t pteval, u32 nr);
__mirrored bool ttu_anon_lazyfree_folio(struct machine *m, const struct folio *folio,
					const struct vma *vma, u32 page, u32 nr);
/*
 * Is the folio known to nobody but its mappings and reclaim? Asked first; then *dirty: was it
 * written to? Who writes through a reference marks it dirty and lets go of it last.
 */
bool lazyfree_alone(struct machine *m, const struct folio *folio, u32 page, bool *dirty);
/* It is dropped. dirty: an entry said so, whatever the folio's flag says. Kept for V21. */
void note_dropped(struct machine *m, const struct folio *folio, const struct vma *vma, bool dirty);
/* ttu_anon_lazyfree_folio() in place, up to 6.16: without setting swapbacked ... */
bool discard_lazyfree(struct machine *m, const struct folio *folio, const struct vma *vma,
		      u32 page, u32 nr);
/* ... which is done when the PTEs are restored. */
void lazyfree_restored(struct machine *m, const struct folio *folio, const struct vma *vma);
__mirrored bool ttu_anon_swapbacked_folio(struct machine *m, const struct folio *folio, u32 mm,
					  u32 page, u32 pte, pte_t pteval, u32 nr);
__mirrored void folio_add_anon_rmap_ptes(struct machine *m, const struct folio *folio, u32 page,
					 u32 nr, const struct vma *vma, bool exclusive);
__mirrored void folio_add_new_anon_rmap(struct machine *m, const struct folio *folio,
					const struct vma *vma, u64 address, bool exclusive);
__mirrored void folio_remove_rmap_pmd(struct machine *m, const struct folio *folio);
/* By the function that the kernel has for it. */
void remove_rmap_pmd(struct machine *m, const struct folio *folio);
void remove_rmap_ptes(struct machine *m, const struct folio *folio, u32 page, u32 nr);
__mirrored void page_remove_rmap(struct machine *m, const struct folio *folio, u32 page);
__mirrored void folio_remove_rmap_ptes(struct machine *m, const struct folio *folio, u32 page,
				       u32 nr);
__mirrored void set_tlb_ubc_flush_pending(struct machine *m, u32 mm, pte_t pteval, u64 start,
					  u64 end);
__mirrored void try_to_unmap_flush(struct machine *m);
__mirrored void try_to_unmap_flush_dirty(struct machine *m);
__mirrored void flush_tlb_batched_pending(struct machine *m, u32 mm);
/* include/linux/mm.h: RSS is about to fall */
void update_hiwater_rss(struct machine *m, u32 mm);
/* nr pages of a folio leave the mm: the first is page. */
void sub_mm_counter(struct machine *m, u32 mm, const struct folio *folio, u32 page, u32 nr);
/*
 * The walk met a PTE of a locked VMA, the seen-th. All of the folio's PTEs must have been
 * seen under one page-table lock before it may be marked mlocked. False: look on.
 */
bool mlock_missed_folio(struct machine *m, const struct folio *folio, u32 seen);

__mirrored void try_to_migrate(struct machine *m, const struct folio *folio, u32 flags);
/* arg: enum ttu_flags */
__mirrored bool try_to_migrate_one(struct machine *m, const struct folio *folio,
				   const struct vma *vma, void *arg);
/* include/linux/rmap.h; true: it may not be shared */
bool folio_try_share_anon_rmap_ptes(struct machine *m, const struct folio *folio, u32 page, u32 nr);
bool should_defer_flush(const struct machine *m, u32 mm, u32 flags);
bool folio_not_mapped(const struct folio *folio);
/* mm/internal.h: onto the list that swapoff walks */
void mm_prepare_for_swap_entries(struct machine *m, u32 mm);
void update_hiwater_rss(struct machine *m, u32 mm);

/* mm/rmap.c:struct folio_referenced_arg */
struct folio_referenced_arg {
	u32 mapcount;		/* mappings not yet looked at */
	u32 referenced;		/* VMAs in which the folio was accessed */
	u32 vm_flags;		/* of these VMAs; VM_LOCKED if one of its VMAs is */
};
/* Was it accessed through this VMA? Clears the accessed bits. arg: the above. */
__mirrored bool folio_referenced_one(struct machine *m, const struct folio *folio,
				     const struct vma *vma, void *arg);
__mirrored u32 folio_referenced(struct machine *m, const struct folio *folio, bool is_locked,
				u32 *vm_flags);

/*
 * Take a page-table lock. It costs nothing here unless another CPU keeps it: that one goes
 * on until it lets go of the lock, which shows as steps of the CPU that waits.
 */
void pte_lock(struct machine *m, u32 pte);

/* The lock of a whole page table, outside a walk of the reverse map. */
static inline void lock_pte_table(struct machine *m, u32 table)
{
	pte_lock(m, table * PTRS_PER_PTE);
	put(m, &m->task->ptl, table);
}

static inline void unlock_pte_table(struct machine *m)
{
	put(m, &m->task->ptl, NONE);
}
/* Clear a PTE for a moment, and keep its table's lock: others see neither old nor new. */
void keep_pte(struct machine *m, u32 pte);
/* The page of the folio that an entry found by the walk maps, in page[]. */
u32 mapped_page(const struct machine *m, const struct folio *folio, pte_t pteval);
/* include/linux/pgtable.h: a store of nothing, which costs what any other does */
void pte_clear(struct machine *m, u32 pte);

/* --- mm/internal.h -------------------------------------------------------- */

enum fpb_flags {
	FPB_RESPECT_DIRTY = 1, FPB_RESPECT_SOFT_DIRTY = 2, FPB_RESPECT_WRITE = 4,
	FPB_MERGE_YOUNG_DIRTY = 8,	/* the first entry's copy takes on those of the others */
};

pte_t pte_move_swp_offset(const struct machine *m, pte_t pte, s64 delta);
/* How many entries in a row, at most max, name slots in a row and agree otherwise. */
u32 swap_pte_batch(struct machine *m, u32 pte, pte_t ptent, u32 max);

/*
 * mm/internal.h:__pte_batch_clear_ignored: what two entries of a run may differ in is
 * taken out with the kernel's own helpers, side effects included.
 */
pte_t pte_batch_clear_ignored(const struct pte_ops *ops, pte_t pte, u32 flags);

/*
 * folio_pte_batch_flags(): how many PTEs from pte on continue *pteval, at most max. flags may
 * ask to merge into it what the others say.
 */
u32 folio_pte_batch_flags(struct machine *m, const struct folio *folio, u32 pte, pte_t *pteval,
			  u32 max, u32 flags);

/* --- mm/migrate.c ----------------------------------------------------------- */

__mirrored void remove_migration_ptes(struct machine *m, const struct folio *folio, u32 flags);
/* arg: enum ttu_flags */
__mirrored bool remove_migration_pte(struct machine *m, const struct folio *folio,
				     const struct vma *vma, void *arg);

/* --- mm/huge_memory.c, mm/memory.c ---------------------------------------- */

/* Up to 6.16: has it only the references that a split can explain, and the caller's? */
__mirrored bool can_split_folio(struct machine *m, const struct folio *folio);
/*
 * Split a locked folio into folios of one page. The tails join the head's LRU list, or with a
 * list of reclaim that one, isolated. False: it stays whole.
 */
__mirrored bool split_folio_to_list(struct machine *m, const struct folio *folio, u32 list);
__mirrored bool __folio_split(struct machine *m, const struct folio *folio, u32 list);
__mirrored bool split_huge_page_to_list_to_order(struct machine *m, const struct folio *folio,
						 u32 list);
__mirrored void remap_page(struct machine *m, u32 first, u32 nr, u32 flags);
/*
 * The huge entry of table[table] becomes 512 PTEs; with freeze, 512 migration entries, unless
 * the folio is pinned.
 */
void split_huge_pmd_address(struct machine *m, const struct folio *folio, const struct vma *vma,
			    bool freeze);
__mirrored void __split_huge_pmd(struct machine *m, const struct vma *vma, u32 table, bool freeze);
__mirrored void split_huge_pmd_locked(struct machine *m, const struct vma *vma, u32 table,
				      bool freeze);
__mirrored void __folio_unqueue_deferred_split(struct machine *m, const struct folio *folio);

__mirrored void deferred_split_huge_page(struct machine *m, const struct folio *folio);
__mirrored void deferred_split_folio(struct machine *m, const struct folio *folio,
				     bool partially_mapped);
__mirrored const struct folio *vm_normal_folio(struct machine *m, pte_t pteval);
__mirrored u32 vm_normal_page(struct machine *m, pte_t pteval);

/* --- mm/memory.c, mm/mmu_gather.c: zapping --------------------------------- */

struct mmu_gather;

__mirrored void unmap_vmas(struct machine *m, struct mmu_gather *tlb, u64 start, u64 end);
__mirrored void __zap_vma_range(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				u64 start, u64 end, bool reclaim_pt);
__mirrored void unmap_single_vma(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				 u64 start, u64 end, bool reclaim_pt);
__mirrored void unmap_page_range(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				 u64 start, u64 end, bool reclaim_pt);
/* Swap entries from this one on, as many as that kernel takes at once: their slots go. */
u32 free_swap_ptes(struct machine *m, u32 pte, pte_t ptent, u32 max);
__mirrored void zap_pte_range(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			      u64 addr, u64 end, bool reclaim_pt);
__mirrored bool unmap_huge_pmd_locked(struct machine *m, const struct folio *folio,
				      const struct vma *vma, u32 table);
__mirrored bool madvise_free_huge_pmd(struct machine *m, struct mmu_gather *tlb,
				      const struct vma *vma, u32 table, u64 addr, u64 end);
__mirrored void zap_huge_pmd(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			     u32 table);
__mirrored void zap_vma_range_batched(struct machine *m, struct mmu_gather *tlb,
				      const struct vma *vma, u64 start, u64 end);
__mirrored void zap_page_range_single(struct machine *m, struct mmu_gather *tlb,
				      const struct vma *vma, u64 start, u64 end);
__mirrored void free_pgtables(struct machine *m, struct mmu_gather *tlb, u64 start, u64 end);

/* fullmm: the whole address space goes */
__mirrored void tlb_gather_mmu(struct machine *m, struct mmu_gather *tlb, u32 mm, bool fullmm);
__mirrored bool __tlb_remove_folio_pages(struct machine *m, struct mmu_gather *tlb, u32 page,
					 u32 nr);
void tlb_remove_tlb_entries(struct machine *m, struct mmu_gather *tlb, u64 address, u32 nr);
void tlb_remove_pmd_tlb_entry(struct machine *m, struct mmu_gather *tlb, u64 address);
void pte_free_tlb(struct machine *m, struct mmu_gather *tlb, u32 table);
void tlb_flush_mmu_tlbonly(struct machine *m, struct mmu_gather *tlb);
void tlb_flush_mmu(struct machine *m, struct mmu_gather *tlb);
__mirrored void tlb_finish_mmu(struct machine *m, struct mmu_gather *tlb);
/* Entries first to end - 1 of what was gathered. */
__mirrored void free_pages_and_swap_cache(struct machine *m, const struct mmu_gather *tlb,
					  u32 first, u32 end);
__mirrored void folios_put_refs(struct machine *m, const struct mmu_gather *tlb, u32 first,
				u32 end);
__mirrored void free_swap_cache(struct machine *m, const struct folio *folio);

/* --- mm/memory.c: faults ----------------------------------------------------- */

enum fault_result {
	FAULT_DONE,		/* the access may be tried again */
	FAULT_WAITS,		/* for a lock; task->fault_folio is the folio's, if it is one's */
	FAULT_FAILED,		/* the process gets a signal, or it is not modelled */
};

enum fault_result do_user_fault(struct machine *m, u32 mm, u64 address, bool write);
__mirrored enum fault_result handle_mm_fault(struct machine *m, const struct vma *vma, u64 address,
				      bool write);
__mirrored const struct folio *swap_cache_get_folio(struct machine *m, u32 slot);
__mirrored const struct folio *swap_cache_alloc_folio(struct machine *m, u32 slot);
__mirrored const struct folio *swapin_sync(struct machine *m, u32 slot);
__mirrored void swap_read_folio(struct machine *m, const struct folio *folio);

/* --- mm/mmap.c, kernel/fork.c, kernel/exit.c -------------------------------- */

struct copy;

/* The child is a new mm, of which nothing has been used. False: no memory; it is gone again. */
__mirrored bool dup_mm(struct machine *m, u32 mm, u32 child);
__mirrored bool dup_mmap(struct machine *m, u32 mm, u32 child);
__mirrored bool copy_page_range(struct machine *m, const struct vma *dst, const struct vma *src,
				bool has_pinned);
__mirrored bool copy_pte_range(struct machine *m, struct copy *c, u64 addr, u64 end);
__mirrored bool copy_present_page(struct machine *m, struct copy *c, u32 dst, u32 page);
__mirrored bool copy_huge_pmd(struct machine *m, struct copy *c, u32 dst, u32 src);
__mirrored void exit_mm(struct machine *m, u32 mm);
__mirrored void exit_mmap(struct machine *m, u32 mm);
void mmput(struct machine *m, u32 mm);
/* Would somebody have to wait who changes all of it? */
bool mm_is_locked(const struct machine *m, u32 mm);

/* --- mm/mprotect.c ----------------------------------------------------------- */

/* prot: VM_WRITE, or 0 for read-only */
__mirrored void do_mprotect_pkey(struct machine *m, u32 mm, u64 start, u64 end, u32 prot);
__mirrored void mprotect_fixup(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
			       u64 start, u64 end, u32 flags);
/* try_writable: what may be written to without a fault becomes writable. */
__mirrored void change_protection(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				  u64 start, u64 end, bool try_writable);
__mirrored void change_pte_range(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				 u64 addr, u64 end, bool try_writable);
__mirrored void change_huge_pmd(struct machine *m, struct mmu_gather *tlb, const struct vma *vma,
				u32 table, bool try_writable);
__mirrored bool can_change_pte_writable(struct machine *m, const struct vma *vma, pte_t pte);

/* --- mm/vma.c --------------------------------------------------------------- */

__mirrored void do_vmi_munmap(struct machine *m, u32 mm, u64 start, u64 end);
__mirrored void unmap_region(struct machine *m, u32 mm, u64 start, u64 end);
__mirrored void __split_vma(struct machine *m, const struct vma *vma, u64 addr, bool new_below);
/* The VMA that holds the range then: split off, or merged with a neighbour. */
const struct vma *vma_modify_flags(struct machine *m, const struct vma *vma, u64 start, u64 end,
				   u32 flags);
void remove_vmas(struct machine *m, u32 mm, u64 start, u64 end);
/* kernel/fork.c: the same for another mm, whose page tables are there and empty */
const struct vma *vm_area_dup(struct machine *m, const struct vma *vma, u32 mm);
void vma_write(struct machine *m, const struct vma *vma, const struct vma *val);
/* Does a task hold the lock of table[table]? */
bool page_table_is_locked(const struct machine *m, u32 table);
/* Does a range hold swap entries while a task has a swap cluster's lock? */
bool slots_are_locked(const struct machine *m, u32 mm, u64 start, u64 end);
enum mm_lock {
	MM_READ,		/* page tables change */
	MM_WRITE,		/* and what VMAs allow */
	MM_VMAS,		/* and where VMAs begin and end: the reverse map must stand still */
};
/* Would somebody have to wait who locks the mm for that in a range, perhaps slots too? */
bool range_is_locked(const struct machine *m, u32 mm, u64 start, u64 end, enum mm_lock lock);
/* Does a new protection for the range cut or merge VMAs? */
bool protection_changes_vmas(const struct machine *m, u32 mm, u64 start, u64 end);

/* --- mm/madvise.c --------------------------------------------------------- */

u32 madvise_folio_pte_batch(struct machine *m, const struct folio *folio, u32 pte, pte_t *pteval,
			    u64 addr, u64 end);
/* Several processes map it: it is left alone. */
bool mapped_shared(struct machine *m, const struct folio *folio);
/* The folio is locked: the page table may be let go meanwhile. False: it stays whole. */
bool split_folio_locked(struct machine *m, const struct folio *folio);
/*
 * A large folio of which only nr PTEs are in the range: its pages are to go one by one. How
 * far to go on: nowhere if it was split.
 */
u32 split_partly_mapped(struct machine *m, const struct vma *vma, const struct folio *folio,
			u32 nr);
/* Up to 6.1 a large folio that PTEs map is split, or ends the walk: left entries further. */
u32 split_or_stop(struct machine *m, const struct folio *folio, u32 page, u32 left);

__mirrored void madvise_free_single_vma(struct machine *m, struct mmu_gather *tlb,
					const struct vma *vma, u64 start, u64 end);
__mirrored void madvise_free_pte_range(struct machine *m, struct mmu_gather *tlb,
				       const struct vma *vma, u64 addr, u64 end);

/* False: the VMA refuses. */
__mirrored bool madvise_pageout(struct machine *m, const struct vma *vma, u64 start, u64 end);
__mirrored void madvise_cold_or_pageout_pte_range(struct machine *m, struct mmu_gather *tlb,
						  const struct vma *vma, u64 addr, u64 end);

/* --- mm/vmscan.c ---------------------------------------------------------- */

enum pageout { PAGE_KEEP, PAGE_SUCCESS, PAGE_CLEAN };

__mirrored bool folio_isolate_lru(struct machine *m, const struct folio *folio);
__mirrored void folio_putback_lru(struct machine *m, const struct folio *folio);
__mirrored u32 reclaim_pages(struct machine *m);
__mirrored u32 reclaim_folio_list(struct machine *m, enum folio_list list);
__mirrored u32 shrink_folio_list(struct machine *m, enum folio_list list, bool ignore_references);
__mirrored enum pageout pageout(struct machine *m, const struct folio *folio);
__mirrored bool __remove_mapping(struct machine *m, const struct folio *folio);
/* The LRU list that a folio's flags say. */
enum folio_list folio_lru_list(const struct folio *folio);

/* vmscan_lru.c */
enum folio_references { FOLIOREF_RECLAIM, FOLIOREF_KEEP, FOLIOREF_ACTIVATE };

enum folio_references folio_check_references(struct machine *m, const struct folio *folio);
__mirrored u32 shrink_lruvec(struct machine *m, u32 nr_pages);
__mirrored u32 shrink_inactive_list(struct machine *m, u32 nr_to_scan, enum folio_list lru);
__mirrored void shrink_active_list(struct machine *m, u32 nr_to_scan, enum folio_list lru);
__mirrored u32 isolate_lru_folios(struct machine *m, u32 nr_to_scan, enum folio_list from,
				  enum folio_list to);
__mirrored void move_folios_to_lru(struct machine *m, enum folio_list list);

/* --- mm/page-writeback.c, mm/filemap.c, mm/folio.c, mm/page_alloc.c -------- */

bool folio_trylock(struct machine *m, const struct folio *folio);
/* A reference of the code at work, and its end; the last one frees the folio. */
void folio_get(struct machine *m, const struct folio *folio);
void folio_put(struct machine *m, const struct folio *folio);

__mirrored void folio_mark_dirty(struct machine *m, const struct folio *folio);
__mirrored bool folio_clear_dirty_for_io(struct machine *m, const struct folio *folio);
bool folio_trylock(struct machine *m, const struct folio *folio);
__mirrored void folio_unlock(struct machine *m, const struct folio *folio);
__mirrored void folio_end_writeback(struct machine *m, const struct folio *folio);
__mirrored void __filemap_remove_folio(struct machine *m, const struct folio *folio);
/* A reference of somebody outside reclaim, counted in gup. */
void folio_get(struct machine *m, const struct folio *folio);
void folio_put(struct machine *m, const struct folio *folio);
void __page_cache_release(struct machine *m, const struct folio *folio);
/* page: the first of those whose references go, for who watches. The last one frees the folio. */
void folio_put_refs(struct machine *m, const struct folio *folio, u32 page, u32 nr);
__mirrored void __folio_put(struct machine *m, const struct folio *folio);
void free_frozen_pages(struct machine *m, const struct folio *folio);
/* The folios of a list, their counts already 0, by the function that the kernel has for it. */
void free_folios(struct machine *m, enum folio_list list);
__mirrored void free_unref_folios(struct machine *m, enum folio_list list);
__mirrored void free_unref_page_list(struct machine *m, enum folio_list list);
__mirrored bool isolate_lru_page(struct machine *m, const struct folio *folio);
void folio_add_lru(struct machine *m, const struct folio *folio);
/* To be dropped first, unless it is written to again: by the function that the kernel has. */
void mark_lazyfree(struct machine *m, const struct folio *folio);
__mirrored void folio_mark_lazyfree(struct machine *m, const struct folio *folio);
__mirrored void mark_page_lazyfree(struct machine *m, const struct folio *folio);
__mirrored void lru_lazyfree(struct machine *m, const struct folio *folio);
void folio_add_lru_vma(struct machine *m, const struct folio *folio, const struct vma *vma);
/* A page of memory, with a reference that its taker holds. NULL: none is free. */
__mirrored const struct folio *vma_alloc_folio(struct machine *m);

/* --- mm/swapfile.c -------------------------------------------------------- */

/* The first slot, or NONE. */
__mirrored u32 folio_alloc_swap(struct machine *m, const struct folio *folio);
__mirrored u32 cluster_alloc_swap_entry(struct machine *m, const struct swap_device *si,
					const struct folio *folio);
__mirrored u32 alloc_swap_scan_cluster(struct machine *m, const struct swap_device *si, u32 offset,
				       const struct folio *folio);
/* false: nothing raised */
__mirrored bool folio_dup_swap(struct machine *m, const struct folio *folio, u32 page);
__mirrored bool folio_dup_swap_pages(struct machine *m, const struct folio *folio, u32 page,
				     u32 nr);
/* atomic: it may not wait for memory */
__mirrored bool swap_extend_table_alloc(struct machine *m, u32 slot, u32 page, bool atomic);
/* False: its count needs a table for which there was no memory. */
__mirrored bool swap_dup_entry_direct(struct machine *m, u32 slot);
__mirrored bool swap_dup_entries_cluster(struct machine *m, u32 slot, u32 page, u32 nr);
__mirrored void folio_put_swap(struct machine *m, const struct folio *folio, u32 page, u32 nr);
__mirrored bool folio_free_swap(struct machine *m, const struct folio *folio);
const struct cluster *swap_cluster(const struct machine *m, u32 slot);
/* The first cluster of a device that no slot of is in use, or the number of its clusters. */
u32 first_free_cluster(struct machine *m, const struct swap_device *si);
__mirrored void swap_put_entries_direct(struct machine *m, u32 slot, u32 nr);
__mirrored void swap_put_entries_cluster(struct machine *m, u32 slot, u32 nr);
__mirrored u32 __try_to_reclaim_swap(struct machine *m, u32 slot);
/* mm/swap.h: more than half of all slots are in use */
bool vm_swap_full(const struct machine *m);
const struct cluster *swap_cluster_lock(struct machine *m, u32 slot);
void swap_cluster_unlock(struct machine *m, const struct cluster *ci);
/* The cluster is locked. page: of the slot, for who watches. */
void __swap_cluster_put_entry(struct machine *m, const struct cluster *ci, u32 slot, u32 page);
/* Free slots that nobody names any more; the cluster is locked. */
void swap_free_slots(struct machine *m, u32 slot, u32 nr);
__mirrored void __swap_cluster_free_entries(struct machine *m, u32 slot, u32 nr);

/* --- memcontrol.c ----------------------------------------------------------- */

__mirrored void __mem_cgroup_try_charge_swap(struct machine *m, const struct folio *folio);

/* --- swap_map.c: mm/swapfile.c and mm/swap_state.c up to 6.16 --------------- */

/* Slots for the folio, and into the swap cache, and dirty. */
__mirrored bool add_to_swap(struct machine *m, const struct folio *folio);
__mirrored void add_to_swap_cache(struct machine *m, const struct folio *folio, u32 slot);
/* Slots for up to max folios of this size, the first of each in slots[]. How many folios. */
__mirrored u32 get_swap_pages(struct machine *m, const struct folio *folio, u32 max, u32 *slots);
__mirrored void swap_range_alloc(struct machine *m, const struct swap_device *si, u32 page, u32 nr);
__mirrored bool swap_duplicate(struct machine *m, u32 slot, u32 page);
__mirrored bool __swap_duplicate(struct machine *m, u32 slot, u32 page);
__mirrored u32 scan_swap_map_slots(struct machine *m, const struct swap_device *si,
				   const struct folio *folio, u32 max, u32 *slots);
__mirrored void swap_free(struct machine *m, u32 slot, u32 page);
__mirrored void __swap_entry_free(struct machine *m, u32 slot, u32 page);
__mirrored void swap_free_nr(struct machine *m, u32 slot, u32 page, u32 nr);
__mirrored void cluster_swap_free_nr(struct machine *m, u32 slot, u32 page, u32 nr);
bool swap_is_last_map(struct machine *m, u32 slot, u32 nr);
/* The users of such slots go; the cluster is locked. True: they are to be freed. */
bool put_last_users(struct machine *m, u32 slot, u32 nr);
__mirrored void free_swap_and_cache(struct machine *m, u32 slot);
__mirrored void free_swap_and_cache_nr(struct machine *m, u32 slot, u32 nr);
__mirrored void swap_entries_put_map(struct machine *m, u32 slot, u32 page, u32 nr);
__mirrored void put_swap_folio(struct machine *m, const struct folio *folio, u32 slot);
__mirrored void swap_entries_put_cache(struct machine *m, const struct folio *folio, u32 slot);
__mirrored void swap_entry_range_free(struct machine *m, u32 slot, u32 nr);
__mirrored void swap_entries_free(struct machine *m, u32 slot, u32 nr);
__mirrored void swapcache_free_entries(struct machine *m, const u32 *slots, u32 nr);
__mirrored void __delete_from_swap_cache(struct machine *m, const struct folio *folio);
__mirrored void delete_from_swap_cache(struct machine *m, const struct folio *folio);
/* Take free slots of a locked cluster. */
void cluster_alloc_range(struct machine *m, const struct swap_device *si, const struct cluster *ci,
			 const struct folio *folio, u32 slot);
u32 nr_swap_pages(const struct machine *m);

/* --- mm/swap_slots.c up to 6.12 ------------------------------------------- */

/* Slots for the folio: from the CPU's cache if it is small. The first, or NONE. */
u32 swap_alloc_cached(struct machine *m, const struct folio *folio);
__mirrored void free_swap_slot(struct machine *m, u32 slot);

/* --- mm/swap_state.c ------------------------------------------------------ */

/* Who is in the swap cache: the lock of that slot's cluster, or of the tree. */
void swap_cache_lock(struct machine *m, u32 slot);
void swap_cache_unlock(struct machine *m, u32 slot);
/* The lock is held: a page of a folio that is being split is a folio of its own. */
void swap_cache_replace(struct machine *m, const struct folio *new_folio);
/* The lock is held: the folio leaves the swap cache. Its references are the caller's to drop. */
void swap_cache_forget(struct machine *m, const struct folio *folio);

__mirrored void __swap_cache_add_folio(struct machine *m, const struct folio *folio, u32 slot);
__mirrored void __swap_cache_do_add_folio(struct machine *m, const struct folio *folio, u32 slot);
__mirrored void __swap_cache_del_folio(struct machine *m, const struct folio *folio);
__mirrored void __swap_cache_do_del_folio(struct machine *m, const struct folio *folio);
__mirrored void __swap_cache_replace_folio(struct machine *m, const struct folio *new_folio);
/* mm/swap_state.c:free_folio_and_swap_cache */
void free_folio_and_swap_cache(struct machine *m, const struct folio *folio);
__mirrored void swap_cache_del_folio(struct machine *m, const struct folio *folio);

/* --- mm/page_io.c --------------------------------------------------------- */

__mirrored void swap_writeout(struct machine *m, const struct folio *folio);
__mirrored void swap_writepage(struct machine *m, const struct folio *folio);
__mirrored void swap_writepage_bdev_sync(struct machine *m, const struct folio *folio);
__mirrored void swap_writepage_bdev_async(struct machine *m, const struct folio *folio);
__mirrored void __swap_writepage(struct machine *m, const struct folio *folio);

#endif
