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
	CONTPTE_FULL_READ,	/* a read gathers all 16 entries; young: one entry or its block */
	CONTPTE_NONE,		/* there are no blocks */
};

/* arm64: which CPUs forget a read-only translation after a fault that made it writable */
enum access_flush { ACCESS_FLUSH_LOCAL, ACCESS_FLUSH_ALL };

/* mm/rmap.c:folio_referenced_one: runs of PTEs, or each on its own */
enum referenced { REFERENCED_RUN, REFERENCED_PTE };

/* include/linux/{swap,leafops}.h: what moves softleaf types between kernels */
struct softleaf_types {
	u32 max_swapfiles;	/* 24 in 7.3, 23 in 6.12; HWPOISON is the next type */
	u32 nr_device;		/* 3 in 7.3, 4 in 6.12 */
};

struct kernel {
	const char *name;	/* "7.3", "7.3+anon-batch" */
	const char *release;	/* what it stands for: "Linux 7.3.4" */
	bool proposed;		/* a posted but unmerged series: say so wherever it shows */
	bool decode_only;	/* its page-table entries are known; no lane runs it */
	enum anon_batch anon_batch;
	enum contpte contpte;
	enum access_flush access_flush;
	enum referenced referenced;
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
