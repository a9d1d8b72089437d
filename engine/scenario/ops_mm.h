/* SPDX-License-Identifier: GPL-2.0-only */
/* What a process does to its own address space: rows of ops.c. */
#ifndef SCENARIO_OPS_MM_H
#define SCENARIO_OPS_MM_H

#include "core/machine.h"

struct scn_op;

/* Where its va and pages end. */
u64 range_end(const struct scn_op *op);
/* The first VMA of its mm that ends above va, if it begins before the range ends; or NONE. */
u32 next_vma(const struct mm_state *s, const struct scn_op *op, u64 va);

void op_munmap(struct machine *m, const struct scn_op *op);
void op_mprotect(struct machine *m, const struct scn_op *op);
void op_fork(struct machine *m, const struct scn_op *op);
void op_exit_mm(struct machine *m, const struct scn_op *op);
void op_madvise_dontneed(struct machine *m, const struct scn_op *op);
void op_madvise_free(struct machine *m, const struct scn_op *op);

/* Shared memory can be unmapped by reclaim; what else is done with it is not modelled. */
bool splits_file_folio(const struct machine *m, const struct scn_op *op);
bool has_vma(const struct machine *m, const struct scn_op *op);
/* Who changes VMAs must have the mm, its anon_vmas and its page tables for itself. */
bool may_change_vmas(const struct machine *m, const struct scn_op *op);
bool may_protect(const struct machine *m, const struct scn_op *op);
bool may_fork(const struct machine *m, const struct scn_op *op);
/* Nobody works in the mm, or waits in it. */
bool may_exit(const struct machine *m, const struct scn_op *op);
bool may_zap(const struct machine *m, const struct scn_op *op);

#endif
