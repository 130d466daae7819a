/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Colors and frames by 64: operations on one word of bits. */
#ifndef _MM_PAGE_COLOR_WORDS_H
#define _MM_PAGE_COLOR_WORDS_H

#include <linux/bitops.h>
#include <linux/types.h>

/* The lowest @count bits; @count may be 64 or more. */
static inline u64 page_color_low_bits(unsigned long count)
{
	return count < 64 ? (1ULL << count) - 1 : ~0ULL;
}

/* Words that hold a bit for each of @colors. */
static inline u32 page_color_words(u32 colors)
{
	return (colors + 63ULL) / 64;
}

/* If fewer colors than this are at the level or below it, the level rises. */
static inline int page_color_few(u32 colors)
{
	return colors / 512 + 1;
}

/* The bits of a word that stand for a color at all: fewer in the last one. */
static inline u64 page_color_valid(u32 colors, u32 word)
{
	return page_color_low_bits(colors - 64 * word);
}

/* The lowest @count of the bits that are set. */
static inline u64 page_color_first_bits(u64 some, unsigned int count)
{
	u64 rest = some;

	if (count >= hweight64(some))
		return some;
	while (count--)
		rest &= rest - 1;
	return some & ~rest;
}

/*
 * Of groups of 2^@order bits that begin at a multiple of their size, the first
 * bit of those that are set as a whole; @order below 6.
 */
static inline u64 page_color_whole_groups(u64 some, unsigned int order)
{
	static const u64 firsts[] = {
		~0ULL,
		0x5555555555555555ULL,
		0x1111111111111111ULL,
		0x0101010101010101ULL,
		0x0001000100010001ULL,
		0x0000000100000001ULL,
	};
	unsigned int i;

	for (i = 0; i < order; i++)
		some &= some >> (1U << i);
	return some & firsts[order];
}

#endif /* _MM_PAGE_COLOR_WORDS_H */
