/* SPDX-License-Identifier: GPL-2.0-only */
/* What a CPU does with an address: rows of ops.c. */
#ifndef SCENARIO_OPS_CPU_H
#define SCENARIO_OPS_CPU_H

#include "core/machine.h"

struct scn_op;

void op_read(struct machine *m, const struct scn_op *op);
void op_idle(struct machine *m, const struct scn_op *op);
bool may_idle(const struct machine *m, const struct scn_op *op);
void op_write(struct machine *m, const struct scn_op *op);

bool is_not_waiting(const struct machine *m, const struct scn_op *op);

#endif
