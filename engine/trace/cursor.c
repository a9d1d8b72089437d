/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "trace/store.h"

bool cursor_open(struct cursor *c, const struct trace *t)
{
	*c = (struct cursor){ .words = calloc(t->words, sizeof(u32)) };
	if (!c->words)
		return false;
	c->live = (const struct mm_state *)(const void *)c->words;
	cursor_move(c, t);
	return true;
}

void cursor_move(struct cursor *c, const struct trace *t)
{
	c->trace = t;
	c->pos = t->first;
	state_copy(c->words, t->keys[0].words);
}

void cursor_close(struct cursor *c)
{
	free(c->words);
	*c = (struct cursor){ .trace = NULL };
}

/* Deltas before a position, gaps included. */
static u32 delta_index(const struct trace *t, u32 pos)
{
	return pos < trace_last(t) ? trace_step(t, pos)->first_delta : t->next;
}

static u32 distance(const struct trace *t, u32 a, u32 b)
{
	u32 from = delta_index(t, a), to = delta_index(t, b);

	return from < to ? to - from : from - to;
}

/* Applying a step's deltas does it and undoes it. */
static void apply(u32 *words, const struct trace *t, u32 from, u32 to)
{
	for (u32 i = from; i < to; i++) {
		u32 nr;
		const struct delta *delta = trace_deltas(t, i, &nr);

		for (u32 k = 0; k < nr; k++)
			words[delta[k].word] ^= delta[k].xor;
	}
}

/* The keyframe at or before a position. */
static u32 keyframe_before(const struct trace *t, u32 pos)
{
	u32 low = 0, high = t->nr_keys;

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (t->keys[mid].pos <= pos)
			low = mid;
		else
			high = mid;
	}
	return low;
}

void cursor_seek(struct cursor *c, u32 pos)
{
	const struct trace *t = c->trace;
	u32 best, key, last;

	if (pos > trace_last(t))
		pos = trace_last(t);
	if (pos < t->first)
		pos = t->first;
	best = distance(t, c->pos, pos);
	if (best > t->words / COPY_COST) {
		key = keyframe_before(t, pos);
		last = key + 1 < t->nr_keys ? key + 1 : key;
		for (; key <= last; key++) {
			u32 cost = distance(t, t->keys[key].pos, pos) + t->words / COPY_COST;

			if (cost >= best)
				continue;
			best = cost;
			state_copy(c->words, t->keys[key].words);
			c->pos = t->keys[key].pos;
		}
	}
	if (c->pos < pos)
		apply(c->words, t, c->pos, pos);
	else
		apply(c->words, t, pos, c->pos);
	c->pos = pos;
}

const struct step *cursor_step(const struct cursor *c)
{
	return c->pos > c->trace->first ? trace_step(c->trace, c->pos - 1) : NULL;
}

static u32 changed_bits(const struct cursor *c, u32 word)
{
	u32 nr;
	const struct delta *delta;

	if (!cursor_step(c))
		return 0;
	delta = trace_deltas(c->trace, c->pos - 1, &nr);
	for (u32 i = 0; i < nr; i++)
		if (delta[i].word == word)
			return delta[i].xor;
	return 0;
}

static u32 index_of(const struct cursor *c, const void *field)
{
	return (u32)((const u32 *)field - c->words);
}

bool cursor_changed(const struct cursor *c, const u32 *field, u32 *old)
{
	u32 xor = changed_bits(c, index_of(c, field));

	if (old)
		*old = *field ^ xor;
	return xor != 0;
}

bool cursor_changed64(const struct cursor *c, const u64 *field, u64 *old)
{
	u32 word = index_of(c, field);
	u64 xor = changed_bits(c, word) | (u64)changed_bits(c, word + 1) << 32;

	if (old)
		*old = *field ^ xor;
	return xor != 0;
}

/* The k-th byte of a word in memory. */
static u8 byte_of(u32 word, u32 k)
{
	u8 bytes[sizeof(word)];

	memcpy(bytes, &word, sizeof(word));
	return bytes[k];
}

bool cursor_changed_any(const struct cursor *c, const void *from, size_t bytes)
{
	size_t first = (size_t)((const char *)from - (const char *)c->words);
	const struct delta *delta;
	u32 nr;

	if (!cursor_step(c))
		return false;
	delta = trace_deltas(c->trace, c->pos - 1, &nr);
	for (u32 i = 0; i < nr; i++)
		for (u32 k = 0; k < sizeof(u32); k++)
			if (byte_of(delta[i].xor, k) &&
			    delta[i].word * sizeof(u32) + k - first < bytes)
				return true;
	return false;
}

const struct call_path *cursor_path(const struct cursor *c)
{
	const struct step *step = cursor_step(c);

	return trace_path(c->trace, step ? step->path : 0);
}
