/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Days between the loads: processes touch and free most of memory in random order
 * while they write small files, most of which are removed in the evening.
 */
#ifndef HUEPAGE_MIXED_DAYS_H
#define HUEPAGE_MIXED_DAYS_H

#include "age.h"
#include "mixed_load.h"
#include "placement.h"

#include <sys/stat.h>

#define DAY_FILES "/files"
#define DAY_PROCESSES 6
#define DAY_FILES_EACH 200
/* One file in so many stays, until the same process writes it anew another day. */
#define DAY_KEEPS 8

static inline void day_file_name(char *path, size_t size, unsigned int round, unsigned int process,
				 unsigned int file)
{
	snprintf(path, size, DAY_FILES "/%u-%u-%u", round, process, file);
}

static inline void day_file(struct lab_random *random, unsigned int round, unsigned int process,
			    unsigned int number)
{
	static char page[PAGE] = { 1 };
	char path[64];

	day_file_name(path, sizeof(path), round, process, number);
	int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	if (file < 0)
		lab_fail("make %s", path);
	for (size_t left = 1 + lab_below(random, 12); left; left--)
		if (write(file, page, PAGE) != (ssize_t)PAGE)
			lab_fail("write %s", path);
	close(file);
}

/* One process of a day: it touches pages, writes files in between, and frees. */
static inline void day_process(struct lab_random *random, size_t pages, unsigned int round,
			       unsigned int process)
{
	char *memory = small_pages(pages);
	uint32_t *order = shuffled(random, pages);
	unsigned int files = 0;

	lab_run_on(process % 2);
	for (size_t i = 0; i < pages; i++) {
		touch_page(memory, order[i]);
		if (i * DAY_FILES_EACH / pages >= files)
			day_file(random, round, process, files++);
		if (!lab_below(random, 256))
			give_way();
	}
	lab_shuffle(random, order, pages);
	for (size_t i = 0; i < pages; i++)
		if (madvise(memory + order[i] * PAGE, PAGE, MADV_DONTNEED))
			lab_fail("free a page");
}

static inline void day_evening(struct lab_random *random, unsigned int round)
{
	char path[64];

	for (unsigned int process = 0; process < DAY_PROCESSES; process++)
		for (unsigned int file = 0; file < DAY_FILES_EACH; file++) {
			day_file_name(path, sizeof(path), round, process, file);
			if (lab_below(random, DAY_KEEPS) && unlink(path) && errno != ENOENT)
				lab_fail("remove %s", path);
		}
}

static inline void day(struct lab_random *random, unsigned int rounds)
{
	/* Here wait() for any child must only find children of this day. */
	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
		lab_fail("a load left children");
	errno = 0;
	mkdir(DAY_FILES, 0755);
	for (unsigned int round = 0; round < rounds; round++) {
		size_t pages = age_free_pages() * 3 / 4 / DAY_PROCESSES;

		for (unsigned int process = 0; process < DAY_PROCESSES; process++) {
			struct lab_random own = { lab_next(random) };

			if (lab_fork())
				continue;
			day_process(&own, pages, round, process);
			_exit(0);
		}
		mixed_wait_all(DAY_PROCESSES);
		day_evening(random, round);
	}
}

#endif
