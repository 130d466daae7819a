// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A list for each color, and a red-black tree of the colors whose list is not
 * empty. The tree is searched only if the wanted color's list is empty.
 */
#include "list.h"
#include "memory.h"
#include "red_black.h"
#include "subject.h"

struct color {
	struct list list;
	RB_ENTRY(color) node;
};

static struct color *colors;
static size_t colors_size;
static struct page *pages;
static size_t pages_size;
static uint32_t mask;
static RB_HEAD(color_tree, color) tree;

static int compare(const struct color *a, const struct color *b)
{
	return (a > b) - (a < b);
}

RB_PROTOTYPE_STATIC(color_tree, color, node, compare)
RB_GENERATE_STATIC(color_tree, color, node, compare)

static void make(const struct scenario *scenario)
{
	colors_size = scenario->colors * sizeof(*colors);
	colors = memory_get(colors_size);
	pages_size = scenario->frames * sizeof(*pages);
	pages = memory_get(pages_size);
	mask = scenario->colors - 1;
	RB_INIT(&tree);
	for (uint32_t color = 0; color <= mask; color++)
		list_make(&colors[color].list);
}

static void push(uint32_t frame)
{
	struct color *color = &colors[frame & mask];

	if (list_is_empty(&color->list))
		RB_INSERT(color_tree, &tree, color);
	list_push(&color->list, &pages[frame].list);
}

static uint32_t pop(uint32_t wanted)
{
	struct color *color = &colors[wanted];
	struct list *one;

	if (list_is_empty(&color->list)) {
		color = RB_NFIND(color_tree, &tree, color);
		if (!color)
			color = RB_MIN(color_tree, &tree);
	}
	one = color->list.next;
	list_unlink(one);
	if (list_is_empty(&color->list))
		RB_REMOVE(color_tree, &tree, color);
	return (uint32_t)((struct page *)one - pages);
}

static void destroy(void)
{
	memory_put(pages, pages_size);
	memory_put(colors, colors_size);
}

static size_t bytes(const struct scenario *scenario)
{
	return list_heads(scenario->colors) * (sizeof(struct list) + 24);
}

const struct subject bench_lists_and_tree = {
	.name = "lists and tree", .by_color = true, .make = make, .push = push,
	.pop = pop, .destroy = destroy, .bytes = bytes,
};
