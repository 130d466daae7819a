// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The first version: one cursor per order that everybody moves; a CPU takes runs
 * of consecutive colors, whoever runs on it.
 */

#include <string.h>

#include "design.h"

static struct {
	struct free_bits free;
	uint32_t cursor[MAX_ORDER + 1];
	struct run run[MAX_CPUS];
} state;

static void start(struct zone *zone)
{
	memset(&state, 0, sizeof(state));
	free_bits_start(zone, &state.free);
}

static void stop(struct zone *zone)
{
	free_bits_stop(zone, &state.free);
}

/* A free block of @order at @color or the next one that has one. */
static uint32_t find(struct zone *zone, unsigned int order, uint32_t color)
{
	uint32_t step = 1U << order;

	/* The index finds it in five words whatever the distance. */
	zone_step(zone, 5);
	color &= ~(step - 1);
	for (uint32_t gone = 0; gone < zone->colors; gone += step) {
		uint32_t at = (color + gone) % zone->colors;

		for (uint32_t frame = at; frame < zone->frames;
		     frame += zone->colors) {
			uint32_t block;

			if (!free_bits_has(&state.free, frame))
				continue;
			block = buddy_holding(zone, frame);
			if (zone->order[block] >= (int)order &&
			    zone->list[block] == MOVABLE)
				return frame;
		}
	}
	return NONE;
}

static uint32_t refill(struct zone *zone, struct run *run)
{
	uint32_t frame, block, nr;

	zone_lock(zone);
	frame = find(zone, 0, state.cursor[0]);
	if (frame == NONE) {
		zone_unlock(zone);
		return 0;
	}
	block = buddy_holding(zone, frame);
	nr = block + (1U << zone->order[block]) - frame;
	nr = nr < RUN_MAX - frame % RUN_MAX ? nr : RUN_MAX - frame % RUN_MAX;
	for (uint32_t i = nr; i-- > 0; ) {
		buddy_take(zone, frame + i, 0);
		run->frames[run->count++] = frame + i;
	}
	state.cursor[0] = (zone_color(zone, frame) + nr) % zone->colors;
	zone_unlock(zone);
	return nr;
}

static uint32_t anon(struct zone *zone, unsigned int cpu, struct space *space,
		     unsigned int order)
{
	struct run *run = &state.run[cpu];

	if (order) {
		uint32_t frame;

		zone_lock(zone);
		frame = find(zone, order, state.cursor[order]);
		if (frame != NONE) {
			buddy_take(zone, frame, order);
			state.cursor[order] =
				(zone_color(zone, frame) + (1U << order)) %
				zone->colors;
		}
		zone_unlock(zone);
		return frame != NONE ? frame : stock_huge(zone, order);
	}
	if (!run->count && !refill(zone, run))
		return stock_anon(zone, cpu, space, 0);
	return run->frames[--run->count];
}

static uint32_t file(struct zone *zone, unsigned int cpu)
{
	return anon(zone, cpu, NULL, 0);
}

/* Two lists of eleven orders, with summaries. */
static void memory(uint64_t frames, uint64_t colors, uint64_t *all,
		   uint64_t *space)
{
	(void)colors;
	*all = 2 * 2 * frames / 8 + frames / 8 / 16;
	*space = 0;
}

const struct design design_cursor = {
	.name = "cursor",
	.what = "one cursor that everybody moves (the first version)",
	.start = start,
	.stop = stop,
	.anon = anon,
	.file = file,
	.memory = memory,
};
