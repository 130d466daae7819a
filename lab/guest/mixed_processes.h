/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loads of several processes that fill the cache together. */
#ifndef HUEPAGE_MIXED_PROCESSES_H
#define HUEPAGE_MIXED_PROCESSES_H

#include "mixed_huge.h"

/* Of a process that asks for huge pages: how many it has. */
static inline void count_huge(struct mixed *mixed)
{
	__atomic_fetch_add(&mixed->tally->huge_pages, huge_pages_mapped(), __ATOMIC_RELAXED);
}

/* Counts the pages once all processes have theirs, and waits until all are counted. */
static inline void count_together(struct mixed *mixed, const char *memory, size_t pages)
{
	tally_meet(mixed->tally);
	count(mixed, memory, pages);
	tally_meet(mixed->tally);
}

/* Microseconds after which the next process of huge pages begins. */
#define LATER 10000

/*
 * Processes at the same time, with sizes as in `parts`; the last `huge` ones ask for huge
 * pages, and begin one after the other: a process goes on to take pages after the next
 * one has begun.
 */
static inline void at_once(struct mixed *mixed, const unsigned int *parts, unsigned int processes,
			   unsigned int huge)
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
		bool small = i < processes - huge;
		char *memory = small ? small_pages(pages) : huge_pages(&pages);

		if (!small)
			usleep(i * LATER);
		touch_among_others(mixed, memory, pages);
		if (!small)
			count_huge(mixed);
		count_together(mixed, memory, pages);
		_exit(0);
	}
	mixed_wait_all(processes);
}

static inline void load_processes_2(struct mixed *mixed)
{
	at_once(mixed, (const unsigned int[]){ 1, 1 }, 2, 0);
}

static inline void load_processes_4(struct mixed *mixed)
{
	at_once(mixed, (const unsigned int[]){ 1, 1, 1, 1 }, 4, 0);
}

static inline void load_processes_8(struct mixed *mixed)
{
	at_once(mixed, (const unsigned int[]){ 1, 2, 3, 5, 8, 13, 21, 34 }, 8, 0);
}

static inline void load_huge_processes(struct mixed *mixed)
{
	thp_set(mixed, THP "enabled", "madvise");
	at_once(mixed, (const unsigned int[]){ 1, 1, 1, 1 }, 4, 4);
}

/* Two programs of huge pages, two of small ones. */
static inline void load_huge_beside_small(struct mixed *mixed)
{
	thp_set(mixed, THP "enabled", "madvise");
	at_once(mixed, (const unsigned int[]){ 1, 1, 1, 1 }, 4, 2);
}

/*
 * Another program takes its pages while one rests, which it wakes when it has them. The
 * pages of both are counted.
 */
static inline void __attribute__((noreturn))
take_beside(struct mixed *mixed, char *memory, size_t pages, pid_t resting)
{
	touch(memory, pages);
	kill(resting, SIGCONT);
	count_together(mixed, memory, pages);
	_exit(0);
}

/*
 * Starts a program that has had more pages than the cache, in random order, has given back
 * all but half of those of the load, and rests until it is told to go on.
 */
static inline pid_t program_that_shrank(struct mixed *mixed)
{
	size_t most = mixed->pages / 4 * 5, kept = mixed->pages / 2;
	pid_t child = lab_fork();

	if (child) {
		wait_stopped(child);
		return child;
	}
	char *memory = small_pages(most);
	uint32_t *order = shuffled(&mixed->random, most);

	for (size_t i = 0; i < most; i++)
		touch_page(memory, order[i]);
	if (madvise(memory + kept * PAGE, (most - kept) * PAGE, MADV_DONTNEED))
		lab_fail("give back pages");
	raise(SIGSTOP);
	count_together(mixed, memory, kept);
	_exit(0);
}

/* What it has kept and the pages of another program fit together. */
static inline void load_beside_shrunk(struct mixed *mixed)
{
	size_t pages = mixed->pages - mixed->pages / 2;

	tally_expect(mixed->tally, 2);
	pid_t one = program_that_shrank(mixed);

	if (!lab_fork())
		take_beside(mixed, small_pages(pages), pages, one);
	mixed_wait_all(2);
}

/* Two programs at work fit together, and not with what it has kept: it is not counted. */
static inline void load_at_rest(struct mixed *mixed)
{
	pid_t one = program_that_shrank(mixed);

	at_once(mixed, (const unsigned int[]){ 1, 1 }, 2, 0);
	stop_child(one);
}

/* Starts a program that has its pages and is stopped until all are to be counted. */
static inline pid_t program_at_rest(struct mixed *mixed, size_t pages, bool small)
{
	pid_t child = lab_fork();

	if (child) {
		wait_stopped(child);
		return child;
	}
	char *memory = small ? small_pages(pages) : huge_pages(&pages);

	touch(memory, pages);
	raise(SIGSTOP);
	if (!small)
		count_huge(mixed);
	count_together(mixed, memory, pages);
	_exit(0);
}

/*
 * Two programs with pages of 64 KiB: one has a tenth of the cache when the other takes
 * half. The pages that the first one takes then lie behind the other's colors.
 */
static inline void load_mthp_behind(struct mixed *mixed)
{
	size_t all = mixed->pages / MTHP_PAGES, first = all / 10 * MTHP_PAGES;
	size_t half = all / 2 * MTHP_PAGES, rest = all * MTHP_PAGES - first - half;

	thp_set(mixed, MTHP "enabled", "always");
	uint64_t before = mthp_pages();

	tally_expect(mixed->tally, 2);
	pid_t one = lab_fork();

	if (!one) {
		char *memory = any_pages(first + rest);

		touch(memory, first);
		raise(SIGSTOP);
		touch(memory + first * PAGE, rest);
		count_together(mixed, memory, first + rest);
		_exit(0);
	}
	wait_stopped(one);
	if (!lab_fork())
		take_beside(mixed, any_pages(half), half, one);
	mixed_wait_all(2);
	mixed->tally->huge_pages = mthp_pages() - before;
}

/*
 * One after the other of four programs ends, and another one of its size begins; one in
 * `huge` of them has huge pages, if that is not 0.
 */
static inline void turn_over(struct mixed *mixed, unsigned int huge)
{
	enum { PROGRAMS = 4, TIMES = 32 };
	static const unsigned int parts[PROGRAMS] = { 1, 2, 3, 2 };
	pid_t programs[PROGRAMS] = { 0 };

	if (huge)
		thp_set(mixed, THP "enabled", "madvise");
	tally_expect(mixed->tally, PROGRAMS);
	for (unsigned int i = 0; i < PROGRAMS + TIMES; i++) {
		unsigned int one = i < PROGRAMS ? i : lab_below(&mixed->random, PROGRAMS);

		if (programs[one])
			stop_child(programs[one]);
		programs[one] = program_at_rest(mixed, mixed->pages / 8 * parts[one],
						!huge || lab_below(&mixed->random, huge));
	}
	for (unsigned int i = 0; i < PROGRAMS; i++)
		kill(programs[i], SIGCONT);
	mixed_wait_all(PROGRAMS);
}

static inline void load_turnover(struct mixed *mixed)
{
	turn_over(mixed, 0);
}

/* Where huge pages end up depends on whether small ones have left whole stretches. */
static inline void load_turnover_huge(struct mixed *mixed)
{
	turn_over(mixed, 2);
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
