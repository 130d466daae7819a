// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The memory of the color index: how much it is, that nothing else is touched,
 * and what stays in it.
 *
 * Also compiled in user space: see kernel/harness.
 */
#include <linux/module.h>
#include <linux/types.h>

#include "index_kunit.h"

#define MOST	0xffffffffUL

/* An index that was full and is empty cannot be told from a new one. */
static void leaves_nothing_behind(struct kunit *test)
{
	struct page_color_index *index = prepare(test, 100, 9000, 96, 11);
	size_t bytes = page_color_index_bytes(page_color_index_span(index));
	void *fresh = kunit_kzalloc(test, bytes, GFP_KERNEL);
	struct page_color_block found;
	unsigned int order;
	unsigned long n;

	KUNIT_ASSERT_NOT_NULL(test, fresh);
	memcpy(fresh, index, bytes);
	for (order = 0; order < 11; order++)
		for (n = 0; n < 9100; n += 1UL << order)
			page_color_index_add(index, 0, order, n);
	KUNIT_EXPECT_NE(test, memcmp(fresh, index, bytes), 0);
	for (order = 0; order < 11; order++)
		for (n = 0; n < 9100; n += 1UL << order)
			page_color_index_del(index, 0, order, n);
	KUNIT_EXPECT_EQ(test, memcmp(fresh, index, bytes), 0);
	KUNIT_EXPECT_FALSE(test, page_color_index_find(index, 0, 0, 5, &found));
}

/* Blocks at and over both ends, in memory with a mark behind it. */
static void stays_within_its_memory(struct kunit *test)
{
	static const unsigned long colors[] = { 1, 3, 64, 700, 4096, 99991 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(colors); i++) {
		const struct page_color_span span = {
			.start = 3001,
			.frames = 64 * 64 + 5,
			.colors = colors[i],
			.orders = 11,
			.lists = 3,
		};
		const unsigned long end = span.start + span.frames;
		size_t bytes = page_color_index_bytes(&span), n;
		unsigned char *memory;
		struct page_color_index *index;
		unsigned int order;

		memory = kunit_kzalloc(test, bytes + 64, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, memory);
		memset(memory + bytes, 0xa5, 64);
		index = page_color_index_init(memory, &span);
		for (order = 0; order < 11; order++) {
			unsigned long size = 1UL << order, block;

			for (block = 0; block < end + 4096; block += size) {
				bool inside = block >= span.start &&
					block + size <= end;
				bool added = page_color_index_add(index, 2,
								  order, block);
				bool has = page_color_index_has(index, 2, order,
								block);

				KUNIT_ASSERT_EQ(test, added, inside);
				KUNIT_ASSERT_EQ(test, has, inside);
			}
		}
		KUNIT_EXPECT_EQ(test, false, /* not aligned */
				page_color_index_add(index, 0, 1, 3005));
		KUNIT_EXPECT_EQ(test, false, /* no such list */
				page_color_index_add(index, 3, 0, 3005));
		KUNIT_EXPECT_EQ(test, false, /* no such order */
				page_color_index_add(index, 0, 11, 4096));
		for (n = 0; n < 64; n++)
			KUNIT_ASSERT_EQ(test, memory[bytes + n], 0xa5);
	}
}

/* What a zone with hot-added memory is given is what a new zone would have. */
static void grows_with_its_zone(struct kunit *test)
{
	const unsigned long start = 4000, end = 9000, grown = 20000;
	struct page_color_index *old =
		prepare(test, start, end - start, 1500, 11);
	struct page_color_index *new =
		prepare(test, start, grown - start, 1500, 11);
	struct page_color_index *scratch =
		prepare(test, start, grown - start, 1500, 11);
	struct page_color_block found, same;
	unsigned int order;
	unsigned long n;

	for (n = 0; n < grown; n += 3)
		for (order = 0; order < 11; order++) {
			unsigned long block = n >> order << order;

			page_color_index_add(scratch, 0, order, block);
			if (block + (1UL << order) <= end)
				page_color_index_add(old, 0, order, block);
			else
				page_color_index_add(new, 0, order, block);
		}
	for (order = 0; order < 11; order++)
		for (n = 0; n < grown; n += 1UL << order)
			if (page_color_index_has(old, 0, order, n))
				page_color_index_add(new, 0, order, n);

	for (order = 0; order < 11; order++) {
		for (n = 0; n < grown; n += 1UL << order) {
			bool expected = page_color_index_has(scratch, 0, order,
							     n);

			KUNIT_ASSERT_EQ(test, expected,
					page_color_index_has(new, 0, order, n));
		}
		for (n = 0; n < 1500; n++) {
			found = nearest(test, new, order, n);
			same = nearest(test, scratch, order, n);
			KUNIT_ASSERT_EQ(test, found.frame, same.frame);
			KUNIT_ASSERT_EQ(test, found.block, same.block);
		}
	}
}

/* Two lists of 11 orders: 4 bits for a frame, and their summaries. */
static void costs_four_bits_a_frame(struct kunit *test)
{
	static const unsigned long colors[] = {
		1, 32, 1024, 1UL << 16, 3UL << 20, 1UL << 22, 1UL << 30,
	};
	struct page_color_span span = {
		.start = 0x100000,
		.frames = 1UL << 22,
		.orders = 11,
		.lists = 2,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(colors); i++) {
		span.colors = colors[i];
		KUNIT_EXPECT_LE(test, page_color_index_bytes(&span),
				span.frames * 4 / 8 * 102 / 100);
	}
	/* Odd: rows of all orders have room for the rows with a copy more. */
	span.colors = 999983;
	KUNIT_EXPECT_LE(test, page_color_index_bytes(&span),
			span.frames * 4 / 8 * 102 / 100 +
			10 * 2 * span.colors / 8 * 102 / 100);
}

static void refuses_impossible_spans(struct kunit *test)
{
	const struct page_color_span possible = {
		.start = 5,
		.frames = 1000,
		.colors = 10,
		.orders = 11,
		.lists = 1,
	};
	struct page_color_span span = possible;

	KUNIT_EXPECT_GT(test, page_color_index_bytes(&span), 0);
	span.frames = 0;
	KUNIT_EXPECT_EQ(test, page_color_index_bytes(&span), 0);
	span.frames = MOST;
	KUNIT_EXPECT_EQ(test, page_color_index_bytes(&span), 0);
	span.frames = MOST - 5;
	KUNIT_EXPECT_GT(test, page_color_index_bytes(&span), 0);
	span.frames = MOST + 1;
	KUNIT_EXPECT_EQ(test, page_color_index_bytes(&span), 0);
	span = possible;
	span.start = ~0UL - 999;
	KUNIT_EXPECT_EQ(test, page_color_index_bytes(&span), 0);
	span = possible;
	span.colors = 0;
	KUNIT_EXPECT_EQ(test, page_color_index_bytes(&span), 0);
	span.colors = MOST + 1;
	KUNIT_EXPECT_EQ(test, page_color_index_bytes(&span), 0);
	span = possible;
	span.orders = 0;
	KUNIT_EXPECT_EQ(test, page_color_index_bytes(&span), 0);
	span.orders = 33;
	KUNIT_EXPECT_EQ(test, page_color_index_bytes(&span), 0);
	span = possible;
	span.lists = 0;
	KUNIT_EXPECT_EQ(test, page_color_index_bytes(&span), 0);
}

static struct kunit_case page_color_memory_cases[] = {
	KUNIT_CASE(leaves_nothing_behind),
	KUNIT_CASE(stays_within_its_memory),
	KUNIT_CASE(grows_with_its_zone),
	KUNIT_CASE(costs_four_bits_a_frame),
	KUNIT_CASE(refuses_impossible_spans),
	{}
};

static struct kunit_suite page_color_memory_suite = {
	.name = "page_color_memory",
	.test_cases = page_color_memory_cases,
};

kunit_test_suite(page_color_memory_suite);

MODULE_DESCRIPTION("Tests of the memory of the color index");
MODULE_LICENSE("Dual MIT/GPL");
