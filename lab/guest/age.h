/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Aging: a day of other programs' work, drawn by a seed. Afterwards free memory is in
 * small pieces in another order, and some pages stay allocated.
 */
#ifndef HUEPAGE_AGE_H
#define HUEPAGE_AGE_H

#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* One day of work; percentages are of the memory that is free in the morning. */
struct age_dose {
	unsigned int pages;  /* percent faulted and freed in random order */
	unsigned int rounds; /* how often */
	unsigned int keep;   /* one in so many of these pages stays until the next day */
	unsigned int forked; /* percent that children copy on write */
	unsigned int files;  /* percent taken by files, then dropped */
};

static inline struct age_dose age_dose(void)
{
	return (struct age_dose){
		.pages = lab_number("pages"),
		.rounds = lab_number("rounds"),
		.keep = lab_number("keep"),
		.forked = lab_number("forked"),
		.files = lab_number("files"),
	};
}

struct age {
	struct lab_random random;
	const char *disk; /* NULL: files are in memory only */
	/* Yesterday's pages, of which some are still mapped. */
	char *kept;
	size_t kept_bytes;
};

/* Children that are alive at once; each copies half of the forked pages. */
#define AGE_CHILDREN 4
/* Pages of a file: what read-ahead reads at once by default. */
#define AGE_PIECE (128UL << 10)

/* Includes pages on CPUs' lists, which one kernel lets be more than another. */
static inline uint64_t age_free_pages(void)
{
	uint64_t pages = lab_read_named("/proc/meminfo", "MemFree:") * 1024 / PAGE;
	FILE *file = fopen("/proc/zoneinfo", "r");
	unsigned long count;
	char line[128];

	if (!file)
		lab_fail("open /proc/zoneinfo");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " count: %lu", &count) == 1)
			pages += count;
	fclose(file);
	return pages;
}

static inline uint32_t *age_order(struct lab_random *random, uint32_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	lab_shuffle(random, order, count);
	return order;
}

/*
 * Files come into the page cache piece by piece, in random order, and half of them are
 * dropped again. With a disk they are read; without one they are written to a file in
 * memory, whose pages are in the page cache as well: the time at which a disk answers
 * varies, so that no two runs with a disk are the same.
 */
static inline int age_files(struct age *age, size_t bytes)
{
	size_t count = bytes / AGE_PIECE;
	uint32_t *order = lab_map((count + 1) * sizeof(*order));
	int file = age->disk ? open(age->disk, O_RDONLY) : memfd_create("files", 0);
	static char buffer[AGE_PIECE];

	if (file < 0)
		lab_fail("open %s", age->disk ? age->disk : "a file in memory");
	age_order(&age->random, order, count);
	for (size_t i = 0; i < count; i++) {
		off_t at = order[i] * AGE_PIECE;
		ssize_t done = age->disk ? pread(file, buffer, AGE_PIECE, at)
					 : pwrite(file, buffer, AGE_PIECE, at);

		if (done != (ssize_t)AGE_PIECE)
			lab_fail("bring a file into memory at %lu", (unsigned long)at);
	}
	lab_shuffle(&age->random, order, count);
	for (size_t i = 0; i < count / 2; i++) {
		off_t at = order[i] * AGE_PIECE;
		int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

		if (age->disk)
			errno = posix_fadvise(file, at, AGE_PIECE, POSIX_FADV_DONTNEED);
		else
			errno = fallocate(file, hole, at, AGE_PIECE) ? errno : 0;
		if (errno)
			lab_fail("drop a part of a file at %lu", (unsigned long)at);
	}
	munmap(order, (count + 1) * sizeof(*order));
	return file;
}

static inline void age_forks(struct age *age, size_t bytes)
{
	size_t count = bytes / PAGE;
	char *shared = lab_map_small(count * PAGE);
	uint32_t *order = lab_map(count * sizeof(*order));
	uint32_t turn[AGE_CHILDREN];
	pid_t children[AGE_CHILDREN];
	int ready[2], leave[AGE_CHILDREN][2];
	char byte = 0;

	for (size_t i = 0; i < count; i++)
		shared[i * PAGE] = 1;
	if (pipe(ready))
		lab_fail("make a pipe");
	for (int n = 0; n < AGE_CHILDREN; n++) {
		age_order(&age->random, order, count);
		if (pipe(leave[n]))
			lab_fail("make a pipe");
		children[n] = lab_fork();
		if (!children[n]) {
			for (size_t i = 0; i < count / 2; i++)
				shared[order[i] * PAGE] = 2;
			if (write(ready[1], &byte, 1) != 1 || read(leave[n][0], &byte, 1) != 1)
				_exit(1);
			_exit(0);
		}
		if (read(ready[0], &byte, 1) != 1)
			lab_fail("wait for a child");
	}
	age_order(&age->random, turn, AGE_CHILDREN);
	for (int i = 0; i < AGE_CHILDREN; i++) {
		int n = turn[i];

		if (write(leave[n][1], &byte, 1) != 1)
			lab_fail("end a child");
		lab_wait(children[n], "a child");
		close(leave[n][0]);
		close(leave[n][1]);
	}
	close(ready[0]);
	close(ready[1]);
	munmap(order, count * sizeof(*order));
	munmap(shared, count * PAGE);
}

/* Faults and frees pages; those that are kept stay mapped. */
static inline char *age_pages(struct age *age, size_t count, const struct age_dose *dose)
{
	char *memory = lab_map_small(count * PAGE);
	uint32_t *order = lab_map(count * sizeof(*order));

	for (unsigned int round = 0; round < dose->rounds; round++) {
		age_order(&age->random, order, count);
		for (size_t i = 0; i < count; i++)
			memory[order[i] * PAGE] = 1;
		if (!round)
			age_forks(age, count * PAGE * dose->forked / dose->pages);
		lab_shuffle(&age->random, order, count);
		for (size_t i = count / dose->keep; i < count; i++)
			if (madvise(memory + order[i] * PAGE, PAGE, MADV_DONTNEED))
				lab_fail("free a page");
	}
	munmap(order, count * sizeof(*order));
	return memory;
}

/* One day: files are used, programs come and go, caches are dropped at night. */
static inline void age_day(struct age *age, const struct age_dose *dose)
{
	size_t pages = age_free_pages();
	size_t count = pages * dose->pages / 100;
	int files = age_files(age, pages * PAGE / 100 * dose->files);
	char *memory = age_pages(age, count, dose);

	close(files);
	lab_write("/proc/sys/vm/drop_caches", "1");
	if (age->kept)
		munmap(age->kept, age->kept_bytes);
	age->kept = memory;
	age->kept_bytes = count * PAGE;
}

/* Some days. Pages that stay do not belong to the processes that come later. */
static inline void age_days(struct age *age, const struct age_dose *dose, unsigned int days)
{
	while (days--) {
		age_day(age, dose);
		if (madvise(age->kept, age->kept_bytes, MADV_DONTFORK))
			lab_fail("keep memory from being forked");
	}
}

#endif
