/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One cache: which lines it holds, and which line is evicted for another.
 *
 * The exact rules, by which a twin can be written:
 *
 * - A line is its address divided by the line size; its set is line % sets.
 * - A set with an empty way evicts nothing; of several, the first is filled.
 * - LRU: the line whose last use, hit or fill, is the longest ago is evicted.
 * - Tree-PLRU: ways - 1 nodes numbered from 1, the children of n being 2n and
 *   2n + 1, way w being where node ways + w would be. A bit in each node, 0 at
 *   first: 0 sends the search for a victim to 2n, 1 to 2n + 1. A hit or a fill
 *   of a way turns every node above it away from it.
 * - Random: the way (x >> 32) * ways >> 32, where x is the next number of the
 *   cache's own splitmix64. A number is drawn for each eviction, none for a
 *   fill of an empty way. The state starts as the seed given to cache_init().
 * - QLRU, with ages of two bits: a line that comes has age 1, a hit makes it 0.
 *   The first way of age 3 goes; as long as there is none, all ways grow older by
 *   one. Several of Intel's caches are described like this.
 */
#ifndef CACHE_H
#define CACHE_H

#include "description.h"
#include "recency.h"

struct cache {
	uint64_t sets;
	uint64_t set_mask;   /* sets - 1 if that is a power of two, else 0 */
	uint64_t reciprocal; /* ceil(2^64 / sets) */
	unsigned int line_shift;
	uint32_t ways;
	/* Whether a hit of way 0 leaves everything as it is. */
	bool first_way_is_settled;
	/* Line + 1 per way, 0 if empty; with LRU the latest first. */
	uint64_t *tags;
	struct recency **many; /* of LRU with many ways, one per set; of tags only the first counts */
	uint64_t *trees;       /* of tree-PLRU, one per set, bit n for node n */
	uint8_t *ages;         /* of QLRU, one per way */
	uint64_t random_state; /* of random replacement */
	bool (*search)(struct cache *cache, uint64_t set, uint64_t tag);
};

/* False if there is not enough memory. */
bool cache_init(struct cache *cache, const struct geometry *geometry, uint64_t seed);

/*
 * line % sets, without dividing. The remainder by reciprocal is exact while
 * both are below 2^32 (Lemire, Kaser, Kurz, "Faster remainder by direct
 * computation", 2019), which is 256 GiB of memory in lines of 64 bytes.
 */
static inline uint64_t cache_set(const struct cache *cache, uint64_t line)
{
	if (cache->set_mask || cache->sets == 1)
		return line & cache->set_mask;
	if ((line | cache->sets) >> 32)
		return line % cache->sets;
	return (unsigned __int128)(cache->reciprocal * line) * cache->sets >> 64;
}

/* Whether the line is there; not for LRU of RECENCY_WAYS or more. */
bool cache_has(const struct cache *cache, uint64_t line);

/* Uses the line; true if it was there. It is there afterward. */
static inline bool cache_use(struct cache *cache, uint64_t line)
{
	uint64_t set = cache_set(cache, line);
	uint64_t tag = line + 1;

	if (cache->tags[set * cache->ways] == tag && cache->first_way_is_settled)
		return true;
	return cache->search(cache, set, tag);
}

#endif
