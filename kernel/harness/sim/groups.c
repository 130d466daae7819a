// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Color groups as large as a pageblock: an address space takes group after group,
 * those that it has least of first, of these the emptiest; within a group the
 * offset is the fine color, found in a free bit per frame. Small spaces and the
 * page cache take what there is.
 */

#include <stdlib.h>
#include <string.h>

#include "design.h"

static struct {
	struct free_bits free;
	uint32_t groups, size;
	uint32_t *live;		/* per group */
} state;

/* What a space knows is behind its bits: a count of pages per group. */
static uint16_t *of_space(struct space *space)
{
	if (!space->bits)
		space->bits = calloc(state.groups, sizeof(uint16_t));
	return (uint16_t *)space->bits;
}

static void start(struct zone *zone)
{
	memset(&state, 0, sizeof(state));
	free_bits_start(zone, &state.free);
	state.size = zone->colors < BLOCK_FRAMES ? zone->colors : BLOCK_FRAMES;
	state.groups = (zone->colors + state.size - 1) / state.size;
	state.live = calloc(state.groups, sizeof(*state.live));
}

static void stop(struct zone *zone)
{
	free_bits_stop(zone, &state.free);
	free(state.live);
}

static bool small(struct zone *zone, struct space *space)
{
	return space->pages < zone->colors / 64;
}

static uint32_t next_group(struct zone *zone, struct space *space)
{
	uint16_t *held = of_space(space);
	uint32_t best = 0;

	for (uint32_t group = 1; group < state.groups; group++)
		if (held[group] < held[best] ||
		    (held[group] == held[best] &&
		     state.live[group] < state.live[best]))
			best = group;
	zone->cost.outside += state.groups;
	return best;
}

/* The fullest copy of @color's pageblock in which its frame is free. */
static uint32_t fullest(struct zone *zone, uint32_t color)
{
	uint32_t best = NONE, least = UINT32_MAX;

	for (uint32_t frame = color; frame < zone->frames;
	     frame += zone->colors) {
		uint32_t free;

		zone_step(zone, 1);
		if (!free_bits_has(&state.free, frame))
			continue;
		free = free_in_block(&state.free, frame);
		zone_step(zone, 8);
		if (free < least) {
			least = free;
			best = frame;
		}
	}
	return best;
}

static void refill(struct zone *zone, struct space *space, struct run *run)
{
	uint32_t tries = 2 * state.size;
	uint32_t frames[RUN_MAX], count = 0;

	run->length = run->length ? run->length * 2 : 1;
	if (run->length > RUN_MAX)
		run->length = RUN_MAX;
	if (space->cursor % state.size == 0)
		space->cursor = next_group(zone, space) * state.size;
	zone_lock(zone);
	while (count < run->length && tries--) {
		uint32_t last = count ? frames[count - 1] + 1 : NONE;
		uint32_t color = space->cursor;
		uint32_t frame = NONE;

		if (last < zone->frames && free_bits_has(&state.free, last) &&
		    zone_color(zone, last) == color)
			frame = last;
		if (frame == NONE)
			frame = fullest(zone, color);
		space->cursor++;
		if (frame != NONE) {
			buddy_take(zone, frame, 0);
			frames[count++] = frame;
		}
		if (space->cursor % state.size == 0)
			break;
	}
	zone_unlock(zone);
	while (count)
		run->frames[run->count++] = frames[--count];
}

static uint32_t huge(struct zone *zone, struct space *space)
{
	uint16_t *held = of_space(space);
	uint32_t best = NONE;
	uint64_t least = UINT64_MAX;

	zone_lock(zone);
	for (uint32_t group = 0; group < state.groups; group++) {
		uint64_t rank = (uint64_t)held[group] << 32 | state.live[group];

		zone_step(zone, 1);
		if (rank >= least)
			continue;
		for (uint32_t frame = group * state.size;
		     frame + BLOCK_FRAMES <= zone->frames;
		     frame += zone->colors) {
			uint32_t block = buddy_holding(zone, frame);

			if (block != NONE && zone->order[block] >= BLOCK_ORDER) {
				best = frame;
				least = rank;
				break;
			}
		}
	}
	if (best != NONE)
		buddy_take(zone, best, BLOCK_ORDER);
	zone_unlock(zone);
	return best;
}

static uint32_t anon(struct zone *zone, unsigned int cpu, struct space *space,
		     unsigned int order)
{
	struct run *run = &space->run[cpu];
	uint32_t frame;

	if (order == BLOCK_ORDER && state.size == BLOCK_FRAMES) {
		frame = huge(zone, space);
		return frame != NONE ? frame : stock_huge(zone, order);
	}
	if (order || small(zone, space))
		return stock_anon(zone, cpu, space, order);
	for (int tries = 0; !run->count && tries < 4; tries++)
		refill(zone, space, run);
	if (!run->count)
		return stock_anon(zone, cpu, space, order);
	return run->frames[--run->count];
}

static void live(struct zone *zone, struct space *space, uint32_t frame,
		 unsigned int order, bool mapped)
{
	uint16_t *held = of_space(space);

	for (uint32_t i = 0; i < 1U << order; i++) {
		uint32_t group = zone_color(zone, frame + i) / state.size;

		state.live[group] += mapped ? 1 : -1;
		held[group] += mapped ? 1 : -1;
	}
}

static void leave(struct zone *zone, unsigned int cpu, struct space *space)
{
	run_drop(zone, &space->run[cpu]);
}

static void memory(uint64_t frames, uint64_t colors, uint64_t *all,
		   uint64_t *space)
{
	*all = frames / 8 + 4 * (colors / BLOCK_FRAMES + 1);
	*space = 2 * (colors / BLOCK_FRAMES + 1);
}

const struct design design_groups = {
	.name = "groups",
	.what = "groups of 512 colors by occupancy, a free bit per frame",
	.start = start,
	.stop = stop,
	.anon = anon,
	.file = stock_file,
	.live = live,
	.leave = leave,
	.memory = memory,
};
