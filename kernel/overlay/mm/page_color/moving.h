/* SPDX-License-Identifier: GPL-2.0-only */
/* What page coloring notes of the pages that compaction moves at once. */
#ifndef _MM_PAGE_COLOR_MOVING_H
#define _MM_PAGE_COLOR_MOVING_H

#include <linux/types.h>

/**
 * struct page_color_moving - pages on their way to frames that coloring chose
 * @placed: pages that it has placed, not yet in front of the free scanner
 * @node: id of the cache whose page_color_coming has colors of theirs, 0 if none
 */
struct page_color_moving {
	unsigned int placed;
	u64 node;
};

#endif /* _MM_PAGE_COLOR_MOVING_H */
