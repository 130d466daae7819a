// SPDX-License-Identifier: GPL-2.0-only
/* Colored allocation on the running kernel, and the index beside its lists. */

#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "page_color.h"
#include "../internal.h"

/* Two colors short of a power of two, and one page to a way. */
#define COLORS	254
#define ROUNDS	2

static struct page_color_geometry before[MAX_NUMNODES];

static int page_color_alloc_init(struct kunit *test)
{
	struct page_color_geometry geometry = {
		.size = COLORS * PAGE_SIZE,
		.ways = 1,
		.colors = COLORS,
		.source = "test",
	};

	if (page_color_enabled())
		kunit_skip(test, "page coloring is in use");
	memcpy(before, page_color_geometries, sizeof(before));
	KUNIT_ASSERT_EQ(test, page_color_set_geometry(&geometry), 0);
	KUNIT_ASSERT_EQ(test, page_color_enable(true), 0);
	return 0;
}

static void page_color_alloc_exit(struct kunit *test)
{
	page_color_enable(false);
	memcpy(page_color_geometries, before, sizeof(before));
}

/* Every free block of the lists is in the index, and no other block. */
static void page_color_alloc_expect_true_index(struct kunit *test)
{
	struct zone *zone;

	for_each_populated_zone(zone) {
		unsigned long listed[NR_PAGE_ORDERS] = {};
		unsigned long missing = 0, indexed = 0, color;
		unsigned long flags, frames = 0;
		struct page *page;
		int order;

		spin_lock_irqsave(&zone->lock, flags);
		for (order = 0; order < NR_PAGE_ORDERS; order++)
			list_for_each_entry(page,
					    &zone->free_area[order].free_list[MIGRATE_MOVABLE],
					    buddy_list) {
				listed[order]++;
				frames += 1UL << order;
				if (!page_color_index_has(zone->page_color->index,
							  PAGE_COLOR_MOVABLE,
							  order,
							  page_to_pfn(page)))
					missing++;
			}
		for (color = 0; color < COLORS; color++)
			indexed += page_color_index_count(zone->page_color->index,
							  PAGE_COLOR_MOVABLE,
							  color);
		spin_unlock_irqrestore(&zone->lock, flags);

		KUNIT_EXPECT_EQ(test, missing, 0);
		KUNIT_EXPECT_EQ(test, indexed, frames);
	}
}

static unsigned int color_of(struct page *page)
{
	return page_to_pfn(page) % COLORS;
}

static struct page *take(struct kunit *test, unsigned int order)
{
	struct page *page = alloc_pages(GFP_HIGHUSER_MOVABLE | __GFP_COMP,
					order);

	KUNIT_ASSERT_NOT_NULL(test, page);
	return page;
}

/* Each color once, before any color comes twice. */
static void page_color_alloc_sequence(struct kunit *test)
{
	struct page *pages[COLORS * ROUNDS];
	unsigned int seen[COLORS] = {};
	int i;

	/* What is left of a run begins somewhere. */
	for (i = 0; i < COLORS * ROUNDS; i++) {
		pages[i] = take(test, 0);
		seen[color_of(pages[i])]++;
	}
	for (i = 0; i < COLORS; i++)
		KUNIT_EXPECT_EQ(test, seen[i], ROUNDS);
	for (i = 1; i < COLORS * ROUNDS; i++)
		KUNIT_EXPECT_EQ(test, color_of(pages[i]),
				(color_of(pages[i - 1]) + 1) % COLORS);
	page_color_alloc_expect_true_index(test);
	for (i = 0; i < COLORS * ROUNDS; i++)
		__free_page(pages[i]);
}

/* Pages that were freed last are not the next ones. */
static void page_color_alloc_freed_pages_do_not_break_the_order(struct kunit *test)
{
	struct page *page, *last = NULL;
	int i;

	for (i = 0; i < 3 * COLORS; i++) {
		page = take(test, 0);
		if (last)
			KUNIT_EXPECT_EQ(test, color_of(page),
					(color_of(last) + 1) % COLORS);
		if (last)
			__free_page(last);
		last = page;
	}
	__free_page(last);
}

static void page_color_alloc_orders(struct kunit *test)
{
	unsigned int order;
	int i;

	for (order = 1; order <= 5; order++) {
		struct page *last = NULL;

		for (i = 0; i < 20; i++) {
			struct page *page = take(test, order);
			unsigned int want;

			KUNIT_EXPECT_TRUE(test, IS_ALIGNED(page_to_pfn(page),
							   1UL << order));
			if (last) {
				/* The wanted color is inside of the block. */
				want = color_of(last) + (1U << order) - color_of(page);
				KUNIT_EXPECT_LT(test, (want + COLORS) % COLORS,
						1U << order);
				__free_pages(last, order);
			}
			last = page;
		}
		__free_pages(last, order);
	}
	page_color_alloc_expect_true_index(test);
}

static struct page_color_set *make_set(struct kunit *test, u32 first, u32 last)
{
	struct page_color_set *set;

	set = kunit_kzalloc(test, struct_size(set, ranges, 1), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, set);
	/* Never 0: the test frees it. */
	refcount_set(&set->refs, 1000);
	set->colors = COLORS;
	set->nr = 1;
	set->ranges[0] = (struct page_color_range) { first, last };
	return set;
}

static struct page_color_stats total(void)
{
	struct page_color_stats sum = {};
	struct zone *zone;

	for_each_populated_zone(zone) {
		const struct page_color_stats *stats = &zone->page_color->stats;

		sum.exact += stats->exact;
		sum.next += stats->next;
		sum.fallback += stats->fallback;
	}
	return sum;
}

static void page_color_alloc_set(struct kunit *test)
{
	struct page_color_set *set = make_set(test, 40, 59);
	unsigned int seen[COLORS] = {};
	struct page_color_stats first = total();
	unsigned long fell;
	struct page *page;
	LIST_HEAD(taken);
	int i;

	page_color_sets_begin();
	KUNIT_ASSERT_EQ(test, page_color_task_replace(current, set), 0);
	for (i = 0; i < 200; i++) {
		page = take(test, 0);
		seen[color_of(page)]++;
		list_add(&page->lru, &taken);
	}
	for (i = 0; i < COLORS; i++)
		KUNIT_EXPECT_EQ(test, seen[i], i >= 40 && i <= 59 ? 10 : 0);
	/* The colors left out were not wanted. */
	KUNIT_EXPECT_EQ(test, total().next, first.next);
	KUNIT_EXPECT_GE(test, total().exact, first.exact + 200);

	/* All of the set, and then what else there is, counted. */
	set->ranges[0].last = 40;
	fell = total().fallback;
	for (i = 0; i < 65536 && total().fallback == fell; i++) {
		page = take(test, 0);
		list_add(&page->lru, &taken);
	}
	KUNIT_EXPECT_GT(test, total().fallback, fell);
	KUNIT_ASSERT_EQ(test, page_color_task_replace(current, NULL), 0);
	synchronize_rcu();
	page_color_alloc_expect_true_index(test);
	while (!list_empty(&taken)) {
		page = list_first_entry(&taken, struct page, lru);
		list_del(&page->lru);
		__free_page(page);
	}
}

/* Enough for several pageblocks. */
#define COPIES	24

/* A page that moves finds a hole of its own color, in a pageblock after its own. */
static void page_color_alloc_same_color(struct kunit *test)
{
	struct page **pages, **others;
	int i, found = 0;

	/* Too many for the stack. */
	pages = kunit_kcalloc(test, COLORS * COPIES, sizeof(*pages), GFP_KERNEL);
	others = kunit_kcalloc(test, COLORS * COPIES, sizeof(*others), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	KUNIT_ASSERT_NOT_NULL(test, others);
	for (i = 0; i < COLORS * COPIES; i++)
		pages[i] = take(test, 0);
	/* Holes of one page all over, wherever memory begins to be free. */
	for (i = COLORS; i < COLORS * COPIES; i++) {
		if (i / COLORS % 2 && i % 2) {
			__free_page(pages[i]);
			pages[i] = NULL;
		}
	}
	drain_all_pages(NULL);
	for (i = 0; i < COLORS * COPIES; i++) {
		struct page *page = pages[i], *other;
		unsigned long middle;
		bool ahead = i % 4 == 3;
		struct zone *zone;

		if (!page)
			continue;
		zone = page_zone(page);
		middle = pageblock_align(zone->zone_start_pfn +
					 zone->spanned_pages / 2);
		other = page_color_alloc_same(zone, page, 0, ahead);
		others[i] = other;
		if (!other)
			continue;
		found++;
		KUNIT_EXPECT_EQ(test, color_of(other), color_of(page));
		KUNIT_EXPECT_EQ(test, page_count(other), 1);
		KUNIT_EXPECT_GT(test, page_to_pfn(other) >> pageblock_order,
				page_to_pfn(page) >> pageblock_order);
		/* Ahead of need, from one half of the zone to the other. */
		if (ahead) {
			KUNIT_EXPECT_LT(test, page_to_pfn(page), middle);
			KUNIT_EXPECT_GE(test, page_to_pfn(other), middle);
		}
	}
	KUNIT_EXPECT_GE(test, found, COLORS / 4);
	page_color_alloc_expect_true_index(test);
	for (i = 0; i < COLORS * COPIES; i++) {
		if (others[i])
			__free_page(others[i]);
		if (pages[i])
			__free_page(pages[i]);
	}
}

static void page_color_alloc_random(struct kunit *test)
{
	struct rnd_state random;
	struct page *pages[64] = {};
	unsigned int orders[64];
	int i;

	prandom_seed_state(&random, 4242);
	for (i = 0; i < 20000; i++) {
		unsigned int slot = prandom_u32_state(&random) % 64;
		unsigned int kind = prandom_u32_state(&random) % 4;

		if (pages[slot]) {
			__free_pages(pages[slot], orders[slot]);
			pages[slot] = NULL;
			continue;
		}
		orders[slot] = prandom_u32_state(&random) % 6;
		pages[slot] = alloc_pages((kind ? GFP_HIGHUSER_MOVABLE :
					   GFP_KERNEL) | __GFP_COMP,
					  orders[slot]);
		if (i % 5000 == 0) {
			page_color_enable(false);
			KUNIT_ASSERT_EQ(test, page_color_enable(true), 0);
			page_color_alloc_expect_true_index(test);
		}
	}
	page_color_alloc_expect_true_index(test);
	for (i = 0; i < 64; i++)
		if (pages[i])
			__free_pages(pages[i], orders[i]);
	drain_all_pages(NULL);
	page_color_alloc_expect_true_index(test);
}

static struct kunit_case page_color_alloc_cases[] = {
	KUNIT_CASE(page_color_alloc_sequence),
	KUNIT_CASE(page_color_alloc_freed_pages_do_not_break_the_order),
	KUNIT_CASE(page_color_alloc_orders),
	KUNIT_CASE(page_color_alloc_set),
	KUNIT_CASE(page_color_alloc_same_color),
	KUNIT_CASE(page_color_alloc_random),
	{}
};

static struct kunit_suite page_color_alloc_suite = {
	.name = "page_color_alloc",
	.init = page_color_alloc_init,
	.exit = page_color_alloc_exit,
	.test_cases = page_color_alloc_cases,
};

kunit_test_suite(page_color_alloc_suite);
