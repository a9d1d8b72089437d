/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>

#include "arch/arch.h"
#include "arch/tlb.h"
#include "cmd.h"
#include "core/slot.h"
#include "out.h"
#include "scenario/expr.h"
#include "state_text.h"

static void write_step(struct json_out *o, const struct moment *at)
{
	const struct step *step = cursor_step(&at->c);
	const struct call_path *path = cursor_path(&at->c);

	json_string(o, "lane", at->lane->spec->name);
	json_number(o, "step", at->c.pos);
	json_string(o, "event", step ? event_info[step->event].name : NULL);
	json_array(o, "path");
	for (u32 i = 0; step && i < path->nr; i++)
		json_string(o, NULL, event_info[path->function[i]].name);
	json_close(o);
}

/* folio->swap.val: the type above the offset, as in mm/swapfile.c:swp_entry(). */
static u64 folio_swap_val(const struct mm_state *s, u32 slot)
{
	const struct swap_device *device = state_device(s, slot_device(s, slot));

	return (u64)device->type << 58 | (slot - device->first_slot);
}

static void write_folio(struct json_out *o, const struct moment *at, u32 i)
{
	const struct mm_state *s = at->c.live;
	const struct folio *folio = state_folio(s, i);
	char name[32];

	json_object(o, NULL);
	json_string(o, "id", at->names.folio(at->names.ctx, i, name));
	json_number(o, "order", folio->order);
	json_number(o, "refcount", folio->refcount);
	json_number(o, "mapcount", folio->mapcount);
	json_number(o, "nr_pages_mapped", folio->nr_pages_mapped);
	json_number(o, "entire_mapcount", folio->entire_mapcount);
	json_number(o, "pincount", folio->pincount);
	json_array(o, "flags");
	for (u32 k = 0; k < NR_FOLIO_FLAGS; k++)
		if (folio_flag(folio, (enum folio_flag)k))
			json_string(o, NULL, folio_flag_names[k]);
	json_close(o);
	if (folio->swap == NONE)
		json_null(o, "swap");
	else
		json_hex(o, "swap", folio_swap_val(s, folio->swap), 1);
	json_array(o, "exclusive");
	for (u32 k = 0; k < folio_nr_pages(folio); k++)
		json_number(o, NULL, state_page(s, folio->page + k)->anon_exclusive);
	json_close(o);
	json_close(o);
}

static void write_mm(struct json_out *o, const struct moment *at, u32 i)
{
	const struct mm *mm = state_mm(at->c.live, i);

	json_object(o, NULL);
	json_string(o, "id", at->names.mm(at->names.ctx, i));
	json_number(o, "anonpages", mm->anonpages);
	json_number(o, "shmempages", mm->shmempages);
	json_number(o, "filepages", mm->filepages);
	json_number(o, "swapents", mm->swapents);
	json_number(o, "tlb_pending", mm->tlb_pending);
	json_number(o, "tlb_flushed", mm->tlb_flushed);
	json_close(o);
}

static void write_entry(struct json_out *o, const struct moment *at, u32 mm, u64 va,
			const struct pte_ops *ops, u64 raw)
{
	char text[160];

	json_object(o, NULL);
	json_string(o, "mm", at->names.mm(at->names.ctx, mm));
	json_hex(o, "va", va, 1);
	json_string(o, "level", ops->nr_pages > 1 ? "pmd" : "pte");
	json_hex(o, "raw", raw, 16);
	pte_text(ops, &at->lane->spec->kernel->types, raw, text, sizeof(text));
	json_string(o, "text", text);
	json_close(o);
}

/* Every entry inside a VMA, empty ones too. */
static void write_ptes(struct json_out *o, const struct moment *at)
{
	const struct arch *arch = at->lane->m.arch;
	const struct mm_state *s = at->c.live;

	for (u32 i = 0; i < s->nr[ARRAY_TABLE]; i++) {
		const struct table *table = state_table(s, i);

		if (table->pmd)
			write_entry(o, at, table->mm, table->va, arch->pmd, table->pmd);
	}
	for (u32 i = 0; i < s->nr[ARRAY_VMA]; i++) {
		for (u64 k = 0; k < vma_pages(s, i); k++) {
			u32 pte = vma_page_pte(s, i, k);

			if (pte != NONE)
				write_entry(o, at, state_vma(s, i)->mm, pte_va(s, pte), arch->pte,
					    *state_pte(s, pte));
		}
	}
}

/* Slots and clusters that are in use. */
static void write_device(struct json_out *o, const struct moment *at, u32 i, bool clusters)
{
	const struct mm_state *s = at->c.live;
	const struct swap_device *device = state_device(s, i);
	const char *id = at->scenario->devices[i].id;

	for (u32 k = 0; !clusters && k < device->nr_slots; k++) {
		const struct slot *slot = state_slot(s, device->first_slot + k);

		if (slot->kind == SLOT_FREE && !slot->count)
			continue;
		json_object(o, NULL);
		json_string(o, "device", id);
		json_number(o, "offset", k);
		json_string(o, "kind", slot_kind_names[slot->kind]);
		json_number(o, "count", slot->count);
		json_hex(o, "raw", slot_raw(s, at->lane->spec->kernel, device->first_slot + k), 1);
		json_close(o);
	}
	for (u32 k = 0; clusters && k < device->nr_clusters; k++) {
		const struct cluster *cluster = state_cluster(s, device->first_cluster + k);

		if (!cluster->count && !cluster->locked)
			continue;
		json_object(o, NULL);
		json_string(o, "device", id);
		json_number(o, "index", k);
		json_number(o, "count", cluster->count);
		json_number(o, "order", cluster->order);
		json_bool(o, "locked", cluster->locked);
		json_close(o);
	}
}

static void write_devices(struct json_out *o, const struct moment *at, bool clusters)
{
	for (u32 i = 0; i < at->c.live->nr[ARRAY_DEVICE]; i++)
		write_device(o, at, i, clusters);
}

static void write_ubc(struct json_out *o, const struct mm_state *s)
{
	const struct task *task = state_task(s, s->cpu);

	json_object(o, "ubc");
	json_bool(o, "flush_required", task->ubc_flush_required);
	json_bool(o, "writable", task->ubc_writable);
	json_hex(o, "cpumask", task->ubc_cpumask, 1);
	json_close(o);
}

static void write_tlbs(struct json_out *o, const struct moment *at)
{
	const struct mm_state *s = at->c.live;

	for (u32 cpu = 0; cpu < s->nr[ARRAY_CPU]; cpu++) {
		for (u32 i = 0; i < state_cpu(s, cpu)->nr_tlb; i++) {
			const struct tlb_entry *entry = state_tlb(s, cpu * s->nr_tlb + i);

			json_object(o, NULL);
			json_number(o, "cpu", cpu);
			json_hex(o, "va", entry->va, 1);
			json_hex(o, "pfn", entry->pfn, 1);
			json_number(o, "span", entry->span);
			json_bool(o, "writable", entry->flags & TLB_WRITABLE);
			json_bool(o, "dirty", entry->flags & TLB_DIRTY);
			json_bool(o, "stale", tlb_stale(s, at->lane->m.arch, entry));
			json_close(o);
		}
	}
}

static void print_json(const struct moment *at)
{
	const struct mm_state *s = at->c.live;
	struct json_out o;

	json_out_begin(&o, stdout, 2);
	json_object(&o, NULL);
	write_step(&o, at);
	json_array(&o, "folios");
	for (u32 i = 0; i < s->nr[ARRAY_FOLIO]; i++)
		if (folio_exists(s, i))
			write_folio(&o, at, i);
	json_close(&o);
	json_array(&o, "mms");
	for (u32 i = 0; i < s->nr[ARRAY_MM]; i++)
		write_mm(&o, at, i);
	json_close(&o);
	json_array(&o, "ptes");
	write_ptes(&o, at);
	json_close(&o);
	json_string(&o, "slots_in", slot_place(at->lane->spec->kernel));
	json_array(&o, "slots");
	write_devices(&o, at, false);
	json_close(&o);
	json_array(&o, "clusters");
	write_devices(&o, at, true);
	json_close(&o);
	write_ubc(&o, s);
	json_array(&o, "tlbs");
	write_tlbs(&o, at);
	json_close(&o);
	json_close(&o);
}

struct printing {
	struct moment at;
	u32 pos;
	u32 format;
	bool done;
};

static bool print_part(void *ctx, const struct trace *t)
{
	struct printing *p = ctx;

	if (!cursor_open(&p->at.c, t))
		return false;
	cursor_seek(&p->at.c, p->pos);
	if (p->format == FORMAT_JSON)
		print_json(&p->at);
	else
		print_state_text(&p->at);
	cursor_close(&p->at.c);
	p->done = true;
	return false;
}

static int print_state(const struct options *opt, const struct run *run)
{
	struct printing p = { .at = { .scenario = run->scenario,
				      .names = scenario_names(run->scenario) },
			      .format = opt->format };
	struct error err = { .text = "" };
	u32 lane;

	if (!run_moment(run, opt->at, &lane, &p.pos, &err))
		return complain(STATUS_USAGE, "%s", err.text);
	p.at.lane = &run->lanes[lane];
	lane_look(&run->lanes[lane], p.pos - (p.pos > 0), p.pos, print_part, &p);
	return p.done ? command_limits(run) : complain(STATUS_INTERNAL, "out of memory");
}

int cmd_state(const struct options *opt)
{
	struct run run;
	int status;

	if (!opt->at)
		return complain(STATUS_USAGE, "state needs --at MOMENT: N, LANE:N or end");
	status = command_open(opt, opt->args[0], RUN_COUNT, false, &run);
	if (status != STATUS_OK)
		return status;
	status = print_state(opt, &run);
	command_close(&run);
	return status;
}
