// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Feeds the model with accesses from standard input, without QEMU:
 *
 *   stream CPUS out=FILE OPTION…           lines as below
 *   stream bench ACCESSES out=FILE OPTION…  accesses of its own, timed
 *
 *   a CPU ADDRESS SIZE    an access
 *   i CPU COUNT           instructions
 *   b REGION, e REGION    begin and end
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../options.h"
#include "../region.h"

#define MAX_CPUS 64

static struct description description;
static struct hierarchy hierarchy;
static struct regions regions;
static uint64_t instructions[MAX_CPUS];

static uint64_t instructions_of(unsigned int cpu)
{
	return instructions[cpu];
}

static int fail(const char *error)
{
	fprintf(stderr, "stream: %s\n", error);
	return 1;
}

static void access_memory(uint32_t cpu, uint64_t address, uint32_t size)
{
	struct cpu *of = &hierarchy.cpus[cpu];
	uint32_t cycles;

	if (description.skip_outside && !regions.inside)
		return;
	cycles = hierarchy_touch(&hierarchy, of, address, size);
	hierarchy_count(&hierarchy, of, address, cycles);
}

static int follow_input(void)
{
	char line[100], kind;
	uint64_t first, second, third;

	while (fgets(line, sizeof(line), stdin)) {
		int count = sscanf(line, "%c %" SCNu64 " %" SCNu64 " %" SCNu64, &kind, &first,
				   &second, &third);

		if (kind == 'a' && count == 4 && first < hierarchy.cpu_count && third)
			access_memory(first, second, third);
		else if (kind == 'i' && count == 3 && first < hierarchy.cpu_count)
			instructions[first] += second;
		else if (kind == 'b' && count == 2)
			region_begin(&regions, first);
		else if (kind == 'e' && count == 2)
			region_end(&regions, first);
		else
			return fail(line);
	}
	regions_finish(&regions);
	return 0;
}

/* Reads of 8 bytes through 8 MiB, again and again. */
static void bench(uint64_t accesses)
{
	struct timespec start, end;
	double seconds;

	clock_gettime(CLOCK_MONOTONIC, &start);
	region_begin(&regions, 0);
	for (uint64_t i = 0; i < accesses; i++)
		access_memory(0, i * 8 % (8 << 20), 8);
	instructions[0] = accesses;
	region_end(&regions, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	seconds = end.tv_sec - start.tv_sec + 1e-9 * (end.tv_nsec - start.tv_nsec);
	printf("%.1f million accesses per second\n", 1e-6 * accesses / seconds);
}

int main(int argument_count, char **arguments)
{
	bool timed = argument_count > 2 && !strcmp(arguments[1], "bench");
	int next = timed ? 3 : 2;
	char error[400];
	uint64_t number;
	FILE *out;

	if (argument_count < next)
		return fail("write the number of CPUs, then options");
	number = strtoull(arguments[next - 1], NULL, 10);
	if (!timed && (number < 1 || number > MAX_CPUS))
		return fail("at least 1 CPU and at most 64");
	for (; next < argument_count; next++)
		if (!options_add(&description, arguments[next], error, sizeof(error)))
			return fail(error);
	if (!options_check(&description, error, sizeof(error)) ||
	    !hierarchy_init(&hierarchy, &description, timed ? 1 : number, error, sizeof(error)))
		return fail(error);
	out = description.out ? fopen(description.out, "w") : NULL;
	if (!out || !regions_init(&regions, &hierarchy, out, instructions_of))
		return fail("out=FILE is missing or can't be written");
	if (!timed)
		return follow_input();
	bench(number);
	return 0;
}
