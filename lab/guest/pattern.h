/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Pages whose content tells to which owner they belong: a word in each line, made
 * from owner, area, page and line. A page that was exchanged with another is
 * found.
 */
#ifndef HUEPAGE_PATTERN_H
#define HUEPAGE_PATTERN_H

#define _GNU_SOURCE
#include "lab.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATTERN_LINE 64

struct area {
	char *memory; /* NULL: not there */
	size_t pages;
	uint64_t owner; /* unlike that of any other area */
};

static inline uint64_t pattern_word(uint64_t owner, size_t page, size_t line)
{
	uint64_t x = owner * UINT64_C(0x9e3779b97f4a7c15) + (page << 8 | line);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline void pattern_write(const struct area *area, size_t page)
{
	volatile uint64_t *words = (uint64_t *)(area->memory + page * PAGE);

	for (size_t line = 0; line < PAGE / PATTERN_LINE; line++)
		words[line * PATTERN_LINE / 8] = pattern_word(area->owner, page, line);
}

/* Fails if the page holds anything else than what was written. */
static inline void pattern_verify(const struct area *area, size_t page)
{
	const volatile uint64_t *words = (uint64_t *)(area->memory + page * PAGE);

	for (size_t line = 0; line < PAGE / PATTERN_LINE; line++) {
		uint64_t found = words[line * PATTERN_LINE / 8];
		uint64_t wanted = pattern_word(area->owner, page, line);

		if (found != wanted) {
			errno = 0;
			lab_fail("page %zu of area %lx holds %lx in line %zu, not %lx", page,
				 area->owner, found, line, wanted);
		}
	}
}

/* All pages, in order or at random; `order` has room for them. */
static inline void area_fill(const struct area *area, struct lab_random *random, uint32_t *order)
{
	for (size_t i = 0; i < area->pages; i++)
		order[i] = i;
	if (lab_below(random, 2))
		lab_shuffle(random, order, area->pages);
	for (size_t i = 0; i < area->pages; i++)
		pattern_write(area, order[i]);
}

static inline void area_verify(const struct area *area)
{
	for (size_t i = 0; i < area->pages; i++)
		pattern_verify(area, i);
}

/* Private memory, small pages or huge where it can be, or a file in memory. */
static inline void area_map(struct area *area, size_t pages, uint64_t owner, unsigned int kind)
{
	size_t bytes = pages * PAGE;

	*area = (struct area){ .pages = pages, .owner = owner };
	if (kind == 2) {
		int file = memfd_create("area", 0);

		if (file < 0 || ftruncate(file, bytes))
			lab_fail("make a file of %zu pages in memory", pages);
		area->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		close(file);
		if (area->memory == MAP_FAILED)
			lab_fail("map a file of %zu pages", pages);
		/* A child is to get the file as it is, not to write to it. */
		if (madvise(area->memory, bytes, MADV_DONTFORK))
			lab_fail("keep a file from being forked");
		return;
	}
	area->memory = lab_map(bytes);
	/* A kernel without huge pages knows neither. */
	if (madvise(area->memory, bytes, kind ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) &&
	    !access(THP, F_OK))
		lab_fail("choose the size of pages");
}

static inline void area_unmap(struct area *area)
{
	munmap(area->memory, area->pages * PAGE);
	area->memory = NULL;
}

#endif
