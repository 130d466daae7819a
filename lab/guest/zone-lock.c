// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * How often zone->lock is taken for a page, and how long it is held: long fills of
 * pages of three sizes, small loops that touch and discard, files. CPUs work one after
 * the other, so that none waits; their number decides how many pages the kernel keeps
 * on each CPU's lists.
 */
#define _GNU_SOURCE
#include "coloring.h"
#include "large_pages.h"
#include "settle.h"

#include <inttypes.h>
#include <sys/mman.h>

#define LOCKS "/proc/lock_stat"
#define FILE_PIECE (64UL << 10)
/* Pages that a small loop touches and discards. */
#define SMALL 32

static size_t share; /* pages of a CPU */
static uint32_t cpus;
static uint64_t round_number;
static char **memory;
static int *files;
static char buffer[FILE_PIECE];

struct held {
	uint64_t acquired;
	double longest, total; /* microseconds */
};

/* Of all zones, which have one lock class. */
static struct held read_held(void)
{
	struct held held = { 0 };
	char line[512];
	FILE *locks = fopen(LOCKS, "r");

	if (!locks)
		lab_fail("open " LOCKS);
	while (fgets(line, sizeof(line), locks)) {
		char *colon = strstr(line, "&zone->lock:");
		struct held class;

		if (!colon)
			continue;
		/* Contention (6 columns), bounces, then what is asked for. */
		int got = sscanf(colon + strlen("&zone->lock:"),
				 "%*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %*s %lf %lf",
				 &class.acquired, &class.longest, &class.total);

		if (got != 3)
			lab_fail(LOCKS " has the line '%s'", line);
		held.acquired += class.acquired;
		held.total += class.total;
		if (class.longest > held.longest)
			held.longest = class.longest;
	}
	fclose(locks);
	return held;
}

/* Lets each CPU do its part; counts in all rounds but the first. */
static void work(const char *name, void (*part)(uint32_t cpu))
{
	settle();
	lab_write(LOCKS, "0");
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		lab_run_on(cpu);
		part(cpu);
	}
	struct held held = read_held();

	if (round_number)
		lab_result("{\"work\":\"%s\",\"round\":%" PRIu64 ",\"pages\":%zu,\"acquired\":%" PRIu64
			   ",\"held_ns\":%.0f,\"longest_ns\":%.0f}",
			   name, round_number, share * cpus, held.acquired, held.total * 1e3,
			   held.longest * 1e3);
}

static void touch(uint32_t cpu)
{
	for (size_t i = 0; i < share; i++)
		*(volatile char *)(memory[cpu] + i * PAGE) = 1;
}

static void fill_small(uint32_t cpu)
{
	memory[cpu] = lab_map_small(share * PAGE);
	touch(cpu);
}

static void unmap(uint32_t cpu)
{
	munmap(memory[cpu], share * PAGE);
}

static void fill_large(uint32_t cpu)
{
	memory[cpu] = map_large(share * PAGE);
	touch(cpu);
}

static void small_loops(uint32_t cpu)
{
	memory[cpu] = lab_map_small(SMALL * PAGE);
	for (size_t done = 0; done < share; done += SMALL) {
		for (size_t i = 0; i < SMALL; i++)
			*(volatile char *)(memory[cpu] + i * PAGE) = 1;
		if (madvise(memory[cpu], SMALL * PAGE, MADV_DONTNEED))
			lab_fail("discard pages");
	}
	munmap(memory[cpu], SMALL * PAGE);
}

static void write_file(uint32_t cpu)
{
	files[cpu] = memfd_create("written", 0);
	if (files[cpu] < 0)
		lab_fail("make a file in memory");
	for (size_t at = 0; at < share * PAGE; at += FILE_PIECE)
		if (write(files[cpu], buffer, FILE_PIECE) != (ssize_t)FILE_PIECE)
			lab_fail("write a file at %zu", at);
}

static void free_file(uint32_t cpu)
{
	close(files[cpu]);
}

static void fill_and_free(const char *fill, void (*part)(uint32_t cpu), const char *free)
{
	work(fill, part);
	work(free, unmap);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	uint64_t rounds = lab_number("rounds");

	coloring_check();
	cpus = lab_number("cpus");
	share = lab_number("pages") / cpus;
	if (!share || share * PAGE % HUGE_PAGE)
		lab_fail("%zu pages for a CPU are no whole number of huge ones", share);
	memory = lab_map(cpus * sizeof(*memory));
	files = lab_map(cpus * sizeof(*files));
	for (round_number = 0; round_number <= rounds; round_number++) {
		lab_note("round %" PRIu64 " of %" PRIu64, round_number, rounds);
		fill_and_free("fill, 4 KiB", fill_small, "free, 4 KiB");
		lab_write(HUGE "enabled", "never");
		lab_write(LARGE "enabled", "always");
		fill_and_free("fill, 64 KiB", fill_large, "free, 64 KiB");
		lab_write(LARGE "enabled", "never");
		lab_write(HUGE "enabled", "always");
		fill_and_free("fill, 2 MiB", fill_large, "free, 2 MiB");
		work("small loops", small_loops);
		work("write files", write_file);
		work("free files", free_file);
	}
	lab_done();
}
