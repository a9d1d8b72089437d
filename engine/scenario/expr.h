/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The small expression language of `expect` and of the explorer's :until.
 * Integers only (64-bit, signed); grammar and names in docs/scenario.md.
 *
 *	refcount(A) == mapcount(A) + 16 && !(pte(app, 0x7f0000010000) & 1)
 */
#ifndef SCENARIO_EXPR_H
#define SCENARIO_EXPR_H

#include "scenario/scenario.h"

struct expr;
struct lane;

/* Names are resolved here: an unknown folio or flag is an error with its column, from 1. */
struct expr *expr_parse(const struct scenario *s, const char *text, struct error *err, u32 *column);
void expr_free(struct expr *e);
/* Are all lanes that it names, as in count(pte_read, "arm64/batched"), still in the scenario? */
bool expr_lanes_present(const struct expr *e, const struct scenario *s);

/* Where an expression is evaluated: one lane's state, and the end states of the others. */
struct expr_env {
	const struct scenario *scenario;
	const struct mm_state *state;
	const struct scn_lane *lane;
	const struct lane *lanes;	/* for count(pte_read, "arm64/batched"); may be NULL */
	u32 nr_lanes;
	u64 step;
};
/* False when it cannot be evaluated (division by zero, no such lane); err says why. */
bool expr_eval(const struct expr *e, const struct expr_env *env, s64 *value, struct error *err);
/* For a failed comparison: "refcount(A) is 17, mapcount(A) is 0"; each call once. */
void expr_explain(const struct expr *e, const struct expr_env *env, char *buf, size_t size);

/* What can be called, for help and completion: one row each in expr_names.c. */
u32 expr_nr_functions(void);
const char *expr_function(u32 i, const char **args, const char **text);

#endif
