/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* own_malloc [SECONDS]: a program of one thread with a malloc of its own, which need not
 * bear a second one, and which its libraries use too. Exits with 1 if another thread calls
 * it; ends by a trap if it is to free memory of another one. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "now.h"

static char stretch[8 << 20] __attribute__((aligned(16)));
static size_t used;
static volatile int foreign;

static void look(void)
{
	if (syscall(SYS_gettid) != getpid()) foreign = 1;
}
void *malloc(size_t size)
{
	look();
	/* The size is kept before the memory; nothing is freed. */
	size_t *p = (size_t *)(stretch + used);
	used += (size + 31) & ~15ul;
	if (used > sizeof stretch) return NULL;
	*p = size;
	return p + 2;
}
void free(void *p)
{
	if (!p) return;
	look();
	if ((char *)p < stretch || (char *)p >= stretch + sizeof stretch) __builtin_trap();
}
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *p, size_t size)
{
	void *q = malloc(size);
	if (q && p) {
		size_t before = ((size_t *)p)[-2];
		memcpy(q, p, before < size ? before : size);
	}
	return q;
}
void *memalign(size_t alignment, size_t size)
{
	used = (used + 16 + alignment - 1) / alignment * alignment - 16;
	return malloc(size);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **p, size_t alignment, size_t size) { *p = memalign(alignment, size); return !*p; }

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	volatile char *p = malloc(1 << 20);
	while (now() < end && !foreign)
		for (size_t i = 0; i < 1 << 20; i += 512) p[i]++;
	char *copy = strdup("its own");
	puts(copy);
	free(copy);
	free((void *)p);
	return foreign;
}
