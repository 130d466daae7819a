// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The faults of earlier page coloring, each a test for the index.
 *
 * Also compiled in user space: see kernel/harness.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/types.h>

#include "index.h"

static struct page_color_index *make(struct kunit *test, unsigned long start,
				     unsigned long frames, unsigned long colors,
				     unsigned int orders)
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

/*
 * A cursor beyond the last color must come to the first color that exists,
 * which need not be color 0.
 */
static void wraps_to_the_next_color_that_exists(struct kunit *test)
{
	struct page_color_index *index = make(test, 1000, 4096, 1000, 1);
	struct page_color_block found;

	KUNIT_EXPECT_TRUE(test, page_color_index_add(index, 0, 0, 2305));
	KUNIT_EXPECT_TRUE(test, page_color_index_add(index, 0, 0, 3700));
	KUNIT_ASSERT_TRUE(test, page_color_index_find(index, 0, 0, 701, &found));
	KUNIT_EXPECT_EQ(test, found.frame, 2305);
	KUNIT_EXPECT_EQ(test, found.distance, 604);
	KUNIT_ASSERT_TRUE(test, page_color_index_find(index, 0, 0, 700, &found));
	KUNIT_EXPECT_EQ(test, found.frame, 3700);
	KUNIT_EXPECT_EQ(test, found.distance, 0);
	KUNIT_ASSERT_TRUE(test, page_color_index_find(index, 0, 0, 306, &found));
	KUNIT_EXPECT_EQ(test, found.frame, 3700);
	KUNIT_EXPECT_EQ(test, found.distance, 394);
}

/* All frames come out, each once, and as long as there are any, in order. */
static void gives_out_every_frame_once(struct kunit *test)
{
	static const unsigned long colors[] = { 1, 7, 64, 1000, 1024, 5000 };
	const unsigned long start = 777, frames = 4096;
	unsigned char *given = kunit_kzalloc(test, frames, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, given);
	for (i = 0; i < ARRAY_SIZE(colors); i++) {
		struct page_color_index *index =
			make(test, start, frames, colors[i], 1);
		unsigned long cursor = 13 % colors[i], count = 0, n;
		struct page_color_block found;

		for (n = start; n < start + frames; n++)
			page_color_index_add(index, 1, 0, n);
		while (page_color_index_find(index, 1, 0, cursor, &found)) {
			KUNIT_ASSERT_LT(test, found.frame - start, frames);
			KUNIT_ASSERT_EQ(test, given[found.frame - start], i);
			given[found.frame - start]++;
			KUNIT_ASSERT_TRUE(test, page_color_index_del(index, 1, 0,
								     found.block));
			KUNIT_ASSERT_EQ(test, found.frame % colors[i],
					(cursor + found.distance) % colors[i]);
			cursor = (found.frame + 1) % colors[i];
			count++;
		}
		KUNIT_EXPECT_EQ(test, count, frames);
	}
}

/*
 * Two blocks at all distances, where other blocks were before: no search may
 * end where summaries once led somewhere, or stop short of the other block.
 */
static void finds_past_dead_ends(struct kunit *test)
{
	const unsigned long frames = 1UL << 19, last = frames - 1;
	struct page_color_index *index = make(test, 0, frames, frames, 1);
	struct page_color_block found;
	unsigned long step, n;

	for (n = 0; n < frames; n += 37)
		page_color_index_add(index, 0, 0, n);
	for (n = 0; n < frames; n += 37)
		KUNIT_ASSERT_TRUE(test, page_color_index_del(index, 0, 0, n));
	KUNIT_EXPECT_FALSE(test, page_color_index_find(index, 0, 0, 0, &found));

	for (step = 1; step < frames; step *= 2) {
		for (n = 63; n + step <= last; n += step < 512 ? 4096 : step) {
			page_color_index_add(index, 0, 0, n);
			page_color_index_add(index, 0, 0, n + step);
			KUNIT_ASSERT_TRUE(test, page_color_index_find(index, 0, 0,
								      n + 1,
								      &found));
			KUNIT_ASSERT_EQ(test, found.block, n + step);
			KUNIT_ASSERT_EQ(test, found.distance, step - 1);
			page_color_index_del(index, 0, 0, n + step);
			KUNIT_ASSERT_TRUE(test, page_color_index_find(index, 0, 0,
								      n + 1,
								      &found));
			KUNIT_ASSERT_EQ(test, found.block, n);
			KUNIT_ASSERT_EQ(test, found.distance, frames - 1);
			page_color_index_del(index, 0, 0, n);
		}
	}
}

/* An index that was full and is empty cannot be told from a new one. */
static void leaves_nothing_behind(struct kunit *test)
{
	struct page_color_index *used = make(test, 100, 9000, 96, 11);
	struct page_color_index *fresh = make(test, 100, 9000, 96, 11);
	const struct page_color_span *span = page_color_index_span(used);
	size_t bytes = page_color_index_bytes(span);
	size_t head = page_color_index_bytes(span) / 16;
	struct page_color_block found;
	unsigned int order;
	unsigned long n;

	for (order = 0; order < 11; order++)
		for (n = 0; n < 9100; n += 1UL << order)
			page_color_index_add(used, 0, order, n);
	KUNIT_EXPECT_NE(test, memcmp((char *)used + bytes - head,
				     (char *)fresh + bytes - head, head), -2);
	KUNIT_EXPECT_TRUE(test, page_color_index_find(used, 0, 10, 0, &found));
	for (order = 0; order < 11; order++)
		for (n = 0; n < 9100; n += 1UL << order)
			page_color_index_del(used, 0, order, n);

	for (order = 0; order < 11; order++)
		KUNIT_EXPECT_FALSE(test, page_color_index_find(used, 0, order, 5,
							       &found));
}
