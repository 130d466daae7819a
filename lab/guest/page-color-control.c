// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What page coloring is told and what it tells: files in sysfs and procfs.
 * Settings: check=yes also writes to all of them.
 */
#define _GNU_SOURCE
#include "files.h"

#include <stdlib.h>

#define DIR "/sys/kernel/mm/page_color/"

static void show(const char *when)
{
	static const char *const files[] = { "enabled", "cache_size", "ways",
					     "colors", "source" };
	char text[2048] = "";

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char path[64];
		size_t at = strlen(text);

		snprintf(path, sizeof(path), DIR "%s", files[i]);
		snprintf(text + at, sizeof(text) - at, ",\"%s\":\"%.200s\"", files[i],
			 file_line(path));
	}
	lab_result("{\"when\":\"%s\"%s}", when, text);
}

/* The number after a word, summed over all zones. */
static uint64_t statistic(const char *word)
{
	FILE *file = fopen("/proc/page_color", "re");
	char line[256], name[64];
	uint64_t sum = 0, value;

	if (!file)
		lab_fail("open /proc/page_color");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " %63s %lu", name, &value) == 2 && !strcmp(name, word))
			sum += value;
	fclose(file);
	return sum;
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
	uint64_t before = statistic("exact");

	expect_write(DIR "enabled", "1", 0);
	expect_write(DIR "enabled", "1", 0);
	expect_line(DIR "enabled", "1");
	expect_line("/proc/page_color", "enabled 1");
	expect_write(DIR "cache_size", "8M", EBUSY);
	expect_write(DIR "cache_size", "auto", EBUSY);
	expect_write(DIR "ways", "2", EBUSY);
	expect_line(DIR "colors", "4096");
	memset(lab_map(8 * MIB), 1, 8 * MIB);
	lab_result("{\"when\":\"8 MiB\",\"exact\":%lu,\"next\":%lu,\"fallback\":%lu,"
		   "\"free_min\":%lu,\"free_median\":%lu,\"free_max\":%lu}",
		   statistic("exact") - before, statistic("next"), statistic("fallback"),
		   statistic("free_min"), statistic("free_median"),
		   statistic("free_max"));
}

/* Lines, and free frames, of the table. */
static void table(void)
{
	FILE *file = fopen("/proc/page_color_table", "re");
	char line[128], last[128] = "", zone[32];
	uint64_t lines = 0, sum = 0, color, wanted = 0;
	int node, free;

	if (!file || !fgets(line, sizeof(line), file))
		lab_fail("read /proc/page_color_table");
	if (strcmp(line, "node zone color free\n"))
		lab_fail("the table begins with %s", line);
	for (; fgets(line, sizeof(line), file); lines++) {
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
	lab_result("{\"when\":\"table\",\"lines\":%lu,\"free\":%lu}", lines, sum);
}

/* Some machines tell of no cache: then there is nothing to enable. */
static void detection(void)
{
	const char *colors = "/proc/self/page_colors";
	int error = write_at(DIR "cache_size", "auto", 4, 0);

	if (error && error != ENODEV)
		lab_fail("cache_size does not take auto");
	show("auto");
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
		expect_write(DIR "enabled", "0", 0);
		expect_line(DIR "enabled", "0");
		detection();
	}
	lab_done();
}
