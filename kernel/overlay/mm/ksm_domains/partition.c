// SPDX-License-Identifier: GPL-2.0-only
/*
 * Divides nodes into domains by their distances. Nothing here knows of KSM or of
 * real nodes: nodes are the numbers below @nr, and @distance is a symmetric
 * matrix of @nr times @nr.
 */

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include "partition.h"

static void join(u8 *distance, unsigned int nr, unsigned int to,
		 unsigned int from, unsigned short *lowest)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		u8 both = max(distance[to * nr + i], distance[from * nr + i]);

		distance[to * nr + i] = both;
		distance[i * nr + to] = both;
		if (lowest[i] == from)
			lowest[i] = to;
	}
}

/**
 * ksm_partition - divide nodes into domains
 * @distance: between nodes; on return, the largest between two domains at the
 *            lowest nodes of both
 * @nr: number of nodes
 * @limit: no two nodes of a domain are farther from each other
 * @lowest: gets for each node the lowest node of its domain
 *
 * Each node is a domain at first. The two domains whose farthest nodes are the
 * nearest become one, as long as these are within the limit (complete linkage);
 * among equals those with the lowest nodes. So the result depends on the
 * distances only, and a larger limit only joins domains: it never divides one.
 */
void ksm_partition(u8 *distance, unsigned int nr, unsigned int limit,
		   unsigned short *lowest)
{
	unsigned int i, j;

	for (i = 0; i < nr; i++)
		lowest[i] = i;
	for (;;) {
		unsigned int best = limit + 1, to = 0, from = 0;

		for (i = 0; i < nr; i++) {
			if (lowest[i] != i)
				continue;
			for (j = i + 1; j < nr; j++) {
				if (lowest[j] != j || distance[i * nr + j] >= best)
					continue;
				best = distance[i * nr + j];
				to = i;
				from = j;
			}
			cond_resched();
		}
		if (best > limit)
			return;
		join(distance, nr, to, from, lowest);
	}
}

/**
 * ksm_largest_within - the largest distance up to a limit
 * @distance: between nodes
 * @nr: number of nodes
 * @limit: see above
 *
 * Return: the largest distance between two nodes that is not beyond the limit,
 * 0 if there is none.
 */
unsigned int ksm_largest_within(const u8 *distance, unsigned int nr,
				unsigned int limit)
{
	unsigned int i, largest = 0;

	for (i = 0; i < nr * nr; i++)
		if (distance[i] > largest && distance[i] <= limit)
			largest = distance[i];
	return largest;
}

/**
 * ksm_near - the largest distance that is near
 * @distance: between nodes
 * @nr: number of nodes
 * @local: distance of a node from itself
 *
 * With the distances in ascending order, the gap is where a distance is the
 * largest multiple of the one before it; among equal gaps, the first. The
 * distance before the gap is the last that is near.
 *
 * Return: the distance before the gap; @local if all distances are the same.
 */
unsigned int ksm_near(const u8 *distance, unsigned int nr, unsigned int local)
{
	DECLARE_BITMAP(seen, U8_MAX + 1) = { 0 };
	unsigned int i, low = local, high, near = local, far = local;

	for (i = 0; i < nr * nr; i++)
		__set_bit(distance[i], seen);
	while ((high = find_next_bit(seen, U8_MAX + 1, low + 1)) <= U8_MAX) {
		/* Is high / low more than far / near? */
		if (high * near > far * low) {
			near = low;
			far = high;
		}
		low = high;
	}
	return near;
}
