/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * munmap and MADV_DONTNEED: what goes, what stays, in which order, at what cost. The costs are
 * those that real 7.3.4 kernels were seen to pay for the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small.h"

#define APP	 "\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
#define ALONE	 "\"mms\": [{\"id\": \"app\"}],"
#define VA	 "0x7f0000010000"
#define A	 "\"folios\": [{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\"}],"
#define DATA	 "\"folios\": [{\"id\": \"A\", \"order\": 4, \"fill\": \"data\"}],"
#define THP	 "\"folios\": [{\"id\": \"A\", \"order\": 9}], \"maps\": [{\"mm\": \"app\","	\
		 " \"va\": \"0x7f0000200000\", \"folio\": \"A\", \"pmd\": true}]"
#define MAP(more) "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\"" more "}]"
/* so that no page table is freed */
#define VMA	 ", \"vmas\": [{\"mm\": \"app\", \"start\": \"0x7f0000010000\", \"end\": "	\
		 "\"0x7f0000040000\"}]"
#define DO(op, va, pages)								\
	"{\"do\": \"" op "\", \"mm\": \"app\", \"va\": \"" va "\", \"pages\": " pages "}"
#define INSIDE(op, va, pages, when)							\
	"{\"cpu\": 1, \"do\": \"" op "\", \"mm\": \"app\", \"va\": \"" va "\", \"pages\": "	\
	pages ", \"when\": " when "}"

static const struct small smalls[] = {
	{ .name = "resident, the folio goes",
	  .world = APP A MAP("") ", \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\", \"va\": \"" VA "\"}]",
	  .script = DO("munmap", VA, "16"),
	  .expect = { "refcount(A) == 0 && mapcount(A) == 0 && anonpages(app) == 0",
		      "exclusive(A) == 0 && !flag(A, lru) && !flag(A, anon)",
		      "empty(app, " VA ", 16) == 16 && count(folio_freed) == 1",
		      "tlb_entries(1) == 0 && hiwater_rss(app) == 16",
		      "{\"at\": {\"event\": \"pages_gathered\"}, \"that\":"
		      " \"refcount(A) == 16 && mapcount(A) == 0 && anonpages(app) == 16\"}" } },
	{ .name = "the upper half: waits to be split",
	  .world = APP A MAP(""),
	  .script = DO("munmap", "0x7f0000018000", "8"),
	  .expect = { "refcount(A) == 8 && mapcount(A) == 8 && nr_pages_mapped(A) == 8",
		      "flag(A, partially_mapped) && flag(A, deferred_list) && flag(A, lru)",
		      "present(app, " VA ", 8) == 8 && anonpages(app) == 8",
		      "cont(app, " VA ", 8) == 0 && count(folio_freed) == 0" } },
	{ .name = "a hole in the middle: two VMAs remain",
	  .world = APP A MAP(""),
	  .script = DO("munmap", "0x7f0000014000", "4") "," DO("munmap", "0x7f0000012000", "4"),
	  .expect = { "{\"at\": {\"event\": \"op_end\"}, \"that\":"
		      " \"mapcount(A) == 12 && present(app, " VA ", 16) == 12\"}",
		      "mapcount(A) == 10 && present(app, " VA ", 2) == 2",
		      "present(app, 0x7f0000018000, 8) == 8 && anonpages(app) == 10" } },
	{ .name = "the content only: the addresses stay",
	  .world = APP A MAP(""),
	  .script = DO("madvise_dontneed", VA, "16") "," DO("madvise_dontneed", VA, "16"),
	  .expect = { "refcount(A) == 0 && empty(app, " VA ", 16) == 16",
		      "anonpages(app) == 0" } },
	{ .name = "swapped out: slots are freed",
	  .world = APP A MAP(""),
	  .script = DO("madvise_pageout", VA, "16") "," DO("munmap", VA, "16"),
	  .expect = { "swapents(app) == 0 && inuse(zram0) == 0 && cluster_count(zram0, 512) == 0",
		      "slot_free(zram0, 512, 16) == 16 && slot_count(zram0, 512, 16) == 0" } },
	{ .name = "a shared slot in the middle only cuts the run",
	  .world = "\"mms\": [{\"id\": \"app\"}, {\"id\": \"kid\"}]," A "\"maps\": ["
		   " {\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\", \"young\": false,"
		   " \"write\": false, \"exclusive\": false}, {\"mm\": \"kid\", \"va\":"
		   " \"0x7f0000017000\", \"folio\": \"A\", \"pages\": \"7\", \"young\": false,"
		   " \"write\": false, \"exclusive\": false}]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}," DO("munmap", VA, "16"),
	  .expect = { "slot_free(zram0, 512, 7) == 7 && slot_free(zram0, 520, 8) == 8",
		      "slot_count(zram0, 519) == 1 && slot_swapped(zram0, 519) == 1",
		      "inuse(zram0) == 1 && cluster_count(zram0, 512) == 1",
		      "swapents(app) == 0 && swapents(kid) == 1",
		      "{\"at\": {\"enter\": \"__swap_cluster_free_entries\", \"nth\": 2},"
		      " \"that\": \"slot_count(zram0, 519) == 1 && swapents(app) == 16\"}" } },
	{ .name = "a run of slots over the edge of a cluster",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"count\": 16}]," MAP("")
		   ", \"slots\": [{\"device\": \"zram0\", \"slots\": \"1..501\"}]",
	  .script = DO("madvise_pageout", VA, "16") "," DO("munmap", VA, "16"),
	  .expect = { "inuse(zram0) == 501 && cluster_count(zram0, 512) == 0",
		      "slot_free(zram0, 502, 16) == 16",
		      "{\"at\": {\"enter\": \"do_vmi_munmap\"}, \"that\":"
		      " \"slot_swapped(zram0, 502, 16) == 16 && cluster_count(zram0, 512) == 6\"}",
		      "{\"at\": {\"enter\": \"swap_put_entries_cluster\", \"nth\": 2},"
		      " \"that\": \"slot_free(zram0, 502, 10) == 10\"}" } },
	{ .name = "still cached: counts fall to 0, then the folio leaves the cache",
	  .world = APP A MAP(""),
	  .script = DO("madvise_pageout", VA, "16") ", {\"cpu\": 1, \"do\": \"get_ref\","
		    " \"folio\": \"A\", \"when\": {\"enter\": \"pageout\"}},"
		    DO("munmap", VA, "16"),
	  .expect = { "{\"at\": {\"enter\": \"do_vmi_munmap\"}, \"that\":"
		      " \"swapcache(A) && refcount(A) == 17 && slot_count(zram0, 512, 16) == 16\"}",
		      "{\"at\": {\"enter\": \"__try_to_reclaim_swap\"}, \"that\":"
		      " \"slot_cached(zram0, 512, 16) == 16 && slot_count(zram0, 512, 16) == 0\"}",
		      "refcount(A) == 1 && !swapcache(A) && flag(A, dirty) && !flag(A, locked)",
		      "slot_free(zram0, 512, 16) == 16 && inuse(zram0) == 0" } },
	{ .name = "still cached, and the last reference goes",
	  .world = APP A MAP(""),
	  .script = DO("madvise_pageout", VA, "16") ", {\"cpu\": 1, \"do\": \"get_ref\","
		    " \"folio\": \"A\", \"when\": {\"enter\": \"pageout\"}},"
		    DO("munmap", VA, "16") ", {\"do\": \"put_ref\", \"folio\": \"A\"}",
	  .expect = { "refcount(A) == 0 && !flag(A, lru) && count(folio_freed) == 1" } },
	{ .name = "under writeback: the slots stay with count 0",
	  .machine = "\"cpus\": 2, \"swap\": [{\"id\": \"disk\", \"kind\": \"async\"}]",
	  .world = APP DATA MAP(""),
	  .script = DO("madvise_pageout", VA, "16") "," DO("munmap", VA, "16"),
	  .expect = { "slot_cached(disk, 512, 16) == 16 && slot_count(disk, 512, 16) == 0",
		      "swapcache(A) && flag(A, writeback) && refcount(A) == 16" } },
	{ .name = "after writeback: munmap takes the folio out of the cache",
	  .machine = "\"cpus\": 2, \"swap\": [{\"id\": \"disk\", \"kind\": \"async\"}]",
	  .world = APP DATA MAP(""),
	  .script = DO("madvise_pageout", VA, "16") ","
		    " {\"do\": \"end_writeback\", \"folio\": \"A\"}," DO("munmap", VA, "16"),
	  .expect = { "slot_free(disk, 512, 16) == 16 && refcount(A) == 0",
		      "count(folio_freed) == 1 && inuse(disk) == 0" } },
	{ .name = "locked VMA: no MADV_DONTNEED, but munmap",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"flags\": [\"mlocked\","
		       " \"unevictable\"], \"refs\": 1}]," MAP("") ", \"vmas\": [{\"mm\": \"app\","
		       " \"start\": \"" VA "\", \"end\": \"0x7f0000020000\", \"locked\": true}]",
	  .script = DO("madvise_dontneed", VA, "16") "," DO("munmap", VA, "16"),
	  .expect = { "{\"at\": {\"event\": \"madvise_refused\"}, \"that\": \"mapcount(A) == 16\"}",
		      "mapcount(A) == 0 && refcount(A) == 1",
		      "!flag(A, mlocked) && !flag(A, unevictable) && flag(A, lru)" } },
	{ .name = "in the middle of reclaim: the flush is caught up with first",
	  .world = APP A MAP(", \"young\": false") ", \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\","
		       " \"va\": \"" VA "\", \"pages\": 16}]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16},"
		    INSIDE("munmap", VA, "16", "{\"enter\": \"try_to_unmap_flush_dirty\"}"),
	  .expect = { "{\"at\": {\"enter\": \"unmap_vmas\"}, \"that\": \"tlb_pending(app) > 0\"}",
		      "{\"at\": {\"enter\": \"free_pgtables\"}, \"that\":"
		      " \"tlb_flushed(app) == tlb_pending(app) && tlb_stale(1) == 0\"}",
		      "swapents(app) == 0 && refcount(A) == 0",
		      "slot_free(zram0, 512, 16) == 16 && count(folio_write_start) == 0" } },
	{ .name = "entries that map no page go, those that count are counted",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 2}, {\"id\": \"B\"}],"
		       " \"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\","
		       " \"device_exclusive\": true}], \"entries\": ["
		       "{\"mm\": \"app\", \"va\": \"0x7f0000014000\", \"kind\": \"swap\","
		       " \"device\": \"zram0\", \"slot\": 8, \"pages\": 2},"
		       "{\"mm\": \"app\", \"va\": \"0x7f0000016000\", \"kind\": \"hwpoison\","
		       " \"pfn\": \"0x99\"},"
		       "{\"mm\": \"app\", \"va\": \"0x7f0000018000\", \"kind\": \"migration\","
		       " \"folio\": \"B\"}]",
	  .script = DO("munmap", VA, "16"),
	  .expect = { "anonpages(app) == 0 && swapents(app) == 0 && inuse(zram0) == 0",
		      "mapcount(A) == 0 && refcount(A) == 0" } },
	{ .name = "a huge entry goes whole",
	  .machine = "\"cpus\": 2, \"swap\": []",
	  .world = APP THP,
	  .script = DO("munmap", "0x7f0000200000", "512"),
	  .expect = { "refcount(A) == 0 && entire_mapcount(A) == 0 && anonpages(app) == 0",
		      "count(pmd_xchg) == 1 && count(pte_xchg) == 0 && count(pmd_split) == 0",
		      "!flag(A, deferred_list) && count(folio_freed) == 1",
		      "{\"at\": {\"event\": \"pages_gathered\"}, \"that\":"
		      " \"refcount(A) == 1 && mapcount(A) == 0\"}" } },
	{ .name = "half a huge entry: it is split first",
	  .machine = "\"cpus\": 2, \"swap\": []",
	  .world = APP THP,
	  .script = DO("madvise_dontneed", "0x7f0000200000", "256"),
	  .expect = { "mapcount(A) == 256 && refcount(A) == 256 && anonpages(app) == 256",
		      "flag(A, partially_mapped) && flag(A, deferred_list)",
		      "count(pmd_split) == 1 && present(app, 0x7f0000300000, 256) == 256" } },
	{ .name = "a PMD range and more: the table is freed",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 9}], \"maps\": [{\"mm\": \"app\","
		       " \"va\": \"0x7f0000200000\", \"folio\": \"A\"}]",
	  .machine = "\"cpus\": 2, \"swap\": []",
	  .script = DO("madvise_dontneed", "0x7f0000200000", "512"),
	  .expect = { "refcount(A) == 0 && pte(app, 0x7f0000200000) == 0",
		      "{\"at\": {\"event\": \"page_table_freed\"},"
		      " \"that\": \"refcount(A) > 0\"}" } },
};

static void test_smalls(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_OF(smalls); i++)
		small_run(&smalls[i]);
}

/* S2 windows of 7.3.4: W2/64k/1 and W2/64k/4/V-resident, one folio of it */
static void test_costs(void **state)
{
	static const struct small swapped = {
		.name = "swapped", .world = ALONE A MAP("") VMA,
		.script = DO("madvise_pageout", VA, "16") "," DO("munmap", VA, "16"),
	};
	static const struct small resident = {
		.name = "resident", .world = ALONE A MAP("") VMA,
		.script = DO("munmap", VA, "16"),
	};
	static const struct small over_an_edge = {
		.name = "over an edge",
		.world = APP "\"folios\": [{\"id\": \"A\", \"count\": 16}]," MAP("")
			 ", \"slots\": [{\"device\": \"zram0\", \"slots\": \"1..501\"}]",
		.script = DO("madvise_pageout", VA, "16") "," DO("munmap", VA, "16"),
	};
	static const struct cost of_an_edge[] = {
		{ "x86_64/batched", 1, COUNT_swap_free_lock, 2 },
		{ "arm64/unbatched", 1, COUNT_mm_counter_op, 1 },
	};
	static const struct cost of_swapped[] = {
		{ "x86_64/unbatched", 1, COUNT_pte_read, 16 },
		{ "x86_64/unbatched", 1, COUNT_pte_store, 16 },
		{ "x86_64/unbatched", 1, COUNT_pte_xchg, 0 },
		{ "x86_64/unbatched", 1, COUNT_tlb_flush, 0 },
		{ "x86_64/unbatched", 1, COUNT_swap_free_lock, 1 },
		{ "x86_64/unbatched", 1, COUNT_mm_counter_op, 1 },
		{ "arm64/unbatched", 1, COUNT_pte_read, 32 },
		{ "arm64/unbatched", 1, COUNT_pte_store, 16 },
		{ "arm64/unbatched", 1, COUNT_tlbi_asid, 1 },
		{ "arm64/unbatched", 1, COUNT_dsb_ish, 1 },
		{ "arm64/unbatched", 1, COUNT_dsb_ishst, 1 },
		{ "arm64/unbatched", 1, COUNT_tlbi_page, 0 },
	};
	static const struct cost of_resident[] = {
		{ "x86_64/unbatched", 0, COUNT_pte_read, 16 },
		{ "x86_64/unbatched", 0, COUNT_pte_xchg, 16 },
		{ "x86_64/unbatched", 0, COUNT_tlb_flush, 1 },
		{ "x86_64/unbatched", 0, COUNT_invlpg, 16 },
		{ "x86_64/unbatched", 0, COUNT_rmap_remove, 1 },
		{ "arm64/unbatched", 0, COUNT_pte_read, 3 },
		{ "arm64/unbatched", 0, COUNT_pte_xchg, 16 },
		{ "arm64/unbatched", 0, COUNT_contpte_unfold, 0 },
		{ "arm64/unbatched", 0, COUNT_tlbi_range, 1 },
		{ "arm64/unbatched", 0, COUNT_dsb_ish, 1 },
	};

	(void)state;
	small_costs(&swapped, of_swapped, NR_OF(of_swapped));
	small_costs(&over_an_edge, of_an_edge, NR_OF(of_an_edge));
	small_costs(&resident, of_resident, NR_OF(of_resident));
}

static void test_refused(void **state)
{
	static const struct small in_walk = {
		.name = "in the walk", .world = APP A MAP(", \"young\": false"),
		.script = "{\"do\": \"reclaim\", \"pages\": 16},"
			  INSIDE("munmap", VA, "16", "{\"event\": \"pte_cleared\"}"),
	};
	static const struct small in_madvise = {
		.name = "in madvise", .world = APP A MAP(""),
		.script = DO("madvise_pageout", VA, "16") ","
			  INSIDE("munmap", VA, "16", "{\"enter\": \"try_to_unmap_flush\"}"),
	};
	static const struct small in_split = {
		.name = "in a split", .world = APP THP,
		.lanes = "{\"arch\": \"arm64\", \"path\": \"6.1\", \"kernel\": \"6.1\"}",
		.script = DO("madvise_pageout", "0x7f0000200000", "512") ","
			  INSIDE("madvise_dontneed", "0x7f0000200000", "1",
				 "{\"event\": \"pte_set\"}"),
	};
	static const struct small no_vma = {
		.name = "no VMA", .world = APP A MAP(""),
		.script = DO("munmap", "0x7f0000014000", "4") ","
			  DO("madvise_dontneed", "0x7f0000014000", "4"),
	};
	static const struct small same_cpu = {
		.name = "same CPU", .world = APP A MAP(""),
		.script = DO("madvise_pageout", VA, "16") ", {\"do\": \"munmap\", \"mm\": \"app\","
			  " \"va\": \"" VA "\", \"pages\": 1, \"when\": {\"enter\": \"pageout\"}}",
	};

	(void)state;
	small_refused(&in_walk, "nobody else may hold the locks");
	small_refused(&in_madvise, "nobody else may hold the locks");
	small_refused(&in_split, "nobody may hold its page-table locks");
	small_refused(&no_vma, "some of the range must be in VMAs");
	small_refused(&same_cpu, "munmap cannot happen inside what its own CPU does");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smalls),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("zap", tests, NULL, NULL);
}
