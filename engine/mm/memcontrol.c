/* SPDX-License-Identifier: GPL-2.0-only */
#include "mm/internal.h"

/* mm/memcontrol.c:__mem_cgroup_try_charge_swap: one memory control group without a limit */
__mirrored void __mem_cgroup_try_charge_swap(struct machine *m, const struct folio *folio)
{
	enter(m, EV___mem_cgroup_try_charge_swap, folio->page, folio_nr_pages(folio));
}
