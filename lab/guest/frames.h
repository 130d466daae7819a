/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which physical frames are behind a program's pages, and pages by choice. */
#ifndef HUEPAGE_FRAMES_H
#define HUEPAGE_FRAMES_H

#define _GNU_SOURCE
#include "lab.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define FRAME_PRESENT (UINT64_C(1) << 63)
#define FRAME_AWAY (UINT64_C(1) << 62) /* swapped, or on its way to another frame */
#define FRAME_NUMBER ((UINT64_C(1) << 55) - 1)

/*
 * The pagemap of this process: a file that a parent has opened shows the parent's.
 */
static inline int frames_map(void)
{
	static int pagemap = -1;
	static pid_t owner;

	if (owner != getpid()) {
		if (pagemap >= 0)
			close(pagemap);
		pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
		owner = getpid();
	}
	if (pagemap < 0)
		lab_fail("open /proc/self/pagemap");
	return pagemap;
}

/* The frame behind a page that was touched; the program fails if it is not there. */
static inline uint64_t frame_of(const volatile void *page)
{
	for (int tries = 0; tries < 100; tries++) {
		uint64_t entry = 0;

		if (pread(frames_map(), &entry, 8, (off_t)((uintptr_t)page / PAGE * 8)) != 8)
			lab_fail("read /proc/self/pagemap");
		if (entry & FRAME_PRESENT)
			return entry & FRAME_NUMBER;
		if (!(entry & FRAME_AWAY))
			break;
		/* Reading a page that is being moved waits for it. */
		(void)*(const volatile char *)page;
	}
	lab_fail("page %p is not in memory", (void *)(uintptr_t)page);
}

/* The frames of touched pages; fails if one is not there. */
static inline void frames_of(const void *memory, size_t pages, uint64_t *frames)
{
	size_t bytes = pages * sizeof(*frames), done = 0;

	while (done < bytes) {
		ssize_t got = pread(frames_map(), (char *)frames + done, bytes - done,
				    (uintptr_t)memory / PAGE * sizeof(*frames) + done);

		if (got <= 0)
			lab_fail("read /proc/self/pagemap");
		done += got;
	}
	for (size_t i = 0; i < pages; i++)
		frames[i] = frames[i] & FRAME_PRESENT ? frames[i] & FRAME_NUMBER :
							frame_of((const char *)memory + i * PAGE);
}

/* Adds to the number of frames of each color. */
static inline void frames_count(const uint64_t *frames, size_t pages, uint32_t *by_color,
				size_t colors)
{
	for (size_t i = 0; i < pages; i++)
		by_color[frames[i] % colors]++;
}

/*
 * Memory from huge pages, all written to: frames are contiguous within each
 * 2 MiB, which is checked, and so every 2 MiB have every color once.
 */
static inline char *contiguous_frames(size_t bytes)
{
	size_t pages = (bytes + HUGE_PAGE - 1) / HUGE_PAGE;
	size_t in_all = pages * HUGE_PAGE / PAGE;
	char count[24];

	snprintf(count, sizeof(count), "%zu", lab_read_number("/proc/sys/vm/nr_hugepages") + pages);
	lab_write("/proc/sys/vm/nr_hugepages", count);
	char *memory = mmap(NULL, pages * HUGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		lab_fail("map %zu huge pages", pages);
	uint64_t first = frame_of(memory);

	for (size_t i = 0; i < in_all; i++) {
		if (i % (HUGE_PAGE / PAGE) == 0)
			first = frame_of(memory + i * PAGE) - i;
		if (frame_of(memory + i * PAGE) != first + i)
			lab_fail("frames of a huge page are not contiguous");
	}
	return memory;
}

#endif
