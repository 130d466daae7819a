/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How many colors programs hold, as the kernel knows it. */
#ifndef HUEPAGE_HELD_COLORS_H
#define HUEPAGE_HELD_COLORS_H

#include "lab.h"

#include <stdio.h>

/* Of all nodes; more than there are if each color of a node has a holder. */
static inline uint64_t held_colors(void)
{
	unsigned int colors = 0, level = 0, left;
	uint64_t held = 0, nodes = 0;
	char line[128];
	FILE *file = fopen("/proc/page_color", "r");

	if (!file)
		lab_fail("open /proc/page_color");
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, " colors %u", &colors);
		sscanf(line, " level %u", &level);
		/* So many are held by @level programs, or fewer. */
		if (sscanf(line, " left %u", &left) == 1) {
			held += level ? colors + level : colors - left;
			nodes++;
		}
	}
	fclose(file);
	if (!nodes)
		lab_fail("no node has a cache whose colors are counted");
	return held;
}

#endif
