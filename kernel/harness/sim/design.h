/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a design of page coloring decides, and the designs that are compared. */
#ifndef SIM_DESIGN_H
#define SIM_DESIGN_H

#include "zone.h"

/* Pages of consecutive colors taken at once for one address space on one CPU. */
#define RUN_MAX 64

struct run {
	uint32_t frames[RUN_MAX];
	unsigned int count;
	unsigned int length;	/* how long the next one is */
};

/* An address space, or a file in memory that programs map. */
struct space {
	uint32_t pages;		/* that it holds now */
	const uint32_t *held;	/* their frames, as its page tables tell */
	uint32_t nr_held;
	uint32_t cursor;
	uint64_t *bits;		/* a bit per color that it holds; NULL while small */
	uint32_t taken;		/* bits that are set */
	struct run run[MAX_CPUS];
};

struct design {
	const char *name;
	const char *what;
	void (*start)(struct zone *zone);
	void (*stop)(struct zone *zone);
	/* A page, or 2^@order of them, for a fault of @space. */
	uint32_t (*anon)(struct zone *zone, unsigned int cpu,
			 struct space *space, unsigned int order);
	/* A page of the page cache. */
	uint32_t (*file)(struct zone *zone, unsigned int cpu);
	/* @space holds these pages from now on, or no more. */
	void (*live)(struct zone *zone, struct space *space, uint32_t frame,
		     unsigned int order, bool mapped);
	/* The space ends, or its CPU runs another one. */
	void (*leave)(struct zone *zone, unsigned int cpu, struct space *space);
	/* Bytes beside the buddy lists: for all of memory, and for one space that
	 * holds a whole cache.
	 */
	void (*memory)(uint64_t frames, uint64_t colors, uint64_t *all,
		       uint64_t *space);
};

extern const struct design design_stock, design_shuffle, design_cursor,
	design_occupancy, design_groups, design_words_only, design_words;

/* For designs that leave a part to the allocator as it is. */
uint32_t stock_anon(struct zone *zone, unsigned int cpu, struct space *space,
		    unsigned int order);
uint32_t stock_file(struct zone *zone, unsigned int cpu);
uint32_t stock_huge(struct zone *zone, unsigned int order);

/* Which frames are free, a bit each: what several designs look at. */
struct free_bits {
	uint64_t *words;
};
void free_bits_start(struct zone *zone, struct free_bits *bits);
void free_bits_stop(struct zone *zone, struct free_bits *bits);
static inline bool free_bits_has(const struct free_bits *bits, uint32_t frame)
{
	return bits->words[frame / 64] >> frame % 64 & 1;
}

/* Free frames of the pageblock that holds @frame. */
uint32_t free_in_block(const struct free_bits *bits, uint32_t frame);

/* Gives the pages of a run back to the buddy lists. */
void run_drop(struct zone *zone, struct run *run);

#endif
