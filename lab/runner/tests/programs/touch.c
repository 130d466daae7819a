// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Writes to 4 MiB of small pages twice, line by line, reads 64 pages that nobody wrote
 * to, and lets a child do some work. Leaves a file where it was started, and ends with
 * code 3.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE (4UL << 20)
#define UNWRITTEN (64 * 4096UL)

static volatile char *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, size, MADV_NOHUGEPAGE))
		_exit(1);
	return memory;
}

int main(int argc, char **argv)
{
	volatile char *written = map(SIZE), *unwritten = map(UNWRITTEN);
	unsigned int sum = 0;
	FILE *file = fopen("left-behind", "w");

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < SIZE; i += 64)
			written[i] = 1;
	for (size_t i = 0; i < UNWRITTEN; i += 4096)
		sum += unwritten[i];
	if (!fork()) {
		written[0] = 2;
		_exit(0);
	}
	wait(NULL);
	printf("%d words, the last is '%s', sum %u\n", argc, argv[argc - 1], sum);
	fprintf(stderr, "%s\n", file && fputs("x", file) > 0 && !fclose(file) ? "wrote" : "could not write");
	return 3;
}
