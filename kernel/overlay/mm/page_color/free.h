/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which frames of a zone are free: a bit per frame, and per pageblock how many.
 *
 * Frames are chosen by these bits without a lock. Whoever takes a chosen frame looks at
 * the buddy lists again under zone->lock. If a frame with a set bit turns out not to be
 * free, the bit is cleared and only the look is lost; a free frame without its bit is
 * not chosen, and is left to the default path.
 *
 * Bits change under zone->lock. Nothing here knows of pages, zones or locks: the same
 * file is compiled into the kernel and into kernel/harness.
 */
#ifndef _MM_PAGE_COLOR_FREE_H
#define _MM_PAGE_COLOR_FREE_H

#include <linux/bits.h>
#include <linux/types.h>

/* Bits are allocated for chunks of so many frames: 1 GiB of pages of 4 KiB. */
#define PAGE_COLOR_CHUNK_ORDER	18
#define PAGE_COLOR_CHUNK	BIT(PAGE_COLOR_CHUNK_ORDER)

/* The smallest pageblock, so that 64 aligned frames are in one pageblock. */
#define PAGE_COLOR_BLOCK_ORDER_MIN	6

/**
 * struct page_color_chunk - frames that follow each other
 * @bits: set where a frame is free
 * @in_block: how many are, by pageblock
 */
struct page_color_chunk {
	u64 bits[PAGE_COLOR_CHUNK / 64];
	u16 in_block[];
};

/**
 * struct page_color_free - the free frames of a zone
 * @start: first frame, a multiple of PAGE_COLOR_CHUNK
 * @chunks: how many chunks there may be
 * @block_order: a pageblock has 2^@block_order frames
 * @lowest: no pageblock before this frame has a free one
 * @count: free frames
 * @partial: free frames in pageblocks that are not free as a whole
 * @chunk: NULL where there is no memory
 */
struct page_color_free {
	unsigned long start;
	unsigned long chunks;
	unsigned int block_order;
	unsigned long lowest;
	unsigned long count;
	unsigned long partial;
	struct page_color_chunk *chunk[];
};

size_t page_color_chunk_bytes(unsigned int block_order);

/*
 * Copies what @from knows to @to, which spans all that @from does. From then on the
 * chunks belong to @to.
 */
void page_color_free_adopt(struct page_color_free *to,
			   const struct page_color_free *from);

/* A block of 2^@order frames, aligned to its size, became free, or is no longer free. */
void page_color_free_set(struct page_color_free *free, unsigned long frame,
			 unsigned int order);
void page_color_free_clear(struct page_color_free *free, unsigned long frame,
			   unsigned int order);
/* The frames of @mask, of the 64 from @frame on, are no longer free. */
void page_color_free_clear_mask(struct page_color_free *free,
				unsigned long frame, u64 mask);

/* Which of the 64 frames from @frame on are free; any @frame. */
u64 page_color_free_word(const struct page_color_free *free,
			 unsigned long frame);

/* How many frames of the pageblock of @frame are free. */
unsigned int page_color_free_in_block(const struct page_color_free *free,
				      unsigned long frame);

/*
 * The first frame of the lowest pageblock at or after @frame that has a free one; of the
 * pageblock at or after @limit where the search ended; or ULONG_MAX if memory did.
 */
unsigned long page_color_free_lowest(const struct page_color_free *free,
				     unsigned long frame, unsigned long limit);

#endif /* _MM_PAGE_COLOR_FREE_H */
