/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the tests of the color index share. */
#ifndef _MM_PAGE_COLOR_INDEX_KUNIT_H
#define _MM_PAGE_COLOR_INDEX_KUNIT_H

#include <kunit/test.h>

#include "index.h"

/* An empty index of two lists. */
static inline struct page_color_index *
prepare(struct kunit *test, unsigned long start, unsigned long frames,
	unsigned long colors, unsigned int orders)
{
	const struct page_color_span span = {
		.start = start,
		.frames = frames,
		.colors = colors,
		.orders = orders,
		.lists = 2,
	};
	size_t bytes = page_color_index_bytes(&span);
	void *memory;

	KUNIT_ASSERT_NE(test, bytes, 0);
	memory = kunit_kzalloc(test, bytes, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	return page_color_index_init(memory, &span);
}

/* What list 0 has for a color; it must have something. */
static inline struct page_color_block
nearest(struct kunit *test, const struct page_color_index *index,
	unsigned int order, unsigned long color)
{
	struct page_color_block found = {};

	KUNIT_ASSERT_TRUE(test, page_color_index_find(index, 0, order, color,
						      &found));
	return found;
}

#endif /* _MM_PAGE_COLOR_INDEX_KUNIT_H */
