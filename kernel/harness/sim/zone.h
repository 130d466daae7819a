/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A buddy allocator with per-CPU lists, as Linux 6.12 has it, without its locks
 * but with their count: where designs of page coloring are compared.
 */
#ifndef SIM_ZONE_H
#define SIM_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_ORDER	10
#define BLOCK_ORDER	9
#define BLOCK_FRAMES	(1UL << BLOCK_ORDER)
#define MAX_CPUS	64
#define NONE		((uint32_t)-1)

/* What pages are grouped by, so that those that never move stay together. */
enum kind { MOVABLE, UNMOVABLE, KINDS };

/* What holding the zone's lock came to. A step is a list or word that is touched. */
struct cost {
	uint64_t locks;
	uint64_t steps;
	uint64_t worst;		/* steps in the longest hold */
	uint64_t outside;	/* steps of a search without the lock */
};

/* Pages freed and not yet given back, the newest last. */
struct cpu_list {
	uint32_t *frames;
	unsigned int count;
};

struct zone;

/* A design is told of every block that becomes free, or ceases to be. */
struct watcher {
	void (*added)(struct zone *zone, uint32_t frame, unsigned int order);
	void (*removed)(struct zone *zone, uint32_t frame, unsigned int order);
	void *data;
};

struct zone {
	uint32_t frames;
	uint32_t colors;
	/* Of the free block that begins at a frame; -1 where none does. */
	int8_t *order;
	uint8_t *list;
	uint32_t *next, *prev;
	uint8_t *block_kind;
	uint32_t head[MAX_ORDER + 1][KINDS];
	uint32_t tail[MAX_ORDER + 1][KINDS];
	uint32_t free;
	struct cpu_list cpus[MAX_CPUS][KINDS];
	unsigned int batch, high;
	/* Blocks go to a random end of their list, as page_alloc.shuffle does. */
	bool shuffle;
	struct watcher watcher;
	struct cost cost;
	uint64_t hold;
	bool held;
};

/* A number below @below from the run's seed. */
uint32_t sim_random(uint32_t below);
void sim_seed(uint64_t seed);

void zone_init(struct zone *zone, uint32_t frames, uint32_t colors,
	       bool shuffle);
void zone_free_memory(struct zone *zone);

void zone_lock(struct zone *zone);
void zone_unlock(struct zone *zone);
static inline void zone_step(struct zone *zone, uint64_t steps)
{
	zone->hold += steps;
}

/* Under the lock. */
uint32_t buddy_alloc(struct zone *zone, unsigned int order, enum kind kind);
void buddy_free(struct zone *zone, uint32_t frame, unsigned int order);
/* The free block that holds a frame, NONE if it is not free. */
uint32_t buddy_holding(struct zone *zone, uint32_t frame);
/* Takes just these frames out of the free block that holds them. */
void buddy_take(struct zone *zone, uint32_t frame, unsigned int order);

/* Takes those of 64 aligned frames that @mask names, all of them free. */
void buddy_take_mask(struct zone *zone, uint32_t first, uint64_t mask);

/* Through the lists of a CPU, which take the lock when they must. */
uint32_t cpu_alloc(struct zone *zone, unsigned int cpu, enum kind kind);
void cpu_free(struct zone *zone, unsigned int cpu, uint32_t frame);
void cpu_drain(struct zone *zone, unsigned int cpu);

static inline uint32_t zone_color(const struct zone *zone, uint32_t frame)
{
	return frame % zone->colors;
}

/* Share of free memory in blocks of the largest order. */
double zone_in_largest(const struct zone *zone);
/* Whole pageblocks that are free, as a share of all. */
double zone_huge_supply(const struct zone *zone);
void zone_check(const struct zone *zone);

#endif
