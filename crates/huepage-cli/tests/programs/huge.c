/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* huge SECONDS: writes two huge pages and reads them for so long; exits with 1 if a word
 * is wrong, and with 77 if the kernel gives no huge pages. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "now.h"

#define HUGE (2ul << 20)
#define WORDS (2 * HUGE / 8)

static unsigned long huge_kib(void)
{
	unsigned long kib = 0;
	char line[256];
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "AnonHugePages: %lu", &kib);
	if (f)
		fclose(f);
	return kib;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	char *mapped = mmap(NULL, 3 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile uint64_t *p = (void *)(((uintptr_t)mapped + HUGE - 1) & -HUGE);
	if (mapped == MAP_FAILED || madvise((void *)p, 2 * HUGE, MADV_HUGEPAGE))
		return 77;
	for (size_t i = 0; i < WORDS; i++)
		p[i] = i * 0x9e3779b97f4a7c15;
	if (huge_kib() < 4096)
		return 77;
	while (now() < end) {
		for (size_t i = 0; i < WORDS; i++)
			if (p[i] != i * 0x9e3779b97f4a7c15)
				return 1;
		usleep(1000);
	}
	return 0;
}
