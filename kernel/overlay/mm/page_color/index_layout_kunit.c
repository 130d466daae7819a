// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The layout of the color index: each block has a bit of its own, in order of
 * colors, at sizes at which reciprocals are least exact.
 *
 * Also compiled in user space: see kernel/harness.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/types.h>

#include "index_layout.h"

#define MOST	0xffffffffUL

static void reciprocals_divide_exactly(struct kunit *test)
{
	static const u64 by[] = {
		1, 2, 3, 5, 7, 641, 1000, 65535, 65536, 65537, 6700417,
		0x7fffffff, 0x80000000, 0x80000001, 0xfffffffb, 0xffffffff,
	};
	unsigned int i;
	u64 n;

	for (i = 0; i < ARRAY_SIZE(by); i++) {
		struct page_color_divisor divisor = divisor_make(1, by[i]);
		u64 most = MOST / by[i] * by[i];

		for (n = 0; n <= MOST; n += n / 5 + 1) {
			KUNIT_ASSERT_EQ(test, divide(n, &divisor), n / by[i]);
			KUNIT_ASSERT_EQ(test, modulo(n, &divisor), n % by[i]);
		}
		KUNIT_EXPECT_EQ(test, divide(most, &divisor), most / by[i]);
		KUNIT_EXPECT_EQ(test, divide(most - 1, &divisor),
				(most - 1) / by[i]);
		KUNIT_EXPECT_EQ(test, divide(MOST, &divisor), MOST / by[i]);
	}
}

/* Each bit of a small layout is one block's at most, by color, then frame. */
static void check_all(struct kunit *test, unsigned long frames,
		      unsigned long colors, unsigned int order)
{
	struct page_color_layout layout = layout_make(frames, colors, order);
	unsigned long bits = layout_bits(&layout);
	unsigned long bit, seen = 0, last = 0;

	for (bit = 0; bit < bits; bit++) {
		unsigned long block = layout_block(&layout, bit);
		unsigned long place;

		if (block >= layout.blocks)
			continue;
		KUNIT_ASSERT_EQ(test, layout_bit(&layout, block), bit);
		/* One more, as the first block is at 0. */
		place = (block << order) % colors * (frames + 1) +
			(block << order) + 1;
		KUNIT_ASSERT_LT(test, last, place);
		last = place;
		seen++;
	}
	KUNIT_ASSERT_EQ(test, seen, frames >> order);
	if (colors >> order << order == colors || colors >= frames)
		KUNIT_ASSERT_EQ(test, bits, frames >> order);
}

static void sorts_blocks_by_color(struct kunit *test)
{
	static const unsigned long sizes[] = {
		1, 2, 3, 6, 31, 64, 96, 100, 127, 256, 384, 1000, 1024, 2017,
		3000,
	};
	unsigned int frames, colors, order;

	for (frames = 0; frames < ARRAY_SIZE(sizes); frames++)
		for (colors = 0; colors < ARRAY_SIZE(sizes); colors++)
			for (order = 0; order < 12; order++)
				check_all(test, sizes[frames], sizes[colors],
					  order);
}

/* Near 2^32 frames, where products fill 64 bits. */
static void sorts_blocks_of_16_tib(struct kunit *test)
{
	static const unsigned long colors[] = {
		1, 2, 3, 1023, 1025, 65536, 99991, 1UL << 22, 3UL << 23,
		0x7fffffff, 0x80000000, 0xc0000000, 0xfffffc00, 0xfffffffd,
		0xfffffffe, MOST,
	};
	unsigned int i, order;

	for (i = 0; i < ARRAY_SIZE(colors); i++)
		for (order = 0; order < 14; order++) {
			struct page_color_layout layout =
				layout_make(MOST, colors[i], order);
			unsigned long bits = layout_bits(&layout);
			unsigned long step, n = layout.blocks;

			for (step = 1; n; n -= n < step ? n : step) {
				u64 bit = layout_bit(&layout, n - 1);
				u64 row = ((n - 1) << order) % colors[i] >>
					layout.unit;

				KUNIT_ASSERT_LT(test, bit, bits);
				KUNIT_ASSERT_EQ(test, n - 1,
						layout_block(&layout, bit));
				KUNIT_ASSERT_GT(test, bit + 1,
						layout_row(&layout, row));
				KUNIT_ASSERT_LT(test, bit,
						layout_row(&layout, row + 1));
				step = step * 9 / 8 + 1;
			}
		}
}

static struct kunit_case page_color_layout_cases[] = {
	KUNIT_CASE(reciprocals_divide_exactly),
	KUNIT_CASE(sorts_blocks_by_color),
	KUNIT_CASE(sorts_blocks_of_16_tib),
	{}
};

static struct kunit_suite page_color_layout_suite = {
	.name = "page_color_layout",
	.test_cases = page_color_layout_cases,
};

kunit_test_suite(page_color_layout_suite);

MODULE_DESCRIPTION("Tests of the order of bits in the color index");
MODULE_LICENSE("Dual MIT/GPL");
