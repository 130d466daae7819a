/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Loads whose pages, or those beside them, are reclaimed: swap, a group at its limit, and
 * pages that a program offers.
 */
#ifndef HUEPAGE_MIXED_RECLAIM_H
#define HUEPAGE_MIXED_RECLAIM_H

#include "files.h"
#include "mixed_processes.h"
#include "neighbors.h"
#include "offered.h"
#include "placement.h"
#include "swap.h"

#include <linux/limits.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define GROUPS "/groups"
#define GROUP GROUPS "/mixed"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

/* Puts this process into a group of its own. */
static inline void group_enter(struct mixed *mixed)
{
	mkdir(GROUPS, 0755);
	if (mount("groups", GROUPS, "cgroup2", 0, NULL))
		mixed_skip(mixed, "mount cgroup2: %s", strerror(errno));
	int error = write_text(GROUPS "/cgroup.subtree_control", "+memory");

	if (error)
		mixed_skip(mixed, "no memory controller: %s", strerror(error));
	if (mkdir(GROUP, 0755))
		lab_fail("make " GROUP);
	lab_write(GROUP "/cgroup.procs", "0");
}

static inline void group_leave(void)
{
	lab_write(GROUPS "/cgroup.procs", "0");
	if (rmdir(GROUP))
		lab_fail("remove " GROUP);
	lab_write(GROUPS "/cgroup.subtree_control", "-memory");
	if (umount(GROUPS) || rmdir(GROUPS))
		lab_fail("unmount " GROUPS);
}

/*
 * The group's limit is slightly above what the program needs; a stream of file reads runs
 * in the group, too.
 */
static inline void load_memcg(struct mixed *mixed)
{
	char limit[32];

	group_enter(mixed);
	snprintf(limit, sizeof(limit), "%lu", mixed->pages * PAGE * 9 / 8 + 4 * MIB);
	lab_write(GROUP "/memory.max", limit);
	char *memory = small_pages(mixed->pages);

	touch_beside(mixed, memory, mixed->pages, stream);
	count(mixed, memory, mixed->pages);
	uint64_t at_limit = lab_read_named(GROUP "/memory.events", "max");

	errno = 0;
	if (!at_limit)
		lab_fail("the group never was at its limit");
	drop_stream();
	group_leave();
}

/* All pages go to the disk, and come back in random order. */
static inline void load_swap(struct mixed *mixed)
{
	size_t bytes = mixed->pages * PAGE;
	char device[PATH_MAX], size[32];
	pid_t timers = keep_timers_near();

	swap_on_disk(SWAP_DISK, device);
	group_enter(mixed);
	char *memory = small_pages(mixed->pages);
	uint32_t *order = shuffled(&mixed->random, mixed->pages);

	touch(memory, mixed->pages);
	uint64_t before = lab_read_named("/proc/vmstat", "pswpout");

	if (madvise(memory, bytes, MADV_PAGEOUT))
		mixed_skip(mixed, "MADV_PAGEOUT: %s", strerror(errno));
	/* Pages written to swap keep their frames until they are reclaimed. */
	usleep(200000);
	snprintf(size, sizeof(size), "%lu", bytes);
	write_text(GROUP "/memory.reclaim", size);
	uint64_t kept = lab_read_named("/proc/meminfo", "SwapCached:") * 1024 / PAGE;
	uint64_t out = lab_read_named("/proc/vmstat", "pswpout") - before;

	errno = 0;
	if (out < mixed->pages * 9 / 10 || kept > mixed->pages / 10)
		lab_fail("%lu of %zu pages went to the disk, %lu kept their frames",
			 (unsigned long)out, mixed->pages, (unsigned long)kept);
	for (size_t i = 0; i < mixed->pages; i++) {
		size_t page = order[i];

		if (*(volatile uint64_t *)(memory + page * PAGE) != page + 1)
			lab_fail("page %zu came back from the disk with other contents", page);
		touch_page(memory, page);
	}
	count(mixed, memory, mixed->pages);
	if (swapoff(device))
		lab_fail("swap off");
	group_leave();
	stop_child(timers);
}

/*
 * Of the pages of a program a quarter is of 2 MiB, offered and reclaimed; another one of
 * 2 MiB, offered and unmapped; another one of small pages, offered and reclaimed. Another
 * program then takes as many as the first one gave up.
 */
static inline void load_lazy_free(struct mixed *mixed)
{
	size_t part = mixed->pages / 4 / HUGE * HUGE, huge = 2 * part;
	size_t kept = mixed->pages - 3 * part;

	thp_set(mixed, THP "enabled", "madvise");
	tally_expect(mixed->tally, 2);
	pid_t one = lab_fork();

	if (!one) {
		char *large = huge_pages(&huge), *small = small_pages(kept + part);

		touch(small, kept + part);
		touch(large, huge);
		count_huge(mixed);
		offer(large, huge);
		offer(small + kept * PAGE, part);
		reclaim_offered(large, part);
		reclaim_offered(small + kept * PAGE, part);
		if (munmap(large, huge * PAGE))
			lab_fail("unmap %zu pages", huge);
		raise(SIGSTOP);
		count_together(mixed, small, kept);
		_exit(0);
	}
	wait_stopped(one);
	if (!lab_fork())
		take_beside(mixed, small_pages(3 * part), 3 * part, one);
	mixed_wait_all(2);
}

#endif
