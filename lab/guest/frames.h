/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Frame numbers of pages, by /proc/self/pagemap, and how often a color occurs. */
#ifndef HUEPAGE_FRAMES_H
#define HUEPAGE_FRAMES_H

#include "lab.h"

#include <fcntl.h>
#include <unistd.h>

/* The frames of touched pages; fails if one is not there. */
static inline void frames_of(const void *memory, size_t pages, uint64_t *frames)
{
	size_t bytes = pages * sizeof(*frames), done = 0;
	int map = open("/proc/self/pagemap", O_RDONLY);

	if (map < 0)
		lab_fail("open /proc/self/pagemap");
	while (done < bytes) {
		ssize_t got = pread(map, (char *)frames + done, bytes - done,
				    (uintptr_t)memory / PAGE * sizeof(*frames) + done);

		if (got <= 0)
			lab_fail("read /proc/self/pagemap");
		done += got;
	}
	close(map);
	for (size_t i = 0; i < pages; i++) {
		if (!(frames[i] >> 63))
			lab_fail("page %zu of %p is not in memory", i, memory);
		frames[i] &= (1ULL << 55) - 1;
	}
}

/* Adds to the number of frames of each color. */
static inline void frames_count(const uint64_t *frames, size_t pages, uint32_t *by_color,
				size_t colors)
{
	for (size_t i = 0; i < pages; i++)
		by_color[frames[i] % colors]++;
}

#endif
