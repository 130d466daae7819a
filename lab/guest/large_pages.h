/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory for which pages larger than 4 KiB are asked.
 */
#ifndef HUEPAGE_LAB_LARGE_PAGES_H
#define HUEPAGE_LAB_LARGE_PAGES_H

#include "lab.h"

#include <sys/mman.h>

#define LARGE_PAGE (64UL << 10)
#define LARGE THP "hugepages-64kB/"
#define HUGE THP "hugepages-2048kB/"

/* Aligned for huge pages; the rest of the mapping is unmapped. */
static inline char *map_large(size_t bytes)
{
	char *mapped = lab_map(bytes + HUGE_PAGE);
	size_t before = -(uintptr_t)mapped & (HUGE_PAGE - 1);

	if (before)
		munmap(mapped, before);
	if (HUGE_PAGE - before)
		munmap(mapped + before + bytes, HUGE_PAGE - before);
	if (madvise(mapped + before, bytes, MADV_HUGEPAGE))
		lab_fail("ask for huge pages");
	return mapped + before;
}

#endif
