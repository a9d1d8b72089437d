/* SPDX-License-Identifier: GPL-2.0-only */
#include "arch/arm64/contpte.h"
#include "arch/pgtable_generic.h"
#include "arch/x86/pgtable.h"
#include "arch/x86/tlb.h"
#include "mm/fault.h"
#include "mm/functions.h"
#include "mm/internal.h"

const struct mirrored mirrored_functions[NR_FUNCTIONS] = {
#define FUNCTION(name, file, fidelity, text, why) { (void (*)(void))name, EV_##name },
#include "core/functions.def"
#undef FUNCTION
};
