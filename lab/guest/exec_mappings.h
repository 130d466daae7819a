/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The mappings of a process and the frames behind their pages, as lines of text:
 *
 *   process PID
 *   mapping START END PERMISSIONS NAME     addresses hexadecimal
 *   frames FIRST COUNT                     of pages in memory, in order
 *   zeros FRAME COUNT                      a zero page, and for how many pages in order
 */
#ifndef HUEPAGE_EXEC_MAPPINGS_H
#define HUEPAGE_EXEC_MAPPINGS_H

#include "frames.h"

#include <stdlib.h>
#include <string.h>

#define MAPPINGS_AT_ONCE 512
/* The most zero pages that there can be; see mm/zero_pages. */
#define MAPPINGS_ZEROS 512
#define FRAME_OF_FILE (UINT64_C(1) << 61)
#define KPF_ZERO_PAGE 24

struct mappings_run {
	const char *word;
	uint64_t first, count;
};

static inline void mappings_end_run(FILE *out, struct mappings_run *run)
{
	if (run->count)
		fprintf(out, "%s %lu %lu\n", run->word, run->first, run->count);
	run->count = 0;
}

static inline bool mappings_is_zero(uint64_t frame)
{
	static int flags_file = -1;
	static uint64_t known = UINT64_MAX;
	uint64_t flags = 0;

	if (frame == known)
		return true;
	if (flags_file < 0)
		flags_file = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (flags_file < 0 || pread(flags_file, &flags, 8, (off_t)(frame * 8)) != 8)
		lab_fail("read /proc/kpageflags of frame %lu", frame);
	if (flags & UINT64_C(1) << KPF_ZERO_PAGE)
		known = frame;
	return frame == known;
}

static inline void mappings_page(FILE *out, uint64_t entry, struct mappings_run *run)
{
	uint64_t frame = entry & FRAME_NUMBER;
	bool zero = !(entry & FRAME_OF_FILE) && mappings_is_zero(frame);
	const char *word = zero ? "zeros" : "frames";

	if (run->count && run->word == word &&
	    frame == (zero ? run->first : run->first + run->count)) {
		run->count++;
		return;
	}
	mappings_end_run(out, run);
	*run = (struct mappings_run){ word, frame, 1 };
}

static inline void mappings_pages(FILE *out, int pagemap, uint64_t start, uint64_t end)
{
	uint64_t entries[MAPPINGS_AT_ONCE], page = start / PAGE, last = end / PAGE;
	struct mappings_run run = { 0 };

	while (page < last) {
		size_t count = last - page < MAPPINGS_AT_ONCE ? last - page : MAPPINGS_AT_ONCE;
		ssize_t got = pread(pagemap, entries, count * 8, (off_t)(page * 8));

		/* An address outside of user space, as vsyscall is. */
		if (got < 8)
			break;
		for (size_t i = 0; i < (size_t)got / 8; i++)
			if (entries[i] & FRAME_PRESENT)
				mappings_page(out, entries[i], &run);
		page += got / 8;
	}
	mappings_end_run(out, &run);
}

/*
 * Writes all zero pages that the kernel has, as those of a process 0: a process that
 * read them may have unmapped them before its end. The lowest bits of an address decide
 * which one it gets.
 */
static inline void mappings_write_zeros(FILE *out)
{
	char *memory = lab_map_small(MAPPINGS_ZEROS * PAGE);

	fprintf(out, "process 0\nmapping 0 0 r--p \n");
	for (size_t i = 0; i < MAPPINGS_ZEROS; i++) {
		(void)*(volatile char *)(memory + i * PAGE);
		fprintf(out, "zeros %lu 0\n", frame_of(memory + i * PAGE));
	}
	munmap(memory, MAPPINGS_ZEROS * PAGE);
}

/* Of a process that is stopped at its exit. */
static inline void mappings_write(FILE *out, pid_t process)
{
	char path[64], *line = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", process);
	FILE *maps = fopen(path, "r");

	snprintf(path, sizeof(path), "/proc/%d/pagemap", process);
	int pagemap = open(path, O_RDONLY | O_CLOEXEC);

	if (!maps || pagemap < 0)
		lab_fail("open the maps of process %d", process);
	fprintf(out, "process %d\n", process);
	while (getline(&line, &size, maps) > 0) {
		uint64_t start, end;
		char permissions[8];
		int name = 0;

		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %n", &start, &end, permissions,
			   &name) < 3)
			lab_fail("understand '%.100s'", line);
		fprintf(out, "mapping %lx %lx %s %s", start, end, permissions,
			name && line[name] ? line + name : "\n");
		mappings_pages(out, pagemap, start, end);
	}
	free(line);
	fclose(maps);
	close(pagemap);
}

#endif
