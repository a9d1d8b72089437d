/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes come and go: what a child has, what its parent has no longer, what stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/machine.h"
#include "small.h"

#define APP	"\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
#define TWO	"\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}, {\"id\": \"kid\"}],"
#define VA	"0x7f0000010000"
#define A	"\"folios\": [{\"id\": \"A\", \"order\": 4, \"pfn\": \"0x12340\"}],"
#define DATA	"\"folios\": [{\"id\": \"A\", \"order\": 4, \"fill\": \"data\"}],"
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
#define FORK		"{\"do\": \"fork\", \"mm\": \"app\", \"child\": \"new\"}"
#define WRITE(mm, va)	"{\"do\": \"write\", \"mm\": \"" mm "\", \"va\": \"" va "\"}"
#define AT_END(op, that)								\
	"{\"at\": {\"event\": \"op_end\", \"nth\": " op "}, \"that\": \"" that "\"}"
#define OLD(arch, kernel)								\
	"{\"arch\": \"" arch "\", \"path\": \"" kernel "\", \"kernel\": \"" kernel "\"}"
#define BOTH(kernel)	OLD("arm64", kernel) ", " OLD("x86_64", kernel)
#define FORK2		"{\"do\": \"fork\", \"mm\": \"app\", \"child\": \"newer\"}"
#define FREE_PAGES(nr)	"{\"id\": \"F\", \"count\": " nr "}"
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
	static const struct small at_once = {
		.name = "as soon as the other one begins", .world = APP A MAP(", \"fold\": false"),
		.script = "{\"do\": \"keep_pte\", \"mm\": \"app\", \"va\": \"" VA "\"}, {\"cpu\":"
			  " 1, \"do\": \"exit_mm\", \"mm\": \"app\", \"when\": {\"event\":"
			  " \"op_begin\"}}",
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
	small_refused(&again, "may not have exited");
	small_refused(&after, "may not have exited");
	small_refused(&in_madvise, "nobody else may hold the locks");
	small_refused(&at_once, "keep_pte is impossible");
	small_refused(&in_walk, "nobody else may hold the locks");
	small_refused(&in_fault, "no CPU may wait in a fault");
}

static const struct small forks[] = {
	{ .name = "a folio is shared: read-only, old in the child, exclusive nowhere",
	  .world = APP A MAP("") TLB, .script = FORK,
	  .expect = { "mapcount(A) == 32 && refcount(A) == 32 && exclusive(A) == 0",
		      "anonpages(app) == 16 && anonpages(new) == 16 && hiwater_rss(new) == 16",
		      "write(app, " VA ", 16) == 0 && write(new, " VA ", 16) == 0",
		      "young(app, " VA ", 16) == 16 && young(new, " VA ", 16) == 0",
		      "dirty(app, " VA ", 16) == 16 && dirty(new, " VA ", 16) == 16",
		      "tlb_entries(1) == 0 && count(tlb_flush) == 1 && mm_users(new) == 1",
		      IN("arm64/*", "cont(app, " VA ", 16) == 16 && cont(new, " VA ", 16) == 16"),
		      IN("x86_64/*", "pte(app, 0x7f0000015000) == 0x8400000012345825"),
		      IN("arm64/*", "pte(app, 0x7f0000015000) == 0x00f0000012345fc3"),
		      "count(contpte_unfold) == 0 && count(pin_check) == 0" } },
	{ .name = "whoever writes first gets a copy, the other one the page",
	  .world = APP "\"folios\": [{\"id\": \"A\"}, " FREE_PAGES("4") "]," MAP(""),
	  .script = FORK ", " WRITE("new", VA) ", " WRITE("app", VA),
	  .expect = { AT_END("2", "mapcount(A) == 1 && write(new, " VA ") && !write(app, " VA ")"),
		      AT_END("2", "exclusive(A) == 0 && mapcount(F0) == 1 && exclusive(F0) == 1"),
		      "write(app, " VA ") && exclusive(A) == 1 && mapcount(A) == 1" } },
	{ .name = "the reverse map: shared pages are found in both, the child's own only there",
	  .world = APP "\"folios\": [{\"id\": \"A\"}, {\"id\": \"B\"}, " FREE_PAGES("1")
		   "], \"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\"},"
		   " {\"mm\": \"app\", \"va\": \"0x7f0000011000\", \"folio\": \"B\"}]",
	  .script = FORK ", " WRITE("new", VA) ", {\"do\": \"reclaim\", \"pages\": 1},"
		    " {\"do\": \"reclaim\", \"pages\": 1}, {\"do\": \"reclaim\","
		    " \"pages\": 1}, {\"do\": \"reclaim\", \"pages\": 1}, {\"do\":"
		    " \"reclaim\", \"pages\": 1}, {\"do\": \"reclaim\", \"pages\": 1}",
	  .expect = { "swapents(app) == 2 && swapents(new) == 2 && anonpages(new) == 0",
		      "{\"at\": {\"event\": \"rmap_vma\", \"folio\": \"B\", \"nth\": 4},"
		      " \"that\": \"mapcount(B) <= 2\"}",
		      "{\"at\": {\"event\": \"rmap_vma\", \"folio\": \"F\"}, \"that\":"
		      " \"mapcount(F) == 1\"}" } },
	{ .name = "swap entries: one count more, exclusive in neither, both on the mmlist",
	  .world = APP A MAP(""), .script = PAGEOUT ", " FORK ", " EXIT("app"),
	  .expect = { AT_END("2", "slot_count(zram0, 512, 16) == 32 && swapents(new) == 16"),
		      AT_END("2", "swp_exclusive(app, " VA ", 16) == 0 &&"
				  " swp_exclusive(new, " VA ", 16) == 0"),
		      AT_END("2", "on_mmlist(app) && on_mmlist(new)"),
		      "slot_count(zram0, 512, 16) == 16 && swapents(new) == 16" } },
	{ .name = "a count of 15 needs a table, for which the locks are dropped",
	  .machine = "\"cpus\": 2, \"fail_atomic_alloc\": true",
	  .world = APP "\"entries\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"kind\":"
		   " \"swap\", \"device\": \"zram0\", \"slot\": 512, \"pages\": 2}],"
		   " \"slots\": [{\"device\": \"zram0\", \"slots\": \"513\","
		   " \"count\": 13}]",
	  .script = FORK,
	  .expect = { "slot_count(zram0, 512) == 2 && slot_count(zram0, 513) == 15",
		      "{\"at\": {\"enter\": \"swap_extend_table_alloc\", \"nth\": 2},"
		      " \"that\": \"swapents(new) == 1\"}" } },
	{ .name = "the child's table, for the kernels with a swap_map",
	  .lanes = BOTH("6.12") ", " BOTH("6.1"),
	  .world = APP "\"entries\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"kind\":"
		   " \"swap\", \"device\": \"zram0\", \"slot\": 512, \"pages\": 2,"
		   " \"exclusive\": true}]",
	  .script = FORK,
	  .expect = { "slot_count(zram0, 512, 2) == 4 && swp_exclusive(app, " VA ", 2) == 0" } },
	{ .name = "a pinned page is copied at once, the parent keeps it",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"fill\": \"data\", \"pins\": 1},"
		   " " FREE_PAGES("2") "]," MAP(""),
	  .script = FORK ", " WRITE("app", VA),
	  .expect = { "write(app, " VA ") && write(new, " VA ") && count(page_fault) == 0",
		      "mapcount(A) == 1 && exclusive(A) == 1 && refcount(A) == 1025",
		      "mapcount(F0) == 1 && exclusive(F0) == 1 && !flag(F0, zero_filled)",
		      "anonpages(app) == 1 && anonpages(new) == 1 && count(pin_check) == 2" } },
	{ .name = "a pinned large folio: page by page, those that are exclusive",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 2, \"pins\": 1}, "
		   FREE_PAGES("8") "], \"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\","
		   " \"folio\": \"A\", \"pages\": \"0..1\"}, {\"mm\": \"app\","
		   " \"va\": \"0x7f0000012000\", \"folio\": \"A\", \"pages\": \"2..3\","
		   " \"write\": false, \"exclusive\": false}]",
	  .script = FORK,
	  .expect = { "mapcount(A) == 6 && exclusive(A) == 2 && anonpages(new) == 4",
		      "write(app, " VA ", 2) == 2 && write(new, " VA ", 2) == 2",
		      "write(new, 0x7f0000012000, 2) == 0 && refcount(A) == 7" } },
	{ .name = "pinned, but shared before: shared again",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 2, \"pins\": 1}],"
		   MAP(", \"write\": false, \"exclusive\": false"),
	  .script = FORK, .expect = { "mapcount(A) == 8 && count(pin_check) == 1" } },
	{ .name = "no page to copy to: fork fails, and what was copied goes",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 4}, {\"id\": \"B\","
		   " \"pins\": 1}], \"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\","
		   " \"folio\": \"A\"}, {\"mm\": \"app\", \"va\": \"0x7f0000400000\","
		   " \"folio\": \"B\"}]",
	  .script = FORK,
	  .expect = { "mm_users(new) == 0 && mapcount(A) == 16 && refcount(A) == 16",
		      "anonpages(new) == 0 && write(app, " VA ", 16) == 0 && exclusive(A) == 0",
		      "write(app, 0x7f0000400000) && exclusive(B) == 1",
		      "{\"at\": {\"event\": \"fork_failed\"}, \"that\":"
		      " \"anonpages(new) == 0\"}" } },
	{ .name = "what userfaultfd watches, it does not watch in the child",
	  .world = APP A MAP(", \"write\": false, \"uffd\": true") ", \"vmas\": [{\"mm\": \"app\","
		       " \"start\": \"" VA "\", \"end\": \"0x7f0000040000\","
		       " \"uffd_wp\": true}], \"entries\": [{\"mm\": \"app\", \"va\":"
		       " \"0x7f0000020000\", \"kind\": \"uffd_wp\"}, {\"mm\": \"app\","
		       " \"va\": \"0x7f0000021000\", \"kind\": \"swap\", \"device\":"
		       " \"zram0\", \"slot\": 8, \"uffd\": true, \"soft_dirty\": true}]",
	  .script = FORK,
	  .expect = { "uffd(app, " VA ", 16) == 16 && uffd(new, " VA ", 16) == 0",
		      "uffd_wp_marker(app, 0x7f0000020000) && empty(new, 0x7f0000020000)",
		      "uffd(app, 0x7f0000021000) && !uffd(new, 0x7f0000021000)",
		      IN("x86_64/*", "soft_dirty(new, 0x7f0000021000)") } },
	{ .name = "locks stay with the parent, dontfork too; droppable is empty",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"flags\": [\"mlocked\","
		   " \"unevictable\"]}, {\"id\": \"B\"}, {\"id\": \"C\"}],"
		   " \"vmas\": [{\"mm\": \"app\", \"start\": \"0x7f0000010000\","
		   " \"end\": \"0x7f0000011000\", \"locked\": true}, {\"mm\": \"app\","
		   " \"start\": \"0x7f0000011000\", \"end\": \"0x7f0000012000\","
		   " \"dontfork\": true}, {\"mm\": \"app\", \"start\":"
		   " \"0x7f0000012000\", \"end\": \"0x7f0000013000\", \"droppable\":"
		   " true}], \"maps\": [{\"mm\": \"app\", \"va\": \"0x7f0000010000\","
		   " \"folio\": \"A\"}, {\"mm\": \"app\", \"va\": \"0x7f0000011000\","
		   " \"folio\": \"B\"}, {\"mm\": \"app\", \"va\": \"0x7f0000012000\","
		   " \"folio\": \"C\"}]",
	  .script = FORK ", " EXIT("app"),
	  .expect = { AT_END("1", "mapcount(A) == 2 && mapcount(B) == 1 && mapcount(C) == 1"),
		      AT_END("1", "exclusive(B) == 1 && write(app, 0x7f0000011000)"),
		      "anonpages(new) == 1 && mapcount(A) == 1 && refcount(B) == 0" } },
	{ .name = "migration, broken and device-exclusive entries",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"flags\": [\"dirty\"]}, {\"id\":"
		   " \"B\"}], \"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\","
		   " \"folio\": \"A\", \"device_exclusive\": true, \"uffd\": true}], \"entries\":"
		   " [{\"mm\": \"app\", \"va\": \"0x7f0000011000\", \"kind\":"
		   " \"migration\", \"folio\": \"B\", \"exclusive\": true, \"uffd\": true,"
		   " \"soft_dirty\": true},"
		   " {\"mm\": \"app\", \"va\": \"0x7f0000012000\", \"kind\":"
		   " \"hwpoison\", \"pfn\": \"0x99\"}]",
	  .script = FORK ", " FORK2,
	  .expect = { AT_END("1", "present(app, " VA ") && present(new, " VA ")"),
		      AT_END("1", "!write(app, " VA ") && exclusive(A) == 0 && mapcount(A) == 2"),
		      AT_END("1", "migration(new, 0x7f0000011000) && anonpages(new) == 2"),
		      "pte(new, 0x7f0000012000) == pte(app, 0x7f0000012000)",
		      "uffd(app, " VA ") && !uffd(new, " VA ")",
		      IN("x86_64/*", "pte(new, 0x7f0000011000) & 2"),
		      "anonpages(newer) == 2 && mapcount(A) == 3" } },
	{ .name = "a device has a page whose folio is locked: fork fails",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"flags\": [\"locked\"]}],"
		   MAP(", \"device_exclusive\": true"),
	  .script = FORK, .expect = { "mm_users(new) == 0 && device_exclusive(app, " VA ")" } },
	{ .name = "a huge entry is shared as one",
	  .machine = "\"cpus\": 2, \"swap\": []",
	  .world = APP THP, .script = FORK,
	  .expect = { "entire_mapcount(A) == 2 && mapcount(A) == 2 && refcount(A) == 2",
		      "exclusive(A) == 0 && anonpages(new) == 512 && count(pte_store) == 0" } },
	{ .name = "a pinned huge entry is split, and its pages are copied",
	  .machine = "\"cpus\": 2, \"swap\": []",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"order\": 9, \"pins\": 1}, "
		   FREE_PAGES("512") "], \"maps\": [{\"mm\": \"app\", \"va\":"
		   " \"0x7f0000200000\", \"folio\": \"A\", \"pmd\": true}]",
	  .script = FORK,
	  .expect = { "count(pmd_split) == 1 && mapcount(A) == 512 && anonpages(new) == 512",
		      "write(new, 0x7f0000200000, 512) == 512 && exclusive(A) == 512" } },
	{ .name = "children of children, of a VMA that was cut",
	  .world = APP A MAP(""),
	  .script = DO("munmap", "0x7f0000014000", "4") ", " FORK ", {\"do\": \"munmap\","
		    " \"mm\": \"new\", \"va\": \"0x7f0000012000\", \"pages\": 1}, "
		    " {\"do\": \"fork\", \"mm\": \"new\", \"child\": \"newer\"}, "
		    EXIT("new") ", " EXIT("app"),
	  .expect = { AT_END("4", "mapcount(A) == 34 && anonpages(newer) == 11"),
		      "mapcount(A) == 11 && refcount(A) == 11 && anonpages(newer) == 11" } },
	{ .name = "a run ends where dirty bits differ; write bits are merged",
	  .world = APP A "\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\","
		   " \"pages\": \"0..3\", \"write\": false}, {\"mm\": \"app\", \"va\":"
		   " \"0x7f0000014000\", \"folio\": \"A\", \"pages\": \"4..7\"}, {\"mm\":"
		   " \"app\", \"va\": \"0x7f0000018000\", \"folio\": \"A\", \"pages\":"
		   " \"8..15\", \"dirty\": false}]",
	  .script = FORK,
	  .expect = { "{\"at\": {\"event\": \"anon_rmap_duplicated\", \"nth\": 2}, \"that\":"
		      " \"mapcount(A) == 32 && exclusive(A) == 0\"}",
		      "{\"at\": {\"event\": \"anon_rmap_duplicated\", \"nth\": 1}, \"that\":"
		      " \"mapcount(A) == 24\"}",
		      "dirty(new, " VA ", 16) == 8 && write(app, " VA ", 16) == 0" } },
	{ .name = "unpinned while a page is allocated: shared after all, the page goes back",
	  .world = APP "\"folios\": [{\"id\": \"A\", \"pins\": 1}, " FREE_PAGES("1") "],"
		   MAP(""),
	  .script = FORK ", {\"cpu\": 1, \"do\": \"unpin\", \"folio\": \"A\", \"when\":"
		    " {\"event\": \"folio_allocated\"}}",
	  .expect = { "mapcount(A) == 2 && exclusive(A) == 0 && refcount(F) == 0",
		      "count(folio_freed) == 1 && anonpages(new) == 1" } },
	{ .name = "6.1: entry by entry",
	  .lanes = BOTH("6.1"),
	  .world = APP "\"folios\": [{\"id\": \"A\", \"count\": 4}, {\"id\": \"P\","
		   " \"pins\": 1}, " FREE_PAGES("1") "], \"maps\": [{\"mm\": \"app\","
		   " \"va\": \"" VA "\", \"folio\": \"A\"}, {\"mm\": \"app\", \"va\":"
		   " \"0x7f0000014000\", \"folio\": \"P\"}]",
	  .script = FORK,
	  .expect = { "mapcount(A0) == 2 && mapcount(A3) == 2 && mapcount(P) == 1",
		      "anonpages(new) == 5 && write(new, 0x7f0000014000)" } },
	{ .name = "the zero page is nobody's",
	  .world = APP "\"folios\": [{\"id\": \"A\"}], \"maps\": [{\"mm\": \"app\","
		   " \"va\": \"" VA "\", \"folio\": \"A\"}], \"vmas\": [{\"mm\": \"app\","
		   " \"start\": \"" VA "\", \"end\": \"0x7f0000012000\"}]",
	  .script = "{\"do\": \"read\", \"mm\": \"app\", \"va\": \"0x7f0000011000\"}, " FORK,
	  .expect = { "zero_page(new, 0x7f0000011000) && anonpages(new) == 1" } },
	{ .name = "flushes of reclaim are not caught up with: they come before its locks are free",
	  .world = APP A MAP(", \"young\": false") TLB,
	  .script = "{\"do\": \"reclaim\", \"pages\": 16}, {\"cpu\": 1, \"do\": \"fork\","
		    " \"mm\": \"app\", \"child\": \"new\", \"when\": {\"enter\":"
		    " \"try_to_unmap_flush_dirty\"}}",
	  .expect = { "swapents(new) == 16 && slot_count(zram0, 512, 16) == 32",
		      "tlb_stale(0) == 0 && tlb_stale(1) == 0" } },
};

static void test_forks(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_OF(forks); i++)
		small_run(&forks[i]);
}

static void assert_same_page(const struct page *a, const struct page *b)
{
	assert_int_equal(a->mapcount, b->mapcount);
	assert_int_equal(a->anon_exclusive, b->anon_exclusive);
}

static void assert_same_folio(const struct folio *a, const struct folio *b)
{
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->refcount, b->refcount);
	assert_int_equal(a->mapcount, b->mapcount);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->anon_vma, b->anon_vma);
	assert_int_equal(a->swap, b->swap);
}

static void assert_same_mm(const struct mm *a, const struct mm *b)
{
	assert_int_equal(a->anonpages, b->anonpages);
	assert_int_equal(a->swapents, b->swapents);
	assert_int_equal(a->on_mmlist, b->on_mmlist);
	assert_int_equal(a->hiwater_rss, b->hiwater_rss);
}

/* But for who is whose child, and what the script has cost. b may have an mm more, gone. */
static void assert_same(const struct machine *a, const struct machine *b)
{
	for (u32 i = 0; i < a->s->nr[ARRAY_PAGE]; i++)
		assert_same_page(a->page + i, b->page + i);
	for (u32 i = 0; i < a->s->nr_placed; i++)
		assert_same_folio(a->folio + i, b->folio + i);
	for (u32 i = 0; i < a->s->nr[ARRAY_MM]; i++)
		assert_same_mm(a->mm + i, b->mm + i);
	for (u32 i = 0; i < a->s->nr[ARRAY_PTE]; i++)
		assert_int_equal(a->pte[i], b->pte[i]);
	for (u32 i = 0; i < a->s->nr[ARRAY_SLOT]; i++) {
		assert_int_equal(a->slot[i].count, b->slot[i].count);
		assert_int_equal(a->slot[i].kind, b->slot[i].kind);
	}
}

/* The placed worlds of swapout-forked, swapout-fork-dead and their like, and the real thing */
static void test_like_placed(void **state)
{
#define OLD_ONES ", \"young\": false"
#define LANES	 BOTH("7.3") ", " BOTH("6.16") ", " BOTH("6.12")
#define AT_REST	 "{\"do\": \"try_to_unmap_flush\"}"
#define RECLAIM	 "{\"do\": \"reclaim\", \"pages\": 16}"
#define WRITTEN	 WRITE("app", "0x7f0000010000") ", " WRITE("app", "0x7f0000011000") ", "	\
		 WRITE("app", "0x7f0000012000") ", " WRITE("app", "0x7f0000013000")
#define HALVES(write)									\
	"\"maps\": [{\"mm\": \"app\", \"va\": \"" VA "\", \"folio\": \"A\", \"pages\":"	\
	" \"0..3\", \"write\": " write "}, {\"mm\": \"app\", \"va\":"			\
	" \"0x7f0000014000\", \"folio\": \"A\", \"pages\": \"4..15\","			\
	" \"write\": false, \"exclusive\": false}]"
	static const struct small pairs[][2] = {
		{ { .name = "alive, placed", .lanes = LANES, .world = TWO A SHARED,
		    .script = AT_REST },
		  { .name = "alive", .lanes = LANES, .world = APP A MAP(OLD_ONES),
		    .script = FORK } },
		{ { .name = "dead, placed", .lanes = LANES,
		    .world = APP A MAP(", \"write\": false, \"exclusive\": false"),
		    .script = AT_REST },
		  { .name = "dead", .lanes = LANES, .world = APP A MAP(""),
		    .script = FORK ", " EXIT("new") } },
		{ { .name = "swapped out, placed", .world = TWO A SHARED, .script = RECLAIM },
		  { .name = "swapped out", .world = APP A MAP(OLD_ONES),
		    .script = FORK ", " RECLAIM } },
		{ { .name = "swapped out, dead, placed",
		    .world = APP A MAP(OLD_ONES ", \"write\": false, \"exclusive\": false"),
		    .script = RECLAIM },
		  { .name = "swapped out, dead", .world = APP A MAP(OLD_ONES),
		    .script = FORK ", " RECLAIM ", " EXIT("new") } },
		{ { .name = "dead, then written to, placed", .world = APP DATA HALVES("true"),
		    .script = AT_REST },
		  { .name = "dead, then written to", .world = APP DATA MAP(""),
		    .script = FORK ", " EXIT("new") ", " WRITTEN } },
		{ { .name = "the same, then made read-only, placed",
		    .world = APP DATA HALVES("false"), .script = AT_REST },
		  { .name = "the same, then made read-only", .world = APP DATA MAP(""),
		    .script = FORK ", " EXIT("new") ", " WRITTEN ", {\"do\": \"mprotect\","
			      " \"mm\": \"app\", \"va\": \"" VA "\", \"pages\": 16, \"prot\":"
			      " \"read\"}" } },
	};

	(void)state;
	for (size_t i = 0; i < NR_OF(pairs); i++)
		small_compare(&pairs[i][0], &pairs[i][1], assert_same);
}

/* Per PTE in 6.1, and with a check of its own for pins; in runs otherwise. */
static void test_costs(void **state)
{
	static const struct small block = {
		.name = "block", .world = APP A MAP(""), .lanes = BOTH("7.3") ", " BOTH("6.12"),
		.script = FORK ", " EXIT("new"),
	};
	static const struct cost of_block[] = {
		{ "arm64/7.3", 0, COUNT_pte_cmpxchg, 16 },
		{ "arm64/7.3", 0, COUNT_pte_store, 16 },
		{ "arm64/7.3", 0, COUNT_pte_read, 19 },	/* 3, and 16 of the exchanges */
		{ "arm64/7.3", 0, COUNT_contpte_unfold, 0 },
		{ "arm64/7.3", 0, COUNT_tlbi_asid, 1 },
		{ "arm64/7.3", 0, COUNT_dsb_ishst, 2 },	/* a page table, and the flush */
		{ "arm64/7.3", 0, COUNT_ref_op, 1 },
		{ "arm64/7.3", 0, COUNT_mm_counter_op, 1 },
		{ "arm64/6.12", 0, COUNT_pte_read, 33 },
		{ "arm64/6.12", 0, COUNT_contpte_unfold, 0 },
		{ "x86_64/7.3", 0, COUNT_pte_read, 32 },
		{ "x86_64/7.3", 0, COUNT_pte_cmpxchg, 16 },
		{ "x86_64/7.3", 0, COUNT_ref_op, 1 },
		{ "x86_64/7.3", 0, COUNT_tlb_gen_inc, 1 },
		{ "x86_64/7.3", 1, COUNT_pte_store, 16 },
		{ "x86_64/7.3", 1, COUNT_rmap_remove, 1 },
	};
	static const struct small pages = {
		.name = "pages", .lanes = BOTH("6.1"),
		.world = APP "\"folios\": [{\"id\": \"A\", \"count\": 16}, {\"id\": \"P\","
			     " \"pins\": 1}]," MAP(""),
		.script = FORK ", " FORK2,
	};
	static const struct cost of_pages[] = {
		{ "arm64/6.1", 0, COUNT_ref_op, 16 },
		{ "arm64/6.1", 0, COUNT_pte_cmpxchg, 16 },
		{ "x86_64/6.1", 0, COUNT_ref_op, 16 },
		{ "x86_64/6.1", 0, COUNT_pin_check, 16 },
		{ "x86_64/6.1", 1, COUNT_pin_check, 0 },	/* shared, so not asked */
		{ "x86_64/6.1", 1, COUNT_pte_cmpxchg, 0 },
	};

	(void)state;
	small_costs(&block, of_block, NR_OF(of_block));
	small_costs(&pages, of_pages, NR_OF(of_pages));
}

static void test_fork_refused(void **state)
{
	static const struct small in_walk = {
		.name = "in the walk", .world = APP A MAP(", \"young\": false"),
		.script = "{\"do\": \"reclaim\", \"pages\": 16}, {\"cpu\": 1, \"do\": \"fork\","
			  " \"mm\": \"app\", \"child\": \"new\", \"when\": {\"event\":"
			  " \"pte_cleared\"}}",
	};
	static const struct small not_yet = {
		.name = "not yet", .world = "\"mms\": [{\"id\": \"app\"}],"
		" \"folios\": [{\"id\": \"B\", \"pins\": 1}], \"maps\": [{\"mm\": \"app\","
		" \"va\": \"" VA "\", \"folio\": \"B\"}]",
		.script = FORK ", " WRITE("new", VA),
	};

	(void)state;
	small_refused(&in_walk, "nobody else may hold the locks");
	small_refused(&not_yet, "the process must have been forked");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_exit_refused),
		cmocka_unit_test(test_forks),
		cmocka_unit_test(test_like_placed),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_fork_refused),
	};

	return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
