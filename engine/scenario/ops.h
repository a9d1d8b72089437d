/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations that a script may perform: one row each in ops.c. The loader, the
 * schema and docs/scenario.md read the same table.
 */
#ifndef SCENARIO_OPS_H
#define SCENARIO_OPS_H

#include "core/machine.h"

struct scn_op;

enum op_arg { OP_MM = 1, OP_FOLIO = 2, OP_VA = 4, OP_PAGES = 8, OP_PROT = 16,
	      OP_CHILD = 32 };

enum op_files { FILES_ANY, FILES_ON_DISK, FILES_NONE };

/* The key that gives an argument in a scenario. */
struct op_key {
	const char *key;
	enum op_arg arg;
};
extern const struct op_key op_keys[];
extern const u32 nr_op_keys;

struct op_info {
	const char *name;	/* "madvise_pageout" */
	u32 takes;		/* enum op_arg bits it needs */
	u32 may;		/* and those it may have */
	const char *text;	/* one line for help and documentation */
	bool reclaims;		/* walks page tables itself: cannot be triggered inside another */
	u32 splits_vmas;	/* how often it may, each time that it runs */
	enum op_files files;	/* what folios of files the world may have */
	bool own_cpu;		/* triggered inside another, it needs a CPU of its own */
	/* What must hold when it runs, and in words; NULL: it always may. */
	bool (*possible)(const struct machine *m, const struct scn_op *op);
	const char *needs;
	/* Object arguments are state indices here: run.c has translated the folio. */
	void (*run)(struct machine *m, const struct scn_op *op);
};

extern const struct op_info op_infos[];
extern const u32 nr_op_infos;
const struct op_info *op_find(const char *name);
/* The same rows, whose run() is compiled UNWATCHED and takes a machine of unwatched_arch_find(). */
extern const struct op_info unwatched_op_infos[];

#endif
