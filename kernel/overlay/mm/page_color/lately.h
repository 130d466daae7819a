/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How lately each color of a cache was taken.
 *
 * Where address spaces hold more than the cache has room for, it matters who uses
 * what he holds. Nobody tells of that, but who takes pages is at work. Time is
 * counted in generations: in each of them a quarter as many colors are taken as
 * there are. Colors of an address space that has ended count as taken long ago:
 * whoever else holds them may be at rest.
 *
 * A word of 64 colors has the generation in which one of them was taken last. A color
 * has 7 less the generations between its own and that of its word, or 0 if it is
 * older: bit p of each is in one word. So nothing has to be done as time passes.
 */
#ifndef _MM_PAGE_COLOR_LATELY_H
#define _MM_PAGE_COLOR_LATELY_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include "word_lock.h"

/* Bits of a color. */
#define PAGE_COLOR_LATELY_PLANES	3
/* Older generations than so many are not told apart. */
#define PAGE_COLOR_LATELY_MOST		((1U << PAGE_COLOR_LATELY_PLANES) - 1)

/**
 * struct page_color_lately_word - of 64 colors
 * @latest: the generation in which any of them was taken last
 * @plane: bits of what is left of PAGE_COLOR_LATELY_MOST, by color
 */
struct page_color_lately_word {
	u64 latest;
	u64 plane[PAGE_COLOR_LATELY_PLANES];
};

/**
 * struct page_color_lately - of all colors
 * @colors: how many there are
 * @quarter: so many are taken in a generation
 * @now: the generation
 * @level: colors that were taken in that generation or before are old: the first for
 *         which these are one color in 512, of those that are told apart
 * @taken: colors taken in this generation
 * @left: colors that are old
 * @below: those that were taken before @level
 * @leveling: the level is being changed
 * @locks: of words, by their number
 * @word: of 64 colors each
 */
struct page_color_lately {
	u32 colors;
	int quarter;
	atomic64_t now;
	u64 level;
	/* Written whenever a color is taken. */
	atomic_t taken ____cacheline_aligned;
	atomic_t left;
	atomic_t below;
	atomic_t leveling;
	struct page_color_word_lock locks[PAGE_COLOR_WORD_LOCKS];
	struct page_color_lately_word word[];
};

size_t page_color_lately_bytes(u32 colors);
/* @lately is zeroed. */
void page_color_lately_init(struct page_color_lately *lately, u32 colors);

/* The generation. */
static inline u64 page_color_lately_now(const struct page_color_lately *lately)
{
	return atomic64_read(&lately->now);
}

/* The last generation of those that are not told apart. */
static inline u64 page_color_lately_oldest(const struct page_color_lately *lately)
{
	return page_color_lately_now(lately) - PAGE_COLOR_LATELY_MOST;
}

/* Colors that were taken in this generation or before are old. */
static inline u64 page_color_lately_level(const struct page_color_lately *lately)
{
	return max(READ_ONCE(lately->level), page_color_lately_oldest(lately));
}

/* Colors of a word that were taken in generation @until or before. */
u64 page_color_lately_until(const struct page_color_lately *lately, u32 word,
			    u64 until);

/* Colors of a word are taken now. */
void page_color_lately_take(struct page_color_lately *lately, u32 word,
			    u64 mask);

/* Those of them that were taken in generation @until or before. Returns which. */
u64 page_color_lately_claim(struct page_color_lately *lately, u32 word, u64 mask,
			    u64 until);

/* When colors of a word were taken says nothing any more. */
void page_color_lately_forget(struct page_color_lately *lately, u32 word,
			      u64 mask);

/* Find the level again if it is due: looks at many words, so without a lock. */
void page_color_lately_adjust(struct page_color_lately *lately);

#endif /* _MM_PAGE_COLOR_LATELY_H */
