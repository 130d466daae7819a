// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Bits of address spaces and counts of colors. */

#include <stdlib.h>
#include <string.h>

#include "bits.h"

static uint32_t words(uint32_t colors)
{
	return (colors + 63) / 64;
}

static uint32_t few(uint32_t colors)
{
	return colors / 512 + 1;
}

static void rebuild(struct counts *counts, uint32_t colors)
{
	uint32_t at_level[256] = { 0 };
	uint32_t level = 0, sum;

	for (uint32_t color = 0; color < colors; color++) {
		uint16_t live = counts->live[color];

		at_level[live < 255 ? live : 255]++;
	}
	for (sum = at_level[0]; sum < few(colors) && level < 255; )
		sum += at_level[++level];
	counts->level = level;
	counts->left = sum;
	counts->below = sum - at_level[level];
	memset(counts->lowest, 0, words(colors) * sizeof(uint64_t));
	for (uint32_t color = 0; color < colors; color++)
		if (counts->live[color] <= level)
			counts->lowest[color / 64] |= 1ULL << color % 64;
	counts->rebuilt++;
}

void counts_start(struct counts *counts, uint32_t colors)
{
	counts->live = calloc(colors, sizeof(*counts->live));
	counts->lowest = calloc(words(colors), sizeof(*counts->lowest));
	rebuild(counts, colors);
	counts->rebuilt = 0;
}

void counts_stop(struct counts *counts)
{
	free(counts->live);
	free(counts->lowest);
}

void counts_change(struct counts *counts, uint32_t colors, uint32_t color,
		   bool more)
{
	uint64_t bit = 1ULL << color % 64;
	uint64_t *word = &counts->lowest[color / 64];
	uint16_t before = counts->live[color];
	uint16_t now = counts->live[color] += more ? 1 : -1;

	counts->below += now < counts->level;
	counts->below -= before < counts->level;
	if (before > counts->level && now <= counts->level) {
		*word |= bit;
		counts->left++;
	} else if (before <= counts->level && now > counts->level) {
		*word &= ~bit;
		counts->left--;
	}
	if (!counts->left || counts->below >= 2 * few(colors))
		rebuild(counts, colors);
}

void space_bits(struct space *space, uint32_t colors)
{
	if (!space->bits)
		space->bits = calloc(words(colors), sizeof(*space->bits));
}

void space_mark(struct space *space, uint32_t colors, uint32_t color,
		bool mapped)
{
	uint64_t bit = 1ULL << color % 64;
	uint64_t *word;

	if (!space->bits)
		return;
	word = &space->bits[color / 64];
	if (mapped && !(*word & bit)) {
		*word |= bit;
		/* It holds one of each: a new round begins. */
		if (++space->taken == colors) {
			memset(space->bits, 0,
			       words(colors) * sizeof(*space->bits));
			space->taken = 0;
		}
	} else if (!mapped && *word & bit) {
		*word &= ~bit;
		space->taken--;
	}
}
