// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The prototype: each fault takes, under the lock, a frame of the next color that
 * its address space lacks among those that the fewest pages are on.
 */

#include <stdlib.h>
#include <string.h>

#include "bits.h"

static struct {
	struct free_bits free;
	struct counts counts;
} state;

static void start(struct zone *zone)
{
	memset(&state, 0, sizeof(state));
	free_bits_start(zone, &state.free);
	counts_start(&state.counts, zone->colors);
}

static void stop(struct zone *zone)
{
	free_bits_stop(zone, &state.free);
	counts_stop(&state.counts);
}

static uint32_t of_color(struct zone *zone, uint32_t color)
{
	for (uint32_t frame = color; frame < zone->frames;
	     frame += zone->colors) {
		zone_step(zone, 1);
		if (free_bits_has(&state.free, frame))
			return frame;
	}
	return NONE;
}

/* The next color that @space lacks, of those that the fewest hold if @lowest. */
static uint32_t pick(struct zone *zone, struct space *space, bool lowest)
{
	uint32_t words = (zone->colors + 63) / 64;

	for (uint32_t i = 0; i <= words; i++) {
		uint32_t at = (space->cursor / 64 + i) % words;
		uint64_t some = ~space->bits[at];

		zone_step(zone, 1);
		if (lowest)
			some &= state.counts.lowest[at];
		if (!i)
			some &= ~0ULL << space->cursor % 64;
		while (some) {
			uint32_t color = at * 64 + __builtin_ctzll(some);
			uint32_t frame = color < zone->colors
					? of_color(zone, color) : NONE;

			if (frame != NONE)
				return frame;
			some &= some - 1;
		}
	}
	return NONE;
}

/* The stretch of a huge page with the fewest live pages and colors held. */
static uint32_t pick_huge(struct zone *zone, struct space *space,
			  unsigned int order)
{
	uint32_t best = NONE, size = 1U << order;
	uint64_t least = UINT64_MAX;

	for (uint32_t at = 0; at + size <= zone->colors; at += size) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < size; i++) {
			sum += state.counts.live[at + i];
			if (space->bits[(at + i) / 64] >> (at + i) % 64 & 1)
				sum += 1U << 20;
		}
		zone_step(zone, size);
		if (sum >= least)
			continue;
		for (uint32_t frame = at; frame + size <= zone->frames;
		     frame += zone->colors) {
			uint32_t block = buddy_holding(zone, frame);

			if (block == NONE || zone->order[block] < (int)order)
				continue;
			least = sum;
			best = frame;
			break;
		}
	}
	return best;
}

static uint32_t anon(struct zone *zone, unsigned int cpu, struct space *space,
		     unsigned int order)
{
	uint32_t frame;

	space_bits(space, zone->colors);
	zone_lock(zone);
	if (order) {
		frame = pick_huge(zone, space, order);
	} else {
		frame = pick(zone, space, true);
		if (frame == NONE)
			frame = pick(zone, space, false);
	}
	if (frame != NONE) {
		buddy_take(zone, frame, order);
		space->cursor = (zone_color(zone, frame) + (1U << order)) %
				zone->colors;
	}
	zone_unlock(zone);
	return frame != NONE ? frame : stock_anon(zone, cpu, space, order);
}

static void live(struct zone *zone, struct space *space, uint32_t frame,
		 unsigned int order, bool mapped)
{
	for (uint32_t i = 0; i < 1U << order; i++) {
		uint32_t color = zone_color(zone, frame + i);

		counts_change(&state.counts, zone->colors, color, mapped);
		space_mark(space, zone->colors, color, mapped);
	}
}

static void memory(uint64_t frames, uint64_t colors, uint64_t *all,
		   uint64_t *space)
{
	*all = frames / 8 + 2 * colors + colors / 8;
	*space = colors / 8;
}

const struct design design_occupancy = {
	.name = "occupancy",
	.what = "bits of spaces and live counts, page by page (the prototype)",
	.start = start,
	.stop = stop,
	.anon = anon,
	.file = stock_file,
	.live = live,
	.memory = memory,
};
