// SPDX-License-Identifier: MIT OR Apache-2.0
/* Huge pages are asked for; where there are none, all subjects lack them. */
#define _DEFAULT_SOURCE
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *memory_get(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("no memory for the benchmark; try fewer frames");
		exit(1);
	}
	madvise(memory, bytes, MADV_HUGEPAGE);
	/* Page faults are not what is measured. */
	memset(memory, 0, bytes);
	return memory;
}

void memory_put(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}
