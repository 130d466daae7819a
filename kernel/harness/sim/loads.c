// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The loads of the table of mixed loads, and days between them. */

#include <stdlib.h>
#include <string.h>

#include "loads.h"

#define SUBJECT_CPU	0

struct process {
	struct space space;
	unsigned int cpu;
	uint32_t *frames;
	uint32_t count, room;
	/* Huge pages, told by their first frame. */
	uint32_t huge[4096];
	uint8_t huge_order[4096];
	uint32_t nr_huge;
};

static struct process *process_new(unsigned int cpu, uint32_t room)
{
	struct process *process = calloc(1, sizeof(*process));

	process->cpu = cpu;
	process->room = room;
	process->frames = malloc((room + 1) * sizeof(*process->frames));
	process->space.held = process->frames;
	return process;
}

static void live(struct machine *machine, struct space *space, uint32_t frame,
		 unsigned int order, bool mapped)
{
	space->pages += mapped ? 1U << order : -(1U << order);
	if (machine->design->live)
		machine->design->live(&machine->zone, space, frame, order,
				      mapped);
}

static bool fault(struct machine *machine, struct process *process)
{
	uint32_t frame = machine->design->anon(&machine->zone, process->cpu,
					       &process->space, 0);

	if (frame == NONE || process->count == process->room)
		return false;
	live(machine, &process->space, frame, 0, true);
	process->frames[process->count++] = frame;
	process->space.nr_held = process->count;
	return true;
}

static bool fault_huge(struct machine *machine, struct process *process,
		       unsigned int order)
{
	uint32_t frame = machine->design->anon(&machine->zone, process->cpu,
					       &process->space, order);

	if (frame == NONE || process->nr_huge == 4096)
		return false;
	live(machine, &process->space, frame, order, true);
	process->huge_order[process->nr_huge] = order;
	process->huge[process->nr_huge++] = frame;
	return true;
}

static void unmap(struct machine *machine, struct process *process, uint32_t at)
{
	uint32_t frame = process->frames[at];

	process->frames[at] = process->frames[--process->count];
	process->space.nr_held = process->count;
	live(machine, &process->space, frame, 0, false);
	cpu_free(&machine->zone, process->cpu, frame);
}

static void process_end(struct machine *machine, struct process *process,
			bool in_disorder)
{
	struct zone *zone = &machine->zone;

	while (process->count)
		unmap(machine, process,
		      in_disorder ? sim_random(process->count)
				  : process->count - 1);
	for (uint32_t i = 0; i < process->nr_huge; i++) {
		live(machine, &process->space, process->huge[i],
		     process->huge_order[i], false);
		zone_lock(zone);
		buddy_free(zone, process->huge[i], process->huge_order[i]);
		zone_unlock(zone);
	}
	for (unsigned int cpu = 0; machine->design->leave && cpu < MAX_CPUS; cpu++)
		machine->design->leave(zone, cpu, &process->space);
	free(process->space.bits);
	free(process->frames);
	free(process);
}

static void count_colors(struct machine *machine, const struct process *process,
			 uint16_t *count)
{
	for (uint32_t i = 0; i < process->count; i++)
		count[zone_color(&machine->zone, process->frames[i])]++;
	for (uint32_t i = 0; i < process->nr_huge; i++)
		for (uint32_t j = 0; j < 1U << process->huge_order[i]; j++)
			count[zone_color(&machine->zone,
					 process->huge[i] + j)]++;
}

static double shared(const uint16_t *count, uint32_t colors)
{
	uint64_t pages = 0, conflicts = 0;

	for (uint32_t color = 0; color < colors; color++) {
		pages += count[color];
		conflicts += count[color] > 1 ? count[color] : 0;
	}
	return pages ? (double)conflicts / pages : 0;
}

static struct conflicts measure(struct machine *machine,
				struct process *const *processes,
				unsigned int nr)
{
	uint32_t colors = machine->zone.colors;
	uint16_t *count = malloc(colors * sizeof(*count));
	struct conflicts found = { 0, 0 };

	for (unsigned int i = 0; i < nr; i++) {
		memset(count, 0, colors * sizeof(*count));
		count_colors(machine, processes[i], count);
		found.within += shared(count, colors) / nr;
	}
	memset(count, 0, colors * sizeof(*count));
	for (unsigned int i = 0; i < nr; i++)
		count_colors(machine, processes[i], count);
	found.across = shared(count, colors);
	free(count);
	return found;
}

static struct conflicts done(struct machine *machine, struct process *process)
{
	struct conflicts found = measure(machine, &process, 1);

	process_end(machine, process, true);
	return found;
}

static struct conflicts alone(struct machine *machine, double fill)
{
	uint32_t pages = machine->zone.colors * fill;
	struct process *process = process_new(SUBJECT_CPU, pages);

	while (process->count < pages && fault(machine, process))
		;
	return done(machine, process);
}

/* What the neighbors left is given back before the next load. */
static void end_files(struct machine *machine)
{
	for (int file = 0; file < 64; file++)
		while (machine->nr_churned[file])
			cpu_free(&machine->zone, 1,
				 machine->churned[file][--machine->nr_churned[file]]);
	while (machine->nr_streamed)
		cpu_free(&machine->zone, 1,
			 machine->streamed[--machine->nr_streamed]);
	machine->stream_at = 0;
}

/* What a neighbor does while the subject touches sixteen pages. */
typedef void (*neighbor)(struct machine *machine, unsigned int cpu);

static struct conflicts beside(struct machine *machine, double fill,
			       neighbor neighbor, unsigned int cpu)
{
	uint32_t pages = machine->zone.colors * fill;
	struct process *process = process_new(SUBJECT_CPU, pages);

	while (process->count < pages && fault(machine, process))
		if (process->count % 16 == 0)
			neighbor(machine, cpu);
	end_files(machine);
	return done(machine, process);
}

static void anon_churn(struct machine *machine, unsigned int cpu)
{
	uint32_t pages = 1 + sim_random(48);
	struct process *process = process_new(cpu, pages);

	while (process->count < pages && fault(machine, process))
		;
	process_end(machine, process, false);
}

static void forks(struct machine *machine, unsigned int cpu)
{
	struct process *process = process_new(cpu, 40);
	uint32_t tables[3];

	for (int i = 0; i < 3; i++)
		tables[i] = cpu_alloc(&machine->zone, cpu, UNMOVABLE);
	while (process->count < 40 && fault(machine, process))
		;
	process_end(machine, process, false);
	for (int i = 0; i < 3; i++)
		cpu_free(&machine->zone, cpu, tables[i]);
}

/* Sixty-four files of up to so many pages, written and cut again and again. */
static void file_churn(struct machine *machine, unsigned int cpu)
{
	uint32_t file = sim_random(64);
	uint32_t *count = &machine->nr_churned[file];

	while (*count)
		cpu_free(&machine->zone, cpu, machine->churned[file][--*count]);
	for (uint32_t wanted = 1 + sim_random(64); *count < wanted; ) {
		uint32_t frame = machine->design->file(&machine->zone, cpu);

		if (frame == NONE)
			break;
		machine->churned[file][(*count)++] = frame;
	}
}

/* A quarter of memory of a large file, read and dropped in the order it came. */
static void stream(struct machine *machine, unsigned int cpu)
{
	uint32_t room = machine->zone.frames / 4;

	for (int i = 0; i < 32; i++) {
		uint32_t *page = &machine->streamed[machine->stream_at];

		if (machine->nr_streamed == room)
			cpu_free(&machine->zone, cpu, *page);
		else
			machine->nr_streamed++;
		*page = machine->design->file(&machine->zone, cpu);
		machine->stream_at = (machine->stream_at + 1) % room;
	}
}

#define BESIDE(name, neighbor)						\
static struct conflicts name##_same(struct machine *machine, double fill) \
{									\
	return beside(machine, fill, neighbor, SUBJECT_CPU);		\
}									\
static struct conflicts name##_other(struct machine *machine, double fill) \
{									\
	return beside(machine, fill, neighbor, SUBJECT_CPU + 1);	\
}
BESIDE(beside_anon, anon_churn)
BESIDE(beside_files, file_churn)
BESIDE(beside_forks, forks)
BESIDE(beside_stream, stream)

static struct conflicts mixed_orders(struct machine *machine, double fill,
				     unsigned int order)
{
	uint32_t pages = machine->zone.colors * fill, size = 1U << order;
	struct process *process = process_new(SUBJECT_CPU, pages);

	while (process->space.pages + 2 * size <= pages) {
		if (!fault_huge(machine, process, order))
			break;
		for (uint32_t i = 0; i < size; i++)
			fault(machine, process);
	}
	return done(machine, process);
}

static struct conflicts half_huge(struct machine *machine, double fill)
{
	return mixed_orders(machine, fill, BLOCK_ORDER);
}

static struct conflicts mthp(struct machine *machine, double fill)
{
	return mixed_orders(machine, fill, 4);
}

static struct conflicts refault(struct machine *machine, double fill)
{
	uint32_t pages = machine->zone.colors * fill;
	struct process *process = process_new(SUBJECT_CPU, pages);

	for (int round = 0; round < 7; round++) {
		for (uint32_t i = process->count; i-- > 0; )
			if (sim_random(2))
				unmap(machine, process, i);
		while (process->count < pages && fault(machine, process))
			;
	}
	return done(machine, process);
}

/* @parts weigh how large each process is. */
static struct conflicts together(struct machine *machine, double fill,
				 const unsigned int *parts, unsigned int nr)
{
	struct process *processes[8] = { NULL };
	struct conflicts found;
	unsigned int sum = 0, open = nr;
	uint32_t total = machine->zone.colors * fill;

	for (unsigned int i = 0; i < nr; i++)
		sum += parts[i];
	for (unsigned int i = 0; i < nr; i++)
		processes[i] = process_new(i % 2, total / sum * parts[i]);
	while (open) {
		struct process *process = processes[sim_random(nr)];

		open = 0;
		for (uint32_t turn = 1 + sim_random(64); turn; turn--)
			if (process->count == process->room ||
			    !fault(machine, process))
				break;
		for (unsigned int i = 0; i < nr; i++)
			open += processes[i]->count < processes[i]->room;
	}
	found = measure(machine, processes, nr);
	for (unsigned int i = 0; i < nr; i++)
		process_end(machine, processes[i], true);
	return found;
}

static struct conflicts processes_2(struct machine *machine, double fill)
{
	return together(machine, fill, (unsigned int[]){ 1, 1 }, 2);
}

static struct conflicts processes_4(struct machine *machine, double fill)
{
	return together(machine, fill, (unsigned int[]){ 1, 1, 1, 1 }, 4);
}

static struct conflicts processes_8(struct machine *machine, double fill)
{
	static const unsigned int parts[] = { 1, 2, 3, 5, 8, 13, 21, 34 };

	return together(machine, fill, parts, 8);
}

static struct conflicts copy_on_write(struct machine *machine, double fill)
{
	uint32_t pages = machine->zone.colors * fill / 2;
	struct process *pair[2] = { process_new(0, pages), process_new(0, pages) };
	struct conflicts found;

	for (int i = 0; i < 2; i++)
		while (pair[i]->count < pages && fault(machine, pair[i]))
			;
	found = measure(machine, pair, 2);
	process_end(machine, pair[1], false);
	process_end(machine, pair[0], false);
	return found;
}

const struct load loads[] = {
	{ "alone", .94, alone },
	{ "alone", .5, alone },
	{ "anon-churn, same CPU", .94, beside_anon_same },
	{ "anon-churn, other CPU", .94, beside_anon_other },
	{ "file-churn, same CPU", .94, beside_files_same },
	{ "file-churn, other CPU", .94, beside_files_other },
	{ "forks, same CPU", .94, beside_forks_same },
	{ "forks, other CPU", .94, beside_forks_other },
	{ "stream, same CPU", .94, beside_stream_same },
	{ "stream, other CPU", .94, beside_stream_other },
	{ "half-huge", .94, half_huge },
	{ "mthp", .94, mthp },
	{ "refault", .94, refault },
	{ "refault", .5, refault },
	{ "processes-2", .94, processes_2 },
	{ "processes-4", .94, processes_4 },
	{ "processes-8 unequal", .94, processes_8 },
	{ "copy-on-write", .94, copy_on_write },
};
const unsigned int nr_loads = sizeof(loads) / sizeof(*loads);

void machine_start(struct machine *machine, const struct design *design,
		   uint32_t frames, uint32_t colors)
{
	memset(machine, 0, sizeof(*machine));
	zone_init(&machine->zone, frames, colors, design == &design_shuffle);
	machine->design = design;
	machine->files = malloc(frames * sizeof(*machine->files));
	machine->slabs = malloc(frames * sizeof(*machine->slabs));
	machine->streamed = malloc(frames / 4 * sizeof(*machine->streamed));
	if (design->start)
		design->start(&machine->zone);
	/* What a kernel and its first programs take. */
	while (machine->nr_slabs < frames / 64)
		machine->slabs[machine->nr_slabs++] =
			cpu_alloc(&machine->zone, 0, UNMOVABLE);
	while (machine->nr_files < frames / 64)
		machine->files[machine->nr_files++] =
			design->file(&machine->zone, 0);
}

void machine_stop(struct machine *machine)
{
	zone_check(&machine->zone);
	if (machine->design->stop)
		machine->design->stop(&machine->zone);
	zone_free_memory(&machine->zone);
	free(machine->files);
	free(machine->slabs);
	free(machine->streamed);
}

static void drop_some(struct machine *machine, uint32_t *pages, uint32_t *count,
		      uint32_t keep)
{
	while (*count > keep) {
		uint32_t at = sim_random(*count);
		uint32_t frame = pages[at];

		pages[at] = pages[--*count];
		cpu_free(&machine->zone, sim_random(2), frame);
	}
}

/* Six processes touch and free three quarters of memory; files and slabs grow
 * meanwhile, and most of them go.
 */
void machine_age(struct machine *machine)
{
	struct zone *zone = &machine->zone;
	uint32_t files = machine->nr_files, slabs = machine->nr_slabs;

	for (int round = 0; round < 2; round++) {
		uint32_t each = zone->free * 3ULL / 4 / 6;
		struct process *processes[6];
		unsigned int open = 6;

		for (int i = 0; i < 6; i++)
			processes[i] = process_new(i % 2, each);
		while (open) {
			struct process *process = processes[sim_random(6)];

			open = 0;
			for (uint32_t turn = 1 + sim_random(64); turn; turn--)
				if (process->count == process->room ||
				    !fault(machine, process))
					break;
			if (!sim_random(4) && zone->free > zone->frames / 16) {
				for (uint32_t n = 1 + sim_random(12); n; n--)
					machine->files[machine->nr_files++] =
						machine->design->file(
							zone, process->cpu);
				machine->slabs[machine->nr_slabs++] =
					cpu_alloc(zone, process->cpu,
						  UNMOVABLE);
			}
			for (int i = 0; i < 6; i++)
				open += processes[i]->count < processes[i]->room;
		}
		for (int i = 0; i < 6; i++)
			process_end(machine, processes[i], true);
	}
	/* A little more stays than yesterday, until it is what a machine keeps. */
	files += zone->frames / 512;
	slabs += zone->frames / 2048;
	drop_some(machine, machine->files, &machine->nr_files,
		  files < zone->frames / 8 ? files : zone->frames / 8);
	drop_some(machine, machine->slabs, &machine->nr_slabs,
		  slabs < zone->frames / 32 ? slabs : zone->frames / 32);
}

void machine_loop(struct machine *machine, unsigned int times)
{
	while (times--)
		anon_churn(machine, SUBJECT_CPU);
}
