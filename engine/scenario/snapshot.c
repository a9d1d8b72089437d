/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "scenario/snapshot.h"

#define MAX_SNAPSHOTS 16u
#define MAX_BYTES ((size_t)24 << 20)
#define WORDS_A_STEP 2	/* copied, if no cache has them, in the time of an unrecorded step */

void snapshots_open(struct snapshots *s, const struct mm_state *state, u32 nr_ops)
{
	*s = (struct snapshots){ .words = state->words, .nr_ops = nr_ops,
				 .apart = state_saved_words(state) / WORDS_A_STEP };
	s->at = calloc(MAX_SNAPSHOTS, sizeof(*s->at));
}

/* How many such states may be kept. */
static u32 room(const struct snapshots *s, const struct mm_state *state)
{
	size_t nr = MAX_BYTES / (state_saved_words(state) * sizeof(u32));

	return !s->at ? 0 : nr < MAX_SNAPSHOTS ? (u32)nr : MAX_SNAPSHOTS;
}

static void drop(struct snapshot *snapshot)
{
	free(snapshot->words);
	free(snapshot->matches);
}

void snapshots_close(struct snapshots *s)
{
	while (s->nr)
		drop(&s->at[--s->nr]);
	free(s->at);
}

/* Every second one goes, from the first on: those that stay are twice as far apart. */
static void thin_out(struct snapshots *s)
{
	u32 nr = 0;

	for (u32 i = 0; i < s->nr; i++) {
		if (i % 2)
			s->at[nr++] = s->at[i];
		else
			drop(&s->at[i]);
	}
	s->nr = nr;
	s->apart *= 2;
}

static bool is_far(const struct snapshots *s, u64 pos)
{
	return pos - (s->nr ? s->at[s->nr - 1].pos : 0) >= s->apart;
}

void snapshots_offer(struct snapshots *s, const struct machine *m, u32 op, u32 loop,
		     const u32 *matches)
{
	struct snapshot kept = { .pos = (u32)m->steps, .op = op, .loop = loop };

	if (!room(s, m->s) || !is_far(s, m->steps))
		return;
	while (s->nr >= room(s, m->s))
		thin_out(s);
	if (!is_far(s, m->steps))
		return;
	kept.words = calloc(s->words, sizeof(u32));
	kept.matches = malloc(s->nr_ops * sizeof(u32));
	if (!kept.words || !kept.matches) {
		drop(&kept);
		return;
	}
	state_save(kept.words, m->words);
	memcpy(kept.matches, matches, s->nr_ops * sizeof(u32));
	s->at[s->nr++] = kept;
}

const struct snapshot *snapshots_before(const struct snapshots *s, u32 pos)
{
	u32 i = s->nr;

	while (i && s->at[i - 1].pos >= pos)
		i--;
	return i ? &s->at[i - 1] : NULL;
}

const struct snapshot *snapshots_base(const struct snapshots *s, const struct snapshot *of)
{
	while (of && of->loop != NONE)
		of = of == s->at ? NULL : of - 1;
	return of;
}

void snapshot_restore(const struct snapshots *s, const struct snapshot *snapshot,
		      struct machine *m, u32 *matches)
{
	state_copy(m->words, snapshot->words);
	memcpy(matches, snapshot->matches, s->nr_ops * sizeof(u32));
	m->steps = snapshot->pos;
}
