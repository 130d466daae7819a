/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of a cache with LRU and so many ways that looking at them one by one takes too
 * long: the ways as a list by last use, and a table by tag.
 */
#ifndef RECENCY_H
#define RECENCY_H

#include <stdbool.h>
#include <stdint.h>

/* The number of ways from which on this is faster. */
#define RECENCY_WAYS 128

struct recency;

/* NULL if there is not enough memory. */
struct recency *recency_new(uint32_t ways);

/* Uses a tag, not 0; true if it was there. Else the one used longest ago goes. */
bool recency_use(struct recency *recency, uint64_t tag);

#endif
