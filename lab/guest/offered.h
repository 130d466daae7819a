/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pages that a program offers to the kernel, which may take them without writing them. */
#ifndef HUEPAGE_OFFERED_H
#define HUEPAGE_OFFERED_H

#include "lab.h"

#include <sys/mman.h>

static inline void offer(char *memory, size_t pages)
{
	if (madvise(memory, pages * PAGE, MADV_FREE))
		lab_fail("offer %zu pages", pages);
}

/* Has the kernel reclaim pages that are offered; one that somebody looks at just now stays. */
static inline void reclaim_offered(char *memory, size_t pages)
{
	uint64_t before = lab_read_named("/proc/vmstat", "pglazyfreed");

	if (madvise(memory, pages * PAGE, MADV_PAGEOUT))
		lab_fail("MADV_PAGEOUT");
	uint64_t reclaimed = lab_read_named("/proc/vmstat", "pglazyfreed") - before;

	if (reclaimed < pages / 10 * 9)
		lab_fail("%lu of %zu pages were reclaimed", (unsigned long)reclaimed, pages);
}

#endif
