// SPDX-License-Identifier: GPL-2.0-only
/* Free frames of each color, counted without keeping others from zone->lock. */

#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include "page_color.h"

/* Frames whose bits are looked at in one hold of zone->lock: 8 KiB of them. */
#define COUNT_FRAMES 65536UL

static u32 count_color(const struct page_color_index *index, u32 color)
{
	unsigned int list;
	u32 count = 0;

	for (list = 0; list < PAGE_COLOR_LISTS; list++)
		count += page_color_index_count(index, list, color);
	return count;
}

/* How many colors are counted in one hold. */
static u32 chunk(const struct zone *zone, u32 colors)
{
	unsigned long frames = READ_ONCE(zone->spanned_pages) / colors;

	/* Few frames to a color still cost some words for each order. */
	return clamp(COUNT_FRAMES / max(frames, 1024UL), 1UL, 64UL);
}

/* Whether there still is an index of as many colors. */
static bool count_chunk(struct zone *zone, u32 first, u32 nr, u32 *counts,
			u32 colors)
{
	const struct page_color_zone *coloring;
	bool valid;
	u32 i;

	spin_lock_irq(&zone->lock);
	coloring = zone->page_color;
	valid = coloring && coloring->colors == colors;
	for (i = 0; valid && i < nr; i++)
		counts[i] = count_color(coloring->index, first + i);
	spin_unlock_irq(&zone->lock);
	return valid;
}

bool page_color_count(struct zone *zone, u32 first, u32 nr, u32 *counts,
		      u32 colors)
{
	u32 step = chunk(zone, colors);
	u32 done, now;

	for (done = 0; done < nr; done += now) {
		now = min(step, nr - done);
		if (!count_chunk(zone, first + done, now, counts + done, colors))
			return false;
		cond_resched();
	}
	return true;
}

static u32 at_most(const u32 *counts, u32 nr, u32 limit)
{
	u32 i, found = 0;

	for (i = 0; i < nr; i++)
		found += counts[i] <= limit;
	cond_resched();
	return found;
}

/* By bisection: millions of colors are neither sorted nor moved for this. */
u32 page_color_median(const u32 *counts, u32 nr, u32 min, u32 max)
{
	while (min < max) {
		u32 middle = min + (max - min) / 2;

		if (at_most(counts, nr, middle) >= nr - nr / 2)
			max = middle;
		else
			min = middle + 1;
	}
	return min;
}
