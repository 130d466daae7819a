// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The result of zero_pages= at boot: what the kernel reports, and in how many
 * frames memory lies that was read and never written.
 */
#define _GNU_SOURCE
#include "files.h"
#include "frames.h"

#include <stdbool.h>

#define ZERO_PAGES "/sys/kernel/mm/zero_pages/"
/* More than there can be zero pages. */
#define PAGES 512

/* Reads all of it. */
static bool is_zero(const uint64_t *words, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all |= words[i];
	return !all;
}

static size_t different(const uint64_t *frames, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		size_t before = 0;

		while (frames[before] != frames[i])
			before++;
		found += before == i;
	}
	return found;
}

int main(int argc, char **argv)
{
	static uint64_t frames[PAGES];

	lab_start(argc, argv);
	uint64_t *area = lab_map_small(PAGES * PAGE);
	bool zero = is_zero(area, PAGES * PAGE / sizeof(*area));

	frames_of(area, PAGES, frames);
	for (size_t i = 0; i < PAGES; i++)
		area[i * PAGE / sizeof(*area)] = 1;
	zero = zero && is_zero(lab_map_small(PAGES * PAGE), PAGES * PAGE / sizeof(*area));
	lab_result("{\"number\":%lu,\"frames\":%zu,\"zero\":%s}",
		   lab_read_number(ZERO_PAGES "number"), different(frames, PAGES),
		   zero ? "true" : "false");
	/* file_line() has one line at a time. */
	lab_result("{\"source\":\"%s\"}", file_line(ZERO_PAGES "source"));
	lab_result("{\"reason\":\"%s\"}", file_line(ZERO_PAGES "reason"));
	lab_done();
}
