// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The color index, alone and with what it is beside in the kernel: the buddy
 * allocator's list, which each frame enters and leaves too.
 */
#include <stdlib.h>

#include "index.h"
#include "list.h"
#include "memory.h"
#include "subject.h"

/* One is beside a list, one is not: both exist at a time. */
static struct page_color_index *alone, *beside;
static size_t index_size;
static struct list buddy;
static struct page *pages;
static size_t pages_size;

static struct page_color_span span(const struct scenario *scenario)
{
	return (struct page_color_span){
		.frames = scenario->frames,
		.colors = scenario->colors,
		.orders = 11,
		.lists = 2,
	};
}

static size_t bytes(const struct scenario *scenario)
{
	struct page_color_span all = span(scenario);

	return page_color_index_bytes(&all);
}

static struct page_color_index *new_index(const struct scenario *scenario)
{
	struct page_color_span all = span(scenario);

	index_size = bytes(scenario);
	return page_color_index_init(memory_get(index_size), &all);
}

static uint32_t take(struct page_color_index *index, uint32_t color)
{
	struct page_color_block found;

	if (!page_color_index_find(index, 0, 0, color, &found))
		abort();
	page_color_index_del(index, 0, found.order, found.block);
	return (uint32_t)found.frame;
}

static void make(const struct scenario *scenario)
{
	alone = new_index(scenario);
}

static void push(uint32_t frame)
{
	page_color_index_add(alone, 0, 0, frame);
}

static uint32_t pop(uint32_t color)
{
	return take(alone, color);
}

static void destroy(void)
{
	memory_put(alone, index_size);
}

static void make_beside(const struct scenario *scenario)
{
	beside = new_index(scenario);
	pages_size = scenario->frames * sizeof(*pages);
	pages = memory_get(pages_size);
	list_make(&buddy);
}

static void push_beside(uint32_t frame)
{
	page_color_index_add(beside, 0, 0, frame);
	list_push(&buddy, &pages[frame].list);
}

static uint32_t pop_beside(uint32_t color)
{
	uint32_t frame = take(beside, color);

	list_unlink(&pages[frame].list);
	return frame;
}

static void destroy_beside(void)
{
	memory_put(pages, pages_size);
	memory_put(beside, index_size);
}

const struct subject bench_index = {
	.name = "index", .make = make, .push = push, .pop = pop,
	.destroy = destroy, .bytes = bytes,
};

const struct subject bench_index_beside_list = {
	.name = "index beside buddy list", .make = make_beside,
	.push = push_beside, .pop = pop_beside, .destroy = destroy_beside,
	.bytes = bytes,
};
