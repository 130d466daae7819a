// SPDX-License-Identifier: GPL-2.0-or-later
#include "hierarchy.h"

static bool range_contains(const struct range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

/* node_count if the memory belongs to none. */
static size_t node_of(const struct hierarchy *hierarchy, uint64_t address)
{
	for (size_t i = 0; i < hierarchy->node_range_count; i++)
		if (range_contains(&hierarchy->node_ranges[i].range, address))
			return hierarchy->node_ranges[i].node;
	return hierarchy->node_count;
}

static bool is_behind(const struct memory_side *side, uint64_t address, size_t node)
{
	switch (side->backing) {
	case BACKING_NODE:
		return side->node == node;
	case BACKING_RANGE:
		return range_contains(&side->range, address);
	case BACKING_ALL:
		break;
	}
	return true;
}

static inline void count_color(struct cpu *cpu, const struct cache *cache, uint64_t line)
{
	if (cpu->colors)
		cpu->colors[cache_set(cache, line) << cache->line_shift >> PAGE_SHIFT]++;
}

static inline void count_frame_miss(struct hierarchy *hierarchy, uint64_t address, size_t cache)
{
	if (hierarchy->counted_frames)
		frames_miss(hierarchy->counted_frames, address >> PAGE_SHIFT, cache);
}

static uint32_t touch_memory(struct hierarchy *hierarchy, struct cpu *cpu, uint64_t address)
{
	const struct description *description = hierarchy->description;
	size_t node = node_of(hierarchy, address);

	for (size_t i = 0; i < description->memory_side_count; i++) {
		const struct memory_side *side = &description->memory_sides[i];
		struct cache *cache = &hierarchy->memory_side_caches[i];
		uint64_t line = address >> cache->line_shift;

		if (!is_behind(side, address, node))
			continue;
		if (cache_use(cache, line)) {
			cpu->memory_side_tallies[i].hits++;
			return side->latency;
		}
		cpu->memory_side_tallies[i].misses++;
		count_frame_miss(hierarchy, address, description->level_count);
		count_color(cpu, cache, line);
		break;
	}
	if (node == hierarchy->node_count)
		cpu->elsewhere++;
	else
		cpu->nodes[node]++;
	return cpu->memory_latencies[node];
}

static inline uint32_t touch_line(struct hierarchy *hierarchy, struct cpu *cpu, uint64_t address)
{
	const struct description *description = hierarchy->description;
	size_t level_count = description->level_count;

	for (size_t i = 0; i < level_count; i++) {
		if (cache_use(cpu->levels[i], address >> cpu->levels[i]->line_shift)) {
			cpu->level_tallies[i].hits++;
			return description->levels[i].latency;
		}
		cpu->level_tallies[i].misses++;
		count_frame_miss(hierarchy, address, i);
	}
	if (description->pairs && level_count) {
		struct cache *last = cpu->levels[level_count - 1];
		uint64_t other = address >> last->line_shift ^ 1;

		if (!cache_has(last, other))
			cache_use(last, other);
	}
	if (level_count && !description->memory_side_count) {
		struct cache *last = cpu->levels[level_count - 1];

		count_color(cpu, last, address >> last->line_shift);
	}
	return touch_memory(hierarchy, cpu, address);
}

uint32_t hierarchy_touch(struct hierarchy *hierarchy, struct cpu *cpu, uint64_t address,
			 uint32_t size)
{
	unsigned int shift = hierarchy->line_shift;
	uint64_t line = address >> shift;
	uint64_t last = (address + size - 1) >> shift;
	uint32_t cycles = touch_line(hierarchy, cpu, address);

	while (line++ < last)
		cycles += touch_line(hierarchy, cpu, line << shift);
	return cycles;
}

void hierarchy_count(struct hierarchy *hierarchy, struct cpu *cpu, uint64_t address,
		     uint32_t cycles)
{
	cpu->accesses++;
	cpu->cycles += cycles;
	if (hierarchy->counted_frames)
		frames_access(hierarchy->counted_frames, address >> PAGE_SHIFT);
	if (hierarchy->description->page_times)
		pages_add(&cpu->pages, address >> PAGE_SHIFT, cycles);
}
