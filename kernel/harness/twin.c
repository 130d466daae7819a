// SPDX-License-Identifier: MIT OR Apache-2.0
/* Frames and colors one by one. */
#include <limits.h>
#include <stdlib.h>

#include "twin.h"

struct twin twin_new(unsigned long start, unsigned int block_order, u32 colors)
{
	struct twin twin = { .start = start, .block_order = block_order, .colors = colors,
			     .now = PAGE_COLOR_LATELY_MOST + 1 };

	twin.free = calloc(TWIN_FRAMES, sizeof(*twin.free));
	twin.live = calloc(colors, sizeof(*twin.live));
	twin.lately = calloc(colors, sizeof(*twin.lately));
	twin.held = calloc(colors, sizeof(*twin.held));
	if (!twin.free || !twin.live || !twin.lately || !twin.held)
		abort();
	return twin;
}

void twin_end(struct twin *twin)
{
	free(twin->free);
	free(twin->live);
	free(twin->lately);
	free(twin->held);
}

static bool is_there(const struct twin *twin, unsigned long frame)
{
	return frame >= twin->start && frame < twin->start + TWIN_FRAMES &&
	       twin->there[(frame - twin->start) / PAGE_COLOR_CHUNK];
}

bool twin_free(const struct twin *twin, unsigned long frame)
{
	return is_there(twin, frame) && twin->free[frame - twin->start];
}

void twin_set_free(struct twin *twin, unsigned long frame, bool free)
{
	if (is_there(twin, frame))
		twin->free[frame - twin->start] = free;
}

u64 twin_free_word(const struct twin *twin, unsigned long frame)
{
	u64 word = 0;

	for (int i = 0; i < 64; i++)
		word |= (u64)twin_free(twin, frame + i) << i;
	return word;
}

unsigned int twin_in_block(const struct twin *twin, unsigned long frame)
{
	unsigned long size = 1UL << twin->block_order, first = frame / size * size;
	unsigned int count = 0;

	for (unsigned long i = 0; i < size; i++)
		count += twin_free(twin, first + i);
	return count;
}

unsigned long twin_count(const struct twin *twin)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < TWIN_FRAMES; i++)
		sum += twin->free[i];
	return sum;
}

unsigned long twin_partial(const struct twin *twin)
{
	unsigned long size = 1UL << twin->block_order, sum = 0;

	for (unsigned long frame = twin->start; frame < twin->start + TWIN_FRAMES; frame += size) {
		unsigned int count = twin_in_block(twin, frame);

		sum += count == size ? 0 : count;
	}
	return sum;
}

unsigned long twin_lowest(const struct twin *twin, unsigned long frame)
{
	unsigned long size = 1UL << twin->block_order;
	unsigned long first = frame / size * size;

	for (; first < twin->start + TWIN_FRAMES; first += size)
		if (first >= twin->start && twin_in_block(twin, first))
			return first;
	return ULONG_MAX;
}

void twin_live(struct twin *twin, u32 color, bool more, u32 most)
{
	if (more && twin->live[color] < most)
		twin->live[color]++;
	else if (!more && twin->live[color])
		twin->live[color]--;
}

u64 twin_until(const struct twin *twin, u32 word, u64 until)
{
	u64 some = 0, oldest = twin->now - PAGE_COLOR_LATELY_MOST;

	for (u32 i = 0; i < 64 && 64 * word + i < twin->colors; i++)
		some |= (u64)(twin->lately[64 * word + i] <= (until > oldest ? until : oldest))
			<< i;
	return some;
}

void twin_pass(struct twin *twin, u32 taken)
{
	u32 quarter = twin->colors < 4 ? 1 : twin->colors / 4;

	twin->noted += taken;
	if (!taken || twin->noted < quarter)
		return;
	twin->noted -= quarter;
	twin->now++;
}

void twin_begin(struct twin *twin)
{
	u32 quarter = twin->colors < 4 ? 1 : twin->colors / 4;

	if (16 * twin->noted < quarter)
		return;
	twin->noted = 0;
	twin->now++;
}

u64 twin_at_most(const struct twin *twin, const u32 *counts, u32 word, u32 level)
{
	u64 some = 0;

	for (u32 i = 0; i < 64 && 64 * word + i < twin->colors; i++)
		some |= (u64)(counts[64 * word + i] <= level) << i;
	return some;
}

u64 twin_held_word(const struct twin *twin, u32 word)
{
	u64 some = 0;

	for (u32 i = 0; i < 64 && 64 * word + i < twin->colors; i++)
		some |= (u64)twin->held[64 * word + i] << i;
	return some;
}

bool twin_hold(struct twin *twin, u32 color, bool hold)
{
	if (twin->held[color] == hold)
		return false;
	twin->held[color] = hold;
	twin->taken += hold ? 1 : -1;
	return true;
}
