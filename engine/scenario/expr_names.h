/* SPDX-License-Identifier: GPL-2.0-only */
/* What an expression can ask of a machine: a flat table, shared by expr.c and expr_names.c. */
#ifndef SCENARIO_EXPR_NAMES_H
#define SCENARIO_EXPR_NAMES_H

#include "arch/pgtable.h"
#include "scenario/expr.h"

#define EXPR_MAX_ARGS 3

/* Kinds of arguments, as letters of expr_name.args; those behind '?' may be left out. */
enum expr_arg {
	ARG_FOLIO = 'F',	/* value: its page frame */
	ARG_MM = 'M',		/* index */
	ARG_DEVICE = 'D',	/* index */
	ARG_FLAG = 'f',		/* enum folio_flag */
	ARG_COUNTER = 'c',	/* enum counter */
	ARG_LANE = 'l',		/* string in quotes: call.lane */
	ARG_NUMBER = 'n',	/* any expression */
};

/* A call under evaluation. */
struct expr_call {
	const struct expr_env *env;
	const char *lane;	/* NULL: its own */
	s64 arg[EXPR_MAX_ARGS];
	u32 nr;			/* arguments given */
	struct error *err;
};

/* Exactly one of the functions is set; the first four save the common arguments' handling. */
struct expr_name {
	const char *name;
	const char *args;	/* letters of enum expr_arg */
	const char *shown;	/* "mm, va[, n]": for help */
	const char *text;
	bool hex;		/* how explanations write the value */
	s64 (*folio)(const struct folio *folio);
	s64 (*mm)(const struct mm *mm);
	bool (*pte)(const struct pte_ops *ops, pte_t pte);	/* counted over n pages */
	bool (*slot)(const struct slot *slot);			/* counted over n slots */
	bool (*any)(struct expr_call *call, s64 *value);
};

extern const struct expr_name expr_names[];
extern const u32 nr_expr_names;

bool expr_call_eval(const struct expr_name *name, struct expr_call *call, s64 *value);

#endif
