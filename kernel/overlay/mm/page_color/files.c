// SPDX-License-Identifier: GPL-2.0-only
/* Which frames a page of a file gets: the lowest ones, whatever their color. */

#include <linux/mm.h>

#include "alloc.h"

unsigned int page_color_gather_block(const struct page_color_free *free,
				     unsigned long frame, unsigned int *count,
				     struct page_color_part *parts,
				     unsigned int nr)
{
	unsigned long end = frame + (1UL << free->block_order);

	for (; frame < end && *count && nr < PAGE_COLOR_PARTS; frame += 64) {
		u64 some = page_color_free_word(free, frame);

		some = page_color_first_bits(some, *count);
		if (!some)
			continue;
		parts[nr].frame = frame;
		parts[nr].fresh = false;
		parts[nr++].mask = some;
		*count -= hweight64(some);
	}
	return nr;
}

/*
 * The most pageblocks that are looked at for files: from the lowest one on, and then from
 * where frames were last found behind these.
 */
#define PAGE_COLOR_LOW		512
#define PAGE_COLOR_LOW_BEHIND	4096

/* Searches at most @blocks pageblocks from *@frame on; *@frame is where it ended. */
static unsigned int gather_low(const struct page_color_free *free,
			       unsigned long *frame, unsigned int blocks,
			       unsigned int *count,
			       struct page_color_part *parts)
{
	unsigned long whole = 1UL << free->block_order;
	unsigned long end = *frame + blocks * whole;
	unsigned int nr = 0;

	for (;;) {
		*frame = page_color_free_lowest(free, *frame, end);
		if (*frame >= end)
			return nr;
		nr = page_color_gather_block(free, *frame, count, parts, nr);
		if (!*count || nr == PAGE_COLOR_PARTS)
			return nr;
		*frame += whole;
	}
}

unsigned int page_color_gather_file(struct zone *zone, unsigned int count,
				    struct page_color_part *parts)
{
	const struct page_color_free *free;
	struct page_color_place place;
	unsigned long frame;
	unsigned int nr;

	if (!page_color_place_of(&place, zone))
		return 0;
	free = place.zone->memory.free;
	frame = READ_ONCE(free->lowest);
	nr = gather_low(free, &frame, PAGE_COLOR_LOW, &count, parts);
	if (nr && frame != ULONG_MAX && frame > READ_ONCE(place.zone->low))
		WRITE_ONCE(place.zone->low, frame);
	if (nr || frame == ULONG_MAX)
		return nr;
	/* The few frames so low are taken: continue where the others were. */
	frame = max(frame, READ_ONCE(place.zone->low));
	nr = gather_low(free, &frame, PAGE_COLOR_LOW_BEHIND, &count, parts);
	WRITE_ONCE(place.zone->low, frame == ULONG_MAX ? 0 : frame);
	return nr;
}

/* The most pageblocks without a free frame that are passed under zone->lock. */
#define PAGE_COLOR_PASSED	64

void page_color_file_low(struct zone *zone)
{
	struct page_color_free *free = page_color_zone_free(zone);
	unsigned long lowest, end;

	if (!free)
		return;
	end = free->lowest + (PAGE_COLOR_PASSED << free->block_order);
	lowest = page_color_free_lowest(free, free->lowest, end);
	if (lowest != ULONG_MAX)
		WRITE_ONCE(free->lowest, lowest);
}
