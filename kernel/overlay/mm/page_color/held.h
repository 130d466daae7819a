/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which colors an address space holds: a bit per color.
 *
 * When it holds all colors, a new round begins in which it holds none. Instead
 * of clearing all bits, their meaning is inverted.
 *
 * The caller serializes changes; a word may be read without a lock. Nothing here
 * knows of pages or locks.
 */
#ifndef _MM_PAGE_COLOR_HELD_H
#define _MM_PAGE_COLOR_HELD_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "words.h"

/**
 * struct page_color_held - colors that are held
 * @colors: how many there are
 * @taken: how many are held in this round
 * @flipped: all ones if a bit that is not set means held; else 0
 * @bits: by color
 */
struct page_color_held {
	u32 colors;
	u32 taken;
	u64 flipped;
	u64 bits[];
};

/* Colors of a word that are held; bits behind the last color are 0. */
static inline u64 page_color_held_word(const struct page_color_held *held,
				       u32 word)
{
	u64 bits = READ_ONCE(held->bits[word]) ^ READ_ONCE(held->flipped);

	return bits & page_color_valid(held->colors, word);
}

/* Whether any color of a word is not held. */
static inline bool page_color_held_lacks(const struct page_color_held *held,
					 u32 word)
{
	return page_color_held_word(held, word) !=
	       page_color_valid(held->colors, word);
}

/* Marks colors as held. Returns those that were not held before. */
static inline u64 page_color_held_mark(struct page_color_held *held, u32 word,
				       u64 mask)
{
	u64 fresh = mask & page_color_valid(held->colors, word) &
		    ~page_color_held_word(held, word);

	WRITE_ONCE(held->bits[word], held->bits[word] ^ fresh);
	held->taken += hweight64(fresh);
	return fresh;
}

/* Whether all colors were held; if so, the next round has begun. */
static inline bool page_color_held_round(struct page_color_held *held)
{
	if (held->taken < held->colors)
		return false;
	held->taken = 0;
	WRITE_ONCE(held->flipped, ~held->flipped);
	return true;
}

/* Marks colors as not held. Returns those that were held. */
static inline u64 page_color_held_unmark(struct page_color_held *held, u32 word,
					 u64 mask)
{
	u64 gone = mask & page_color_held_word(held, word);

	WRITE_ONCE(held->bits[word], held->bits[word] ^ gone);
	held->taken -= hweight64(gone);
	return gone;
}

/* The same for one color. Returns whether it was held. */
static inline bool page_color_held_unmark_one(struct page_color_held *held,
					      u32 color)
{
	u64 *bits = &held->bits[color / 64], one = 1ULL << color % 64;

	if (!((*bits ^ held->flipped) & one))
		return false;
	WRITE_ONCE(*bits, *bits ^ one);
	held->taken--;
	return true;
}

#endif /* _MM_PAGE_COLOR_HELD_H */
