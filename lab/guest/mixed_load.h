/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Settings of all loads of `mixed`, and the steps that loads are made of. */
#ifndef HUEPAGE_MIXED_LOAD_H
#define HUEPAGE_MIXED_LOAD_H

#define _GNU_SOURCE
#include "tally.h"
#include "turns.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program whose pages are counted. */
#define SUBJECT_CPU 0
#define OTHER_CPU 1
/* It yields to other processes after so many pages. */
#define BATCH 16

struct mixed {
	struct lab_random random;
	struct tally *tally;
	size_t pages;    /* of the whole load */
	const char *cpu; /* of a neighbor: same or other */
	int node;        /* to bind to, or -1 */
};

/* Ends the load, since the kernel or its configuration does not support it. */
static inline void __attribute__((noreturn, format(printf, 2, 3)))
mixed_skip(struct mixed *mixed, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(mixed->tally->skipped, sizeof(mixed->tally->skipped), format, list);
	va_end(list);
	_exit(0);
}

/* Members of the result that only this load has, each with a comma before it. */
static inline void __attribute__((format(printf, 2, 3)))
mixed_tell(struct mixed *mixed, const char *format, ...)
{
	size_t used = strlen(mixed->tally->more);
	va_list list;

	va_start(list, format);
	vsnprintf(mixed->tally->more + used, sizeof(mixed->tally->more) - used, format, list);
	va_end(list);
}

/* Memory of pages of 4 KiB only, none of which is touched yet. */
static inline char *small_pages(size_t pages)
{
	return lab_map_small(pages * PAGE);
}

/* Begins where a huge page does; its size is the kernel's choice. */
static inline char *any_pages(size_t pages)
{
	char *memory = lab_map(pages * PAGE + HUGE_PAGE);

	return (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & -HUGE_PAGE);
}

/* Each page has other contents, so that none is zero and no two are the same. */
static inline void touch_page(char *memory, size_t page)
{
	*(volatile uint64_t *)(memory + page * PAGE) = page + 1;
}

static inline void touch(char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		touch_page(memory, i);
}

/* Lets others run: on the same CPU, and on the other one for about as long. */
static inline void give_way(void)
{
	usleep(300);
}

/* Touches pages in order, and yields at moments that a seed decides. */
static inline void touch_among_others(struct mixed *mixed, char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++) {
		touch_page(memory, i);
		if (!lab_below(&mixed->random, 2 * BATCH))
			give_way();
	}
}

/* The pages of a load of one process, and its end. */
static inline void count(struct mixed *mixed, const void *memory, size_t pages)
{
	tally_pages(mixed->tally, tally_process(mixed->tally), memory, pages);
}

/* How many pages of this process are in pages of 2 MiB. */
static inline size_t huge_pages_mapped(void)
{
	return lab_read_named("/proc/self/smaps_rollup", "AnonHugePages:") * 1024 / PAGE;
}

/*
 * While all CPUs sleep the emulator's clock jumps to the next timer, and a read that
 * takes the host long would time out. This process makes timers expire often.
 */
static inline pid_t keep_timers_near(void)
{
	pid_t child = lab_fork();

	if (child)
		return child;
	lab_run_on(OTHER_CPU);
	for (;;)
		usleep(100);
}

static inline void stop_child(pid_t child)
{
	if (kill(child, SIGKILL) || waitpid(child, NULL, 0) != child)
		lab_fail("end a child");
}

/* Waits until a child has stopped, which it does when it has its memory. */
static inline void wait_stopped(pid_t child)
{
	int status;

	if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
		lab_fail("wait for a child that stops");
}

static inline void mixed_wait_all(unsigned int processes)
{
	while (processes--)
		lab_wait(-1, "a child");
}

#endif
