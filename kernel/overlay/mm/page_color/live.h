/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How many address spaces hold each color of a cache.
 *
 * The counts of 64 colors are kept bit by bit: word p of them has bit p of each
 * count. So 64 counts go up by an addition with carry over a few words, and
 * which of them are small is found by a comparison over the same words.
 *
 * A count that cannot go up or down any more stays: it tells which colors to
 * prefer, and nothing depends on it being exact.
 *
 * Where address spaces hold more than the cache has room for, it matters who uses
 * what he holds. Nobody tells of that, but who takes pages is at work. So a color
 * that is taken gets the largest count in a second set of counts, and these sink by
 * one each time that a quarter of all colors was taken: those taken longest ago
 * have the smallest. Those of an address space that has ended have none: whoever else
 * holds them may be at rest.
 */
#ifndef _MM_PAGE_COLOR_LIVE_H
#define _MM_PAGE_COLOR_LIVE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* Counts up to 2^8 - 1. */
#define PAGE_COLOR_PLANES_MAX	8
/* Of counts that sink: nearly two caches of colors are told apart. */
#define PAGE_COLOR_PLANES_LATELY	3
/* Those of one word sink for so many colors that are taken. */
#define PAGE_COLOR_SINK		16
/* Locks that words share. */
#define PAGE_COLOR_LIVE_LOCKS	64

struct page_color_live_lock {
	/* Of the words whose number has the same remainder. */
	spinlock_t lock;
} ____cacheline_aligned;

/**
 * struct page_color_live - counts by color
 * @colors: how many there are
 * @planes: bits that a count may have
 * @used: bits that any count has had: the planes above have none
 * @level: colors with a count of at most @level are those that few hold; the
 *         least level that one color in 512 has or is below
 * @left: colors that have the level or are below
 * @below: colors below the level
 * @leveling: the level is being changed
 * @lately: how lately each color was taken, as counts that sink; NULL if that is
 *          not noted
 * @taken: of the counts that sink: how many colors were taken
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
	struct page_color_live *lately;
	atomic_t taken;
	struct page_color_live_lock locks[PAGE_COLOR_LIVE_LOCKS];
	u64 plane[];
};

size_t page_color_live_bytes(u32 colors, unsigned int planes);
/* @live is zeroed. */
void page_color_live_init(struct page_color_live *live, u32 colors,
			  unsigned int planes);

/* Counts of colors of a word go up, or down, by one. */
void page_color_live_add(struct page_color_live *live, u32 word, u64 mask);
void page_color_live_sub(struct page_color_live *live, u32 word, u64 mask);

/* One count goes down, by its bit, where interrupts are off. */
void page_color_live_sub_one(struct page_color_live *live, u32 word,
			     unsigned int bit);

/* Counts of those colors of a word that few hold now go up by one. Returns which. */
u64 page_color_live_claim(struct page_color_live *live, u32 word, u64 mask);

/* Those with at most @old of how lately are taken now, by one at a time. Returns which. */
u64 page_color_live_claim_old(struct page_color_live *live, u32 word, u64 mask,
			      u32 old);

/* Colors of a word were taken: others were so longer ago. */
void page_color_live_taken(struct page_color_live *live, u32 word, u64 mask);

/* Who held colors of a word has ended: that they were taken says nothing any more. */
void page_color_live_ended(struct page_color_live *live, u32 word, u64 mask);

/* Find the level again if it is due: looks at all words, so without a lock. */
void page_color_live_adjust(struct page_color_live *live);

/* Colors of a word with a count of at most @level. */
u64 page_color_live_at_most(const struct page_color_live *live, u32 word,
			    u32 level);

/* Colors of a word that few hold; of @lately, those taken longest ago. */
static inline u64 page_color_live_few(const struct page_color_live *live,
				      u32 word)
{
	return page_color_live_at_most(live, word, READ_ONCE(live->level));
}

#endif /* _MM_PAGE_COLOR_LIVE_H */
