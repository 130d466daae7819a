/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a modelled memory hierarchy is made of, as the options say it. */
#ifndef DESCRIPTION_H
#define DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages, for colors and for access times. */
#define PAGE_SHIFT 12

/* The line size by which accesses are counted where there is no cache at all. */
#define LINE_SHIFT_WITHOUT_CACHES 6

enum replacement { REPLACE_LRU, REPLACE_TREE_PLRU, REPLACE_RANDOM, REPLACE_QLRU };

/* Of a cache of any kind. sets * ways lines of 1 << line_shift bytes. */
struct geometry {
	uint64_t sets;
	uint32_t ways;
	unsigned int line_shift;
	enum replacement replacement;
};

struct level {
	struct geometry geometry;
	bool shared;
	uint32_t latency;
};

/* Physical addresses, from start up to but not including end. */
struct range {
	uint64_t start;
	uint64_t end;
};

enum backing { BACKING_ALL, BACKING_NODE, BACKING_RANGE };

struct memory_side {
	struct geometry geometry;
	enum backing backing;
	uint32_t node;      /* of BACKING_NODE */
	struct range range; /* of BACKING_RANGE */
	uint32_t latency;
};

struct node {
	struct range *memory;
	size_t memory_count;
	uint32_t *cpus;
	size_t cpu_count;
	uint32_t *distances; /* to each node, 10 is local; NULL: 10 and 20 */
	size_t distance_count;
};

struct description {
	struct level *levels;
	size_t level_count;
	struct memory_side *memory_sides;
	size_t memory_side_count;
	struct node *nodes; /* none: all CPUs and all memory are node 0 */
	size_t node_count;
	uint32_t memory_latency; /* at distance 10 */
	uint64_t seed;
	bool skip_outside;
	bool color_conflicts;
	bool page_times;
	bool frames;
	bool addresses;
	bool skip_strings;
	bool pairs; /* see hierarchy.h */
	char *out;
};

#endif
