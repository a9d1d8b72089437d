/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "core/kernel.h"

/* A variant is one row; what it does not name is as in 7.3. */
const struct kernel kernels[] = {
	{ .name = "7.3", .release = "Linux 7.3.4",
	  .anon_batch = ANON_SINGLE, .types = { .max_swapfiles = 24, .nr_device = 3 } },
	{ .name = "7.3-rc7", .release = "Linux 7.3-rc7",
	  .pmd_lazyfree = PMD_LAZYFREE_ABORT, .types = { .max_swapfiles = 24, .nr_device = 3 } },
	{ .name = "7.3+anon-batch", .proposed = true,
	  .release = "Linux 7.3.4 + \"Optimize anonymous swapbacked large folio unmapping\" "
		     "(2026-07-23), reconstructed",
	  .anon_batch = ANON_RUN, .types = { .max_swapfiles = 24, .nr_device = 3 } },
	{ .name = "7.3+flush-batch-v2", .proposed = true,
	  .release = "Linux 7.3.4 + one TLB flush for a list before write-out "
		     "(v2, 2025-03-28), reconstructed",
	  .dirty_flush = DIRTY_FLUSH_LIST, .types = { .max_swapfiles = 24, .nr_device = 3 } },
	{ .name = "7.3+anon-batch+flush-batch-v2", .proposed = true,
	  .release = "Linux 7.3.4 + both of these series, reconstructed", .anon_batch = ANON_RUN,
	  .dirty_flush = DIRTY_FLUSH_LIST, .types = { .max_swapfiles = 24, .nr_device = 3 } },
	{ .name = "7.3+flush-batch-31", .proposed = true, .unchecked = true,
	  .release = "Linux 7.3.4 + \"mm: batch TLB flushing for dirty folios in vmscan\" "
		     "(2026-05-25), from its description",
	  .dirty_flush = DIRTY_FLUSH_BATCH, .types = { .max_swapfiles = 24, .nr_device = 3 } },
	{ .name = "6.16", .release = "Linux 6.16.12",
	  .contpte = CONTPTE_FULL_READ, .access_compare = ACCESS_GATHERED,
	  .access_flush = ACCESS_FLUSH_ALL,
	  .referenced = REFERENCED_PTE, .unmap = UNMAP_RUN, .flag_mismatch = MISMATCH_LOST,
	  .mlock_missed = MLOCK_SMALL, .swap_slots = SLOTS_MAP,
	  .cluster_order = CLUSTER_FREE_FIRST, .folio_split = SPLIT_HUGE_PAGE_FOLIO,
	  .zero_remap = ZERO_LOSES_MARKS,
	  .prot_batch = PROT_PTE, .prot_flush = PROT_FLUSH_ALL, .zap_names = ZAP_PAGE_RANGE,
	  .swap_zap = SWAP_ZAP_UNIFORM,
	  .pmd_lazyfree = PMD_LAZYFREE_ABORT,
	  .types = { .max_swapfiles = 24, .nr_device = 3 } },
	{ .name = "6.14", .release = "Linux 6.14",
	  .contpte = CONTPTE_FULL_READ, .access_flush = ACCESS_FLUSH_ALL,
	  .mm_cpumask = CPUMASK_EXACT, .broadcast_flush = BROADCAST_NEVER,
	  .referenced = REFERENCED_PTE, .unmap = UNMAP_PTE, .flag_mismatch = MISMATCH_LOST,
	  .lazyfree_kept = LAZYFREE_KEPT_SWAPBACKED,
	  .mlock_missed = MLOCK_SMALL, .swap_slots = SLOTS_MAP, .swap_alloc = ALLOC_SLOT_CACHE,
	  .cluster_order = CLUSTER_FREE_FIRST, .swap_names = SWAP_ADD_TO_SWAP,
	  .folio_split = SPLIT_HUGE_PAGE,
	  .prot_batch = PROT_PTE, .prot_flush = PROT_FLUSH_ALL, .zap_names = ZAP_PAGE_RANGE,
	  .madvise_gather = MADVISE_GATHER_EACH,
	  .swap_zap = SWAP_ZAP_UNIFORM,
	  .pmd_lazyfree = PMD_LAZYFREE_DISCARD,
	  .types = { .max_swapfiles = 23, .nr_device = 4 } },
	{ .name = "6.12", .release = "Linux 6.12.117",
	  .contpte = CONTPTE_FULL_READ, .access_flush = ACCESS_FLUSH_ALL,
	  .mm_cpumask = CPUMASK_EXACT, .broadcast_flush = BROADCAST_NEVER,
	  .referenced = REFERENCED_PTE, .unmap = UNMAP_PTE, .flag_mismatch = MISMATCH_LOST,
	  .lazyfree_kept = LAZYFREE_KEPT_SWAPBACKED,
	  .mlock_missed = MLOCK_SMALL, .swap_slots = SLOTS_MAP, .swap_alloc = ALLOC_SLOT_CACHE,
	  .cluster_order = CLUSTER_FREE_FIRST, .swap_names = SWAP_ADD_TO_SWAP,
	  .folio_split = SPLIT_HUGE_PAGE,
	  .prot_batch = PROT_PTE, .prot_flush = PROT_FLUSH_ALL, .zap_names = ZAP_PAGE_RANGE,
	  .madvise_gather = MADVISE_GATHER_EACH,
	  .swap_zap = SWAP_ZAP_UNIFORM,
	  .types = { .max_swapfiles = 23, .nr_device = 4 } },
	{ .name = "6.11", .release = "Linux 6.11",
	  .contpte = CONTPTE_FULL_READ, .access_flush = ACCESS_FLUSH_ALL,
	  .mm_cpumask = CPUMASK_EXACT, .broadcast_flush = BROADCAST_NEVER,
	  .referenced = REFERENCED_PTE, .unmap = UNMAP_PTE, .flag_mismatch = MISMATCH_LOST,
	  .lazyfree_kept = LAZYFREE_KEPT_SWAPBACKED,
	  .mlock_missed = MLOCK_SMALL, .swap_slots = SLOTS_MAP, .swap_alloc = ALLOC_SLOT_CACHE,
	  .cluster_order = CLUSTER_FREE_FIRST, .swap_names = SWAP_ADD_TO_SWAP,
	  .folio_split = SPLIT_HUGE_PAGE,
	  .prot_batch = PROT_PTE, .prot_flush = PROT_FLUSH_ALL, .zap_names = ZAP_PAGE_RANGE,
	  .madvise_gather = MADVISE_GATHER_EACH,
	  .swap_zap = SWAP_ZAP_SLOTS, .zero_fill = ZERO_FILL_WRITTEN,
	  .pmd_lazyfree = PMD_LAZYFREE_DISCARD,
	  .types = { .max_swapfiles = 23, .nr_device = 4 } },
	{ .name = "6.1", .release = "Linux 6.1",
	  .anon_orders = ORDERS_PAGE_PMD, .page_api = API_PAGE, .pte_access = PTE_DEREFERENCED,
	  .pageout_young = PAGEOUT_CLEARS_YOUNG, .unmap_flush = UNMAP_FLUSH_NOW,
	  .uffd_wp = UFFD_WP_X86, .contpte = CONTPTE_NONE, .access_flush = ACCESS_FLUSH_ALL,
	  .mm_cpumask = CPUMASK_EXACT, .broadcast_flush = BROADCAST_NEVER,
	  .referenced = REFERENCED_PTE, .unmap = UNMAP_PTE, .unmap_sync = SYNC_NEVER,
	  .flag_mismatch = MISMATCH_LOST, .lazyfree_kept = LAZYFREE_KEPT_SWAPBACKED,
	  .mlock_missed = MLOCK_SMALL, .swap_slots = SLOTS_MAP, .swap_alloc = ALLOC_SLOT_CACHE,
	  .slot_search = SEARCH_MAP, .zero_fill = ZERO_FILL_WRITTEN,
	  .swap_names = SWAP_ADD_TO_SWAP, .folio_split = SPLIT_HUGE_PAGE,
	  .zero_remap = ZERO_MAPPED_AGAIN, .pmd_split = PMD_SPLIT_BEFORE,
	  .fork_batch = FORK_PTE, .prot_batch = PROT_PTE, .prot_upgrade = UPGRADE_DIRTY_PTES,
	  .prot_flush = PROT_FLUSH_ALL, .zap_names = ZAP_PAGE_RANGE,
	  .madvise_gather = MADVISE_GATHER_EACH,
	  .swap_zap = SWAP_ZAP_PTES,
	  .types = { .max_swapfiles = 22, .nr_device = 4 } },
};
const u32 nr_kernels = NR_OF(kernels);

const struct kernel *kernel_find(const char *name)
{
	for (u32 i = 0; i < nr_kernels; i++)
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	return NULL;
}

const struct cpu_feature_info cpu_features[NR_CPU_FEATURES] = {
#define CPU_FEATURE(id, on_, text_) [FEATURE_##id] = { .name = #id, .on = on_, .text = text_ },
#include "core/cpu_features.def"
#undef CPU_FEATURE
};

u32 cpu_features_default(void)
{
	u32 features = 0;

	for (u32 i = 0; i < NR_CPU_FEATURES; i++)
		features |= (u32)cpu_features[i].on << i;
	return features;
}

enum cpu_feature cpu_feature_find(const char *name)
{
	u32 i = 0;

	while (i < NR_CPU_FEATURES && strcmp(cpu_features[i].name, name) != 0)
		i++;
	return (enum cpu_feature)i;
}

const struct bug_info bug_infos[NR_BUGS] = {
#define BUG(id, text_) [BUG_##id] = { .name = #id, .text = text_ },
#include "core/bugs.def"
#undef BUG
};
