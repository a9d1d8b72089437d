/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mprotect: which entries change, which may be written to again without a fault, what is
 * flushed, and what becomes of the VMAs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small.h"

#define APP	"\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
#define VA	"0x7f0000010000"
#define LAST	"0x7f000001f000"
#define A	"\"folios\": [{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\"}],"
#define THP	"\"folios\": [{\"id\": \"A\", \"order\": 9}], \"maps\": [{\"mm\": \"app\","	\
		" \"va\": \"0x7f0000200000\", \"folio\": \"A\", \"pmd\": true}]"
#define MAP(more) "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\"" more "}]"
#define TLB	", \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": 16}]"
#define PROT(prot, va, pages)								\
	"{\"do\": \"mprotect\", \"mm\": \"app\", \"va\": \"" va "\", \"pages\": " pages	\
	", \"prot\": \"" prot "\"}"
#define READ_ONLY(va, pages)  PROT("read", va, pages)
#define READ_WRITE(va, pages) PROT("read_write", va, pages)
#define WRITE(va)	"{\"do\": \"write\", \"mm\": \"app\", \"va\": \"" va "\"}"
#define AT_END(op, that)								\
	"{\"at\": {\"event\": \"op_end\", \"nth\": " op "}, \"that\": \"" that "\"}"
#define IN(lane, that)	"{\"at\": \"end\", \"lane\": \"" lane "\", \"that\": \"" that "\"}"
#define OLD(arch, kernel)								\
	"{\"arch\": \"" arch "\", \"path\": \"" kernel "\", \"kernel\": \"" kernel "\"}"
#define BOTH(kernel)	OLD("arm64", kernel) ", " OLD("x86_64", kernel)

static const struct small smalls[] = {
	{ .name = "read-only and back: dirty, young and exclusive stay",
	  .world = APP A MAP("") TLB,
	  .script = READ_ONLY(VA, "16") ", " READ_WRITE(VA, "16"),
	  .expect = { AT_END("1", "write(app, " VA ", 16) == 0 && dirty(app, " VA ", 16) == 16 &&"
				  " young(app, " VA ", 16) == 16 && tlb_entries(1) == 0"),
		      "write(app, " VA ", 16) == 16 && dirty(app, " VA ", 16) == 16",
		      "mapcount(A) == 16 && refcount(A) == 16 && exclusive(A) == 16",
		      IN("arm64/*", "cont(app, " VA ", 16) == 16"),
		      "count(contpte_unfold) == 0" } },
	{ .name = "a write meanwhile: the process gets a signal, and none after",
	  .world = APP A MAP(""),
	  .script = READ_ONLY(VA, "16") ", " WRITE(VA) ", " READ_WRITE(VA, "16") ", " WRITE(VA),
	  .expect = { "{\"at\": {\"event\": \"fault_segv\"}, \"that\": \"!write(app, " VA ")\"}",
		      "count(page_fault) == 0" } },
	{ .name = "clean and old ones too, if exclusive",
	  .world = APP A MAP(", \"dirty\": false, \"young\": false"),
	  .script = READ_ONLY(VA, "16") ", " READ_WRITE(VA, "16"),
	  .expect = { "write(app, " VA ", 16) == 16 && dirty(app, " VA ", 16) == 0",
		      "young(app, " VA ", 16) == 0" } },
	{ .name = "exclusivity cuts a run: the shared pages wait for a fault",
	  .world = APP A "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\","
		   " \"pages\": \"0..3\", \"write\": false}, {\"mm\": \"app\", \"va\":"
		   " \"0x7f0000014000\", \"folio\": \"A\", \"pages\": \"4..11\","
		   " \"write\": false, \"exclusive\": false}, {\"mm\": \"app\", \"va\":"
		   " \"0x7f000001c000\", \"folio\": \"A\", \"pages\": \"12..15\","
		   " \"write\": false}], \"vmas\": [{\"mm\": \"app\", \"start\": \"" VA "\","
		   " \"end\": \"0x7f0000020000\", \"write\": false}]",
	  .script = READ_WRITE(VA, "16") ", " WRITE("0x7f0000014000"),
	  .expect = { AT_END("1", "write(app, " VA ", 4) == 4 &&"
				  " write(app, 0x7f0000014000, 8) == 0 &&"
				  " write(app, 0x7f000001c000, 4) == 4"),
		      "{\"at\": {\"event\": \"prot_write_left\", \"page\": 4}, \"that\":"
		      " \"write(app, " VA ", 4) == 4 && empty(app, 0x7f0000014000, 12) == 12\"}",
		      "write(app, 0x7f0000014000) && count(page_fault) == 1" } },
	{ .name = "what is not soft-dirty, or watched by userfaultfd, waits for a fault",
	  .world = APP A "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\","
		   " \"pages\": \"0..7\", \"soft_dirty\": false, \"write\": false, \"dirty\":"
		   " false}, {\"mm\": \"app\", \"va\": \"0x7f0000018000\", \"folio\": \"A\","
		   " \"pages\": \"8..15\", \"write\": false, \"uffd\": true}],"
		   " \"vmas\": [{\"mm\": \"app\", \"start\": \"" VA "\", \"end\":"
		   " \"0x7f0000020000\", \"write\": false, \"uffd_wp\": true}]",
	  .script = READ_WRITE(VA, "16"),
	  .expect = { IN("x86_64/*", "write(app, " VA ", 16) == 0"),
		      IN("arm64/*", "write(app, " VA ", 8) == 8 && write(app, 0x7f0000018000, 8)"
				    " == 0"),
		      "uffd(app, 0x7f0000018000, 8) == 8" } },
	{ .name = "the same entry by entry, in 6.12",
	  .lanes = BOTH("6.12"),
	  .world = APP A "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\","
		   " \"pages\": \"0..7\", \"soft_dirty\": false, \"write\": false, \"dirty\":"
		   " false}, {\"mm\": \"app\", \"va\": \"0x7f0000018000\", \"folio\": \"A\","
		   " \"pages\": \"8..15\", \"write\": false, \"uffd\": true}],"
		   " \"vmas\": [{\"mm\": \"app\", \"start\": \"" VA "\", \"end\":"
		   " \"0x7f0000020000\", \"write\": false, \"uffd_wp\": true}]",
	  .script = READ_WRITE(VA, "16"),
	  .expect = { IN("x86_64/*", "write(app, " VA ", 16) == 0"),
		      IN("arm64/*", "write(app, " VA ", 8) == 8 && write(app, 0x7f0000018000, 8)"
				    " == 0"),
		      "uffd(app, 0x7f0000018000, 8) == 8" } },
	{ .name = "swap entries stay, and are writable when they come back",
	  .world = APP A MAP(""),
	  .script = "{\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"" VA "\","
		    " \"pages\": 16}, " READ_ONLY(VA, "16") ", " WRITE(VA) ", "
		    READ_WRITE(VA, "16") ", " WRITE(VA),
	  .expect = { AT_END("2", "swp_exclusive(app, " VA ", 16) == 16"),
		      AT_END("3", "swap_pte(app, " VA ", 16) == 16"),
		      "swap_pte(app, " VA ", 16) == 15 && write(app, " VA ")" } },
	{ .name = "one page of a block: three VMAs, then one again, and a block again",
	  .world = APP A MAP("") TLB,
	  .script = READ_ONLY("0x7f0000017000", "1") ", " READ_WRITE("0x7f0000017000", "1"),
	  .expect = { AT_END("1", "write(app, " VA ", 16) == 15 && !write(app, 0x7f0000017000)"),
		      AT_END("1", "cont(app, " VA ", 16) == 0"),
		      "write(app, " VA ", 16) == 16",
		      "{\"at\": {\"event\": \"vma_merged\"}, \"that\": \"write(app, " VA ", 16) =="
		      " 15\"}",
		      IN("arm64/*", "count(contpte_unfold) == 1 && tlb_stale(1) == 0") } },
	{ .name = "one side after the other: merged to the left, then to the right",
	  .world = APP A MAP(""),
	  .script = READ_ONLY("0x7f0000014000", "4") ", " READ_ONLY("0x7f0000018000", "2") ", "
		    READ_ONLY("0x7f0000012000", "2") ", " READ_WRITE(VA, "16"),
	  .expect = { AT_END("2", "write(app, " VA ", 16) == 10"),
		      AT_END("3", "write(app, " VA ", 16) == 8 && write(app, " VA ", 2) == 2"),
		      "{\"at\": {\"event\": \"vma_merged\", \"nth\": 2}, \"that\":"
		      " \"write(app, 0x7f0000012000, 2) == 2\"}",
		      "write(app, " VA ", 16) == 16" } },
	{ .name = "nothing to change: nothing is done",
	  .world = APP A MAP(""),
	  .script = READ_WRITE(VA, "16"),
	  .expect = { "count(pte_read) == 0 && count(pte_xchg) == 0 && count(tlb_flush) == 0" } },
	{ .name = "up to the first hole",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 2}, {\"id\": \"B\"}], \"maps\": ["
		   " {\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\"}, {\"mm\": \"app\","
		   " \"va\": \"0x7f0000018000\", \"folio\": \"B\"}]",
	  .script = READ_ONLY(VA, "16"),
	  .expect = { "write(app, " VA ", 4) == 0 && write(app, 0x7f0000018000) == 1" } },
	{ .name = "reclaim's deferred flush is caught up with first",
	  .world = APP A MAP(", \"young\": false") TLB,
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}, {\"cpu\": 1, \"do\": \"mprotect\","
		    " \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": 16, \"prot\": \"read\","
		    " \"when\": {\"enter\": \"try_to_unmap_flush_dirty\"}}",
	  .expect = { "{\"at\": {\"enter\": \"change_pte_range\"}, \"that\":"
		      " \"tlb_pending(app) > tlb_flushed(app)\"}",
		      "{\"at\": {\"enter\": \"tlb_finish_mmu\"}, \"that\":"
		      " \"tlb_flushed(app) == tlb_pending(app) && tlb_stale(1) == 0\"}" } },
	{ .name = "a huge entry is changed whole",
	  .machine = "\"cpus\": 2, \"swap\": []",
	  .world = APP THP,
	  .script = READ_ONLY("0x7f0000200000", "512") ", " WRITE("0x7f0000200000") ", "
		    READ_WRITE("0x7f0000200000", "512") ", " WRITE("0x7f0000200000"),
	  .expect = { "{\"at\": {\"event\": \"fault_segv\"}, \"that\": \"count(pmd_xchg) == 1\"}",
		      "count(page_fault) == 0 && entire_mapcount(A) == 1",
		      "count(pmd_xchg) == 2 && count(pmd_split) == 0",
		      IN("x86_64/*", "count(tlb_flush) == 2"),
		      IN("arm64/*", "count(tlb_flush) == 4") } },
	{ .name = "half a huge entry: it is split first",
	  .machine = "\"cpus\": 2, \"swap\": []",
	  .world = APP THP,
	  .script = READ_ONLY("0x7f0000200000", "256"),
	  .expect = { "count(pmd_split) == 1 && mapcount(A) == 512",
		      "write(app, 0x7f0000200000, 256) == 0",
		      "write(app, 0x7f0000300000, 256) == 256" } },
	{ .name = "a huge entry with a shared page stays read-only",
	  .machine = "\"cpus\": 2, \"swap\": []",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 9}], \"maps\": [{\"mm\": \"app\","
		   " \"va\": \"0x7f0000200000\", \"folio\": \"A\", \"pmd\": true, \"write\": false,"
		   " \"exclusive\": false}], \"vmas\": [{\"mm\": \"app\", \"start\":"
		   " \"0x7f0000200000\", \"end\": \"0x7f0000400000\", \"write\": false}]",
	  .script = READ_WRITE("0x7f0000200000", "512") ", " WRITE("0x7f0000200000"),
	  .expect = { "count(page_fault) == 1",
		      IN("arm64/*", "count(tlb_flush) == 1"),
		      IN("x86_64/*", "count(tlb_flush) == 0") } },
	{ .name = "code becomes data: no longer executable",
	  .world = APP A MAP("") ", \"vmas\": [{\"mm\": \"app\", \"start\": \"" VA "\", \"end\":"
		   " \"0x7f0000020000\", \"exec\": true}]",
	  .script = READ_WRITE(VA, "16"),
	  .expect = { IN("x86_64/*", "pte(app, " VA ") & 0x8000000000000000"),
		      IN("arm64/*", "pte(app, " VA ") & 0x40000000000000"),
		      "count(tlb_flush) == 1" } },
	{ .name = "an empty page table, and entries that map nothing",
	  .world = APP "\"folios\": [{\"id\": \"A\"}], \"maps\": [{\"mm\": \"app\", \"va\": \"" VA
		   "\", \"folio\": \"A\"}], \"vmas\": [{\"mm\": \"app\", \"start\": \"" VA "\","
		   " \"end\": \"0x7f0000800000\"}]",
	  .script = READ_ONLY(VA, "2032"),
	  .expect = { "!write(app, " VA ")",
		      "count(pte_xchg) == 1 && count(pte_read) < 520" } },
	{ .name = "migration and device-exclusive entries of 7.3",
	  .world = APP "\"folios\": [{\"id\": \"A\"}, {\"id\": \"B\"}], \"maps\": [{\"mm\":"
		   " \"app\", \"va\": \"" VA "\", \"folio\": \"A\", \"device_exclusive\": true}],"
		   " \"entries\": [{\"mm\": \"app\", \"va\": \"0x7f0000011000\", \"kind\":"
		   " \"migration\", \"folio\": \"B\", \"exclusive\": true}]",
	  .script = READ_ONLY(VA, "2"),
	  .expect = { "device_exclusive(app, " VA ") && migration(app, 0x7f0000011000)",
		      "count(pte_xchg) == 0 && count(pte_store) == 0" } },
	{ .name = "6.12 had a device-exclusive entry of its own for read-only",
	  .lanes = BOTH("6.12"),
	  .world = APP "\"folios\": [{\"id\": \"A\"}], \"maps\": [{\"mm\": \"app\", \"va\": \"" VA
		   "\", \"folio\": \"A\", \"device_exclusive\": true, \"uffd\": true,"
		   " \"write\": true}]",
	  .script = READ_ONLY(VA, "1") ", " READ_WRITE(VA, "1"),
	  .expect = { "device_exclusive(app, " VA ") && count(pte_store) == 1",
		      IN("x86_64/*", "pte(app, " VA ") & 4") } },
	{ .name = "6.1: clean pages and huge entries wait for a fault",
	  .lanes = BOTH("6.1"),
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 9}, {\"id\": \"B\"}, {\"id\":"
		   " \"C\"}], \"maps\": [{\"mm\": \"app\", \"va\": \"0x7f0000200000\", \"folio\":"
		   " \"A\", \"pmd\": true}, {\"mm\": \"app\", \"va\": \"0x7f0000400000\","
		   " \"folio\": \"B\"}, {\"mm\": \"app\", \"va\": \"0x7f0000401000\", \"folio\":"
		   " \"C\", \"dirty\": false}]",
	  .script = READ_ONLY("0x7f0000200000", "514") ", "
		    READ_WRITE("0x7f0000200000", "514") ", " WRITE("0x7f0000200000"),
	  .expect = { "write(app, 0x7f0000400000) && !write(app, 0x7f0000401000)",
		      "count(page_fault) == 1" } },
	{ .name = "writable migration entries, while a folio is split: they come back read-only",
	  .machine = "\"cpus\": 2, \"swap\": [{\"id\": \"z\", \"slots\": 512}]",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"fill\": \"data\"}],"
		       MAP(", \"young\": false") ", \"slots\": [{\"device\": \"z\", \"slots\":"
		       " \"1..507\"}]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}, {\"cpu\": 1, \"do\": \"mprotect\","
		    " \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": 16, \"prot\": \"read\","
		    " \"when\": {\"event\": \"folio_ref_frozen\"}}",
	  .expect = { AT_END("1", "migration(app, " VA ", 16) == 16"),
		      "{\"at\": {\"event\": \"op_end\"}, \"lane\": \"x86_64/*\", \"that\":"
		      " \"count(pte_store) == 32\"}",
		      "write(app, " VA ", 16) == 0 && swap_pte(app, " VA ", 16) == 4" } },
};

static void test_smalls(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_OF(smalls); i++)
		small_run(&smalls[i]);
}

/* One block of 16; the kernels differ in whether they take it whole. */
static void test_costs(void **state)
{
	static const struct small block = {
		.name = "block", .world = APP A MAP("") TLB,
		.lanes = BOTH("7.3") ", " BOTH("6.16"),
		.script = READ_ONLY(VA, "16") ", " READ_WRITE(VA, "16"),
	};
	static const struct cost of_block[] = {
		{ "arm64/7.3", 0, COUNT_pte_xchg, 16 },
		{ "arm64/7.3", 0, COUNT_pte_store, 16 },
		{ "arm64/7.3", 0, COUNT_pte_read, 3 },
		{ "arm64/7.3", 0, COUNT_tlbi_range, 1 },
		{ "arm64/7.3", 0, COUNT_dsb_ish, 1 },
		{ "arm64/6.16", 0, COUNT_contpte_unfold, 1 },
		{ "arm64/6.16", 0, COUNT_contpte_fold, 1 },
		{ "arm64/6.16", 0, COUNT_pte_xchg, 48 },
		{ "arm64/6.16", 0, COUNT_pte_store, 48 },
		{ "arm64/6.16", 0, COUNT_tlbi_range, 3 },
		{ "x86_64/7.3", 0, COUNT_pte_xchg, 16 },
		{ "x86_64/7.3", 0, COUNT_pte_store, 16 },
		{ "x86_64/7.3", 0, COUNT_pte_read, 16 },
		{ "x86_64/7.3", 0, COUNT_ipi_sent, 1 },
		{ "x86_64/7.3", 0, COUNT_invlpg, 32 },
		{ "x86_64/7.3", 1, COUNT_tlb_flush, 1 },
		{ "x86_64/6.16", 0, COUNT_pte_xchg, 16 },
		{ "x86_64/6.16", 0, COUNT_pte_read, 16 },
		{ "x86_64/6.16", 0, COUNT_tlb_flush, 1 },
	};
	/* Entries that stay read-only: 7.3 has nothing to flush, the arm64 of before does. */
	static const struct small shared = {
		.name = "shared", .lanes = BOTH("7.3") ", " BOTH("6.16"),
		.world = APP A MAP(", \"write\": false, \"exclusive\": false")
			 ", \"vmas\": [{\"mm\": \"app\", \"start\": \"" VA "\", \"end\":"
			 " \"0x7f0000020000\", \"write\": false}]",
		.script = READ_WRITE(VA, "16"),
	};
	static const struct cost of_shared[] = {
		{ "arm64/7.3", 0, COUNT_tlb_flush, 0 },
		{ "x86_64/7.3", 0, COUNT_tlb_flush, 0 },
		{ "arm64/6.16", 0, COUNT_tlb_flush, 3 },
		{ "x86_64/6.16", 0, COUNT_tlb_flush, 0 },
	};

	(void)state;
	small_costs(&block, of_block, NR_OF(of_block));
	small_costs(&shared, of_shared, NR_OF(of_shared));
}

static void test_refused(void **state)
{
	static const struct small in_walk = {
		.name = "in the walk", .world = APP A MAP(", \"young\": false"),
		.script = "{\"do\": \"reclaim\", \"pages\": 16}, {\"cpu\": 1, \"do\": \"mprotect\","
			  " \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": 16, \"prot\": \"read\","
			  " \"when\": {\"event\": \"pte_cleared\"}}",
	};
	/* The page table is free while the folio is split, the reverse map is not. */
	static const struct small cut_in_split = {
		.name = "cut in a split",
		.machine = "\"cpus\": 2, \"swap\": [{\"id\": \"z\", \"slots\": 512}]",
		.world = APP A MAP(", \"young\": false") ", \"slots\": [{\"device\": \"z\","
			 " \"slots\": \"1..507\"}]",
		.script = "{\"do\": \"reclaim\", \"pages\": 16}, {\"cpu\": 1, \"do\": \"mprotect\","
			  " \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": 4, \"prot\": \"read\","
			  " \"when\": {\"event\": \"folio_ref_frozen\"}}",
	};
	static const struct small no_vma = {
		.name = "no VMA", .world = APP A MAP(""),
		.script = READ_ONLY("0x7f000000f000", "4"),
	};
	static const struct small shmem = {
		.name = "shmem", .machine = "\"cpus\": 2, \"swap\": []",
		.world = APP "\"folios\": [{\"id\": \"A\", \"shmem\": true}]," MAP(""),
		.script = READ_ONLY(VA, "1"),
	};

	(void)state;
	small_refused(&in_walk, "nobody else may hold the locks");
	small_refused(&cut_in_split, "where VMAs are cut or merged");
	small_refused(&no_vma, "the range must begin in a VMA");
	small_refused(&shmem, "there may be no shared memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smalls),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("protect", tests, NULL, NULL);
}
