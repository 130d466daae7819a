/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which free frames to take for colors that are wanted.
 *
 * Colors are looked at by 64, a word of them. Memory has as many copies of each word as
 * it is times larger than one way of the cache. A copy is 64 frames that follow each
 * other, fewer where there are fewer colors.
 *
 * Choices are made without a lock and may be outdated: whoever takes the frames checks
 * under zone->lock that they are free.
 */
#ifndef _MM_PAGE_COLOR_CHOOSE_H
#define _MM_PAGE_COLOR_CHOOSE_H

#include <linux/types.h>
#include "free.h"
#include "held.h"
#include "lately.h"
#include "leaving.h"
#include "live.h"

/* The most parts, each of one word of colors, that frames are taken from at once. */
#define PAGE_COLOR_PARTS	32

/* The most copies of a word that are compared; each search begins with another one. */
#define PAGE_COLOR_COPIES	64

/* The most copies that one search looks at; the next search continues there. */
#define PAGE_COLOR_SEARCHED	(256U * PAGE_COLOR_COPIES)

/* The most copies that are looked at in the pageblock that was chosen last. */
#define PAGE_COLOR_GO_ON	8

/**
 * struct page_color_part - frames of one copy of a word of colors
 * @frame: the first of the copy
 * @mask: which of the frames from there on
 * @word: the word of colors that they have
 * @fresh: the space that they are for held none of these colors before
 */
struct page_color_part {
	unsigned long frame;
	u64 mask;
	u32 word;
	bool fresh;
};

/**
 * struct page_color_memory - memory that is chosen from
 * @free: its free frames
 * @colors: frame modulo @colors is the color
 * @first: the first copy is that of the frames from @first * @colors on
 * @copies: how many there are
 * @next: the copy that is looked at first where there are more than are compared
 * @next_block: the same for a block
 * @last: first frame of the copy that was chosen last; at the beginning, of the first one
 * @last_block: the same of the last block smaller than a pageblock
 * @poor: the copy at @last was the best, but had less than a quarter of what was wanted
 */
struct page_color_memory {
	struct page_color_free *free;
	u32 colors;
	unsigned long first;
	unsigned long copies;
	unsigned long next;
	unsigned long next_block;
	unsigned long last;
	unsigned long last_block;
	bool poor;
};

/* Which colors are wanted: lacked by the space, held by few, not taken lately. */
#define PAGE_COLOR_LACKED	0x1
#define PAGE_COLOR_FEW		0x2
#define PAGE_COLOR_OLD		0x4

struct page_color_set;

/**
 * struct page_color_wish - which frames are wanted, and how many
 * @held: colors that the space holds; NULL if that does not matter
 * @live: how many spaces hold each color; NULL if that does not matter
 * @set: colors that may be used; NULL for all
 * @old: colors that were last taken in this generation or before are old
 * @leaving: pages whose place a block will take, of stretches of its size, that
 *           still count in @held and @live; NULL if there are none
 * @cursor: color to begin with
 * @count: frames that are wanted
 * @looks: copies that may still be looked at, which bounds a search of large memory with
 *         few free frames
 * @part: only from pageblocks in use, and no more than PAGE_COLOR_COPIES copies of a word
 *        are looked at
 * @enough: a block of this rank ends the search; 0 if only one that is held by nobody does
 * @rank: set when a block was chosen: the higher, the more of its colors are held
 * @fresh: the same: at least so many of its colors are lacked and held by few
 */
struct page_color_wish {
	const struct page_color_held *held;
	const struct page_color_live *live;
	const struct page_color_set *set;
	const struct page_color_leaving *leaving;
	u64 old;
	u32 cursor;
	unsigned int count;
	unsigned int looks;
	bool part;
	u64 enough;
	u64 rank;
	unsigned int fresh;
};

/*
 * Whether free frames of pageblocks in use are worth a search: there is one for each two
 * words of frames, or they are half of all that is free.
 */
static inline bool page_color_many_partial(const struct page_color_memory *memory)
{
	unsigned long looks = memory->copies * memory->colors / 64;

	return READ_ONCE(memory->free->partial) >=
	       min(looks / 2, READ_ONCE(memory->free->count) / 2);
}

/* Colors of a word that are wanted. */
u64 page_color_wanted(const struct page_color_wish *wish, u32 colors, u32 word,
		      unsigned int want);

/*
 * The next copy in the pageblock that was chosen last, if it has a quarter of what is
 * wanted, or anything if the best copy then had less than a quarter. Else the copy with a
 * quarter of what is wanted, in the pageblock with the fewest free frames; or that with
 * the most. False if no frame of @some is free in the copies that may be looked at: 256
 * of one word, more where there are few words.
 */
bool page_color_choose_copy(struct page_color_memory *memory, u32 word,
			    u64 some, struct page_color_wish *wish,
			    const struct page_color_part *taken,
			    unsigned int nr_taken,
			    struct page_color_part *part);

/*
 * A free block of 2^@order frames, aligned to its size, with the most colors in the set,
 * and among these with the fewest that the address space of the wish or many others hold;
 * one that it holds itself counts as much as an eighth of the block held by others. @stay
 * is how many colors it does not lack, without those of pages that leave. After a block
 * with a lacked color was found, not all other stretches of colors are compared, and none
 * after one that is good enough. For each stretch the pageblock of the last block is
 * looked at first, then up to 512 copies; the next search looks at other copies if no
 * block was found whose colors are all in the set and lacked. The cursor moves to where
 * the search ended if it had no more looks, if the block was just good enough, or if it
 * has compared enough stretches and many others hold half of the block or more. False if
 * no block was found, or if the number of colors is no multiple of 2^@order. Stretches
 * without a color of the set are passed over.
 */
bool page_color_choose_block(struct page_color_memory *memory,
			     struct page_color_wish *wish,
			     unsigned int order, unsigned long *frame,
			     unsigned int *stay);

#endif /* _MM_PAGE_COLOR_CHOOSE_H */
