// SPDX-License-Identifier: GPL-2.0-only
/* Free frames, held colors, counts, and the choice among them. */

#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include "page_color.h"

/* One chunk of memory, with none before and after it. */
#define START	PAGE_COLOR_CHUNK
#define COLORS	128

struct fixture {
	struct page_color_free *free;
	struct page_color_live *live;
	struct page_color_held *held;
	struct page_color_memory memory;
};

static void free_all(void *fixture)
{
	struct fixture *f = fixture;

	kvfree(f->free->chunk[0]);
	kvfree(f->free);
	kvfree(f->live);
	kvfree(f->held);
}

static struct fixture *make(struct kunit *test, u32 colors)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->free = kvzalloc(struct_size(f->free, chunk, 2), GFP_KERNEL);
	f->live = kvzalloc(page_color_live_bytes(colors, 3), GFP_KERNEL);
	f->held = kvzalloc(struct_size(f->held, bits, page_color_words(colors)),
			   GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, f->free && f->live && f->held);
	f->free->chunk[0] = kvzalloc(page_color_chunk_bytes(9), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->free->chunk[0]);
	f->free->start = START;
	f->free->chunks = 2;
	f->free->block_order = 9;
	f->free->lowest = START;
	page_color_live_init(f->live, colors, 3);
	f->held->colors = colors;
	f->memory.free = f->free;
	f->memory.colors = colors;
	f->memory.first = START / colors;
	f->memory.copies = PAGE_COLOR_CHUNK / colors;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_all, f), 0);
	return f;
}

static void frames_of_a_hole_are_not_free(struct kunit *test)
{
	struct fixture *f = make(test, COLORS);
	unsigned long hole = START + PAGE_COLOR_CHUNK;

	page_color_free_set(f->free, hole, 9);
	page_color_free_set(f->free, START - 512, 9);
	KUNIT_EXPECT_EQ(test, page_color_free_word(f->free, hole), 0);
	KUNIT_EXPECT_EQ(test, page_color_free_word(f->free, START - 64), 0);
	KUNIT_EXPECT_EQ(test, page_color_free_lowest(f->free, 0, ULONG_MAX),
			ULONG_MAX);
	/* Half of the word is on the other side of the border. */
	page_color_free_set(f->free, hole - 32, 5);
	KUNIT_EXPECT_EQ(test, page_color_free_word(f->free, hole - 32),
			0xffffffff);
	KUNIT_EXPECT_EQ(test, page_color_free_lowest(f->free, 0, ULONG_MAX),
			hole - 512);
}

/* As when memory is added before and after. */
static void a_larger_table_knows_what_the_smaller_one_did(struct kunit *test)
{
	struct fixture *f = make(test, COLORS);
	struct page_color_free *large;

	large = kunit_kzalloc(test, struct_size(large, chunk, 4), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, large);
	large->chunks = 4;
	large->block_order = 9;
	large->lowest = START - 512;
	page_color_free_set(f->free, START + 1024, 4);
	page_color_free_adopt(large, f->free);
	KUNIT_EXPECT_EQ(test, page_color_free_word(large, START + 1024), 0xffff);
	KUNIT_EXPECT_EQ(test, large->partial, 16);
	KUNIT_EXPECT_EQ(test, page_color_free_lowest(large, large->lowest, ULONG_MAX),
			START + 1024);
	KUNIT_EXPECT_EQ(test, page_color_free_lowest(large, large->lowest, START),
			START);
	page_color_free_clear(large, START + 1024, 4);
	KUNIT_EXPECT_EQ(test, large->partial, 0);
}

static void a_pageblock_in_use_comes_before_a_whole_one(struct kunit *test)
{
	struct fixture *f = make(test, COLORS);
	struct page_color_wish wish = {
		.count = 64,
		.looks = PAGE_COLOR_SEARCHED,
	};
	struct page_color_part part;

	page_color_free_set(f->free, START, 9);
	page_color_free_set(f->free, START + 1024, 4);
	KUNIT_ASSERT_TRUE(test,
			  page_color_choose_copy(&f->memory, 0, ~0ULL, &wish,
						 NULL, 0, &part));
	KUNIT_EXPECT_EQ(test, part.frame, START + 1024);
	KUNIT_EXPECT_EQ(test, part.mask, 0xffff);
	/* Less than a quarter of what is wanted costs too many locks. */
	page_color_free_clear(f->free, START + 1024, 0);
	KUNIT_ASSERT_TRUE(test,
			  page_color_choose_copy(&f->memory, 0, ~0ULL, &wish,
						 NULL, 0, &part));
	KUNIT_EXPECT_LT(test, part.frame, START + 512);
	KUNIT_EXPECT_EQ(test, part.mask, ~0ULL);
}

static void a_search_ends_and_the_next_one_goes_on(struct kunit *test)
{
	struct fixture *f = make(test, COLORS);
	struct page_color_wish wish = { .count = 64, .looks = 100 };
	unsigned long last = START + PAGE_COLOR_CHUNK - COLORS;
	struct page_color_part part;
	unsigned int searches = 1;

	page_color_free_set(f->free, last, 0);
	while (!page_color_choose_copy(&f->memory, 0, ~0ULL, &wish, NULL, 0,
				       &part)) {
		KUNIT_ASSERT_EQ(test, wish.looks, 0);
		KUNIT_ASSERT_LT(test, searches++, PAGE_COLOR_CHUNK);
		wish.looks = 100;
	}
	KUNIT_EXPECT_EQ(test, part.frame, last);
	KUNIT_EXPECT_EQ(test, searches, DIV_ROUND_UP(f->memory.copies, 100));
}

static void a_search_for_a_block_ends_and_the_next_one_goes_on(struct kunit *test)
{
	struct fixture *f = make(test, 4096);
	struct page_color_wish wish = { .held = f->held, .looks = 100 };
	unsigned long frame;
	unsigned int stay;

	page_color_free_set(f->free, START + 4096 + 1024, 9);
	/* One stretch of eight is looked at, and a part of the second one. */
	KUNIT_EXPECT_FALSE(test, page_color_choose_block(&f->memory, &wish, 9,
							 &frame, &stay));
	KUNIT_EXPECT_EQ(test, wish.looks, 0);
	KUNIT_EXPECT_EQ(test, wish.cursor, 1024);
	wish.looks = 100;
	KUNIT_ASSERT_TRUE(test, page_color_choose_block(&f->memory, &wish, 9,
							&frame, &stay));
	KUNIT_EXPECT_EQ(test, frame, START + 4096 + 1024);
}

/* More copies than one search looks at, of each of 16 stretches. */
static void searches_for_a_block_see_all_copies(struct kunit *test)
{
	struct fixture *f = make(test, 256);
	unsigned long last = START + PAGE_COLOR_CHUNK - 256, frame;
	struct page_color_wish wish = { .held = f->held };
	unsigned int stay, searches;

	page_color_free_set(f->free, last, 4);
	page_color_held_mark(f->held, 0, ~0xffffULL);
	for (searches = 1; searches < 4; searches++) {
		wish.looks = PAGE_COLOR_SEARCHED;
		if (page_color_choose_block(&f->memory, &wish, 4, &frame, &stay))
			break;
	}
	KUNIT_EXPECT_EQ(test, searches, 2);
	KUNIT_EXPECT_EQ(test, frame, last);
}

static void blocks_of_many_colors_avoid_what_is_held(struct kunit *test)
{
	struct fixture *f = make(test, 4096);
	struct page_color_wish wish = {
		.held = f->held,
		.live = f->live,
		.looks = PAGE_COLOR_SEARCHED,
	};
	unsigned long frame;
	unsigned int stay;

	KUNIT_EXPECT_FALSE(test, page_color_choose_block(&f->memory, &wish, 9,
							 &frame, &stay));
	page_color_free_set(f->free, START, 10);
	page_color_free_set(f->free, START + 4096 + 2048, 10);
	/* One page of the first stretch, half of the second, of the third none. */
	page_color_held_mark(f->held, 0, 1);
	page_color_held_mark(f->held, 8, 0xffffffff);
	KUNIT_ASSERT_TRUE(test, page_color_choose_block(&f->memory, &wish, 9,
							&frame, &stay));
	KUNIT_EXPECT_EQ(test, frame, START + 4096 + 2048);
	/* What others hold counts less than what is held. */
	page_color_live_add(f->live, 32, ~0ULL);
	page_color_live_add(f->live, 40, ~0ULL);
	KUNIT_ASSERT_TRUE(test, page_color_choose_block(&f->memory, &wish, 9,
							&frame, &stay));
	KUNIT_EXPECT_EQ(test, frame, START + 4096 + 2048);
	KUNIT_ASSERT_TRUE(test, page_color_choose_block(&f->memory, &wish, 4,
							&frame, &stay));
	KUNIT_EXPECT_EQ(test, frame % 16, 0);
	/* Blocks of 512 do not divide 4000 colors. */
	f->memory.colors = 4000;
	KUNIT_EXPECT_FALSE(test, page_color_choose_block(&f->memory, &wish, 9,
							 &frame, &stay));
}

static void a_block_takes_the_place_of_small_pages(struct kunit *test)
{
	struct fixture *f = make(test, 2048);
	struct page_color_wish wish = {
		.held = f->held,
		.live = f->live,
		.looks = PAGE_COLOR_SEARCHED,
	};
	struct page_color_leaving leaving;
	unsigned long frame;
	unsigned int stay;
	u32 word;

	page_color_free_set(f->free, START, 10);
	page_color_free_set(f->free, START + 1024, 10);
	/* All but one page of the second stretch. */
	for (word = 0; word < 32; word++)
		page_color_held_mark(f->held, word, word == 8 ? ~1ULL : ~0ULL);
	page_color_leaving_begin(&leaving, PAGE_COLOR_ANON);
	page_color_leaving_add(&leaving, 3);
	page_color_leaving_add(&leaving, 2);
	page_color_leaving_add(&leaving, 3);
	KUNIT_ASSERT_TRUE(test, page_color_choose_block(&f->memory, &wish, 9,
							&frame, &stay));
	KUNIT_EXPECT_EQ(test, frame, START + 512);
	KUNIT_EXPECT_EQ(test, stay, 511);
	wish.leaving = &leaving;
	KUNIT_ASSERT_TRUE(test, page_color_choose_block(&f->memory, &wish, 9,
							&frame, &stay));
	KUNIT_EXPECT_EQ(test, frame, START + 1536);
	/* Two of its 512 colors are those of pages that leave. */
	KUNIT_EXPECT_EQ(test, stay, 510);
	page_color_free_clear(f->free, START, 10);
	wish.leaving = NULL;
	KUNIT_ASSERT_TRUE(test, page_color_choose_block(&f->memory, &wish, 9,
							&frame, &stay));
	KUNIT_EXPECT_EQ(test, stay, 512);
}

static void rounds_begin_when_all_is_held(struct kunit *test)
{
	struct fixture *f = make(test, 70);
	int round;

	for (round = 0; round < 3; round++) {
		KUNIT_EXPECT_EQ(test, page_color_held_mark(f->held, 0, ~0ULL),
				~0ULL);
		KUNIT_EXPECT_FALSE(test, page_color_held_round(f->held));
		KUNIT_EXPECT_EQ(test, page_color_held_mark(f->held, 1, ~0ULL),
				0x3f);
		KUNIT_EXPECT_TRUE(test, page_color_held_round(f->held));
		KUNIT_EXPECT_EQ(test, page_color_held_word(f->held, 0), 0);
		KUNIT_EXPECT_EQ(test, page_color_held_word(f->held, 1), 0);
		KUNIT_EXPECT_EQ(test, page_color_held_unmark(f->held, 1, ~0ULL),
				0);
	}
}

static void counts_end_at_their_largest_and_at_none(struct kunit *test)
{
	struct fixture *f = make(test, COLORS);
	int i;

	for (i = 0; i < 20; i++)
		page_color_live_add(f->live, 1, 0x5);
	KUNIT_EXPECT_EQ(test, page_color_live_at_most(f->live, 1, 6), ~0x5ULL);
	KUNIT_EXPECT_EQ(test, page_color_live_at_most(f->live, 1, 7), ~0ULL);
	for (i = 0; i < 20; i++)
		page_color_live_sub(f->live, 1, 0x7);
	KUNIT_EXPECT_EQ(test, page_color_live_at_most(f->live, 1, 0), ~0ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->live->left), COLORS);
}

static void the_level_follows(struct kunit *test)
{
	struct fixture *f = make(test, COLORS);

	page_color_live_add(f->live, 0, ~0ULL);
	page_color_live_adjust(f->live);
	KUNIT_EXPECT_EQ(test, f->live->level, 0);
	KUNIT_EXPECT_EQ(test, page_color_live_few(f->live, 0), 0);
	page_color_live_add(f->live, 1, ~0ULL);
	page_color_live_adjust(f->live);
	KUNIT_EXPECT_EQ(test, f->live->level, 1);
	KUNIT_EXPECT_EQ(test, page_color_live_few(f->live, 0), ~0ULL);
	page_color_live_sub(f->live, 1, ~0ULL);
	page_color_live_adjust(f->live);
	KUNIT_EXPECT_EQ(test, f->live->level, 0);
}

static struct kunit_case choose_cases[] = {
	KUNIT_CASE(frames_of_a_hole_are_not_free),
	KUNIT_CASE(a_larger_table_knows_what_the_smaller_one_did),
	KUNIT_CASE(a_pageblock_in_use_comes_before_a_whole_one),
	KUNIT_CASE(a_search_ends_and_the_next_one_goes_on),
	KUNIT_CASE(a_search_for_a_block_ends_and_the_next_one_goes_on),
	KUNIT_CASE(searches_for_a_block_see_all_copies),
	KUNIT_CASE(blocks_of_many_colors_avoid_what_is_held),
	KUNIT_CASE(a_block_takes_the_place_of_small_pages),
	KUNIT_CASE(rounds_begin_when_all_is_held),
	KUNIT_CASE(counts_end_at_their_largest_and_at_none),
	KUNIT_CASE(the_level_follows),
	{}
};

static struct kunit_suite choose_suite = {
	.name = "page_color_choose",
	.test_cases = choose_cases,
};

kunit_test_suite(choose_suite);
