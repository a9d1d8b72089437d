/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reference runs T7 and T12: a lazyfree folio of 16 pages and a lazyfree THP, clean and
 * written to again, station by station. The values follow from the kernel's rules; between two
 * stations what always holds says that nothing else is ever seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small.h"

#define VA  "0x7f0000010000"
#define THP "0x7f0000200000"
#define LANE(arch, kernel)								\
	"{\"arch\": \"" arch "\", \"path\": \"" kernel "\", \"kernel\": \"" kernel "\"}"
#define BOTH(kernel) LANE("arm64", kernel) "," LANE("x86_64", kernel)
#define AT(event, that)	 "{\"at\": {\"event\": \"" event "\"}, \"that\": \"" that "\"}"
#define ALWAYS(that)	 "{\"at\": \"always\", \"that\": \"" that "\"}"
#define NEVER(that)	 "{\"at\": \"never\", \"that\": \"" that "\"}"
#define APP		 "\"mms\": [{\"id\": \"app\", \"ran_on\": \"0..1\"}],"
#define FOLIO(id, order) "\"folios\": [{\"id\": \"" id "\", \"order\": " order ","		\
			 " \"fill\": \"data\", \"lazyfree\": true, \"isolated\": true}],"
#define RECLAIM		 "{\"do\": \"reclaim_folio_list\"}"
#define MAP(va, more)	 "{\"mm\": \"app\", \"folio\": \"A\", \"va\": \"" va "\"" more "}"
#define NONE_LEFT	 "empty(app, " VA ", 16) == 16"
#define ALL_THERE	 "present(app, " VA ", 16) == 16"
#define HUGE_DIRTY	 "pmd_dirty(app, " THP ")"
#define CLEAN		 ", \"young\": false, \"dirty\": false"
#define WRITTEN		 ", \"young\": false"
#define COUNTS(ref, map, anon)								\
	"refcount(A) == " ref " && mapcount(A) == " map " && anonpages(app) == " anon

/* One batch: from 6.15 on. */
static const struct small runs[] = {
	{ .name = "T7 clean",
	  .lanes = BOTH("7.3") "," BOTH("7.3-rc7") "," BOTH("6.16"),
	  .world = APP FOLIO("A", "4") "\"maps\": [" MAP(VA, CLEAN) "]",
	  .script = RECLAIM,
	  .expect = { AT("unmap_batch", COUNTS("17", "16", "16") " && " ALL_THERE),
		      AT("refcount_read", COUNTS("17", "16", "16") " && " NONE_LEFT),
		      AT("refcount_alone", "refcount(A) == 1 + mapcount(A) && !flag(A, dirty)"),
		      AT("mm_counter", COUNTS("17", "16", "0")),
		      AT("mapcount_removed", COUNTS("17", "0", "0") " && nr_pages_mapped(A) == 0"),
		      AT("folio_put_refs", COUNTS("1", "0", "0")),
		      AT("folio_ref_frozen", "refcount(A) == 0 && flag(A, locked)"),
		      "refcount(A) == 0 && count(folio_freed) == 1 && " NONE_LEFT,
		      ALWAYS("mapcount(A) == 0 || mapcount(A) == 16 && refcount(A) == 17"),
		      NEVER("flag(A, swapbacked) || flag(A, dirty) || swapcache(A)"
			    " || flag(A, deferred_list)"),
		      "inuse(zram0) == 0 && swapents(app) == 0 && count(smp_mb) == 1" } },
	{ .name = "T7 dirty at PTE 3",
	  .lanes = BOTH("7.3") "," BOTH("7.3-rc7") "," BOTH("6.16"),
	  .world = APP FOLIO("A", "4")
		   "\"maps\": [" MAP(VA, ", \"pages\": \"0..2\"" CLEAN ", \"fold\": false") ","
		   MAP("0x7f0000013000", ", \"pages\": \"3\"" WRITTEN ", \"fold\": false") ","
		   MAP("0x7f0000014000", ", \"pages\": \"4..15\"" CLEAN ", \"fold\": false") "]",
	  .script = RECLAIM,
	  .expect = { AT("unmap_batch", "dirty(app, " VA ", 16) == 1 && !flag(A, dirty)"),
		      AT("folio_dirty_set", "flag(A, dirty) && " NONE_LEFT),
		      AT("refcount_read", COUNTS("17", "16", "16")),
		      AT("lazyfree_redirtied", "!flag(A, swapbacked) && " NONE_LEFT),
		      AT("unmap_restored", ALL_THERE " && dirty(app, " VA ", 16) == 16"),
		      ALWAYS("mapcount(A) == 16 && anonpages(app) == 16"),
		      NEVER("flag(A, deferred_list) || swapcache(A)"),
		      COUNTS("16", "16", "16") " && flag(A, swapbacked) && flag(A, dirty)",
		      "flag(A, active) && count(folio_freed) == 0 && count(rmap_remove) == 0" } },
	{ .name = "T12 whole, written to again",
	  .lanes = BOTH("7.3-rc7") "," BOTH("6.16"),
	  .world = APP FOLIO("A", "9") "\"maps\": [" MAP(THP, WRITTEN ", \"pmd\": true") "]",
	  .script = RECLAIM,
	  .expect = { AT("pmd_dirty_read", COUNTS("2", "1", "512") " && flag(A, dirty)"),
		      AT("folio_swapbacked_set", COUNTS("2", "1", "512") " && " HUGE_DIRTY),
		      ALWAYS("mapcount(A) == 1 && entire_mapcount(A) == 1 && " HUGE_DIRTY),
		      COUNTS("1", "1", "512") " && flag(A, swapbacked) && flag(A, active)",
		      "count(tlb_flush) == 0 && count(pmd_xchg) == 0 && count(pte_store) == 0" } },
	{ .name = "T12 split, written to again",
	  .lanes = BOTH("7.3"),
	  .world = APP FOLIO("A", "9") "\"maps\": [" MAP(THP, WRITTEN ", \"pmd\": true") "]",
	  .script = RECLAIM,
	  .expect = { AT("pmd_invalidated", COUNTS("2", "1", "512") " && !flag(A, dirty)"),
		      AT("folio_dirty_set", "flag(A, dirty) && count(tlb_flush) == 1"),
		      AT("split_pmd_refs", COUNTS("513", "1", "512")),
		      AT("mapcount_added", COUNTS("513", "513", "512")),
		      AT("mapcount_removed", COUNTS("513", "512", "512")
			 " && dirty(app, " THP ", 512) == 512"),
		      AT("lazyfree_redirtied", "empty(app, " THP ", 512) == 512"
					       " && refcount(A) == 513"),
		      NEVER("anonpages(app) != 512"),
		      COUNTS("512", "512", "512") " && entire_mapcount(A) == 0",
		      "flag(A, swapbacked) && dirty(app, " THP ", 512) == 512",
		      "count(pmd_split) == 1 && pmd(app, " THP ") == 0" } },
	{ .name = "T12 split, then page by page",
	  .lanes = BOTH("6.11") "," BOTH("6.12") "," BOTH("6.14"),
	  .world = APP FOLIO("A", "9") "\"maps\": [" MAP(THP, WRITTEN ", \"pmd\": true") "]",
	  .script = RECLAIM,
	  .expect = { AT("split_pmd_refs", COUNTS("513", "1", "512") " && flag(A, dirty)"),
		      AT("lazyfree_redirtied", "present(app, " THP ", 512) == 511"),
		      NEVER("anonpages(app) != 512"),
		      COUNTS("512", "512", "512") " && entire_mapcount(A) == 0",
		      "flag(A, swapbacked) && dirty(app, " THP ", 512) == 512",
		      "count(pmd_split) == 1 && count(rmap_remove) == 0" } },
	{ .name = "T12 whole, clean",
	  .lanes = BOTH("7.3-rc7") "," BOTH("6.16") "," BOTH("6.14") "," BOTH("6.11"),
	  .world = APP FOLIO("A", "9") "\"maps\": [" MAP(THP, CLEAN ", \"pmd\": true") "]",
	  .script = RECLAIM,
	  .expect = { AT("pmd_cleared", COUNTS("2", "1", "512") " && pmd(app, " THP ") == 0"),
		      AT("refcount_read", COUNTS("2", "1", "512") " && count(tlb_flush) == 1"),
		      AT("mapcount_removed", COUNTS("2", "0", "512")),
		      AT("mm_counter", COUNTS("2", "0", "0")),
		      AT("folio_ref_frozen", "refcount(A) == 0"),
		      NEVER("flag(A, swapbacked) || flag(A, partially_mapped) || mapcount(A) > 1"),
		      "refcount(A) == 0 && count(folio_freed) == 1 && count(pmd_split) == 0",
		      "empty(app, " THP ", 512) == 512 && count(tlb_flush) == 1" } },
};

static void test_runs(void **state)
{
	(void)state;
	for (u32 i = 0; i < NR_OF(runs); i++)
		small_run(runs + i);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_runs) };

	return cmocka_run_group_tests_name("T7 and T12", tests, NULL, NULL);
}
