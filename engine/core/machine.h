/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A running machine: the state block, the one setter, and who is watching.
 *
 * Reclaim code changes the state with put() and then names what it did with
 * step(). Nobody listening costs one test in each, or nothing (UNWATCHED, types.h);
 * the functions are the same, and so is the state they leave behind.
 *
 *	put(m, &folio->refcount, folio->refcount - nr);
 *	count(m, COUNT_ref_op, 1);
 *	step(m, EV_folio_put_refs, page, nr);
 *
 * With a journal attached put() appends {word, old ^ new}: applying the same
 * deltas again undoes them, so one loop steps forward and back.
 */
#ifndef CORE_MACHINE_H
#define CORE_MACHINE_H

#include "core/event.h"
#include "core/kernel.h"
#include "core/state.h"

struct arch;

struct delta {
	u32 word;
	u32 xor;
};

/* Deltas since the last step; whoever records takes them away at each step. */
struct journal {
	struct delta *delta;
	u32 nr, max;		/* the recorder guarantees nr < max at each step's start */
	void (*grow)(struct journal *journal);
};

/* Hears of each step from watch_from on, and of every seam before it. */
struct observer {
	void (*step)(struct observer *o, enum event event, u32 page, u32 arg);
	void (*rest)(struct observer *o, u32 loop);	/* NULL: it does not matter */
};

struct machine {
	u32 *words;			/* the block, for put() alone */
	const struct mm_state *s;	/* the same block */
	const struct arch *arch;
	const struct kernel *kernel;
	u32 features;			/* bit i: enum cpu_feature i */
	u32 bugs;			/* bit i: enum bug i */
	u64 steps;
	struct journal *journal;
	struct observer *observer;
	u64 watch_from;			/* the first step that the observer is awake for */

	/* state_*(s, 0), kept at hand */
	const struct cpu *cpu;
	const struct task *task;	/* of the CPU that runs: task[s->cpu] */
	const struct mm *mm;
	const struct vma *vma;
	const struct folio *folio;
	const struct page *page;
	const struct table *table;
	const u64 *pte;
	const struct swap_device *device;
	const struct cluster *cluster;
	const struct slot *slot;
	const struct slot_cache *slot_cache;
	const struct tlb_entry *tlb;
	const struct anon_vma *anon_vma;
};

/* Let m run on a block that state_layout() has shaped; the caller owns the block. */
void machine_attach(struct machine *m, u32 *words);
/* Let another CPU's task run. */
void machine_run_on(struct machine *m, u32 cpu);

static inline bool cpu_has(const struct machine *m, enum cpu_feature feature)
{
	return m->features >> feature & 1;
}

/* Does this lane make that mistake? */
static inline bool bug(const struct machine *m, enum bug bug)
{
	return unlikely(m->bugs >> bug & 1);
}

void journal_add(struct journal *journal, u32 word, u32 xor);

static inline struct journal *journal_of(const struct machine *m)
{
	return is_unwatched ? NULL : m->journal;
}

static inline struct observer *observer_of(const struct machine *m)
{
	return is_unwatched ? NULL : m->observer;
}

static inline u32 word_of(const struct machine *m, const void *field)
{
	return (u32)((const u32 *)field - (const u32 *)(const void *)m->s);
}

/* The one place where what is read through const pointers is written. */
static inline void put32(struct machine *m, const u32 *field, u32 value)
{
	if (unlikely(journal_of(m)) && *field != value)
		journal_add(m->journal, word_of(m, field), *field ^ value);
	*(u32 *)(uintptr_t)field = value;
}

static inline void put64(struct machine *m, const u64 *field, u64 value)
{
	if (unlikely(journal_of(m))) {
		u64 xor = *field ^ value;

		if ((u32)xor)
			journal_add(m->journal, word_of(m, field), (u32)xor);
		if (xor >> 32)
			journal_add(m->journal, word_of(m, field) + 1, (u32)(xor >> 32));
	}
	*(u64 *)(uintptr_t)field = value;
}

/* A part of a word. */
static inline void put16(struct machine *m, const u16 *field, u32 value)
{
	u32 *word = (u32 *)((uintptr_t)field & ~(uintptr_t)3), old = *word;

	*(u16 *)(uintptr_t)field = (u16)value;
	if (unlikely(journal_of(m)) && *word != old)
		journal_add(m->journal, word_of(m, word), *word ^ old);
}

static inline void put8(struct machine *m, const u8 *field, u32 value)
{
	u32 *word = (u32 *)((uintptr_t)field & ~(uintptr_t)3), old = *word;

	*(u8 *)(uintptr_t)field = (u8)value;
	if (unlikely(journal_of(m)) && *word != old)
		journal_add(m->journal, word_of(m, word), *word ^ old);
}

#define put(m, field, value)								\
	_Generic(*(field), u8: put8, u16: put16, u32: put32)(m, field, value)

static inline void count(struct machine *m, enum counter counter, u32 nr)
{
	put64(m, &m->s->count[counter], m->s->count[counter] + nr);
}

/* Will the observer hear of the step under way, whatever it is? */
static inline bool is_watched(const struct machine *m)
{
	return unlikely(m->steps + 1 >= m->watch_from) && observer_of(m);
}

/*
 * What a step is about: a page, in page[]; where no page is known, an entry of pte[], with this
 * bit beside its index; or NONE.
 */
#define STEP_ENTRY (1u << 31)

/* The page, if there is one, else the entry, for those who watch. */
static inline u32 page_or_entry(const struct machine *m, u32 page, u32 pte)
{
	return page == NONE && pte != NONE && is_watched(m) ? STEP_ENTRY | pte : page;
}

/* Close a step: all put since the last one happened in it. page: see STEP_ENTRY. */
static inline __attribute__((always_inline)) void step(struct machine *m, enum event event,
						       u32 page, u32 arg)
{
	m->steps++;
	if ((unlikely(m->steps >= m->watch_from) || event_is_seam(event)) && observer_of(m))
		m->observer->step(m->observer, event, page, arg);
}

/*
 * No step, but a place in a loop that goes on with nothing but what is in the state and what
 * has been the same since its first turn. Who runs the machine may put the state of a later
 * rest of the same loop in place of this one's. loop: a number that no other loop of the same
 * operation has.
 */
static inline void rest(struct machine *m, u32 loop)
{
	if (unlikely(observer_of(m)) && m->observer->rest)
		m->observer->rest(m->observer, loop);
}

/* A step that does no more than enter a mirrored function. */
static inline __attribute__((always_inline)) void enter(struct machine *m, enum event function,
							u32 page, u32 arg)
{
	step(m, function, page, arg);
}

#endif
