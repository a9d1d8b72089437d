/* SPDX-License-Identifier: GPL-2.0-only */
/* MADV_FREE: what goes, what becomes lazyfree, what is left alone, and what reclaim makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "small.h"

#define APP	 "\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
#define BOTH	 "\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}, {\"id\": \"kid\"}],"
#define VA	 "0x7f0000010000"
#define THP_VA	 "0x7f0000200000"
#define A	 "\"folios\": [{\"id\": \"A\", \"order\": 4, \"fill\": \"data\"}],"
#define PAGE	 "\"folios\": [{\"id\": \"A\", \"pfn\": \"0x12340\"}],"
#define FLAGS(flags) "\"folios\": [{\"id\": \"A\", \"order\": 4, \"flags\": [" flags "]}],"
#define CACHED	 "\"folios\": [{\"id\": \"A\", \"order\": 4, \"swap\": {"			\
		 "\"device\": \"zram0\", \"slot\": 512}}],"
#define THP	 "\"folios\": [{\"id\": \"A\", \"order\": 9, \"fill\": \"data\", \"flags\":"\
		 " [\"dirty\"]}],"								\
		 " \"maps\": [{\"mm\": \"app\", \"va\": \"" THP_VA "\", \"folio\": \"A\","	\
		 " \"pmd\": true}], \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\", \"va\": \""\
		 THP_VA "\"}]"
#define MAP_OF(mm, more)								\
	"{\"mm\": \"" mm "\", \"va\": \"" VA "\", \"folio\": \"A\"" more "}"
#define MAP(more) "\"maps\": [" MAP_OF("app", more) "]"
#define SHARED	 ", \"write\": false, \"exclusive\": false"
#define DO(op, va, pages)								\
	"{\"do\": \"" op "\", \"mm\": \"app\", \"va\": \"" va "\", \"pages\": " pages "}"
#define FREE(pages) DO("madvise_free", VA, pages)
#define OLD	 "{\"arch\": \"arm64\", \"path\": \"arm\", \"kernel\": \"6.1\"},"		\
		 "{\"arch\": \"x86_64\", \"path\": \"x86\", \"kernel\": \"6.1\"}"
#define LAZYFREE "!flag(A, swapbacked) && !flag(A, dirty) && !flag(A, locked) && flag(A, lru)"

static const struct small smalls[] = {
	{ .name = "dirty, active and referenced: none of that any more",
	  .world = APP FLAGS("\"dirty\", \"active\", \"referenced\"") MAP("")
		   ", \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\", \"va\": \"" VA "\"}]",
	  .script = FREE("16"),
	  .expect = { LAZYFREE " && !flag(A, active) && !flag(A, referenced)",
		      "present(app, " VA ", 16) == 16 && write(app, " VA ", 16) == 16",
		      "dirty(app, " VA ", 16) == 0 && young(app, " VA ", 16) == 0",
		      "refcount(A) == 16 && anonpages(app) == 16 && count(folio_freed) == 0",
		      "exclusive(A) == 16 && tlb_stale(1) == 0 && hiwater_rss(app) == 16" } },
	{ .name = "clean and old already: nothing to flush",
	  .world = APP A MAP(", \"dirty\": false, \"young\": false")
		   ", \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\", \"va\": \"" VA "\"}]",
	  .script = FREE("16"),
	  .expect = { LAZYFREE, "count(tlb_flush) == 0 && count(pte_store) == 0",
		      "tlb_entries(1) > 0" } },
	{ .name = "one page of the run is dirty: all are cleaned",
	  .world = APP A "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\","
		   " \"pages\": \"0..14\", \"dirty\": false, \"young\": false},"
		   " {\"mm\": \"app\", \"va\": \"0x7f000001f000\", \"folio\": \"A\","
		   " \"pages\": \"15\"}]",
	  .script = FREE("16"),
	  .expect = { LAZYFREE, "dirty(app, " VA ", 16) == 0 && count(tlb_flush) == 1" } },
	{ .name = "in the swap cache: it leaves it",
	  .world = APP CACHED MAP(""),
	  .script = FREE("16"),
	  .expect = { LAZYFREE " && !swapcache(A) && refcount(A) == 16",
		      "inuse(zram0) == 0 && slot_free(zram0, 512, 16) == 16" } },
	{ .name = "in the swap cache, and somebody has a slot: left alone",
	  .world = APP CACHED MAP(SHARED) ", \"slots\": [{\"device\": \"zram0\","
		   " \"slots\": \"515..515\"}]",
	  .script = FREE("16"),
	  .expect = { "flag(A, swapbacked) && swapcache(A) && !flag(A, locked)",
		      "dirty(app, " VA ", 16) == 16 && count(tlb_flush) == 0" } },
	{ .name = "dirty and locked by somebody: left alone",
	  .world = APP FLAGS("\"dirty\", \"locked\"") MAP(""),
	  .script = FREE("16"),
	  .expect = { "flag(A, swapbacked) && flag(A, dirty) && dirty(app, " VA ", 16) == 16" } },
	{ .name = "dirty and mapped by a child too: left alone",
	  .world = BOTH FLAGS("\"dirty\"") "\"maps\": [" MAP_OF("app", SHARED) ","
		   MAP_OF("kid", SHARED) "]",
	  .script = FREE("16"),
	  .expect = { "{\"at\": {\"event\": \"folio_not_isolated\"}, \"that\":"
		      " \"mapcount(A) == 32 && flag(A, locked)\"}",
		      "flag(A, swapbacked) && flag(A, dirty) && !flag(A, locked)",
		      "dirty(app, " VA ", 16) == 16" } },
	{ .name = "a page of two processes: what the other wrote is kept",
	  .world = BOTH PAGE "\"maps\": [" MAP_OF("app", SHARED) ","
		   MAP_OF("kid", SHARED ", \"young\": false") "]",
	  .script = FREE("1") ", {\"do\": \"reclaim\", \"pages\": 1}",
	  .expect = { "{\"at\": {\"event\": \"folio_lazyfree\"}, \"that\": \"mapcount(A) == 2\"}",
		      "flag(A, swapbacked) && flag(A, dirty) && present(kid, " VA ") == 1" } },
	{ .name = "isolated: its entries are cleaned, but it is no lazyfree folio",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"isolated\": true}],"
		   MAP(""),
	  .script = FREE("16"),
	  .expect = { "flag(A, swapbacked) && dirty(app, " VA ", 16) == 0",
		      "count(tlb_flush) == 1" } },
	{ .name = "a part of a large folio: split, and only that part",
	  .world = APP A MAP(""),
	  .script = FREE("4"),
	  .expect = { "count(folio_split) == 1 && present(app, " VA ", 16) == 16",
		      "dirty(app, " VA ", 4) == 0 && dirty(app, 0x7f0000014000, 12) == 12",
		      LAZYFREE } },
	{ .name = "a part of a large folio that others map: left alone",
	  .world = BOTH A "\"maps\": [" MAP_OF("app", SHARED) "," MAP_OF("kid", SHARED) "]",
	  .script = FREE("4"),
	  .expect = { "flag(A, swapbacked) && count(folio_split) == 0",
		      "dirty(app, " VA ", 16) == 16" } },
	{ .name = "swap entries go, others that map no page stay, but broken ones",
	  .world = APP PAGE MAP("") ", \"entries\": ["
		   "{\"mm\": \"app\", \"va\": \"0x7f0000014000\", \"kind\": \"swap\","
		   " \"device\": \"zram0\", \"slot\": 8, \"pages\": 2},"
		   "{\"mm\": \"app\", \"va\": \"0x7f0000016000\", \"kind\": \"hwpoison\","
		   " \"pfn\": \"0x99\"}, {\"mm\": \"app\", \"va\": \"0x7f0000018000\","
		   " \"kind\": \"migration\", \"folio\": \"A\"}]",
	  .script = FREE("16"),
	  .expect = { "swapents(app) == 0 && empty(app, 0x7f0000011000, 7) == 7",
		      "slot_count(zram0, 8, 2) == 0 && migration(app, 0x7f0000018000) == 1" } },
	{ .name = "a locked VMA refuses",
	  .world = APP FLAGS("\"mlocked\", \"unevictable\"") MAP("") ", \"vmas\": ["
		   "{\"mm\": \"app\", \"start\": \"" VA "\", \"end\": \"0x7f0000020000\","
		   " \"locked\": true}]",
	  .script = FREE("16"),
	  .expect = { "{\"at\": {\"event\": \"madvise_refused\"}, \"that\": \"steps > 0\"}",
		      "flag(A, swapbacked) && dirty(app, " VA ", 16) == 16" } },
	{ .name = "a huge entry stays, clean",
	  .world = APP THP,
	  .script = DO("madvise_free", THP_VA, "512"),
	  .expect = { LAZYFREE, "entire_mapcount(A) == 1 && mapcount(A) == 1",
		      "!pmd_dirty(app, " THP_VA ") && !pmd_young(app, 0x7f00003ff000)",
		      "pmd_write(app, " THP_VA ") && count(pmd_split) == 0",
		      "tlb_stale(1) == 0 && tlb_pending(app) == tlb_flushed(app)" } },
	{ .name = "a part of a huge entry: split",
	  .world = APP THP,
	  .script = DO("madvise_free", THP_VA, "16"),
	  .expect = { "count(pmd_split) == 1 && count(folio_split) == 1",
		      "entire_mapcount(A) == 0 && mapcount(A) == 1",
		      "dirty(app, " THP_VA ", 16) == 0 && present(app, " THP_VA ", 512) == 512",
		      "dirty(app, 0x7f0000210000, 496) == 496" } },
	{ .name = "6.1: a page, and what it had in swap",
	  .lanes = OLD,
	  .world = APP PAGE MAP("") ", \"entries\": [{\"mm\": \"app\", \"va\":"
		   " \"0x7f0000011000\", \"kind\": \"swap\", \"device\": \"zram0\","
		   " \"slot\": 8, \"pages\": 2}]",
	  .script = FREE("3"),
	  .expect = { LAZYFREE, "dirty(app, " VA ") == 0 && young(app, " VA ") == 0",
		      "empty(app, 0x7f0000011000, 2) == 2 && swapents(app) == 0",
		      "count(swap_free_lock) >= 2 && count(tlb_flush) == 1" } },
	{ .name = "6.1: a large folio that PTEs map is split",
	  .lanes = OLD,
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 9, \"fill\": \"data\"}], \"maps\":"
		       " [{\"mm\": \"app\", \"va\": \"" THP_VA "\", \"folio\": \"A\"}]",
	  .script = DO("madvise_free", THP_VA, "2"),
	  .expect = { "count(folio_split) == 1 && dirty(app, " THP_VA ", 512) == 510" } },
	{ .name = "6.1: a huge entry stays",
	  .lanes = OLD,
	  .world = APP THP,
	  .script = DO("madvise_free", THP_VA, "512"),
	  .expect = { LAZYFREE, "entire_mapcount(A) == 1 && pmd(app, " THP_VA ") != 0",
		      "!pmd_dirty(app, " THP_VA ")" } },
	{ .name = "memory is short: lazyfree folios go too, those in use stay",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4}, {\"id\": \"B\"}], \"maps\":"
		       " [" MAP_OF("app", "") ", {\"mm\": \"app\", \"va\":"
		       " \"0x7f0000020000\", \"folio\": \"B\"}]",
	  .script = FREE("17") ", {\"do\": \"read\", \"mm\": \"app\", \"va\":"
		    " \"0x7f0000020000\"}, {\"do\": \"reclaim\", \"pages\": 32}",
	  .expect = { "refcount(A) == 0 && anonpages(app) == 1 && inuse(zram0) == 0",
		      "refcount(B) == 1 && !flag(B, swapbacked) && flag(B, referenced)" } },
	{ .name = "written to again: kept",
	  .world = APP A MAP("") ", \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\", \"va\": \"" VA "\","
		       " \"pages\": 16}]",
	  .script = FREE("16") ", {\"cpu\": 1, \"do\": \"write\", \"mm\": \"app\", \"va\":"
		    " \"0x7f0000013000\"}," DO("madvise_pageout", VA, "16"),
	  .expect = { "flag(A, swapbacked) && flag(A, dirty) && mapcount(A) == 16" } },
	{ .name = "written to before the flush is over: that may go",
	  .world = APP A MAP("") ", \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\", \"va\": \"" VA "\","
		       " \"pages\": 16}]",
	  .script = FREE("16") ", {\"cpu\": 1, \"do\": \"write\", \"mm\": \"app\", \"va\":"
		    " \"0x7f0000013000\", \"when\": {\"event\": \"folio_lazyfree\"}},"
		    DO("madvise_pageout", VA, "16"),
	  .expect = { "refcount(A) == 0 && anonpages(app) == 0" } },
	{ .name = "a new page of droppable memory is lazyfree from the start",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"isolated\": true}], \"vmas\": ["
		   "{\"mm\": \"app\", \"start\": \"" VA "\", \"end\": \"0x7f0000012000\","
		   " \"droppable\": true}], \"maps\": [" MAP_OF("app", "") "]",
	  .script = DO("munmap", VA, "1") ", {\"do\": \"reclaim_folio_list\"},"
		    " {\"do\": \"write\", \"mm\": \"app\", \"va\": \"0x7f0000011000\"}",
	  .expect = { "present(app, 0x7f0000011000) == 1 && pfn(app, 0x7f0000011000) > 0",
		      "mapcount(A) == 1 && !flag(A, swapbacked) && flag(A, anon)" } },
};

static void test_smalls(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(smalls); i++)
		small_run(smalls + i);
}

/* The process after MADV_FREE is the one that a scenario places with "lazyfree". */
static void same_memory(const struct machine *a, const struct machine *b)
{
	assert_memory_equal(a->pte, b->pte, a->s->nr[ARRAY_PTE] * sizeof(*a->pte));
	assert_memory_equal(a->page, b->page, a->s->nr[ARRAY_PAGE] * sizeof(*a->page));
	assert_int_equal(a->table->pmd, b->table->pmd);
	for (u32 i = 0; i < a->s->nr_placed; i++) {
		assert_int_equal(a->folio[i].flags, b->folio[i].flags);
		assert_int_equal(a->folio[i].refcount, b->folio[i].refcount);
		assert_int_equal(a->folio[i].mapcount, b->folio[i].mapcount);
		assert_int_equal(a->folio[i].list, b->folio[i].list);
	}
}

#define PLACED(order, more, lazyfree, clean)						\
	APP "\"folios\": [{\"id\": \"A\", \"order\": " order lazyfree "}], \"maps\": [{"\
	    "\"mm\": \"app\", \"va\": \"" THP_VA "\", \"folio\": \"A\"" more clean "}]"
#define CLEAN ", \"dirty\": false, \"young\": false"
#define LAZY  ", \"lazyfree\": true"

static void test_as_placed(void **state)
{
	static const struct {
		struct small made, placed;
	} pairs[] = {
		{ { .name = "16 pages", .world = PLACED("4", "", "", ""),
		    .script = DO("madvise_free", THP_VA, "16") },
		  { .name = "placed", .world = PLACED("4", "", LAZY, CLEAN),
		    .script = "{\"do\": \"try_to_unmap_flush\"}" } },
		{ { .name = "a huge entry", .world = PLACED("9", ", \"pmd\": true", "", ""),
		    .script = DO("madvise_free", THP_VA, "512") },
		  { .name = "placed", .world = PLACED("9", ", \"pmd\": true", LAZY, CLEAN),
		    .script = "{\"do\": \"try_to_unmap_flush\"}" } },
	};

	(void)state;
	for (u32 i = 0; i < NR_OF(pairs); i++)
		small_compare(&pairs[i].made, &pairs[i].placed, same_memory);
}

/* Two VMAs side by side, one page each. */
static void test_gathers(void **state)
{
	static const struct small two = {
		.name = "two VMAs",
		.lanes = "{\"arch\": \"x86_64\", \"path\": \"6.12\", \"kernel\": \"6.12\"},"
			 "{\"arch\": \"x86_64\", \"path\": \"7.3\", \"kernel\": \"7.3\"},"
			 "{\"arch\": \"arm64\", \"path\": \"6.12\", \"kernel\": \"6.12\"},"
			 "{\"arch\": \"arm64\", \"path\": \"7.3\", \"kernel\": \"7.3\"}",
		.world = APP "\"folios\": [{\"id\": \"A\"}, {\"id\": \"B\"}], \"vmas\": ["
			     "{\"mm\": \"app\", \"start\": \"" VA "\", \"end\":"
			     " \"0x7f0000011000\"}, {\"mm\": \"app\", \"start\":"
			     " \"0x7f0000011000\", \"end\": \"0x7f0000012000\"}], \"maps\": ["
			     MAP_OF("app", "") ", {\"mm\": \"app\", \"va\":"
			     " \"0x7f0000011000\", \"folio\": \"B\"}]",
		.script = FREE("2") "," DO("madvise_dontneed", VA, "2"),
	};
	static const struct cost flushes[] = {
		{ "x86_64/6.12", 0, COUNT_tlb_flush, 2 }, { "x86_64/7.3", 0, COUNT_tlb_flush, 1 },
		{ "x86_64/6.12", 1, COUNT_tlb_flush, 2 }, { "x86_64/7.3", 1, COUNT_tlb_flush, 1 },
		/* flushed where a VMA ends in any case */
		{ "arm64/6.12", 0, COUNT_tlb_flush, 2 }, { "arm64/7.3", 0, COUNT_tlb_flush, 2 },
		{ "arm64/6.12", 1, COUNT_tlb_flush, 2 }, { "arm64/7.3", 1, COUNT_tlb_flush, 2 },
	};

	(void)state;
	small_costs(&two, flushes, NR_OF(flushes));
}

static void test_refused(void **state)
{
	static const struct small in_walk = {
		.name = "in the walk", .world = APP A MAP(", \"young\": false"),
		.script = "{\"do\": \"reclaim\", \"pages\": 16}, {\"cpu\": 1, \"do\":"
			  " \"madvise_free\", \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": 16,"
			  " \"when\": {\"event\": \"pte_cleared\"}}",
	};
	static const struct small no_vma = {
		.name = "no VMA", .world = APP A MAP(""),
		.script = DO("madvise_free", "0x7f0000040000", "4"),
	};

	(void)state;
	small_refused(&in_walk, "nobody may hold its page-table locks");
	small_refused(&no_vma, "some of the range must be in VMAs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smalls),
		cmocka_unit_test(test_as_placed),
		cmocka_unit_test(test_gathers),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("MADV_FREE", tests, NULL, NULL);
}
