/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which free frames to take for colors that are wanted.
 *
 * Colors are looked at by 64, a word of them. Memory has copies of each word:
 * as many as it is larger than one way of the cache. A copy is 64 frames that
 * follow each other, fewer where there are fewer colors.
 *
 * All of it is a guess without a lock: whoever takes the frames looks again.
 */
#ifndef _MM_PAGE_COLOR_CHOOSE_H
#define _MM_PAGE_COLOR_CHOOSE_H

#include <linux/types.h>
#include "free.h"
#include "held.h"
#include "lately.h"
#include "leaving.h"
#include "live.h"

/* Words that are taken from at once at most. */
#define PAGE_COLOR_PARTS	32

/* Copies of a word that are compared; the first is another one each time. */
#define PAGE_COLOR_COPIES	64

/* Copies that one search looks at; the next one goes on there. */
#define PAGE_COLOR_SEARCHED	(256U * PAGE_COLOR_COPIES)

/* Copies that are looked at in the pageblock that was chosen last. */
#define PAGE_COLOR_GO_ON	8

/**
 * struct page_color_part - frames of one copy of a word of colors
 * @frame: the first of the copy
 * @mask: which of the frames from there on
 * @word: the word of colors that they have
 * @fresh: whom they are for held none of these colors before
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
 * @next: the copy that is looked at first where not all are
 * @next_block: the same for a block
 * @last: first frame of the copy that was chosen last; at first of the first one
 * @last_block: the same of the last block smaller than a pageblock
 * @poor: it was the best, and had less than a quarter of what was wanted
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

/* What colors are wanted: not held, held by few, taken by nobody lately. */
#define PAGE_COLOR_LACKED	0x1
#define PAGE_COLOR_FEW		0x2
#define PAGE_COLOR_OLD		0x4

struct page_color_set;

/**
 * struct page_color_wish - who wants frames, and how many
 * @held: colors that it holds; NULL if that does not matter
 * @live: how many hold each color; NULL if that does not matter
 * @set: colors that it may use; NULL for all
 * @old: colors that were taken in that generation or before were not taken lately
 * @leaving: pages whose place a block will take, of stretches of its size, that
 *           still count in @held and @live; NULL if there are none
 * @cursor: color to begin with
 * @count: frames that are wanted
 * @looks: copies that may still be looked at: memory may be large, and have few free
 *         frames
 * @part: not from pageblocks that are free as a whole; of a word no more copies are looked
 *        at than are compared
 * @fresh: of a block that was chosen: at least so many of its colors are lacked, and few
 *         hold them
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
 * The next copy in the pageblock that was chosen last, if it has a quarter of
 * what is wanted, or anything if none had a quarter then. Else the copy with a
 * quarter of what is wanted, in the pageblock with the fewest free frames; or
 * that with the most. False if none of @some is free, or was found free before no
 * more copies may be looked at: of one word 256, or of few words more.
 */
bool page_color_choose_copy(struct page_color_memory *memory, u32 word,
			    u64 some, struct page_color_wish *wish,
			    const struct page_color_part *taken,
			    unsigned int nr_taken,
			    struct page_color_part *part);

/*
 * A block of 2^@order frames, aligned to its size, of whose colors the most are in
 * the set, and of the others the fewest are held by the address space of the wish or by
 * many; one of its own counts as much as an eighth of the block of others. @stay is how
 * many it does not lack, but for those of pages that leave. Not all stretches of colors are
 * compared where one is lacked. Of each, the pageblock of the last block is looked at
 * first, then up to 512 copies, and others the next time if none has a block of which all
 * is in the set and is lacked. The cursor moves to where no more copies might be looked
 * at, or no more stretches unless others hold less than half of the block. False if no
 * block was found, or if those of this order do not divide the colors. Of a set, only
 * stretches that have colors of it are looked at.
 */
bool page_color_choose_block(struct page_color_memory *memory,
			     struct page_color_wish *wish,
			     unsigned int order, unsigned long *frame,
			     unsigned int *stay);

#endif /* _MM_PAGE_COLOR_CHOOSE_H */
