// SPDX-License-Identifier: GPL-2.0-or-later
#include "cache.h"

#include <stdlib.h>

/* The age of QLRU at which a line is evicted. */
#define OLDEST 3

static bool search_lru(struct cache *cache, uint64_t set, uint64_t tag)
{
	uint64_t *tags = cache->tags + set * cache->ways;
	uint64_t carried = tag;

	/*
	 * Every line moves one place back until the place of the line itself,
	 * or until the last one drops out. Empty ways are always the last.
	 */
	for (uint32_t way = 0; way < cache->ways; way++) {
		uint64_t here = tags[way];

		tags[way] = carried;
		if (here == tag)
			return true;
		carried = here;
	}
	return false;
}

static bool search_lru_of_many(struct cache *cache, uint64_t set, uint64_t tag)
{
	cache->tags[set * cache->ways] = tag;
	return recency_use(cache->many[set], tag);
}

static void turn_tree_away(uint64_t *tree, uint32_t ways, uint32_t way)
{
	for (uint32_t node = ways + way; node > 1; node /= 2) {
		uint64_t parent = UINT64_C(1) << (node / 2);

		if (node % 2)
			*tree &= ~parent;
		else
			*tree |= parent;
	}
}

static uint32_t tree_victim(uint64_t tree, uint32_t ways)
{
	uint32_t node = 1;

	while (node < ways)
		node = 2 * node + (tree >> node & 1);
	return node - ways;
}

/* The way with the tag, or else the first empty one, or else ways. */
static uint32_t find_way(const struct cache *cache, const uint64_t *tags, uint64_t tag)
{
	uint32_t empty = cache->ways;

	for (uint32_t way = 0; way < cache->ways; way++) {
		if (tags[way] == tag)
			return way;
		if (!tags[way] && empty == cache->ways)
			empty = way;
	}
	return empty;
}

bool cache_has(const struct cache *cache, uint64_t line)
{
	const uint64_t *tags = cache->tags + cache_set(cache, line) * cache->ways;
	uint32_t way = find_way(cache, tags, line + 1);

	return way < cache->ways && tags[way];
}

static bool search_tree_plru(struct cache *cache, uint64_t set, uint64_t tag)
{
	uint64_t *tags = cache->tags + set * cache->ways;
	uint32_t way = find_way(cache, tags, tag);
	bool hit;

	if (way == cache->ways)
		way = tree_victim(cache->trees[set], cache->ways);
	hit = tags[way] == tag;
	tags[way] = tag;
	turn_tree_away(&cache->trees[set], cache->ways, way);
	return hit;
}

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static bool search_random(struct cache *cache, uint64_t set, uint64_t tag)
{
	uint64_t *tags = cache->tags + set * cache->ways;
	uint32_t way = find_way(cache, tags, tag);
	bool hit;

	if (way == cache->ways)
		way = (splitmix64(&cache->random_state) >> 32) * cache->ways >> 32;
	hit = tags[way] == tag;
	tags[way] = tag;
	return hit;
}

static uint32_t oldest_way(uint8_t *ages, uint32_t ways)
{
	uint8_t most = 0;

	for (uint32_t way = 0; way < ways; way++)
		if (ages[way] > most)
			most = ages[way];
	for (uint32_t way = 0; most < OLDEST && way < ways; way++)
		ages[way] += OLDEST - most;
	for (uint32_t way = 0;; way++)
		if (ages[way] == OLDEST)
			return way;
}

static bool search_qlru(struct cache *cache, uint64_t set, uint64_t tag)
{
	uint64_t *tags = cache->tags + set * cache->ways;
	uint8_t *ages = cache->ages + set * cache->ways;
	uint32_t way = find_way(cache, tags, tag);
	bool hit;

	if (way == cache->ways)
		way = oldest_way(ages, cache->ways);
	hit = tags[way] == tag;
	tags[way] = tag;
	ages[way] = hit ? 0 : 1;
	return hit;
}

static bool init_many(struct cache *cache)
{
	cache->search = search_lru_of_many;
	cache->many = calloc(cache->sets, sizeof(struct recency *));
	for (uint64_t set = 0; cache->many && set < cache->sets; set++) {
		cache->many[set] = recency_new(cache->ways);
		if (!cache->many[set])
			return false;
	}
	return cache->many;
}

bool cache_init(struct cache *cache, const struct geometry *geometry, uint64_t seed)
{
	uint64_t sets = geometry->sets;
	/* With a single way all kinds of replacement do the same. */
	enum replacement replacement = geometry->ways == 1 ? REPLACE_LRU : geometry->replacement;

	*cache = (struct cache){
		.sets = sets,
		.set_mask = sets & (sets - 1) ? 0 : sets - 1,
		.reciprocal = UINT64_MAX / sets + 1,
		.line_shift = geometry->line_shift,
		.ways = geometry->ways,
		.first_way_is_settled = replacement == REPLACE_LRU || replacement == REPLACE_RANDOM,
		.random_state = seed,
	};
	cache->tags = calloc(sets, geometry->ways * sizeof(*cache->tags));
	if (!cache->tags)
		return false;
	switch (replacement) {
	case REPLACE_LRU:
		cache->search = search_lru;
		if (geometry->ways >= RECENCY_WAYS)
			return init_many(cache);
		break;
	case REPLACE_RANDOM:
		cache->search = search_random;
		break;
	case REPLACE_QLRU:
		cache->search = search_qlru;
		cache->ages = calloc(sets, geometry->ways);
		if (!cache->ages)
			return false;
		break;
	case REPLACE_TREE_PLRU:
		cache->search = search_tree_plru;
		cache->trees = calloc(sets, sizeof(*cache->trees));
		if (!cache->trees)
			return false;
		break;
	}
	return true;
}
