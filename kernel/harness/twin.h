/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A twin that words of bits are compared with: it has one entry for each frame and
 * color, and a loop for each question.
 */
#ifndef HARNESS_TWIN_H
#define HARNESS_TWIN_H

#include "choose.h"

#define TWIN_CHUNKS 2
#define TWIN_FRAMES (TWIN_CHUNKS * PAGE_COLOR_CHUNK)

struct page_color_set {
	bool *has;
	u32 colors;
};

struct twin {
	unsigned long start;
	unsigned int block_order;
	u32 colors;
	bool there[TWIN_CHUNKS];
	bool *free;
	u32 *live;
	/*
	 * The generation in which each color was taken, the present one, and how many
	 * colors were taken in it.
	 */
	u64 *lately;
	u64 now;
	u32 noted;
	bool *held;
	u32 taken;
};

struct twin twin_new(unsigned long start, unsigned int block_order, u32 colors);
void twin_end(struct twin *twin);

bool twin_free(const struct twin *twin, unsigned long frame);
/* Does nothing where there is no memory. */
void twin_set_free(struct twin *twin, unsigned long frame, bool free);
u64 twin_free_word(const struct twin *twin, unsigned long frame);
unsigned int twin_in_block(const struct twin *twin, unsigned long frame);
unsigned long twin_count(const struct twin *twin);
/* Free frames of pageblocks that are not free as a whole. */
unsigned long twin_partial(const struct twin *twin);
unsigned long twin_lowest(const struct twin *twin, unsigned long frame);

/* Counts stay between 0 and @most. */
void twin_live(struct twin *twin, u32 color, bool more, u32 most);
u64 twin_at_most(const struct twin *twin, const u32 *counts, u32 word, u32 level);
/* Colors of a word that were last taken in generation @until or before. */
u64 twin_until(const struct twin *twin, u32 word, u64 until);
/*
 * Colors are taken: the next generation begins once these are a quarter of all colors.
 */
void twin_pass(struct twin *twin, u32 taken);
/* The next generation begins now, if a 16th of a quarter of all colors were taken. */
void twin_begin(struct twin *twin);

u64 twin_held_word(const struct twin *twin, u32 word);
/* Holds a color or not. Returns whether that changed anything. */
bool twin_hold(struct twin *twin, u32 color, bool hold);

#endif
