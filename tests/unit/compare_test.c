/* SPDX-License-Identifier: GPL-2.0-only */
/* Where two lanes part, and what differs when both have ended: all that has a meaning, no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "arch/tlb.h"
#include "names.h"
#include "scenario/compare.h"
#include "trace/describe.h"

#define MAX_KEPT 64

/* Two lanes of a scenario that have run, and what compare_ends() says of them. */
struct pair {
	struct scenario *s;
	struct run run;
	struct difference kept[MAX_KEPT];
	u32 nr;
};

static void pair_open(struct pair *p, const char *name, const char *lanes)
{
	struct error err;

	p->s = scenario_open(name, &err);
	if (!p->s || !scenario_select_lanes(p->s, lanes, &err) ||
	    !run_scenario(&p->run, p->s, RUN_RECORD, false, &err))
		fail_msg("%s", err.text);
}

static void pair_close(struct pair *p)
{
	run_free(&p->run);
	scenario_free(p->s);
}

static void keep(void *ctx, const struct difference *d)
{
	struct pair *p = ctx;

	if (p->nr < MAX_KEPT)
		p->kept[p->nr] = *d;
	p->nr++;
}

static u32 compare(struct pair *p, u32 a, u32 b)
{
	const struct lane *lane[2] = { &p->run.lanes[a], &p->run.lanes[b] };
	struct names names = scenario_names(p->s);
	u32 nr;

	p->nr = 0;
	nr = compare_ends(lane, &names, keep, p);
	assert_int_equal(nr, p->nr);
	return nr;
}

static void assert_difference(const struct difference *d, const char *what, u32 nr,
			      const char *first, const char *second)
{
	assert_string_equal(d->what, what);
	assert_int_equal(d->nr, nr);
	assert_string_equal(d->value[0], first);
	assert_string_equal(d->value[1], second);
}

static void a_lane_is_like_itself(void **state)
{
	struct pair p;
	u32 tick;

	(void)state;
	pair_open(&p, "swapout-64k", "arm64/batched");
	assert_int_equal(compare(&p, 0, 0), 0);
	assert_true(lanes_part(&p.run, (const u32[]){ 0, 0 }, &tick));
	assert_int_equal(tick, 0);
	pair_close(&p);
}

static void they_part_where_the_run_begins(void **state)
{
	u32 lane[2] = { 0, 1 }, tick;
	struct pair p;

	(void)state;
	pair_open(&p, "swapout-64k", "arm64/unbatched,arm64/batched");
	assert_true(lanes_part(&p.run, lane, &tick));
	for (u32 i = 1; i < tick; i++)
		assert_true(lanes_agree(&p.run, lane, 2, i));
	assert_false(lanes_agree(&p.run, lane, 2, tick));
	for (u32 k = 0; k < 2; k++) {
		const struct step *step = trace_step(p.run.lanes[k].trace,
						     align_pos(p.run.align, tick, k) - 1);

		assert_int_equal(step->event, EV_unmap_batch);
		assert_int_equal(step->arg, k ? 16 : 1);
	}
	pair_close(&p);
}

static void success_differs_in_generations_alone(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, "swapout-64k", "x86_64/unbatched,x86_64/batched");
	assert_int_equal(compare(&p, 0, 1), 3);
	assert_difference(&p.kept[0], "mm app.tlb_gen", 1, "16", "1");
	assert_difference(&p.kept[1], "mm app.tlb_pending", 1, "16", "1");
	assert_difference(&p.kept[2], "cpu0.tlb_gen", 2, "16", "1");
	for (u32 i = 0; i < 3; i++)
		assert_true(p.kept[i].generation && p.kept[i].number);
	pair_close(&p);
}

static const struct difference *find(const struct pair *p, const char *what)
{
	for (u32 i = 0; i < p->nr && i < MAX_KEPT; i++)
		if (strcmp(p->kept[i].what, what) == 0)
			return &p->kept[i];
	fail_msg("nothing differs in %s", what);
	return NULL;
}

static void an_undone_unmap_is_told_in_runs(void **state)
{
	const struct difference *d;
	struct pair p;

	(void)state;
	pair_open(&p, "swapout-pinned", "arm64/unbatched,arm64/batched");
	compare(&p, 0, 1);
	assert_difference(find(&p, "folio A.refcount"), "folio A.refcount", 1, "28", "33");
	assert_difference(find(&p, "page A[0].anon_exclusive"), "page A[0].anon_exclusive", 5,
			  "0", "1");
	d = find(&p, "pte app 0x7f0000010000");
	assert_difference(d, "pte app 0x7f0000010000", 5, "0x0000000000200004",
			  "0x00f8000012340f43");
	assert_string_equal(d->text[0], "swap 0:0x200 excl");
	assert_string_equal(d->text[1], "pfn 0x12340 RW young dirty cont");
	d = find(&p, "pte app 0x7f0000015000");
	assert_difference(d, "pte app 0x7f0000015000", 11, "0x00e8000012345f43",
			  "0x00f8000012345f43");
	pair_close(&p);
}

/* One way or the other, arm64 and x86-64 say the same with different bits. */
static void architectures_are_compared_by_meaning(void **state)
{
	const struct pte_ops *ops;
	struct machine *m;
	struct pair p;
	u32 pte;

	(void)state;
	pair_open(&p, "swapout-64k", "arm64/batched,x86_64/batched");
	assert_int_equal(compare(&p, 0, 1), 0);
	m = &p.run.lanes[1].m;
	ops = m->arch->pte;
	pte = va_pte(m->s, 0, 0x7f0000012000);
	put64(m, &m->pte[pte], ops->swp_clear_exclusive(m->pte[pte]));
	assert_int_equal(compare(&p, 0, 1), 1);
	assert_string_equal(p.kept[0].what, "pte app 0x7f0000012000");
	assert_string_equal(p.kept[0].text[0], "swap 0:0x202 excl");
	assert_string_equal(p.kept[0].text[1], "swap 0:0x202 soft-dirty");
	put64(m, &m->pte[pte], ops->swp_mkexclusive(ops->swp_entry(0, 0x203)));
	assert_int_equal(compare(&p, 0, 1), 1);
	put64(m, &m->pte[pte], ops->mkwrite(ops->pfn_pte(0x12342, PAGE_READONLY)));
	assert_int_equal(compare(&p, 0, 1), 1);
	pair_close(&p);
}

static void present_entries_too(void **state)
{
	const u64 va = 0x7f0000010000;
	struct machine *m;
	struct pair p;

	(void)state;
	pair_open(&p, "swapout-readonly-pte", "arm64/unbatched,x86_64/unbatched");
	for (u32 k = 0; k < 2; k++) {
		m = &p.run.lanes[k].m;
		put64(m, &m->pte[va_pte(m->s, 0, va)],
		      m->arch->pte->mkclean(m->arch->pte->pfn_pte(0x12340, PAGE_READONLY)));
	}
	assert_int_equal(compare(&p, 0, 1), 0);
	put64(m, &m->pte[va_pte(m->s, 0, va)],
	      m->arch->pte->mkold(m->pte[va_pte(m->s, 0, va)]));
	assert_int_equal(compare(&p, 0, 1), 1);
	pair_close(&p);
}

static void huge_entries_too(void **state)
{
	struct machine *m;
	struct pair p;

	(void)state;
	pair_open(&p, "swapout-readonly-pte", "arm64/unbatched,x86_64/unbatched");
	for (u32 k = 0; k < 2; k++) {
		m = &p.run.lanes[k].m;
		put64(m, &m->table->pmd,
		      m->arch->pmd->mkclean(m->arch->pmd->pfn_pte(0x12400, PAGE_READONLY)));
	}
	assert_int_equal(compare(&p, 0, 1), 0);
	put64(m, &m->table->pmd, m->arch->pmd->mkinvalid(m->table->pmd));
	assert_int_equal(compare(&p, 0, 1), 1);
	assert_string_equal(p.kept[0].of, "pmd");
	assert_string_equal(p.kept[0].text[0], "huge pfn 0x12400 RO young clean");
	assert_string_equal(p.kept[0].text[1], "invalid huge pfn 0x12400 RO young clean");
	pair_close(&p);
}

/* What a CPU translates counts, not where in its TLB that stands nor in how many entries. */
static void tlbs_are_compared_page_by_page(void **state)
{
	struct tlb_entry first, *entry;
	struct machine *m;
	struct pair p;
	u32 nr;

	(void)state;
	pair_open(&p, "swapout-64k", "arm64/unbatched,x86_64/unbatched");
	for (u32 k = 0; k < 2; k++) {
		m = &p.run.lanes[k].m;
		for (u32 i = 0; i < 16; i++) {
			u32 pte = va_pte(m->s, 0, 0x7f0000010000 + i * 4096);

			put64(m, &m->pte[pte], m->arch->pte->mkyoung(
				m->arch->pte->pfn_pte(0x12340 + i, PAGE_SHARED)));
			tlb_fill(m, 1, pte);
		}
	}
	nr = m->cpu[1].nr_tlb;
	assert_int_equal(nr, 16);
	assert_int_equal(compare(&p, 0, 1), 0);
	entry = (struct tlb_entry *)(uintptr_t)&m->tlb[m->s->nr_tlb];
	first = entry[0];
	entry[0] = entry[7];
	entry[7] = first;
	assert_int_equal(compare(&p, 0, 1), 0);
	tlb_drop_range(m, 1, 0, 0x7f0000013000, 0x7f0000015000);
	assert_int_equal(compare(&p, 0, 1), 1);
	assert_difference(&p.kept[0], "tlb cpu1 app 0x7f0000013000", 2,
			  "pfn 0x12343 writable", "nothing");
	assert_int_equal(compare(&p, 1, 0), 1);
	assert_string_equal(p.kept[0].value[0], "nothing");
	pair_close(&p);
}

/* Change any one word that has a name: one difference, in it, unless it is of those left out. */
static void no_word_is_forgotten(void **state)
{
	static const char *const left_out[] = { "walk_", "madvise_", "phase", "folio", "page",
						"nr_pages", "run." };
	u32 changed = 0;
	struct pair p;
	struct machine *m;
	struct names names;

	(void)state;
	pair_open(&p, "swapout-4k", "x86_64/*");
	memcpy(p.run.lanes[1].words, p.run.lanes[0].words,
	       p.run.lanes[0].m.s->words * sizeof(u32));
	m = &p.run.lanes[1].m;
	names = scenario_names(p.s);
	assert_int_equal(compare(&p, 0, 1), 0);
	for (u32 word = m->s->at[ARRAY_CPU]; word < m->s->at[ARRAY_TLB]; word++) {
		struct word_info info;
		const char *field;
		u32 want = 1;

		if (!describe_word(m->s, &names, word, 1, &info))
			continue;
		field = strchr(info.what, '.');
		for (u32 i = 0; field && i < NR_OF(left_out); i++)
			if (strncmp(info.what, "task", 4) == 0 &&
			    strncmp(field + 1, left_out[i], strlen(left_out[i])) == 0)
				want = 0;
		if (field && strcmp(field, ".nr_tlb") == 0)
			continue;
		m->words[word] ^= 1;
		compare(&p, 0, 1);
		if (p.nr != want)
			fail_msg("%s: %u differences", info.what, p.nr);
		if (want)
			assert_string_equal(p.kept[0].what, info.what);
		m->words[word] ^= 1;
		changed += want;
	}
	assert_true(changed > 1000);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lane_is_like_itself),
		cmocka_unit_test(they_part_where_the_run_begins),
		cmocka_unit_test(success_differs_in_generations_alone),
		cmocka_unit_test(an_undone_unmap_is_told_in_runs),
		cmocka_unit_test(architectures_are_compared_by_meaning),
		cmocka_unit_test(present_entries_too),
		cmocka_unit_test(huge_entries_too),
		cmocka_unit_test(tlbs_are_compared_page_by_page),
		cmocka_unit_test(no_word_is_forgotten),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
