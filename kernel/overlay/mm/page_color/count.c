// SPDX-License-Identifier: GPL-2.0-only
/* Free frames of each color, counted without holding up allocations. */

#include <linux/lockdep.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include "page_color.h"

void page_color_count(const struct zone *zone, u32 first, u32 nr, u32 *counts)
{
	const struct page_color_zone *coloring =
		rcu_dereference_protected(zone->page_color,
					  lockdep_is_held(&page_color_mutex));
	const struct page_color_memory *memory = &coloring->memory;
	unsigned long copy;
	u32 i;

	for (i = 0; i < nr; i++)
		counts[i] = 0;
	for (copy = 0; copy < memory->copies; copy++) {
		unsigned long frame = (memory->first + copy) * memory->colors +
				      first;

		for (i = 0; i < nr; i++)
			counts[i] += page_color_free_word(memory->free,
							  frame + i) & 1;
		cond_resched();
	}
}
