/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* brings_malloc: a program that brings its own malloc, which gives memory in turns
 * and takes none back. Its libraries use it too. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char memory[8 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t size)
{
	size_t start = used + 16;
	if (size > sizeof(memory) - start)
		return NULL;
	memcpy(memory + used, &size, sizeof(size));
	used = (start + size + 15) / 16 * 16;
	return memory + start;
}

void free(void *p)
{
	if (p && ((char *)p < memory || (char *)p >= memory + sizeof(memory)))
		__builtin_trap();
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size);
}

void *realloc(void *p, size_t size)
{
	char *q = malloc(size);
	size_t old = 0;
	if (p)
		memcpy(&old, (char *)p - 16, sizeof(old));
	if (q && p)
		memcpy(q, p, old < size ? old : size);
	return q;
}

int main(void)
{
	char *line = malloc(2 << 20), *copy;
	memset(line, 'x', 2 << 20);
	copy = strdup("its own");
	puts(copy);
	free(copy);
	free(line);
	return 0;
}
