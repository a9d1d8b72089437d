/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scenario as its file says it, checked: no cJSON inside, no machine yet.
 *
 *   file -> scenario_load() -> struct scenario -> run.h: world, lanes, script, expect
 *
 * Everything is owned by the scenario and freed with it. Objects that the file
 * refers to by id are indices into the arrays here. The state has mms and devices
 * in the same order, folios by page frame: scn_folio_state().
 */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "core/kernel.h"
#include "core/state.h"
#include "core/event.h"

/* One line: "file:line:column: /json/pointer: what was expected". */
struct error {
	char text[512];
	bool placed;		/* it begins with file:line:column */
	bool no_memory;		/* not the input's fault */
};

/*
 * One line of whole characters, whatever a file or a command line holds: it may go to a
 * terminal. Control characters become '?', the end is cut at a whole character.
 */
void make_printable(char *text);
/* C1 (U+0080..U+009F) included. */
bool has_control(const char *text);

/* Where in the file something stands. */
struct scn_place {
	u32 line, column;		/* from 1; columns are characters */
};

enum level { LEVEL_INTRO, LEVEL_CORE, LEVEL_DEEP };

struct scn_device {		/* machine.swap[] */
	char *id;
	enum swap_kind kind;	/* default sync */
	u32 slots;		/* a multiple of 512; offset 0 is the header, never allocated */
};

struct scn_lane {
	char *name;		/* "arm64/unbatched": ARCH/PATH */
	const char *arch;	/* "arm64", "x86_64" */
	const struct kernel *kernel;
	u32 features;		/* bit i: enum cpu_feature i */
	u32 bugs;		/* bit i: enum bug i */
};

struct scn_mm {
	char *id;
	u64 ran_on;		/* bit per CPU: mm_cpumask (x86) */
	u32 tlb_pending, tlb_flushed;
	bool on_mmlist;
	u32 asid;		/* default: its index + 1 */
	bool forked;		/* by an operation of the script, */
	u32 parent;		/* from this one */
};

struct scn_vma {		/* optional: world.vmas; otherwise made from the maps */
	u32 mm;
	u64 start, end;
	u32 flags;		/* enum vma_flag */
	u64 pgoff;		/* default start >> 12 */
	struct scn_place at;
};

struct scn_folio {
	char *id;		/* "A"; with count > 1: "A" stands for "A0", "A1", ... */
	u32 count;		/* consecutive folios of this kind; default 1 */
	u32 order;
	u32 pfn;		/* of the first; the next follow without a gap */
	bool zero_filled;	/* fill: "zero" (default) or "data" */
	u32 zeroes_first, zeroes_last;	/* pages that are all zeroes nevertheless, or NONE */
	u32 flags;		/* enum folio_flag bits beside anon swapbacked uptodate lru */
	bool shmem;		/* of a file without a disk, in the page cache */
	bool file;		/* of a file on a disk, in the page cache */
	bool isolated;		/* already off the LRU, on reclaim's list, locked */
	bool lazyfree;		/* not swapbacked: MADV_FREE */
	u32 pins, refs;		/* FOLL_PIN pins; plain extra references */
	u32 device;		/* NONE: not in the swap cache */
	u32 slot;		/* offset of the first slot on it */
	u32 state;		/* index of the first in the state's folio[] */
	struct scn_place at;
};

struct scn_map {
	u32 mm;
	u64 va;			/* of the first page mapped */
	u32 folio;		/* index in folios[]; a group: all of it, in order */
	u32 first, last;	/* pages of the folio, inclusive; default all */
	bool write, young, dirty, soft_dirty, uffd, exclusive;
	bool fold;		/* arm64: contpte where aligned; default true */
	bool pmd;		/* by one huge entry */
	bool device_exclusive;	/* not present: a device has the pages to itself */
	struct scn_place at;
};

enum entry_kind { ENTRY_SWAP, ENTRY_MIGRATION, ENTRY_HWPOISON, ENTRY_UFFD_WP };

struct scn_entry {		/* world.entries[]: PTEs that map no page */
	u32 mm;
	u64 va;
	u32 pages;		/* default 1; what the entries name goes up with the address */
	u32 kind;		/* enum entry_kind */
	u32 device, slot;	/* swap */
	u32 folio, page;	/* migration: the first page; index in folios[] */
	u32 pfn;		/* hwpoison */
	bool exclusive, soft_dirty, uffd;
	struct scn_place at;
};

struct scn_slot {		/* world.slots[]: counts given by hand */
	u32 device;
	u32 first, last;	/* offsets */
	u32 count;
	struct scn_place at;
};

struct scn_tlb {		/* world.tlbs[]: what CPUs hold; as the PTEs say by default */
	u32 cpu;
	u32 mm;
	u64 va;
	u32 pages;		/* default 1 */
	s32 writable, dirty;	/* -1: as the PTE */
	struct scn_place at;
};

struct scn_when {
	enum event event;	/* enters a function or an event happens; NR_EVENTS: no trigger */
	u32 page;		/* within its folio; NONE: any */
	u32 folio;		/* index in folios[]; NONE: any */
	u32 nth;		/* the n-th match, from 1 */
};

enum op_prot { PROT_READ, PROT_READ_WRITE };

struct scn_op {
	u32 cpu;
	const struct op_info *op;	/* ops.h: what to do */
	u32 child;		/* of fork */
	u32 mm, folio;		/* NONE unless the operation takes them */
	u64 va;
	u32 pages;
	u32 prot;		/* enum op_prot */
	struct scn_when when;	/* triggered inside the operation before it in the script */
	struct scn_place at;
};

struct scn_say {
	struct scn_when when;
	char *lane;		/* glob over lane names; NULL: all */
	char *text;
	struct scn_place at;
};

struct scn_report {		/* reported[]: what others say of the same thing */
	char *text;
	u32 how;		/* enum report_how */
};
enum report_how { REPORT_MEASURED, REPORT_COMPUTED };
extern const char *const report_words[];	/* by enum report_how; NULL ends them */

enum expect_at { EXPECT_END, EXPECT_ALWAYS, EXPECT_NEVER, EXPECT_WHEN };

struct expr;			/* expr.h */

struct scn_expect {
	enum expect_at at;
	struct scn_when when;	/* EXPECT_WHEN */
	char *lane;		/* glob; NULL: all */
	char *that;		/* source text, and what it means; or NULL: */
	struct expr *expr;
	u32 breaks;		/* enum invariant: the lane's first broken one, and here */
	char *because;		/* may be NULL */
	u32 line;
};

struct scenario {
	char *name;		/* file stem or bundled id */
	char *file;		/* as given, for messages and for reopening */
	bool narrowed;		/* lanes were left out: scenario_select_lanes() */
	char *features;		/* scenario_set_feature() so far: " --feature bbml3=on"; or NULL */
	char *title, *summary;
	enum level level;
	char **teaches, **refs;
	u32 nr_teaches, nr_refs;

	u32 cpus;		/* default 1 */
	u32 tlb_entries;	/* per CPU; default 64 */
	bool fail_atomic_alloc;	/* no memory for who may not wait */
	u64 max_steps;		/* limits.steps; default 8,000,000 */
	struct scn_device *devices;	u32 nr_devices;
	struct scn_lane *lanes;		u32 nr_lanes;
	struct scn_mm *mms;		u32 nr_mms;
	struct scn_vma *vmas;		u32 nr_vmas;
	struct scn_folio *folios;	u32 nr_folios;
	u32 *by_pfn;			/* indices in folios[], in the order of the state's */
	struct scn_map *maps;		u32 nr_maps;
	struct scn_entry *entries;	u32 nr_entries;
	struct scn_slot *slots;		u32 nr_slots;
	struct scn_tlb *tlbs;		u32 nr_tlbs;
	struct scn_op *ops;		u32 nr_ops;
	struct scn_say *says;		u32 nr_says;
	struct scn_expect *expects;	u32 nr_expects;
	struct scn_report *reported;	u32 nr_reported;
};

/*
 * Load from bytes; file names them in messages. NULL on error, with one line in err.
 * Never prints, never exits; any bytes are safe.
 */
struct scenario *scenario_load(const char *file, const char *bytes, size_t len, struct error *err);
/*
 * SCENARIO of the command line: a '/' or a name in .json is a file, "-" standard
 * input, else a bundled id, with suggestions when there is none of that name.
 */
struct scenario *scenario_open(const char *arg, struct error *err);
void scenario_free(struct scenario *s);

/* Restrict to the lanes named in a comma-separated list of globs, in that order. */
bool scenario_select_lanes(struct scenario *s, const char *list, struct error *err);
/* "NAME=on|off" for every lane. */
bool scenario_set_feature(struct scenario *s, const char *setting, struct error *err);

/*
 * The index in the state's folio[] of a group's first folio. folio[] is sorted by
 * page frame, folios[] as the file has it. (world.c)
 */
u32 scn_folio_state(const struct scenario *s, u32 folio);

/*
 * The scenario's name of a folio of the state: "A", or "A3" in a group; "A.7" is what a split
 * made of page 7 of A. buf holds 32 bytes.
 */
const char *folio_name(const struct scenario *s, u32 folio, char *buf);

/* Bundled scenarios, embedded at build, sorted by name. */
struct bundled {
	const char *name;
	const char *bytes;
	size_t len;
};
extern const struct bundled bundled_scenarios[];
extern const u32 nr_bundled_scenarios;

#endif
