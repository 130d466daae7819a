// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What the color index finds, among it what earlier page coloring got wrong.
 *
 * Also compiled in user space: see kernel/harness.
 */
#include <linux/module.h>
#include <linux/types.h>

#include "index_kunit.h"

/*
 * A cursor beyond the last color must come to the first color that exists,
 * which need not be color 0.
 */
static void wraps_to_the_next_color_that_exists(struct kunit *test)
{
	struct page_color_index *index = prepare(test, 1000, 4096, 1000, 1);
	struct page_color_block found;

	KUNIT_EXPECT_TRUE(test, page_color_index_add(index, 0, 0, 2305));
	KUNIT_EXPECT_TRUE(test, page_color_index_add(index, 0, 0, 3700));
	found = nearest(test, index, 0, 701);
	KUNIT_EXPECT_EQ(test, found.frame, 2305);
	KUNIT_EXPECT_EQ(test, found.distance, 604);
	found = nearest(test, index, 0, 700);
	KUNIT_EXPECT_EQ(test, found.frame, 3700);
	KUNIT_EXPECT_EQ(test, found.distance, 0);
	found = nearest(test, index, 0, 306);
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
			prepare(test, start, frames, colors[i], 1);
		unsigned long cursor = 13 % colors[i], count = 0, n;
		struct page_color_block found;
		bool ok;

		for (n = start; n < start + frames; n++)
			page_color_index_add(index, 1, 0, n);
		while (page_color_index_find(index, 1, 0, cursor, &found)) {
			KUNIT_ASSERT_LT(test, found.frame - start, frames);
			KUNIT_ASSERT_EQ(test, given[found.frame - start], i);
			given[found.frame - start]++;
			ok = page_color_index_del(index, 1, 0, found.block);
			KUNIT_ASSERT_TRUE(test, ok);
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
	struct page_color_index *index = prepare(test, 0, frames, frames, 1);
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
			found = nearest(test, index, 0, n + 1);
			KUNIT_ASSERT_EQ(test, found.block, n + step);
			KUNIT_ASSERT_EQ(test, found.distance, step - 1);
			page_color_index_del(index, 0, 0, n + step);
			found = nearest(test, index, 0, n + 1);
			KUNIT_ASSERT_EQ(test, found.block, n);
			KUNIT_ASSERT_EQ(test, found.distance, frames - 1);
			page_color_index_del(index, 0, 0, n);
		}
	}
}

/* Twice the memory and the colors of a cache of 16 GiB, from 1 TiB on. */
static void covers_more_than_16_gib(struct kunit *test)
{
	const unsigned long colors = 1UL << 23, start = 1UL << 28;
	struct page_color_index *index =
		prepare(test, start, colors, colors, 1);
	struct page_color_block found;

	page_color_index_add(index, 0, 0, start);
	page_color_index_add(index, 0, 0, start + colors / 2);
	page_color_index_add(index, 0, 0, start + colors - 1);
	found = nearest(test, index, 0, 1);
	KUNIT_EXPECT_EQ(test, found.frame, start + colors / 2);
	found = nearest(test, index, 0, colors / 2 + 1);
	KUNIT_EXPECT_EQ(test, found.frame, start + colors - 1);
	KUNIT_EXPECT_EQ(test, found.distance, colors / 2 - 2);
}

/* Colors that differ only above the lowest 10 bits are different. */
static void tells_colors_beyond_ten_bits_apart(struct kunit *test)
{
	struct page_color_index *index =
		prepare(test, 0, 1UL << 16, 1UL << 16, 1);
	struct page_color_block found;
	unsigned int bit;

	page_color_index_add(index, 0, 0, 5);
	for (bit = 10; bit < 16; bit++) {
		unsigned long color = 5 | 1UL << bit;

		KUNIT_EXPECT_EQ(test, color,
				page_color_index_color(index, color));
		page_color_index_add(index, 0, 0, color);
		found = nearest(test, index, 0, color);
		KUNIT_EXPECT_EQ(test, found.frame, color);
		KUNIT_EXPECT_EQ(test, found.distance, 0);
		KUNIT_EXPECT_EQ(test, 1,
				page_color_index_count(index, 0, color));
	}
}

/* A large block with the color is better than a small one without it. */
static void takes_the_color_from_a_larger_block(struct kunit *test)
{
	struct page_color_index *index = prepare(test, 0, 8192, 2048, 11);
	struct page_color_block found;

	page_color_index_add(index, 0, 0, 1501);
	page_color_index_add(index, 0, 10, 1024);
	page_color_index_add(index, 0, 4, 4096 + 1488);
	page_color_index_add(index, 0, 4, 1504);
	found = nearest(test, index, 0, 1500);
	KUNIT_EXPECT_EQ(test, found.order, 4);
	KUNIT_EXPECT_EQ(test, found.frame, 4096 + 1500);
	KUNIT_EXPECT_EQ(test, found.distance, 0);
	page_color_index_del(index, 0, 4, 4096 + 1488);
	found = nearest(test, index, 3, 1500);
	KUNIT_EXPECT_EQ(test, found.order, 10);
	KUNIT_EXPECT_EQ(test, found.block, 1024);
	KUNIT_EXPECT_EQ(test, found.frame, 1496);
	found = nearest(test, index, 0, 1023);
	KUNIT_EXPECT_EQ(test, found.distance, 1);
	KUNIT_EXPECT_EQ(test, found.block, 1024);
	KUNIT_EXPECT_EQ(test, found.frame, 1024);
}

/* Among blocks with the color, or with the next one, the smallest is taken. */
static void takes_the_smallest_block(struct kunit *test)
{
	struct page_color_index *index = prepare(test, 0, 8192, 1024, 11);
	struct page_color_block found;

	page_color_index_add(index, 0, 9, 512);
	page_color_index_add(index, 0, 2, 4096 + 512);
	page_color_index_add(index, 0, 5, 1024 + 512);
	found = nearest(test, index, 0, 514);
	KUNIT_EXPECT_EQ(test, found.frame, 4096 + 514);
	found = nearest(test, index, 0, 500);
	KUNIT_EXPECT_EQ(test, found.order, 2);
	KUNIT_EXPECT_EQ(test, found.distance, 12);
	found = nearest(test, index, 3, 500);
	KUNIT_EXPECT_EQ(test, found.order, 5);
	found = nearest(test, index, 3, 545);
	KUNIT_EXPECT_EQ(test, found.order, 9);
	KUNIT_EXPECT_EQ(test, found.frame, 544);
}

/* A block may begin at the last colors and end at the first ones. */
static void finds_a_block_across_the_last_color(struct kunit *test)
{
	struct page_color_index *index = prepare(test, 24, 4096, 12, 4);
	struct page_color_block found;

	page_color_index_add(index, 0, 3, 32);
	page_color_index_add(index, 0, 3, 40);
	found = nearest(test, index, 0, 1);
	KUNIT_EXPECT_EQ(test, found.block, 32);
	KUNIT_EXPECT_EQ(test, found.frame, 37);
	KUNIT_EXPECT_EQ(test, found.distance, 0);
	page_color_index_del(index, 0, 3, 32);
	found = nearest(test, index, 0, 1);
	KUNIT_EXPECT_EQ(test, found.frame, 40);
	KUNIT_EXPECT_EQ(test, found.distance, 3);
}

static void holds_frames_in_the_lowest_order(struct kunit *test)
{
	struct page_color_index *index = prepare(test, 64, 4096, 100, 11);
	struct page_color_block found;

	page_color_index_add(index, 0, 6, 128);
	page_color_index_add(index, 0, 2, 140);
	KUNIT_ASSERT_TRUE(test, page_color_index_holding(index, 0, 0, 143,
							 &found));
	KUNIT_EXPECT_EQ(test, found.order, 2);
	KUNIT_EXPECT_EQ(test, found.frame, 143);
	KUNIT_ASSERT_TRUE(test, page_color_index_holding(index, 0, 3, 143,
							 &found));
	KUNIT_EXPECT_EQ(test, found.order, 6);
	KUNIT_EXPECT_EQ(test, found.block, 128);
	KUNIT_EXPECT_EQ(test, found.frame, 136);
	KUNIT_EXPECT_FALSE(test, page_color_index_holding(index, 0, 0, 127,
							  &found));
	KUNIT_EXPECT_FALSE(test, page_color_index_holding(index, 1, 0, 143,
							  &found));
}

/* A page that moves goes to the end, and never to where it came from. */
static void finds_the_last_block_to_move_to(struct kunit *test)
{
	struct page_color_index *index = prepare(test, 64, 8192, 256, 11);
	struct page_color_block found;
	bool ok;

	page_color_index_add(index, 0, 0, 256 + 77);
	page_color_index_add(index, 0, 3, 1024 + 72);
	page_color_index_add(index, 0, 3, 4096 + 72);
	page_color_index_add(index, 0, 9, 5120);
	page_color_index_add(index, 1, 0, 7 * 1024 + 77);
	/* The lowest order, ... */
	ok = page_color_index_last(index, 0, 0, 11, 77, 78, &found);
	KUNIT_ASSERT_TRUE(test, ok);
	KUNIT_EXPECT_EQ(test, found.frame, 256 + 77);
	/* ... then the last block. */
	ok = page_color_index_last(index, 0, 0, 11, 77, 512, &found);
	KUNIT_ASSERT_TRUE(test, ok);
	KUNIT_EXPECT_EQ(test, found.order, 3);
	KUNIT_EXPECT_EQ(test, found.block, 4096 + 72);
	KUNIT_EXPECT_EQ(test, found.frame, 4096 + 77);
	/* Not one that begins before, or that is too large. */
	ok = page_color_index_last(index, 0, 0, 11, 77, 4096 + 73, &found);
	KUNIT_ASSERT_TRUE(test, ok);
	KUNIT_EXPECT_EQ(test, found.frame, 5120 + 77);
	KUNIT_EXPECT_FALSE(test, page_color_index_last(index, 0, 0, 9, 77,
						       4096 + 73, &found));
	/* Not one of other colors. */
	KUNIT_EXPECT_FALSE(test, page_color_index_last(index, 0, 0, 9, 71, 72,
						       &found));
	KUNIT_EXPECT_FALSE(test, page_color_index_last(index, 0, 4, 9, 64, 80,
						       &found));
}

/* Every frame has its color, and is counted there once. */
static void counts_frames_of_a_color(struct kunit *test)
{
	static const unsigned long colors[] = { 1, 3, 12, 100, 512, 2500 };
	const unsigned long start = 1000, end = start + 512;
	struct page_color_index *index;
	unsigned long n, all;
	unsigned int i, order;

	for (i = 0; i < 4 * ARRAY_SIZE(colors); i++) {
		/* The start is aligned to 2^3. */
		order = i % 4;
		index = prepare(test, start, end - start, colors[i / 4], 8);
		for (n = start; n < end; n += 1UL << order)
			page_color_index_add(index, 0, order, n);
		for (n = start; n < end; n++)
			KUNIT_ASSERT_EQ(test, n % colors[i / 4],
					page_color_index_color(index, n));
		for (all = 0, n = 0; n < colors[i / 4]; n++)
			all += page_color_index_count(index, 0, n);
		KUNIT_EXPECT_EQ(test, all, end - start);
	}
}

static struct kunit_case page_color_index_cases[] = {
	KUNIT_CASE(wraps_to_the_next_color_that_exists),
	KUNIT_CASE(gives_out_every_frame_once),
	KUNIT_CASE(finds_past_dead_ends),
	KUNIT_CASE(covers_more_than_16_gib),
	KUNIT_CASE(tells_colors_beyond_ten_bits_apart),
	KUNIT_CASE(takes_the_color_from_a_larger_block),
	KUNIT_CASE(takes_the_smallest_block),
	KUNIT_CASE(finds_a_block_across_the_last_color),
	KUNIT_CASE(holds_frames_in_the_lowest_order),
	KUNIT_CASE(finds_the_last_block_to_move_to),
	KUNIT_CASE(counts_frames_of_a_color),
	{}
};

static struct kunit_suite page_color_index_suite = {
	.name = "page_color_index",
	.test_cases = page_color_index_cases,
};

kunit_test_suite(page_color_index_suite);

MODULE_DESCRIPTION("Tests of what the color index finds");
MODULE_LICENSE("Dual MIT/GPL");
