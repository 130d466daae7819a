/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory as days of other work leave it: pages faulted and freed in random
 * order, some of them kept, so that free pages lie scattered.
 */
#ifndef HUEPAGE_AGE_H
#define HUEPAGE_AGE_H

#include "lab.h"

#include <stdlib.h>
#include <sys/mman.h>

/*
 * `rounds` times: touches `bytes` page by page in random order, then frees
 * them in another random order except one of `kept`, which stays for good.
 */
static void age_memory(struct lab_random *random, size_t bytes, unsigned rounds, unsigned kept)
{
	uint32_t pages = bytes / PAGE;
	uint32_t *order = malloc(pages * sizeof(*order));

	if (!order)
		lab_fail("memory for the order of %u pages", pages);
	for (unsigned round = 0; round < rounds; round++) {
		char *memory = lab_map(bytes);

		if (madvise(memory, bytes, MADV_NOHUGEPAGE))
			lab_fail("no huge pages");
		for (uint32_t i = 0; i < pages; i++)
			order[i] = i;
		lab_shuffle(random, order, pages);
		for (uint32_t i = 0; i < pages; i++)
			memory[order[i] * PAGE] = 1;
		lab_shuffle(random, order, pages);
		for (uint32_t i = 0; i < pages; i++)
			if (i % kept && madvise(memory + order[i] * PAGE, PAGE, MADV_DONTNEED))
				lab_fail("free a page");
	}
	free(order);
}

#endif
