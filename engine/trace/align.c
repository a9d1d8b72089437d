/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cut each lane's steps into groups of one key, number the groups so that the k-th
 * with a key has the same number in every lane, and merge the lanes' sequences.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/align.h"

/* A key that occurred, the nth time in its lane. */
struct occurrence {
	struct align_group key;
	u32 nth;
};

struct align {
	u32 nr_lanes;
	u32 nr;				/* merged groups */
	struct align_group *group;	/* [nr] */
	u32 *tick;			/* [nr + 1]: ticks before group g */
	u32 *start;			/* [(nr + 1) * nr_lanes]: lane's position before group g */
};

/* One lane cut into groups. */
struct cut {
	u32 *id;		/* number of its occurrence */
	u32 *end;		/* position after it */
	u32 nr, max;
	u32 head;		/* the first that is not merged yet */
};

/* Everything align_new() works with. */
struct merge {
	u32 nr_lanes;
	struct cut *cut;
	struct occurrence *occurrence;	/* by id */
	u32 nr_ids, max_ids;
	u32 *slot;			/* hash of occurrences: id + 1, or 0 */
	u32 nr_slots;
	u32 *where;			/* [id * nr_lanes + lane]: index in its cut, or NONE */
	u32 max_groups;
};

static bool same_key(const struct align_group *a, const struct align_group *b)
{
	return a->op == b->op && a->folio == b->folio && a->phase == b->phase && a->page == b->page;
}

static u32 *find_slot(const struct merge *m, const struct occurrence *o)
{
	const struct align_group *key = &o->key;
	u32 hash = (((key->op * 31 + key->folio) * 31 + key->phase) * 31 + key->page) * 31 + o->nth;
	u32 i = (hash * 0x9e3779b1) & (m->nr_slots - 1);

	for (; m->slot[i]; i = (i + 1) & (m->nr_slots - 1)) {
		const struct occurrence *other = &m->occurrence[m->slot[i] - 1];

		if (other->nth == o->nth && same_key(&other->key, key))
			break;
	}
	return &m->slot[i];
}

static bool grow_slots(struct merge *m)
{
	u32 nr = m->nr_slots ? 2 * m->nr_slots : 256;
	u32 *slot = calloc(nr, sizeof(*slot));
	struct occurrence *grown = realloc(m->occurrence, nr / 2 * sizeof(*grown));

	if (grown)
		m->occurrence = grown;
	if (!slot || !grown) {
		free(slot);
		return false;
	}
	free(m->slot);
	m->slot = slot;
	m->nr_slots = nr;
	m->max_ids = nr / 2;
	for (u32 id = 0; id < m->nr_ids; id++)
		*find_slot(m, &m->occurrence[id]) = id + 1;
	return true;
}

static bool intern(struct merge *m, const struct occurrence *o, u32 *id)
{
	u32 *slot;

	if (m->nr_ids == m->max_ids && !grow_slots(m))
		return false;
	slot = find_slot(m, o);
	if (!*slot) {
		m->occurrence[m->nr_ids] = *o;
		*slot = ++m->nr_ids;
	}
	*id = *slot - 1;
	return true;
}

/*
 * The words a key is read from, followed through the deltas without the rest of
 * the state.
 */
struct watch {
	u32 op, cpu;
	u32 at, words;		/* of task[] in the state */
	u32 *task;
};

static bool watch_open(struct watch *w, const struct mm_state *s)
{
	u32 words = s->nr[ARRAY_TASK] * (u32)(sizeof(struct task) / sizeof(u32));

	*w = (struct watch){ .op = s->op, .cpu = s->cpu, .at = s->at[ARRAY_TASK], .words = words };
	w->task = malloc(words * sizeof(u32) + 1);
	if (!w->task)
		return false;
	memcpy(w->task, state_array(s, ARRAY_TASK), words * sizeof(u32));
	return true;
}

static bool watch_apply(struct watch *w, const struct delta *delta, u32 nr)
{
	bool hit = false;

	for (u32 i = 0; i < nr; i++) {
		u32 word = delta[i].word;

		if (word - w->at < w->words)
			w->task[word - w->at] ^= delta[i].xor;
		else if (word == offsetof(struct mm_state, op) / sizeof(u32))
			w->op ^= delta[i].xor;
		else if (word == offsetof(struct mm_state, cpu) / sizeof(u32))
			w->cpu ^= delta[i].xor;
		else
			continue;
		hit = true;
	}
	return hit;
}

static struct align_group watch_key(const struct watch *w)
{
	const struct task *task = (const struct task *)(const void *)w->task + w->cpu;

	return (struct align_group){
		.op = w->op, .folio = task->folio, .phase = task->phase, .page = task->page };
}

static bool append(struct cut *cut, u32 id, u32 end)
{
	if (cut->nr == cut->max) {
		u32 max = cut->max ? 2 * cut->max : 64;
		u32 *ids = realloc(cut->id, max * sizeof(u32));
		u32 *ends = ids ? realloc(cut->end, max * sizeof(u32)) : NULL;

		cut->id = ids ? ids : cut->id;
		cut->end = ends ? ends : cut->end;
		if (!ends)
			return false;
		cut->max = max;
	}
	cut->id[cut->nr] = id;
	cut->end[cut->nr++] = end;
	return true;
}

/* How often a lane has had the key whose first occurrence is id. */
struct seen {
	u32 *times;
	u32 nr;
};

static bool number_group(struct merge *m, struct seen *seen, const struct align_group *key, u32 *id)
{
	struct occurrence o = { .key = *key };

	if (!intern(m, &o, id))
		return false;
	if (*id >= seen->nr) {
		u32 *grown = realloc(seen->times, m->max_ids * sizeof(u32));

		if (!grown)
			return false;
		memset(grown + seen->nr, 0, (m->max_ids - seen->nr) * sizeof(u32));
		seen->times = grown;
		seen->nr = m->max_ids;
	}
	o.nth = seen->times[*id]++;
	return o.nth == 0 || intern(m, &o, id);
}

/* The steps after position from; those before it lead there. */
static bool cut_lane(struct merge *m, struct cut *cut, const struct trace *t, u32 from)
{
	struct watch w;
	struct align_group key = { .op = 0 };
	struct seen seen = { .nr = 0 };
	bool ok = watch_open(&w, trace_start(t));

	for (u32 i = trace_first(t); ok && i < trace_last(t); i++) {
		struct align_group before = key;
		u32 nr, id;
		const struct delta *delta = trace_deltas(t, i, &nr);

		if (watch_apply(&w, delta, nr) || i == trace_first(t))
			key = watch_key(&w);
		if (i < from)
			continue;
		if (i > from && same_key(&key, &before))
			cut->end[cut->nr - 1] = i + 1;
		else
			ok = number_group(m, &seen, &key, &id) && append(cut, id, i + 1);
	}
	free(seen.times);
	free(w.task);
	return ok;
}

static bool index_groups(struct merge *m)
{
	size_t nr = (size_t)m->nr_ids * m->nr_lanes;

	m->where = malloc(nr * sizeof(u32) + 1);
	if (!m->where)
		return false;
	memset(m->where, 0xff, nr * sizeof(u32));
	for (u32 l = 0; l < m->nr_lanes; l++)
		for (u32 i = 0; i < m->cut[l].nr; i++)
			m->where[(size_t)m->cut[l].id[i] * m->nr_lanes + l] = i;
	return true;
}

/* Does a lane other than those that stand at this group have it ahead? */
static bool is_awaited(const struct merge *m, u32 id)
{
	for (u32 l = 0; l < m->nr_lanes; l++) {
		u32 i = m->where[(size_t)id * m->nr_lanes + l];

		if (i != NONE && i > m->cut[l].head)
			return true;
	}
	return false;
}

/*
 * The group to go through next: the first that all lanes that have it stand at; if
 * the lanes' orders cross, the first lane's. NONE: all lanes are at their end.
 */
static u32 next_group(const struct merge *m)
{
	u32 crossed = NONE;

	for (u32 l = 0; l < m->nr_lanes; l++) {
		const struct cut *cut = &m->cut[l];

		if (cut->head == cut->nr)
			continue;
		if (!is_awaited(m, cut->id[cut->head]))
			return cut->id[cut->head];
		if (crossed == NONE)
			crossed = cut->id[cut->head];
	}
	return crossed;
}

static void merge_groups(struct merge *m, struct align *a, const u32 *from, u32 first_tick)
{
	u32 id;

	memcpy(a->start, from, m->nr_lanes * sizeof(u32));
	a->tick[0] = first_tick;
	while ((id = next_group(m)) != NONE) {
		const u32 *start = &a->start[(size_t)a->nr * m->nr_lanes];
		u32 *end = &a->start[(size_t)(a->nr + 1) * m->nr_lanes];
		u32 ticks = 0;

		for (u32 l = 0; l < m->nr_lanes; l++) {
			struct cut *cut = &m->cut[l];

			end[l] = start[l];
			if (cut->head == cut->nr || cut->id[cut->head] != id)
				continue;
			end[l] = cut->end[cut->head++];
			if (end[l] - start[l] > ticks)
				ticks = end[l] - start[l];
		}
		a->group[a->nr] = m->occurrence[id].key;
		a->tick[a->nr + 1] = a->tick[a->nr] + ticks;
		a->nr++;
	}
}

static bool alloc_groups(struct align *a, const struct merge *m)
{
	size_t max = 1;

	a->nr_lanes = m->nr_lanes;
	for (u32 l = 0; l < m->nr_lanes; l++)
		max += m->cut[l].nr;
	a->group = malloc(max * sizeof(*a->group));
	a->tick = malloc(max * sizeof(u32));
	a->start = malloc(max * m->nr_lanes * sizeof(u32));
	return a->group && a->tick && a->start;
}

/* Most groups are met by several lanes: give back what was allocated for none. */
static void trim(struct align *a)
{
	size_t nr = (size_t)a->nr + 1;
	struct align_group *group = realloc(a->group, nr * sizeof(*group));
	u32 *tick = realloc(a->tick, nr * sizeof(u32));
	u32 *start = realloc(a->start, nr * a->nr_lanes * sizeof(u32));

	a->group = group ? group : a->group;
	a->tick = tick ? tick : a->tick;
	a->start = start ? start : a->start;
}

static void merge_free(struct merge *m)
{
	for (u32 l = 0; m->cut && l < m->nr_lanes; l++) {
		free(m->cut[l].id);
		free(m->cut[l].end);
	}
	free(m->cut);
	free(m->occurrence);
	free(m->slot);
	free(m->where);
}

struct align *align_part(const struct trace *const *lanes, u32 nr, const u32 *from, u32 first_tick)
{
	struct merge m = { .nr_lanes = nr, .cut = calloc(nr, sizeof(struct cut)) };
	struct align *a = calloc(1, sizeof(*a));
	bool ok = m.cut && a;

	for (u32 l = 0; ok && l < nr; l++)
		ok = cut_lane(&m, &m.cut[l], lanes[l], from[l]);
	ok = ok && index_groups(&m) && alloc_groups(a, &m);
	if (ok) {
		merge_groups(&m, a, from, first_tick);
		trim(a);
	} else {
		align_free(a);
	}
	merge_free(&m);
	return ok ? a : NULL;
}

struct align *align_new(const struct trace *const *lanes, u32 nr)
{
	u32 *from = malloc((nr + 1) * sizeof(u32));
	struct align *a = NULL;

	for (u32 l = 0; from && l < nr; l++)
		from[l] = trace_first(lanes[l]);
	if (from)
		a = align_part(lanes, nr, from, 0);
	free(from);
	return a;
}

void align_free(struct align *a)
{
	if (!a)
		return;
	free(a->group);
	free(a->tick);
	free(a->start);
	free(a);
}

u32 align_first_tick(const struct align *a)
{
	return a->tick[0];
}

u32 align_last_tick(const struct align *a)
{
	return a->tick[a->nr];
}

u32 align_nr_ticks(const struct align *a)
{
	return align_last_tick(a) - align_first_tick(a);
}

/* The group that tick belongs to; the first tick and one outside: the nearest. */
static u32 group_of(const struct align *a, u32 tick)
{
	u32 low = 0, high = a->nr;

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (a->tick[mid] < tick)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static u32 lane_start(const struct align *a, u32 group, u32 lane)
{
	return a->start[(size_t)group * a->nr_lanes + lane];
}

u32 align_pos(const struct align *a, u32 tick, u32 lane)
{
	u32 g = group_of(a, tick);
	u32 pos, end;

	if (a->nr == 0 || tick <= a->tick[0])
		return lane_start(a, 0, lane);
	pos = lane_start(a, g, lane) + (tick - a->tick[g]);
	end = lane_start(a, g + 1, lane);
	return pos < end ? pos : end;
}

bool align_moves(const struct align *a, u32 tick, u32 lane)
{
	return tick > align_first_tick(a) && tick <= align_last_tick(a) &&
	       align_pos(a, tick, lane) != align_pos(a, tick - 1, lane);
}

u32 align_tick(const struct align *a, u32 lane, u32 pos)
{
	u32 low = 0, high = a->nr;

	if (a->nr == 0 || pos <= lane_start(a, 0, lane))
		return a->tick[0];
	if (pos > lane_start(a, a->nr, lane))
		pos = lane_start(a, a->nr, lane);
	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (lane_start(a, mid, lane) < pos)
			low = mid;
		else
			high = mid;
	}
	return a->tick[low] + (pos - lane_start(a, low, lane));
}

struct align_group align_group(const struct align *a, u32 tick)
{
	if (a->nr == 0)
		return (struct align_group){ .folio = NONE, .phase = PHASE_start, .page = NONE };
	return a->group[group_of(a, tick)];
}

bool align_same(const struct align_group *a, const struct align_group *b, enum align_by by)
{
	return by == ALIGN_PAGE ? a->page == b->page : a->phase == b->phase;
}

u32 align_other(const struct align *a, u32 tick, int dir, enum align_by by,
		const struct align_group *key)
{
	u32 next = dir > 0 ? tick + 1 : tick - 1;
	u32 g = group_of(a, next);

	if (next <= a->tick[0] || next > a->tick[a->nr])
		return NONE;
	while (align_same(&a->group[g], key, by)) {
		if (dir > 0 ? g + 1 == a->nr : g == 0)
			return NONE;
		g = dir > 0 ? g + 1 : g - 1;
	}
	if (dir > 0)
		return next > a->tick[g] ? next : a->tick[g] + 1;
	return next < a->tick[g + 1] ? next : a->tick[g + 1];
}
