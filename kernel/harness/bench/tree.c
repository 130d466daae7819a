// SPDX-License-Identifier: MIT OR Apache-2.0
/* One red-black tree of all free frames, by color, then frame. */
#include "memory.h"
#include "red_black.h"
#include "subject.h"

/* In a kernel, words of struct page that a free page does not use. */
struct page {
	RB_ENTRY(page) node;
	char other[32];
};

_Static_assert(sizeof(struct page) == 64, "");

static struct page *pages;
static size_t pages_size;
static uint32_t mask;
static RB_HEAD(page_tree, page) tree;

static int compare(const struct page *a, const struct page *b)
{
	uint32_t color_a = (uint32_t)(a - pages) & mask;
	uint32_t color_b = (uint32_t)(b - pages) & mask;

	if (color_a != color_b)
		return (color_a > color_b) - (color_a < color_b);
	return (a > b) - (a < b);
}

RB_PROTOTYPE_STATIC(page_tree, page, node, compare)
RB_GENERATE_STATIC(page_tree, page, node, compare)

static void make(const struct scenario *scenario)
{
	pages_size = scenario->frames * sizeof(*pages);
	pages = memory_get(pages_size);
	mask = scenario->colors - 1;
	RB_INIT(&tree);
}

static void push(uint32_t frame)
{
	RB_INSERT(page_tree, &tree, &pages[frame]);
}

static uint32_t pop(uint32_t color)
{
	/* The lowest frame of a color is as many. */
	struct page *page = RB_NFIND(page_tree, &tree, &pages[color]);

	if (!page)
		page = RB_MIN(page_tree, &tree);
	RB_REMOVE(page_tree, &tree, page);
	return (uint32_t)(page - pages);
}

static void destroy(void)
{
	memory_put(pages, pages_size);
}

/* The roots. */
static size_t bytes(const struct scenario *scenario)
{
	(void)scenario;
	return 2 * 11 * sizeof(void *);
}

const struct subject bench_tree = {
	.name = "one tree", .by_color = true, .make = make, .push = push,
	.pop = pop, .destroy = destroy, .bytes = bytes,
};
