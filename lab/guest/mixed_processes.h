/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loads of several processes that fill the cache together. */
#ifndef HUEPAGE_MIXED_PROCESSES_H
#define HUEPAGE_MIXED_PROCESSES_H

#include "mixed_load.h"

/* When all have their pages: they are counted, and then nobody needs them any more. */
static inline void count_together(struct mixed *mixed, const char *memory, size_t pages)
{
	tally_meet(mixed->tally);
	count(mixed, memory, pages);
	tally_meet(mixed->tally);
}

/* Processes at the same time, of which `parts` tells how large each is. */
static inline void at_once(struct mixed *mixed, const unsigned int *parts, unsigned int processes)
{
	size_t all = 0;

	for (unsigned int i = 0; i < processes; i++)
		all += parts[i];
	tally_expect(mixed->tally, processes);
	for (unsigned int i = 0; i < processes; i++) {
		size_t pages = mixed->pages / all * parts[i];

		lab_next(&mixed->random);
		if (lab_fork())
			continue;
		lab_run_on(i % 2);
		char *memory = small_pages(pages);

		touch_among_others(mixed, memory, pages);
		count_together(mixed, memory, pages);
		_exit(0);
	}
	mixed_wait_all(processes);
}

static inline void load_processes_2(struct mixed *mixed)
{
	at_once(mixed, (const unsigned int[]){ 1, 1 }, 2);
}

static inline void load_processes_4(struct mixed *mixed)
{
	at_once(mixed, (const unsigned int[]){ 1, 1, 1, 1 }, 4);
}

static inline void load_processes_8(struct mixed *mixed)
{
	at_once(mixed, (const unsigned int[]){ 1, 2, 3, 5, 8, 13, 21, 34 }, 8);
}

/* A child writes to all of the pages that its parent has. */
static inline void load_copy_on_write(struct mixed *mixed)
{
	size_t pages = mixed->pages / 2;
	char *memory = small_pages(pages);

	tally_expect(mixed->tally, 2);
	touch(memory, pages);
	pid_t child = lab_fork();

	if (!child)
		touch(memory, pages);
	count_together(mixed, memory, pages);
	if (!child)
		_exit(0);
	lab_wait(child, "a child");
}

/* A server has half of the pages; each of its four children writes to its own quarter. */
static inline void load_server(struct mixed *mixed)
{
	enum { CHILDREN = 4 };
	size_t part = mixed->pages / 2 / CHILDREN, pages = part * CHILDREN;
	char *memory = small_pages(pages);

	tally_expect(mixed->tally, CHILDREN + 1);
	touch(memory, pages);
	for (unsigned int i = 0; i < CHILDREN; i++) {
		lab_next(&mixed->random);
		if (lab_fork())
			continue;
		lab_run_on(i % 2);
		touch_among_others(mixed, memory + i * part * PAGE, part);
		count_together(mixed, memory, pages);
		_exit(0);
	}
	count_together(mixed, memory, pages);
	mixed_wait_all(CHILDREN);
}

#endif
