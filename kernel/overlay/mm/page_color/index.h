/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which blocks of free frames exist, sorted by cache color.
 *
 * Beside the lists of a buddy allocator this keeps, per list and order, a
 * bitmap over all blocks of a span of frames in color-major order: all blocks
 * that begin at the lowest color, then all that begin at the next. The next
 * set bit is the next color. Summaries of 64 words to a word make that search
 * a handful of words, whatever the number of colors.
 *
 * The color of a frame is its number modulo the number of colors.
 *
 * Nothing here knows of pages, zones or locks: callers serialize. The same file
 * is compiled into the kernel and into the harness in kernel/harness.
 */
#ifndef _MM_PAGE_COLOR_INDEX_H
#define _MM_PAGE_COLOR_INDEX_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

/**
 * struct page_color_span - what an index covers
 * @start: first frame
 * @frames: number of frames; below 2^32, together with those from @start
 *          rounded down to the largest block
 * @colors: number of colors, any number from 1 to below 2^32
 * @orders: blocks of 2^0 to 2^(@orders - 1) frames, at most 32
 * @lists: number of separate lists (migratetypes) of each order, below 2^16
 *
 * Blocks are aligned to their size. The span need not be: blocks that stick
 * out of it are not indexed.
 */
struct page_color_span {
	unsigned long start;
	unsigned long frames;
	unsigned long colors;
	unsigned int orders;
	unsigned int lists;
};

/**
 * struct page_color_block - a free block, and the part of it that was asked for
 * @block: first frame of the free block
 * @order: its order
 * @frame: first frame of the part, aligned to the order that was asked for
 * @distance: how many colors after the wanted color the nearest color of the
 *            part is: 0 if the part contains the wanted color
 */
struct page_color_block {
	unsigned long block;
	unsigned int order;
	unsigned long frame;
	unsigned long distance;
};

struct page_color_index;

/**
 * page_color_index_bytes() - memory an index needs
 * @span: what it shall cover
 *
 * Return: bytes, or 0 if the span is impossible.
 */
size_t page_color_index_bytes(const struct page_color_span *span);

/**
 * page_color_index_init() - make an empty index
 * @memory: zeroed, aligned to 8, of page_color_index_bytes()
 * @span: what it covers
 *
 * Return: the index, which is @memory.
 */
struct page_color_index *
page_color_index_init(void *memory, const struct page_color_span *span);

const struct page_color_span *
page_color_index_span(const struct page_color_index *index);

/**
 * page_color_index_add() - a block became free
 * @index: the index
 * @list: below span.lists
 * @order: below span.orders
 * @block: its first frame
 *
 * A block that is there already stays; one outside of the span is ignored.
 *
 * Return: whether anything changed.
 */
bool page_color_index_add(struct page_color_index *index, unsigned int list,
			  unsigned int order, unsigned long block);

/* A block is free no more; one that is not there is ignored. */
bool page_color_index_del(struct page_color_index *index, unsigned int list,
			  unsigned int order, unsigned long block);

bool page_color_index_has(const struct page_color_index *index,
			  unsigned int list, unsigned int order,
			  unsigned long block);

/**
 * page_color_index_find() - the free block for a color
 * @index: the index
 * @list: below span.lists
 * @order: how much is wanted: 2^@order aligned frames, the part
 * @color: below span.colors; the part shall contain a frame of this color
 * @found: the result
 *
 * Among blocks that contain the wanted color the lowest order wins. If there
 * is none, the block with the next color that exists wins, cyclically, again
 * of the lowest order.
 *
 * Return: false if the list has no block of @order or above.
 */
bool page_color_index_find(const struct page_color_index *index,
			   unsigned int list, unsigned int order,
			   unsigned long color,
			   struct page_color_block *found);

/**
 * page_color_index_holding() - the free block of 2^@order or more frames that
 * contains a frame
 * @index: the index
 * @list: below span.lists
 * @order: lowest order of interest
 * @frame: the frame
 * @found: the result, with the part that contains @frame and distance 0
 *
 * Return: whether there is one.
 */
bool page_color_index_holding(const struct page_color_index *index,
			      unsigned int list, unsigned int order,
			      unsigned long frame,
			      struct page_color_block *found);

/**
 * page_color_index_last() - the free block at the end that a block can move to
 * @index: the index
 * @list: below span.lists
 * @order: the block that moves has 2^@order frames
 * @orders: free blocks of this order or more are left alone
 * @frame: its first frame; the part begins with the same color
 * @from: the free block begins at or after this frame
 * @found: the result, with distance 0
 *
 * The lowest order wins, and in it the last block. Where the number of colors
 * is no multiple of a block's size, only blocks count that begin with the color
 * that the block of @frame begins with; and @frame's must end in the span.
 *
 * Return: whether there is one.
 */
bool page_color_index_last(const struct page_color_index *index,
			   unsigned int list, unsigned int order,
			   unsigned int orders, unsigned long frame,
			   unsigned long from, struct page_color_block *found);

/* The color of a frame, without a division. */
unsigned long page_color_index_color(const struct page_color_index *index,
				     unsigned long frame);

/**
 * page_color_index_count() - free frames of a color
 * @index: the index
 * @list: below span.lists
 * @color: below span.colors
 *
 * Touches all rows of the color: for statistics.
 */
unsigned long page_color_index_count(const struct page_color_index *index,
				     unsigned int list, unsigned long color);

#endif /* _MM_PAGE_COLOR_INDEX_H */
