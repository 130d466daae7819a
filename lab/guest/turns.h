/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Workers that take turns: one, or two threads or processes on a CPU each.
 * Their work is interleaved in the same way in every run.
 */
#ifndef HUEPAGE_TURNS_H
#define HUEPAGE_TURNS_H

#define _GNU_SOURCE
#include "lab.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Longer than any turn lasts in the guest's time. */
#define TURN_SECONDS 3600

struct turns {
	uint32_t next; /* whose turn it is */
	uint32_t workers;
};

/* Shared with processes that are forked later. */
static inline struct turns *turns_new(uint32_t workers)
{
	struct turns *turns = lab_map_shared(PAGE);

	turns->workers = workers;
	return turns;
}

static inline void turn_wait(struct turns *turns, uint32_t me)
{
	const struct timespec limit = { .tv_sec = TURN_SECONDS };
	uint32_t next;

	if (turns->workers < 2)
		return;
	while ((next = __atomic_load_n(&turns->next, __ATOMIC_ACQUIRE)) != me)
		if (syscall(SYS_futex, &turns->next, FUTEX_WAIT, next, &limit) &&
		    errno != EAGAIN && errno != EINTR)
			lab_fail("worker %u waits for its turn", me);
}

static inline void turn_pass(struct turns *turns, uint32_t me)
{
	if (turns->workers < 2)
		return;
	__atomic_store_n(&turns->next, (me + 1) % turns->workers, __ATOMIC_RELEASE);
	if (syscall(SYS_futex, &turns->next, FUTEX_WAKE, 1) < 0)
		lab_fail("worker %u ends its turn", me);
}

#endif
