/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How lately each color of a cache was taken.
 *
 * Where address spaces hold more colors than the cache has, a color whose holder is
 * idle is the better choice. The kernel does not see which pages a program uses, but
 * a program that takes pages is at work. Time is counted in generations: one is over
 * when a quarter as many colors were taken as there are, or a 64th and an address
 * space begins to take colors, so that these are told apart from what others took before.
 * Colors of an address space that has ended count as taken long ago: others that hold
 * them may be idle.
 *
 * A word of 64 colors has the generation in which one of them was taken last. The
 * value of a color is 15 less the number of generations between its own and that of
 * its word, or 0 if it is older: bit p of all 64 values is in one word. So values
 * need not be changed as time passes.
 */
#ifndef _MM_PAGE_COLOR_LATELY_H
#define _MM_PAGE_COLOR_LATELY_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include "word_lock.h"

/* Bits of the value of a color. */
#define PAGE_COLOR_LATELY_PLANES	4
/* Generations older than this are not told apart. */
#define PAGE_COLOR_LATELY_MOST		((1U << PAGE_COLOR_LATELY_PLANES) - 1)

/**
 * struct page_color_lately_word - of 64 colors
 * @latest: the generation in which any of them was taken last
 * @plane: bits of the values, by color
 */
struct page_color_lately_word {
	u64 latest;
	u64 plane[PAGE_COLOR_LATELY_PLANES];
};

/**
 * struct page_color_lately - of all colors
 * @colors: how many there are
 * @quarter: how many colors are taken in a generation, at most
 * @now: the present generation
 * @level: colors that were last taken in this generation or before are old: the earliest
 *         that is told apart and for which these are at least one color in 512
 * @taken: colors taken in this generation
 * @left: how many colors are old
 * @below: how many were last taken before @level
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

/* The present generation. */
static inline u64 page_color_lately_now(const struct page_color_lately *lately)
{
	return atomic64_read(&lately->now);
}

/* The last generation that is not told apart from older ones. */
static inline u64 page_color_lately_oldest(const struct page_color_lately *lately)
{
	return page_color_lately_now(lately) - PAGE_COLOR_LATELY_MOST;
}

/* Colors that were last taken in this generation or before are old. */
static inline u64 page_color_lately_level(const struct page_color_lately *lately)
{
	return max(READ_ONCE(lately->level), page_color_lately_oldest(lately));
}

/* Colors of a word that were last taken in generation @until or before. */
u64 page_color_lately_until(const struct page_color_lately *lately, u32 word,
			    u64 until);

/* Colors of a word are taken now. */
void page_color_lately_take(struct page_color_lately *lately, u32 word,
			    u64 mask);

/*
 * An address space begins to take colors: so does a generation, unless hardly any color was
 * taken in the present one.
 */
void page_color_lately_begin(struct page_color_lately *lately);

/*
 * Of these colors, those that were last taken in generation @until or before are
 * taken now. Returns which.
 */
u64 page_color_lately_claim(struct page_color_lately *lately, u32 word, u64 mask,
			    u64 until);

/* From now on colors of a word count as taken long ago. */
void page_color_lately_forget(struct page_color_lately *lately, u32 word,
			      u64 mask);

/*
 * Change the level if it is due. This looks at many words, so call it without a lock.
 */
void page_color_lately_adjust(struct page_color_lately *lately);

#endif /* _MM_PAGE_COLOR_LATELY_H */
