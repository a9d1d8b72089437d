/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a word of the state is called, and its values in words:
 * "folio A.refcount", "pte app 0x7f0000012000", "slot 0:0x1000.count".
 */
#ifndef TRACE_DESCRIBE_H
#define TRACE_DESCRIBE_H

#include "trace/narrate.h"

enum value_kind {
	VALUE_NUMBER,		/* the kinds up to here are decimal numbers */
	VALUE_HEX,
	VALUE_MMAP_LOCK,	/* readers, "2", or "writer" */
	VALUE_FLAGS,		/* folio flags: "locked dirty" or "-" */
	VALUE_TLB_FLAGS,	/* "writable dirty" or "-" */
	VALUE_CPUS,		/* a mask: "cpu0 cpu1" or "-" */
	VALUE_TASK_PHASE,	/* "unmap" */
	VALUE_LIST,		/* "folio_list" or "none", like the following */
	VALUE_SLOT_KIND,	/* "free" "folio" "shadow" "bad" */
	VALUE_FOLIO,		/* "A" */
	VALUE_PAGE,		/* "A[2]" */
	VALUE_MM,		/* "app" */
	VALUE_SLOT,		/* "0:0x1000" */
	VALUE_PTE,		/* "app 0x7f0000012000" */
	VALUE_INDEX,		/* "7" */
};

struct word_info {
	char what[96];
	u32 word;		/* the field's first: word or the one before it */
	u32 bits;		/* those of the word that are the field's */
	bool is64;
	enum value_kind kind;
};

/*
 * What a word belongs to: the first field that has one of these bits of it. False: nothing
 * that ever changes has.
 */
bool describe_word(const struct mm_state *s, const struct names *names, u32 word, u32 bits,
		   struct word_info *info);

/* The value of a described field in words[], a state. */
u64 described_value(const u32 *words, const struct word_info *info);

/* A value of a field in words. */
void describe_value(const struct mm_state *s, const struct names *names, enum value_kind kind,
		    u64 value, char *buf, size_t size);

/* A field that a step changed. */
struct change {
	const char *what;
	const char *old, *new;	/* their texts */
	bool number;		/* both are decimal numbers */
};
/* Each field that the step that led here changed, in the order of its writes. */
void describe_step(const struct cursor *c, const struct names *names,
		   void (*emit)(void *ctx, const struct change *change), void *ctx);

/* "0:0x1000": device type and offset of slot[slot]; returns buf. */
char *slot_text(const struct mm_state *s, u32 slot, char *buf, size_t size);

#endif
