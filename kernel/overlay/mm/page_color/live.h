/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How many address spaces hold each color of a cache.
 *
 * The counts of 64 colors are kept bit by bit: word p of them has bit p of each
 * count. So 64 counts go up by an addition with carry over a few words, and which of
 * them are small is found by a comparison over the same words.
 *
 * A count that has reached its largest value, or 0, stays there. It is used only to
 * prefer some colors, and nothing depends on it being exact.
 */
#ifndef _MM_PAGE_COLOR_LIVE_H
#define _MM_PAGE_COLOR_LIVE_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include "word_lock.h"

/* Counts up to 2^8 - 1. */
#define PAGE_COLOR_PLANES_MAX	8

struct page_color_lately;

/**
 * struct page_color_live - counts by color
 * @colors: how many there are
 * @planes: bits that a count may have
 * @used: how many planes have had any bit set; those above are all zeros
 * @level: few hold the colors whose count is at most @level, which is the lowest
 *         level that one color in 512 is at or below
 * @left: how many colors are at the level or below it
 * @below: how many colors are below the level
 * @leveling: the level is being changed
 * @lately: how lately each color was taken
 * @locks: of words, by their number
 * @plane: the counts, @planes words for each 64 colors
 */
struct page_color_live {
	u32 colors;
	unsigned int planes;
	atomic_t used;
	u32 level;
	atomic_t left;
	atomic_t below;
	atomic_t leveling;
	struct page_color_lately *lately;
	struct page_color_word_lock locks[PAGE_COLOR_WORD_LOCKS];
	u64 plane[];
};

size_t page_color_live_bytes(u32 colors, unsigned int planes);
/* @live is zeroed. */
void page_color_live_init(struct page_color_live *live, u32 colors,
			  unsigned int planes);

/* Counts of colors of a word go up, or down, by one. */
void page_color_live_add(struct page_color_live *live, u32 word, u64 mask);
void page_color_live_sub(struct page_color_live *live, u32 word, u64 mask);

/* The count of one color goes down by one; interrupts are off. */
void page_color_live_sub_one(struct page_color_live *live, u32 word,
			     unsigned int bit);

/* Counts of those colors of a word that few hold now go up by one. Returns which. */
u64 page_color_live_claim(struct page_color_live *live, u32 word, u64 mask);

/* Change the level by one if due. It looks at all words: call without a lock. */
void page_color_live_adjust(struct page_color_live *live);

/* Colors of a word with a count of at most @level. */
u64 page_color_live_at_most(const struct page_color_live *live, u32 word,
			    u32 level);

/* Colors of a word that few hold. */
static inline u64 page_color_live_few(const struct page_color_live *live,
				      u32 word)
{
	return page_color_live_at_most(live, word, READ_ONCE(live->level));
}

#endif /* _MM_PAGE_COLOR_LIVE_H */
