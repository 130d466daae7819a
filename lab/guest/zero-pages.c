// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What one zero page behind all untouched memory costs. Three patterns of
 * reads, all from registers: within the regions the program accesses nothing
 * else, so that accesses beyond the reads are the kernel's own.
 *
 * frames: 4 bytes at the same offset of N contiguous frames, again and again.
 * thrash: 8 hot frames one way of L2 apart, so of one color, then some pages of
 *         an area of zeros, going on where the last round ended. The color is
 *         that of the kernel's zero page, or another one.
 * scan:   16 KiB of own data, then every line of one page of the area.
 *
 * The area is untouched memory, as the kernel backs it, or, as a control, one
 * frame of zeros of each color of L2 in the order of virtual pages.
 */
#define _GNU_SOURCE
#include "frames.h"

#include <stdlib.h>
#include <string.h>

#define WARM 100
#define LINE 64
#define AREA_PAGES 64
#define POOL_PAGES 4096UL
#define HOT_FRAMES 8
#define SCAN_BYTES (16 * 1024)

static uint64_t colors;

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
thrash(const char *frames, const char *area, uint64_t way, uint64_t zero_reads, uint64_t rounds)
{
	uint64_t page = 0;

	for (uint64_t round = 0; round < rounds; round++) {
		for (uint64_t i = 0; i < HOT_FRAMES; i++)
			touch(frames + i * way);
		for (uint64_t i = 0; i < zero_reads; i++, page++)
			touch(area + page % AREA_PAGES * PAGE);
	}
}

static inline __attribute__((always_inline)) void
scan(const char *own, const char *area, uint64_t rounds)
{
	for (uint64_t round = 0; round < rounds; round++) {
		const char *page = area + round % AREA_PAGES * PAGE;

		for (uint64_t i = 0; i < SCAN_BYTES; i += LINE)
			touch(own + i);
		for (uint64_t i = 0; i < PAGE; i += LINE)
			touch(page + i);
	}
}

/* The area as the kernel backs untouched memory that is read. */
static char *untouched_area(void)
{
	char *area = lab_map(AREA_PAGES * PAGE);

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
	REGION_BEGIN(1);
	read_frames(frames, count, rounds);
	REGION_END(1);
	lab_result("{\"table\":\"frames\",\"frames\":%lu,\"rounds\":%lu,\"reads\":%lu}", count,
		   rounds, count * rounds);
}

static void run_thrash(const char *frames, uint64_t color, const char *hot, const char *area,
		       const char *backing, uint64_t zero_reads)
{
	uint64_t way = colors * PAGE, rounds = lab_number("thrash_rounds");

	while (frame_of(frames) % colors != color)
		frames += PAGE;

	REGION_BEGIN(WARM);
	thrash(frames, area, way, zero_reads, 2 * AREA_PAGES);
	REGION_END(WARM);
	REGION_BEGIN(2);
	thrash(frames, area, way, zero_reads, rounds);
	REGION_END(2);
	lab_result("{\"table\":\"thrash\",\"backing\":\"%s\",\"hot\":\"%s\",\"zero_reads\":%lu,"
		   "\"zero_frames\":%lu,\"rounds\":%lu,\"reads\":%lu}",
		   backing, hot, zero_reads, distinct_frames(area), rounds,
		   (HOT_FRAMES + zero_reads) * rounds);
}

static void run_scan(const char *own, const char *area, const char *backing, uint64_t rounds)
{
	REGION_BEGIN(WARM);
	scan(own, area, 2 * AREA_PAGES);
	REGION_END(WARM);
	REGION_BEGIN(3);
	scan(own, area, rounds);
	REGION_END(3);
	lab_result("{\"table\":\"scan\",\"backing\":\"%s\",\"zero_frames\":%lu,"
		   "\"rounds\":%lu,\"reads\":%lu}",
		   backing, distinct_frames(area), rounds, (SCAN_BYTES + PAGE) / LINE * rounds);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	colors = lab_number("colors");
	if (colors < 2 || AREA_PAGES % colors)
		lab_fail("colors=%lu: a divisor of %d is needed", colors, AREA_PAGES);
	char *frames = contiguous_frames(HUGE_PAGE);
	char *untouched = untouched_area(), *colored = colored_area();
	uint64_t zero_color = frame_of(untouched) % colors;
	uint64_t other_color = (zero_color + 1) % colors;
	uint64_t scan_rounds = lab_number("scan_rounds");
	const char *counts = lab_text("frames");

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
		run_thrash(frames, zero_color, "same", untouched, "kernel", reads);
		run_thrash(frames, other_color, "other", untouched, "kernel", reads);
		run_thrash(frames, zero_color, "same", colored, "control", reads);
	}
	lab_note("scans");
	run_scan(frames, untouched, "kernel", scan_rounds);
	run_scan(frames, colored, "control", scan_rounds);
	lab_done();
}
