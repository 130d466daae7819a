/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What index.h promises once more, as plainly as can be: a list of blocks. */
#ifndef HARNESS_TWIN_H
#define HARNESS_TWIN_H

#include <stdbool.h>
#include <stddef.h>

#include "index.h"

#define TWIN_BLOCKS 96

struct twin_block {
	unsigned int list;
	unsigned int order;
	unsigned long block;
};

struct twin {
	struct page_color_span span;
	size_t count;
	struct twin_block blocks[TWIN_BLOCKS];
};

bool twin_inside(const struct twin *twin, unsigned int order,
		 unsigned long block);
bool twin_has(const struct twin *twin, struct twin_block block);
bool twin_add(struct twin *twin, struct twin_block block);
bool twin_del(struct twin *twin, struct twin_block block);

/* How many colors after @color the first color of 2^@order frames is. */
unsigned long twin_distance(const struct twin *twin, unsigned int order,
			    unsigned long frame, unsigned long color);

/* The lowest distance there is, and the lowest order that has it. */
bool twin_find(const struct twin *twin, unsigned int list, unsigned int order,
	       unsigned long color, unsigned long *distance,
	       unsigned int *lowest);

/* The lowest order from @order on of a block that contains @frame. */
bool twin_holding(const struct twin *twin, unsigned int list,
		  unsigned int order, unsigned long frame,
		  unsigned int *lowest);

/*
 * Of blocks from @from on, of @order to before @orders, the last of the lowest
 * order that has what @frame's block of that order has of each color.
 */
bool twin_last(const struct twin *twin, unsigned int list, unsigned int order,
	       unsigned int orders, unsigned long frame, unsigned long from,
	       struct twin_block *last);

unsigned long twin_count(const struct twin *twin, unsigned int list,
			 unsigned long color);

#endif
