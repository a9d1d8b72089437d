/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page-table entries, bit for bit: the pure half of an architecture.
 *
 * Nothing here touches simulated memory or counts anything: a pte_t goes in, a
 * pte_t or a fact comes out. The functions carry the kernel's names without the
 * pte_ or pmd_ prefix: each architecture has one table of them for either level.
 * Everything that reads or writes a page table is in arch.h.
 *
 *      63            52 51                           12 11            0
 *     +----------------+------------------------------+---------------+
 *     |  high flags    |            pfn               |   low flags   |  present
 *     +----------------+------------------------------+---------------+
 *     |      offset, type and flags, laid out as each arch likes      |  swap
 *     +---------------------------------------------------------------+
 *
 * Kernel: arch/arm64/include/asm/pgtable{,-hwdef,-prot}.h,
 * arch/x86/include/asm/pgtable{,_types,_64,_64_types,-invert}.h,
 * include/linux/{swapops,leafops}.h (7.3).
 */
#ifndef ARCH_PGTABLE_H
#define ARCH_PGTABLE_H

#include "core/kernel.h"

typedef u64 pte_t;
typedef u64 pmd_t;		/* an entry one level up: it may map 512 pages itself */

/* vm_page_prot of a user mapping, from protection_map[] */
enum pgprot {
	PAGE_READONLY,		/* private, writable or not: PAGE_COPY is the same value */
	PAGE_READONLY_EXEC,
	PAGE_SHARED,
	PAGE_NONE,
};

enum pte_kind {
	PTE_NONE,
	PTE_PRESENT,		/* the hardware may use it */
	PTE_PROTNONE,		/* present for the kernel, invalid for the hardware */
	PTE_INVALID,		/* the same for a moment: pmd_mkinvalid() */
	PTE_TABLE,		/* PMD: points to a page table */
	PTE_SWAP,
	PTE_HWPOISON,
	PTE_MIGRATION,
	PTE_DEVICE,
	PTE_MARKER,
	NR_PTE_KINDS
};

/* Maps a page, for the hardware or for the kernel alone? */
static inline bool pte_kind_maps(enum pte_kind kind)
{
	return kind == PTE_PRESENT || kind == PTE_PROTNONE || kind == PTE_INVALID;
}

/* A raw entry taken apart. Fields that its kind does not have are zero. */
struct pte_desc {
	enum pte_kind kind;
	u64 pfn;		/* present, protnone, invalid, table, hwpoison, migration, device */
	bool write, young, dirty, soft_dirty, uffd, cont, special;
	bool exec, user;
	/* Which bit says dirty: D or RDONLY=0; SavedDirty or software DIRTY. x86 hw_dirty
	 * without write is a shadow stack page. */
	bool hw_dirty, sw_dirty;
	u32 pkey;
	u32 attr;		/* arm64 AttrIndx */
	u32 type;		/* non-present: the raw softleaf type */
	u64 offset;		/* non-present: the raw offset */
	bool exclusive;		/* swap */
	const char *name;	/* non-present: "swap", "hwpoison", "migration_write" ... */
};

/* A named bit or bit range of one kind of entry, for legends and bit diffs. */
struct pte_field {
	const char *name;	/* as the kernel or the manual calls it, short: "RW" "AF" "CONT";
				 * "~pfn": stored inverted; "-": means nothing */
	u8 hi, lo;
	const char *text;	/* one line for a newcomer */
};

/* All bits of one kind of entry, 63 first. */
struct pte_fields {
	const struct pte_field *field;
	u32 nr;
};
#define PTE_FIELDS(table) { (table), NR_OF(table) }

struct pte_ops {
	u32 nr_pages;			/* that a present entry maps: 1, in a PMD 512 */
	bool has_soft_dirty;
	bool has_cont;
	bool has_tagged;		/* a memory type for tagged pages: attr 1 */
	bool has_shadow_stack;		/* dirty for the hardware, yet not writable */
	bool marks_dirty_twice;		/* mkdirty() sets a software bit beside the hardware's */
	u32 max_pkey;

	bool (*none)(pte_t pte);
	bool (*present)(pte_t pte);	/* pte_kind_maps(), or PTE_TABLE */
	bool (*accessible)(pte_t pte);	/* may a TLB hold it: pte_accessible() */
	bool (*write)(pte_t pte);
	bool (*young)(pte_t pte);
	bool (*dirty)(pte_t pte);
	bool (*soft_dirty)(pte_t pte);
	bool (*uffd)(pte_t pte);
	bool (*protnone)(pte_t pte);
	bool (*valid_cont)(pte_t pte);	/* always false on x86 */
	bool (*trans_huge)(pmd_t pmd);	/* PMD only: pmd_trans_huge() */

	pte_t (*mkyoung)(pte_t pte);
	pte_t (*mkold)(pte_t pte);
	pte_t (*mkdirty)(pte_t pte);
	pte_t (*mkclean)(pte_t pte);
	pte_t (*mkwrite)(pte_t pte);	/* pte_mkwrite() in a VMA without shadow stack */
	pte_t (*wrprotect)(pte_t pte);
	pte_t (*mksoft_dirty)(pte_t pte);
	pte_t (*clear_soft_dirty)(pte_t pte);
	pte_t (*mkuffd)(pte_t pte);
	pte_t (*clear_uffd)(pte_t pte);
	pte_t (*mkspecial)(pte_t pte);
	pte_t (*mkcont)(pte_t pte);
	pte_t (*mknoncont)(pte_t pte);
	pte_t (*modify)(pte_t pte, enum pgprot prot);	/* pte_modify */
	pmd_t (*mkinvalid)(pmd_t pmd);	/* PMD only: pmd_mkinvalid() */
	pte_t (*hw_dirty)(pte_t pte);	/* what a store does in hardware to a writable entry */

	u64 (*pfn)(pte_t pte);
	pte_t (*pfn_pte)(u64 pfn, enum pgprot prot);	/* PMD: pmd_mkhuge(pfn_pmd()) */
	pte_t (*advance_pfn)(pte_t pte, s64 nr);

	pte_t (*swp_entry)(u32 type, u64 offset);	/* __swp_entry_to_pte */
	u32 (*swp_type)(pte_t pte);
	u64 (*swp_offset)(pte_t pte);
	bool (*swp_exclusive)(pte_t pte);
	bool (*swp_soft_dirty)(pte_t pte);
	bool (*swp_uffd)(pte_t pte);
	pte_t (*swp_mkexclusive)(pte_t pte);
	pte_t (*swp_clear_exclusive)(pte_t pte);
	pte_t (*swp_mksoft_dirty)(pte_t pte);
	pte_t (*swp_mkuffd)(pte_t pte);
	pte_t (*swp_clear_uffd)(pte_t pte);

	u32 swp_pfn_bits;		/* of the pfn in a migration or device entry */

	void (*decode)(pte_t pte, const struct softleaf_types *types, struct pte_desc *desc);
	/* The way back: reads the fields that this kind has, and type and offset of a softleaf. */
	pte_t (*encode)(const struct pte_desc *desc);
	struct pte_fields fields[NR_PTE_KINDS];	/* by enum pte_kind; none: there is no such */
};

extern const struct pte_ops arm64_pte_ops, arm64_pmd_ops;
extern const struct pte_ops x86_pte_ops, x86_pmd_ops;

/*
 * What type and offset of a non-present entry mean: sets kind, name and what is in the
 * offset (pfn, young, dirty). decode() of each architecture ends here.
 */
void softleaf_decode(const struct softleaf_types *types, u32 pfn_bits, struct pte_desc *desc);
/* The type number of a name that softleaf_decode() sets, or NONE_TYPE; "swap" is 0. */
u32 softleaf_type(const struct softleaf_types *types, const char *name);
#define NONE_TYPE 32
/* include/linux/swapops.h: a page frame and what its PTE allowed */
enum migration { MIGRATION_READ, MIGRATION_READ_EXCLUSIVE, MIGRATION_WRITE };
static inline u32 migration_type(const struct softleaf_types *types, enum migration kind)
{
	return types->max_swapfiles + 1 + (u32)kind;
}
pte_t make_migration_entry(const struct pte_ops *ops, const struct softleaf_types *types,
			   enum migration kind, u64 pfn, bool young, bool dirty);
/* False: it is no migration entry. */
bool softleaf_migration_pfn(const struct pte_ops *ops, const struct softleaf_types *types,
			    pte_t pte, u64 *pfn);

/*
 * Memory that a device has to itself for a while: no CPU may use the page, but its mapping
 * counts like any other. 7.3 has one type for it, 6.12 one for what may be written and one
 * for what may not.
 */
pte_t make_device_exclusive_entry(const struct pte_ops *ops, const struct softleaf_types *types,
				  u64 pfn, bool write);
/* False: it is no such entry. */
bool softleaf_device_exclusive_pfn(const struct pte_ops *ops, const struct softleaf_types *types,
				   pte_t pte, u64 *pfn);

/* Marks that present entries have in one place and others in another. */
static inline bool pte_or_swp_soft_dirty(const struct pte_ops *ops, pte_t pte)
{
	return ops->has_soft_dirty &&
	       (ops->present(pte) ? ops->soft_dirty(pte) : ops->swp_soft_dirty(pte));
}
static inline bool pte_or_swp_uffd(const struct pte_ops *ops, pte_t pte)
{
	return ops->present(pte) ? ops->uffd(pte) : ops->swp_uffd(pte);
}

pte_t make_pte_marker(const struct pte_ops *ops, const struct softleaf_types *types, u32 markers);
/* Is it a marker, and one of these? enum pte_marker */
bool pte_is_marker(const struct pte_ops *ops, const struct softleaf_types *types, pte_t pte,
		   u32 markers);

/* The page of zeroes that everybody may map read-only; no folio of the world holds it. */
#define ZERO_PFN 0x2a5fu
static inline bool is_zero_pfn(u64 pfn)
{
	return pfn == ZERO_PFN;
}

enum pte_marker { MARKER_UFFD_WP = 1, MARKER_POISONED = 2, MARKER_GUARD = 4 };

/* What the field holds in this entry; a "~" field inverted back. */
u64 pte_field_value(const struct pte_field *field, pte_t pte);

/*
 * Does next stand nr entries behind first in a run: the same bits, and the page frame or the
 * swap slot nr further on?
 */
bool pte_continues(const struct pte_ops *ops, const struct softleaf_types *types, pte_t first,
		   u32 nr, pte_t next);

/*
 * One line for a person, as panes and --format text show it, e.g.
 * "pfn 0x12345 RW young dirty soft-dirty" or "swap 0:0x1000 excl".
 * Never writes more than size bytes; returns buf.
 */
char *pte_text(const struct pte_ops *ops, const struct softleaf_types *types,
	       pte_t pte, char *buf, size_t size);

#endif
