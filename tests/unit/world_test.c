/* SPDX-License-Identifier: GPL-2.0-only */
/* Worlds that no machine can be in, and scripts that ask for the impossible: one line each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/run.h"

#define PAGEOUT "{\"do\": \"madvise_pageout\", \"mm\": \"a\", \"va\": \"0x10000\", \"pages\": 1}"

struct refused {
	const char *name, *world, *script, *message;
};

static const struct refused cases[] = {
	{ "one address twice",
	  "\"folios\": [{\"id\": \"A\", \"order\": 2}, {\"id\": \"B\"}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"},\n"
	  "{\"mm\": \"a\", \"va\": \"0x12000\", \"folio\": \"B\"}]",
	  PAGEOUT,
	  "w:2:1: /world/maps/1: expected addresses of its own: another mapping of the same mm "
	  "reaches into it" },
	{ "one slot for two folios",
	  "\"folios\": [{\"id\": \"A\", \"swap\": {\"device\": \"zram0\", \"slot\": 5}},\n"
	  "{\"id\": \"B\", \"swap\": {\"device\": \"zram0\", \"slot\": 5}}]",
	  PAGEOUT, "w:2:1: /world/folios/1: expected swap slots that no other folio is in" },
	{ "one page frame twice",
	  "\"folios\": [{\"id\": \"A\", \"order\": 1, \"pfn\": \"0x100\"},\n"
	  "{\"id\": \"B\", \"pfn\": \"0x101\"}]",
	  PAGEOUT, "w:2:1: /world/folios/1: expected free page frames: 0x101 is inside \"A\"" },
	{ "the zero page",
	  "\"folios\": [\n{\"id\": \"A\", \"order\": 9, \"pfn\": \"0x2a00\"}]",
	  PAGEOUT,
	  "w:2:1: /world/folios/0: expected other page frames: 0x2a5f is the shared zero page" },
	{ "a size that 6.1 has not",
	  "\"folios\": [{\"id\": \"A\"}, {\"id\": \"B\", \"order\": 9, \"pfn\": \"0x400\"},\n"
	  "{\"id\": \"C\", \"order\": 4, \"pfn\": \"0x800\"}]",
	  PAGEOUT "], \"lanes\": [{\"arch\": \"arm64\", \"path\": \"6.1\", \"kernel\": \"6.1\"}",
	  "w:2:1: /world/folios/2: expected one page or 512: kernel 6.1 has no other anonymous "
	  "folios" },
	{ "exclusive to two",
	  "\"folios\": [{\"id\": \"A\"}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"},\n"
	  "{\"mm\": \"b\", \"va\": \"0x10000\", \"folio\": \"A\"}]",
	  PAGEOUT,
	  "w:2:1: /world/maps/1: expected \"exclusive\": false in each map of page 0, which is "
	  "mapped more than once" },
	{ "an entry where a page is mapped",
	  "\"folios\": [{\"id\": \"A\"}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"}], \"vmas\": ["
	  "{\"mm\": \"a\", \"start\": \"0x10000\", \"end\": \"0x20000\"}], \"entries\": [\n"
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"kind\": \"uffd_wp\"}]",
	  PAGEOUT,
	  "w:2:1: /world/entries/0: expected a free address: something is at 0x10000 of \"a\" "
	  "already" },
	{ "an exclusive swap entry of a slot that others count",
	  "\"slots\": [{\"device\": \"zram0\", \"slots\": \"9\"}], \"entries\": [\n"
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"kind\": \"swap\", \"device\": \"zram0\","
	  " \"slot\": 9, \"exclusive\": true}]",
	  PAGEOUT,
	  "w:2:1: /world/entries/0: expected no \"exclusive\", as somebody else has slot 9 too" },
	{ "a swap entry of a page that is exclusive where it is mapped",
	  "\"folios\": [{\"id\": \"A\", \"swap\": {\"device\": \"zram0\", \"slot\": 5}}],"
	  "\"maps\": [{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"}], \"entries\": [\n"
	  "{\"mm\": \"b\", \"va\": \"0x10000\", \"kind\": \"swap\", \"device\": \"zram0\","
	  " \"slot\": 5}]",
	  PAGEOUT,
	  "w:2:1: /world/entries/0: expected \"exclusive\": false where page 0 of the folio in "
	  "slot 5 is mapped, as a swap entry shares it" },
	{ "a slot that somebody has whose page is exclusive where it is mapped",
	  "\"folios\": [{\"id\": \"A\", \"order\": 4, \"swap\": {\"device\": \"zram0\","
	  " \"slot\": 16}}],"
	  "\"maps\": [{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"}], \"slots\": ["
	  "{\"device\": \"zram0\", \"slots\": \"16..31\", \"count\": 0},\n"
	  "{\"device\": \"zram0\", \"slots\": \"20\"}]",
	  PAGEOUT,
	  "w:2:1: /world/slots/1: expected \"exclusive\": false where page 4 of the folio in "
	  "slot 20 is mapped, as a swap entry shares it" },
	{ "anonymous memory among shared memory",
	  "\"folios\": [{\"id\": \"A\", \"shmem\": true}, {\"id\": \"B\"}], \"vmas\": ["
	  "{\"mm\": \"a\", \"start\": \"0x10000\", \"end\": \"0x20000\"}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"},\n"
	  "{\"mm\": \"a\", \"va\": \"0x11000\", \"folio\": \"B\"}]",
	  PAGEOUT,
	  "w:2:1: /world/maps/1: expected a VMA of its own: \"B\" and what else is mapped there "
	  "are not both anonymous, shared memory or of a file on a disk" },
	{ "a file among shared memory",
	  "\"folios\": [{\"id\": \"A\", \"shmem\": true}, {\"id\": \"B\", \"file\": true}], "
	  "\"vmas\": [{\"mm\": \"a\", \"start\": \"0x10000\", \"end\": \"0x20000\"}], "
	  "\"maps\": [{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"},\n"
	  "{\"mm\": \"a\", \"va\": \"0x11000\", \"folio\": \"B\"}]",
	  PAGEOUT,
	  "w:2:1: /world/maps/1: expected a VMA of its own: \"B\" and what else is mapped there "
	  "are not both anonymous, shared memory or of a file on a disk" },
	{ "MADV_PAGEOUT of half a folio of a file",
	  "\"folios\": [{\"id\": \"A\", \"order\": 2, \"file\": true}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\", \"pages\": \"0..1\"}]",
	  PAGEOUT,
	  "w:2:1: /script/0: madvise_pageout is impossible at step 0 of arm64/unbatched: no VMA "
	  "is in the range, or a large folio of a file would have to be split, which is not "
	  "modelled" },
	{ "MADV_PAGEOUT of a folio of a file that userfaultfd watches in part",
	  "\"folios\": [{\"id\": \"A\", \"order\": 1, \"file\": true}], \"vmas\": [{\"mm\": \"a\", "
	  "\"start\": \"0x10000\", \"end\": \"0x12000\", \"uffd_wp\": true}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\", \"pages\": \"0..0\", "
	  "\"write\": false, \"uffd\": true}, "
	  "{\"mm\": \"a\", \"va\": \"0x11000\", \"folio\": \"A\", \"pages\": \"1..1\"}]",
	  "{\"do\": \"madvise_pageout\", \"mm\": \"a\", \"va\": \"0x10000\", \"pages\": 2}",
	  "would have to be split, which is not modelled" },
	{ "MADV_PAGEOUT of shared memory",
	  "\"folios\": [{\"id\": \"A\", \"shmem\": true}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"}]",
	  PAGEOUT,
	  "w:2:1: /script/0: madvise_pageout is impossible at step 0 of arm64/unbatched: there may "
	  "be no shared memory, of which this is not modelled" },
	{ "a TLB that has not run it",
	  "\"folios\": [{\"id\": \"A\"}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"}], \"tlbs\": [\n"
	  "{\"cpu\": 1, \"mm\": \"a\", \"va\": \"0x10000\"}]",
	  PAGEOUT, "w:2:1: /world/tlbs/0: expected a CPU that has run \"a\" (ran_on)" },
	{ "MADV_PAGEOUT of nothing", "\"folios\": [{\"id\": \"A\"}]", PAGEOUT,
	  "w:2:1: /script/0: madvise_pageout is impossible at step 0 of arm64/unbatched: no VMA is "
	  "in the range" },
	{ "the first of two impossible operations",
	  "\"folios\": [{\"id\": \"A\"}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"}]",
	  PAGEOUT
	  ", {\"do\": \"unpin\", \"folio\": \"A\", \"when\": {\"enter\": \"try_to_unmap\"}},"
	  "{\"do\": \"put_ref\", \"folio\": \"A\", \"when\": {\"event\": \"folio_freed\"}}",
	  "/script/1: unpin is impossible" },
	{ "zapping what is being split",
	  "\"folios\": [{\"id\": \"A\", \"order\": 9, \"pfn\": \"0x10000\"}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x200000\", \"folio\": \"A\", \"pmd\": true}]",
	  "{\"do\": \"madvise_pageout\", \"mm\": \"a\", \"va\": \"0x200000\", \"pages\": 512},"
	  "{\"do\": \"madvise_dontneed\", \"cpu\": 1, \"mm\": \"a\", \"va\": \"0x200000\","
	  " \"pages\": 1, \"when\": {\"event\": \"pte_set\"}}",
	  "/script/1: madvise_dontneed is impossible" },
	{ "an active folio in reclaim's hands",
	  "\"folios\": [{\"id\": \"A\", \"isolated\": true, \"flags\": [\"active\"]}]",
	  "{\"do\": \"reclaim_folio_list\"}", "/script/0: reclaim_folio_list is impossible" },
	{ "zapping under a cluster's lock",
	  "\"folios\": [{\"id\": \"A\"}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"}]",
	  PAGEOUT
	  ", {\"do\": \"madvise_dontneed\", \"cpu\": 1, \"mm\": \"a\", \"va\": \"0x10000\","
	  " \"pages\": 1, \"when\": {\"event\": \"shadow_stored\"}}",
	  "/script/1: madvise_dontneed is impossible" },
	{ "two reclaimers at once",
	  "\"folios\": [{\"id\": \"A\"}], \"maps\": ["
	  "{\"mm\": \"a\", \"va\": \"0x10000\", \"folio\": \"A\"}]",
	  PAGEOUT ", {\"do\": \"try_to_unmap_flush\", \"when\": {\"enter\": \"try_to_unmap\"}}",
	  "/script/1/when: try_to_unmap_flush cannot happen inside another operation" },
};

static void test_refused(void **state)
{
	const struct refused *c = *state;
	struct scenario *s;
	char text[2048];
	struct run run;
	struct error err;

	snprintf(
		text, sizeof(text),
		"{\"$schema\": \"scenario-1.json\", \"title\": \"t\", \"machine\": {\"cpus\": 2},"
		" \"world\": {\"mms\": [{\"id\": \"a\"}, {\"id\": \"b\"}], %s},"
		 " \"script\": [\n%s]}",
		c->world, c->script);
	s = scenario_load("w", text, strlen(text), &err);
	if (!s)
		fail_msg("%s", err.text);
	assert_false(run_scenario(&run, s, RUN_COUNT, false, &err));
	if (!strstr(err.text, c->message))
		fail_msg("expected\n%s\nbut it is\n%s", c->message, err.text);
	scenario_free(s);
}

/* Pages and folios by page frame: in groups, behind a gap, and ready to be split. */
static void test_lookups(void **state)
{
	static const char text[] =
		"{\"$schema\": \"scenario-1.json\", \"title\": \"t\", \"world\": {\"folios\": ["
		"{\"id\": \"B\", \"pfn\": \"0x2000\", \"order\": 2, \"count\": 2},"
		"{\"id\": \"A\", \"pfn\": \"0x1000\", \"order\": 1}]},"
		"\"script\": [{\"do\": \"try_to_unmap_flush\"}]}";
	struct error err;
	struct scenario *s = scenario_load("w", text, strlen(text), &err);
	const struct mm_state *m;
	struct run run;

	(void)state;
	assert_non_null(s);
	assert_true(run_scenario(&run, s, RUN_COUNT, false, &err));
	m = run.lanes[0].m.s;
	assert_int_equal(m->nr_placed, 3);
	assert_int_equal(pfn_page(m, 0xfff), NONE);
	assert_int_equal(pfn_page(m, 0x1001), 1);
	assert_int_equal(pfn_page(m, 0x1002), NONE);
	assert_int_equal(pfn_page(m, 0x2007), 9);
	assert_int_equal(pfn_page(m, 0x2008), NONE);
	assert_int_equal(pfn_folio(m, 0x2003), 1);
	assert_int_equal(pfn_folio(m, 0x2008), NONE);
	assert_int_equal(page_folio(m, 7), 2);
	assert_int_equal(page_own_folio(m, 6), 2);
	assert_int_equal(page_own_folio(m, 1), 3);
	assert_int_equal(page_own_folio(m, 9), 9);
	for (u32 i = 0; i < m->nr[ARRAY_FOLIO]; i++) {
		assert_int_equal(page_own_folio(m, state_folio(m, i)->page), i);
		assert_int_equal(pfn_page(m, state_folio(m, i)->pfn), state_folio(m, i)->page);
		assert_int_equal(folio_exists(m, i), i < 3);
	}
	run_free(&run);
	scenario_free(s);
}

int main(void)
{
	struct CMUnitTest tests[NR_OF(cases) + 1];

	tests[NR_OF(cases)] = (struct CMUnitTest)cmocka_unit_test(test_lookups);
	for (u32 i = 0; i < NR_OF(cases); i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = test_refused,
						.initial_state = (void *)(uintptr_t)&cases[i] };
	return _cmocka_run_group_tests("worlds", tests, NR_OF(tests), NULL, NULL);
}
