/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which colors an address space holds, and how many live pages each color has. */
#ifndef SIM_BITS_H
#define SIM_BITS_H

#include "design.h"

/*
 * Live pages per color. Colors that at most @level live pages are on have a bit in
 * @lowest; the level is the least that leaves one color in 512 there.
 */
struct counts {
	uint16_t *live;
	uint64_t *lowest;
	uint32_t left;		/* colors in @lowest */
	uint32_t below;		/* of them, with less than @level */
	uint16_t level;
	uint64_t rebuilt;	/* times that @lowest was made anew */
};

void counts_start(struct counts *counts, uint32_t colors);
void counts_stop(struct counts *counts);
void counts_change(struct counts *counts, uint32_t colors, uint32_t color,
		   bool more);

void space_bits(struct space *space, uint32_t colors);
void space_mark(struct space *space, uint32_t colors, uint32_t color,
		bool mapped);

#endif
