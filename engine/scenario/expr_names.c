/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "arch/arch.h"
#include "arch/tlb.h"
#include "scenario/expr_names.h"
#include "scenario/json.h"
#include "scenario/run.h"

#define MAX_PAGES (1 << 24)	/* that one call may look at */

static const struct folio *folio_of(const struct expr_call *c)
{
	return state_folio(c->env->state, pfn_folio(c->env->state, (u64)c->arg[0]));
}

static const struct arch *arch_of(const struct expr_call *c)
{
	return arch_find(c->env->lane->arch);
}

static const struct pte_ops *pte_ops_of(const struct expr_call *c)
{
	return arch_of(c)->pte;
}

/* Optional last argument: how many pages or slots; one when left out. */
static bool how_many(struct expr_call *c, u32 at, s64 *nr)
{
	*nr = c->nr > at ? c->arg[at] : 1;
	return (*nr >= 1 && *nr <= MAX_PAGES) ||
	       error_set(c->err, "expected 1 to %d of them, not %lld", MAX_PAGES, (long long)*nr);
}

/* --- folios ---------------------------------------------------------------- */

static s64 refcount(const struct folio *folio) { return folio->refcount; }
static s64 mapcount(const struct folio *folio) { return folio->mapcount; }
static s64 entire_mapcount(const struct folio *folio) { return folio->entire_mapcount; }
static s64 pages_mapped(const struct folio *folio)
{
	return folio->nr_pages_mapped & (ENTIRELY_MAPPED - 1);
}
static s64 pincount(const struct folio *folio) { return folio->pincount; }
static s64 gup(const struct folio *folio) { return folio->gup; }
static s64 held(const struct folio *folio) { return folio->held; }
static s64 isolated(const struct folio *folio) { return folio_isolated(folio); }
static s64 swapcache(const struct folio *folio) { return folio_flag(folio, PG_swapcache); }

static bool has_flag(struct expr_call *c, s64 *value)
{
	*value = folio_flag(folio_of(c), (enum folio_flag)c->arg[1]);
	return true;
}

static bool page_of(struct expr_call *c, const struct page **page)
{
	const struct folio *folio = folio_of(c);

	if (c->arg[1] < 0 || c->arg[1] >= folio_nr_pages(folio))
		return error_set(c->err, "expected a page within 0..%u, not %lld",
				 folio_nr_pages(folio) - 1, (long long)c->arg[1]);
	*page = state_page(c->env->state, folio->page + (u32)c->arg[1]);
	return true;
}

static bool exclusive(struct expr_call *c, s64 *value)
{
	const struct folio *folio = folio_of(c);
	const struct page *page = state_page(c->env->state, folio->page);

	if (c->nr > 1) {
		if (!page_of(c, &page))
			return false;
		*value = page->anon_exclusive;
		return true;
	}
	*value = 0;
	for (u32 i = 0; i < folio_nr_pages(folio); i++)
		*value += page[i].anon_exclusive;
	return true;
}

static bool page_mapcount(struct expr_call *c, s64 *value)
{
	const struct page *page = NULL;

	if (!page_of(c, &page))
		return false;
	*value = page->mapcount;
	return true;
}

static bool slot_of(struct expr_call *c, s64 *value)
{
	const struct folio *folio = folio_of(c);

	*value = -1;
	if (folio->swap != NONE) {
		u32 device = slot_device(c->env->state, folio->swap);

		*value = folio->swap - state_device(c->env->state, device)->first_slot;
	}
	return true;
}

/* --- mms ------------------------------------------------------------------- */

static s64 filepages(const struct mm *mm) { return mm->filepages; }
static s64 shmempages(const struct mm *mm) { return mm->shmempages; }
static s64 anonpages(const struct mm *mm) { return mm->anonpages; }
static s64 swapents(const struct mm *mm) { return mm->swapents; }
static s64 hiwater_rss(const struct mm *mm) { return mm->hiwater_rss; }
static s64 tlb_pending(const struct mm *mm) { return mm->tlb_pending; }
static s64 tlb_flushed(const struct mm *mm) { return mm->tlb_flushed; }
static s64 tlb_gen(const struct mm *mm) { return (s64)mm->tlb_gen; }
static s64 cpumask(const struct mm *mm) { return (s64)mm->cpumask; }
static s64 mm_users(const struct mm *mm) { return mm->mm_users; }
static s64 on_mmlist(const struct mm *mm) { return mm->on_mmlist; }

/* --- page tables ----------------------------------------------------------- */

/* The entry of page i behind arg[1]; empty where there is no page table. */
static pte_t entry_of(const struct expr_call *c, s64 i)
{
	u64 va = ((u64)c->arg[1] & ~(PAGE_SIZE - 1)) + (u64)i * PAGE_SIZE;
	u32 pte = va_pte(c->env->state, (u32)c->arg[0], va);

	return pte == NONE ? 0 : *state_pte(c->env->state, pte);
}

static bool is_swap(const struct expr_call *c, pte_t pte)
{
	struct pte_desc desc;

	pte_ops_of(c)->decode(pte, &c->env->lane->kernel->types, &desc);
	return desc.kind == PTE_SWAP;
}

static bool is_present(const struct pte_ops *ops, pte_t pte) { return ops->present(pte); }
static bool is_empty(const struct pte_ops *ops, pte_t pte) { return ops->none(pte); }

static bool is_write(const struct pte_ops *ops, pte_t pte)
{
	return ops->present(pte) && ops->write(pte);
}

static bool is_young(const struct pte_ops *ops, pte_t pte)
{
	return ops->present(pte) && ops->young(pte);
}

static bool is_dirty(const struct pte_ops *ops, pte_t pte)
{
	return ops->present(pte) && ops->dirty(pte);
}

static bool is_cont(const struct pte_ops *ops, pte_t pte)
{
	return ops->present(pte) && ops->valid_cont(pte);
}

static bool is_zero_page(const struct pte_ops *ops, pte_t pte)
{
	return ops->present(pte) && is_zero_pfn(ops->pfn(pte));
}

static bool names_uffd_wp(const struct pte_ops *ops, const struct softleaf_types *types, pte_t pte,
			  u64 *pfn)
{
	*pfn = 0;
	return pte_is_marker(ops, types, pte, MARKER_UFFD_WP);
}

/* Entries that are not present, and what they name. */
static bool count_softleaf(struct expr_call *c,
			   bool (*pfn_of)(const struct pte_ops *, const struct softleaf_types *,
					  pte_t, u64 *),
			   s64 *value)
{
	s64 nr;
	u64 pfn;

	if (!how_many(c, 2, &nr))
		return false;
	*value = 0;
	for (s64 i = 0; i < nr; i++)
		*value += pfn_of(pte_ops_of(c), &c->env->lane->kernel->types, entry_of(c, i), &pfn);
	return true;
}

static bool migration_ptes(struct expr_call *c, s64 *value)
{
	return count_softleaf(c, softleaf_migration_pfn, value);
}

static bool device_exclusive_ptes(struct expr_call *c, s64 *value)
{
	return count_softleaf(c, softleaf_device_exclusive_pfn, value);
}

static bool uffd_wp_markers(struct expr_call *c, s64 *value)
{
	return count_softleaf(c, names_uffd_wp, value);
}

static bool raw_pte(struct expr_call *c, s64 *value)
{
	*value = (s64)entry_of(c, 0);
	return true;
}

/* The huge entry above an address; 0 if a page table is there, or nothing. */
static pmd_t huge_of(const struct expr_call *c)
{
	u32 pte = va_pte(c->env->state, (u32)c->arg[0], (u64)c->arg[1]);

	return pte == NONE ? 0 : state_table(c->env->state, pte / PTRS_PER_PTE)->pmd;
}

static bool raw_pmd(struct expr_call *c, s64 *value)
{
	*value = (s64)huge_of(c);
	return true;
}

static bool pmd_write(struct expr_call *c, s64 *value)
{
	*value = is_write(arch_of(c)->pmd, huge_of(c));
	return true;
}

static bool pmd_young(struct expr_call *c, s64 *value)
{
	*value = is_young(arch_of(c)->pmd, huge_of(c));
	return true;
}

static bool pmd_dirty(struct expr_call *c, s64 *value)
{
	*value = is_dirty(arch_of(c)->pmd, huge_of(c));
	return true;
}

static bool pte_pfn(struct expr_call *c, s64 *value)
{
	pte_t pte = entry_of(c, 0);

	*value = pte_ops_of(c)->present(pte) ? (s64)pte_ops_of(c)->pfn(pte) : -1;
	return true;
}

/* Bits that a present entry and a swap entry have in different places. */
static bool count_either(struct expr_call *c, bool (*present)(pte_t), bool (*swap)(pte_t),
			 s64 *value)
{
	s64 nr;

	if (!how_many(c, 2, &nr))
		return false;
	*value = 0;
	for (s64 i = 0; i < nr; i++) {
		pte_t pte = entry_of(c, i);

		if (pte_ops_of(c)->present(pte))
			*value += present && present(pte);
		else
			*value += is_swap(c, pte) && (!swap || swap(pte));
	}
	return true;
}

static bool swap_ptes(struct expr_call *c, s64 *value)
{
	return count_either(c, NULL, NULL, value);
}

static bool swp_exclusive(struct expr_call *c, s64 *value)
{
	return count_either(c, NULL, pte_ops_of(c)->swp_exclusive, value);
}

static bool soft_dirty(struct expr_call *c, s64 *value)
{
	return count_either(c, pte_ops_of(c)->soft_dirty, pte_ops_of(c)->swp_soft_dirty, value);
}

static bool uffd(struct expr_call *c, s64 *value)
{
	return count_either(c, pte_ops_of(c)->uffd, pte_ops_of(c)->swp_uffd, value);
}

static bool swp_offset(struct expr_call *c, s64 *value)
{
	pte_t pte = entry_of(c, 0);

	*value = is_swap(c, pte) ? (s64)pte_ops_of(c)->swp_offset(pte) : -1;
	return true;
}

/* --- swap ------------------------------------------------------------------ */

static const struct swap_device *device_of(const struct expr_call *c)
{
	return state_device(c->env->state, (u32)c->arg[0]);
}

static bool slots_of(struct expr_call *c, s64 nr, const struct slot **slot)
{
	const struct swap_device *device = device_of(c);

	if (c->arg[1] < 0 || c->arg[1] >= device->nr_slots || nr > device->nr_slots - c->arg[1])
		return error_set(c->err, "expected slots within 0..%u", device->nr_slots - 1);
	*slot = state_slot(c->env->state, device->first_slot + (u32)c->arg[1]);
	return true;
}

static bool slot_is_free(const struct slot *slot) { return slot->kind == SLOT_FREE; }
static bool slot_is_cached(const struct slot *slot) { return slot->kind == SLOT_FOLIO; }
static bool slot_is_swapped(const struct slot *slot) { return slot->kind == SLOT_SHADOW; }
static bool slot_is_zero(const struct slot *slot) { return slot->zero; }

/* Of one slot its count; of n slots the sum. */
static bool slot_count(struct expr_call *c, s64 *value)
{
	const struct slot *slot;
	s64 nr;

	if (!how_many(c, 2, &nr) || !slots_of(c, nr, &slot))
		return false;
	*value = 0;
	for (s64 i = 0; i < nr; i++)
		*value += slot[i].count;
	return true;
}

static bool cluster_count(struct expr_call *c, s64 *value)
{
	const struct slot *slot;

	if (!slots_of(c, 1, &slot))
		return false;
	*value = state_cluster(c->env->state, device_of(c)->first_cluster +
			       (u32)c->arg[1] / SWAPFILE_CLUSTER)->count;
	return true;
}

static bool inuse(struct expr_call *c, s64 *value)
{
	*value = device_of(c)->inuse;
	return true;
}

/* --- CPUs ------------------------------------------------------------------ */

/* Argument at, or the CPU that runs. */
static bool cpu_of(struct expr_call *c, u32 at, u32 *cpu)
{
	u32 nr = c->env->state->nr[ARRAY_CPU];

	*cpu = c->env->state->cpu;
	if (c->nr <= at)
		return true;
	if (c->arg[at] < 0 || c->arg[at] >= nr)
		return error_set(c->err, "expected a CPU within 0..%u, not %lld", nr - 1,
				 (long long)c->arg[at]);
	*cpu = (u32)c->arg[at];
	return true;
}

static bool ubc_flush_required(struct expr_call *c, s64 *value)
{
	u32 cpu;

	if (!cpu_of(c, 0, &cpu))
		return false;
	*value = state_task(c->env->state, cpu)->ubc_flush_required;
	return true;
}

static bool ubc_writable(struct expr_call *c, s64 *value)
{
	u32 cpu;

	if (!cpu_of(c, 0, &cpu))
		return false;
	*value = state_task(c->env->state, cpu)->ubc_writable;
	return true;
}

static bool ubc_cpumask(struct expr_call *c, s64 *value)
{
	u32 cpu;

	if (!cpu_of(c, 0, &cpu))
		return false;
	*value = (s64)state_task(c->env->state, cpu)->ubc_cpumask;
	return true;
}

static bool tlb_holds(struct expr_call *c, s64 *value)
{
	u32 cpu;

	if (!cpu_of(c, 0, &cpu))
		return false;
	*value = tlb_find(c->env->state, cpu, (u32)c->arg[1], (u64)c->arg[2]) != NONE;
	return true;
}

static bool tlb_entries(struct expr_call *c, s64 *value)
{
	u32 cpu;

	if (!cpu_of(c, 0, &cpu))
		return false;
	*value = state_cpu(c->env->state, cpu)->nr_tlb;
	return true;
}

static bool stale_entries(struct expr_call *c, s64 *value)
{
	const struct mm_state *s = c->env->state;
	u32 cpu;

	if (!cpu_of(c, 0, &cpu))
		return false;
	*value = 0;
	for (u32 i = 0; i < state_cpu(s, cpu)->nr_tlb; i++)
		*value += tlb_stale(s, arch_of(c), state_tlb(s, s->nr_tlb * cpu + i));
	return true;
}

/* --- the run --------------------------------------------------------------- */

/* The end of the lane that the call names. */
static bool lane_of(struct expr_call *c, const struct lane **lane)
{
	for (u32 i = 0; c->env->lanes && i < c->env->nr_lanes; i++) {
		*lane = &c->env->lanes[i];
		if ((*lane)->words && strcmp((*lane)->spec->name, c->lane) == 0)
			return true;
	}
	return error_set(c->err, "lane \"%s\" has not run", c->lane);
}

static bool counted(struct expr_call *c, s64 *value)
{
	const struct mm_state *s = c->env->state;
	const struct lane *lane;

	if (c->lane) {
		if (!lane_of(c, &lane))
			return false;
		s = (const struct mm_state *)(const void *)lane->words;
	}
	*value = (s64)s->count[c->arg[0]];
	return true;
}

static bool steps(struct expr_call *c, s64 *value)
{
	const struct lane *lane;

	*value = (s64)c->env->step;
	if (c->lane) {
		if (!lane_of(c, &lane))
			return false;
		*value = (s64)lane->steps;
	}
	return true;
}

const struct expr_name expr_names[] = {
	{ "refcount", "F", "folio", "its references", .folio = refcount },
	{ "mapcount", "F", "folio", "its mappings, PTE and PMD", .folio = mapcount },
	{ "entire_mapcount", "F", "folio", "its PMD mappings", .folio = entire_mapcount },
	{ "nr_pages_mapped", "F", "folio", "its pages with a PTE mapping", .folio = pages_mapped },
	{ "pincount", "F", "folio", "its FOLL_PIN pins", .folio = pincount },
	{ "gup", "F", "folio",
	  "references held by pins and by others outside reclaim", .folio = gup },
	{ "held", "F", "folio",
	  "references of the kernel code at work: who splits it", .folio = held },
	{ "isolated", "F", "folio",
	  "1: reclaim has taken it off the LRU lists", .folio = isolated },
	{ "swapcache", "F", "folio", "1: it is in the swap cache", .folio = swapcache },
	{ "slot_of", "F", "folio",
	  "offset of its first swap slot, -1 outside the swap cache", .any = slot_of },
	{ "flag", "Ff", "folio, flag", "1: the flag is set", .any = has_flag },
	{ "exclusive", "F?n", "folio[, page]",
	  "PageAnonExclusive of a page; without it: of how many pages",
	  .any = exclusive },
	{ "page_mapcount", "Fn", "folio, page", "PTE mappings of one page", .any = page_mapcount },

	{ "anonpages", "M", "mm", "MM_ANONPAGES", .mm = anonpages },
	{ "shmempages", "M", "mm", "MM_SHMEMPAGES", .mm = shmempages },
	{ "filepages", "M", "mm", "MM_FILEPAGES", .mm = filepages },
	{ "swapents", "M", "mm", "MM_SWAPENTS", .mm = swapents },
	{ "hiwater_rss", "M", "mm", "the highest RSS noted", .mm = hiwater_rss },
	{ "tlb_pending", "M", "mm", "unmaps that wait for a flush, counted up", .mm = tlb_pending },
	{ "tlb_flushed", "M", "mm", "how far of them are flushed", .mm = tlb_flushed },
	{ "tlb_gen", "M", "mm", "context.tlb_gen (x86)", .mm = tlb_gen },
	{ "mm_cpumask", "M", "mm",
	  "CPUs that may hold translations, a bit each", .hex = true, .mm = cpumask },
	{ "mm_users", "M", "mm",
	  "1; 0 once the process has exited, or before it is forked", .mm = mm_users },
	{ "on_mmlist", "M", "mm", "1: swapoff would find it", .mm = on_mmlist },

	{ "pte", "Mn", "mm, va",
	  "the raw entry; 0 where there is no page table", .hex = true, .any = raw_pte },
	{ "pmd", "Mn", "mm, va", "the raw huge entry; 0 where none is", .hex = true,
	  .any = raw_pmd },
	{ "pmd_write", "Mn", "mm, va", "1: a huge entry is there, and writable", .any = pmd_write },
	{ "pmd_young", "Mn", "mm, va", "1: a huge entry is there, and young", .any = pmd_young },
	{ "pmd_dirty", "Mn", "mm, va", "1: a huge entry is there, and dirty", .any = pmd_dirty },
	{ "pfn", "Mn", "mm, va", "the page frame mapped, -1 if none", .hex = true, .any = pte_pfn },
	{ "present", "Mn?n", "mm, va[, n]", "present entries", .pte = is_present },
	{ "empty", "Mn?n", "mm, va[, n]", "entries that are zero", .pte = is_empty },
	{ "swap_pte", "Mn?n", "mm, va[, n]", "swap entries", .any = swap_ptes },
	{ "migration", "Mn?n", "mm, va[, n]", "migration entries", .any = migration_ptes },
	{ "device_exclusive", "Mn?n", "mm, va[, n]", "device-exclusive entries",
	  .any = device_exclusive_ptes },
	{ "uffd_wp_marker", "Mn?n", "mm, va[, n]", "markers of userfaultfd write-protection",
	  .any = uffd_wp_markers },
	{ "zero_page", "Mn?n", "mm, va[, n]",
	  "entries that map the shared zero page", .pte = is_zero_page },
	{ "write", "Mn?n", "mm, va[, n]", "present entries that are writable", .pte = is_write },
	{ "young", "Mn?n", "mm, va[, n]", "present entries that are young", .pte = is_young },
	{ "dirty", "Mn?n", "mm, va[, n]", "present entries that are dirty", .pte = is_dirty },
	{ "cont", "Mn?n", "mm, va[, n]", "entries of contpte blocks (arm64)", .pte = is_cont },
	{ "soft_dirty", "Mn?n", "mm, va[, n]",
	  "present and swap entries marked soft-dirty", .any = soft_dirty },
	{ "uffd", "Mn?n", "mm, va[, n]",
	  "present and swap entries marked userfaultfd-wp", .any = uffd },
	{ "swp_exclusive", "Mn?n", "mm, va[, n]",
	  "swap entries with the exclusive mark", .any = swp_exclusive },
	{ "swp_offset", "Mn", "mm, va",
	  "the slot that a swap entry names, -1 if it is none", .any = swp_offset },

	{ "slot_count", "Dn?n", "device, slot[, n]",
	  "swap entries that name the slot; the sum of n slots",
	  .any = slot_count },
	{ "slot_free", "Dn?n", "device, slot[, n]", "free slots", .slot = slot_is_free },
	{ "slot_cached", "Dn?n", "device, slot[, n]", "slots whose folio is in the swap cache",
	  .slot = slot_is_cached },
	{ "slot_swapped", "Dn?n", "device, slot[, n]",
	  "slots in use without a folio", .slot = slot_is_swapped },
	{ "slot_zero", "Dn?n", "device, slot[, n]",
	  "slots known to be all zeroes", .slot = slot_is_zero },
	{ "cluster_count", "Dn", "device, slot",
	  "slots in use in that slot's cluster", .any = cluster_count },
	{ "inuse", "D", "device", "slots in use", .any = inuse },

	{ "tlb", "nMn", "cpu, mm, va",
	  "1: the CPU's TLB translates the address", .any = tlb_holds },
	{ "tlb_entries", "n", "cpu", "entries in the CPU's TLB", .any = tlb_entries },
	{ "tlb_stale", "n", "cpu",
	  "entries that allow what the page table does not", .any = stale_entries },
	{ "ubc_flush_required", "?n", "[cpu]",
	  "1: the task there has a flush to do; without cpu: the one that runs",
	  .any = ubc_flush_required },
	{ "ubc_writable", "?n", "[cpu]",
	  "1: a writable entry is among what it has to flush", .any = ubc_writable },
	{ "ubc_cpumask", "?n", "[cpu]",
	  "the CPUs that it has to flush, a bit each (x86)", .hex = true,
	  .any = ubc_cpumask },

	{ "count", "c?l", "counter[, \"lane\"]",
	  "a counter; with a lane: that lane's at its end", .any = counted },
	{ "steps", "?l", "[\"lane\"]",
	  "steps so far; with a lane: that lane's in all", .any = steps },
};
const u32 nr_expr_names = NR_OF(expr_names);

u32 expr_nr_functions(void)
{
	return nr_expr_names;
}

const char *expr_function(u32 i, const char **args, const char **text)
{
	*args = expr_names[i].shown;
	*text = expr_names[i].text;
	return expr_names[i].name;
}

bool expr_call_eval(const struct expr_name *name, struct expr_call *c, s64 *value)
{
	const struct slot *slot;
	s64 nr;

	if (name->any)
		return name->any(c, value);
	*value = 0;
	if (name->folio) {
		*value = name->folio(folio_of(c));
		return true;
	}
	if (name->mm) {
		*value = name->mm(state_mm(c->env->state, (u32)c->arg[0]));
		return true;
	}
	if (!how_many(c, 2, &nr))
		return false;
	if (name->slot && !slots_of(c, nr, &slot))
		return false;
	for (s64 i = 0; i < nr; i++)
		*value += name->slot ? name->slot(&slot[i]) :
				       name->pte(pte_ops_of(c), entry_of(c, i));
	return true;
}
