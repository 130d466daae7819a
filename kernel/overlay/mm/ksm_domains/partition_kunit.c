// SPDX-License-Identifier: GPL-2.0-only
/* Which nodes form a domain. */

#include <kunit/test.h>
#include "partition.h"

#define NODES 4

static void expect(struct kunit *test, const u8 *distance, unsigned int limit,
		   const unsigned short *expected)
{
	unsigned short lowest[NODES];
	u8 copy[NODES * NODES];
	int i;

	memcpy(copy, distance, sizeof(copy));
	ksm_partition(copy, NODES, limit, lowest);
	for (i = 0; i < NODES; i++)
		KUNIT_EXPECT_EQ_MSG(test, lowest[i], expected[i],
				    "node %d, limit %u", i, limit);
}

/* Two sockets of two clusters each, as SLIT tells them. */
static const u8 sockets[] = {
	10, 12, 21, 21,
	12, 10, 21, 21,
	21, 21, 10, 12,
	21, 21, 12, 10,
};

static void sockets_are_domains_below_the_distance_between(struct kunit *test)
{
	expect(test, sockets, 10, (unsigned short[]){ 0, 1, 2, 3 });
	expect(test, sockets, 11, (unsigned short[]){ 0, 1, 2, 3 });
	expect(test, sockets, 12, (unsigned short[]){ 0, 0, 2, 2 });
	expect(test, sockets, 20, (unsigned short[]){ 0, 0, 2, 2 });
	expect(test, sockets, 21, (unsigned short[]){ 0, 0, 0, 0 });
}

/*
 * Three nodes in a row, each within the limit of the next: the two ends are not
 * within it of each other, so not all three may be together.
 */
static void every_two_nodes_are_within_the_limit(struct kunit *test)
{
	static const u8 row[] = {
		10, 13, 16, 16,
		13, 10, 13, 16,
		16, 13, 10, 16,
		16, 16, 16, 10,
	};

	expect(test, row, 13, (unsigned short[]){ 0, 0, 2, 3 });
	expect(test, row, 15, (unsigned short[]){ 0, 0, 2, 3 });
	expect(test, row, 16, (unsigned short[]){ 0, 0, 0, 0 });
}

/* The nearest nodes come together first, whatever their numbers. */
static void near_nodes_are_not_parted_by_low_ones(struct kunit *test)
{
	static const u8 distance[] = {
		10, 20, 30, 30,
		20, 10, 11, 30,
		30, 11, 10, 30,
		30, 30, 30, 10,
	};

	expect(test, distance, 20, (unsigned short[]){ 0, 1, 1, 3 });
}

static void the_last_distance_before_the_gap_is_near(struct kunit *test)
{
	static const u8 even[] = {
		10, 20, 20, 20,
		20, 10, 20, 20,
		20, 20, 10, 20,
		20, 20, 20, 10,
	};
	static const u8 alone[] = { 10 };

	KUNIT_EXPECT_EQ(test, ksm_near(sockets, NODES, 10), 12);
	KUNIT_EXPECT_EQ(test, ksm_near(even, NODES, 10), 10);
	KUNIT_EXPECT_EQ(test, ksm_near(alone, 1, 10), 10);
}

static void the_largest_distance_within_a_limit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ksm_largest_within(sockets, NODES, 9), 0);
	KUNIT_EXPECT_EQ(test, ksm_largest_within(sockets, NODES, 10), 10);
	KUNIT_EXPECT_EQ(test, ksm_largest_within(sockets, NODES, 20), 12);
	KUNIT_EXPECT_EQ(test, ksm_largest_within(sockets, NODES, 255), 21);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(sockets_are_domains_below_the_distance_between),
	KUNIT_CASE(every_two_nodes_are_within_the_limit),
	KUNIT_CASE(near_nodes_are_not_parted_by_low_ones),
	KUNIT_CASE(the_last_distance_before_the_gap_is_near),
	KUNIT_CASE(the_largest_distance_within_a_limit),
	{}
};

static struct kunit_suite suite = {
	.name = "ksm_domains_partition",
	.test_cases = cases,
};

kunit_test_suite(suite);
