// SPDX-License-Identifier: GPL-2.0-only
/* What is chosen for an address space that was made for another geometry. */

#include <kunit/test.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "page_color.h"

#define COLORS	64

/* Not there while coloring is off, and mostly not at all. */
static const int nid = MAX_NUMNODES - 1;

struct made {
	struct page_color_node node;
	struct page_color_zone coloring;
	struct zone zone;
	struct page_color_space *space;
	struct page_color_ask ask;
};

/* One zone, and an address space that holds its first eight colors. */
static struct made *make(struct kunit *test, u64 id)
{
	struct made *made = kunit_kzalloc(test, sizeof(*made), GFP_KERNEL);
	struct page_color_space *space;

	KUNIT_ASSERT_NOT_NULL(test, made);
	space = kunit_kzalloc(test, struct_size(space, held.bits, 1), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, space);
	made->node.id = 7;
	made->node.colors = COLORS;
	made->coloring.node = 7;
	made->coloring.memory.colors = COLORS;
	zone_set_nid(&made->zone, nid);
	RCU_INIT_POINTER(made->zone.page_color, &made->coloring);
	refcount_set(&space->refs, 1);
	spin_lock_init(&space->lock);
	space->nid = nid;
	space->node = id;
	space->held.colors = COLORS;
	space->full_from = 1;
	page_color_mark(space, NULL, 0, 0xff);
	made->space = space;
	made->ask.space = space;
	return made;
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

/* Its words of colors are others, and may be fewer. */
static void of_another_geometry_nothing_is_lost(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, held_after_loss(test, 6), 0xff);
}

static struct kunit_case alloc_cases[] = {
	KUNIT_CASE(lost_frames_are_not_held),
	KUNIT_CASE(of_another_geometry_nothing_is_lost),
	{}
};

static struct kunit_suite alloc_suite = {
	.name = "page_color_alloc",
	.test_cases = alloc_cases,
};

kunit_test_suite(alloc_suite);
