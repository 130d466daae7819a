/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A bitmap with summaries: each bit of a level tells whether a word of the
 * level below has any bit set, up to a level of a single word.
 */
#ifndef _MM_PAGE_COLOR_INDEX_BITMAP_H
#define _MM_PAGE_COLOR_INDEX_BITMAP_H

#include <linux/bitops.h>
#include <linux/types.h>

/* 64^6 bits are more than blocks and padding of 2^32 frames need. */
#define PAGE_COLOR_LEVELS	6

/**
 * struct page_color_bitmap - where the levels of a bitmap are
 * @levels: how many there are; the last has one word
 * @level: their first words, as numbers of words from the list's first word
 *
 * The shape is apart from the words, as all lists share it.
 */
struct page_color_bitmap {
	u32 levels;
	u32 level[PAGE_COLOR_LEVELS];
};

static inline bool bitmap_test(const unsigned long *words,
			       const struct page_color_bitmap *map,
			       unsigned long bit)
{
	return words[map->level[0] + bit / 64] >> (bit % 64) & 1;
}

/* Of a bit that is clear. Return: whether the bitmap was empty before. */
static inline bool bitmap_mark(unsigned long *words,
			       const struct page_color_bitmap *map,
			       unsigned long bit)
{
	unsigned int level;

	for (level = 0; level < map->levels; level++) {
		unsigned long *word = &words[map->level[level] + bit / 64];
		unsigned long before = *word;

		*word = before | 1UL << (bit % 64);
		if (before)
			return false;
		bit /= 64;
	}
	return true;
}

/* Of a bit that is set. Return: whether the bitmap is empty now. */
static inline bool bitmap_unmark(unsigned long *words,
				 const struct page_color_bitmap *map,
				 unsigned long bit)
{
	unsigned int level;

	for (level = 0; level < map->levels; level++) {
		unsigned long *word = &words[map->level[level] + bit / 64];

		*word &= ~(1UL << (bit % 64));
		if (*word)
			return false;
		bit /= 64;
	}
	return true;
}

/*
 * The first set bit at or after @from, or the very first if there is none.
 * The bitmap must not be empty. Every summary bit that is met leads down to a
 * set bit, so there is no way into a dead end.
 */
static inline unsigned long bitmap_next(const unsigned long *words,
					const struct page_color_bitmap *map,
					unsigned long from)
{
	unsigned long candidates = ~0UL;
	unsigned int level;

	for (level = 0; level < map->levels; level++) {
		unsigned long word = words[map->level[level] + from / 64];

		word &= candidates << (from % 64);
		if (word) {
			from = from / 64 * 64 + __ffs(word);
			break;
		}
		from /= 64;
		/* The words summarized by lower bits, and by this, are seen. */
		candidates = ~1UL;
	}
	if (level == map->levels)
		from = 0;

	while (level--)
		from = from * 64 + __ffs(words[map->level[level] + from]);
	return from;
}

/* The last set bit at or before *@at, into *@at. Return: whether there is one. */
static inline bool bitmap_last(const unsigned long *words,
			       const struct page_color_bitmap *map,
			       unsigned long *at)
{
	unsigned long bit = *at;
	unsigned long candidates = ~0UL >> (63 - bit % 64);
	unsigned int level;

	for (level = 0; level < map->levels; level++) {
		unsigned long word = words[map->level[level] + bit / 64];

		word &= candidates;
		if (word) {
			bit = bit / 64 * 64 + __fls(word);
			break;
		}
		bit /= 64;
		/* The words summarized by this bit, and by higher ones, are seen. */
		candidates = (1UL << (bit % 64)) - 1;
	}
	if (level == map->levels)
		return false;

	while (level--)
		bit = bit * 64 + __fls(words[map->level[level] + bit]);
	*at = bit;
	return true;
}

/* The number of set bits from @from to before @to. */
static inline unsigned long bitmap_weight(const unsigned long *words,
					  const struct page_color_bitmap *map,
					  unsigned long from, unsigned long to)
{
	unsigned long weight = 0;

	while (from < to) {
		unsigned long word = words[map->level[0] + from / 64];

		word >>= from % 64;
		if (to - from < 64)
			word &= (1UL << (to - from)) - 1;
		weight += hweight_long(word);
		from = (from / 64 + 1) * 64;
	}
	return weight;
}

#endif /* _MM_PAGE_COLOR_INDEX_BITMAP_H */
