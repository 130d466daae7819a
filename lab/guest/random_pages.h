/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The control of `aging`: pages picked at random among nearly all frames of the
 * machine. A file in memory owns the frames; single pages of it are mapped.
 */
#ifndef HUEPAGE_RANDOM_PAGES_H
#define HUEPAGE_RANDOM_PAGES_H

#include "age.h"
#include "frames.h"

/* Prints how many colors have 0, 1, 2, … of these frames. */
static inline void random_pages_tell(const uint32_t *by_color, size_t colors)
{
	uint32_t having[64] = { 0 }, most = 0;

	for (size_t i = 0; i < colors; i++) {
		if (by_color[i] >= 64)
			lab_fail("a color has %u frames", by_color[i]);
		having[by_color[i]]++;
		if (by_color[i] > most)
			most = by_color[i];
	}
	printf("LAB {\"pool\":[");
	for (uint32_t i = 0; i <= most; i++)
		printf("%s%u", i ? "," : "", having[i]);
	printf("]}\n");
}

/* So many pages; `frames` has room for as many, `by_color` for all colors. */
static inline char *random_pages_map(struct lab_random *random, size_t wanted, uint64_t *frames,
				     uint32_t *by_color, size_t colors)
{
	size_t pool = age_free_pages();
	/*
	 * The kernel keeps some pages for itself; the pool needs tables, and every
	 * page of the arrays a mapping of its own, of about 300 bytes.
	 */
	size_t reserve = 4 * MIB / PAGE + pool / 16 + wanted * 512 / PAGE;
	int file = memfd_create("pool", 0);

	if (pool < reserve + wanted)
		lab_fail("%zu free pages are not enough for %zu random ones", pool, wanted);
	pool -= reserve;
	if (file < 0 || fallocate(file, 0, 0, pool * PAGE))
		lab_fail("make a file of %zu pages in memory", pool);
	char *all = mmap(NULL, pool * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	uint32_t *order = lab_map(pool * sizeof(*order));

	if (all == MAP_FAILED)
		lab_fail("map the pool");
	for (size_t i = 0; i < pool; i++)
		(void)*(volatile char *)(all + i * PAGE);
	age_order(random, order, pool);
	lab_write("/proc/sys/vm/max_map_count", "1000000");
	char *pages = lab_map(wanted * PAGE);

	for (size_t i = 0; i < wanted; i++)
		if (mmap(pages + i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 file, order[i] * PAGE) == MAP_FAILED)
			lab_fail("map page %zu of the pool", i);
	memset(by_color, 0, colors * sizeof(*by_color));
	for (size_t i = 0; i < pool; i += wanted) {
		size_t part = pool - i < wanted ? pool - i : wanted;

		frames_of(all + i * PAGE, part, frames);
		frames_count(frames, part, by_color, colors);
	}
	random_pages_tell(by_color, colors);
	munmap(order, pool * sizeof(*order));
	munmap(all, pool * PAGE);
	close(file);
	return pages;
}

#endif
