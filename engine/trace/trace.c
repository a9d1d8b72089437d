/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "trace/store.h"

#define KEYFRAME_STATES 4	/* see trace.h */

/* Make room for at least one more element of an array that doubles. */
static void *grow_array(void *array, u32 nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return realloc(array, (nr ? 2 * (size_t)nr : 1) * size);
}

static bool append_chunk(struct trace *t, struct delta *delta, bool owned)
{
	struct delta_chunk *grown = grow_array(t->chunks, t->nr_chunks, sizeof(*grown));

	if (!grown)
		return false;
	t->chunks = grown;
	t->chunks[t->nr_chunks] = (struct delta_chunk){
		.delta = delta, .end = t->nr_chunks << DELTA_SHIFT, .owned = owned };
	t->nr_chunks++;
	t->bytes += DELTA_CHUNK * sizeof(*delta);
	return true;
}

/* Move the step under way to a new run of chunks, with room for as many deltas again. */
static bool new_run(struct trace *t)
{
	struct journal *j = &t->journal;
	u32 nr = (j->nr + j->nr / 2) / DELTA_CHUNK + 1;
	u32 first = t->nr_chunks;
	struct delta *delta;

	if (first + nr > UINT32_MAX >> DELTA_SHIFT)
		return false;
	delta = malloc((size_t)nr * DELTA_CHUNK * sizeof(*delta));
	if (!delta)
		return false;
	for (u32 i = 0; i < nr; i++) {
		if (append_chunk(t, delta + (size_t)i * DELTA_CHUNK, i == 0))
			continue;
		if (i == 0)
			free(delta);
		return false;
	}
	if (j->nr)
		memcpy(delta, j->delta, j->nr * sizeof(*delta));
	t->next = first << DELTA_SHIFT;
	j->delta = delta;
	j->max = nr * DELTA_CHUNK;
	return true;
}

/* Out of memory: forget the step under way, record no more; put() still needs a place. */
static void stop(struct trace *t)
{
	t->oom = true;
	t->journal.delta = t->scratch;
	t->journal.max = NR_OF(t->scratch);
	t->journal.nr = 0;
}

static void grow(struct journal *journal)
{
	struct trace *t = (struct trace *)(void *)journal;

	if (t->oom || !new_run(t))
		stop(t);
}

/* The i-th recorded. */
static struct step *step_at(const struct trace *t, u32 i)
{
	return &t->steps[i >> STEP_SHIFT][i & ((1u << STEP_SHIFT) - 1)];
}

static bool room_for_step(struct trace *t)
{
	struct step **grown;
	struct step *chunk;

	if (t->nr_steps >> STEP_SHIFT < t->nr_step_chunks)
		return true;
	if (trace_last(t) > UINT32_MAX - (1u << STEP_SHIFT))
		return false;
	grown = grow_array(t->steps, t->nr_step_chunks, sizeof(struct step *));
	if (!grown)
		return false;
	t->steps = grown;
	chunk = malloc(sizeof(*chunk) << STEP_SHIFT);
	if (!chunk)
		return false;
	t->steps[t->nr_step_chunks++] = chunk;
	t->bytes += sizeof(*chunk) << STEP_SHIFT;
	return true;
}

static bool add_keyframe(struct trace *t)
{
	size_t size = (size_t)t->words * sizeof(u32);
	struct keyframe *grown = grow_array(t->keys, t->nr_keys, sizeof(*grown));
	u32 *words;

	if (!grown)
		return false;
	t->keys = grown;
	words = malloc(size);
	if (!words)
		return false;
	memcpy(words, t->m->words, size);
	t->keys[t->nr_keys++] = (struct keyframe){ .pos = trace_last(t), .words = words };
	t->since_keyframe = 0;
	t->bytes += size;
	return true;
}

static void drop_last_keyframe(struct trace *t)
{
	free(t->keys[--t->nr_keys].words);
	t->bytes -= (size_t)t->words * sizeof(u32);
}

/* Words that are back at their old value did not change. */
static u32 drop_unchanged(struct journal *j)
{
	u32 nr = 0;

	for (u32 i = 0; i < j->nr; i++)
		if (j->delta[i].xor)
			j->delta[nr++] = j->delta[i];
	return nr;
}

static void commit(struct trace *t, const struct step *step)
{
	struct journal *j = &t->journal;
	u32 nr = drop_unchanged(j);

	if (t->oom || !room_for_step(t)) {
		stop(t);
		return;
	}
	*step_at(t, t->nr_steps) = *step;
	step_at(t, t->nr_steps++)->first_delta = t->next;
	t->chunks[t->next >> DELTA_SHIFT].end = t->next + nr;
	t->next += nr;
	t->since_keyframe += nr;
	j->delta += nr;
	j->max -= nr;
	j->nr = 0;
	if (t->since_keyframe * sizeof(struct delta) > t->words * sizeof(u32) * KEYFRAME_STATES)
		add_keyframe(t);	/* without it seeking is slower, no worse */
	if (j->max == 0)
		grow(j);
}

void trace_record(struct trace *t, enum event event, u32 page, u32 arg, const void *site)
{
	struct step step = { .event = (u16)event, .page = page, .arg = arg };

	if (!t->oom)
		step.path = callpaths_at(t->paths, event_is_function(event), site);
	if (!t->oom && callpaths_lost(t->paths))
		stop(t);
	commit(t, &step);
}

static void free_deltas(struct trace *t)
{
	for (u32 i = 0; i < t->nr_chunks; i++)
		if (t->chunks[i].owned)
			free(t->chunks[i].delta);
	t->bytes -= (size_t)t->nr_chunks * DELTA_CHUNK * sizeof(struct delta);
	t->nr_chunks = 0;
}

bool trace_again(struct trace *t, struct machine *m)
{
	free_deltas(t);
	while (t->nr_keys > 1)
		drop_last_keyframe(t);
	t->m = m;
	t->variant = (struct variant){ m->kernel, m->arch, m->features };
	t->oom = false;
	t->first = t->keys[0].pos = (u32)m->steps;
	t->nr_steps = 0;
	t->since_keyframe = 0;
	t->journal.nr = 0;
	state_copy(t->keys[0].words, m->words);
	callpaths_restart(t->paths);
	m->journal = &t->journal;
	return new_run(t);
}

struct trace *trace_new(struct machine *m)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->m = m;
	t->words = m->s->words;
	t->journal.grow = grow;
	t->paths = callpaths_new(mirrored_functions, NR_FUNCTIONS);
	if (!t->paths || !add_keyframe(t) || !trace_again(t, m)) {
		trace_free(t);
		return NULL;
	}
	return t;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	if (t->m && t->m->journal == &t->journal)
		t->m->journal = NULL;
	for (u32 i = 0; i < t->nr_step_chunks; i++)
		free(t->steps[i]);
	free_deltas(t);
	while (t->nr_keys)
		drop_last_keyframe(t);
	callpaths_free(t->paths);
	free(t->steps);
	free(t->chunks);
	free(t->keys);
	free(t);
}

void trace_set_boundary(struct trace *t, void (*fn)(void))
{
	callpaths_set_boundary(t->paths, fn);
}

const struct variant *trace_variant(const struct trace *t)
{
	return &t->variant;
}

bool trace_oom(const struct trace *t)
{
	return t->oom;
}

/* Move the last step behind its chunk, where what came after it becomes part of it. */
static void absorb_rest(struct trace *t)
{
	struct step last = *step_at(t, t->nr_steps - 1);
	u32 nr;
	const struct delta *delta = trace_deltas(t, trace_last(t) - 1, &nr);

	if (!new_run(t)) {
		stop(t);
		return;
	}
	if (t->keys[t->nr_keys - 1].pos == trace_last(t))
		drop_last_keyframe(t);
	for (u32 i = 0; i < nr; i++)
		journal_add(&t->journal, delta[i].word, delta[i].xor);
	t->chunks[last.first_delta >> DELTA_SHIFT].end = last.first_delta;
	t->nr_steps--;
	commit(t, &last);
}

void trace_end(struct trace *t)
{
	if (!t->m)
		return;
	t->m->journal = NULL;
	t->journal.nr = drop_unchanged(&t->journal);
	if (t->journal.nr && !t->oom) {
		if (t->nr_steps)
			absorb_rest(t);
		else
			state_copy(t->keys[0].words, t->m->words);
	}
	if (!t->oom && t->since_keyframe > t->words / COPY_COST)
		add_keyframe(t);
	t->m = NULL;
}

u32 trace_nr_steps(const struct trace *t)
{
	return t->nr_steps;
}

u32 trace_first(const struct trace *t)
{
	return t->first;
}

u32 trace_last(const struct trace *t)
{
	return t->first + t->nr_steps;
}

const struct step *trace_step(const struct trace *t, u32 i)
{
	return step_at(t, i - t->first);
}

const struct call_path *trace_path(const struct trace *t, u32 path)
{
	return callpaths_get(t->paths, path);
}

const struct delta *trace_deltas(const struct trace *t, u32 i, u32 *nr)
{
	u32 first = trace_step(t, i)->first_delta;
	const struct delta_chunk *chunk = &t->chunks[first >> DELTA_SHIFT];
	u32 end = chunk->end;

	/* the next step may begin past a gap */
	if (i + 1 < trace_last(t) && trace_step(t, i + 1)->first_delta < end)
		end = trace_step(t, i + 1)->first_delta;
	*nr = end - first;
	return chunk->delta + (first & (DELTA_CHUNK - 1));
}

u32 trace_nr_keyframes(const struct trace *t)
{
	return t->nr_keys;
}

size_t trace_bytes(const struct trace *t)
{
	return sizeof(*t) + t->bytes + callpaths_bytes(t->paths) +
	       t->nr_chunks * sizeof(*t->chunks) + t->nr_keys * sizeof(*t->keys);
}

const struct mm_state *trace_start(const struct trace *t)
{
	return (const struct mm_state *)(const void *)t->keys[0].words;
}
