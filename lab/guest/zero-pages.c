// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What the zero pages behind all untouched memory cost. Patterns of reads, all
 * from registers: within the regions the program accesses nothing else, so that
 * accesses beyond the reads are the kernel's own. The settings ways and colors
 * are those of the cache.
 *
 * frames:    4 bytes at the same offset of N contiguous frames, again and again.
 * thrash:    as many hot frames of one color as the cache has ways, then some
 *            pages of an area of zeros, going on where the last round ended. The
 *            color is counted from that of the first zero page.
 * scan:      16 KiB of own data, then every line of one page of the area.
 * full:      every line of own data that fills the cache, then of one page of
 *            the area.
 * partition: own data that fill three quarters of the colors, and an area read by
 *            a task that may use the last quarter, mapped before or after it was
 *            given that set.
 *
 * The area is untouched memory, as the kernel backs it, or, as a control on the
 * stock kernel, one frame of zeros of each color of the cache in the order of
 * virtual pages.
 */
#define _GNU_SOURCE
#include "coloring.h"
#include "frames.h"

#include <stdlib.h>
#include <string.h>

#define WARM 100
#define LINE 64
#define AREA_PAGES 64
#define POOL_PAGES 4096UL
#define SCAN_BYTES (16 * 1024)
#define ZERO_PAGES "/sys/kernel/mm/zero_pages/number"

enum { FRAMES = 1, THRASH, SCAN, FULL, PARTITION };

static uint64_t colors, ways;

static inline __attribute__((always_inline)) void touch(const char *at)
{
	(void)*(const volatile uint32_t *)at;
}

static inline __attribute__((always_inline)) void
read_frames(const char *frames, uint64_t count, uint64_t rounds)
{
	for (uint64_t round = 0; round < rounds; round++)
		for (uint64_t i = 0; i < count; i++)
			touch(frames + i * PAGE);
}

static inline __attribute__((always_inline)) void
thrash(const char *frames, const char *area, uint64_t zero_reads, uint64_t rounds)
{
	uint64_t page = 0, way = colors * PAGE, hot = ways;

	for (uint64_t round = 0; round < rounds; round++) {
		for (uint64_t i = 0; i < hot; i++)
			touch(frames + i * way);
		for (uint64_t i = 0; i < zero_reads; i++, page++)
			touch(area + page % AREA_PAGES * PAGE);
	}
}

static inline __attribute__((always_inline)) void
scan(const char *own, uint64_t bytes, const char *area, uint64_t rounds)
{
	for (uint64_t round = 0; round < rounds; round++) {
		const char *page = area + round % AREA_PAGES * PAGE;

		for (uint64_t i = 0; i < bytes; i += LINE)
			touch(own + i);
		for (uint64_t i = 0; i < PAGE; i += LINE)
			touch(page + i);
	}
}

/* Frames of @some colors from @first on, one line of each, then a turn of zeros. */
static inline __attribute__((always_inline)) void
partition(const char *first, uint64_t some, const char *area, uint64_t rounds)
{
	uint64_t page = 0, way = colors * PAGE, hot = ways;

	for (uint64_t round = 0; round < rounds; round++) {
		for (uint64_t i = 0; i < hot; i++)
			for (uint64_t color = 0; color < some; color++)
				touch(first + i * way + color * PAGE);
		for (uint64_t i = 0; i < colors; i++, page++)
			touch(area + page % AREA_PAGES * PAGE);
	}
}

/* The area as untouched memory that is read. */
static char *untouched_area(void)
{
	char *area = lab_map_small(AREA_PAGES * PAGE);

	for (uint64_t i = 0; i < AREA_PAGES; i++)
		touch(area + i * PAGE);
	return area;
}

/* Zeros of every color, repeated, where the kernel would have its zero page. */
static char *colored_area(void)
{
	int file = memfd_create("zeros", 0);
	off_t chosen[AREA_PAGES];
	uint64_t found = 0;

	if (file < 0 || ftruncate(file, POOL_PAGES * PAGE))
		lab_fail("make a file in memory");
	char *pool = mmap(NULL, POOL_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	char *area = lab_map(AREA_PAGES * PAGE);

	if (pool == MAP_FAILED)
		lab_fail("map a file in memory");
	memset(chosen, 0xff, sizeof(chosen));
	for (off_t i = 0; i < (off_t)POOL_PAGES && found < colors; i++) {
		*(volatile char *)(pool + i * PAGE) = 0;
		uint64_t color = frame_of(pool + i * PAGE) % colors;

		if (chosen[color] < 0) {
			chosen[color] = i * PAGE;
			found++;
		}
	}
	if (found < colors)
		lab_fail("%lu pages have only %lu of %lu colors", POOL_PAGES, found, colors);
	for (uint64_t i = 0; i < AREA_PAGES; i++) {
		if (mmap(area + i * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, file,
			 chosen[i % colors]) == MAP_FAILED)
			lab_fail("map page %lu of the control", i);
		touch(area + i * PAGE);
	}
	return area;
}

static uint64_t distinct_frames(const char *area)
{
	uint64_t frames[AREA_PAGES], count = 0;

	for (uint64_t i = 0; i < AREA_PAGES; i++) {
		uint64_t frame = frame_of(area + i * PAGE), j = 0;

		while (j < count && frames[j] != frame)
			j++;
		frames[j] = frame;
		count += j == count;
	}
	return count;
}

static void run_frames(const char *frames, uint64_t count, uint64_t rounds)
{
	REGION_BEGIN(WARM);
	read_frames(frames, count, 4);
	REGION_END(WARM);
	REGION_BEGIN(FRAMES);
	read_frames(frames, count, rounds);
	REGION_END(FRAMES);
	lab_result("{\"table\":\"frames\",\"frames\":%lu,\"rounds\":%lu,\"reads\":%lu}", count,
		   rounds, count * rounds);
}

/* The first of contiguous frames that has a color. */
static const char *of_color(const char *frames, uint64_t color)
{
	while (frame_of(frames) % colors != color % colors)
		frames += PAGE;
	return frames;
}

static void run_thrash(const char *frames, uint64_t zero_color, uint64_t hot, const char *area,
		       const char *backing, uint64_t zero_reads)
{
	uint64_t rounds = lab_number("thrash_rounds");
	const char *first = of_color(frames, zero_color + hot);

	REGION_BEGIN(WARM);
	thrash(first, area, zero_reads, 2 * AREA_PAGES);
	REGION_END(WARM);
	REGION_BEGIN(THRASH);
	thrash(first, area, zero_reads, rounds);
	REGION_END(THRASH);
	lab_result("{\"table\":\"thrash\",\"backing\":\"%s\",\"hot\":%lu,\"zero_reads\":%lu,"
		   "\"zero_frames\":%lu,\"rounds\":%lu,\"reads\":%lu}",
		   backing, hot, zero_reads, distinct_frames(area), rounds,
		   (ways + zero_reads) * rounds);
}

static void run_scan(const char *own, const char *area, const char *backing, uint64_t rounds)
{
	REGION_BEGIN(WARM);
	scan(own, SCAN_BYTES, area, 2 * AREA_PAGES);
	REGION_END(WARM);
	REGION_BEGIN(SCAN);
	scan(own, SCAN_BYTES, area, rounds);
	REGION_END(SCAN);
	lab_result("{\"table\":\"scan\",\"backing\":\"%s\",\"zero_frames\":%lu,"
		   "\"rounds\":%lu,\"reads\":%lu}",
		   backing, distinct_frames(area), rounds, (SCAN_BYTES + PAGE) / LINE * rounds);
}

static void run_full(const char *own, const char *area, const char *backing, uint64_t rounds)
{
	uint64_t bytes = colors * ways * PAGE;

	REGION_BEGIN(WARM);
	scan(own, bytes, area, AREA_PAGES);
	REGION_END(WARM);
	REGION_BEGIN(FULL);
	scan(own, bytes, area, rounds);
	REGION_END(FULL);
	lab_result("{\"table\":\"full\",\"backing\":\"%s\",\"zero_frames\":%lu,"
		   "\"rounds\":%lu,\"reads\":%lu}",
		   backing, distinct_frames(area), rounds, (bytes + PAGE) / LINE * rounds);
}

static void run_partition(const char *frames, uint64_t zero_color, const char *area,
			  const char *mapped)
{
	uint64_t some = colors - colors / 4, rounds = lab_number("thrash_rounds") / ways;
	const char *first = of_color(frames, zero_color);

	REGION_BEGIN(WARM);
	partition(first, some, area, 2 * AREA_PAGES);
	REGION_END(WARM);
	REGION_BEGIN(PARTITION);
	partition(first, some, area, rounds);
	REGION_END(PARTITION);
	lab_result("{\"table\":\"partition\",\"mapped\":\"%s\",\"zero_frames\":%lu,"
		   "\"rounds\":%lu,\"reads\":%lu}",
		   mapped, distinct_frames(area), rounds, (some * ways + colors) * rounds);
}

/*
 * The area belongs to a task that may use the last quarter of the colors, from the
 * first zero page's on; the frames belong to its neighbor, which has the other
 * colors.
 */
static void run_partitions(const char *frames, uint64_t zero_color, const char *before)
{
	char set[64];
	int used = 0;

	for (uint64_t i = colors - colors / 4; i < colors; i++)
		used += snprintf(set + used, sizeof(set) - used, "%s%lu", used ? "," : "",
				 (zero_color + i) % colors);
	run_partition(frames, zero_color, before, "before");
	lab_write("/proc/self/page_colors", set);
	run_partition(frames, zero_color, untouched_area(), "within");
	snprintf(set, sizeof(set), "0-%lu", colors - 1);
	lab_write("/proc/self/page_colors", set);
}

/* Nothing is checked on a kernel without zero pages of several colors. */
static void check_zero_pages(const char *zeros)
{
	if (strcmp(zeros, "stock") &&
	    lab_read_number(ZERO_PAGES) != strtoull(zeros, NULL, 10))
		lab_fail("%s is %lu, not %s: see zero_pages= and the kernel's log", ZERO_PAGES,
			 lab_read_number(ZERO_PAGES), zeros);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	colors = lab_number("colors");
	ways = lab_number("ways");
	if (colors < 4 || AREA_PAGES % colors || colors * (ways + 1) > HUGE_PAGE / PAGE)
		lab_fail("colors=%lu and ways=%lu: at least 4, a divisor of %d, and all of it "
			 "in a huge page",
			 colors, ways, AREA_PAGES);
	check_zero_pages(lab_text("zeros"));
	char *frames = contiguous_frames(HUGE_PAGE);
	int stock = !strcmp(lab_text("zeros"), "stock");
	char *untouched = untouched_area(), *colored = stock ? colored_area() : NULL;
	uint64_t zero_color = frame_of(untouched) % colors;
	uint64_t scan_rounds = lab_number("scan_rounds");
	const char *counts = lab_text("frames");

	/*
	 * The first zero page is mapped at addresses whose lowest page bits are 0.
	 */
	for (uint64_t i = 0; i < AREA_PAGES; i++)
		if ((uintptr_t)(untouched + i * PAGE) / PAGE % AREA_PAGES == 0)
			zero_color = frame_of(untouched + i * PAGE) % colors;
	while (*counts) {
		char *rest;
		uint64_t count = strtoull(counts, &rest, 10);

		if (rest == counts || !count || count > HUGE_PAGE / PAGE)
			lab_fail("frames=%s: 1 to %lu frames are needed", counts, HUGE_PAGE / PAGE);
		lab_note("%lu contiguous frames", count);
		run_frames(frames, count, lab_number("frame_rounds"));
		counts = rest + (*rest == ',');
	}
	for (uint64_t reads = 1; reads <= colors; reads += colors - 1) {
		lab_note("%lu reads of zeros to a round", reads);
		for (uint64_t hot = 0; hot < colors; hot++) {
			run_thrash(frames, zero_color, hot, untouched, "kernel", reads);
			if (stock)
				run_thrash(frames, zero_color, hot, colored, "control", reads);
		}
	}
	lab_note("scans");
	run_scan(frames, untouched, "kernel", scan_rounds);
	run_full(frames, untouched, "kernel", scan_rounds / 10);
	if (stock) {
		run_scan(frames, colored, "control", scan_rounds);
		run_full(frames, colored, "control", scan_rounds / 10);
	} else {
		lab_note("partitions");
		run_partitions(frames, zero_color, untouched);
	}
	lab_done();
}
