/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "toy.h"

static void on_step(struct observer *o, enum event event, u32 page, u32 arg)
{
	struct toy *toy = (struct toy *)(void *)o;

	if (toy->trace)
		trace_record(toy->trace, event, page, arg, NULL);
}

static void place(struct machine *m)
{
	put(m, &m->folio[0].order, 2);
	put(m, &m->folio[0].pfn, 0x100);
	put(m, &m->folio[0].refcount, 4);
	put(m, &m->folio[0].mapcount, 4);
	put(m, &m->folio[1].pfn, 0x104);
	put(m, &m->folio[1].page, 4);
	put(m, &m->page[4].folio, 1);
	put64(m, &m->vma[0].start, 0x200000);
	put64(m, &m->vma[0].end, 0x400000);
	put64(m, &m->table[0].va, 0x200000);
	put(m, &m->device[0].nr_slots, 512);
	put(m, &m->device[0].nr_clusters, 1);
	for (u32 cpu = 0; cpu < 2; cpu++) {
		const struct task *task = state_task(m->s, cpu);

		put(m, &task->folio, NONE);
		put(m, &task->page, NONE);
	}
}

void toy_open(struct toy *toy)
{
	struct mm_state shape = { .nr_tlb = 8, .nr_placed = 2, .nr = {
		[ARRAY_CPU] = 2, [ARRAY_TASK] = 2, [ARRAY_MM] = 1, [ARRAY_VMA] = 1,
		[ARRAY_FOLIO] = 2, [ARRAY_PAGE] = 5, [ARRAY_TABLE] = 1, [ARRAY_PTE] = 512,
		[ARRAY_DEVICE] = 1, [ARRAY_CLUSTER] = 1, [ARRAY_SLOT] = 512, [ARRAY_TLB] = 16,
	} };

	state_layout(&shape);
	*toy = (struct toy){ .observer = { .step = on_step }, .seed = 1 };
	toy->words = calloc(shape.words, sizeof(u32));
	assert_non_null(toy->words);
	memcpy(toy->words, &shape, sizeof(shape));
	machine_attach(&toy->m, toy->words);
	toy->m.arch = archs[0];
	toy->m.kernel = &kernels[0];
	place(&toy->m);
}

void toy_record(struct toy *toy)
{
	toy->trace = trace_new(&toy->m);
	assert_non_null(toy->trace);
	toy->m.observer = &toy->observer;
}

void toy_close(struct toy *toy)
{
	trace_free(toy->trace);
	free(toy->words);
}

u32 toy_random(struct toy *toy, u32 below)
{
	toy->seed = toy->seed * 6364136223846793005u + 1442695040888963407u;
	return (u32)(toy->seed >> 33) % below;
}

void toy_random_step(struct toy *toy)
{
	struct machine *m = &toy->m;

	for (u32 i = toy_random(toy, 6); i > 0; i--) {
		switch (toy_random(toy, 4)) {
		case 0:
			put(m, &m->page[toy_random(toy, 5)].mapcount, toy_random(toy, 3));
			break;
		case 1:
			put64(m, &m->pte[toy_random(toy, 512)], (u64)toy_random(toy, 9) << 30);
			break;
		case 2:
			count(m, (enum counter)toy_random(toy, NR_COUNTERS), toy_random(toy, 3));
			break;
		default:
			put(m, &m->slot[toy_random(toy, 512)].count, toy_random(toy, 1000));
			break;
		}
	}
	step(m, (enum event)toy_random(toy, NR_EVENTS), toy_random(toy, 5), toy_random(toy, 100));
}

void toy_step(struct toy *toy, u32 cpu, u32 folio, enum phase phase, u32 page)
{
	struct machine *m = &toy->m;

	if (m->s->cpu != cpu)
		machine_run_on(m, cpu);
	put(m, &m->task->folio, folio);
	put(m, &m->task->phase, phase);
	put(m, &m->task->page, page);
	step(m, EV_ptep_get, page, 1);
}

static const char *folio_called(const void *ctx, u32 folio, char *buf)
{
	(void)ctx;
	buf[0] = (char)('A' + folio);
	buf[1] = 0;
	return buf;
}

static const char *mm_called(const void *ctx, u32 mm)
{
	(void)ctx;
	(void)mm;
	return "app";
}

static const char *device_called(const void *ctx, u32 device)
{
	(void)ctx;
	(void)device;
	return "zram0";
}

static const char *op_called(const void *ctx, u32 op)
{
	(void)ctx;
	(void)op;
	return "madvise_pageout";
}

const struct names toy_names = {
	.folio = folio_called, .mm = mm_called, .device = device_called, .op = op_called,
};
