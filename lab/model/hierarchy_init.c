// SPDX-License-Identifier: GPL-2.0-or-later
/* Building a hierarchy from its description. */
#include "hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_DISTANCE 10
#define REMOTE_DISTANCE 20

/*
 * Every cache with random replacement draws its own numbers: cache i of the
 * description, memory-side caches counted on after the levels, on CPU c (0 if
 * shared) starts from seed + i * 2^32 + c.
 */
static uint64_t cache_seed(const struct description *description, size_t i, size_t cpu)
{
	return description->seed + ((uint64_t)i << 32) + cpu;
}

static bool init_caches(struct hierarchy *hierarchy)
{
	const struct description *d = hierarchy->description;

	hierarchy->private_caches =
		calloc(hierarchy->cpu_count * d->level_count + 1, sizeof(struct cache));
	hierarchy->shared_caches = calloc(d->level_count + 1, sizeof(struct cache));
	hierarchy->memory_side_caches = calloc(d->memory_side_count + 1, sizeof(struct cache));
	if (!hierarchy->private_caches || !hierarchy->shared_caches ||
	    !hierarchy->memory_side_caches)
		return false;
	for (size_t i = 0; i < d->level_count; i++) {
		const struct level *level = &d->levels[i];
		struct cache *shared = &hierarchy->shared_caches[i];

		if (level->shared && !cache_init(shared, &level->geometry, cache_seed(d, i, 0)))
			return false;
		for (size_t c = 0; c < hierarchy->cpu_count; c++) {
			struct cache *own = &hierarchy->private_caches[c * d->level_count + i];

			if (!level->shared &&
			    !cache_init(own, &level->geometry, cache_seed(d, i, c)))
				return false;
			hierarchy->cpus[c].levels[i] = level->shared ? shared : own;
		}
	}
	for (size_t i = 0; i < d->memory_side_count; i++)
		if (!cache_init(&hierarchy->memory_side_caches[i], &d->memory_sides[i].geometry,
				cache_seed(d, d->level_count + i, 0)))
			return false;
	return true;
}

static bool init_cpus(struct hierarchy *hierarchy)
{
	const struct description *d = hierarchy->description;

	hierarchy->cpus = calloc(hierarchy->cpu_count, sizeof(*hierarchy->cpus));
	if (!hierarchy->cpus)
		return false;
	for (size_t c = 0; c < hierarchy->cpu_count; c++) {
		struct cpu *cpu = &hierarchy->cpus[c];

		cpu->levels = calloc(d->level_count + 1, sizeof(*cpu->levels));
		cpu->level_tallies = calloc(d->level_count + 1, sizeof(*cpu->level_tallies));
		cpu->memory_side_tallies =
			calloc(d->memory_side_count + 1, sizeof(*cpu->memory_side_tallies));
		cpu->nodes = calloc(hierarchy->node_count, sizeof(*cpu->nodes));
		if (!cpu->levels || !cpu->level_tallies || !cpu->memory_side_tallies || !cpu->nodes)
			return false;
		if (hierarchy->color_count) {
			cpu->colors = calloc(hierarchy->color_count, sizeof(*cpu->colors));
			if (!cpu->colors)
				return false;
		}
		if (d->page_times && !pages_init(&cpu->pages))
			return false;
	}
	return true;
}

static bool init_nodes(struct hierarchy *hierarchy)
{
	const struct description *d = hierarchy->description;
	size_t count = hierarchy->node_count, columns = count + 1, ranges = 0;

	hierarchy->memory_latencies = calloc(count * columns, sizeof(uint32_t));
	for (size_t i = 0; i < d->node_count; i++)
		ranges += d->nodes[i].memory_count;
	hierarchy->node_ranges = calloc(ranges + 1, sizeof(*hierarchy->node_ranges));
	if (!hierarchy->memory_latencies || !hierarchy->node_ranges)
		return false;
	for (size_t from = 0; from < count; from++) {
		const uint32_t *given = d->node_count ? d->nodes[from].distances : NULL;
		uint32_t *row = hierarchy->memory_latencies + from * columns;

		for (size_t to = 0; to < count; to++) {
			uint64_t distance = from == to ? LOCAL_DISTANCE : REMOTE_DISTANCE;

			if (given)
				distance = given[to];
			row[to] = d->memory_latency * distance / LOCAL_DISTANCE;
		}
		row[count] = d->memory_latency;
	}
	for (size_t i = 0; i < d->node_count; i++)
		for (size_t j = 0; j < d->nodes[i].memory_count; j++)
			hierarchy->node_ranges[hierarchy->node_range_count++] =
				(struct node_range){ d->nodes[i].memory[j], i };
	if (!d->node_count)
		hierarchy->node_ranges[hierarchy->node_range_count++] =
			(struct node_range){ { 0, UINT64_MAX }, 0 };
	return true;
}

/* The node of a CPU, or node_count. */
static size_t cpu_node(const struct hierarchy *hierarchy, size_t cpu)
{
	const struct description *d = hierarchy->description;

	if (!d->node_count)
		return 0;
	for (size_t i = 0; i < d->node_count; i++)
		for (size_t j = 0; j < d->nodes[i].cpu_count; j++)
			if (d->nodes[i].cpus[j] == cpu)
				return i;
	return d->node_count;
}

static size_t colors_of(const struct geometry *geometry)
{
	uint64_t bytes = geometry->sets << geometry->line_shift;

	return (bytes + (1 << PAGE_SHIFT) - 1) >> PAGE_SHIFT;
}

/* Of the memory-side cache with the most colors, or else of the last level. */
static size_t count_colors(const struct description *d)
{
	size_t most = 0;

	if (!d->color_conflicts)
		return 0;
	if (!d->memory_side_count && d->level_count)
		return colors_of(&d->levels[d->level_count - 1].geometry);
	for (size_t i = 0; i < d->memory_side_count; i++) {
		size_t colors = colors_of(&d->memory_sides[i].geometry);

		most = colors > most ? colors : most;
	}
	return most;
}

static unsigned int smallest_line_shift(const struct description *d)
{
	unsigned int least = LINE_SHIFT_WITHOUT_CACHES;

	if (d->level_count)
		return d->levels[0].geometry.line_shift;
	for (size_t i = 0; i < d->memory_side_count; i++) {
		unsigned int shift = d->memory_sides[i].geometry.line_shift;

		least = i && least < shift ? least : shift;
	}
	return least;
}

bool hierarchy_init(struct hierarchy *hierarchy, const struct description *description,
		    size_t cpu_count, char *error, size_t error_size)
{
	*hierarchy = (struct hierarchy){
		.description = description,
		.line_shift = smallest_line_shift(description),
		.node_count = description->node_count ? description->node_count : 1,
		.color_count = count_colors(description),
		.cpu_count = cpu_count,
	};
	frames_init(&hierarchy->frames, description->level_count + !!description->memory_side_count);
	if (!init_nodes(hierarchy) || !init_cpus(hierarchy) || !init_caches(hierarchy)) {
		snprintf(error, error_size,
			 "not enough memory for the model: make its caches smaller");
		return false;
	}
	for (size_t c = 0; c < cpu_count; c++) {
		size_t node = cpu_node(hierarchy, c);

		if (node == hierarchy->node_count) {
			snprintf(error, error_size, "CPU %zu is in no node: add it to one of them",
				 c);
			return false;
		}
		hierarchy->cpus[c].memory_latencies =
			hierarchy->memory_latencies + node * (hierarchy->node_count + 1);
	}
	return true;
}

void hierarchy_clear_counts(struct hierarchy *hierarchy)
{
	const struct description *d = hierarchy->description;

	for (size_t c = 0; c < hierarchy->cpu_count; c++) {
		struct cpu *cpu = &hierarchy->cpus[c];

		cpu->accesses = 0;
		cpu->cycles = 0;
		cpu->elsewhere = 0;
		memset(cpu->level_tallies, 0, d->level_count * sizeof(struct tally));
		memset(cpu->memory_side_tallies, 0, d->memory_side_count * sizeof(struct tally));
		memset(cpu->nodes, 0, hierarchy->node_count * sizeof(*cpu->nodes));
		if (cpu->colors)
			memset(cpu->colors, 0, hierarchy->color_count * sizeof(*cpu->colors));
		if (d->page_times)
			pages_clear(&cpu->pages);
	}
}
