// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What designs share: the allocator as it is, free bits, runs. */

#include <stdlib.h>

#include "design.h"

uint32_t stock_huge(struct zone *zone, unsigned int order)
{
	uint32_t frame;

	zone_lock(zone);
	frame = buddy_alloc(zone, order, MOVABLE);
	zone_unlock(zone);
	return frame;
}

uint32_t stock_anon(struct zone *zone, unsigned int cpu, struct space *space,
		    unsigned int order)
{
	(void)space;
	return order ? stock_huge(zone, order) : cpu_alloc(zone, cpu, MOVABLE);
}

uint32_t stock_file(struct zone *zone, unsigned int cpu)
{
	return cpu_alloc(zone, cpu, MOVABLE);
}

static void no_memory(uint64_t frames, uint64_t colors, uint64_t *all,
		      uint64_t *space)
{
	(void)frames;
	(void)colors;
	*all = 0;
	*space = 0;
}

const struct design design_stock = {
	.name = "stock",
	.what = "Linux as it is",
	.anon = stock_anon,
	.file = stock_file,
	.memory = no_memory,
};

/* The zone itself shuffles. */
const struct design design_shuffle = {
	.name = "shuffle",
	.what = "page_alloc.shuffle",
	.anon = stock_anon,
	.file = stock_file,
	.memory = no_memory,
};

static void set_bits(struct zone *zone, uint32_t frame, unsigned int order,
		     bool free)
{
	struct free_bits *bits = zone->watcher.data;
	uint64_t *word = &bits->words[frame / 64];
	uint64_t mask = order < 6 ? ((1ULL << (1U << order)) - 1) << frame % 64
				  : ~0ULL;

	for (unsigned int i = 0; i < (order < 6 ? 1U : 1U << (order - 6)); i++) {
		word[i] = free ? word[i] | mask : word[i] & ~mask;
		zone_step(zone, 1);
	}
}

/* Only what movable pages may have. */
static void added(struct zone *zone, uint32_t frame, unsigned int order)
{
	if (zone->list[frame] == MOVABLE)
		set_bits(zone, frame, order, true);
}

static void removed(struct zone *zone, uint32_t frame, unsigned int order)
{
	if (zone->list[frame] == MOVABLE)
		set_bits(zone, frame, order, false);
}

void free_bits_start(struct zone *zone, struct free_bits *bits)
{
	bits->words = calloc(zone->frames / 64, sizeof(*bits->words));
	zone->watcher = (struct watcher){ added, removed, bits };
	for (uint32_t at = 0; at < zone->frames; at++)
		if (zone->order[at] >= 0)
			added(zone, at, zone->order[at]);
}

void free_bits_stop(struct zone *zone, struct free_bits *bits)
{
	zone->watcher = (struct watcher){ NULL, NULL, NULL };
	free(bits->words);
}

uint32_t free_in_block(const struct free_bits *bits, uint32_t frame)
{
	uint32_t first = (frame & ~(BLOCK_FRAMES - 1)) / 64, sum = 0;

	for (uint32_t i = 0; i < BLOCK_FRAMES / 64; i++)
		sum += __builtin_popcountll(bits->words[first + i]);
	return sum;
}

void run_drop(struct zone *zone, struct run *run)
{
	if (!run->count)
		return;
	zone_lock(zone);
	while (run->count)
		buddy_free(zone, run->frames[--run->count], 0);
	zone_unlock(zone);
}
