// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Words of 64 colors: a large address space looks, without the lock, for a word in
 * which it lacks colors that the fewest live pages are on, and takes, in one hold
 * of the lock, as many frames of them as it will likely want from the fullest
 * copy. Small spaces and the page cache go the ordinary way, and are counted.
 */

#include <string.h>

#include "bits.h"

static struct {
	struct free_bits free;
	struct counts counts;
	uint32_t words;
	/* Whether the page that is mapped next came from a run. */
	bool from_run;
	struct run files[MAX_CPUS];
} state;

static void start(struct zone *zone)
{
	memset(&state, 0, sizeof(state));
	free_bits_start(zone, &state.free);
	counts_start(&state.counts, zone->colors);
	state.words = (zone->colors + 63) / 64;
}

static void stop(struct zone *zone)
{
	free_bits_stop(zone, &state.free);
	counts_stop(&state.counts);
}

static uint64_t free_word(struct zone *zone, uint32_t word, uint32_t copy)
{
	uint64_t first = (uint64_t)word * 64 + (uint64_t)copy * zone->colors;
	uint64_t bits = 0;

	if (first % 64 == 0 && first + 64 <= zone->frames &&
	    word * 64 + 64 <= zone->colors)
		return state.free.words[first / 64];
	/* Caches whose colors are no multiple of 64. */
	for (uint32_t i = 0; i < 64 && word * 64 + i < zone->colors; i++)
		if (first + i < zone->frames &&
		    free_bits_has(&state.free, first + i))
			bits |= 1ULL << i;
	return bits;
}

static uint32_t copies(struct zone *zone)
{
	return (zone->frames + zone->colors - 1) / zone->colors;
}

/* What is wanted: colors that are lacked, that few are on, or both. */
enum want { LACKED = 1, LOWEST = 2 };

static uint64_t wanted(struct space *space, uint32_t word, unsigned int want)
{
	uint64_t some = ~0ULL;

	if (want & LACKED)
		some &= ~space->bits[word];
	if (want & LOWEST)
		some &= state.counts.lowest[word];
	return some;
}

/* The copy with enough of @some, or with most; of like ones the fullest block. */
static uint64_t choose(struct zone *zone, uint32_t word, uint64_t some,
		       uint32_t enough, uint32_t *copy)
{
	uint64_t best = 0;
	uint32_t best_score = 0;

	for (uint32_t i = 0; i < copies(zone); i++) {
		uint64_t free = free_word(zone, word, i) & some;
		uint32_t count = __builtin_popcountll(free), score;

		zone->cost.outside++;
		if (!free)
			continue;
		if (count > enough)
			count = enough;
		zone->cost.outside += 8;
		/* Fewer than a quarter of what is wanted costs too many holds. */
		score = (4 * count >= enough) << 20 | count |
			(BLOCK_FRAMES -
			 free_in_block(&state.free,
				       word * 64 + i * zone->colors)) << 8;
		if (score >= best_score) {
			best_score = score;
			best = free;
			*copy = i;
		}
	}
	return best;
}

/* The lowest @count bits that are set. */
static uint64_t lowest_bits(uint64_t some, uint32_t count)
{
	uint64_t rest = some;

	while (count-- && rest)
		rest &= rest - 1;
	return some & ~rest;
}

/* Frames of one word of one copy that are to be taken. */
struct part {
	uint32_t word, first;
	uint64_t frames;
};

/* Words that one hold of the lock takes from at most. */
#define PARTS 8

/* Without the lock: a guess, which is looked at again under it. */
static unsigned int gather(struct zone *zone, struct space *space,
			   uint32_t length, unsigned int want,
			   struct part *parts)
{
	uint32_t at = space->cursor / 64 % state.words;
	unsigned int nr = 0;

	for (uint32_t i = 0; i <= state.words && length && nr < PARTS; i++) {
		uint32_t word = (at + i) % state.words;
		uint64_t some = wanted(space, word, want);
		uint32_t copy;

		zone->cost.outside++;
		if (!i)
			some &= ~0ULL << space->cursor % 64;
		/* Round once: what lies before the cursor. */
		if (i == state.words)
			some &= ~(~0ULL << space->cursor % 64);
		if (!some)
			continue;
		some = choose(zone, word, some, length, &copy);
		if (!some)
			continue;
		some = lowest_bits(some, length);
		parts[nr++] = (struct part){
			.word = word,
			.first = word * 64 + copy * zone->colors,
			.frames = some,
		};
		length -= __builtin_popcountll(some);
	}
	return nr;
}

static bool refill(struct zone *zone, struct space *space, struct run *run,
		   unsigned int want)
{
	struct part parts[PARTS];
	uint32_t frames[RUN_MAX], count = 0;
	unsigned int nr = gather(zone, space, run->length, want, parts);

	if (!nr)
		return false;
	zone_lock(zone);
	for (unsigned int i = 0; i < nr; i++) {
		const struct part *part = &parts[i];

		if (part->first % 64 == 0)
			buddy_take_mask(zone, part->first, part->frames);
		for (uint64_t some = part->frames; some; some &= some - 1) {
			frames[count] = part->first + __builtin_ctzll(some);
			if (part->first % 64)
				buddy_take(zone, frames[count], 0);
			count++;
		}
	}
	zone_unlock(zone);
	/* Counted as soon as they are taken: others look elsewhere. */
	for (uint32_t i = 0; i < count; i++)
		counts_change(&state.counts, zone->colors,
			      zone_color(zone, frames[i]), true);
	space->cursor = zone_color(zone, frames[count - 1]) + 1;
	while (count)
		run->frames[run->count++] = frames[--count];
	return true;
}

/* From here on it is large: what it holds already is marked. */
static void grow(struct zone *zone, struct space *space)
{
	space_bits(space, zone->colors);
	for (uint32_t i = 0; i < space->nr_held; i++)
		space_mark(space, zone->colors,
			   zone_color(zone, space->held[i]), true);
}

static uint32_t huge(struct zone *zone, struct space *space, unsigned int order)
{
	uint32_t best = NONE, size = 1U << order;
	uint64_t least = UINT64_MAX;

	/* By stretches; in a kernel, sums per stretch would be kept. */
	for (uint32_t at = 0; at + size <= zone->colors; at += size) {
		uint64_t rank = 0;

		for (uint32_t i = at / 64; i < (at + size + 63) / 64; i++) {
			uint64_t mask = size < 64
					? ((1ULL << size) - 1) << at % 64
					: ~0ULL;
			uint64_t held = space->bits ? space->bits[i] : 0;

			rank += (uint64_t)__builtin_popcountll(held & mask) << 32;
			rank += __builtin_popcountll(~state.counts.lowest[i] &
						     mask);
			zone->cost.outside++;
		}
		if (rank >= least)
			continue;
		for (uint32_t frame = at; frame + size <= zone->frames;
		     frame += zone->colors) {
			uint32_t block = buddy_holding(zone, frame);

			if (block == NONE || zone->order[block] < (int)order ||
			    zone->list[block] != MOVABLE)
				continue;
			least = rank;
			best = frame;
			break;
		}
		if (!least)
			break;
	}
	if (best == NONE)
		return NONE;
	zone_lock(zone);
	buddy_take(zone, best, order);
	zone_unlock(zone);
	return best;
}

static uint32_t anon(struct zone *zone, unsigned int cpu, struct space *space,
		     unsigned int order)
{
	struct run *run = &space->run[cpu];

	if (order) {
		uint32_t frame;

		if (!space->bits && space->pages >= zone->colors / 64)
			grow(zone, space);
		frame = huge(zone, space, order);

		return frame != NONE ? frame : stock_huge(zone, order);
	}
	if (!space->bits) {
		if (space->pages < zone->colors / 64)
			return stock_anon(zone, cpu, space, 0);
		grow(zone, space);
	}
	if (!run->count) {
		run->length = run->length ? run->length * 2 : 4;
		if (run->length > RUN_MAX)
			run->length = RUN_MAX;
		if (!refill(zone, space, run, LACKED | LOWEST) &&
		    !refill(zone, space, run, LACKED) &&
		    !refill(zone, space, run, LOWEST))
			return stock_anon(zone, cpu, space, 0);
	}
	state.from_run = true;
	return run->frames[--run->count];
}

static void live(struct zone *zone, struct space *space, uint32_t frame,
		 unsigned int order, bool mapped)
{
	for (uint32_t i = 0; i < 1U << order; i++) {
		uint32_t color = zone_color(zone, frame + i);

		/* Those of a run are counted already. */
		if (!mapped || !state.from_run)
			counts_change(&state.counts, zone->colors, color,
				      mapped);
		space_mark(space, zone->colors, color, mapped);
	}
	if (mapped)
		state.from_run = false;
}

static void leave(struct zone *zone, unsigned int cpu, struct space *space)
{
	struct run *run = &space->run[cpu];

	for (unsigned int i = 0; i < run->count; i++)
		counts_change(&state.counts, zone->colors,
			      zone_color(zone, run->frames[i]), false);
	run_drop(zone, run);
}

/*
 * Pages of files stay longest: they are kept together in the lowest pageblocks
 * that have room, so that others become whole again.
 */
static uint32_t file(struct zone *zone, unsigned int cpu)
{
	struct run *run = &state.files[cpu];

	if (!run->count) {
		uint32_t block = 0, count = 0;

		/* In a kernel a bit per pageblock, found in a word or two. */
		while (block < zone->frames && !free_in_block(&state.free, block))
			block += BLOCK_FRAMES;
		zone->cost.outside += 3;
		if (block >= zone->frames)
			return stock_file(zone, cpu);
		zone_lock(zone);
		for (uint32_t at = block; at < block + BLOCK_FRAMES; at += 64) {
			uint64_t some = lowest_bits(state.free.words[at / 64],
						    RUN_MAX - count);

			zone_step(zone, 1);
			buddy_take_mask(zone, at, some);
			for (; some; some &= some - 1)
				run->frames[count++] =
					at + __builtin_ctzll(some);
		}
		zone_unlock(zone);
		/* Ascending, as the last is used first. */
		for (uint32_t i = 0; i < count / 2; i++) {
			uint32_t kept = run->frames[i];

			run->frames[i] = run->frames[count - 1 - i];
			run->frames[count - 1 - i] = kept;
		}
		run->count = count;
	}
	return run->frames[--run->count];
}

static void memory(uint64_t frames, uint64_t colors, uint64_t *all,
		   uint64_t *space)
{
	*all = frames / 8 + colors + colors / 8;
	*space = colors / 8;
}

const struct design design_words = {
	.name = "words",
	.what = "bits and counts, 64 colors at a time, large spaces only; files "
		"in the lowest pageblocks",
	.start = start,
	.stop = stop,
	.anon = anon,
	.file = file,
	.live = live,
	.leave = leave,
	.memory = memory,
};

/* Without the second half, to tell what each is worth. */
const struct design design_words_only = {
	.name = "words only",
	.what = "bits and counts, 64 colors at a time, large spaces only; files "
		"as on stock",
	.start = start,
	.stop = stop,
	.anon = anon,
	.file = stock_file,
	.live = live,
	.leave = leave,
	.memory = memory,
};
