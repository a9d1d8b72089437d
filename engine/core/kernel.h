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

/* The functions around them: folio_alloc_swap() and swap_writeout(), or others. */
enum swap_names { SWAP_FOLIO_ALLOC, SWAP_ADD_TO_SWAP };

/* Who splits a folio: one function, that called by another, or the other, from the end on. */
enum folio_split { SPLIT_FOLIO, SPLIT_HUGE_PAGE_FOLIO, SPLIT_HUGE_PAGE };

/* The shared zero page takes a page's place: does its entry keep soft-dirty and uffd-wp? */
enum zero_remap { ZERO_KEEPS_MARKS, ZERO_LOSES_MARKS };

/* include/linux/{swap,leafops}.h: what moves softleaf types between kernels */
struct softleaf_types {
	u32 max_swapfiles;	/* 24 in 7.3, 23 in 6.12; HWPOISON is the next type */
	u32 nr_device;		/* 3 in 7.3, 4 in 6.12 */
};

struct kernel {
	const char *name;	/* "7.3", "7.3+anon-batch" */
	const char *release;	/* what it stands for: "Linux 7.3.4" */
	bool proposed;		/* a posted but unmerged series: say so wherever it shows */
	enum anon_batch anon_batch;
	enum contpte contpte;
	enum access_compare access_compare;
	enum access_flush access_flush;
	enum mm_cpumask mm_cpumask;
	enum broadcast_flush broadcast_flush;
	enum referenced referenced;
	enum unmap unmap;
	enum flag_mismatch flag_mismatch;
	enum lazyfree_kept lazyfree_kept;
	enum mlock_missed mlock_missed;
	enum swap_slots swap_slots;
	enum swap_alloc swap_alloc;
	enum cluster_order cluster_order;
	enum swap_names swap_names;
	enum folio_split folio_split;
	enum zero_remap zero_remap;
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
