/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lists of colors: what files refuse, and whether pages have the colors of a list. */
#ifndef HUEPAGE_COLOR_LISTS_H
#define HUEPAGE_COLOR_LISTS_H

#include "files.h"
#include "frames.h"

#define DIR "/sys/kernel/mm/page_color/"
#define SELF "/proc/thread-self/page_colors"
#define COLORS 4096

/* A list of one color, padded with spaces to one byte more than a file takes. */
static char long_list[(64 << 10) + 1];

static inline void expect_refused_lists(const char *path)
{
	static const char *const bad[] = { ",",   "4096", "0-4096",  "x",
					   "3-1", "1\n2", "0-7:3/2", "-1" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		expect_write(path, bad[i], EINVAL);
	if (write_at(path, "1\0002", 3, 0) != EINVAL || write_at(path, "1", 1, 1) != EINVAL)
		lab_fail("a byte of 0, or an offset, is not refused");
	memset(long_list, ' ', sizeof(long_list));
	long_list[0] = '4';
	if (write_at(path, long_list, sizeof(long_list), 0) != E2BIG)
		lab_fail("64 KiB + 1 are not refused");
}

/* After lists that are refused: the longest list that is taken, of color 4. */
static inline void expect_longest_list(const char *path)
{
	if (write_at(path, long_list, sizeof(long_list) - 1, 0))
		lab_fail("64 KiB are refused");
}

/* How many pages have none of these colors. */
static inline unsigned outside(const char *memory, size_t pages, unsigned first, unsigned last)
{
	unsigned found = 0;

	for (size_t i = 0; i < pages; i++) {
		unsigned color = frame_of(memory + i * PAGE) % COLORS;

		found += color < first || color > last;
	}
	return found;
}

#endif
