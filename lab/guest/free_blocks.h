/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How fragmented free memory is. */
#ifndef HUEPAGE_FREE_BLOCKS_H
#define HUEPAGE_FREE_BLOCKS_H

#include "lab.h"

#include <stdio.h>

/* Share of free memory, all zones, in blocks of the largest order. */
static inline double free_in_largest(void)
{
	uint64_t all = 0, largest = 0;
	char line[512];
	FILE *file = fopen("/proc/buddyinfo", "r");

	if (!file)
		lab_fail("open /proc/buddyinfo");
	while (fgets(line, sizeof(line), file)) {
		unsigned long blocks, pages = 0;
		int at = 0, used;

		if (sscanf(line, "Node %*d, zone %*s%n", &at) < 0 || !at)
			lab_fail("cannot read '%s' of /proc/buddyinfo", line);
		for (int order = 0; sscanf(line + at, "%lu%n", &blocks, &used) == 1; order++) {
			pages = blocks << order;
			all += pages;
			at += used;
		}
		largest += pages;
	}
	fclose(file);
	return all ? (double)largest / all : 0;
}

#endif
