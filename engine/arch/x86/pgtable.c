/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/x86/pte.h"

/*
 * Swap entries: type in the top five bits, below it the inverted offset, so that the
 * bits where hardware looks for a page frame point to memory that does not exist.
 */
#define SWP_SOFT_DIRTY		(1ull << 1)
#define SWP_UFFD		(1ull << 2)
#define SWP_EXCLUSIVE		(1ull << 3)
#define SWP_TYPE_SHIFT		59
#define SWP_TYPE_BITS		5
#define SWP_OFFSET_SHIFT	14		/* left, before the type's five bits go on top */
#define SWP_PFN_BITS		34u		/* MAX_PHYSMEM_BITS - PAGE_SHIFT, 4 levels */

static const u64 pgprot[] = {
	[PAGE_READONLY] = X86_PTE_P | X86_PTE_US | X86_PTE_A | X86_PTE_NX,
	[PAGE_READONLY_EXEC] = X86_PTE_P | X86_PTE_US | X86_PTE_A,
	[PAGE_SHARED] = X86_PTE_P | X86_PTE_RW | X86_PTE_US | X86_PTE_A | X86_PTE_NX,
	[PAGE_NONE] = X86_PTE_PROTNONE | X86_PTE_A,
};

/* A and D may be left over in an empty entry (an erratum): they do not count. */
static bool none(pte_t pte)
{
	return (pte & ~(X86_PTE_A | X86_PTE_D)) == 0;
}

static bool accessible(pte_t pte)
{
	return pte & X86_PTE_P;
}

static bool write(pte_t pte)
{
	return pte & X86_PTE_RW;
}

static bool soft_dirty(pte_t pte)
{
	return pte & X86_PTE_SOFT_DIRTY;
}

static bool uffd(pte_t pte)
{
	return pte & X86_PTE_UFFD;
}

static bool protnone(pte_t pte)
{
	return (pte & (X86_PTE_P | X86_PTE_PROTNONE)) == X86_PTE_PROTNONE;
}

static bool valid_cont(pte_t pte)
{
	(void)pte;
	return false;
}

static pte_t mkyoung(pte_t pte)
{
	return pte | X86_PTE_A;
}

static pte_t mkdirty(pte_t pte)
{
	return x86_pte_mksaveddirty(pte | X86_PTE_D | X86_PTE_SOFT_DIRTY);
}

static pte_t mkwrite(pte_t pte)
{
	return x86_pte_clear_saveddirty(pte | X86_PTE_RW);
}

static pte_t mksoft_dirty(pte_t pte)
{
	return pte | X86_PTE_SOFT_DIRTY;
}

static pte_t clear_soft_dirty(pte_t pte)
{
	return pte & ~X86_PTE_SOFT_DIRTY;
}

static pte_t mkuffd(pte_t pte)
{
	return x86_pte_wrprotect(pte | X86_PTE_UFFD);
}

static pte_t clear_uffd(pte_t pte)
{
	return pte & ~X86_PTE_UFFD;
}

static pte_t mkspecial(pte_t pte)
{
	return pte | X86_PTE_SPECIAL;
}

static pte_t unchanged(pte_t pte)
{
	return pte;
}

/* pfn_mask: the bits that change sides when the entry becomes present or ceases to be. */
static pte_t modify_level(pte_t pte, enum pgprot prot, u64 pfn_mask)
{
	const u64 kept = X86_PTE_PFN | X86_PTE_PCD | X86_PTE_PWT | X86_PTE_PAT | X86_PTE_SPECIAL |
			 X86_PTE_A | X86_PTE_D | X86_PTE_SAVED_DIRTY | X86_PTE_SOFT_DIRTY |
			 X86_PTE_UFFD;
	pte_t new = (pte & kept) | (pgprot[prot] & ~kept);

	if (x86_pte_needs_invert(pte) != x86_pte_needs_invert(new))
		new ^= pfn_mask;
	return pte & X86_PTE_RW ? x86_pte_mksaveddirty(new) : x86_pte_clear_saveddirty(new);
}

static pte_t modify(pte_t pte, enum pgprot prot)
{
	return modify_level(pte, prot, X86_PTE_PFN);
}

static pte_t hw_dirty(pte_t pte)
{
	return pte & X86_PTE_RW ? pte | X86_PTE_D | X86_PTE_A : pte;
}

static pte_t pfn_pte(u64 pfn, enum pgprot prot)
{
	u64 field = pfn << PAGE_SHIFT;

	return ((x86_pte_needs_invert(pgprot[prot]) ? ~field : field) & X86_PTE_PFN) | pgprot[prot];
}

/* --- PMD: PSE is set in an entry that maps 2 MiB itself ---------------------- */

/* PSE counts as well: it stays while P is clear during a split. */
static bool pmd_present(pmd_t pmd)
{
	return pmd & (X86_PTE_P | X86_PTE_PROTNONE | X86_PMD_PSE);
}

static bool pmd_trans_huge(pmd_t pmd)
{
	return pmd & X86_PMD_PSE;
}

static u64 pmd_pfn(pmd_t pmd)
{
	return ((x86_pte_needs_invert(pmd) ? ~pmd : pmd) & X86_PMD_PFN) >> PAGE_SHIFT;
}

static pmd_t pmd_with_pfn(u64 flags, u64 pfn)
{
	u64 field = pfn << PAGE_SHIFT;

	return ((x86_pte_needs_invert(flags) ? ~field : field) & X86_PMD_PFN) | flags;
}

static pmd_t pfn_pmd(u64 pfn, enum pgprot prot)
{
	return pmd_with_pfn(pgprot[prot] | X86_PMD_PSE, pfn);
}

static pmd_t pmd_mkinvalid(pmd_t pmd)
{
	return pmd_with_pfn(pmd & ~(X86_PMD_PFN | X86_PTE_P | X86_PTE_PROTNONE), pmd_pfn(pmd));
}

static pmd_t pmd_modify(pmd_t pmd, enum pgprot prot)
{
	return modify_level(pmd, prot, X86_PMD_PFN);
}

/* --- entries that are not present ------------------------------------------ */

static pte_t swp_entry(u32 type, u64 offset)
{
	return ~offset << SWP_OFFSET_SHIFT >> SWP_TYPE_BITS | (u64)type << SWP_TYPE_SHIFT;
}

static u32 swp_type(pte_t pte)
{
	return (u32)(pte >> SWP_TYPE_SHIFT);
}

static u64 swp_offset(pte_t pte)
{
	return ~pte << SWP_TYPE_BITS >> SWP_OFFSET_SHIFT;
}

static bool swp_exclusive(pte_t pte)
{
	return pte & SWP_EXCLUSIVE;
}

static bool swp_soft_dirty(pte_t pte)
{
	return pte & SWP_SOFT_DIRTY;
}

static bool swp_uffd(pte_t pte)
{
	return pte & SWP_UFFD;
}

static pte_t swp_mkexclusive(pte_t pte)
{
	return pte | SWP_EXCLUSIVE;
}

static pte_t swp_clear_exclusive(pte_t pte)
{
	return pte & ~SWP_EXCLUSIVE;
}

static pte_t swp_mksoft_dirty(pte_t pte)
{
	return pte | SWP_SOFT_DIRTY;
}

static pte_t swp_mkuffd(pte_t pte)
{
	return pte | SWP_UFFD;
}

static pte_t swp_clear_uffd(pte_t pte)
{
	return pte & ~SWP_UFFD;
}

/* --- taken apart and put together ------------------------------------------ */

static void decode_softleaf(pte_t pte, const struct softleaf_types *types, struct pte_desc *desc)
{
	*desc = (struct pte_desc){
		.type = swp_type(pte),
		.offset = swp_offset(pte),
		.exclusive = swp_exclusive(pte),
		.soft_dirty = swp_soft_dirty(pte),
		.uffd = swp_uffd(pte),
	};
	softleaf_decode(types, SWP_PFN_BITS, desc);
}

static void decode_page(pte_t pte, u64 pfn, struct pte_desc *desc)
{
	*desc = (struct pte_desc){
		.kind = pte & X86_PTE_P ? PTE_PRESENT : PTE_PROTNONE,
		.pfn = pfn,
		.write = write(pte),
		.young = x86_pte_young(pte),
		.dirty = x86_pte_dirty(pte),
		.hw_dirty = pte & X86_PTE_D,
		.sw_dirty = pte & X86_PTE_SAVED_DIRTY,
		.soft_dirty = soft_dirty(pte),
		.uffd = uffd(pte),
		.special = pte & X86_PTE_SPECIAL,
		.exec = !(pte & X86_PTE_NX),
		.user = pte & X86_PTE_US,
		.pkey = (u32)((pte & X86_PTE_PKEY) >> X86_PTE_PKEY_SHIFT),
	};
}

static void decode(pte_t pte, const struct softleaf_types *types, struct pte_desc *desc)
{
	if (none(pte))
		*desc = (struct pte_desc){ .kind = PTE_NONE };
	else if (x86_pte_present(pte))
		decode_page(pte, x86_pte_pfn(pte), desc);
	else
		decode_softleaf(pte, types, desc);
}

static void pmd_decode(pmd_t pmd, const struct softleaf_types *types, struct pte_desc *desc)
{
	if (none(pmd)) {
		*desc = (struct pte_desc){ .kind = PTE_NONE };
	} else if (!pmd_present(pmd)) {
		decode_softleaf(pmd, types, desc);
	} else if (!pmd_trans_huge(pmd)) {
		*desc = (struct pte_desc){ .kind = PTE_TABLE, .pfn = x86_pte_pfn(pmd) };
	} else {
		decode_page(pmd, pmd_pfn(pmd), desc);
		if (!(pmd & (X86_PTE_P | X86_PTE_PROTNONE)))
			desc->kind = PTE_INVALID;
	}
}

static pte_t encode_softleaf(const struct pte_desc *desc)
{
	return swp_entry(desc->type, desc->offset) | (desc->exclusive ? SWP_EXCLUSIVE : 0) |
	       (desc->soft_dirty ? SWP_SOFT_DIRTY : 0) | (desc->uffd ? SWP_UFFD : 0);
}

/* All but the page frame number. */
static u64 encode_flags(const struct pte_desc *desc)
{
	return (desc->kind == PTE_PRESENT ? X86_PTE_P : 0) |
	       (desc->kind == PTE_PROTNONE ? X86_PTE_PROTNONE : 0) |
	       (desc->write ? X86_PTE_RW : 0) | (desc->user ? X86_PTE_US : 0) |
	       (desc->young ? X86_PTE_A : 0) | (desc->hw_dirty ? X86_PTE_D : 0) |
	       (desc->sw_dirty ? X86_PTE_SAVED_DIRTY : 0) | (desc->special ? X86_PTE_SPECIAL : 0) |
	       (desc->uffd ? X86_PTE_UFFD : 0) | (desc->soft_dirty ? X86_PTE_SOFT_DIRTY : 0) |
	       (desc->exec ? 0 : X86_PTE_NX) | (u64)(desc->pkey & 15) << X86_PTE_PKEY_SHIFT;
}

static pte_t encode(const struct pte_desc *desc)
{
	u64 flags = encode_flags(desc), field = desc->pfn << PAGE_SHIFT;

	if (desc->kind == PTE_NONE)
		return 0;
	if (!pte_kind_maps(desc->kind))
		return encode_softleaf(desc);
	return ((x86_pte_needs_invert(flags) ? ~field : field) & X86_PTE_PFN) | flags;
}

static pmd_t pmd_encode(const struct pte_desc *desc)
{
	if (!pte_kind_maps(desc->kind))
		return encode(desc);
	return pmd_with_pfn(encode_flags(desc) | X86_PMD_PSE, desc->pfn);
}

#define HIGH_FIELDS \
	{ "NX", 63, 63, "no code may execute here" }, \
	{ "pkey", 62, 59, "protection key" }, \
	{ "SavedDirty", 58, 58, "written to, while the entry is read-only (software)" }, \
	{ "-", 57, 52, "ignored" }
#define SOFTWARE_FIELDS \
	{ "SoftDirty", 11, 11, "written to since the last clear_refs (software)" }, \
	{ "UFFD", 10, 10, "userfaultfd watches writes (software)" }, \
	{ "Special", 9, 9, "no struct page behind it to count (software)" }
#define LOW_FIELDS(rw, p) \
	{ "D", 6, 6, "dirty: written to, as hardware noted" }, \
	{ "A", 5, 5, "accessed: young" }, \
	{ "PCD", 4, 4, "cache mode" }, \
	{ "PWT", 3, 3, "cache mode" }, \
	{ "US", 2, 2, "user space may access it" }, \
	{ "RW", 1, 1, rw }, \
	{ "P", 0, 0, p }
#define PRESENT_LOW LOW_FIELDS("may be written", "present: the hardware may use it")
#define ABSENT_LOW LOW_FIELDS("may be written once it is present again", \
			      "clear: every access faults")
#define GLOBAL_FIELD { "G", 8, 8, "global: survives a change of address space" }
#define PROTNONE_FIELD { "PROTNONE", 8, 8, "present for the kernel though P is clear" }
#define PAT_FIELD { "PAT", 7, 7, "cache mode, high bit" }
#define PSE_FIELD { "PSE", 7, 7, "maps 2 MiB, no page table below" }
#define INVERTED ", stored inverted against speculation (L1TF)"
#define PMD_PFN_TEXT "page frame number of the first of 512 pages, divided by 512"
#define PMD_PAT_FIELDS \
	{ "-", 20, 13, "must be zero" }, \
	{ "PAT", 12, 12, "cache mode, high bit" }

static const struct pte_field page_fields[] = {
	HIGH_FIELDS, { "pfn", 51, 12, "page frame number" }, SOFTWARE_FIELDS, GLOBAL_FIELD,
	PAT_FIELD, PRESENT_LOW,
};

static const struct pte_field protnone_fields[] = {
	HIGH_FIELDS, { "~pfn", 51, 12, "page frame number" INVERTED }, SOFTWARE_FIELDS,
	PROTNONE_FIELD, PAT_FIELD, ABSENT_LOW,
};

static const struct pte_field pmd_page_fields[] = {
	HIGH_FIELDS, { "pfn>>9", 51, 21, PMD_PFN_TEXT }, PMD_PAT_FIELDS, SOFTWARE_FIELDS,
	GLOBAL_FIELD, PSE_FIELD, PRESENT_LOW,
};

static const struct pte_field pmd_invalid_fields[] = {
	HIGH_FIELDS, { "~pfn>>9", 51, 21, PMD_PFN_TEXT INVERTED }, PMD_PAT_FIELDS, SOFTWARE_FIELDS,
	PROTNONE_FIELD, PSE_FIELD, ABSENT_LOW,
};

static const struct pte_field table_fields[] = {
	{ "NX", 63, 63, "no code may execute below" },
	{ "-", 62, 52, "ignored" },
	{ "pfn", 51, 12, "page frame number of the page table" },
	{ "-", 11, 8, "ignored" },
	{ "PSE", 7, 7, "clear: points to a page table" },
	{ "-", 6, 6, "ignored" },
	{ "A", 5, 5, "accessed" },
	{ "PCD", 4, 4, "cache mode" },
	{ "PWT", 3, 3, "cache mode" },
	{ "US", 2, 2, "user space may access what is below" },
	{ "RW", 1, 1, "what is below may be written" },
	{ "P", 0, 0, "present: the hardware may use it" },
};

static const struct pte_field swap_fields[] = {
	{ "type", 63, 59, "number of the swap device" },
	{ "~offset", 58, 9, "slot on the swap device, stored inverted against speculation (L1TF)" },
	{ "PROTNONE", 8, 8, "must be zero: set, the entry would count as present" },
	{ "PSE", 7, 7, "must be zero" },
	{ "-", 6, 4, "must be zero" },
	{ "EXCLUSIVE", 3, 3, "the page belonged to this process alone" },
	{ "UFFD", 2, 2, "userfaultfd watches writes" },
	{ "SoftDirty", 1, 1, "written to since the last clear_refs" },
	{ "P", 0, 0, "clear: every access faults" },
};

static const struct pte_field softleaf_fields[] = {
	{ "type", 63, 59, "kind of special entry" },
	{ "~offset", 58, 9, "what the type says: pfn and flags, or marker bits; stored inverted" },
	{ "PROTNONE", 8, 8, "must be zero: set, the entry would count as present" },
	{ "PSE", 7, 7, "must be zero" },
	{ "-", 6, 4, "must be zero" },
	{ "EXCLUSIVE", 3, 3, "unused here" },
	{ "UFFD", 2, 2, "userfaultfd watches writes" },
	{ "SoftDirty", 1, 1, "written to since the last clear_refs" },
	{ "P", 0, 0, "clear: every access faults" },
};

static const struct pte_field migration_fields[] = {
	{ "type", 63, 59, "read, read exclusive or write" },
	{ "~-", 58, 45, "unused part of the offset, stored inverted" },
	{ "~D", 44, 44, "was dirty, stored inverted" },
	{ "~A", 43, 43, "was young, stored inverted" },
	{ "~pfn", 42, 9, "page frame that is being moved, stored inverted" },
	{ "PROTNONE", 8, 8, "must be zero: set, the entry would count as present" },
	{ "PSE", 7, 7, "must be zero" },
	{ "-", 6, 4, "must be zero" },
	{ "EXCLUSIVE", 3, 3, "unused here" },
	{ "UFFD", 2, 2, "userfaultfd watches writes" },
	{ "SoftDirty", 1, 1, "written to since the last clear_refs" },
	{ "P", 0, 0, "clear: every access faults" },
};

static const struct pte_field none_fields[] = {
	{ "-", 63, 7, "all zero: nothing is mapped" },
	{ "D", 6, 6, "ignored in an empty entry (an erratum may leave it set)" },
	{ "A", 5, 5, "ignored in an empty entry (an erratum may leave it set)" },
	{ "-", 4, 0, "all zero: nothing is mapped" },
};

#define COMMON_OPS \
	.has_soft_dirty = true, \
	.has_cont = false, \
	.has_shadow_stack = true, \
	.max_pkey = 15, \
	.none = none, \
	.accessible = accessible, \
	.write = write, \
	.young = x86_pte_young, \
	.dirty = x86_pte_dirty, \
	.soft_dirty = soft_dirty, \
	.uffd = uffd, \
	.protnone = protnone, \
	.valid_cont = valid_cont, \
	.mkyoung = mkyoung, \
	.mkold = x86_pte_mkold, \
	.mkdirty = mkdirty, \
	.mkclean = x86_pte_mkclean, \
	.mkwrite = mkwrite, \
	.wrprotect = x86_pte_wrprotect, \
	.mksoft_dirty = mksoft_dirty, \
	.clear_soft_dirty = clear_soft_dirty, \
	.mkuffd = mkuffd, \
	.clear_uffd = clear_uffd, \
	.mkspecial = mkspecial, \
	.mkcont = unchanged, \
	.mknoncont = unchanged, \
	.hw_dirty = hw_dirty, \
	.advance_pfn = x86_pte_advance_pfn, \
	.swp_entry = swp_entry, \
	.swp_type = swp_type, \
	.swp_offset = swp_offset, \
	.swp_exclusive = swp_exclusive, \
	.swp_soft_dirty = swp_soft_dirty, \
	.swp_uffd = swp_uffd, \
	.swp_mkexclusive = swp_mkexclusive, \
	.swp_clear_exclusive = swp_clear_exclusive, \
	.swp_mksoft_dirty = swp_mksoft_dirty, \
	.swp_mkuffd = swp_mkuffd, \
	.swp_clear_uffd = swp_clear_uffd, \
	.swp_pfn_bits = SWP_PFN_BITS
#define COMMON_FIELDS \
	[PTE_NONE] = PTE_FIELDS(none_fields), \
	[PTE_SWAP] = PTE_FIELDS(swap_fields), \
	[PTE_HWPOISON] = PTE_FIELDS(softleaf_fields), \
	[PTE_MIGRATION] = PTE_FIELDS(migration_fields), \
	[PTE_DEVICE] = PTE_FIELDS(softleaf_fields), \
	[PTE_MARKER] = PTE_FIELDS(softleaf_fields)

const struct pte_ops x86_pte_ops = {
	COMMON_OPS,
	.nr_pages = 1,
	.present = x86_pte_present,
	.modify = modify,
	.pfn = x86_pte_pfn,
	.pfn_pte = pfn_pte,
	.decode = decode,
	.encode = encode,
	.fields = {
		COMMON_FIELDS,
		[PTE_PRESENT] = PTE_FIELDS(page_fields),
		[PTE_PROTNONE] = PTE_FIELDS(protnone_fields),
	},
};

const struct pte_ops x86_pmd_ops = {
	COMMON_OPS,
	.nr_pages = PTRS_PER_PTE,
	.present = pmd_present,
	.trans_huge = pmd_trans_huge,
	.mkinvalid = pmd_mkinvalid,
	.modify = pmd_modify,
	.pfn = pmd_pfn,
	.pfn_pte = pfn_pmd,
	.decode = pmd_decode,
	.encode = pmd_encode,
	.fields = {
		COMMON_FIELDS,
		[PTE_PRESENT] = PTE_FIELDS(pmd_page_fields),
		[PTE_PROTNONE] = PTE_FIELDS(pmd_invalid_fields),
		[PTE_INVALID] = PTE_FIELDS(pmd_invalid_fields),
		[PTE_TABLE] = PTE_FIELDS(table_fields),
	},
};
