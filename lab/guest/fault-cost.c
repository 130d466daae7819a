// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What the kernel executes for a page: touched for the first time in order and at
 * random, as part of a larger page, copied on write, written to and read from a file,
 * freed, and at last as part of a larger page that has the colors of small ones. Each
 * kind of work is a region of its own.
 */
#define _GNU_SOURCE
#include "age.h"
#include "coloring.h"
#include "frames.h"
#include "large_pages.h"
#include "settle.h"

#include <inttypes.h>
#include <sys/wait.h>

enum {
	IN_ORDER = 1,
	UNMAP,
	AT_RANDOM,
	COPY,
	FILE_WRITE,
	FILE_FREE,
	FILE_READ,
	UNMAP_RANDOM,
	FILE_FORGET,
	TOUCH_LARGE,
	UNMAP_LARGE,
	TOUCH_HUGE,
	UNMAP_HUGE,
	BESIDE_SMALL,
	BESIDE_LOCKED,
};

/* With fewer colors, there is no quarter of the cache for larger pages. */
#define LATE_COLORS (4 * LARGE_PAGE / PAGE)

static size_t pages;
static uint32_t *order;
static char buffer[AGE_PIECE];

static void tell_pages(const char *work, uint64_t round, size_t count)
{
	lab_result("{\"work\":\"%s\",\"round\":%" PRIu64 ",\"pages\":%zu}", work, round, count);
}

static void tell(const char *work, uint64_t round)
{
	tell_pages(work, round, pages);
}

static void touch_in_order(uint64_t round)
{
	char *memory = lab_map_small(pages * PAGE);

	settle();
	REGION_BEGIN(IN_ORDER);
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(memory + i * PAGE) = 1;
	REGION_END(IN_ORDER);
	tell("touch in order", round);
	REGION_BEGIN(UNMAP);
	munmap(memory, pages * PAGE);
	REGION_END(UNMAP);
	tell("unmap", round);
}

static void touch_at_random(uint64_t round)
{
	char *memory = lab_map_small(pages * PAGE);

	settle();
	REGION_BEGIN(AT_RANDOM);
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(memory + order[i] * PAGE) = 1;
	REGION_END(AT_RANDOM);
	tell("touch at random", round);
	REGION_BEGIN(UNMAP_RANDOM);
	munmap(memory, pages * PAGE);
	REGION_END(UNMAP_RANDOM);
	tell("unmap after random", round);
}

/* Accesses each page of `part` small ones once. */
static void touch_each(char *memory, size_t whole, size_t part)
{
	for (size_t i = 0; i < whole; i += part)
		*(volatile char *)(memory + i * PAGE) = 1;
}

static void touch_large(char *memory, size_t whole)
{
	REGION_BEGIN(TOUCH_LARGE);
	touch_each(memory, whole, LARGE_PAGE / PAGE);
	REGION_END(TOUCH_LARGE);
}

static void unmap_large(char *memory, size_t whole)
{
	REGION_BEGIN(UNMAP_LARGE);
	munmap(memory, whole * PAGE);
	REGION_END(UNMAP_LARGE);
}

static void touch_huge(char *memory, size_t whole)
{
	REGION_BEGIN(TOUCH_HUGE);
	touch_each(memory, whole, HUGE_PAGE / PAGE);
	REGION_END(TOUCH_HUGE);
}

static void unmap_huge(char *memory, size_t whole)
{
	REGION_BEGIN(UNMAP_HUGE);
	munmap(memory, whole * PAGE);
	REGION_END(UNMAP_HUGE);
}

struct size {
	const char *enabled, *faults;
	size_t bytes;
	void (*touch)(char *memory, size_t whole);
	void (*unmap)(char *memory, size_t whole);
	const char *touched, *unmapped;
};

static const struct size sizes[] = {
	{ LARGE "enabled", LARGE "stats/anon_fault_alloc", LARGE_PAGE, touch_large, unmap_large,
	  "touch, 64 KiB", "unmap, 64 KiB" },
	{ HUGE "enabled", HUGE "stats/anon_fault_alloc", HUGE_PAGE, touch_huge, unmap_huge,
	  "touch, 2 MiB", "unmap, 2 MiB" },
};

/* Touches memory in pages of one larger size, of which none may be missing. */
static void touch_whole(char *memory, size_t whole, const struct size *size,
			void (*touch)(char *memory, size_t whole))
{
	size_t part = size->bytes / PAGE;
	uint64_t before = lab_read_number(size->faults);

	lab_write(size->enabled, "madvise");
	settle();
	touch(memory, whole);
	lab_write(size->enabled, "never");
	if (lab_read_number(size->faults) - before != whole / part)
		lab_fail("%zu pages are not all in pages of %zu", whole, part);
}

/* As many whole pages of one larger size as there are. */
static void larger_pages(uint64_t round, const struct size *size)
{
	size_t part = size->bytes / PAGE, whole = pages / part * part;
	char *memory = map_large(whole * PAGE);

	touch_whole(memory, whole, size, size->touch);
	tell_pages(size->touched, round, whole);
	size->unmap(memory, whole);
	tell_pages(size->unmapped, round, whole);
}

static void beside_small(char *memory, size_t whole)
{
	REGION_BEGIN(BESIDE_SMALL);
	touch_each(memory, whole, LARGE_PAGE / PAGE);
	REGION_END(BESIDE_SMALL);
}

static void beside_locked(char *memory, size_t whole)
{
	REGION_BEGIN(BESIDE_LOCKED);
	touch_each(memory, whole, LARGE_PAGE / PAGE);
	REGION_END(BESIDE_LOCKED);
}

/*
 * A quarter of the cache in pages of 64 KiB, where the program has small pages of every
 * second color, so that each of the larger ones has eight of their colors.
 */
static void late_pages(uint64_t round, const char *work, int lock,
		       void (*touch)(char *memory, size_t whole))
{
	size_t colors = lab_number("colors"), whole = colors / 4;
	char *memory = lab_map_small(colors * PAGE), *large = map_large(whole * PAGE);

	touch_each(memory, colors, 1);
	for (size_t i = 0; i < colors; i++)
		if (frame_of(memory + i * PAGE) % 2 &&
		    madvise(memory + i * PAGE, PAGE, MADV_DONTNEED))
			lab_fail("free a page");
	/* The program was larger than the cache: it is counted anew. */
	touch_each(memory, colors / 64, 1);
	/* Only what is in memory is locked. */
	if (lock && mlock2(memory, colors * PAGE, MLOCK_ONFAULT))
		lab_fail("lock %zu pages", colors);
	touch_whole(large, whole, &sizes[0], touch);
	tell_pages(work, round, whole);
	munmap(large, whole * PAGE);
	munmap(memory, colors * PAGE);
}

/* A child copies all pages, and frees them as it ends. */
static void copy_on_write(uint64_t round)
{
	char *memory = lab_map_small(pages * PAGE);
	int status;

	memset(memory, 1, pages * PAGE);
	settle();
	REGION_BEGIN(COPY);
	pid_t child = fork();

	if (child < 0)
		lab_fail("fork");
	if (!child) {
		for (size_t i = 0; i < pages; i++)
			*(volatile char *)(memory + i * PAGE) = 2;
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		lab_fail("the child ended with status %d", status);
	REGION_END(COPY);
	tell("fork, copy, exit", round);
	munmap(memory, pages * PAGE);
}

/* A file in memory: its pages are in the page cache as well. */
static void write_file(uint64_t round)
{
	int file = memfd_create("written", 0);

	if (file < 0)
		lab_fail("make a file in memory");
	settle();
	REGION_BEGIN(FILE_WRITE);
	for (size_t at = 0; at < pages * PAGE; at += AGE_PIECE)
		if (write(file, buffer, AGE_PIECE) != (ssize_t)AGE_PIECE)
			lab_fail("write a file at %zu", at);
	REGION_END(FILE_WRITE);
	tell("write a file", round);
	REGION_BEGIN(FILE_FREE);
	close(file);
	REGION_END(FILE_FREE);
	tell("free a file", round);
}

static void read_disk(uint64_t round)
{
	int disk = open("/dev/sda", O_RDONLY);

	if (disk < 0)
		lab_fail("open /dev/sda");
	lab_write("/proc/sys/vm/drop_caches", "1");
	settle();
	REGION_BEGIN(FILE_READ);
	for (size_t at = 0; at < pages * PAGE; at += AGE_PIECE)
		if (pread(disk, buffer, AGE_PIECE, at) != (ssize_t)AGE_PIECE)
			lab_fail("read the disk at %zu", at);
	REGION_END(FILE_READ);
	tell("read a disk", round);
	REGION_BEGIN(FILE_FORGET);
	close(disk);
	lab_write("/proc/sys/vm/drop_caches", "1");
	REGION_END(FILE_FORGET);
	tell("forget a disk", round);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	struct lab_random random = { lab_number("seed") };
	uint64_t rounds = lab_number("rounds");

	coloring_check();
	pages = lab_number("pages");
	if (!pages || pages * PAGE % AGE_PIECE)
		lab_fail("pages=%zu is no whole number of %lu KiB", pages, AGE_PIECE >> 10);
	order = lab_map(pages * sizeof(*order));
	age_order(&random, order, pages);
	lab_write(HUGE "enabled", "never");
	for (uint64_t round = 0; round < rounds; round++) {
		lab_note("round %" PRIu64 " of %" PRIu64, round + 1, rounds);
		touch_in_order(round);
		touch_at_random(round);
		copy_on_write(round);
		write_file(round);
		read_disk(round);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			larger_pages(round, &sizes[i]);
	}
	/* These leave other free lists behind, so they come last. */
	for (uint64_t round = 0; round < rounds && lab_number("colors") >= LATE_COLORS; round++) {
		late_pages(round, "touch, 64 KiB, beside small pages", 0, beside_small);
		late_pages(round, "touch, 64 KiB, beside locked pages", 1, beside_locked);
	}
	lab_done();
}
