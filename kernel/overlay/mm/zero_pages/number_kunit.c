// SPDX-License-Identifier: GPL-2.0-only
/* How many zero pages there are, and which one an address gets. */

#include <kunit/test.h>
#include <linux/cacheinfo.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include "zero_pages.h"

static void texts_are_read(struct kunit *test)
{
	static const struct {
		const char *text;
		enum zero_pages_source source;
		unsigned int number, at_most, level;
	} cases[] = {
		{ "off", ZERO_PAGES_OFF, 0, 1, 0 },
		{ "auto", ZERO_PAGES_AUTO, 0, ZERO_PAGES_MAX, 1 },
		{ "l1", ZERO_PAGES_L1, 0, ZERO_PAGES_MAX, 1 },
		{ "l2", ZERO_PAGES_L2, 0, ZERO_PAGES_MAX, 2 },
		{ "1", ZERO_PAGES_NUMBER, 1, 1, 0 },
		{ "0x20", ZERO_PAGES_NUMBER, 32, 32, 0 },
		{ "256", ZERO_PAGES_NUMBER, 256, 256, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct zero_pages_request request = { };

		KUNIT_EXPECT_EQ_MSG(test,
				    zero_pages_parse(cases[i].text, &request),
				    0, "'%s'", cases[i].text);
		KUNIT_EXPECT_EQ(test, request.source, cases[i].source);
		KUNIT_EXPECT_EQ(test, request.number, cases[i].number);
		KUNIT_EXPECT_EQ(test, zero_pages_at_most(&request),
				cases[i].at_most);
		KUNIT_EXPECT_EQ(test, zero_pages_level(request.source),
				cases[i].level);
	}
}

static void bad_texts_change_nothing(struct kunit *test)
{
	static const char * const bad[] = {
		"", "on", "number", "l3", "L1", "0", "3", "-1", "257", "512",
		"8 ", "8k", "auto,8", "4294967296", "18446744073709551616",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct zero_pages_request request = {
			.source = ZERO_PAGES_L2, .number = 7,
		};

		KUNIT_EXPECT_EQ_MSG(test, zero_pages_parse(bad[i], &request),
				    -EINVAL, "'%s'", bad[i]);
		KUNIT_EXPECT_EQ(test, request.source, ZERO_PAGES_L2);
		KUNIT_EXPECT_EQ(test, request.number, 7);
	}
}

static struct cacheinfo cache(unsigned int pages, unsigned int ways)
{
	return (struct cacheinfo) {
		.size = pages * PAGE_SIZE * ways,
		.ways_of_associativity = ways,
		.coherency_line_size = 64,
		.number_of_sets = pages * PAGE_SIZE / 64,
	};
}

static void a_way_tells_the_number(struct kunit *test)
{
	static const unsigned int ways[] = { 1, 2, 3, 8, 12, 20 };
	const char *reason = NULL;
	unsigned int pages, i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		for (pages = 1; pages <= ZERO_PAGES_MAX; pages *= 2) {
			struct cacheinfo leaf = cache(pages, ways[i]);

			KUNIT_EXPECT_EQ(test,
					zero_pages_of_cache(&leaf, &reason),
					pages);
		}
	KUNIT_EXPECT_NULL(test, reason);
}

static void a_way_below_a_page_asks_for_one(struct kunit *test)
{
	struct cacheinfo leaf = {
		.size = 4 * PAGE_SIZE / 2, .ways_of_associativity = 4,
	};
	const char *reason = NULL;

	KUNIT_EXPECT_EQ(test, zero_pages_of_cache(&leaf, &reason), 1);
	KUNIT_EXPECT_NULL(test, reason);
}

static void refuse(struct kunit *test, const struct cacheinfo *leaf,
		   const char *why)
{
	const char *reason = NULL;

	KUNIT_EXPECT_EQ(test, zero_pages_of_cache(leaf, &reason), 0);
	KUNIT_ASSERT_NOT_NULL(test, reason);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(reason, why), "%s", reason);
}

static void impossible_caches_are_refused(struct kunit *test)
{
	struct cacheinfo leaf = { };

	refuse(test, &leaf, "not known");
	leaf = cache(8, 8);
	leaf.ways_of_associativity = 0;
	refuse(test, &leaf, "not known");
	leaf = cache(8, 8);
	leaf.size++;
	refuse(test, &leaf, "no multiple");
	leaf = cache(8, 8);
	leaf.number_of_sets /= 2;
	refuse(test, &leaf, "sets");
	leaf = cache(3, 8);
	refuse(test, &leaf, "power of two");
	leaf = cache(2 * ZERO_PAGES_MAX, 8);
	refuse(test, &leaf, "too many");
}

/* For any number of zero pages in the kernel that runs this. */
static void addresses_choose_in_turn(struct kunit *test)
{
	unsigned int number = zero_pages_number(), i;
	unsigned long first = my_zero_pfn(0);

	for (i = 0; i < 2 * number; i++) {
		unsigned long addr = (0x7000000UL + i) << PAGE_SHIFT;

		KUNIT_EXPECT_EQ(test, my_zero_pfn(addr + 123),
				first + (addr >> PAGE_SHIFT) % number);
		KUNIT_EXPECT_TRUE(test, is_zero_pfn(my_zero_pfn(addr)));
	}
	KUNIT_EXPECT_FALSE(test, is_zero_pfn(first - 1));
	KUNIT_EXPECT_FALSE(test, is_zero_pfn(first + number));
	for (i = 0; i < number; i++)
		KUNIT_EXPECT_NULL(test,
				  memchr_inv(page_address(pfn_to_page(first + i)),
					     0, PAGE_SIZE));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(texts_are_read),
	KUNIT_CASE(bad_texts_change_nothing),
	KUNIT_CASE(a_way_tells_the_number),
	KUNIT_CASE(a_way_below_a_page_asks_for_one),
	KUNIT_CASE(impossible_caches_are_refused),
	KUNIT_CASE(addresses_choose_in_turn),
	{ }
};

static struct kunit_suite suite = {
	.name = "zero_pages",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_LICENSE("GPL");
