/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A day of a machine that runs only STREAM: runs of sizes from a quarter of the cache to
 * four times the cache, one after the other. Each touches its three arrays in order, a
 * page of each in turn, and ends. The passes are left out, since they allocate no
 * memory.
 */
#ifndef HUEPAGE_DAYS_STREAM_H
#define HUEPAGE_DAYS_STREAM_H

#include "age.h"
#include "mixed_load.h"

#define STREAM_RUNS 8
#define STREAM_ARRAYS 3

static inline void stream_run(size_t pages)
{
	pid_t child = lab_fork();

	if (!child) {
		char *arrays = small_pages(STREAM_ARRAYS * pages);

		lab_run_on(SUBJECT_CPU);
		for (size_t page = 0; page < pages; page++)
			for (size_t array = 0; array < STREAM_ARRAYS; array++)
				touch_page(arrays, array * pages + page);
		_exit(0);
	}
	lab_wait(child, "a child");
}

static inline void day_of_stream(struct lab_random *random, size_t cache_pages)
{
	for (int run = 0; run < STREAM_RUNS; run++) {
		size_t most = age_free_pages() / 4 * 3;
		/* In quarters of the cache, 1 to 16. */
		size_t pages = (1 + lab_below(random, 16)) * cache_pages / 4;

		stream_run((pages < most ? pages : most) / STREAM_ARRAYS);
	}
}

#endif
