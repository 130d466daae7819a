// SPDX-License-Identifier: GPL-2.0-only
/* Color sets: what is read, and what is found in them. */

#include <kunit/test.h>
#include <linux/err.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "page_color.h"

static struct page_color_set *parse(struct kunit *test, const char *text,
				    u32 colors)
{
	char *list = kunit_kmalloc(test, strlen(text) + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, list);
	strscpy(list, text, strlen(text) + 1);
	return page_color_set_parse(list, colors);
}

static void check_ranges(struct kunit *test, const char *text, u32 colors,
			 const struct page_color_range *ranges, u32 nr)
{
	struct page_color_set *set = parse(test, text, colors);
	u32 i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	KUNIT_EXPECT_EQ(test, set->colors, colors);
	KUNIT_EXPECT_EQ(test, refcount_read(&set->refs), 1);
	KUNIT_ASSERT_EQ_MSG(test, set->nr, nr, "'%s'", text);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, set->ranges[i].first, ranges[i].first);
		KUNIT_EXPECT_EQ(test, set->ranges[i].last, ranges[i].last);
	}
	page_color_set_put(set);
}

#define CHECK(test, text, colors, ...) do {				\
	static const struct page_color_range ranges[] = { __VA_ARGS__ };\
									\
	check_ranges(test, text, colors, ranges, ARRAY_SIZE(ranges));	\
} while (0)

static void lists_become_ascending_ranges(struct kunit *test)
{
	CHECK(test, "5", 16, { 5, 5 });
	CHECK(test, "0-3\n", 16, { 0, 3 });
	CHECK(test, "7,0-3,2-5", 16, { 0, 5 }, { 7, 7 });
	CHECK(test, " 8 ,, 2,3\t4 ", 16, { 2, 4 }, { 8, 8 });
	CHECK(test, "1-14", 16, { 1, 14 });
	CHECK(test, "N", 48, { 47, 47 });
	CHECK(test, "0-11:1/4", 12, { 0, 0 }, { 4, 4 }, { 8, 8 });
	CHECK(test, "63-64,127-128", 130, { 63, 64 }, { 127, 128 });
}

static void all_colors_are_no_set(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, parse(test, "all", 16));
	KUNIT_EXPECT_NULL(test, parse(test, "0-15", 16));
	KUNIT_EXPECT_NULL(test, parse(test, "8-N,0-7", 16));
	KUNIT_EXPECT_NULL(test, parse(test, "0-11:1/2,1-11:1/2", 12));
}

static void bad_lists_are_refused(struct kunit *test)
{
	static const char * const bad[] = {
		"", "\n", " ", ",", "16", "0-16", "3-1", "-1", "1-", "x",
		"0x3", "1\n2", "0-7:3/0", "0-7:4/2", "4294967296", "1;2",
		"18446744073709551617", "all,16",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(parse(test, bad[i], 16)),
				    -EINVAL, "'%s'", bad[i]);
	KUNIT_EXPECT_EQ(test, PTR_ERR(parse(test, "0", 0)), -EINVAL);
}

/* As the definition says it. */
static u32 slow_next(const bool *in, u32 colors, u32 color)
{
	while (!in[color])
		color = (color + 1) % colors;
	return color;
}

static u64 slow_word(const bool *in, u32 colors, u32 word)
{
	u64 bits = 0;
	u32 bit;

	for (bit = 0; bit < 64; bit++)
		if (64 * word + bit < colors && in[64 * word + bit])
			bits |= 1ULL << bit;
	return bits;
}

/* Of some colors, listed in @in too; NULL if it would be all or none. */
static struct page_color_set *random_set(struct kunit *test,
					 struct rnd_state *random, u32 colors,
					 bool *in)
{
	u32 density = 1 + prandom_u32_state(random) % 7;
	char *list = kunit_kzalloc(test, 2048, GFP_KERNEL);
	struct page_color_set *set;
	u32 color, at = 0;

	KUNIT_ASSERT_NOT_NULL(test, list);
	for (color = 0; color < colors; color++) {
		in[color] = prandom_u32_state(random) % 8 < density;
		if (in[color])
			at += scnprintf(list + at, 2048 - at, "%u,", color);
	}
	set = page_color_set_parse(list, colors);
	kunit_kfree(test, list);
	return IS_ERR(set) ? NULL : set;
}

static bool slow_has(const bool *in, u32 colors, u32 color, u32 nr)
{
	bool has = color + nr <= colors;

	while (has && nr--)
		has = in[color++];
	return has;
}

static void check_blocks(struct kunit *test, const struct page_color_set *set,
			 unsigned int order, const bool *in)
{
	u32 size = 1U << order, color;
	bool any = false;

	for (color = 0; color < set->colors; color++) {
		bool has = slow_has(in, set->colors, color, size);

		KUNIT_EXPECT_EQ(test, page_color_set_has(set, color, order),
				has);
		any = any || (has && !(color % size) &&
			      !(set->colors % size));
	}
	KUNIT_EXPECT_EQ(test, page_color_set_has_block(set, order), any);
}

static void check_random(struct kunit *test, struct rnd_state *random)
{
	u32 colors = 2 + prandom_u32_state(random) % 200;
	bool *in = kunit_kzalloc(test, colors, GFP_KERNEL);
	struct page_color_set *set;
	u32 color, word, order;

	KUNIT_ASSERT_NOT_NULL(test, in);
	set = random_set(test, random, colors, in);
	if (!set)
		return;
	for (order = 0; order < 5; order++)
		check_blocks(test, set, order, in);
	for (word = 0; word <= colors / 64 + 1; word++)
		KUNIT_EXPECT_EQ(test, page_color_set_word(set, word),
				slow_word(in, colors, word));
	for (color = 0; color < colors; color++)
		KUNIT_EXPECT_EQ(test, page_color_set_next(set, color),
				slow_next(in, colors, color));
	page_color_set_put(set);
	kunit_kfree(test, in);
}

static void bisection_finds_what_a_walk_finds(struct kunit *test)
{
	struct rnd_state random;
	int i;

	prandom_seed_state(&random, 6);
	for (i = 0; i < 300; i++)
		check_random(test, &random);
}

/* Each range of the result is whole: no two of them touch. */
static void check_both(struct kunit *test, const struct page_color_set *a,
		       const struct page_color_set *b, const bool *in,
		       u32 colors)
{
	struct page_color_set *both = page_color_set_both(a, b);
	u64 any = 0;
	u32 i;

	for (i = 0; i <= colors / 64; i++)
		any |= slow_word(in, colors, i);
	KUNIT_EXPECT_EQ(test, !both, !any);
	if (IS_ERR_OR_NULL(both))
		return;
	for (i = 0; i <= colors / 64; i++)
		KUNIT_EXPECT_EQ(test, page_color_set_word(both, i),
				slow_word(in, colors, i));
	for (i = 1; i < both->nr; i++)
		KUNIT_EXPECT_GT(test, both->ranges[i].first,
				both->ranges[i - 1].last + 1);
	KUNIT_EXPECT_EQ(test, both->colors, colors);
	KUNIT_EXPECT_EQ(test, both->parts[0], a->id);
	KUNIT_EXPECT_EQ(test, both->parts[1], b->id);
	page_color_set_put(both);
}

static void what_two_sets_share_is_found(struct kunit *test)
{
	struct rnd_state random;
	bool in[200], also[200];
	int round;

	prandom_seed_state(&random, 7);
	for (round = 0; round < 300; round++) {
		u32 colors = 2 + prandom_u32_state(&random) % 199, i;
		struct page_color_set *a, *b;

		a = random_set(test, &random, colors, in);
		b = random_set(test, &random, colors, also);
		for (i = 0; i < colors; i++)
			in[i] = in[i] && also[i];
		if (a && b)
			check_both(test, a, b, in, colors);
		page_color_set_put(a);
		page_color_set_put(b);
	}
}

/* Memory that is used again for another set does not make it the same one. */
static void every_set_has_its_own_number(struct kunit *test)
{
	u64 last = 0;
	int i;

	for (i = 0; i < 20; i++) {
		struct page_color_set *set = parse(test, "3-5", 16);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
		KUNIT_EXPECT_GT(test, set->id, last);
		last = set->id;
		page_color_set_put(set);
	}
}

static void many_ranges_fit(struct kunit *test)
{
	const u32 colors = 1 << 20;
	struct page_color_set *set = parse(test, "all:1/2", colors);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, set);
	KUNIT_EXPECT_EQ(test, set->nr, colors / 2);
	KUNIT_EXPECT_EQ(test, page_color_set_word(set, 0), 0x5555555555555555);
	KUNIT_EXPECT_EQ(test, page_color_set_word(set, colors / 64 - 1),
			0x5555555555555555);
	KUNIT_EXPECT_EQ(test, page_color_set_word(set, colors / 64), 0);
	KUNIT_EXPECT_EQ(test, page_color_set_next(set, 777777), 777778);
	KUNIT_EXPECT_EQ(test, page_color_set_next(set, colors - 1), 0);
	page_color_set_put(set);
}

static struct kunit_case set_cases[] = {
	KUNIT_CASE(lists_become_ascending_ranges),
	KUNIT_CASE(all_colors_are_no_set),
	KUNIT_CASE(bad_lists_are_refused),
	KUNIT_CASE(bisection_finds_what_a_walk_finds),
	KUNIT_CASE(what_two_sets_share_is_found),
	KUNIT_CASE(every_set_has_its_own_number),
	KUNIT_CASE(many_ranges_fit),
	{}
};

static struct kunit_suite set_suite = {
	.name = "page_color_set",
	.test_cases = set_cases,
};

kunit_test_suite(set_suite);
