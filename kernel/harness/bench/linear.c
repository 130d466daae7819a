// SPDX-License-Identifier: MIT OR Apache-2.0
/* A list for each color; the next is searched head by head. */
#include "list.h"
#include "memory.h"
#include "subject.h"

static struct list *heads;
static size_t heads_size;
static struct page *pages;
static size_t pages_size;
static uint32_t mask;

static void make(const struct scenario *scenario)
{
	heads_size = scenario->colors * sizeof(*heads);
	heads = memory_get(heads_size);
	pages_size = scenario->frames * sizeof(*pages);
	pages = memory_get(pages_size);
	mask = scenario->colors - 1;
	for (uint32_t color = 0; color <= mask; color++)
		list_make(&heads[color]);
}

static void push(uint32_t frame)
{
	list_push(&heads[frame & mask], &pages[frame].list);
}

static uint32_t pop(uint32_t color)
{
	struct list *one;

	while (list_is_empty(&heads[color]))
		color = (color + 1) & mask;
	one = heads[color].next;
	list_unlink(one);
	return (uint32_t)((struct page *)one - pages);
}

static void destroy(void)
{
	memory_put(pages, pages_size);
	memory_put(heads, heads_size);
}

static size_t bytes(const struct scenario *scenario)
{
	return list_heads(scenario->colors) * sizeof(struct list);
}

const struct subject bench_linear = {
	.name = "linear search", .make = make, .push = push, .pop = pop,
	.destroy = destroy, .bytes = bytes,
};
