/* SPDX-License-Identifier: GPL-2.0-only */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "toy.h"
#include "trace/describe.h"

/* A step on the toy machine, with what the test has put, in words. */
static void assert_narrated(struct toy *toy, u32 page, u32 arg, const char *words,
			    const char *expected)
{
	struct cursor c;
	char text[256];

	step(&toy->m, EV_ptep_get, page, arg);
	assert_true(cursor_open(&c, toy->trace));
	cursor_seek(&c, UINT32_MAX);
	assert_string_equal(narrate_text(&c, &toy_names, words, text, sizeof(text)), expected);
	cursor_close(&c);
}

static int open_toy(void **state)
{
	struct toy *toy = malloc(sizeof(*toy));

	assert_non_null(toy);
	toy_open(toy);
	toy_record(toy);
	*state = toy;
	return 0;
}

static int close_toy(void **state)
{
	toy_close(*state);
	free(*state);
	return 0;
}

static void pages_and_counts(void **state)
{
	struct toy *toy = *state;

	assert_narrated(toy, 2, 16, "{page} is read {nr} times", "Page 2 of A is read 16 times.");
	assert_narrated(toy, 4, 1, "the PTE of {page}", "The PTE of page 0 of B.");
	assert_narrated(toy, NONE, 1, "the PTE of {page}", "The PTE of a page.");
	assert_narrated(toy, 2, 1, "{entries} or {pages}", "1 entry or 1 page.");
	assert_narrated(toy, 2, 3, "{entries} or {pages}", "3 entries or 3 pages.");
}

static void runs_and_their_verbs(void **state)
{
	struct toy *toy = *state;

	assert_narrated(toy, 1, 3, "{run} {is|are} gone", "Pages 1 to 3 of A are gone.");
	assert_narrated(toy, 1, 1, "{run} {is|are} gone", "Page 1 of A is gone.");
	assert_narrated(toy, NONE, 3, "{run} {is|are} gone", "A page are gone.");
}

static void folios_and_their_counts(void **state)
{
	struct toy *toy = *state;
	const struct task *task = toy->m.task;

	put(&toy->m, &toy->m.folio[0].refcount, 17);
	put(&toy->m, &toy->m.folio[0].mapcount, 3);
	assert_narrated(toy, 1, 0, "{folio}: {ref} and {map}", "A: 17 and 3.");
	put(&toy->m, &task->folio, 1);
	assert_narrated(toy, NONE, 0, "folio {folio}", "Folio B.");
	assert_narrated(toy, 1, 0, "folio {folio}", "Folio A.");
	put(&toy->m, &task->folio, NONE);
	assert_narrated(toy, NONE, 0, "folio {folio}", "Folio (none).");
}

static void cpus_slots_mms_and_operations(void **state)
{
	struct toy *toy = *state;

	assert_narrated(toy, NONE, 1, "{cpu} flushes", "CPU 1 flushes.");
	assert_narrated(toy, NONE, 16, "slot {slot} of {mm}", "Slot 0:0x10 of app.");
	assert_narrated(toy, NONE, 0, "now {op}!", "Now madvise_pageout!");
}

static void where_no_page_is_known(void **state)
{
	struct toy *toy = *state;
	const struct slot *slot = toy->m.slot;

	assert_narrated(toy, STEP_ENTRY | 3, 1, "the PTE of {page}", "The PTE of 0x203000.");
	put(&toy->m, &slot[7].count, 1);
	assert_narrated(toy, NONE, 1, "{its_slot} rises", "Slot 0:0x7 rises.");
	put(&toy->m, &slot[7].count, 0);
	assert_narrated(toy, 2, 1, "{its_slot} falls", "The slot of page 2 of A falls.");
	assert_narrated(toy, NONE, 1, "{its_slot} cannot rise", "The slot of a page cannot rise.");
}

static void one_changed_entry_is_shown(void **state)
{
	struct toy *toy = *state;
	const u64 *pte = toy->m.pte;

	put64(&toy->m, &pte[0], 0x00e8000012340f43);
	assert_narrated(toy, 0, 1, "written", "Written: 0 -> 0x00e8000012340f43.");
	put64(&toy->m, &pte[0], 0);
	assert_narrated(toy, 0, 1, "was {old}, is {new}", "Was 0x00e8000012340f43, is 0.");
	put64(&toy->m, &pte[0], 1);
	put64(&toy->m, &pte[1], 1);
	assert_narrated(toy, 0, 2, "written", "Written.");
	/* in two goes, the other half last: one change */
	put64(&toy->m, &pte[0], 5);
	put(&toy->m, &toy->m.page[0].mapcount, 7);
	put64(&toy->m, &pte[0], 1ull << 32);
	assert_narrated(toy, 0, 1, "written", "Written: 0x0000000000000001 -> 0x0000000100000000.");
	put64(&toy->m, &toy->m.table[0].pmd, 0x00e8000012400f41);
	put(&toy->m, &toy->m.table[0].populated, 7);
	assert_narrated(toy, 0, 1, "written", "Written: 0 -> 0x00e8000012400f41.");
}

static void a_question_stays_one(void **state)
{
	struct toy *toy = *state;

	put64(&toy->m, &toy->m.pte[0], 3);
	assert_narrated(toy, 3, 0, "does it map {page}?", "Does it map page 3 of A?");
}

static void an_unknown_hole_shows(void **state)
{
	struct toy *toy = *state;

	assert_narrated(toy, 3, 0, "a {hole} and {page", "A {hole} and {page.");
}

static void nothing_has_happened(void **state)
{
	struct toy *toy = *state;
	struct cursor c;
	char text[64];

	assert_true(cursor_open(&c, toy->trace));
	assert_string_equal(narrate(&c, &toy_names, text, sizeof(text)),
			    "Nothing has happened yet.");
	assert_string_equal(narrate_why(&c), "");
	cursor_close(&c);
}

/* The texts of an event on a machine of that kind. */
static struct wording wording_on(struct toy *toy, const char *kernel, const struct arch *arch,
				 u32 features, enum event event)
{
	toy->m.kernel = kernel_find(kernel);
	toy->m.arch = arch;
	toy->m.features = features;
	assert_true(trace_again(toy->trace, &toy->m));
	step(&toy->m, event, 0, 1);
	return trace_wording(toy->trace, trace_step(toy->trace, trace_last(toy->trace) - 1));
}

static void texts_follow_kernel_and_architecture(void **state)
{
	struct toy *toy = *state;
	const u32 bbml3 = 1u << FEATURE_bbml3;

	assert_non_null(strstr(wording_on(toy, "7.3", &arm64_arch, 0, EV_contpte_ptep_get).text,
			       "until both are known"));
	assert_non_null(strstr(wording_on(toy, "6.16", &arm64_arch, 0, EV_contpte_ptep_get).text,
			       "all of them are read"));
	assert_non_null(strstr(wording_on(toy, "7.3", &arm64_arch, 0, EV_contpte_convert).why,
			       "flush"));
	assert_non_null(strstr(wording_on(toy, "7.3", &arm64_arch, bbml3, EV_contpte_convert).why,
			       "no flush"));
	assert_null(strstr(wording_on(toy, "6.12", &arm64_arch, bbml3, EV_contpte_convert).why,
			   "no flush"));
	assert_non_null(strstr(wording_on(toy, "7.3", &x86_arch, 0, EV_exit_mmap).why,
			       "no exchange"));
	assert_null(strstr(wording_on(toy, "7.3", &arm64_arch, 0, EV_exit_mmap).why,
			   "no exchange"));
}

/* Every text of the tables, whatever its arguments. */
static void assert_sentences(struct toy *toy)
{
	static const u32 pages[] = { 0, 3, 4, NONE, 1000, STEP_ENTRY | 5 };
	const u32 first = trace_last(toy->trace);
	struct cursor c;
	char text[512];

	for (u32 e = 0; e < NR_EVENTS; e++)
		for (u32 i = 0; i < NR_OF(pages); i++)
			step(&toy->m, (enum event)e, pages[i], i);
	assert_true(cursor_open(&c, toy->trace));
	for (u32 pos = first + 1; pos <= first + NR_EVENTS * NR_OF(pages); pos++) {
		size_t len;

		cursor_seek(&c, pos);
		narrate(&c, &toy_names, text, sizeof(text));
		len = strlen(text);
		if (len < 8 || strpbrk(text, "{}") || islower((unsigned char)text[0]) ||
		    !strchr(".?!", text[len - 1]) || strstr(text, ".."))
			fail_msg("%s: %s", event_info[cursor_step(&c)->event].name, text);
		assert_non_null(narrate_why(&c));
	}
	cursor_close(&c);
}

static void every_event_is_a_sentence(void **state)
{
	struct toy *toy = *state;

	for (u32 k = 0; k < nr_kernels; k++) {
		for (u32 a = 0; a < nr_archs; a++) {
			toy->m.kernel = &kernels[k];
			toy->m.arch = archs[a];
			assert_true(trace_again(toy->trace, &toy->m));
			assert_sentences(toy);
		}
	}
}

static void a_small_buffer_is_enough(void **state)
{
	struct toy *toy = *state;
	struct cursor c;
	char text[64];

	step(&toy->m, EV_pte_cleared, 2, 1);
	assert_true(cursor_open(&c, toy->trace));
	cursor_seek(&c, 1);
	for (size_t size = 1; size < sizeof(text); size++) {
		memset(text, '#', sizeof(text));
		narrate(&c, &toy_names, text, size);
		assert_int_equal(text[size], '#');
		assert_true(strlen(text) < size);
	}
	cursor_close(&c);
}

/* --- what a step changed -------------------------------------------------- */

static void note(void *ctx, const struct change *change)
{
	char *text = ctx;
	size_t at = strlen(text);

	snprintf(text + at, 2048 - at, change->number ? "%s: %s > %s\n" : "%s: '%s' > '%s'\n",
		 change->what, change->old, change->new);
}

static void assert_changes(struct toy *toy, const char *expected)
{
	char text[2048] = "";
	struct cursor c;

	step(&toy->m, EV_pte_set, 0, 1);
	assert_true(cursor_open(&c, toy->trace));
	cursor_seek(&c, UINT32_MAX);
	describe_step(&c, &toy_names, note, text);
	assert_string_equal(text, expected);
	cursor_close(&c);
}

static void changes_have_names(void **state)
{
	struct toy *toy = *state;
	struct machine *m = &toy->m;

	put(m, &m->folio[0].refcount, 5);
	put(m, &m->folio[0].flags, 1u << PG_locked | 1u << PG_dirty);
	put(m, &m->folio[1].swap, 0x10);
	put(m, &m->folio[1].list, LIST_FREE);
	put(m, &m->page[2].mapcount, 1);
	put64(m, &m->pte[3], 0x100000000);
	put(m, &m->slot[0x1f].count, 1);
	put(m, &m->slot[0x1f].kind, SLOT_SHADOW);
	assert_changes(toy, "folio A.refcount: 4 > 5\n"
			    "folio A.flags: '-' > 'locked dirty'\n"
			    "folio B.swap: '0:0x0' > '0:0x10'\n"
			    "folio B.list: 'inactive_anon' > 'free_folios'\n"
			    "page A[2].mapcount: 0 > 1\n"
			    "pte app 0x203000: '0x0' > '0x100000000'\n"
			    "slot 0:0x1f.count: 0 > 1\n"
			    "slot 0:0x1f.kind: 'free' > 'shadow'\n");
	put(m, &m->mm[0].anonpages, 9);
	put(m, &m->task->ubc_writable, 1);
	put(m, &m->task->page, 3);
	put(m, &m->task->folio, 0);
	put(m, &m->task->phase, PHASE_unmap);
	put(m, &m->task->walk_pte, 1);
	put64(m, &m->cpu[1].tlb_gen, 2);
	put64(m, &m->tlb[8 + 3].va, 0x203000);
	put(m, &m->tlb[8 + 3].flags, TLB_WRITABLE | TLB_DIRTY);
	put64(m, &m->tlb[8 + 3].invalidated_by, 3);
	put(m, &m->device[0].next[4], 0x20);
	put(m, &m->cluster[0].locked, 1);
	put(m, &m->s->list[LIST_NODE].nr, 1);
	put(m, &m->s->op, 1);
	put(m, &m->table[0].populated, 7);
	count(m, COUNT_pte_read, 1);
	assert_changes(toy, "mm app.anonpages: 0 > 9\n"
			    "task0.ubc_writable: 0 > 1\n"
			    "task0.page: 'none' > 'A[3]'\n"
			    "task0.folio: 'none' > 'A'\n"
			    "task0.phase: 'start' > 'unmap'\n"
			    "task0.walk_pte: 'app 0x200000' > 'app 0x201000'\n"
			    "cpu1.tlb_gen: 0 > 2\n"
			    "tlb cpu1[3].va: '0x0' > '0x203000'\n"
			    "tlb cpu1[3].flags: '-' > 'writable dirty'\n"
			    "tlb cpu1[3].invalidated_by: '-' > 'cpu0 cpu1'\n"
			    "device zram0.next[4]: '0x0' > '0x20'\n"
			    "cluster zram0:0.locked: 0 > 1\n"
			    "list node_folio_list.nr: 0 > 1\n"
			    "op: 0 > 1\n"
			    "table app 0x200000.populated: 0 > 7\n"
			    "count.pte_read: 0 > 1\n");
}

static void who_waits_and_who_locks_has_a_name(void **state)
{
	struct toy *toy = *state;

	put(&toy->m, &toy->m.mm[0].mmap_lock, MMAP_WRITE_LOCKED);
	put(&toy->m, &toy->m.task->fault_op, NONE);
	assert_changes(toy, "mm app.mmap_lock: '0' > 'writer'\n"
			    "task0.fault_op: '0' > 'none'\n");
}

static void both_halves_are_one_change(void **state)
{
	struct toy *toy = *state;

	put64(&toy->m, &toy->m.pte[0], 0x100000002);
	assert_changes(toy, "pte app 0x200000: '0x0' > '0x100000002'\n");
	put64(&toy->m, &toy->m.s->count[COUNT_ref_op], 1ull << 32);
	assert_changes(toy, "count.ref_op: 0 > 4294967296\n");
}

/* No word that can change is without a name, and a field's halves share one. */
static void every_word_has_a_name(void **state)
{
	struct toy *toy = *state;
	const struct mm_state *s = toy->m.s;
	u32 pad = 0;

	for (u32 w = offsetof(struct mm_state, cpu) / sizeof(u32); w < s->words; w++) {
		struct word_info info, other;

		if (!describe_word(s, &toy_names, w, UINT32_MAX, &info)) {
			pad++;
			continue;
		}
		assert_true(info.what[0] != 0);
		assert_true(info.word == w || (info.is64 && info.word == w - 1));
		if (info.word != w) {
			assert_true(describe_word(s, &toy_names, info.word, UINT32_MAX, &other));
			assert_string_equal(other.what, info.what);
		}
	}
	/* fillers: cpu, mm and folio have one each, lists may; what swap_device tells nobody */
	assert_true(pad <= 2 + 1 + 2 + NR_ARRAYS + 1 + 2);
}

#define TOY_TEST(test) cmocka_unit_test_setup_teardown(test, open_toy, close_toy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TOY_TEST(pages_and_counts),
		TOY_TEST(runs_and_their_verbs),
		TOY_TEST(folios_and_their_counts),
		TOY_TEST(cpus_slots_mms_and_operations),
		TOY_TEST(where_no_page_is_known),
		TOY_TEST(one_changed_entry_is_shown),
		TOY_TEST(a_question_stays_one),
		TOY_TEST(an_unknown_hole_shows),
		TOY_TEST(nothing_has_happened),
		TOY_TEST(texts_follow_kernel_and_architecture),
		TOY_TEST(every_event_is_a_sentence),
		TOY_TEST(a_small_buffer_is_enough),
		TOY_TEST(changes_have_names),
		TOY_TEST(who_waits_and_who_locks_has_a_name),
		TOY_TEST(both_halves_are_one_change),
		TOY_TEST(every_word_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
