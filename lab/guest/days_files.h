/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A day of a machine that keeps files in memory: they are written until three quarters of
 * the free memory are used, then most are removed in another order. One in eight stays
 * until the next evening. In between a program of a sixteenth of memory starts and ends.
 */
#ifndef HUEPAGE_DAYS_FILES_H
#define HUEPAGE_DAYS_FILES_H

#include "mixed_days.h"

#include <sys/mount.h>

#define LARGEST_FILE 64

struct days_files {
	uint32_t number; /* of the next file */
	uint32_t *kept;  /* yesterday's, by number */
	size_t kept_count;
};

static inline void days_file_name(char *path, size_t size, uint32_t number)
{
	snprintf(path, size, DAY_FILES "/%u", number);
}

/* Writes a file. Returns how many pages it has. */
static inline size_t days_file_write(struct lab_random *random, uint32_t number)
{
	static char bytes[LARGEST_FILE * PAGE] = { 1 };
	size_t pages = 1 + lab_below(random, LARGEST_FILE);
	char path[64];

	days_file_name(path, sizeof(path), number);
	int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	if (file < 0)
		lab_fail("make %s", path);
	if (write(file, bytes, pages * PAGE) != (ssize_t)(pages * PAGE))
		lab_fail("write %s", path);
	close(file);
	return pages;
}

static inline void days_file_remove(uint32_t number)
{
	char path[64];

	days_file_name(path, sizeof(path), number);
	if (unlink(path))
		lab_fail("remove %s", path);
}

static inline void days_file_program(size_t pages)
{
	pid_t child = lab_fork();

	if (!child) {
		touch(small_pages(pages), pages);
		_exit(0);
	}
	lab_wait(child, "a child");
}

static inline void day_of_files(struct days_files *files, struct lab_random *random)
{
	size_t free_pages = age_free_pages(), wanted = free_pages / 4 * 3, used = 0, count = 0;
	uint32_t *today = lab_map(wanted * sizeof(*today));

	/* The root file system, in memory, may have no more than half of memory. */
	if (!mkdir(DAY_FILES, 0755) && mount("files", DAY_FILES, "tmpfs", 0, "size=95%"))
		lab_fail("mount files in memory");
	while (used < wanted) {
		used += days_file_write(random, files->number);
		today[count++] = files->number++;
		if (count % 256 == 0)
			days_file_program(free_pages / 16);
	}
	lab_shuffle(random, today, count);
	for (size_t i = count / DAY_KEEPS; i < count; i++)
		days_file_remove(today[i]);
	for (size_t i = 0; i < files->kept_count; i++)
		days_file_remove(files->kept[i]);
	free(files->kept);
	files->kept_count = count / DAY_KEEPS;
	files->kept = malloc(files->kept_count * sizeof(*today) + 1);
	if (!files->kept)
		lab_fail("memory for the numbers of files");
	memcpy(files->kept, today, files->kept_count * sizeof(*today));
	munmap(today, wanted * sizeof(*today));
}

#endif
