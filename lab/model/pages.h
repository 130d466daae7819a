/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access times, by physical page and over all accesses. */
#ifndef PAGES_H
#define PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_time {
	uint64_t page_plus_1; /* 0: a free slot */
	uint64_t accesses;
	uint64_t cycles;
};

struct pages {
	struct page_time *slots; /* open addressing, a power of two of them */
	size_t slot_count;
	size_t page_count;
	uint64_t accesses;
	uint64_t cycles;
	unsigned __int128 squares;
	bool incomplete; /* memory ran out */
};

struct page_times {
	uint64_t pages;
	double mean;
	double deviation;
	double access_mean;
	double access_deviation;
};

bool pages_init(struct pages *pages);
void pages_clear(struct pages *pages);

/* An access to the page took so many cycles. */
void pages_add(struct pages *pages, uint64_t page, uint32_t cycles);

/* Deviations are those of a whole population: the sum is divided by n. */
struct page_times pages_summary(const struct pages *pages);

#endif
