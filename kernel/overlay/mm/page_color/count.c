// SPDX-License-Identifier: GPL-2.0-only
/* Free frames of each color, counted without keeping anybody waiting. */

#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include "page_color.h"

/*
 * With few colors there is a megabyte of bits to each: far too long for
 * zone->lock. Without it bits change meanwhile, but nothing else does, and
 * page_color_mutex keeps the index there.
 */
static u32 count_color(const struct page_color_index *index, u32 color)
{
	unsigned int list;
	u32 count = 0;

	for (list = 0; list < PAGE_COLOR_LISTS; list++)
		/* Bits come and go meanwhile: this is a statistic. */
		count += data_race(page_color_index_count(index, list, color));
	return count;
}

void page_color_count(const struct zone *zone, u32 first, u32 nr, u32 *counts)
{
	const struct page_color_index *index = zone->page_color->index;
	u32 i;

	lockdep_assert_held(&page_color_mutex);
	for (i = 0; i < nr; i++) {
		counts[i] = count_color(index, first + i);
		cond_resched();
	}
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
