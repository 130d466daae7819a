/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pages full of words, each from the one before; with step 0 all are the same. */
#ifndef HUEPAGE_PAGE_WORDS_H
#define HUEPAGE_PAGE_WORDS_H

#include "lab.h"

#include <stdbool.h>

#define WORDS (PAGE / sizeof(uint64_t))
#define NEXT_WORD 0x9E3779B97F4A7C15u

static inline void page_fill(uint64_t *page, uint64_t word, uint64_t step)
{
	for (size_t i = 0; i < WORDS; i++, word += step)
		page[i] = word;
}

static inline bool page_holds(const uint64_t *page, uint64_t word, uint64_t step)
{
	uint64_t differs = 0;

	for (size_t i = 0; i < WORDS; i++, word += step)
		differs |= page[i] ^ word;
	return !differs;
}

#endif
