// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A bit per free frame, and a count per pageblock. */

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include "free.h"
#include "words.h"

size_t page_color_chunk_bytes(unsigned int block_order)
{
	size_t blocks = PAGE_COLOR_CHUNK >> block_order;

	return sizeof(struct page_color_chunk) + blocks * sizeof(u16);
}

void page_color_free_adopt(struct page_color_free *to,
			   const struct page_color_free *from)
{
	unsigned long skip = (from->start - to->start) >> PAGE_COLOR_CHUNK_ORDER;
	unsigned long i;

	for (i = 0; i < from->chunks; i++)
		to->chunk[skip + i] = from->chunk[i];
	to->count = from->count;
	to->partial = from->partial;
	to->lowest = min(to->lowest, from->lowest);
}

static struct page_color_chunk *chunk_of(const struct page_color_free *free,
					 unsigned long frame)
{
	unsigned long nr = (frame - free->start) >> PAGE_COLOR_CHUNK_ORDER;

	/* For a frame before the start this is a very large number. */
	return nr < free->chunks ? READ_ONCE(free->chunk[nr]) : NULL;
}

/* Frames of @mask, which has at most so many, came or went. */
static __always_inline void change_word(struct page_color_free *free,
					unsigned long frame, u64 mask,
					unsigned int most, bool set)
{
	struct page_color_chunk *chunk = chunk_of(free, frame);
	unsigned long at = frame % PAGE_COLOR_CHUNK;
	unsigned int block_order = free->block_order;
	unsigned int before, after;
	long more, more_partial;
	u64 *word, changed;
	u16 *in_block;

	if (!chunk)
		return;
	word = &chunk->bits[at / 64];
	changed = (set ? ~*word : *word) & mask;
	if (!changed)
		return;
	WRITE_ONCE(*word, *word ^ changed);
	more = most == 1 ? 1 : hweight64(changed);
	if (!set)
		more = -more;
	in_block = &chunk->in_block[at >> block_order];
	before = *in_block;
	after = before + more;
	WRITE_ONCE(*in_block, after);
	WRITE_ONCE(free->count, free->count + more);
	/* Frames of a pageblock that is free as a whole do not count in @partial. */
	more_partial = more;
	if (set && after >> block_order)
		more_partial = -(long)before;
	else if (!set && before >> block_order)
		more_partial = after;
	WRITE_ONCE(free->partial, free->partial + more_partial);
	if (set && frame < free->lowest)
		WRITE_ONCE(free->lowest, frame & ~((1UL << block_order) - 1));
}

static __always_inline void change_block(struct page_color_free *free,
					 unsigned long frame,
					 unsigned int order, bool set)
{
	unsigned long end = frame + (1UL << order);

	if (!order) {
		change_word(free, frame, 1ULL << frame % 64, 1, set);
		return;
	}
	if (order < 6) {
		change_word(free, frame,
			    page_color_low_bits(1UL << order) << frame % 64, 64,
			    set);
		return;
	}
	for (; frame < end; frame += 64)
		change_word(free, frame, ~0ULL, 64, set);
}

void page_color_free_set(struct page_color_free *free, unsigned long frame,
			 unsigned int order)
{
	change_block(free, frame, order, true);
}

void page_color_free_clear(struct page_color_free *free, unsigned long frame,
			   unsigned int order)
{
	change_block(free, frame, order, false);
}

void page_color_free_clear_mask(struct page_color_free *free,
				unsigned long frame, u64 mask)
{
	unsigned int shift = frame % 64;

	change_word(free, frame - shift, mask << shift, 64, false);
	if (shift)
		change_word(free, frame - shift + 64, mask >> (64 - shift), 64,
			    false);
}

static u64 aligned_word(const struct page_color_free *free, unsigned long frame)
{
	const struct page_color_chunk *chunk = chunk_of(free, frame);

	if (!chunk)
		return 0;
	return READ_ONCE(chunk->bits[frame % PAGE_COLOR_CHUNK / 64]);
}

u64 page_color_free_word(const struct page_color_free *free,
			 unsigned long frame)
{
	unsigned int shift = frame % 64;
	u64 bits = aligned_word(free, frame - shift) >> shift;

	if (shift)
		bits |= aligned_word(free, frame - shift + 64) << (64 - shift);
	return bits;
}

unsigned int page_color_free_in_block(const struct page_color_free *free,
				      unsigned long frame)
{
	const struct page_color_chunk *chunk = chunk_of(free, frame);

	if (!chunk)
		return 0;
	return READ_ONCE(chunk->in_block[frame % PAGE_COLOR_CHUNK >>
					 free->block_order]);
}

unsigned long page_color_free_lowest(const struct page_color_free *free,
				     unsigned long frame, unsigned long limit)
{
	unsigned long end = free->start + free->chunks * PAGE_COLOR_CHUNK;
	unsigned long step = 1UL << free->block_order;

	frame = max(frame & ~(step - 1), free->start);
	while (frame < min(end, limit)) {
		if (page_color_free_in_block(free, frame))
			return frame;
		frame += step;
		if (!chunk_of(free, frame))
			frame = (frame + PAGE_COLOR_CHUNK - 1) &
				~(PAGE_COLOR_CHUNK - 1);
	}
	return frame < end ? frame : ULONG_MAX;
}
