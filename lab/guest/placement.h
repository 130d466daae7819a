/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory whose frames the kernel or the program chooses; and aging. */
#ifndef HUEPAGE_PLACEMENT_H
#define HUEPAGE_PLACEMENT_H

#include "frames.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Memory that is handed out piece by piece and never taken back. */
struct pool {
	char *memory;
	uint32_t *order; /* of pages, for a random pool */
	size_t pages, used;
};

static inline void write_pages(char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(memory + i * PAGE) = 0;
}

/* The numbers below count, shuffled. */
static inline uint32_t *shuffled(struct lab_random *random, size_t count)
{
	uint32_t *order = malloc(count * sizeof(*order));

	if (!order)
		lab_fail("memory for %zu numbers", count);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	lab_shuffle(random, order, count);
	return order;
}

static inline struct pool contiguous_pool(size_t pages)
{
	return (struct pool){ .memory = contiguous_frames(pages * PAGE), .pages = pages };
}

static inline struct pool random_pool(struct lab_random *random, size_t pages)
{
	struct pool pool = { .memory = lab_map(pages * PAGE), .pages = pages };

	/* Each page that is moved becomes a mapping of its own and leaves a hole. */
	lab_write("/proc/sys/vm/max_map_count", "2000000");
	write_pages(pool.memory, pages);
	pool.order = shuffled(random, pages);
	return pool;
}

/*
 * Pages from a pool: contiguous ones that begin with a huge page, or random ones
 * moved to where they follow each other.
 */
static inline char *pages_from(struct pool *pool, size_t pages)
{
	if (!pool->order) {
		if (pages > pool->pages)
			lab_fail("%zu contiguous pages of %zu", pages, pool->pages);
		return pool->memory;
	}
	char *memory = lab_map(pages * PAGE);

	if (pool->pages - pool->used < pages)
		lab_fail("%zu random pages, %zu are left", pages, pool->pages - pool->used);
	for (size_t i = 0; i < pages; i++) {
		char *page = pool->memory + pool->order[pool->used++] * PAGE;

		if (mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, memory + i * PAGE) ==
		    MAP_FAILED)
			lab_fail("move page %zu", i);
	}
	return memory;
}

/* As a program gets it: written to in order, frames are the kernel's choice. */
static inline char *pages_from_kernel(size_t pages)
{
	char *memory = lab_map(pages * PAGE);

	write_pages(memory, pages);
	return memory;
}

/*
 * What days of other work do to the free lists, in a short form: pages are faulted in at
 * random, and then all but one in sixteen are freed at random.
 */
static inline void age(struct lab_random *random, size_t pages, unsigned int rounds)
{
	for (unsigned int round = 0; round < rounds; round++) {
		char *memory = lab_map(pages * PAGE);
		uint32_t *order = shuffled(random, pages);

		lab_note("aging, round %u of %u", round + 1, rounds);
		for (size_t i = 0; i < pages; i++)
			write_pages(memory + order[i] * PAGE, 1);
		lab_shuffle(random, order, pages);
		for (size_t i = pages / 16; i < pages; i++)
			if (madvise(memory + order[i] * PAGE, PAGE, MADV_DONTNEED))
				lab_fail("free a page");
		/* Pages that stay do not belong to the processes that come later. */
		if (madvise(memory, pages * PAGE, MADV_DONTFORK))
			lab_fail("keep memory from being forked");
		free(order);
	}
	/*
	 * Nor does memory that malloc() keeps: in a child it would be pages with colors.
	 */
	malloc_trim(0);
}

#endif
