// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Parallel sequential readers, a disk and a file each: through the page cache,
 * then past it. The emulator counts the requests of a phase to the disks; a read
 * of one sector of the last disk marks where a phase begins and ends.
 */
#define _GNU_SOURCE
#include "age.h"
#include "coloring.h"
#include "disks.h"
#include "lab.h"
#include "readers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_SIZE (128UL << 10)
#define DIRECT_SIZE MIB
/* Readers share it: what they read is the same in every file. */
#define DIRECT_BUFFER (16 * MIB)

enum { CACHED, DIRECT, DIRECT_HUGE, PHASES };
static const char *const phase_names[PHASES] = { "cached", "direct", "direct-huge" };

static const size_t buffer_size[PHASES] = { READ_SIZE, DIRECT_BUFFER, HUGE_PAGE };
static uint64_t readers, bytes, direct_bytes;
static char *direct_buffer[PHASES];

static void file_path(uint64_t reader, char *path, size_t size)
{
	snprintf(path, size, "/disk%" PRIu64 "/file", reader);
}

static void read_file(uint64_t reader, int phase)
{
	char path[64];
	size_t size = phase == CACHED ? READ_SIZE : DIRECT_SIZE;
	uint64_t end = phase == CACHED ? bytes : direct_bytes;
	char *cached = lab_map(READ_SIZE);

	file_path(reader, path, sizeof(path));
	int file = open(path, O_RDONLY | (phase == CACHED ? 0 : O_DIRECT));

	if (file < 0)
		lab_fail("open %s", path);
	for (uint64_t at = 0; at < end; at += size) {
		/* A reader of its own part, so that all of the buffer is used. */
		uint64_t part = (reader * end + at) % buffer_size[phase];
		char *buffer = phase == CACHED ? cached : direct_buffer[phase] + part;
		uint64_t block;

		if (read(file, buffer, size) != (ssize_t)size)
			lab_fail("read %s at %" PRIu64, path, at);
		memcpy(&block, buffer, sizeof(block));
		if (phase == CACHED && block != at / PAGE)
			lab_fail("%s at %" PRIu64 " holds block %" PRIu64, path, at, block);
	}
}

static void run(int phase)
{
	uint64_t reads[2], sectors[2];
	struct readers all;

	readers_fork(&all, readers, read_file, phase);
	disks_read(readers, &reads[0], &sectors[0]);
	mark(readers, 2 * phase);
	readers_run(&all);
	mark(readers, 2 * phase + 1);
	disks_read(readers, &reads[1], &sectors[1]);
	lab_result("{\"phase\":\"%s\",\"reads\":%" PRIu64 ",\"sectors\":%" PRIu64 "}",
		   phase_names[phase], reads[1] - reads[0], sectors[1] - sectors[0]);
}

/* How the frames of consecutive cached pages of the files follow each other. */
static void frames(void)
{
	uint64_t pairs = 0, up = 0, down = 0;
	int pagemap = open("/proc/self/pagemap", O_RDONLY);

	for (uint64_t reader = 0; reader < readers; reader++) {
		static unsigned char resident[1 << 20];
		char path[64];
		uint64_t before = 0;

		file_path(reader, path, sizeof(path));
		int file = open(path, O_RDONLY);
		char *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);

		if (map == MAP_FAILED || bytes / PAGE > sizeof(resident) ||
		    mincore(map, bytes, resident))
			lab_fail("map %s", path);
		for (uint64_t page = 0; page < bytes / PAGE; page++) {
			uint64_t entry = 0;

			if (resident[page] & 1) {
				(void)*(volatile char *)(map + page * PAGE);
				if (pread(pagemap, &entry, 8, ((uintptr_t)map / PAGE + page) * 8) != 8)
					lab_fail("read pagemap");
			}
			uint64_t frame = entry & ((1ULL << 55) - 1);

			if (before && frame) {
				pairs++;
				up += frame == before + 1;
				down += frame + 1 == before;
			}
			before = frame;
		}
		munmap(map, bytes);
		close(file);
	}
	lab_result("{\"pairs\":%" PRIu64 ",\"ascending\":%" PRIu64 ",\"descending\":%" PRIu64 "}",
		   pairs, up, down);
}

/* Days of other work; their files are on the last disk. */
static void age_memory(uint64_t days, const struct age_dose *dose)
{
	char disk[NAME_MAX + 1], device[PATH_MAX];
	struct age aged = { .random = { lab_number("seed") }, .disk = device };

	disk_name(readers, disk);
	snprintf(device, sizeof(device), "/dev/%s", disk);
	for (uint64_t day = 0; day < days; day++)
		age_day(&aged, dose);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	const struct age_dose dose = {
		.pages = lab_number("pages"),
		.rounds = lab_number("rounds"),
		.keep = lab_number("keep"),
		.forked = lab_number("forked"),
		.files = lab_number("files"),
	};

	coloring_check();
	readers = lab_number("readers");
	bytes = lab_number("bytes");
	direct_bytes = lab_number("direct");
	mount_disks(readers, lab_text("fs"));
	disks_read_ahead(readers, lab_number("read_ahead"));
	age_memory(lab_number("age"), &dose);
	for (int phase = DIRECT; phase < PHASES; phase++) {
		int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;

		direct_buffer[phase] = mmap(NULL, buffer_size[phase], PROT_READ | PROT_WRITE,
					    flags | (phase == DIRECT ? 0 : MAP_HUGETLB), -1, 0);
		if (direct_buffer[phase] == MAP_FAILED)
			lab_fail("map a buffer for direct reads");
	}
	lab_result("{\"max_segments\":%" PRIu64 ",\"max_segment_size\":%" PRIu64
		   ",\"max_sectors_kb\":%" PRIu64 ",\"read_ahead_kb\":%" PRIu64
		   ",\"free\":%" PRIu64 ",\"memory\":%" PRIu64 "}",
		   queue_limit("max_segments"), queue_limit("max_segment_size"),
		   queue_limit("max_sectors_kb"), queue_limit("read_ahead_kb"), age_free_pages() * PAGE,
		   (uint64_t)sysconf(_SC_PHYS_PAGES) * PAGE);
	lab_note("%" PRIu64 " readers of %" PRIu64 " MiB each", readers, bytes / MIB);
	run(CACHED);
	frames();
	run(DIRECT);
	run(DIRECT_HUGE);
	lab_done();
}
