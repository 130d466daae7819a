// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is chosen for an address space that was made for another geometry, and for a
 * set that has no free frame.
 */

#include <kunit/test.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "page_color.h"

#define COLORS	64

/* A node that is not colored, and mostly does not exist. */
static const int nid = MAX_NUMNODES - 1;

struct made {
	struct page_color_node node;
	struct page_color_zone coloring;
	struct zone zone;
	struct page_color_space *space;
	struct page_color_ask ask;
};

/* One zone, and an address space that holds its first eight colors. */
static struct made *make_with(struct kunit *test, u64 id, u32 colors)
{
	struct made *made = kunit_kzalloc(test, sizeof(*made), GFP_KERNEL);
	struct page_color_space *space;

	KUNIT_ASSERT_NOT_NULL(test, made);
	space = kunit_kzalloc(test, struct_size(space, held.bits, colors / 64),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, space);
	made->node.id = 7;
	made->node.colors = colors;
	made->coloring.node = 7;
	made->coloring.memory.colors = colors;
	zone_set_nid(&made->zone, nid);
	RCU_INIT_POINTER(made->zone.page_color, &made->coloring);
	refcount_set(&space->refs, 1);
	spin_lock_init(&space->lock);
	space->nid = nid;
	space->node = id;
	space->held.colors = colors;
	space->full_from = colors / 64;
	page_color_mark(space, NULL, 0, 0xff);
	made->space = space;
	made->ask.space = space;
	return made;
}

static struct made *make(struct kunit *test, u64 id)
{
	return make_with(test, id, COLORS);
}

/* What it holds after two frames of its colors were lost. */
static u64 held_after_loss(struct kunit *test, u64 id)
{
	struct page_color_part part = { .word = 0 };
	struct made *made = make(test, id);

	if (rcu_access_pointer(page_color_nodes[nid]))
		kunit_skip(test, "node %d is there", nid);
	rcu_assign_pointer(page_color_nodes[nid], &made->node);
	rcu_read_lock();
	page_color_lost(&made->zone, &made->ask, &part, 0x6);
	rcu_read_unlock();
	RCU_INIT_POINTER(page_color_nodes[nid], NULL);
	synchronize_rcu();
	return page_color_held_word(&made->space->held, 0);
}

static void lost_frames_are_not_held(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, held_after_loss(test, 7), 0xf9);
}

/* In another geometry a word has other colors, and there may be fewer words. */
static void of_another_geometry_nothing_is_lost(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, held_after_loss(test, 6), 0xff);
}

static struct page_color_live *make_live(struct kunit *test, u32 colors)
{
	struct page_color_live *live;

	live = kunit_kzalloc(test, page_color_live_bytes(colors, 8), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, live);
	page_color_live_init(live, colors, 8);
	live->lately = kunit_kzalloc(test, page_color_lately_bytes(colors),
				     GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, live->lately);
	page_color_lately_init(live->lately, colors);
	return live;
}

/* Both have chosen the colors before either takes them. */
static void a_color_that_two_choose_is_taken_by_one(struct kunit *test)
{
	struct page_color_space *first = make(test, 7)->space;
	struct page_color_space *second = make(test, 7)->space;
	struct page_color_live *live = make_live(test, COLORS);

	KUNIT_EXPECT_EQ(test, page_color_claim(first, live, 0, 0xf0f0), 0xf000);
	KUNIT_EXPECT_EQ(test, page_color_claim(second, live, 0, 0xff00), 0xf00);
	KUNIT_EXPECT_EQ(test, page_color_held_word(&second->held, 0), 0xfff);
	KUNIT_EXPECT_EQ(test, page_color_take(second, live, 0, 0xf000), 0xf000);
}

/* The second one gets none of the block if the first has taken more than expected. */
static void a_block_that_two_choose_is_taken_by_one(struct kunit *test)
{
	const u32 colors = 4 * COLORS;
	struct page_color_space *first = make_with(test, 7, colors)->space;
	struct page_color_space *second = make_with(test, 7, colors)->space;
	struct page_color_live *live = make_live(test, colors);
	u32 word;

	KUNIT_EXPECT_EQ(test, page_color_claim_block(first, live, 128, 7, 128),
			128);
	KUNIT_EXPECT_EQ(test, page_color_claim_block(second, live, 128, 7, 1), 0);
	KUNIT_EXPECT_EQ(test, page_color_claim_block(first, live, 80, 4, 16), 16);
	KUNIT_EXPECT_EQ(test, page_color_claim_block(second, live, 64, 7, 49), 0);
	/* It holds eight colors of word 0. */
	for (word = 1; word < 4; word++)
		KUNIT_EXPECT_EQ(test, page_color_held_word(&second->held, word), 0);
	KUNIT_EXPECT_EQ(test, page_color_live_at_most(live, 1, 0), ~0xffff0000ULL);
	/* Else it gets the colors that are left, without those that it holds itself. */
	KUNIT_EXPECT_EQ(test, page_color_claim_block(second, live, 64, 7, 48), 48);
	KUNIT_EXPECT_EQ(test, page_color_held_word(&second->held, 1),
			~0xffff0000ULL);
	KUNIT_EXPECT_EQ(test, page_color_claim_block(second, live, 0, 4, 9), 0);
	KUNIT_EXPECT_EQ(test, page_color_claim_block(second, live, 0, 4, 8), 8);
	KUNIT_EXPECT_EQ(test, page_color_held_word(&second->held, 0), 0xffff);
}

static unsigned long gather(struct made *made, unsigned int count)
{
	struct page_color_part parts[PAGE_COLOR_PARTS];
	unsigned int nr;

	rcu_read_lock();
	nr = page_color_gather(&made->zone, &made->ask, 0, count, parts);
	rcu_read_unlock();
	return nr ? parts[0].frame + __ffs64(parts[0].mask) : 0;
}

/* A zone of one chunk, of which nothing is free. */
static struct page_color_free *make_free(struct kunit *test, struct made *made)
{
	struct page_color_free *free;

	free = kunit_kzalloc(test, struct_size(free, chunk, 1), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, free);
	free->chunk[0] = kvzalloc(page_color_chunk_bytes(9), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, free->chunk[0]);
	free->chunks = 1;
	free->block_order = 9;
	made->coloring.memory.free = free;
	made->coloring.memory.copies = PAGE_COLOR_CHUNK / COLORS;
	return free;
}

/* After a search that finds nothing the next 1, 3, 7 and so on are not made. */
static void a_set_without_free_frames_is_searched_less_often(struct kunit *test)
{
	struct page_color_free *free;
	struct page_color_set *set;
	struct made *made = make(test, 7);
	struct page_color_vain_set *vain;
	int i;

	if (rcu_access_pointer(page_color_nodes[nid]))
		kunit_skip(test, "node %d is there", nid);
	set = kunit_kzalloc(test, struct_size(set, ranges, 1), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, set);
	free = make_free(test, made);
	*set = (struct page_color_set) { .id = 9, .colors = COLORS, .nr = 1 };
	set->ranges[0] = (struct page_color_range) { 5, 6 };
	made->ask = (struct page_color_ask) { .set = set };
	vain = &made->coloring.vain[set->id % PAGE_COLOR_VAIN_SETS];
	/* Of a color that is not in the set. */
	page_color_free_set(free, 4 * COLORS + 7, 0);
	rcu_assign_pointer(page_color_nodes[nid], &made->node);

	for (i = 0; i < 1 + 1 + 1 + 3 + 1; i++)
		KUNIT_EXPECT_EQ(test, gather(made, 1), 0);
	KUNIT_EXPECT_EQ(test, vain->skip.left, 7);
	/* One comes free: the next search that is made finds it. */
	page_color_free_set(free, 8 * COLORS + 6, 0);
	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_EQ(test, gather(made, 1), 0);
	KUNIT_EXPECT_EQ(test, gather(made, 1), 8 * COLORS + 6);
	KUNIT_EXPECT_EQ(test, vain->skip.after, 0);
	/* Searches with another set are made, although it has the same entry. */
	page_color_free_clear(free, 8 * COLORS + 6, 0);
	KUNIT_EXPECT_EQ(test, gather(made, 1), 0);
	KUNIT_EXPECT_EQ(test, vain->skip.left, 1);
	page_color_free_set(free, 8 * COLORS + 6, 0);
	set->id += PAGE_COLOR_VAIN_SETS;
	KUNIT_EXPECT_EQ(test, gather(made, 1), 8 * COLORS + 6);
	page_color_free_clear(free, 8 * COLORS + 6, 0);
	KUNIT_EXPECT_EQ(test, gather(made, 1), 0);
	/* Threads without the set are not affected by searches with it. */
	made->ask.space = made->space;
	KUNIT_EXPECT_EQ(test, gather(made, 1), 0);
	made->ask.set = NULL;
	KUNIT_EXPECT_EQ(test, gather(made, 1), 4 * COLORS + 7);
	KUNIT_EXPECT_EQ(test, made->space->vain.skip.left, 0);

	RCU_INIT_POINTER(page_color_nodes[nid], NULL);
	synchronize_rcu();
	kvfree(free->chunk[0]);
}

/* Of blocks that are free one after the other, each search looks at the next one. */
static void blocks_are_looked_for_behind_the_last_one(struct kunit *test)
{
	struct page_color_free *free;
	struct made *made = make(test, 7);
	struct page_color_blocks blocks = { .order = 4 };
	u32 color;

	if (rcu_access_pointer(page_color_nodes[nid]))
		kunit_skip(test, "node %d is there", nid);
	free = make_free(test, made);
	page_color_free_set(free, 0, 9);
	made->space->old_cursor = PAGE_COLOR_NO_CURSOR;
	made->space->block_cursor = PAGE_COLOR_NO_CURSOR;
	rcu_assign_pointer(page_color_nodes[nid], &made->node);

	rcu_read_lock();
	/* It holds eight colors of the first stretch of 16. */
	for (color = 16; color < COLORS; color += 16) {
		KUNIT_EXPECT_TRUE(test, page_color_gather_blocks(&made->zone,
								 &made->ask, 0,
								 &blocks));
		KUNIT_EXPECT_EQ(test, blocks.frame % COLORS, color);
		KUNIT_EXPECT_EQ(test, blocks.claimed, 16);
		KUNIT_EXPECT_EQ(test, blocks.more, 0);
	}
	rcu_read_unlock();

	RCU_INIT_POINTER(page_color_nodes[nid], NULL);
	synchronize_rcu();
	kvfree(free->chunk[0]);
}

static struct kunit_case alloc_cases[] = {
	KUNIT_CASE(lost_frames_are_not_held),
	KUNIT_CASE(of_another_geometry_nothing_is_lost),
	KUNIT_CASE(a_color_that_two_choose_is_taken_by_one),
	KUNIT_CASE(a_block_that_two_choose_is_taken_by_one),
	KUNIT_CASE(a_set_without_free_frames_is_searched_less_often),
	KUNIT_CASE(blocks_are_looked_for_behind_the_last_one),
	{}
};

static struct kunit_suite alloc_suite = {
	.name = "page_color_alloc",
	.test_cases = alloc_cases,
};

kunit_test_suite(alloc_suite);
