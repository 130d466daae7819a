/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loads of one process with pages of 4 KiB, alone and beside a neighbor. */
#ifndef HUEPAGE_MIXED_MEMORY_H
#define HUEPAGE_MIXED_MEMORY_H

#include "neighbors.h"
#include "placement.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>

static inline void load_alone(struct mixed *mixed)
{
	char *memory = small_pages(mixed->pages);

	touch(memory, mixed->pages);
	count(mixed, memory, mixed->pages);
}

/* The program alone, bound to a node. */
static inline void load_on_node(struct mixed *mixed)
{
	unsigned long nodes = 1UL << mixed->node;

	if (syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 8 * sizeof(nodes)))
		mixed_skip(mixed, "bind to node %d: %s", mixed->node, strerror(errno));
	load_alone(mixed);
}

static inline void load_alone_random(struct mixed *mixed)
{
	char *memory = small_pages(mixed->pages);
	uint32_t *order = shuffled(&mixed->random, mixed->pages);

	for (size_t i = 0; i < mixed->pages; i++)
		touch_page(memory, order[i]);
	count(mixed, memory, mixed->pages);
}

static inline void beside(struct mixed *mixed, neighbor round)
{
	char *memory = small_pages(mixed->pages);

	touch_beside(mixed, memory, mixed->pages, round);
	count(mixed, memory, mixed->pages);
}

static inline void load_anon_churn(struct mixed *mixed)
{
	beside(mixed, anon_churn);
}

static inline void load_file_churn(struct mixed *mixed)
{
	beside(mixed, file_churn);
}

static inline void load_forks(struct mixed *mixed)
{
	beside(mixed, forks);
}

static inline void load_stream(struct mixed *mixed)
{
	beside(mixed, stream);
	drop_stream();
}

static inline void load_compaction(struct mixed *mixed)
{
	beside(mixed, compact);
}

static inline void load_kcompactd(struct mixed *mixed)
{
	uint64_t before = lab_read_number(PROACTIVENESS);
	char usual[32];

	snprintf(usual, sizeof(usual), "%" PRIu64, before);
	beside(mixed, compact_by_itself);
	lab_write(PROACTIVENESS, usual);
}

/* Half of the pages, chosen at random, are given back and touched again, six times. */
static inline void load_refault(struct mixed *mixed)
{
	char *memory = small_pages(mixed->pages);

	touch(memory, mixed->pages);
	for (int round = 0; round < 6; round++) {
		for (size_t i = 0; i < mixed->pages; i++)
			if (lab_below(&mixed->random, 2) &&
			    madvise(memory + i * PAGE, PAGE, MADV_DONTNEED))
				lab_fail("free a page");
		touch(memory, mixed->pages);
	}
	count(mixed, memory, mixed->pages);
}

/*
 * The program grows to twice the cache, gives back all but an eighth of a cache, and
 * then grows to the size of any other load.
 */
static inline void load_shrunk(struct mixed *mixed)
{
	size_t grown = 2 * mixed->tally->colors, kept = mixed->tally->colors / 8;
	char *memory = small_pages(grown);

	touch(memory, grown);
	if (munmap(memory + kept * PAGE, (grown - kept) * PAGE))
		lab_fail("give back %zu pages", grown - kept);
	char *more = small_pages(mixed->pages - kept);

	touch(more, mixed->pages - kept);
	uint32_t process = tally_process(mixed->tally);

	tally_pages(mixed->tally, process, memory, kept);
	tally_pages(mixed->tally, process, more, mixed->pages - kept);
}

/* Four threads, each with a quarter of the pages. */
struct mixed_thread {
	struct mixed mixed;
	char *memory;
	size_t pages;
	unsigned int cpu;
};

static inline void *mixed_thread(void *argument)
{
	struct mixed_thread *thread = argument;

	lab_run_on(thread->cpu);
	touch_among_others(&thread->mixed, thread->memory, thread->pages);
	return NULL;
}

/* Each has `part` pages of the memory. */
static inline void in_threads(struct mixed *mixed, char *memory, size_t part)
{
	struct mixed_thread part_of[4];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) {
		part_of[i] = (struct mixed_thread){ *mixed, memory + i * part * PAGE, part, i % 2 };
		part_of[i].mixed.random.state = lab_next(&mixed->random);
		errno = pthread_create(&threads[i], NULL, mixed_thread, &part_of[i]);
		if (errno)
			lab_fail("begin a thread");
	}
	for (int i = 0; i < 4; i++)
		if ((errno = pthread_join(threads[i], NULL)))
			lab_fail("end a thread");
	count(mixed, memory, part * 4);
}

static inline void load_threads(struct mixed *mixed)
{
	size_t part = mixed->pages / 4;

	in_threads(mixed, small_pages(part * 4), part);
}

#endif
