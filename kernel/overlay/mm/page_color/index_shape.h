/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How an index lies in memory: a head, then for each list its words.
 *
 * Frames count from the span's start rounded down to the largest block.
 */
#ifndef _MM_PAGE_COLOR_INDEX_SHAPE_H
#define _MM_PAGE_COLOR_INDEX_SHAPE_H

#include <linux/types.h>

#include "index.h"
#include "index_bitmap.h"
#include "index_layout.h"

#define SPAN_ORDERS	32
#define SPAN_LISTS	0xffff
/* Reciprocals are exact for numbers up to this. */
#define SPAN_NUMBERS	0xffffffffUL

struct page_color_order {
	struct page_color_layout layout;
	struct page_color_bitmap map;
};

/**
 * struct page_color_index - the head of an index; the words follow
 * @span: what it covers
 * @base: the frame that others count from
 * @base_color: its color
 * @by_colors: divides by the number of colors
 * @list_words: words of a list: a mask of the orders that are not empty, then
 *              the bitmaps of all orders
 * @words: the words of the first list
 * @order: the shape of each order, the same in all lists
 */
struct page_color_index {
	struct page_color_span span;
	unsigned long base;
	unsigned long base_color;
	struct page_color_divisor by_colors;
	unsigned long list_words;
	unsigned long *words;
	struct page_color_order order[];
};

static inline unsigned long span_base(const struct page_color_span *span)
{
	return span->start >> (span->orders - 1) << (span->orders - 1);
}

static inline bool span_possible(const struct page_color_span *span)
{
	if (!span->frames || span->frames > SPAN_NUMBERS ||
	    span->start > ~0UL - span->frames)
		return false;
	if (!span->colors || span->colors > SPAN_NUMBERS)
		return false;
	if (!span->orders || span->orders > SPAN_ORDERS)
		return false;
	if (!span->lists || span->lists > SPAN_LISTS)
		return false;
	return span->start - span_base(span) <=
	       SPAN_NUMBERS - span->frames;
}

static inline struct page_color_layout
span_layout(const struct page_color_span *span, unsigned int order)
{
	return layout_make(span->start + span->frames - span_base(span),
			   span->colors, order);
}

/* The words of a level of a bitmap, or 0 above the level of one word. */
static inline unsigned long level_words(unsigned long bits, unsigned int level)
{
	unsigned long words = bits / 64 + (bits % 64 || !bits);

	while (level--) {
		if (words == 1)
			return 0;
		words = words / 64 + (words % 64 != 0);
	}
	return words;
}

/*
 * The words of a list. High levels come first, those of all orders together:
 * they are few, each search reads them, and so they share cache lines.
 */
static inline unsigned long span_words(const struct page_color_span *span,
				       struct page_color_order *shape)
{
	unsigned long words = 1;
	unsigned int level = PAGE_COLOR_LEVELS;

	while (level--) {
		unsigned int order;

		for (order = 0; order < span->orders; order++) {
			struct page_color_layout layout =
				span_layout(span, order);
			unsigned long more =
				level_words(layout_bits(&layout), level);

			if (!more)
				continue;
			if (shape) {
				shape[order].map.level[level] = words;
				shape[order].map.levels++;
			}
			words += more;
		}
	}
	return words;
}

#endif /* _MM_PAGE_COLOR_INDEX_SHAPE_H */
