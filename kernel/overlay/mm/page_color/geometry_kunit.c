// SPDX-License-Identifier: GPL-2.0-only
/* Cache geometry: what is read, and what is refused. */

#include <kunit/test.h>
#include <linux/cacheinfo.h>
#include <linux/mm.h>
#include <linux/node.h>
#include <linux/sizes.h>
#include "page_color.h"

static void texts_are_read(struct kunit *test)
{
	static const struct {
		const char *text;
		unsigned long size;
		unsigned int ways;
	} cases[] = {
		/* Alone, a number is in kB as in the patches of 2003. */
		{ "512", SZ_512K, 1 },
		{ "2M", SZ_2M, 1 },
		{ "16G\n", 16UL << 30, 1 },
		{ "1m,ways=16", SZ_1M, 16 },
		{ "96K,ways=12", 96 << 10, 12 },
		{ "ways=3", 0, 3 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct page_color_geometry geometry = { .ways = 1 };
		const char *error = NULL;
		int err = page_color_parse(cases[i].text, &geometry, &error);

		KUNIT_EXPECT_EQ_MSG(test, err, 0, "'%s'", cases[i].text);
		KUNIT_EXPECT_EQ(test, geometry.size, cases[i].size);
		KUNIT_EXPECT_EQ(test, geometry.ways, cases[i].ways);
	}
}

static void bad_texts_change_nothing(struct kunit *test)
{
	static const char * const bad[] = {
		"", "x", "0", "0M", "M", "-1M", "+1M", "2MB", "2M,", "2M,4M",
		"2M,ways", "2M,ways=", "2M,ways=0", "2M,ways=-1", "2M,ways=x",
		"policy=sequence", "2M,policy=address", "ways=2,2M", "2M;ways=2",
		"99999999999999999999", "16E", "18014398509481984", "0x10M",
		"1M,ways=1,ways=1,ways=1,ways=1,ways=1,ways=1,ways=1,ways=1,ways=1",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct page_color_geometry geometry = { .size = 7, .ways = 5 };
		const char *error = NULL;
		int err = page_color_parse(bad[i], &geometry, &error);

		KUNIT_EXPECT_EQ_MSG(test, err, -EINVAL, "'%s'", bad[i]);
		KUNIT_EXPECT_NOT_NULL_MSG(test, error, "'%s'", bad[i]);
		KUNIT_EXPECT_EQ(test, geometry.size, 7);
		KUNIT_EXPECT_EQ(test, geometry.ways, 5);
	}
}

static void colors_are_pages_of_a_way(struct kunit *test)
{
	static const struct {
		unsigned long size;
		unsigned int ways;
		unsigned long colors;
	} cases[] = {
		{ 2 * PAGE_SIZE, 1, 2 },
		{ 16 * 16 * PAGE_SIZE, 16, 16 },
		{ 36 * 11 * PAGE_SIZE, 11, 36 },
		{ PAGE_SIZE << 22, 1, 1 << 22 },
		{ 0, 1, 0 },
		{ SZ_2M, 0, 0 },
		{ PAGE_SIZE, 1, 0 },
		{ 8 * PAGE_SIZE, 8, 0 },
		{ 8 * PAGE_SIZE, 16, 0 },
		{ 8 * PAGE_SIZE + 64, 1, 0 },
		{ 7 * PAGE_SIZE, 2, 0 },
		{ 1UL << 62, 1, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct page_color_geometry geometry = {
			.size = cases[i].size,
			.ways = cases[i].ways,
		};
		const char *error = NULL;
		int expected = -EINVAL;
		int err = page_color_check_geometry(&geometry, &error);

		if (cases[i].colors)
			expected = 0;
		KUNIT_EXPECT_EQ_MSG(test, err, expected, "%d", i);
		KUNIT_EXPECT_EQ(test, !error, !err);
		KUNIT_EXPECT_EQ(test, geometry.colors, cases[i].colors);
	}
}

static void a_way_larger_than_memory_is_refused(struct kunit *test)
{
	int nid = first_memory_node;
	struct page_color_geometry geometry = {
		.colors = node_present_pages(nid),
	};
	const char *error = NULL;

	KUNIT_EXPECT_EQ(test, page_color_check_node(nid, &geometry, &error), 0);
	geometry.colors++;
	KUNIT_EXPECT_EQ(test, page_color_check_node(nid, &geometry, &error),
			-EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, error);
}

static void side_caches_are_direct_mapped(struct kunit *test)
{
	static const enum cache_indexing others[] = {
		NODE_CACHE_INDEXED, NODE_CACHE_OTHER,
	};
	struct node_cache_attrs attrs = {
		.indexing = NODE_CACHE_DIRECT_MAP,
		.size = 16ULL << 30,
	};
	struct page_color_geometry geometry = { };
	const char *error = NULL;
	int i;

	KUNIT_EXPECT_EQ(test, page_color_check_side(&attrs, &geometry, &error),
			0);
	KUNIT_EXPECT_EQ(test, geometry.size, 16UL << 30);
	KUNIT_EXPECT_EQ(test, geometry.ways, 1);
	KUNIT_EXPECT_EQ(test, geometry.colors, (16UL << 30) >> PAGE_SHIFT);
	KUNIT_EXPECT_STREQ(test, geometry.source, "hmat");
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		attrs.indexing = others[i];
		error = NULL;
		KUNIT_EXPECT_EQ(test, page_color_check_side(&attrs, &geometry,
							    &error), -EINVAL);
		KUNIT_EXPECT_NOT_NULL(test, error);
	}
}

/*
 * A node with a cache and as much memory behind it: of each color there are two
 * frames, as far apart as the cache is large, and these two compete.
 */
static void frames_compete_in_pairs_if_extended_linear(struct kunit *test)
{
	struct node_cache_attrs attrs = {
		.indexing = NODE_CACHE_DIRECT_MAP,
		.address_mode = NODE_CACHE_ADDR_MODE_EXTENDED_LINEAR,
		.size = 96 * PAGE_SIZE,
	};
	const unsigned long size = attrs.size >> PAGE_SHIFT, start = 1000;
	struct page_color_geometry geometry = { };
	const char *error = NULL;
	unsigned long a, b;

	KUNIT_ASSERT_EQ(test, page_color_check_side(&attrs, &geometry, &error),
			0);
	KUNIT_EXPECT_STREQ(test, geometry.source, "hmat-extended-linear");
	KUNIT_EXPECT_EQ(test, geometry.ways, 1);
	for (a = start; a < start + size; a++)
		for (b = a + 1; b < start + 2 * size; b++)
			KUNIT_EXPECT_EQ(test, a % geometry.colors ==
					      b % geometry.colors,
					b - a == size);
}

static void faked_caches_are_refused(struct kunit *test)
{
	static const struct {
		unsigned int sets, ways, line, partitions, size;
		bool good;
	} cases[] = {
		{ 1024, 16, 64, 1, SZ_1M, true },
		{ 2048, 20, 64, 0, 2560 << 10, true },
		{ 512, 8, 64, 2, SZ_512K, true },
		{ 1, 1, 64, 1, 64, false },
		{ 1, 1, 64, 1, SZ_1M, false },
		{ 0, 16, 64, 1, SZ_1M, false },
		{ 1024, 0, 64, 1, SZ_1M, false },
		{ 0, 0, 0, 0, 0, false },
		{ 1024, 16, 64, 1, SZ_2M, false },
		{ 1024, 16, 0, 1, SZ_1M, false },
		{ 1U << 31, 2, 64, 1, 0, false },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cacheinfo leaf = {
			.number_of_sets = cases[i].sets,
			.ways_of_associativity = cases[i].ways,
			.coherency_line_size = cases[i].line,
			.physical_line_partition = cases[i].partitions,
			.size = cases[i].size,
		};
		const char *error = NULL;
		int expected = -EINVAL;
		int err = page_color_check_leaf(&leaf, &error);

		if (cases[i].good)
			expected = 0;
		KUNIT_EXPECT_EQ_MSG(test, err, expected, "%d", i);
		KUNIT_EXPECT_EQ(test, !error, cases[i].good);
	}
}

static struct kunit_case geometry_cases[] = {
	KUNIT_CASE(texts_are_read),
	KUNIT_CASE(bad_texts_change_nothing),
	KUNIT_CASE(colors_are_pages_of_a_way),
	KUNIT_CASE(a_way_larger_than_memory_is_refused),
	KUNIT_CASE(side_caches_are_direct_mapped),
	KUNIT_CASE(frames_compete_in_pairs_if_extended_linear),
	KUNIT_CASE(faked_caches_are_refused),
	{}
};

static struct kunit_suite geometry_suite = {
	.name = "page_color_geometry",
	.test_cases = geometry_cases,
};

kunit_test_suite(geometry_suite);
