/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulated machine's memory: one flat block of 32-bit words.
 *
 *   +--------------------+  words[0]
 *   | struct mm_state    |  shape, tasks, lists, counters
 *   +--------------------+  at[ARRAY_CPU]
 *   | struct cpu[]       |
 *   | struct mm[]        |  Arrays of fixed size, laid out once by state_layout()
 *   | struct vma[]       |  from the counts in nr[]. Objects refer to each other
 *   | struct folio[]     |  by index, NONE where the kernel has NULL. No pointers:
 *   | struct page[]      |  memcpy() is a snapshot, memcmp() is equality, and XOR
 *   | u64 pte[]          |  of two words steps time forward and back.
 *   | struct slot[] ...  |
 *   +--------------------+  words[words]
 *
 * Everything is aligned to its size and is read through const pointers. What there may be
 * millions of is narrow: a 4K page with its folio, PTE and slot takes 96 bytes. The one way
 * to write is put() in machine.h, once the machine runs; world.c in engine/scenario lays
 * out step 0 before that.
 *
 * What the kernel keeps on the stack and a learner wants to see lives here too:
 * the walk position, nr_pages, the folio lists, tlb_ubc.
 */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include "core/types.h"

#define NONE UINT32_MAX

/* struct folio flags; include/linux/page-flags.h (7.3), one bit each */
enum folio_flag {
#define FOLIO_FLAG(id, name) PG_##id,
#include "core/folio_flags.def"
#undef FOLIO_FLAG
	NR_FOLIO_FLAGS
};

/*
 * include/linux/mm_types.h:struct folio. The counts are the true ones, not
 * stored minus one as the kernel does. Expected:
 *	refcount = mapcount + (swapcache ? nr_pages : 0) + (isolated ? 1 : 0) + held + gup
 */
struct folio {
	u64 index;		/* pgoff of its first page in its anon_vma or file */
	u32 pfn;		/* of the head; naturally aligned to nr_pages */
	u8 order;
	u8 list;		/* enum folio_list it is on, or LIST_NONE */
	u16 entire_mapcount;	/* PMD mappings */
	u32 flags;		/* bit i: enum folio_flag i */
	u32 refcount;
	u32 mapcount;		/* folio_mapcount(): PTE mappings + PMD mappings */
	u32 nr_pages_mapped;	/* pages with a PTE mapping; + ENTIRELY_MAPPED */
	u32 pincount;		/* FOLL_PIN pins */
	u32 gup;		/* references of others: pins, FOLL_GET, speculative */
	u32 swap;		/* first slot index while in the swap cache, else NONE */
	u32 page;		/* its first page in page[] */
	u32 anon_vma;
	u32 next, prev;
	u32 held;		/* references of the kernel code at work: who splits or zaps it */
};
#define ENTIRELY_MAPPED 0x800000u

/* What belongs to one page of a folio. */
struct page {
	u32 mapcount;		/* PTE mappings of this page */
	u32 folio;		/* that it is part of; the kernel's compound_head() */
	u8 anon_exclusive;	/* PageAnonExclusive() */
	u8 zero;		/* its bytes are all zeroes */
	u16 pad;
};

/* include/linux/mm_types.h:struct mm_struct */
struct mm {
	u64 cpumask;		/* mm_cpumask(): CPUs that may hold translations (x86) */
	u64 tlb_gen;		/* context.tlb_gen (x86) */
	u32 anonpages;		/* MM_ANONPAGES */
	u32 swapents;		/* MM_SWAPENTS */
	u32 hiwater_rss;
	u32 tlb_pending;	/* tlb_flush_batched, the pending generation */
	u32 tlb_flushed;	/* tlb_flush_batched, the flushed generation */
	u32 on_mmlist;
	u32 asid;
	u32 shmempages;		/* MM_SHMEMPAGES */
	u32 filepages;		/* MM_FILEPAGES */
	u32 mmap_lock;		/* readers, or MMAP_WRITE_LOCKED */
	u32 tlb_flush_pending;	/* gathers under way */
	u32 tlb_gathered;	/* those that have cleared entries and not flushed yet */
	u32 mm_users;		/* 0: it has exited, or is not forked yet */
};
#define MMAP_WRITE_LOCKED UINT32_MAX

/* VM_DROPPABLE: what is in it may be dropped at any time, even if it was written to. */
enum vma_flag {
	VM_WRITE = 1, VM_LOCKED = 2, VM_EXEC = 4, VM_DROPPABLE = 8,
	VM_SHMEM = 16,		/* shared memory, of a file without a disk */
	VM_UFFD_WP = 32,	/* userfaultfd hears of first writes */
	VM_DONTCOPY = 64,	/* a child does not get it */
	VM_FILE = 128,		/* of a file on a disk */
};

/* mm NONE: the entry is not in use. */
struct vma {
	u64 start, end;
	u64 pgoff;		/* of start, in its anon_vma or file */
	u32 mm;
	u32 anon_vma;		/* VM_SHMEM: its file */
	u32 flags;		/* enum vma_flag */
	u32 table;		/* page table of start; the following ranges follow in table[] */
};

/*
 * include/linux/rmap.h:struct anon_vma. What a VMA's process has had since it was forked is
 * found through its own, what it had before through those it descends from.
 */
struct anon_vma {
	u32 parent;		/* NONE: it is the root */
};

/* One page table: 512 PTEs, pte[512 * i .. ], under one PMD entry. */
struct table {
	u64 va;			/* of its first entry, 2 MiB aligned */
	u64 pmd;		/* a huge entry, or 0: it points to the PTEs */
	u32 mm;
	u32 populated;		/* the PMD entry is not empty */
	u32 ptl;		/* page-table lock: the CPU that keeps it across steps, plus 1 */
	u32 pad;
};

/* mm/swapfile.c:struct swap_info_struct */
struct swap_device {
	u32 type;		/* the number in a swap entry */
	u32 kind;		/* enum swap_kind */
	u32 first_slot;		/* of offset 0, in slot[] */
	u32 nr_slots;
	u32 first_cluster;
	u32 nr_clusters;
	u32 inuse;		/* inuse_pages */
	/* clusters at its front that are known to be in use, and full: told to nobody */
	u32 nr_used, nr_full;
	u32 next[10];		/* percpu_swap_cluster.offset[order]; 0: none */
};
enum swap_kind { SWAP_SYNC, SWAP_ASYNC };	/* zram; a disk */

/* mm/swap.h:struct swap_cluster_info */
#define SWAPFILE_CLUSTER 512
struct cluster {
	u32 count;		/* slots in use */
	u32 order;
	u32 locked;
	u32 extend_table;
};

/* What a slot is to the kernel; slot.h says how each kernel writes that down. */
enum slot_kind {
	SLOT_FREE,
	SLOT_FOLIO,		/* in use, its folio is in the swap cache */
	SLOT_SHADOW,		/* in use, no folio: swapped out */
	SLOT_BAD,		/* the header */
	SLOT_RESERVED,		/* swap_map: SWAP_HAS_CACHE, yet no folio in the cache */
	NR_SLOT_KINDS
};
#define SWP_TB_COUNT_MAX 15
struct slot {
	u32 folio;		/* SLOT_FOLIO: the cached folio */
	u32 count;		/* swap PTEs that point here (extend table included) */
	u16 others;		/* those of them outside this world: never zapped here */
	u8 kind;		/* enum slot_kind */
	u8 zero;		/* zero-filled: nothing on the device */
};

/* include/linux/swap_slots.h:struct swap_slots_cache, of one CPU (6.1, 6.12) */
#define SWAP_SLOTS_CACHE_SIZE 64
struct slot_cache {
	u32 cur, nr;		/* slots[cur .. cur + nr) are ready to be used */
	u32 n_ret;		/* slots_ret[0 .. n_ret) are to be freed */
	u32 slots[SWAP_SLOTS_CACHE_SIZE];
	u32 slots_ret[SWAP_SLOTS_CACHE_SIZE];
};

struct cpu {
	u64 tlb_gen;		/* of the loaded mm, as far as this CPU has flushed (x86) */
	u32 mm;			/* loaded */
	u32 lazy;
	u32 nr_tlb;		/* entries in use, packed from tlb[nr_tlbs * cpu] */
	u32 pad;
};

/* A translation that a CPU holds. It is stale when the page table says otherwise. */
struct tlb_entry {
	u64 va;
	u32 mm;
	u32 pfn;
	u32 span;		/* pages: 1, 16 or 512 */
	u32 flags;		/* enum tlb_flag */
	u64 invalidated_by;	/* arm64: CPUs whose TLBI is under way, their DSB ISH not done */
};
enum tlb_flag { TLB_WRITABLE = 1, TLB_DIRTY = 2 };

/* Lists of folios. Those from LIST_FOLIO_LIST on are reclaim's private ones: +1 reference. */
enum folio_list {
	LRU_INACTIVE_ANON, LRU_ACTIVE_ANON, LRU_INACTIVE_FILE, LRU_ACTIVE_FILE, LRU_UNEVICTABLE,
	LIST_FOLIO_LIST,	/* madvise's, then shrink_folio_list()'s input */
	LIST_NODE,		/* reclaim_pages(): node_folio_list; shrink_inactive_list()'s */
	LIST_RET,		/* shrink_folio_list(): ret_folios */
	LIST_PAGEOUT,		/* waiting for one flush before write-out */
	LIST_FREE,		/* shrink_folio_list(): free_folios */
	LIST_HOLD,		/* shrink_active_list(): l_hold */
	LIST_INACTIVE,		/* shrink_active_list(): l_inactive */
	LIST_ACTIVE,		/* shrink_active_list(): l_active */
	LIST_PUT,		/* folios_put_refs(): folios that nobody knows any more */
	NR_LISTS
};
#define LIST_NONE UINT8_MAX
struct list {
	u32 first, last, nr;
};

/*
 * A run of PTEs as it was before unmapping cleared them. The kernel keeps no such record:
 * it is what the invariants compare with.
 */
struct run_before {
	u32 pte;		/* the first, in pte[] */
	u32 nr;
	u32 pins;		/* of the folio */
	u32 done;		/* whose mappings are removed */
	u32 lazyfree;		/* it was a lazyfree folio's */
	u32 dirty;		/* one of its PTEs was dirty */
	u32 write[16], soft_dirty[16], uffd[16];	/* a bit for each PTE */
};

/* The task that runs on a CPU: what it holds on its stack and in task_struct. */
struct task {
	u64 ubc_cpumask;	/* tlb_ubc.arch.cpumask (x86) */
	u64 walk_address;	/* page_vma_mapped_walk: address */
	u64 madvise_address;	/* madvise_pageout(): where it goes on */
	u32 ubc_flush_required;
	u32 ubc_writable;
	u32 ubc_unmapped_pages;
	u32 walk_vma;
	u32 walk_pte;		/* index in pte[], NONE: not mapped yet */
	u32 walk_pmd;		/* index in table[]: it stands on that huge entry; else NONE */
	u32 walk_flags;
	u32 phase;		/* enum phase */
	u32 folio;		/* being reclaimed */
	u32 page;		/* being unmapped, in page[] */
	u32 nr_pages;		/* of the run in hand */
	u32 ptl;		/* page table locked outside a reverse-map walk, or NONE */
	u32 src_ptl;		/* the parent's, locked beside it while it is copied, or NONE */
	u32 anon_vma;		/* that its reverse-map walk has locked, or NONE */
	u32 fault_op;		/* the script operation whose access waits in a fault, or NONE */
	u32 fault_folio;	/* whose lock it waits for, holding a reference, or NONE */
	u32 nr_swap;		/* MADV_FREE: swap entries gone that MM_SWAPENTS still counts */
	u32 dropped_dirty;	/* it gave up what must not be lost; kept for V21, as run is */
	struct run_before run;
	u32 kept_pte;		/* cleared under a lock that it keeps, to be written back: */
	u64 kept;
};

enum phase {
#define PHASE(id, name, text) PHASE_##id,
#include "core/phases.def"
#undef PHASE
	NR_PHASES
};

enum counter {
#define COUNTER(id, text) COUNT_##id,
#include "core/counters.def"
#undef COUNTER
	NR_COUNTERS
};

/* Names as JSON, scenarios and the screen use them; names.c */
extern const char *const folio_flag_names[NR_FOLIO_FLAGS];
extern const char *const phase_names[NR_PHASES];
extern const char *const counter_names[NR_COUNTERS];
extern const char *const list_names[NR_LISTS];
extern const char *const slot_kind_names[NR_SLOT_KINDS];

enum state_array {
	ARRAY_CPU, ARRAY_TASK, ARRAY_MM, ARRAY_VMA, ARRAY_FOLIO, ARRAY_PAGE, ARRAY_TABLE, ARRAY_PTE,
	ARRAY_DEVICE, ARRAY_CLUSTER, ARRAY_SLOT, ARRAY_TLB, ARRAY_SLOT_CACHE,
	ARRAY_ANON_VMA,
	NR_ARRAYS
};

struct mm_state {
	/* Shape: set by state_layout(), never changed afterwards. */
	u32 words;		/* of the whole block */
	u32 nr_tlb;		/* entries each CPU's TLB can hold */
	u32 nr[NR_ARRAYS];	/* elements */
	u32 at[NR_ARRAYS];	/* word of the first */

	/*
	 * folio[] begins with the folios that the world placed, sorted by pfn, and page[]
	 * follows their order. Behind them one entry stands ready for each tail page: when
	 * its folio is split it is a folio of its own.
	 */
	u32 nr_placed;
	u32 has_tails;		/* some of those entries are in use, or were */

	u32 cpu;		/* whose task runs */
	u32 slot_cache_active;	/* swap_slot_cache_active: enough slots are free for it */
	u32 op;			/* script operation under way, counted from 0 */
	u32 fail_atomic_alloc;	/* no memory for who may not wait */
	u32 nr_anon_vmas;	/* in use; the others stand ready for children */
	u32 has_shmem, has_file;	/* some folios are shared memory; of a file on a disk */
	struct list list[NR_LISTS];
	u64 count[NR_COUNTERS];
};

/* Fill in at[] and words of a shape whose nr[] and nr_tlb are set. */
void state_layout(struct mm_state *shape);

/*
 * Copy a state. to holds zeroes or another state of the same lane: what is the same in all of
 * them, entries of folio[] that no split has used, is left out.
 */
void state_copy(u32 *to, const u32 *from);
/* The same without them in any case: only good to be copied over another state of the lane. */
void state_save(u32 *to, const u32 *from);
u32 state_saved_words(const struct mm_state *s);

/* Typed, read-only access to a block, the live one or a snapshot. */
const void *state_array(const struct mm_state *s, enum state_array array);

#define STATE_ACCESSOR(name, type, array)						\
	static inline const type *name(const struct mm_state *s, u32 i)		\
	{									\
		return (const type *)(const void *)((const u32 *)(const void *)s	\
						    + s->at[array]) + i;		\
	}
STATE_ACCESSOR(state_cpu, struct cpu, ARRAY_CPU)
STATE_ACCESSOR(state_task, struct task, ARRAY_TASK)
STATE_ACCESSOR(state_mm, struct mm, ARRAY_MM)
STATE_ACCESSOR(state_vma, struct vma, ARRAY_VMA)
STATE_ACCESSOR(state_folio, struct folio, ARRAY_FOLIO)
STATE_ACCESSOR(state_page, struct page, ARRAY_PAGE)
STATE_ACCESSOR(state_table, struct table, ARRAY_TABLE)
STATE_ACCESSOR(state_pte, u64, ARRAY_PTE)
STATE_ACCESSOR(state_device, struct swap_device, ARRAY_DEVICE)
STATE_ACCESSOR(state_cluster, struct cluster, ARRAY_CLUSTER)
STATE_ACCESSOR(state_slot, struct slot, ARRAY_SLOT)
STATE_ACCESSOR(state_slot_cache, struct slot_cache, ARRAY_SLOT_CACHE)
STATE_ACCESSOR(state_anon_vma, struct anon_vma, ARRAY_ANON_VMA)
STATE_ACCESSOR(state_tlb, struct tlb_entry, ARRAY_TLB)
#undef STATE_ACCESSOR

static inline bool folio_flag(const struct folio *folio, enum folio_flag flag)
{
	return folio->flags >> flag & 1;
}

static inline bool vma_is_anonymous(const struct vma *vma)
{
	return !(vma->flags & (VM_SHMEM | VM_FILE));
}

/* include/linux/mm.h:get_mm_rss */
static inline u32 get_mm_rss(const struct mm *mm)
{
	return mm->anonpages + mm->shmempages + mm->filepages;
}

/* include/linux/mm.h:mm_counter: where an mm counts the pages of such a folio */
static inline const u32 *mm_counter(const struct mm *mm, const struct folio *folio)
{
	if (folio_flag(folio, PG_anon))
		return &mm->anonpages;
	return folio_flag(folio, PG_swapbacked) ? &mm->shmempages : &mm->filepages;
}

static inline u32 folio_nr_pages(const struct folio *folio)
{
	return 1u << folio->order;
}

/* References that one FOLL_PIN pin holds: GUP_PIN_COUNTING_BIAS on a small folio. */
static inline u32 folio_pin_refs(const struct folio *folio)
{
	return folio->order ? 1 : 1024;
}

/* References that the swap cache or the page cache holds. */
static inline u32 folio_cache_refs(const struct folio *folio)
{
	return folio_flag(folio, PG_swapcache) || folio_flag(folio, PG_pagecache) ?
		       folio_nr_pages(folio) :
		       0;
}

/* On one of reclaim's own lists, or taken off one and not yet put back. */
static inline bool folio_isolated(const struct folio *folio)
{
	return folio_flag(folio, PG_isolated);
}

/* Memory that anybody may have. */
static inline bool folio_is_free(const struct folio *folio)
{
	return folio->refcount == 0 && !folio_flag(folio, PG_uptodate);
}

/* The page of a page frame, in page[], or NONE. */
u32 pfn_page(const struct mm_state *s, u64 pfn);
/* The folio that holds a page frame, or NONE. */
u32 pfn_folio(const struct mm_state *s, u64 pfn);

/* The folio that page[page] belongs to now. */
static inline u32 page_folio(const struct mm_state *s, u32 page)
{
	return page < s->nr[ARRAY_PAGE] ? state_page(s, page)->folio : NONE;
}

/* The folio that the world placed it in, split or not. */
u32 page_placed_folio(const struct mm_state *s, u32 page);
/* The entry of folio[] for a page that a split makes a folio of its own. */
u32 page_own_folio(const struct mm_state *s, u32 page);

/* Or does its entry of folio[] stand ready for a tail page? */
static inline bool folio_exists(const struct mm_state *s, u32 folio)
{
	return state_page(s, state_folio(s, folio)->page)->folio == folio;
}

/* The index in pte[] of an address that a VMA holds. */
static inline u32 vma_pte(const struct vma *vma, u64 va)
{
	u32 table = vma->table + (u32)((va >> PMD_SHIFT) - (vma->start >> PMD_SHIFT));

	return table * PTRS_PER_PTE + (u32)(va >> PAGE_SHIFT) % PTRS_PER_PTE;
}

/* The index in pte[] of an address of an mm, or NONE where it has no page table. */
u32 va_pte(const struct mm_state *s, u32 mm, u64 va);
/* The page table of an address of an mm, whether a VMA is there or not; there must be one. */
u32 va_table(const struct mm_state *s, u32 mm, u64 va);
/* The VMA of an mm that holds an address, or NONE. */
u32 va_vma(const struct mm_state *s, u32 mm, u64 va);
/* The first one that ends above it, or NONE. */
u32 find_vma(const struct mm_state *s, u32 mm, u64 va);
/* The address that pte[pte] translates; its mm is that of table[pte / 512]. */
u64 pte_va(const struct mm_state *s, u32 pte);
/* The page in the swap cache that slot[slot] belongs to, or NONE. */
u32 slot_page(const struct mm_state *s, u32 slot);

/* The device that slot[slot] belongs to. Its offset is slot - first_slot. */
static inline u32 slot_device(const struct mm_state *s, u32 slot)
{
	const struct swap_device *device = state_device(s, 0);
	u32 nr = s->nr[ARRAY_DEVICE];

	for (u32 i = 0; i < nr; i++)
		if (slot - device[i].first_slot < device[i].nr_slots)
			return i;
	return NONE;
}

#endif
