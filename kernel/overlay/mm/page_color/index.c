// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The color index: what can be done with it and asked of it.
 *
 * Inside, frames count from a base, and colors are rotated so that the base has
 * color 0. See index_layout.h for the order of the bits, index_bitmap.h for the
 * search among them, and index_shape.h for where they are.
 */
#include <linux/bitops.h>
#include <linux/types.h>

#include "index.h"
#include "index_bitmap.h"
#include "index_layout.h"
#include "index_shape.h"

size_t page_color_index_bytes(const struct page_color_span *span)
{
	if (!span_possible(span))
		return 0;
	return sizeof(struct page_color_index) +
	       span->orders * sizeof(struct page_color_order) +
	       span->lists * span_words(span, NULL) * sizeof(long);
}

struct page_color_index *
page_color_index_init(void *memory, const struct page_color_span *span)
{
	struct page_color_index *index = memory;
	unsigned int order;

	index->span = *span;
	index->base = span_base(span);
	index->base_color = index->base % span->colors;
	index->by_colors = divisor_make(1, span->colors);
	index->words = (unsigned long *)&index->order[span->orders];
	for (order = 0; order < span->orders; order++)
		index->order[order].layout = span_layout(span, order);
	index->list_words = span_words(span, index->order);
	return index;
}

const struct page_color_span *
page_color_index_span(const struct page_color_index *index)
{
	return &index->span;
}

static unsigned long *list_words(const struct page_color_index *index,
				 unsigned int list)
{
	return index->words + list * index->list_words;
}

/* Whether a block can be in the index; if so, *@bit is its bit. */
static bool locate(const struct page_color_index *index, unsigned int list,
		   unsigned int order, unsigned long block, unsigned long *bit)
{
	const struct page_color_layout *layout;
	unsigned long number;

	if (list >= index->span.lists || order >= index->span.orders)
		return false;
	layout = &index->order[order].layout;
	number = (block - index->base) >> order;
	if (block < index->span.start || number >= layout->blocks ||
	    block & ((1UL << order) - 1))
		return false;
	*bit = layout_bit(layout, number);
	return true;
}

bool page_color_index_has(const struct page_color_index *index,
			  unsigned int list, unsigned int order,
			  unsigned long block)
{
	unsigned long bit;

	return locate(index, list, order, block, &bit) &&
	       bitmap_test(list_words(index, list), &index->order[order].map,
			   bit);
}

bool page_color_index_add(struct page_color_index *index, unsigned int list,
			  unsigned int order, unsigned long block)
{
	unsigned long *words;
	unsigned long bit;

	if (!locate(index, list, order, block, &bit))
		return false;
	words = list_words(index, list);
	if (bitmap_test(words, &index->order[order].map, bit))
		return false;
	if (bitmap_mark(words, &index->order[order].map, bit))
		words[0] |= 1UL << order;
	return true;
}

bool page_color_index_del(struct page_color_index *index, unsigned int list,
			  unsigned int order, unsigned long block)
{
	unsigned long *words;
	unsigned long bit;

	if (!locate(index, list, order, block, &bit))
		return false;
	words = list_words(index, list);
	if (!bitmap_test(words, &index->order[order].map, bit))
		return false;
	if (bitmap_unmark(words, &index->order[order].map, bit))
		words[0] &= ~(1UL << order);
	return true;
}

/* The color of a frame that counts from the base, or of the base's color. */
static unsigned long rotate(const struct page_color_index *index,
			    unsigned long color)
{
	if (color < index->base_color)
		color += index->span.colors;
	return color - index->base_color;
}

bool page_color_index_find(const struct page_color_index *index,
			   unsigned int list, unsigned int order,
			   unsigned long color,
			   struct page_color_block *found)
{
	unsigned long colors = index->span.colors;
	unsigned long nearest = colors;
	const unsigned long *words;
	unsigned long orders;
	unsigned int wanted = order;

	if (list >= index->span.lists || order >= index->span.orders ||
	    color >= colors)
		return false;
	color = rotate(index, color);
	words = list_words(index, list);

	for (orders = words[0] >> order << order; orders;
	     orders &= orders - 1) {
		const struct page_color_order *shape;
		unsigned long row, bit, block, begins, into, distance;

		order = __ffs(orders);
		shape = &index->order[order];
		row = layout_first_row(&shape->layout, colors, color);
		bit = bitmap_next(words, &shape->map,
				  layout_row(&shape->layout, row));
		block = layout_block(&shape->layout, bit) << order;

		/* How far into the block the color is, or would be. */
		begins = modulo(block, &index->by_colors);
		into = color - begins + (color < begins ? colors : 0);
		distance = into >> order ? colors - into : 0;
		if (distance >= nearest)
			continue;
		nearest = distance;
		if (distance)
			into = 0;
		found->block = index->base + block;
		found->order = order;
		found->frame = index->base +
			       ((block + into) >> wanted << wanted);
		found->distance = distance;
		if (!distance)
			break;
	}
	return nearest < colors;
}

bool page_color_index_holding(const struct page_color_index *index,
			      unsigned int list, unsigned int order,
			      unsigned long frame,
			      struct page_color_block *found)
{
	unsigned int wanted = order;
	unsigned long orders;

	if (list >= index->span.lists || order >= index->span.orders)
		return false;

	for (orders = list_words(index, list)[0] >> order << order; orders;
	     orders &= orders - 1) {
		unsigned long block;

		order = __ffs(orders);
		block = frame >> order << order;
		if (!page_color_index_has(index, list, order, block))
			continue;
		found->block = block;
		found->order = order;
		found->frame = frame >> wanted << wanted;
		found->distance = 0;
		return true;
	}
	return false;
}

bool page_color_index_last(const struct page_color_index *index,
			   unsigned int list, unsigned int order,
			   unsigned int orders, unsigned long frame,
			   unsigned long from, struct page_color_block *found)
{
	unsigned long inside = frame - index->base;
	const unsigned long *words;
	unsigned long marked;

	if (list >= index->span.lists || order >= index->span.orders ||
	    frame < index->base)
		return false;
	words = list_words(index, list);

	for (marked = words[0] >> order << order; marked;
	     marked &= marked - 1) {
		const struct page_color_order *shape;
		unsigned long number, bit, block;
		u64 row;

		order = __ffs(marked);
		if (order >= orders)
			break;
		shape = &index->order[order];
		number = inside >> order;
		if (number >= shape->layout.blocks)
			continue;
		row = layout_row_of(&shape->layout, number);
		bit = layout_row(&shape->layout, row + 1) - 1;
		if (!bitmap_last(words, &shape->map, &bit) ||
		    bit < layout_row(&shape->layout, row))
			continue;
		block = index->base +
			(layout_block(&shape->layout, bit) << order);
		if (block < from)
			continue;
		found->block = block;
		found->order = order;
		found->frame = block + (inside - (number << order));
		found->distance = 0;
		return true;
	}
	return false;
}

unsigned long page_color_index_color(const struct page_color_index *index,
				     unsigned long frame)
{
	unsigned long color;

	/* Far from the span, only a division is exact. */
	if (frame - index->base > SPAN_NUMBERS)
		return frame % index->span.colors;
	color = modulo(frame - index->base, &index->by_colors) +
		index->base_color;
	return color < index->span.colors ? color : color - index->span.colors;
}

unsigned long page_color_index_count(const struct page_color_index *index,
				     unsigned int list, unsigned long color)
{
	unsigned long colors = index->span.colors;
	unsigned long count = 0;
	unsigned int order;

	if (list >= index->span.lists || color >= colors)
		return 0;
	color = rotate(index, color);

	for (order = 0; order < index->span.orders; order++) {
		const struct page_color_order *shape = &index->order[order];
		unsigned long size = 1UL << order;
		u64 row = layout_first_row(&shape->layout, colors, color);
		u64 rows = shape->layout.rows;

		if (colors > size)
			rows = size >> shape->layout.unit;
		while (rows--) {
			unsigned long begins = row << shape->layout.unit;
			unsigned long into = color - begins +
				(color < begins ? colors : 0);
			unsigned long from = layout_row(&shape->layout, row++);
			unsigned long to = layout_row(&shape->layout, row);

			if (into < size)
				count += ((size - 1 - into) / colors + 1) *
					bitmap_weight(list_words(index, list),
						      &shape->map, from, to);
			if (row == shape->layout.rows)
				row = 0;
		}
	}
	return count;
}
