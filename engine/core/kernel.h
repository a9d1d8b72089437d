/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel variants are data: a struct of named choices, and a table of presets
 * named after releases and posted series. Adding a variant is one row in kernel.c.
 */
#ifndef CORE_KERNEL_H
#define CORE_KERNEL_H

#include "core/types.h"

enum anon_batch {
	ANON_SINGLE,		/* anonymous swap-backed folios: one PTE a turn */
	ANON_RUN,		/* the posted series: one run, sub-batches of equal AnonExclusive */
};

/* Anonymous folios: of any order, or of one page and of a PMD alone */
enum anon_orders { ORDERS_ALL, ORDERS_PAGE_PMD };

/* Do page functions take folios? Else isolate_lru_page(), page_remove_rmap() and their like do. */
enum page_api { API_FOLIO, API_PAGE };

/* The core reads a PTE with ptep_get(), or names *pte: compilers load it as often as they like. */
enum pte_access { PTEP_GET, PTE_DEREFERENCED };

/* MADV_PAGEOUT: used pages go like others, or are made old first, and reclaim asks once more */
enum pageout_young { PAGEOUT_IGNORES_YOUNG, PAGEOUT_CLEARS_YOUNG };

/* arm64: who waits for the TLBI of an unmapped PTE? x86 has put it off in all of these. */
enum unmap_flush { UNMAP_FLUSH_LATER, UNMAP_FLUSH_NOW };

/* Is there userfaultfd-wp on arm64? */
enum uffd_wp { UFFD_WP_ALL, UFFD_WP_X86 };

/* arch/arm64/mm/contpte.c */
enum contpte {
	CONTPTE_SHORT_READ,	/* a read ends when accessed and dirty are known; young: runs */
	CONTPTE_FULL_READ,	/* a read gathers all 16 entries; young: one entry or its block;
				 * fold and unfold flush, also where the CPU has BBML3 */
	CONTPTE_NONE,		/* there are no blocks */
};

/* arm64: what a fault in a contpte block is compared with: each raw entry, or what was gathered */
enum access_compare { ACCESS_RAW, ACCESS_GATHERED };

/* arm64: which CPUs forget a read-only translation after a fault that made it writable */
enum access_flush { ACCESS_FLUSH_LOCAL, ACCESS_FLUSH_ALL };

/* x86: a CPU that turns to another mm leaves the old mask when that mm flushes, or at once */
enum mm_cpumask { CPUMASK_LAZY, CPUMASK_EXACT };

/* x86: does the deferred flush make use of INVLPGB, where the CPU has it? */
enum broadcast_flush { BROADCAST_IF_ABLE, BROADCAST_NEVER };

/* mm/rmap.c:folio_referenced_one: runs of PTEs, or each on its own */
enum referenced { REFERENCED_RUN, REFERENCED_PTE };

/*
 * The walk of an unmap may pass a PTE that somebody is changing and miss it. For a large folio
 * it takes the page table's lock first, or it runs that risk too.
 */
enum unmap_sync { SYNC_LARGE, SYNC_NEVER };

/* How try_to_unmap_one() treats the PTE that it stands on. */
enum unmap {
	UNMAP_TTU,		/* asks folio_unmap_pte_batch(); converts in ttu_anon_folio() */
	UNMAP_RUN,		/* asks folio_unmap_pte_batch(); converts in place */
	UNMAP_PTE,		/* one PTE; walks on behind the folio's last */
};

/* A lazyfree folio that could not go: one only if it was written to, or swapbacked anyway */
enum lazyfree_kept { LAZYFREE_KEPT, LAZYFREE_KEPT_SWAPBACKED };

/* Swapbacked and swapcache contradict each other: what becomes of the cleared PTE? */
enum flag_mismatch { MISMATCH_RESTORED, MISMATCH_LOST };

/* Whom unmapping marks mlocked, if it was missed: whole folios, or small ones alone. */
enum mlock_missed { MLOCK_WHOLE, MLOCK_SMALL };

/* Where a swap slot's count is, and where its folio is found. */
enum swap_slots {
	SLOTS_TABLE,		/* both in a word of the cluster's table */
	SLOTS_MAP,		/* a byte of swap_map; a tree, the swap cache */
};

/* Where slots come from, and where freed ones go. */
enum swap_alloc {
	ALLOC_CLUSTER,		/* the cluster that this CPU uses for the order */
	ALLOC_SLOT_CACHE,	/* small folios: a cache of the CPU, 64 slots at a time */
};

/* The next cluster: one that has room, or a free one? */
enum cluster_order { CLUSTER_NONFULL_FIRST, CLUSTER_FREE_FIRST };

/* A look for slots: cluster by cluster, each of one order, or all over swap_map */
enum slot_search { SEARCH_CLUSTERS, SEARCH_MAP };

/* A folio of zeroes: a bit for each slot, or written like others */
enum zero_fill { ZERO_FILL_NOTED, ZERO_FILL_WRITTEN };

/* The functions around them: folio_alloc_swap() and swap_writeout(), or others. */
enum swap_names { SWAP_FOLIO_ALLOC, SWAP_ADD_TO_SWAP };

/* Who splits a folio: one function, that called by another, or the other, from the end on. */
enum folio_split { SPLIT_FOLIO, SPLIT_HUGE_PAGE_FOLIO, SPLIT_HUGE_PAGE };

/*
 * The shared zero page takes a page's place: does its entry keep soft-dirty and uffd-wp? Or
 * a page of zeroes is mapped again like any other.
 */
enum zero_remap { ZERO_KEEPS_MARKS, ZERO_LOSES_MARKS, ZERO_MAPPED_AGAIN };

/*
 * Swap entries that go at munmap: a run of them, cut where a slot is shared or cached; a run, at
 * once if all its slots are alike and used by it alone; a run that is found, but freed one slot
 * after the other; or each on its own.
 */
enum swap_zap { SWAP_ZAP_RUNS, SWAP_ZAP_UNIFORM, SWAP_ZAP_SLOTS, SWAP_ZAP_PTES };

/* MADV_DONTNEED and MADV_FREE: one gather for all VMAs of the range, or one for each */
enum madvise_gather { MADVISE_GATHER_ONE, MADVISE_GATHER_EACH };

/* The functions that zap a VMA: __zap_vma_range(), or unmap_single_vma() and unmap_page_range() */
enum zap_names { ZAP_VMA_RANGE, ZAP_PAGE_RANGE };

/*
 * Dirty folios may be written out once no CPU can write through an old translation: a flush
 * for each; one for all folios of a list, locked until then; one for as many as a batch holds,
 * unlocked meanwhile and looked at again.
 */
enum dirty_flush { DIRTY_FLUSH_EACH, DIRTY_FLUSH_LIST, DIRTY_FLUSH_BATCH };

/*
 * A huge PMD maps a lazyfree folio: it is split; it is discarded whole or, if that fails, split;
 * or it is discarded whole or unmapping ends there.
 */
enum pmd_lazyfree { PMD_LAZYFREE_SPLIT, PMD_LAZYFREE_DISCARD, PMD_LAZYFREE_ABORT };

/* Reclaim meets a huge PMD: the walk splits it, or it is split before, its PTEs clean */
enum pmd_split { PMD_SPLIT_IN_WALK, PMD_SPLIT_BEFORE };

/* fork: runs of PTEs, or each on its own */
enum fork_batch { FORK_RUN, FORK_PTE };

/* mprotect: runs of PTEs, or each on its own */
enum prot_batch { PROT_RUN, PROT_PTE };

/*
 * mprotect makes a private VMA writable: so are entries of exclusive pages, or of those only
 * PTEs, and only dirty ones
 */
enum prot_upgrade { UPGRADE_EXCLUSIVE, UPGRADE_DIRTY_PTES };

/* arm64: an entry that mprotect leaves as it was, or differs in no bit of the hardware's */
enum prot_flush { PROT_FLUSH_CHANGED, PROT_FLUSH_ALL };

/* include/linux/{swap,leafops}.h: what moves softleaf types between kernels */
struct softleaf_types {
	u32 max_swapfiles;	/* 24 in 7.3, 23 in 6.12, 22 in 6.1; HWPOISON is the next type */
	u32 nr_device;		/* 3 in 7.3, 4 in 6.12 */
};

struct kernel {
	const char *name;	/* "7.3", "7.3+anon-batch" */
	const char *release;	/* what it stands for: "Linux 7.3.4" */
	bool proposed;		/* a posted but unmerged series: say so wherever it shows */
	bool unchecked;		/* no kernel was rebuilt with it to check its counts */
	enum anon_batch anon_batch;
	enum anon_orders anon_orders;
	enum page_api page_api;
	enum pte_access pte_access;
	enum pageout_young pageout_young;
	enum unmap_flush unmap_flush;
	enum uffd_wp uffd_wp;
	enum contpte contpte;
	enum access_compare access_compare;
	enum access_flush access_flush;
	enum mm_cpumask mm_cpumask;
	enum broadcast_flush broadcast_flush;
	enum referenced referenced;
	enum unmap unmap;
	enum unmap_sync unmap_sync;
	enum flag_mismatch flag_mismatch;
	enum lazyfree_kept lazyfree_kept;
	enum mlock_missed mlock_missed;
	enum swap_slots swap_slots;
	enum swap_alloc swap_alloc;
	enum cluster_order cluster_order;
	enum slot_search slot_search;
	enum zero_fill zero_fill;
	enum swap_names swap_names;
	enum folio_split folio_split;
	enum zero_remap zero_remap;
	enum pmd_split pmd_split;
	enum pmd_lazyfree pmd_lazyfree;
	enum fork_batch fork_batch;
	enum prot_batch prot_batch;
	enum prot_upgrade prot_upgrade;
	enum prot_flush prot_flush;
	enum swap_zap swap_zap;
	enum zap_names zap_names;
	enum madvise_gather madvise_gather;
	enum dirty_flush dirty_flush;
	struct softleaf_types types;
};

extern const struct kernel kernels[];
extern const u32 nr_kernels;
const struct kernel *kernel_find(const char *name);	/* NULL: unknown */

/* Switches of the CPU. The name, the default and the text stand in cpu_features.def. */
enum cpu_feature {
#define CPU_FEATURE(id, on, text) FEATURE_##id,
#include "core/cpu_features.def"
#undef CPU_FEATURE
	NR_CPU_FEATURES
};

struct cpu_feature_info {
	const char *name;
	bool on;		/* by default */
	const char *text;
};
extern const struct cpu_feature_info cpu_features[NR_CPU_FEATURES];
u32 cpu_features_default(void);				/* bit i: feature i */
enum cpu_feature cpu_feature_find(const char *name);	/* NR_CPU_FEATURES: unknown */

/* Mistakes that no lane makes unless its scenario says so. Name and text stand in bugs.def. */
enum bug {
#define BUG(id, text) BUG_##id,
#include "core/bugs.def"
#undef BUG
	NR_BUGS
};

struct bug_info {
	const char *name;
	const char *text;	/* what is done wrong */
};
extern const struct bug_info bug_infos[NR_BUGS];

#endif
