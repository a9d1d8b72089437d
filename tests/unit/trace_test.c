/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "toy.h"

#define NR_STEPS 3000u

/* A recorded run, and what the state was after each step. */
struct run {
	struct toy toy;
	u32 nr_steps;
	size_t bytes;		/* of a state */
	unsigned char *states;	/* (nr_steps + 1) of them */
};

static const void *state_then(const struct run *run, u32 pos)
{
	return run->states + pos * run->bytes;
}

static void remember(struct run *run, u32 pos)
{
	memcpy(run->states + pos * run->bytes, run->toy.words, run->bytes);
}

static void run_open(struct run *run, u32 nr_steps)
{
	toy_open(&run->toy);
	run->nr_steps = nr_steps;
	run->bytes = run->toy.m.s->words * sizeof(u32);
	run->states = malloc((nr_steps + 1) * run->bytes);
	assert_non_null(run->states);
	toy_record(&run->toy);
	remember(run, 0);
}

static void run_close(struct run *run)
{
	toy_close(&run->toy);
	free(run->states);
}

static void run_random(struct run *run, u32 nr_steps)
{
	run_open(run, nr_steps);
	for (u32 i = 0; i < nr_steps; i++) {
		toy_random_step(&run->toy);
		remember(run, i + 1);
	}
	trace_end(run->toy.trace);
	assert_int_equal(trace_nr_steps(run->toy.trace), nr_steps);
}

static void assert_seek(const struct run *run, struct cursor *c, u32 pos)
{
	cursor_seek(c, pos);
	assert_int_equal(c->pos, pos);
	assert_memory_equal(c->live, state_then(run, pos), run->bytes);
}

static void stepping_forward_and_back(void **state)
{
	struct run run;
	struct cursor c;

	(void)state;
	run_random(&run, NR_STEPS);
	assert_true(cursor_open(&c, run.toy.trace));
	assert_memory_equal(c.live, trace_start(run.toy.trace), run.bytes);
	for (u32 i = 0; i <= NR_STEPS; i++)
		assert_seek(&run, &c, i);
	for (u32 i = NR_STEPS + 1; i-- > 0;)
		assert_seek(&run, &c, i);
	cursor_close(&c);
	run_close(&run);
}

static void random_seeks(void **state)
{
	struct run run;
	struct cursor c;

	(void)state;
	run_random(&run, NR_STEPS);
	assert_true(cursor_open(&c, run.toy.trace));
	for (u32 i = 0; i < 1000; i++)
		assert_seek(&run, &c, toy_random(&run.toy, NR_STEPS + 1));
	cursor_seek(&c, UINT32_MAX);
	assert_int_equal(c.pos, NR_STEPS);
	assert_memory_equal(c.live, run.toy.words, run.bytes);
	cursor_close(&c);
	run_close(&run);
}

/* A cursor may look while more is recorded. */
static void seek_while_recording(void **state)
{
	struct run run;
	struct cursor c;

	(void)state;
	run_open(&run, NR_STEPS);
	assert_true(cursor_open(&c, run.toy.trace));
	for (u32 i = 0; i < NR_STEPS; i++) {
		toy_random_step(&run.toy);
		remember(&run, i + 1);
		if (i % 7 == 0)
			assert_seek(&run, &c, toy_random(&run.toy, i + 2));
	}
	cursor_close(&c);
	run_close(&run);
}

static void steps_keep_their_arguments(void **state)
{
	struct toy toy;

	(void)state;
	toy_open(&toy);
	toy_record(&toy);
	for (u32 i = 0; i < 10000; i++)
		step(&toy.m, (enum event)(i % NR_EVENTS), i ^ 0x55, 3 * i);
	trace_end(toy.trace);
	for (u32 i = 0; i < 10000; i++) {
		const struct step *s = trace_step(toy.trace, i);

		assert_int_equal(s->event, i % NR_EVENTS);
		assert_int_equal(s->page, i ^ 0x55);
		assert_int_equal(s->arg, 3 * i);
	}
	toy_close(&toy);
}

static void changed_fields(void **state)
{
	struct run run;
	struct cursor c;

	(void)state;
	run_random(&run, NR_STEPS);
	assert_true(cursor_open(&c, run.toy.trace));
	for (u32 pos = 1; pos <= NR_STEPS; pos += 13) {
		const u32 *before = state_then(&run, pos - 1);
		u32 nr, old, changed = 0;
		u64 old64;

		cursor_seek(&c, pos);
		for (u32 w = 0; w < c.live->words; w++) {
			bool differs = before[w] != c.words[w];

			changed += differs;
			assert_int_equal(cursor_changed(&c, &c.words[w], &old), differs);
			assert_int_equal(old, before[w]);
			assert_int_equal(cursor_changed_any(&c, &c.words[w], sizeof(u32)), differs);
		}
		trace_deltas(run.toy.trace, pos - 1, &nr);
		assert_int_equal(nr, changed);
		for (u32 i = 0; i < 512; i++) {
			const u64 *pte = state_pte(c.live, i);
			u64 pte_before = *state_pte(state_then(&run, pos - 1), i);

			assert_int_equal(cursor_changed64(&c, pte, &old64), *pte != pte_before);
			assert_true(old64 == pte_before);
		}
	}
	cursor_seek(&c, 0);
	assert_null(cursor_step(&c));
	assert_false(cursor_changed(&c, &c.live->cpu, NULL));
	assert_false(cursor_changed_any(&c, c.live, run.bytes));
	assert_int_equal(cursor_path(&c)->nr, 0);
	cursor_close(&c);
	run_close(&run);
}

static void a_range_has_an_end(void **state)
{
	struct toy toy;
	struct cursor c;

	(void)state;
	toy_open(&toy);
	toy_record(&toy);
	put(&toy.m, &toy.m.page[2].mapcount, 7);
	step(&toy.m, EV_ptep_get, 2, 0);
	trace_end(toy.trace);
	assert_true(cursor_open(&c, toy.trace));
	cursor_seek(&c, 1);
	assert_true(cursor_changed_any(&c, state_page(c.live, 2), sizeof(struct page)));
	assert_true(cursor_changed_any(&c, state_page(c.live, 0), 3 * sizeof(struct page)));
	assert_false(cursor_changed_any(&c, state_page(c.live, 0), 2 * sizeof(struct page)));
	assert_false(cursor_changed_any(&c, state_page(c.live, 3), sizeof(struct page)));
	cursor_close(&c);
	toy_close(&toy);
}

static void back_at_the_old_value_is_no_change(void **state)
{
	struct toy toy;
	u32 nr;

	(void)state;
	toy_open(&toy);
	toy_record(&toy);
	put(&toy.m, &toy.m.page[0].mapcount, 5);
	put(&toy.m, &toy.m.page[1].mapcount, 6);
	put(&toy.m, &toy.m.page[0].mapcount, 0);
	step(&toy.m, EV_ptep_get, 0, 0);
	trace_end(toy.trace);
	assert_int_equal(trace_deltas(toy.trace, 0, &nr)->xor, 6);
	assert_int_equal(nr, 1);
	toy_close(&toy);
}

/* Some 3,000 deltas: two such steps do not always fit in what is left of a chunk. */
static void change_all_slots(struct machine *m, u32 value)
{
	for (u32 i = 0; i < m->s->nr[ARRAY_SLOT]; i++) {
		put(m, &m->slot[i].folio, value + i);
		put(m, &m->slot[i].kind, value);
		put(m, &m->slot[i].count, value * i + 1);
		put(m, &m->slot[i].zero, value ^ i);
	}
	for (u32 i = 0; i < m->s->nr[ARRAY_PTE]; i++)
		put64(m, &m->pte[i], (u64)(value + i) << 32 | (i ^ value));
}

static void large_steps_among_small_ones(void **state)
{
	struct run run;
	struct cursor c;

	(void)state;
	run_open(&run, 400);
	for (u32 i = 0; i < 400; i++) {
		if (toy_random(&run.toy, 10) == 0) {
			change_all_slots(&run.toy.m, i);
			step(&run.toy.m, EV_ptep_get, NONE, 0);
		} else {
			toy_random_step(&run.toy);
		}
		remember(&run, i + 1);
	}
	trace_end(run.toy.trace);
	assert_true(cursor_open(&c, run.toy.trace));
	for (u32 i = 0; i < 2000; i++)
		assert_seek(&run, &c, toy_random(&run.toy, 401));
	cursor_close(&c);
	run_close(&run);
}

/* More deltas in one step than a chunk of storage has room for. */
static void a_step_larger_than_a_chunk(void **state)
{
	enum { WORDS = 80000 };
	u32 *words = calloc(WORDS, sizeof(u32));
	struct mm_state *shape = (struct mm_state *)(void *)words;
	struct machine m = { .steps = 0 };
	struct trace *t;
	struct cursor c;
	u32 *before;

	(void)state;
	assert_non_null(words);
	shape->nr[ARRAY_TASK] = 1;
	shape->nr[ARRAY_PAGE] = 18000;
	state_layout(shape);
	assert_true(shape->words <= WORDS);
	machine_attach(&m, words);
	before = malloc(shape->words * sizeof(u32));
	assert_non_null(before);
	memcpy(before, words, shape->words * sizeof(u32));
	t = trace_new(&m);
	assert_non_null(t);
	for (u32 round = 1; round <= 3; round++) {
		for (u32 i = 0; i < 100 * round; i++) {
			put(&m, &m.page[i].mapcount, 100 + round);
			trace_record(t, EV_ptep_get, i, round, NULL);
		}
		/* straight to the journal: put() would look for each word among all others */
		for (u32 i = 0; i < 18000; i++) {
			u32 word = m.s->at[ARRAY_PAGE] + 2 * i + 1;

			m.words[word] ^= round + i;
			if (m.journal->nr == m.journal->max)
				m.journal->grow(m.journal);
			m.journal->delta[m.journal->nr++] = (struct delta){ word, round + i };
		}
		trace_record(t, EV_pte_set, NONE, round, NULL);
	}
	trace_end(t);
	assert_true(cursor_open(&c, t));
	cursor_seek(&c, 603);
	assert_memory_equal(c.live, words, shape->words * sizeof(u32));
	for (u32 i = 603; i-- > 0;)
		cursor_seek(&c, i);
	assert_memory_equal(c.live, before, shape->words * sizeof(u32));
	cursor_close(&c);
	trace_free(t);
	free(before);
	free(words);
}

static u64 nr_deltas(const struct trace *t)
{
	u64 sum = 0;
	u32 nr;

	for (u32 i = 0; i < trace_nr_steps(t); i++) {
		trace_deltas(t, i, &nr);
		sum += nr;
	}
	return sum;
}

static void keyframes_by_the_rule(void **state)
{
	struct run run;
	u64 state_deltas, nr;

	(void)state;
	run_random(&run, 50000);
	state_deltas = run.bytes / sizeof(struct delta);
	nr = trace_nr_keyframes(run.toy.trace);
	/* first, one whenever four states' worth of deltas have passed, last if that is far */
	assert_in_range(nr, 3, 2 + nr_deltas(run.toy.trace) / (4 * state_deltas));
	assert_true(nr * (4 * state_deltas + 6) >= nr_deltas(run.toy.trace));
	run_close(&run);
}

static void bytes_per_step(void **state)
{
	struct toy toy;
	const u32 nr = 200000;

	(void)state;
	toy_open(&toy);
	toy_record(&toy);
	for (u32 i = 0; i < nr; i++) {
		put(&toy.m, &toy.m.page[i % 5].mapcount, i);
		count(&toy.m, COUNT_pte_read, 1);
		if (i & 1)
			put(&toy.m, &toy.m.folio[0].refcount, i);
		step(&toy.m, EV_ptep_get, i % 5, 1);
	}
	trace_end(toy.trace);
	print_message("%.1f bytes a step with %.1f deltas a step\n",
		      (double)trace_bytes(toy.trace) / nr,
		      (double)nr_deltas(toy.trace) / nr);
	assert_true(trace_bytes(toy.trace) <= 48 * (size_t)nr);
	toy_close(&toy);
}

static void what_follows_the_last_step(void **state)
{
	for (u32 nr_steps = 0; nr_steps < 200; nr_steps += 19) {
		struct run run;
		struct cursor c;

		(void)state;
		run_open(&run, nr_steps);
		for (u32 i = 0; i < nr_steps; i++) {
			toy_random_step(&run.toy);
			remember(&run, i + 1);
		}
		change_all_slots(&run.toy.m, 77);
		put(&run.toy.m, &run.toy.m.page[0].mapcount, 9);
		trace_end(run.toy.trace);
		remember(&run, nr_steps);
		assert_null(run.toy.m.journal);
		assert_int_equal(trace_nr_steps(run.toy.trace), nr_steps);
		assert_true(cursor_open(&c, run.toy.trace));
		for (u32 i = 0; i <= nr_steps; i++)
			assert_seek(&run, &c, i);
		for (u32 i = nr_steps + 1; i-- > 0;)
			assert_seek(&run, &c, i);
		cursor_close(&c);
		run_close(&run);
	}
}

/* Tools that share the process's memory with it cannot live under a tight limit. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif

static bool under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

static void out_of_memory_leaves_a_beginning(void **state)
{
	struct rlimit unlimited, tight;
	struct cursor c;
	struct toy toy;
	u32 recorded;

	(void)state;
	if (HAS_ASAN || under_valgrind())
		skip();
	toy_open(&toy);
	toy_record(&toy);
	for (u32 i = 0; i < 100; i++)
		toy_random_step(&toy);
	assert_int_equal(getrlimit(RLIMIT_AS, &unlimited), 0);
	tight = unlimited;
	tight.rlim_cur = 1;
	assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
	for (u32 i = 0; i < 10000000 && !trace_oom(toy.trace); i++)
		toy_random_step(&toy);
	assert_int_equal(setrlimit(RLIMIT_AS, &unlimited), 0);
	assert_true(trace_oom(toy.trace));
	recorded = trace_nr_steps(toy.trace);
	for (u32 i = 0; i < 100; i++)
		toy_random_step(&toy);
	change_all_slots(&toy.m, 5);
	trace_end(toy.trace);
	assert_int_equal(trace_nr_steps(toy.trace), recorded);
	assert_true(recorded >= 100);
	assert_true(cursor_open(&c, toy.trace));
	cursor_seek(&c, recorded);
	cursor_seek(&c, 0);
	assert_memory_equal(c.live, trace_start(toy.trace), toy.m.s->words * sizeof(u32));
	cursor_close(&c);
	toy_close(&toy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stepping_forward_and_back),
		cmocka_unit_test(random_seeks),
		cmocka_unit_test(seek_while_recording),
		cmocka_unit_test(steps_keep_their_arguments),
		cmocka_unit_test(changed_fields),
		cmocka_unit_test(a_range_has_an_end),
		cmocka_unit_test(back_at_the_old_value_is_no_change),
		cmocka_unit_test(large_steps_among_small_ones),
		cmocka_unit_test(a_step_larger_than_a_chunk),
		cmocka_unit_test(keyframes_by_the_rule),
		cmocka_unit_test(bytes_per_step),
		cmocka_unit_test(what_follows_the_last_step),
		cmocka_unit_test(out_of_memory_leaves_a_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
