/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caches, memory-side caches and nodes that an access goes through.
 *
 * An access touches the lines it covers, in ascending order, each through the
 * whole hierarchy; lines are those of the first level, or of the memory-side
 * cache with the smallest ones if there is no level. A level is asked when all
 * levels before it missed, and holds the line afterward: nothing is inclusive
 * or exclusive, and nothing is written back. Loads and stores are alike.
 *
 * With pairs, as some processors prefetch: after a line that the last level lacked, the
 * other line of the pair comes as well, if the level lacks that too. It is not counted
 * and costs nothing; a level that has it already is left as it is.
 *
 * What a line costs: the latency of the level, or memory-side cache, that had
 * it, or else memory_latency * distance / 10, rounded down, where the distance
 * is from the CPU's node to the memory's. Memory of no node is at distance 10.
 */
#ifndef HIERARCHY_H
#define HIERARCHY_H

#include "cache.h"
#include "frames.h"
#include "pages.h"

struct tally {
	uint64_t hits;
	uint64_t misses;
};

/* A CPU: its view of the caches, and what it did since the counts were cleared. */
struct cpu {
	struct cache **levels;
	const uint32_t *memory_latencies; /* by node of the memory */

	uint64_t accesses;
	uint64_t cycles;    /* of lines, without instructions */
	uint64_t elsewhere; /* lines from memory of no node */
	struct tally *level_tallies;
	struct tally *memory_side_tallies;
	uint64_t *nodes;  /* lines from memory, by node */
	uint64_t *colors; /* misses, by color; NULL if not asked for */
	struct pages pages;
};

struct node_range {
	struct range range;
	uint32_t node;
};

struct hierarchy {
	const struct description *description;
	unsigned int line_shift; /* by which accesses are split */
	struct cache *private_caches;
	struct cache *shared_caches;
	struct cache *memory_side_caches;
	struct node_range *node_ranges;
	size_t node_range_count;
	size_t node_count;
	uint32_t *memory_latencies; /* node_count + 1 rows; the last column is elsewhere */
	size_t color_count;         /* 0 if not asked for */
	struct cpu *cpus;
	size_t cpu_count;
	struct frames frames;
	struct frames *counted_frames; /* &frames while they are counted, or NULL */
};

/*
 * On failure false and what is wrong. The description must outlive it; it lasts
 * as long as the process, as the plugin does.
 */
bool hierarchy_init(struct hierarchy *hierarchy, const struct description *description,
		    size_t cpu_count, char *error, size_t error_size);

/* Sets counts to 0; caches keep their lines. */
void hierarchy_clear_counts(struct hierarchy *hierarchy);

/* Touches the lines of [address, address + size). Returns their cost. */
uint32_t hierarchy_touch(struct hierarchy *hierarchy, struct cpu *cpu, uint64_t address,
			 uint32_t size);

/* Counts an access whose first byte is at address, and its cost. */
void hierarchy_count(struct hierarchy *hierarchy, struct cpu *cpu, uint64_t address,
		     uint32_t cycles);

#endif
