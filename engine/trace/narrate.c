/* SPDX-License-Identifier: GPL-2.0-only */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "trace/describe.h"
#include "trace/narrate.h"

/* A text being written; what does not fit is left out. */
struct text {
	char *buf;
	size_t size, len;
};

/* What the holes of a step's text are filled from. */
struct telling {
	const struct cursor *c;
	const struct mm_state *s;
	const struct step *step;
	const struct names *names;
	u32 folio;		/* of the step's page, else the running task's, or NONE */
	u32 ptes;		/* entries that the step changed: 0, 1, or 2 for more */
	u64 old, new;		/* of the first of them */
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	size_t room = text->size - text->len;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text->buf + text->len, room, format, args);
	va_end(args);
	if (len > 0)
		text->len += (size_t)len < room ? (size_t)len : room - 1;
}

/* Row i of an array of the state that a word is part of, or NONE. */
static u32 row_of_word(const struct mm_state *s, u32 word, enum state_array array, size_t size)
{
	u32 row = (word - s->at[array]) / (u32)(size / sizeof(u32));

	return word >= s->at[array] && row < s->nr[array] ? row : NONE;
}

/* The page-table entry, a PTE or a PMD, that a word of the state is half of; or NULL. */
static const u64 *entry_of_word(const struct mm_state *s, u32 word)
{
	const u32 words = sizeof(struct table) / sizeof(u32);
	const u32 pmd = offsetof(struct table, pmd) / sizeof(u32);
	u32 pte = (word - s->at[ARRAY_PTE]) / 2, of_table = word - s->at[ARRAY_TABLE];

	if (word >= s->at[ARRAY_PTE] && pte < s->nr[ARRAY_PTE])
		return state_pte(s, pte);
	if (word >= s->at[ARRAY_TABLE] && of_table / words < s->nr[ARRAY_TABLE] &&
	    of_table % words - pmd < 2)
		return &state_table(s, of_table / words)->pmd;
	return NULL;
}

static void find_changed_ptes(struct telling *at)
{
	const u64 *shown = NULL;
	u32 nr;
	const struct delta *delta = trace_deltas(at->c->trace, at->c->pos - 1, &nr);

	for (u32 i = 0; i < nr && at->ptes < 2; i++) {
		const u64 *changed = entry_of_word(at->s, delta[i].word);

		if (!changed || changed == shown)
			continue;
		if (at->ptes++)
			continue;
		shown = changed;
		at->new = *changed;
		cursor_changed64(at->c, changed, &at->old);
	}
}

static struct telling telling_of(const struct cursor *c, const struct names *names)
{
	struct telling at = { .c = c, .s = c->live, .step = cursor_step(c), .names = names };

	at.folio = page_folio(at.s, at.step->page);
	if (at.folio == NONE)
		at.folio = state_task(at.s, at.s->cpu)->folio;
	if (at.folio >= at.s->nr[ARRAY_FOLIO])
		at.folio = NONE;
	find_changed_ptes(&at);
	return at;
}

static void add_folio(const struct telling *at, struct text *text)
{
	char name[32];

	add(text, "%s", at->folio == NONE ? "(none)" :
	    at->names->folio(at->names->ctx, at->folio, name));
}

static void add_page(const struct telling *at, struct text *text)
{
	u32 page = at->step->page;
	u32 folio = page_folio(at->s, page);
	char name[32];

	if (page != NONE && page & STEP_ENTRY)
		add(text, "0x%" PRIx64, pte_va(at->s, page & ~STEP_ENTRY));
	else if (folio == NONE)
		add(text, "a page");
	else
		add(text, "page %" PRIu32 " of %s", page - state_folio(at->s, folio)->page,
		    at->names->folio(at->names->ctx, folio, name));
}

/* The step's first arg pages: "page 2 of A", "pages 2 to 5 of A". */
static void add_run(const struct telling *at, struct text *text)
{
	u32 folio = page_folio(at->s, at->step->page);
	char name[32];
	u32 first;

	if (folio == NONE || at->step->arg <= 1) {
		add_page(at, text);
		return;
	}
	first = at->step->page - state_folio(at->s, folio)->page;
	add(text, "pages %" PRIu32 " to %" PRIu32 " of %s", first, first + at->step->arg - 1,
	    at->names->folio(at->names->ctx, folio, name));
}

static void add_nr(const struct telling *at, struct text *text)
{
	add(text, "%" PRIu32, at->step->arg);
}

static void add_pages(const struct telling *at, struct text *text)
{
	add(text, "%" PRIu32 " %s", at->step->arg, at->step->arg == 1 ? "page" : "pages");
}

static void add_entries(const struct telling *at, struct text *text)
{
	add(text, "%" PRIu32 " %s", at->step->arg, at->step->arg == 1 ? "entry" : "entries");
}

static void add_cpu(const struct telling *at, struct text *text)
{
	add(text, "CPU %" PRIu32, at->step->arg);
}

static void add_slot(const struct telling *at, struct text *text)
{
	char name[32];

	add(text, "%s", slot_text(at->s, at->step->arg, name, sizeof(name)));
}

/* The slot of the step's page, or that which the step changed. */
static void add_its_slot(const struct telling *at, struct text *text)
{
	u32 nr, slot = NONE;
	const struct delta *delta = trace_deltas(at->c->trace, at->c->pos - 1, &nr);
	char name[32];

	for (u32 i = 0; i < nr && slot == NONE; i++)
		slot = row_of_word(at->s, delta[i].word, ARRAY_SLOT, sizeof(struct slot));
	if (page_folio(at->s, at->step->page) == NONE && slot != NONE) {
		add(text, "slot %s", slot_text(at->s, slot, name, sizeof(name)));
		return;
	}
	add(text, "the slot of ");
	add_page(at, text);
}

static void add_op(const struct telling *at, struct text *text)
{
	add(text, "%s", at->names->op(at->names->ctx, at->step->arg));
}

static void add_raw(struct text *text, u64 pte)
{
	if (pte)
		add(text, "0x%016" PRIx64, pte);
	else
		add(text, "0");
}

static void add_old(const struct telling *at, struct text *text)
{
	add_raw(text, at->old);
}

static void add_new(const struct telling *at, struct text *text)
{
	add_raw(text, at->new);
}

static void add_mapcount(const struct telling *at, struct text *text)
{
	if (at->folio != NONE)
		add(text, "%" PRIu32, state_folio(at->s, at->folio)->mapcount);
}

static void add_refcount(const struct telling *at, struct text *text)
{
	if (at->folio != NONE)
		add(text, "%" PRIu32, state_folio(at->s, at->folio)->refcount);
}

static void add_mm(const struct telling *at, struct text *text)
{
	u32 mm = state_cpu(at->s, at->s->cpu)->mm;

	add(text, "%s", mm < at->s->nr[ARRAY_MM] ? at->names->mm(at->names->ctx, mm) : "the mm");
}

/* {one|many}: the word that goes with the count. */
static void add_choice(const struct telling *at, struct text *text, const char *hole, size_t len)
{
	const char *bar = memchr(hole, '|', len);
	size_t one = (size_t)(bar - hole);

	if (at->step->arg == 1)
		add(text, "%.*s", (int)one, hole);
	else
		add(text, "%.*s", (int)(len - one - 1), bar + 1);
}

static const struct {
	const char *name;
	void (*add)(const struct telling *at, struct text *text);
} holes[] = {
	{ "page", add_page }, { "run", add_run }, { "folio", add_folio }, { "nr", add_nr },
	{ "pages", add_pages }, { "entries", add_entries }, { "cpu", add_cpu }, { "mm", add_mm },
	{ "slot", add_slot }, { "its_slot", add_its_slot }, { "op", add_op }, { "old", add_old },
	{ "new", add_new }, { "ref", add_refcount }, { "map", add_mapcount },
};

static void fill(const struct telling *at, struct text *text, const char *hole, size_t len)
{
	if (memchr(hole, '|', len)) {
		add_choice(at, text, hole, len);
		return;
	}
	for (u32 i = 0; i < NR_OF(holes); i++) {
		if (strlen(holes[i].name) == len && memcmp(holes[i].name, hole, len) == 0) {
			holes[i].add(at, text);
			return;
		}
	}
	add(text, "{%.*s}", (int)len, hole);	/* a mistake in the tables: let it be seen */
}

static void fill_all(const struct telling *at, struct text *text, const char *format)
{
	while (*format) {
		size_t plain = strcspn(format, "{");
		const char *close;

		add(text, "%.*s", (int)plain, format);
		format += plain;
		close = strchr(format, '}');
		if (!close)
			break;
		fill(at, text, format + 1, (size_t)(close - format - 1));
		format = close + 1;
	}
	add(text, "%s", format);
}

char *narrate_text(const struct cursor *c, const struct names *names, const char *format,
		   char *buf, size_t size)
{
	struct text text = { .buf = buf, .size = size };
	struct telling at;

	*buf = 0;
	if (!cursor_step(c)) {
		add(&text, "Nothing has happened yet.");
		return buf;
	}
	at = telling_of(c, names);
	fill_all(&at, &text, format);
	if (text.len && strchr(".?!", buf[text.len - 1]) == NULL) {
		if (at.ptes == 1 && !strstr(format, "{old}") && !strstr(format, "{new}")) {
			add(&text, ": ");
			add_raw(&text, at.old);
			add(&text, " -> ");
			add_raw(&text, at.new);
		}
		add(&text, ".");
	}
	buf[0] = (char)toupper((unsigned char)buf[0]);
	return buf;
}

struct wording trace_wording(const struct trace *t, const struct step *step)
{
	const struct variant *v = trace_variant(t);

#define WORDING(event_, when, text, why)				\
	if (step->event == EV_##event_ && (when))			\
		return (struct wording){ text, why };
#include "trace/wordings.def"
#undef WORDING
	return (struct wording){ event_info[step->event].text, event_info[step->event].why };
}

char *narrate(const struct cursor *c, const struct names *names, char *buf, size_t size)
{
	const struct step *step = cursor_step(c);

	return narrate_text(c, names, step ? trace_wording(c->trace, step).text : "", buf, size);
}

const char *narrate_why(const struct cursor *c)
{
	const struct step *step = cursor_step(c);

	return step ? trace_wording(c->trace, step).why : "";
}
