/* SPDX-License-Identifier: GPL-2.0-only */
/* Page faults: who gets which page, what is counted when, and who has to wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small.h"

#define APP	   "\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
#define TWO	   "\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}, {\"id\": \"kid\"}],"
#define VA	   "0x7f0000010000"
#define A	   "{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\"}"
#define FREE	   "{\"id\": \"free\", \"order\": 2, \"pfn\": \"0x20000\"}"
#define MAP(more)  "{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\"" more "}"
#define OUT(pages) "{\"do\": \"madvise_pageout\", \"mm\": \"app\", \"va\": \"" VA		\
		   "\", \"pages\": " pages "}"
#define READ(va)   "{\"cpu\": 1, \"do\": \"read\", \"mm\": \"app\", \"va\": \"" va "\"}"
#define WRITE(va)  "{\"cpu\": 1, \"do\": \"write\", \"mm\": \"app\", \"va\": \"" va "\"}"
#define VMA(more)  "\"vmas\": [{\"mm\": \"app\", \"start\": \"" VA "\", \"end\": "		\
		   "\"0x7f0000020000\"" more "}]"
#define DISK	   "\"cpus\": 2, \"swap\": [{\"id\": \"disk\", \"kind\": \"async\"}]"
#define DATA	   "{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\", \"fill\": \"data\"}"
#define SWAPPED(mm, dev, more) "{\"mm\": \"" mm "\", \"va\": \"" VA "\", \"kind\": \"swap\","	\
			       " \"device\": \"" dev "\", \"slot\": 16" more "}"
#define ONE_FREE "\"folios\": [" FREE "]"
#define ALONE	 ", \"exclusive\": true"
#define MORE	 ", \"pages\": 16" ALONE
#define AT(when, that) "{\"at\": {" when "}, \"that\": \"" that "\"}"
#define EVENT(name)    "\"event\": \"" name "\""
/* An access that is triggered inside the operation before it. */
#define INSIDE(do, va, when) "{\"cpu\": 1, \"do\": \"" do "\", \"mm\": \"app\", \"va\": \"" va	\
			     "\", \"when\": " when "}"

static const struct small smalls[] = {
	/* empty entries */
	{ .name = "the first read: the zero page",
	  .world = APP VMA(""),
	  .script = READ(VA) "," READ(VA),
	  .expect = { "present(app, " VA ") == 1 && write(app, " VA ") == 0",
		      "pfn(app, " VA ") == 0x2a5f && anonpages(app) == 0",
		      "count(page_fault) == 1 && tlb(1, app, " VA ") == 1" } },
	{ .name = "the first write: a page of zeroes",
	  .world = APP VMA("") ", \"folios\": [" FREE "]",
	  .script = WRITE("0x7f0000013000"),
	  .expect = { "refcount(free) == 1 && mapcount(free) == 1 && exclusive(free, 0) == 1",
		      "flag(free, anon) && flag(free, swapbacked) && flag(free, lru)",
		      "anonpages(app) == 1 && write(app, 0x7f0000013000) == 1",
		      "dirty(app, 0x7f0000013000) == 1 && pfn(app, 0x7f0000013000) == 0x20000",
		      "refcount(free.1) == 0 && flag(free.1, zero_filled)",
		      AT(EVENT("folio_zeroed"), "flag(free, zero_filled)"),
		      "!flag(free, zero_filled)" } },
	{ .name = "a store into a folio of zeroes: it is written out",
	  .world = APP "\"folios\": [" A "], \"maps\": [" MAP("") "]",
	  .script = WRITE(VA) "," OUT("16"),
	  .expect = { "refcount(A) == 0 && count(folio_write_start) == 1" } },
	{ .name = "a write after a read: the zero page is left behind",
	  .world = APP VMA("") ", \"folios\": [" FREE "]",
	  .script = READ(VA) "," WRITE(VA),
	  .expect = { "pfn(app, " VA ") == 0x20000 && anonpages(app) == 1 && exclusive(free) == 1",
		      "count(page_fault) == 2" } },
	{ .name = "no VMA, no right, no memory",
	  .world = APP VMA(", \"write\": false"),
	  .script = READ("0x7f0000030000") "," WRITE(VA),
	  .expect = { "{\"at\": {\"event\": \"fault_segv\", \"nth\": 2}, \"that\": \"1\"}",
		      "empty(app, " VA ", 16) == 16 && count(page_fault) == 0" } },
	{ .name = "no memory",
	  .world = APP VMA(""),
	  .script = WRITE(VA),
	  .expect = { AT(EVENT("no_free_memory"), "1"),
		      "anonpages(app) == 0" } },

	/* read-only entries */
	{ .name = "exclusive: reused",
	  .world = APP "\"folios\": [" A "], \"maps\": [" MAP(", \"write\": false") "]",
	  .script = WRITE("0x7f0000013000"),
	  .expect = { "write(app, " VA ", 16) == 1 && exclusive(A) == 16 && mapcount(A) == 16",
		      "pfn(app, 0x7f0000013000) == 0x12343 && dirty(app, 0x7f0000013000) == 1" } },
	{ .name = "not exclusive, but nobody else is left: reused, this page alone",
	  .world = APP "\"folios\": [" A "], \"maps\": ["
		   MAP(", \"write\": false, \"exclusive\": false") "]",
	  .script = WRITE("0x7f0000013000"),
	  .expect = { "write(app, " VA ", 16) == 1 && exclusive(A) == 1 && exclusive(A, 3) == 1",
		      "mapcount(A) == 16 && refcount(A) == 16 && !flag(A, locked)" } },
	{ .name = "somebody holds a reference: copied",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"pfn\": \"0x12340\", \"refs\": 1}, " FREE "],"
		   " \"maps\": [" MAP(", \"write\": false, \"exclusive\": false") "]",
	  .script = WRITE(VA),
	  .expect = { "pfn(app, " VA ") == 0x20000 && refcount(A) == 1 && mapcount(A) == 0",
		      "anonpages(app) == 1 && exclusive(free) == 1 && write(app, " VA ") == 1" } },
	{ .name = "another process maps it: copied, and the old translation is gone",
	  .world = TWO "\"folios\": [" A "," FREE "], \"maps\": ["
		   MAP(", \"write\": false, \"exclusive\": false")
		   ", {\"mm\": \"kid\", \"va\": \"" VA "\", \"folio\": \"A\", \"write\": false,"
		   " \"exclusive\": false}], \"tlbs\": [{\"cpu\": 0, \"mm\": \"app\", \"va\": \""
		   VA "\", \"pages\": 16}]",
	  .script = WRITE("0x7f0000013000"),
	  .expect = { "mapcount(A) == 31 && refcount(A) == 31 && page_mapcount(A, 3) == 1",
		      "pfn(app, 0x7f0000013000) == 0x20000 && pfn(kid, 0x7f0000013000) == 0x12343",
		      "anonpages(app) == 16 && anonpages(kid) == 16 && exclusive(free) == 1",
		      "{\"at\": {\"enter\": \"folio_add_new_anon_rmap\"}, \"that\":"
		      " \"tlb(0, app, 0x7f0000013000) == 0 && page_mapcount(A, 3) == 2\"}" } },
	{ .name = "userfaultfd wants to hear of it",
	  .world = APP "\"folios\": [" A "], \"maps\": [" MAP(", \"write\": false, \"uffd\": true")
		   "]," VMA(", \"uffd_wp\": true"),
	  .script = WRITE(VA),
	  .expect = { AT(EVENT("fault_userfault"), "1"),
		      "write(app, " VA ", 16) == 0" } },

	/* swap entries */
	{ .name = "still cached: the whole folio is mapped again, nothing is read",
	  .machine = DISK,
	  .world = APP "\"folios\": [" DATA "], \"maps\": [" MAP("") "]",
	  .script = OUT("16") "," READ("0x7f0000014000"),
	  .expect = { "present(app, " VA ", 16) == 16 && write(app, " VA ", 16) == 16",
		      "exclusive(A) == 16 && dirty(app, " VA ", 16) == 0 && flag(A, writeback)",
		      "refcount(A) == 32 && mapcount(A) == 16 && slot_count(disk, 512, 16) == 0",
		      "anonpages(app) == 16 && swapents(app) == 0 && swapcache(A)",
		      "count(major_fault) == 0 && count(folio_read) == 0 && count(page_fault) == 1",
		      AT(EVENT("swap_count_lowered"),
			 "swap_pte(app, " VA ", 16) == 16 && mapcount(A) == 16"),
		      "{\"at\": \"end\", \"lane\": \"arm64/*\","
		      " \"that\": \"cont(app, " VA ", 16) == 16\"}" } },
	{ .name = "a write while it is written out: the cache cannot be left yet",
	  .machine = DISK,
	  .world = APP "\"folios\": [" DATA "], \"maps\": [" MAP("") "]",
	  .script = OUT("16") "," WRITE("0x7f0000014000"),
	  .expect = { "swapcache(A) && dirty(app, " VA ", 16) == 16 && refcount(A) == 32" } },
	{ .name = "a write after it: the slots are given up",
	  .machine = DISK,
	  .world = APP "\"folios\": [" DATA "], \"maps\": [" MAP("") "]",
	  .script = OUT("16") ", {\"do\": \"end_writeback\", \"folio\": \"A\"},"
		    WRITE("0x7f0000014000"),
	  .expect = { "!swapcache(A) && refcount(A) == 16 && flag(A, dirty)",
		      "inuse(disk) == 0" } },
	{ .name = "freed: one page is read in, its slot stays with the others",
	  .machine = DISK,
	  .world = APP ONE_FREE ", \"entries\": [" SWAPPED("app", "disk", MORE) "]",
	  .script = READ("0x7f0000014000"),
	  .expect = { "pfn(app, 0x7f0000014000) == 0x20000 && write(app, 0x7f0000014000) == 1",
		      "dirty(app, 0x7f0000014000) == 0 && swapcache(free) && refcount(free) == 2",
		      "swap_pte(app, " VA ", 16) == 15 && slot_count(disk, 20) == 0",
		      "slot_cached(disk, 20) == 1 && slot_count(disk, 16, 16) == 15",
		      "exclusive(free) == 1 && anonpages(app) == 1 && swapents(app) == 15",
		      "count(major_fault) == 1 && count(folio_read) == 1",
		      "slot_of(free) == 20" } },
	{ .name = "zram gives the slot up at once",
	  .world = APP ONE_FREE ", \"entries\": [" SWAPPED("app", "zram0", ALONE) "]",
	  .script = READ(VA),
	  .expect = { "!swapcache(free) && refcount(free) == 1 && flag(free, dirty)",
		      "inuse(zram0) == 0 && swapents(app) == 0" } },
	{ .name = "shared: read-only, and a write copies",
	  .world = TWO ONE_FREE ", \"entries\": [" SWAPPED("app", "zram0", "") ","
		   SWAPPED("kid", "zram0", "") "]",
	  .script = READ(VA) "," WRITE(VA),
	  .expect = { "{\"at\": {\"event\": \"op_end\"}, \"that\": \"write(app, " VA ") == 0"
		      " && exclusive(free) == 0 && slot_count(zram0, 16) == 1\"}",
		      "pfn(app, " VA ") == 0x20001 && exclusive(free.1, 0) == 1",
		      "mapcount(free) == 0 && swapcache(free) && slot_count(zram0, 16) == 1",
		      "write(app, " VA ") == 1 && anonpages(app) == 1 && swapents(kid) == 1" } },
	{ .name = "zero-filled: nothing is read",
	  .world = APP "\"folios\": [" A "], \"maps\": [" MAP("") "]",
	  .script = OUT("16") "," READ("0x7f0000013000"),
	  .expect = { "count(major_fault) == 1 && count(folio_read) == 0",
		      "pfn(app, 0x7f0000013000) == 0x12340 && flag(A, zero_filled)",
		      "refcount(A) == 1 && refcount(A.3) == 0 && swapents(app) == 15" } },
	{ .name = "only some entries are left: page by page",
	  .machine = DISK,
	  .world = APP "\"folios\": [" DATA "], \"maps\": [" MAP("") "]",
	  .script = OUT("16") ", {\"do\": \"munmap\", \"mm\": \"app\", \"va\": \"0x7f0000018000\","
		    " \"pages\": 1}," READ("0x7f0000014000"),
	  .expect = { "present(app, " VA ", 16) == 1 && mapcount(A) == 1 && refcount(A) == 17",
		      "exclusive(A) == 1 && exclusive(A, 4) == 1",
		      "slot_count(disk, 512, 16) == 14" } },

	/* who has to wait */
	{ .name = "reclaim has the folio's lock: it sees the reference and keeps the folio",
	  .machine = DISK,
	  .world = APP "\"folios\": [" DATA "], \"maps\": [" MAP("") "]",
	  .script = OUT("16") "," INSIDE("read", VA, "{\"enter\": \"try_to_unmap_flush_dirty\"}"),
	  .expect = { AT(EVENT("fault_waits_folio"), "refcount(A) == 18"),
		      AT(EVENT("refcount_not_alone"), "refcount(A) == 18"),
		      AT(EVENT("fault_resumed"), "refcount(A) == 17"),
		      "present(app, " VA ", 16) == 16 && refcount(A) == 32 && flag(A, lru)",
		      "count(folio_write_start) == 0 && count(folio_read) == 0" } },
	{ .name = "reclaim has the page table",
	  .world = APP "\"folios\": [" A "], \"maps\": [" MAP("") "]",
	  .script = OUT("16") "," INSIDE("write", VA, "{\"event\": \"pte_cleared\"}"),
	  .expect = { AT(EVENT("fault_waits_ptl"), "refcount(A) > 16"),
		      "present(app, " VA ") == 1 && count(major_fault) == 1" } },
	{ .name = "munmap has the VMAs",
	  .world = APP "\"folios\": [" A "], \"maps\": [" MAP("") "]",
	  .script = "{\"do\": \"munmap\", \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": 16},"
		    INSIDE("write", VA, "{\"event\": \"pages_gathered\"}"),
	  .expect = { AT(EVENT("fault_waits_mm"), "mapcount(A) == 0"),
		      AT(EVENT("fault_segv"), "refcount(A) == 0") } },
	{ .name = "two faults on one page: the second finds the first one's work",
	  .machine = DISK,
	  .world = APP ONE_FREE ", \"entries\": [" SWAPPED("app", "disk", ALONE) "]",
	  .script = "{\"cpu\": 0, \"do\": \"read\", \"mm\": \"app\", \"va\": \"" VA "\"},"
		    INSIDE("read", VA, "{\"enter\": \"swap_read_folio\"}"),
	  .expect = { AT(EVENT("fault_waits_folio"), "refcount(free) == 3"),
		      "count(folio_read) == 1 && count(major_fault) == 1 && refcount(free) == 2",
		      "tlb(0, app, " VA ") == 1 && tlb(1, app, " VA ") == 1" } },
};

static void test_smalls(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_OF(smalls); i++)
		small_run(&smalls[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smalls),
	};

	return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
