/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Neighbors: processes that allocate and free again and again while the program whose
 * pages are counted touches them. Each function is one round.
 */
#ifndef HUEPAGE_NEIGHBORS_H
#define HUEPAGE_NEIGHBORS_H

#include "disks.h"
#include "mixed_load.h"
#include "settle.h"

/* Disks of the machine by target. */
#define STREAM_DISK 0
#define SWAP_DISK 1
#define STREAM_PIECE (128UL << 10)
#define CHURNED_FILES 64

typedef void (*neighbor)(struct mixed *mixed);

static inline void anon_churn(struct mixed *mixed)
{
	size_t pages = 1 + lab_below(&mixed->random, 48);
	char *memory = small_pages(pages);

	touch(memory, pages);
	munmap(memory, pages * PAGE);
}

/* One of some files in memory is cut and written anew. */
static inline void file_churn(struct mixed *mixed)
{
	static int files[CHURNED_FILES];
	static char page[PAGE] = { 1 };
	int *file = &files[lab_below(&mixed->random, CHURNED_FILES)];

	if (!*file)
		*file = memfd_create("churned", MFD_CLOEXEC);
	if (*file < 0 || ftruncate(*file, 0))
		lab_fail("cut a file");
	for (size_t left = 1 + lab_below(&mixed->random, 64), at = 0; left; left--, at += PAGE)
		if (pwrite(*file, page, PAGE, at) != (ssize_t)PAGE)
			lab_fail("write a file");
}

static inline void forks(struct mixed *mixed)
{
	pid_t child = lab_fork();

	(void)mixed;
	if (!child) {
		touch(small_pages(40), 40);
		_exit(0);
	}
	lab_wait(child, "a child");
}

static inline int open_disk(uint64_t target, int flags)
{
	char disk[NAME_MAX + 1], device[PATH_MAX];

	disk_name(target, disk);
	snprintf(device, sizeof(device), "/dev/%s", disk);
	int file = open(device, flags | O_CLOEXEC);

	if (file < 0)
		lab_fail("open %s", device);
	return file;
}

/* The next piece of a file larger than memory; a quarter of memory of it stays cached. */
static inline void stream(struct mixed *mixed)
{
	static char buffer[STREAM_PIECE];
	static off_t at, keep;
	static int disk = -1;

	(void)mixed;
	if (disk < 0) {
		disk = open_disk(STREAM_DISK, O_RDONLY);
		keep = lab_read_named("/proc/meminfo", "MemTotal:") * 1024 / 4;
		keep -= keep % STREAM_PIECE;
	}
	if (pread(disk, buffer, STREAM_PIECE, at) != (ssize_t)STREAM_PIECE)
		lab_fail("read the disk at %ld", (long)at);
	at += STREAM_PIECE;
	if (at > keep)
		errno = posix_fadvise(disk, at - keep - STREAM_PIECE, STREAM_PIECE,
				      POSIX_FADV_DONTNEED);
	else
		errno = 0;
	if (errno)
		lab_fail("drop what was read");
}

/* Drops the pages that were read from the page cache. */
static inline void drop_stream(void)
{
	int disk = open_disk(STREAM_DISK, O_RDONLY);

	errno = posix_fadvise(disk, 0, 0, POSIX_FADV_DONTNEED);
	if (errno)
		lab_fail("drop what was read");
	close(disk);
}

/* All of memory is compacted. */
static inline void compact(struct mixed *mixed)
{
	(void)mixed;
	lab_write("/proc/sys/vm/compact_memory", "1");
}

/* Makes holes, which the kernel fills by itself as soon as it is told to look. */
static inline void compact_by_itself(struct mixed *mixed)
{
	for (int i = 0; i < 16; i++)
		anon_churn(mixed);
	lab_write(PROACTIVENESS, "100");
	usleep(1000);
}

static inline pid_t neighbor_start(struct mixed *mixed, neighbor round)
{
	pid_t child;

	lab_next(&mixed->random);
	child = lab_fork();
	if (child)
		return child;
	bool same = !strcmp(mixed->cpu, "same");

	lab_run_on(same ? SUBJECT_CPU : OTHER_CPU);
	for (;;) {
		round(mixed);
		__atomic_fetch_add(&mixed->tally->rounds, 1, __ATOMIC_RELAXED);
		/* On the same CPU each has a turn; on another one both run at once. */
		if (same)
			sched_yield();
	}
}

/* Touches pages while a neighbor runs; the neighbor's rounds meanwhile are counted. */
static inline void touch_beside(struct mixed *mixed, char *memory, size_t pages, neighbor round)
{
	uint64_t *rounds = &mixed->tally->rounds;
	pid_t child = neighbor_start(mixed, round);

	while (!__atomic_load_n(rounds, __ATOMIC_RELAXED))
		give_way();
	uint64_t before = __atomic_load_n(rounds, __ATOMIC_RELAXED);

	for (size_t i = 0; i < pages; i++) {
		touch_page(memory, i);
		if (i % BATCH == BATCH - 1)
			give_way();
	}
	stop_child(child);
	*rounds -= before;
}

#endif
