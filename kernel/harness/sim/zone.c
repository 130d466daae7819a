// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A buddy allocator with per-CPU lists, and what holding its lock costs. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../numbers.h"
#include "zone.h"

static struct numbers chance;

void sim_seed(uint64_t seed)
{
	chance = (struct numbers){ .state = seed };
}

uint32_t sim_random(uint32_t below)
{
	return numbers_below(&chance, below);
}

static void *array(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory) {
		perror("sim");
		exit(1);
	}
	return memory;
}

void zone_lock(struct zone *zone)
{
	if (zone->held)
		abort();
	zone->held = true;
	zone->hold = 0;
	zone->cost.locks++;
}

void zone_unlock(struct zone *zone)
{
	if (!zone->held)
		abort();
	zone->held = false;
	zone->cost.steps += zone->hold;
	if (zone->hold > zone->cost.worst)
		zone->cost.worst = zone->hold;
}

static void block_add(struct zone *zone, uint32_t frame, unsigned int order,
		      enum kind kind, bool at_tail)
{
	uint32_t *head = &zone->head[order][kind];
	uint32_t *tail = &zone->tail[order][kind];

	zone->order[frame] = order;
	zone->list[frame] = kind;
	zone->next[frame] = at_tail ? NONE : *head;
	zone->prev[frame] = at_tail ? *tail : NONE;
	if (at_tail) {
		if (*tail != NONE)
			zone->next[*tail] = frame;
		else
			*head = frame;
		*tail = frame;
	} else {
		if (*head != NONE)
			zone->prev[*head] = frame;
		else
			*tail = frame;
		*head = frame;
	}
	zone->free += 1U << order;
	zone_step(zone, 1);
	if (zone->watcher.added)
		zone->watcher.added(zone, frame, order);
}

static void block_del(struct zone *zone, uint32_t frame)
{
	unsigned int order = zone->order[frame];
	enum kind kind = zone->list[frame];
	uint32_t next = zone->next[frame], prev = zone->prev[frame];

	if (prev != NONE)
		zone->next[prev] = next;
	else
		zone->head[order][kind] = next;
	if (next != NONE)
		zone->prev[next] = prev;
	else
		zone->tail[order][kind] = prev;
	zone->order[frame] = -1;
	zone->free -= 1U << order;
	zone_step(zone, 1);
	if (zone->watcher.removed)
		zone->watcher.removed(zone, frame, order);
}

/* Hands the upper halves back until @order is left. */
static void split(struct zone *zone, uint32_t frame, unsigned int from,
		  unsigned int order, enum kind kind)
{
	while (from > order) {
		from--;
		block_add(zone, frame + (1U << from), from, kind, false);
	}
}

/* A whole pageblock changes sides when most of it is taken for others. */
static void claim_block(struct zone *zone, uint32_t frame, unsigned int order,
			enum kind kind)
{
	uint32_t first = frame & ~(BLOCK_FRAMES - 1);
	uint32_t end = first + (order > BLOCK_ORDER ? 1U << order : BLOCK_FRAMES);

	if (order < BLOCK_ORDER / 2 && kind == MOVABLE)
		return;
	for (uint32_t at = first; at < end && at < zone->frames;
	     at += BLOCK_FRAMES)
		zone->block_kind[at >> BLOCK_ORDER] = kind;
	for (uint32_t at = first; at < end; ) {
		int free = zone->order[at];

		if (free >= 0 && at != frame && zone->list[at] != kind) {
			block_del(zone, at);
			block_add(zone, at, free, kind, false);
		}
		at += free >= 0 ? 1U << free : 1;
	}
}

uint32_t buddy_alloc(struct zone *zone, unsigned int order, enum kind kind)
{
	enum kind other = kind == MOVABLE ? UNMOVABLE : MOVABLE;

	for (unsigned int at = order; at <= MAX_ORDER; at++) {
		uint32_t frame = zone->head[at][kind];

		zone_step(zone, 1);
		if (frame == NONE)
			continue;
		block_del(zone, frame);
		split(zone, frame, at, order, kind);
		return frame;
	}
	/* Steal the largest: it takes the fewest steals. */
	for (int at = MAX_ORDER; at >= (int)order; at--) {
		uint32_t frame = zone->head[at][other];

		zone_step(zone, 1);
		if (frame == NONE)
			continue;
		block_del(zone, frame);
		claim_block(zone, frame, at, kind);
		split(zone, frame, at, order,
		      zone->block_kind[frame >> BLOCK_ORDER]);
		return frame;
	}
	return NONE;
}

void buddy_free(struct zone *zone, uint32_t frame, unsigned int order)
{
	enum kind kind = zone->block_kind[frame >> BLOCK_ORDER];
	bool at_tail = false;

	while (order < MAX_ORDER) {
		uint32_t buddy = frame ^ (1U << order);

		zone_step(zone, 1);
		if (buddy >= zone->frames || zone->order[buddy] != (int)order)
			break;
		block_del(zone, buddy);
		frame &= ~(1U << order);
		order++;
	}
	/* Likely to join a larger one soon: used last. */
	if (order < MAX_ORDER - 1) {
		uint32_t above = (frame & ~(1U << order)) ^ (2U << order);

		at_tail = above < zone->frames &&
			  zone->order[above] == (int)order + 1;
	}
	if (zone->shuffle && order == MAX_ORDER)
		at_tail = sim_random(2);
	block_add(zone, frame, order, kind, at_tail);
}

uint32_t buddy_holding(struct zone *zone, uint32_t frame)
{
	for (unsigned int order = 0; order <= MAX_ORDER; order++) {
		uint32_t block = frame & ~((1U << order) - 1);

		if (zone->order[block] >= (int)order)
			return block;
	}
	return NONE;
}

void buddy_take(struct zone *zone, uint32_t frame, unsigned int order)
{
	uint32_t block = buddy_holding(zone, frame);
	unsigned int from = zone->order[block];
	enum kind kind = zone->list[block];

	block_del(zone, block);
	while (from > order) {
		uint32_t half = 1U << --from;

		if (frame & half) {
			block_add(zone, block, from, kind, false);
			block += half;
		} else {
			block_add(zone, block + half, from, kind, false);
		}
	}
}

/* What is wanted of a block that is off its list; the rest goes back. */
static void take_part(struct zone *zone, uint32_t frame, unsigned int order,
		      uint64_t mask, enum kind kind)
{
	uint64_t all = order < 6 ? (1ULL << (1U << order)) - 1 : ~0ULL;

	zone_step(zone, 1);
	if (!mask) {
		block_add(zone, frame, order, kind, false);
	} else if (mask != all) {
		uint32_t half = 1U << --order;

		all >>= half;
		take_part(zone, frame, order, mask & all, kind);
		take_part(zone, frame + half, order, mask >> half, kind);
	}
}

void buddy_take_mask(struct zone *zone, uint32_t first, uint64_t mask)
{
	while (mask) {
		uint32_t at = __builtin_ctzll(mask);
		uint32_t block = buddy_holding(zone, first + at);
		unsigned int order = zone->order[block];
		enum kind kind = zone->list[block];
		uint64_t all;

		zone_step(zone, 1);
		block_del(zone, block);
		/* Down to the 64 frames, where it is larger. */
		while (order > 6) {
			uint32_t half = 1U << --order;

			if (first & half) {
				block_add(zone, block, order, kind, false);
				block += half;
			} else {
				block_add(zone, block + half, order, kind,
					  false);
			}
		}
		all = order < 6 ? (1ULL << (1U << order)) - 1 : ~0ULL;
		take_part(zone, block, order, mask >> (block - first) & all,
			  kind);
		mask &= ~(all << (block - first));
	}
}

uint32_t cpu_alloc(struct zone *zone, unsigned int cpu, enum kind kind)
{
	struct cpu_list *list = &zone->cpus[cpu][kind];

	if (!list->count) {
		zone_lock(zone);
		for (unsigned int i = 0; i < zone->batch; i++) {
			uint32_t frame = buddy_alloc(zone, 0, kind);

			if (frame == NONE)
				break;
			/* Ascending: the first is used first. */
			memmove(list->frames + 1, list->frames,
				list->count * sizeof(*list->frames));
			list->frames[0] = frame;
			list->count++;
		}
		zone_unlock(zone);
	}
	return list->count ? list->frames[--list->count] : NONE;
}

static void give_back(struct zone *zone, struct cpu_list *list,
		      unsigned int count)
{
	zone_lock(zone);
	/* The oldest first: the newest are warm. */
	for (unsigned int i = 0; i < count; i++)
		buddy_free(zone, list->frames[i], 0);
	zone_unlock(zone);
	list->count -= count;
	memmove(list->frames, list->frames + count,
		list->count * sizeof(*list->frames));
}

void cpu_free(struct zone *zone, unsigned int cpu, uint32_t frame)
{
	enum kind kind = zone->block_kind[frame >> BLOCK_ORDER];
	struct cpu_list *list = &zone->cpus[cpu][kind];

	list->frames[list->count++] = frame;
	if (list->count >= zone->high)
		give_back(zone, list, zone->batch);
}

void cpu_drain(struct zone *zone, unsigned int cpu)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct cpu_list *list = &zone->cpus[cpu][kind];

		if (list->count)
			give_back(zone, list, list->count);
	}
}

void zone_init(struct zone *zone, uint32_t frames, uint32_t colors, bool shuffle)
{
	struct watcher none = { NULL, NULL, NULL };
	uint32_t blocks = frames >> MAX_ORDER;
	uint32_t *order = array(blocks, sizeof(*order));

	memset(zone, 0, sizeof(*zone));
	zone->watcher = none;
	zone->frames = frames;
	zone->colors = colors;
	zone->shuffle = shuffle;
	zone->order = array(frames, 1);
	memset(zone->order, -1, frames);
	zone->list = array(frames, 1);
	zone->next = array(frames, sizeof(*zone->next));
	zone->prev = array(frames, sizeof(*zone->prev));
	zone->block_kind = array((frames >> BLOCK_ORDER) + 1, 1);
	memset(zone->head, -1, sizeof(zone->head));
	memset(zone->tail, -1, sizeof(zone->tail));
	zone->batch = 63;
	zone->high = 4 * 63;
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		for (int kind = 0; kind < KINDS; kind++)
			zone->cpus[cpu][kind].frames =
				array(zone->high + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < blocks; i++)
		order[i] = i;
	for (uint32_t i = blocks; shuffle && i > 1; i--) {
		uint32_t other = sim_random(i), kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
	zone_lock(zone);
	for (uint32_t i = 0; i < blocks; i++)
		block_add(zone, order[i] << MAX_ORDER, MAX_ORDER, MOVABLE, true);
	zone_unlock(zone);
	memset(&zone->cost, 0, sizeof(zone->cost));
	free(order);
}

void zone_free_memory(struct zone *zone)
{
	free(zone->order);
	free(zone->list);
	free(zone->next);
	free(zone->prev);
	free(zone->block_kind);
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		for (int kind = 0; kind < KINDS; kind++)
			free(zone->cpus[cpu][kind].frames);
}

double zone_in_largest(const struct zone *zone)
{
	uint64_t in_largest = 0;

	for (uint32_t at = 0; at < zone->frames; at++)
		if (zone->order[at] == MAX_ORDER)
			in_largest += 1U << MAX_ORDER;
	return zone->free ? (double)in_largest / zone->free : 0;
}

double zone_huge_supply(const struct zone *zone)
{
	uint64_t whole = 0;

	for (uint32_t at = 0; at < zone->frames; at++)
		if (zone->order[at] >= BLOCK_ORDER)
			whole += 1U << zone->order[at];
	return zone->free ? (double)whole / zone->free : 0;
}

/* Free blocks do not overlap, and their frames are those that are counted. */
void zone_check(const struct zone *zone)
{
	uint32_t free = 0;

	for (uint32_t at = 0; at < zone->frames; ) {
		int order = zone->order[at];

		if (order < 0) {
			at++;
			continue;
		}
		for (uint32_t in = at + 1; in < at + (1U << order); in++)
			if (zone->order[in] >= 0)
				abort();
		free += 1U << order;
		at += 1U << order;
	}
	if (free != zone->free)
		abort();
}
