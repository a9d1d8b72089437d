/* SPDX-License-Identifier: GPL-2.0-only */
/* A process ends: what is left behind of its memory, and how it goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small.h"

#define APP	"\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
#define TWO	"\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}, {\"id\": \"kid\"}],"
#define VA	"0x7f0000010000"
#define A	"\"folios\": [{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\"}],"
#define THP	"\"folios\": [{\"id\": \"A\", \"order\": 9}], \"maps\": [{\"mm\": \"app\","	\
		" \"va\": \"0x7f0000200000\", \"folio\": \"A\", \"pmd\": true}]"
#define MAP(more) "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\"" more "}]"
#define MAP_SHARED(mm)									\
	"{\"mm\": \"" mm "\", \"va\": \"" VA "\", \"folio\": \"A\", \"write\": false,"	\
	" \"young\": false, \"exclusive\": false}"
#define SHARED	"\"maps\": [" MAP_SHARED("app") ", " MAP_SHARED("kid") "]"
#define TLB	", \"tlbs\": [{\"cpu\": 1, \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": 16}]"
#define DO(op, va, pages)								\
	"{\"do\": \"" op "\", \"mm\": \"app\", \"va\": \"" va "\", \"pages\": " pages "}"
#define EXIT(mm)	"{\"do\": \"exit_mm\", \"mm\": \"" mm "\"}"
#define PAGEOUT		DO("madvise_pageout", VA, "16")
#define IN(lane, that)	"{\"at\": \"end\", \"lane\": \"" lane "\", \"that\": \"" that "\"}"

static const struct small exits[] = {
	{ .name = "resident memory is freed, after one flush",
	  .world = APP A MAP("") TLB, .script = EXIT("app"),
	  .expect = { "refcount(A) == 0 && mapcount(A) == 0 && count(folio_freed) == 1",
		      "anonpages(app) == 0 && mm_users(app) == 0 && tlb_entries(1) == 0",
		      "{\"at\": {\"event\": \"pages_gathered\"}, \"that\": \"refcount(A) == 16\"}",
		      "count(tlb_flush) == 1",
		      IN("x86_64/*", "count(pte_xchg) == 0 && count(pte_store) == 16 &&"
				     " count(ipi_sent) == 1 && mm_cpumask(app) == 3"),
		      IN("arm64/*", "count(pte_xchg) == 16 && count(tlbi_asid) == 1") } },
	{ .name = "swapped out: slots are freed, and the mmlist forgets the mm",
	  .world = APP A MAP(""), .script = PAGEOUT ", " EXIT("app"),
	  .expect = { "{\"at\": {\"enter\": \"exit_mm\"}, \"that\": \"on_mmlist(app)\"}",
		      "swapents(app) == 0 && inuse(zram0) == 0 && !on_mmlist(app)",
		      "slot_free(zram0, 512, 16) == 16" } },
	{ .name = "shared pages stay for the other one",
	  .world = TWO A SHARED, .script = EXIT("app"),
	  .expect = { "mapcount(A) == 16 && refcount(A) == 16 && anonpages(kid) == 16",
		      "mm_users(kid) == 1 && count(folio_freed) == 0" } },
	{ .name = "shared slots stay for the other one",
	  .world = TWO A SHARED, .script = "{\"do\": \"reclaim\", \"pages\": 16}, " EXIT("app"),
	  .expect = { "{\"at\": {\"enter\": \"exit_mm\"}, \"that\":"
		      " \"slot_count(zram0, 512, 16) == 32\"}",
		      "slot_count(zram0, 512, 16) == 16 && inuse(zram0) == 16",
		      "swapents(kid) == 16 && swapents(app) == 0 && on_mmlist(kid)" } },
	{ .name = "a huge entry, and another page table",
	  .machine = "\"cpus\": 2, \"swap\": []",
	  .world = APP THP ", \"vmas\": [{\"mm\": \"app\", \"start\": \"0x7f0000200000\","
		   " \"end\": \"0x7f0000600000\"}]",
	  .script = "{\"do\": \"write\", \"mm\": \"app\", \"va\": \"0x7f0000400000\"}, "
		    EXIT("app"),
	  .expect = { "refcount(A) == 0 && anonpages(app) == 0 && count(pmd_xchg) == 1" } },
	{ .name = "a pinned folio stays in memory, mapped nowhere",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"pins\": 1}]," MAP(""),
	  .script = EXIT("app") ", {\"do\": \"unpin\", \"folio\": \"A\"}",
	  .expect = { "{\"at\": {\"event\": \"op_end\"}, \"that\": \"refcount(A) == 1 &&"
		      " mapcount(A) == 0 && flag(A, lru)\"}",
		      "refcount(A) == 0 && count(folio_freed) == 1" } },
	{ .name = "nothing mapped: nothing to take down",
	  .world = "\"mms\": [{\"id\": \"app\", \"on_mmlist\": true}]", .script = EXIT("app"),
	  .expect = { "mm_users(app) == 0 && !on_mmlist(app) && count(tlb_flush) == 0" } },
	{ .name = "reclaim goes on with what is left of a folio",
	  .world = TWO A SHARED,
	  .script = EXIT("app") ", {\"do\": \"madvise_pageout\", \"mm\": \"kid\", \"va\": \"" VA
		    "\", \"pages\": 16}",
	  .expect = { "swapents(kid) == 16 && refcount(A) == 0" } },
};

static void test_exits(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_OF(exits); i++)
		small_run(&exits[i]);
}

static void test_exit_refused(void **state)
{
	static const struct small again = {
		.name = "again", .world = APP A MAP(""), .script = EXIT("app") ", " EXIT("app"),
	};
	static const struct small after = {
		.name = "after", .world = APP A MAP(""), .script = EXIT("app") ", " PAGEOUT,
	};
	static const struct small in_madvise = {
		.name = "in madvise", .world = APP A MAP(""),
		.script = PAGEOUT ", {\"cpu\": 1, \"do\": \"exit_mm\", \"mm\": \"app\", \"when\":"
			  " {\"enter\": \"pageout\"}}",
	};
	static const struct small in_walk = {
		.name = "in the walk", .world = TWO A SHARED,
		.script = "{\"do\": \"reclaim\", \"pages\": 16}, {\"cpu\": 1, \"do\": \"exit_mm\","
			  " \"mm\": \"app\", \"when\": {\"event\": \"pte_cleared\"}}",
	};
	static const struct small in_fault = {
		.name = "in a fault",
		.world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4, \"flags\": [\"locked\"],"
			     " \"swap\": {\"device\": \"zram0\", \"slot\": 64}}],"
			     " \"entries\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"kind\":"
			     " \"swap\", \"device\": \"zram0\", \"slot\": 64}]",
		.script = "{\"cpu\": 1, \"do\": \"read\", \"mm\": \"app\", \"va\": \"" VA "\"}, "
			  EXIT("app"),
	};

	(void)state;
	small_refused(&again, "the process must not have exited");
	small_refused(&after, "the process must not have exited");
	small_refused(&in_madvise, "nobody else may hold the locks");
	small_refused(&in_walk, "nobody else may hold the locks");
	small_refused(&in_fault, "no CPU may wait in a fault");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_exit_refused),
	};

	return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
