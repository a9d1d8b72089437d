/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "arch/arm64/pte.h"

/* Swap entries: a layout of their own in the bits that VALID=0 leaves free. */
#define SWP_EXCLUSIVE		(1ull << 2)
#define SWP_UFFD		(1ull << 3)
#define SWP_TYPE_SHIFT		6
#define SWP_OFFSET_SHIFT	12
#define SWP_TYPE_MASK		31u
#define SWP_OFFSET_MASK		((1ull << 50) - 1)
#define SWP_PFN_BITS		36u		/* MAX_PHYSMEM_BITS - PAGE_SHIFT */

#define PROT_DEFAULT	(ARM64_PTE_PAGE | ARM64_PTE_SHARED | ARM64_PTE_AF | ARM64_PTE_NG | \
			 ARM64_PTE_PXN | ARM64_PTE_RDONLY)
#define PROT_READONLY	(PROT_DEFAULT | ARM64_PTE_VALID | ARM64_PTE_USER | ARM64_PTE_UXN)

static const u64 pgprot[] = {
	[PAGE_READONLY] = PROT_READONLY,
	[PAGE_READONLY_EXEC] = PROT_READONLY & ~ARM64_PTE_UXN,
	[PAGE_SHARED] = PROT_READONLY | ARM64_PTE_WRITE,
	[PAGE_NONE] = PROT_DEFAULT | ARM64_PTE_INVALID | ARM64_PTE_UXN,
};

static bool none(pte_t pte)
{
	return pte == 0;
}

static bool present(pte_t pte)
{
	return pte & (ARM64_PTE_VALID | ARM64_PTE_INVALID);
}

static bool soft_dirty(pte_t pte)
{
	(void)pte;
	return false;
}

static bool uffd(pte_t pte)
{
	return pte & ARM64_PTE_UFFD;
}

static bool protnone(pte_t pte)
{
	return (pte & (ARM64_PTE_VALID | ARM64_PTE_INVALID | ARM64_PTE_USER | ARM64_PTE_UXN)) ==
	       (ARM64_PTE_INVALID | ARM64_PTE_UXN);
}

static pte_t mkwrite(pte_t pte)
{
	pte |= ARM64_PTE_WRITE;
	return pte & ARM64_PTE_DIRTY ? pte & ~ARM64_PTE_RDONLY : pte;
}

static pte_t unchanged(pte_t pte)
{
	return pte;
}

static pte_t mkuffd(pte_t pte)
{
	return arm64_pte_wrprotect(pte | ARM64_PTE_UFFD);
}

static pte_t clear_uffd(pte_t pte)
{
	return pte & ~ARM64_PTE_UFFD;
}

static pte_t mkspecial(pte_t pte)
{
	return pte | ARM64_PTE_SPECIAL;
}

static pte_t modify(pte_t pte, enum pgprot prot)
{
	const u64 mask = ARM64_PTE_USER | ARM64_PTE_PXN | ARM64_PTE_UXN | ARM64_PTE_RDONLY |
			 ARM64_PTE_INVALID | ARM64_PTE_VALID | ARM64_PTE_WRITE | ARM64_PTE_GP |
			 ARM64_PTE_ATTR | ARM64_PTE_PKEY;

	if (arm64_pte_hw_dirty(pte))
		pte |= ARM64_PTE_DIRTY;
	pte = (pte & ~mask) | (pgprot[prot] & mask);
	return pte & ARM64_PTE_DIRTY ? arm64_pte_mkdirty(pte) : pte;
}

static pte_t hw_dirty(pte_t pte)
{
	return pte & ARM64_PTE_WRITE ? (pte & ~ARM64_PTE_RDONLY) | ARM64_PTE_AF : pte;
}

static pte_t pfn_pte(u64 pfn, enum pgprot prot)
{
	return ((pfn << PAGE_SHIFT) & ARM64_PTE_PFN) | pgprot[prot];
}

/* --- PMD: bit 1 is clear in an entry that maps 2 MiB itself ----------------- */

static bool pmd_table(pmd_t pmd)
{
	return (~pmd & (ARM64_PTE_VALID | ARM64_PTE_PAGE)) == 0;
}

/* Invalidated or not: bit 1 tells. */
static bool pmd_trans_huge(pmd_t pmd)
{
	return present(pmd) && !(pmd & ARM64_PTE_PAGE);
}

static pmd_t pmd_mkinvalid(pmd_t pmd)
{
	return (pmd | ARM64_PTE_INVALID) & ~ARM64_PTE_VALID;
}

static u64 pmd_pfn(pmd_t pmd)
{
	return arm64_pte_pfn(pmd) & ~(u64)(PTRS_PER_PTE - 1);
}

static pmd_t pfn_pmd(u64 pfn, enum pgprot prot)
{
	return pfn_pte(pfn, prot) & ~ARM64_PTE_PAGE;
}

/* --- entries that are not present ------------------------------------------ */

static pte_t swp_entry(u32 type, u64 offset)
{
	return (u64)(type & SWP_TYPE_MASK) << SWP_TYPE_SHIFT |
	       (offset & SWP_OFFSET_MASK) << SWP_OFFSET_SHIFT;
}

static u32 swp_type(pte_t pte)
{
	return (u32)(pte >> SWP_TYPE_SHIFT) & SWP_TYPE_MASK;
}

static u64 swp_offset(pte_t pte)
{
	return pte >> SWP_OFFSET_SHIFT & SWP_OFFSET_MASK;
}

static bool swp_exclusive(pte_t pte)
{
	return pte & SWP_EXCLUSIVE;
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

static pte_t swp_mkuffd(pte_t pte)
{
	return pte | SWP_UFFD;
}

static pte_t swp_clear_uffd(pte_t pte)
{
	return pte & ~SWP_UFFD;
}

/* --- taken apart and put together ------------------------------------------ */

static void decode(pte_t pte, const struct softleaf_types *types, struct pte_desc *desc)
{
	memset(desc, 0, sizeof(*desc));
	if (none(pte)) {
		desc->kind = PTE_NONE;
		return;
	}
	if (!present(pte)) {
		desc->type = swp_type(pte);
		desc->offset = swp_offset(pte);
		desc->exclusive = swp_exclusive(pte);
		desc->uffd = swp_uffd(pte);
		softleaf_decode(types, SWP_PFN_BITS, desc);
		return;
	}
	desc->kind = protnone(pte) ? PTE_PROTNONE : PTE_INVALID;
	if (arm64_pte_valid(pte))
		desc->kind = PTE_PRESENT;
	desc->pfn = arm64_pte_pfn(pte);
	desc->write = arm64_pte_write(pte);
	desc->young = arm64_pte_young(pte);
	desc->dirty = arm64_pte_dirty(pte);
	desc->hw_dirty = arm64_pte_hw_dirty(pte);
	desc->sw_dirty = pte & ARM64_PTE_DIRTY;
	desc->uffd = uffd(pte);
	desc->cont = pte & ARM64_PTE_CONT;
	desc->special = pte & ARM64_PTE_SPECIAL;
	desc->exec = !(pte & ARM64_PTE_UXN);
	desc->user = pte & ARM64_PTE_USER;
	desc->pkey = (u32)((pte & ARM64_PTE_PKEY) >> ARM64_PTE_PKEY_SHIFT);
	desc->attr = (u32)((pte & ARM64_PTE_ATTR) >> ARM64_PTE_ATTR_SHIFT);
}

static void pmd_decode(pmd_t pmd, const struct softleaf_types *types, struct pte_desc *desc)
{
	decode(pmd, types, desc);
	if (pmd_table(pmd))
		*desc = (struct pte_desc){ .kind = PTE_TABLE, .pfn = arm64_pte_pfn(pmd) };
	else if (pte_kind_maps(desc->kind))
		desc->pfn = pmd_pfn(pmd);
}

static pte_t encode(const struct pte_desc *desc)
{
	pte_t pte = pfn_pte(desc->pfn, PAGE_NONE);

	switch (desc->kind) {
	case PTE_NONE:
		return 0;
	case PTE_PRESENT:
		pte |= ARM64_PTE_VALID;
		break;
	case PTE_PROTNONE:
	case PTE_INVALID:
		break;
	default:
		return swp_entry(desc->type, desc->offset) | (desc->exclusive ? SWP_EXCLUSIVE : 0) |
		       (desc->uffd ? SWP_UFFD : 0);
	}
	pte |= (desc->user ? ARM64_PTE_USER : 0) | (desc->write ? ARM64_PTE_WRITE : 0) |
	       (desc->cont ? ARM64_PTE_CONT : 0) | (desc->special ? ARM64_PTE_SPECIAL : 0) |
	       (desc->uffd ? ARM64_PTE_UFFD : 0) | (desc->sw_dirty ? ARM64_PTE_DIRTY : 0);
	pte &= ~((desc->exec ? ARM64_PTE_UXN : 0) | (desc->young ? 0 : ARM64_PTE_AF) |
		 (desc->write && desc->hw_dirty ? ARM64_PTE_RDONLY : 0));
	return pte | (u64)(desc->pkey & 7) << ARM64_PTE_PKEY_SHIFT |
	       (u64)(desc->attr & 7) << ARM64_PTE_ATTR_SHIFT;
}

static pmd_t pmd_encode(const struct pte_desc *desc)
{
	return pte_kind_maps(desc->kind) ? encode(desc) & ~ARM64_PTE_PAGE : encode(desc);
}

#define HIGH_FIELDS(cont, write) \
	{ "-", 63, 63, "unused" }, \
	{ "POIndex", 62, 60, "protection key" }, \
	{ "-", 59, 59, "unused" }, \
	{ "UFFD", 58, 58, "userfaultfd watches writes (software)" }, \
	{ "-", 57, 57, "unused" }, \
	{ "SPECIAL", 56, 56, "no struct page behind it to count (software)" }, \
	{ "DIRTY", 55, 55, "written to, as software noted" }, \
	{ "UXN", 54, 54, "user code must not execute here" }, \
	{ "PXN", 53, 53, "kernel code must not execute here" }, \
	{ "CONT", 52, 52, cont }, \
	{ "WRITE", 51, 51, write }, \
	{ "GP", 50, 50, "guarded page: indirect branches need a landing pad" }
#define LOW_FIELDS(rdonly, user) \
	{ "AF", 10, 10, "accessed: young" }, \
	{ "SH", 9, 8, "shareability: 3 is inner shareable" }, \
	{ "RDONLY", 7, 7, rdonly }, \
	{ "USER", 6, 6, user }, \
	{ "NS", 5, 5, "non-secure" }, \
	{ "AttrIndx", 4, 2, "memory type: 0 normal, 1 normal tagged" }
#define VALID_HIGH(cont) HIGH_FIELDS(cont, "may be written; hardware may mark it dirty (DBM)")
#define VALID_LOW LOW_FIELDS("read-only for the hardware: with WRITE, still clean", \
			     "user space may access it")
#define INVALID_HIGH(cont) HIGH_FIELDS(cont, "may be written once it is valid again")
#define INVALID_LOW LOW_FIELDS("read-only", "user space may access it; clear in PROT_NONE")
#define CONT_PTE_TEXT "one of 16 entries that may share a TLB entry"
#define CONT_PMD_TEXT "one of 16 entries, 32 MiB together, that may share a TLB entry"
#define PFN_FIELD { "pfn", 49, 12, "page frame number" }
#define PMD_PFN_FIELDS \
	{ "pfn>>9", 49, 21, "page frame number of the first of 512 pages, divided by 512" }, \
	{ "-", 20, 12, "must be zero" }
#define NG_FIELD { "nG", 11, 11, "belongs to one address space" }
#define INVALID_FIELD { "INVALID", 11, 11, "present for the kernel though VALID is clear" }
#define PAGE_FIELD { "TYPE", 1, 1, "page descriptor" }
#define BLOCK_FIELD { "TYPE", 1, 1, "clear: a block, no page table below" }
#define VALID_FIELD { "VALID", 0, 0, "the hardware may use it" }
#define FAULT_FIELD { "VALID", 0, 0, "clear: every access faults" }

static const struct pte_field page_fields[] = {
	VALID_HIGH(CONT_PTE_TEXT), PFN_FIELD, NG_FIELD, VALID_LOW, PAGE_FIELD, VALID_FIELD,
};

static const struct pte_field invalid_fields[] = {
	INVALID_HIGH(CONT_PTE_TEXT), PFN_FIELD, INVALID_FIELD, INVALID_LOW, PAGE_FIELD, FAULT_FIELD,
};

static const struct pte_field pmd_page_fields[] = {
	VALID_HIGH(CONT_PMD_TEXT), PMD_PFN_FIELDS, NG_FIELD, VALID_LOW, BLOCK_FIELD, VALID_FIELD,
};

static const struct pte_field pmd_invalid_fields[] = {
	INVALID_HIGH(CONT_PMD_TEXT), PMD_PFN_FIELDS, INVALID_FIELD, INVALID_LOW, BLOCK_FIELD,
	FAULT_FIELD,
};

static const struct pte_field table_fields[] = {
	{ "-", 63, 63, "non-secure table" },
	{ "APTable", 62, 61, "access that no entry below may allow" },
	{ "UXNTable", 60, 60, "user code must not execute below" },
	{ "PXNTable", 59, 59, "kernel code must not execute below" },
	{ "-", 58, 50, "unused" },
	{ "pfn", 49, 12, "page frame number of the page table" },
	{ "-", 11, 11, "unused" },
	{ "AF", 10, 10, "accessed, where the CPU keeps track of it (FEAT_HAFT)" },
	{ "-", 9, 2, "unused" },
	{ "TYPE", 1, 1, "set: points to a page table" },
	VALID_FIELD,
};

static const struct pte_field swap_fields[] = {
	{ "-", 63, 62, "unused" },
	{ "offset", 61, 12, "slot on the swap device" },
	{ "INVALID", 11, 11, "must be zero: set, the entry would count as present" },
	{ "type", 10, 6, "number of the swap device" },
	{ "-", 5, 4, "unused" },
	{ "UFFD", 3, 3, "userfaultfd watches writes" },
	{ "EXCLUSIVE", 2, 2, "the page belonged to this process alone" },
	{ "-", 1, 1, "must be zero" },
	{ "VALID", 0, 0, "clear: every access faults" },
};

static const struct pte_field softleaf_fields[] = {
	{ "-", 63, 62, "unused" },
	{ "offset", 61, 12, "what the type says: pfn and flags, or marker bits" },
	{ "INVALID", 11, 11, "must be zero: set, the entry would count as present" },
	{ "type", 10, 6, "kind of special entry" },
	{ "-", 5, 4, "unused" },
	{ "UFFD", 3, 3, "userfaultfd watches writes" },
	{ "EXCLUSIVE", 2, 2, "unused here" },
	{ "-", 1, 1, "must be zero" },
	{ "VALID", 0, 0, "clear: every access faults" },
};

static const struct pte_field migration_fields[] = {
	{ "-", 63, 62, "unused" },
	{ "-", 61, 50, "unused part of the offset" },
	{ "D", 49, 49, "was dirty" },
	{ "A", 48, 48, "was young" },
	{ "pfn", 47, 12, "page frame that is being moved" },
	{ "INVALID", 11, 11, "must be zero: set, the entry would count as present" },
	{ "type", 10, 6, "read, read exclusive or write" },
	{ "-", 5, 4, "unused" },
	{ "UFFD", 3, 3, "userfaultfd watches writes" },
	{ "EXCLUSIVE", 2, 2, "unused here" },
	{ "-", 1, 1, "must be zero" },
	{ "VALID", 0, 0, "clear: every access faults" },
};

static const struct pte_field none_fields[] = {
	{ "-", 63, 0, "all zero: nothing is mapped" },
};

#define COMMON_OPS \
	.has_soft_dirty = false, \
	.has_cont = true, \
	.has_tagged = true, \
	.marks_dirty_twice = true, \
	.max_pkey = 7, \
	.none = none, \
	.present = present, \
	.accessible = arm64_pte_valid, \
	.write = arm64_pte_write, \
	.young = arm64_pte_young, \
	.dirty = arm64_pte_dirty, \
	.soft_dirty = soft_dirty, \
	.uffd = uffd, \
	.protnone = protnone, \
	.valid_cont = arm64_pte_valid_cont, \
	.mkyoung = arm64_pte_mkyoung, \
	.mkold = arm64_pte_mkold, \
	.mkdirty = arm64_pte_mkdirty, \
	.mkclean = arm64_pte_mkclean, \
	.mkwrite = mkwrite, \
	.wrprotect = arm64_pte_wrprotect, \
	.mksoft_dirty = unchanged, \
	.clear_soft_dirty = unchanged, \
	.mkuffd = mkuffd, \
	.clear_uffd = clear_uffd, \
	.mkspecial = mkspecial, \
	.mkcont = arm64_pte_mkcont, \
	.mknoncont = arm64_pte_mknoncont, \
	.modify = modify, \
	.hw_dirty = hw_dirty, \
	.advance_pfn = arm64_pte_advance_pfn, \
	.swp_entry = swp_entry, \
	.swp_type = swp_type, \
	.swp_offset = swp_offset, \
	.swp_exclusive = swp_exclusive, \
	.swp_soft_dirty = soft_dirty, \
	.swp_uffd = swp_uffd, \
	.swp_mkexclusive = swp_mkexclusive, \
	.swp_clear_exclusive = swp_clear_exclusive, \
	.swp_mksoft_dirty = unchanged, \
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

const struct pte_ops arm64_pte_ops = {
	COMMON_OPS,
	.nr_pages = 1,
	.pfn = arm64_pte_pfn,
	.pfn_pte = pfn_pte,
	.decode = decode,
	.encode = encode,
	.fields = {
		COMMON_FIELDS,
		[PTE_PRESENT] = PTE_FIELDS(page_fields),
		[PTE_PROTNONE] = PTE_FIELDS(invalid_fields),
		[PTE_INVALID] = PTE_FIELDS(invalid_fields),
	},
};

const struct pte_ops arm64_pmd_ops = {
	COMMON_OPS,
	.nr_pages = PTRS_PER_PTE,
	.trans_huge = pmd_trans_huge,
	.mkinvalid = pmd_mkinvalid,
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
