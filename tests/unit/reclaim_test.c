/* SPDX-License-Identifier: GPL-2.0-only */
/* Reclaim through the LRU lists: who is looked at, who stays, who goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/types.h"
#include "small.h"

#define APP   "\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
#define TWO   "\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}, {\"id\": \"kid\"}],"
#define VA    "0x7f0000010000"
#define MAP(mm, more) "{\"mm\": \"" mm "\", \"va\": \"" VA "\", \"folio\": \"A\"" more "}"

static const struct small smalls[] = {
	{ .name = "accessed, seen for the first time",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4}],"
		       " \"maps\": [" MAP("app", "") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "mapcount(A) == 16 && refcount(A) == 16", "young(app, " VA ", 16) == 0",
		      "flag(A, referenced) && flag(A, lru) && !flag(A, active) && !flag(A, locked)",
		      "count(folio_freed) == 0 && swapents(app) == 0" } },
	{ .name = "arm64 clears a block's marks with one TLBI and no wait",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4}],"
		       " \"maps\": [" MAP("app", "") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "{\"at\": \"end\", \"lane\": \"arm64/*\", \"that\":"
		      " \"cont(app, " VA ", 16) == 16 && count(tlbi_range) == 1"
		      " && count(dsb_ish) == 0 && count(contpte_unfold) == 0\"}",
		      "{\"at\": \"end\", \"lane\": \"x86_64/*\", \"that\":"
		      " \"count(tlb_flush) == 0 && count(pte_cmpxchg) == 16\"}" } },
	{ .name = "accessed again after it was marked",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"flags\": [\"referenced\"]}],"
		       " \"maps\": [" MAP("app", "") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "flag(A, active) && flag(A, referenced) && mapcount(A) == 16" } },
	{ .name = "marked, but not accessed since",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"flags\": [\"referenced\"]}],"
		       " \"maps\": [" MAP("app", ", \"young\": false") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "refcount(A) == 0 && swapents(app) == 16 && count(folio_freed) == 1" } },
	{ .name = "accessed by two processes",
	  .world = TWO "\"folios\": [{\"id\": \"A\", \"order\": 4}], \"maps\": ["
		       MAP("app", ", \"write\": false, \"exclusive\": false") ","
		       MAP("kid", ", \"write\": false, \"exclusive\": false") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "flag(A, active) && mapcount(A) == 32", "young(kid, " VA ", 16) == 0" } },
	{ .name = "shared and not accessed",
	  .world = TWO "\"folios\": [{\"id\": \"A\", \"order\": 4}], \"maps\": ["
		       MAP("app", ", \"write\": false, \"young\": false, \"exclusive\": false") ","
		       MAP("kid", ", \"write\": false, \"young\": false, \"exclusive\": false") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "refcount(A) == 0 && swapents(app) == 16 && swapents(kid) == 16",
		      "slot_count(zram0, 512, 16) == 32" } },
	{ .name = "locked VMA",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4}],"
		       " \"maps\": [" MAP("app", "") "],"
		       " \"vmas\": [{\"mm\": \"app\", \"start\": \"" VA "\","
		       " \"end\": \"0x7f0000020000\", \"locked\": true}]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "flag(A, mlocked) && flag(A, unevictable) && flag(A, lru)",
		      "mapcount(A) == 16 && young(app, " VA ", 16) == 16" } },
	{ .name = "nobody needs the slots any more: the last reference is reclaim's",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"flags\": [\"dirty\"],"
		       " \"swap\": {\"device\": \"zram0\", \"slot\": 512}}]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "refcount(A) == 0 && !flag(A, anon) && count(folio_freed) == 1",
		      "slot_free(zram0, 512, 16) == 16 && inuse(zram0) == 0",
		      "count(folio_write_start) == 0" } },
	{ .name = "32 pages at a time",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"count\": 40}], \"maps\": ["
		       MAP("app", ", \"young\": false") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 40}",
	  .expect = { "swapents(app) == 40 && count(folio_freed) == 40",
		      "{\"at\": {\"enter\": \"shrink_inactive_list\", \"nth\": 2}, \"that\":"
		      " \"swapents(app) == 32 && refcount(A31) == 0 && refcount(A32) == 1\"}",
		      "{\"at\": {\"enter\": \"isolate_lru_folios\", \"nth\": 2}, \"that\":"
		      " \"count(folio_freed) == 32\"}" } },
	{ .name = "the oldest first, no more than asked for",
	  .world = APP "\"folios\": [{\"id\": \"B\"}, {\"id\": \"A\"}], \"maps\": ["
		       MAP("app", ", \"young\": false") ", {\"mm\": \"app\", \"va\":"
		       " \"0x7f0000020000\", \"folio\": \"B\", \"young\": false}]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 1}",
	  .expect = { "mapcount(A) == 1 && refcount(B) == 0 && swapents(app) == 1" } },
	{ .name = "the active list is the longer one",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"flags\": [\"active\"]}],"
		       " \"maps\": [" MAP("app", "") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "!flag(A, active) && flag(A, workingset) && flag(A, lru)", "!isolated(A)",
		      "young(app, " VA ", 16) == 0 && refcount(A) == 16 && !flag(A, locked)" } },
	{ .name = "active and locked by somebody",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"flags\": [\"active\", \"locked\"]}],"
		       " \"maps\": [" MAP("app", "") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 1}",
	  .expect = { "!flag(A, active) && flag(A, locked) && young(app, " VA ") == 1" } },
	{ .name = "the write has ended: the next pass frees it",
	  .machine = "\"cpus\": 2, \"swap\": [{\"id\": \"disk\", \"kind\": \"async\"}]",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"fill\": \"data\"}],"
		       " \"maps\": [" MAP("app", ", \"young\": false") "]",
	  .script = "{\"do\": \"reclaim\", \"pages\": 16},"
		    " {\"do\": \"end_writeback\", \"folio\": \"A\"},"
		    " {\"do\": \"reclaim\", \"pages\": 16}",
	  .expect = { "refcount(A) == 0 && count(folio_write_start) == 1",
		      "slot_swapped(disk, 512, 16) == 16",
		      "{\"at\": {\"event\": \"op_end\", \"nth\": 1}, \"that\":"
		      " \"flag(A, writeback) && flag(A, lru) && refcount(A) == 16\"}" } },
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

	return cmocka_run_group_tests_name("reclaim", tests, NULL, NULL);
}
