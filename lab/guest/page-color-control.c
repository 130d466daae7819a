// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Settings and reports of page coloring: files in sysfs and procfs. Settings of this
 * guest: check=yes also writes to all of them.
 */
#define _GNU_SOURCE
#include "files.h"
#include "large_pages.h"

#include <stdbool.h>
#include <stdlib.h>

#define DIR "/sys/kernel/mm/page_color/"
#define NODES "/sys/devices/system/node/"

/* The files of a folder, as members of an object. */
static const char *members(const char *folder, const char *const *files, size_t count)
{
	static char text[2048];

	text[0] = 0;
	for (size_t i = 0; i < count; i++) {
		char path[128];
		size_t at = strlen(text);

		snprintf(path, sizeof(path), "%s%s", folder, files[i]);
		snprintf(text + at, sizeof(text) - at, ",\"%s\":\"%.200s\"", files[i],
			 file_line(path));
	}
	return text;
}

static void show(const char *when)
{
	static const char *const files[] = { "cache_size", "ways", "colors", "source",
					     "enabled" };
	char folder[128];

	lab_result("{\"when\":\"%s\"%s}", when, members(DIR, files, 5));
	for (int node = 0; node < 8; node++) {
		snprintf(folder, sizeof(folder), NODES "node%d/page_color/", node);
		if (!access(folder, F_OK))
			lab_result("{\"when\":\"%s\",\"node\":%d%s}", when, node,
				   members(folder, files, 4));
		snprintf(folder, sizeof(folder), NODES "node%d/memory_side_cache/index1/", node);
		if (!access(folder, F_OK))
			lab_result("{\"when\":\"%s\",\"side\":%d,\"address_mode\":\"%s\"}", when,
				   node, file_line(strcat(folder, "address_mode")));
	}
}

static void refusals(void)
{
	static const char *const sizes[] = { "", "x", "0", "1M,ways=3", "4096G",
					     "4K", "1M,policy=sequence", "-1" };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (*sizes[i])
			expect_write(DIR "cache_size", sizes[i], EINVAL);
	expect_write(DIR "ways", "0", EINVAL);
	expect_write(DIR "ways", "many", EINVAL);
	expect_write(DIR "enabled", "2", EINVAL);
}

static void geometry(void)
{
	expect_write(DIR "cache_size", "16M", 0);
	expect_write(DIR "ways", "1\n", 0);
	expect_line(DIR "cache_size", "16384K");
	expect_line(DIR "colors", "4096");
	expect_line(DIR "source", "sysfs");
	expect_line(NODES "node0/page_color/cache_size", "16384K");
	expect_line(NODES "node0/page_color/ways", "1");
	expect_line(NODES "node0/page_color/colors", "4096");
	expect_line(NODES "node0/page_color/source", "sysfs");
	expect_write(DIR "cache_size", "3072,ways=12\n", 0);
	expect_line(DIR "cache_size", "3072K");
	expect_line(DIR "ways", "12");
	expect_line(DIR "colors", "64");
	expect_write(DIR "cache_size", "x", EINVAL);
	expect_line(DIR "cache_size", "3072K");
	expect_write(DIR "cache_size", "16M,ways=1", 0);
}

static void enabled(void)
{
	uint64_t before = lab_read_named("/proc/vmstat", "page_color_best");

	expect_write(DIR "enabled", "1", 0);
	expect_write(DIR "enabled", "1", 0);
	expect_line(DIR "enabled", "1");
	expect_line("/proc/page_color", "enabled 1");
	expect_write(DIR "cache_size", "8M", EBUSY);
	expect_write(DIR "cache_size", "auto", EBUSY);
	expect_write(DIR "ways", "2", EBUSY);
	expect_line(DIR "colors", "4096");
	memset(lab_map(8 * MIB), 1, 8 * MIB);
	lab_result("{\"when\":\"8 MiB\",\"best\":%lu,\"none\":%lu}",
		   lab_read_named("/proc/vmstat", "page_color_best") - before,
		   lab_read_named("/proc/vmstat", "page_color_none"));
}

/* Free frames of all lines of the table, and how many lines there are. */
static uint64_t free_in_table(uint64_t *lines)
{
	FILE *file = fopen("/proc/page_color_table", "re");
	char line[128], last[128] = "", zone[32];
	uint64_t sum = 0, color, wanted = 0;
	int node, free;

	if (!file || !fgets(line, sizeof(line), file))
		lab_fail("read /proc/page_color_table");
	if (strcmp(line, "node zone color free\n"))
		lab_fail("the table begins with %s", line);
	for (*lines = 0; fgets(line, sizeof(line), file); ++*lines) {
		if (sscanf(line, "%d %31s %lu %d", &node, zone, &color, &free) != 4)
			lab_fail("the table has %s", line);
		if (strcmp(zone, last))
			wanted = 0;
		strcpy(last, zone);
		if (color != wanted++)
			lab_fail("color %lu comes after %lu", color, wanted - 2);
		sum += free;
	}
	fclose(file);
	return sum;
}

static void table(void)
{
	uint64_t lines, free = free_in_table(&lines);

	lab_result("{\"when\":\"table\",\"lines\":%lu,\"free\":%lu}", lines, free);
}

/*
 * Takes the highest block of memory offline that can be; its state file stays in @path.
 */
static bool take_offline(char *path, size_t size)
{
	for (int block = 40; block > 0; block--) {
		snprintf(path, size, "/sys/devices/system/memory/memory%d/state", block);
		if (!write_text(path, "offline"))
			return true;
	}
	return false;
}

/* Frames of a block that is offline must not count as free: the memory may be gone. */
static void offline_is_not_free(void)
{
	uint64_t lines, table, all;
	char path[64];

	if (!take_offline(path, sizeof(path)))
		return;
	table = free_in_table(&lines);
	all = lab_read_named("/proc/meminfo", "MemFree:") * 1024 / PAGE;
	lab_result("{\"when\":\"offline\",\"free\":%lu,\"all\":%lu}", table, all);
	expect_write(path, "online", 0);
}

/*
 * Memory is removed and added: for nodes without a cache detection is repeated each time.
 */
static void memory_goes_and_comes(void)
{
	char path[64];
	int times = 0;

	for (; times < 3 && take_offline(path, sizeof(path)); times++)
		expect_write(path, "online", 0);
	lab_result("{\"when\":\"memory\",\"times\":%d}", times);
}

/*
 * Coloring is turned off while a CPU has pages of 64 KiB ready for a program: all of
 * these pages must be free then, however often it is done.
 */
static void off_with_pages_ready(void)
{
	enum { TIMES = 64 };
	uint64_t before = 0;

	lab_write(LARGE "enabled", "madvise");
	lab_write(HUGE "enabled", "never");
	for (int i = 0; i <= TIMES; i++) {
		char *memory = map_large(8 * MIB);

		expect_write(DIR "enabled", "1", 0);
		/* Of the pages that a CPU takes at once, some are left on its list. */
		memset(memory, 1, 4 * MIB + i % 4 * LARGE_PAGE);
		expect_write(DIR "enabled", "0", 0);
		munmap(memory, 8 * MIB);
		if (!i)
			before = lab_read_named("/proc/meminfo", "MemFree:");
	}
	lab_result("{\"when\":\"off\",\"times\":%d,\"before_kib\":%lu,\"after_kib\":%lu,"
		   "\"large\":%lu}",
		   TIMES, before, lab_read_named("/proc/meminfo", "MemFree:"),
		   lab_read_number(LARGE "stats/anon_fault_alloc"));
}

/* Some machines report no cache: then coloring cannot be enabled. */
static void detection(void)
{
	const char *colors = "/proc/self/page_colors";
	int error = write_at(DIR "cache_size", "auto", 4, 0);

	if (error && error != ENODEV)
		lab_fail("cache_size does not take auto");
	show("auto");
	memory_goes_and_comes();
	expect_write(DIR "enabled", "1", error);
	if (error) {
		expect_line(DIR "source", "none");
		expect_line(colors, "error: No such device");
	}
	expect_write(colors, "0", error);
	expect_write(DIR "enabled", "0", 0);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	show("boot");
	lab_result("{\"when\":\"proc\",\"first\":\"%s\"}", file_line("/proc/page_color"));
	if (!strcmp(lab_text("check"), "yes")) {
		refusals();
		geometry();
		enabled();
		table();
		offline_is_not_free();
		expect_write(DIR "enabled", "0", 0);
		expect_line(DIR "enabled", "0");
		off_with_pages_ready();
		detection();
	}
	lab_done();
}
