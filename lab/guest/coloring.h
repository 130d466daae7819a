/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whether the kernel colors pages as the experiment says. */
#ifndef HUEPAGE_COLORING_H
#define HUEPAGE_COLORING_H

#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLORING "/sys/kernel/mm/page_color/"

/* The first line of a file, without its end; false if there is no such file. */
static inline int coloring_line(const char *path, char *line, size_t size)
{
	int file = open(path, O_RDONLY);

	if (file < 0)
		return 0;
	ssize_t got = read(file, line, size - 1);

	if (got < 0)
		lab_fail("read %s", path);
	close(file);
	line[got] = 0;
	line[strcspn(line, "\n")] = 0;
	return 1;
}

static inline void coloring_expect(const char *name, const char *wanted)
{
	char path[128], line[128];

	snprintf(path, sizeof(path), COLORING "%s", name);
	if (!coloring_line(path, line, sizeof(line)))
		lab_fail("open %s: the kernel has no page coloring", path);
	errno = 0;
	if (strcmp(line, wanted))
		lab_fail("%s is '%s', not '%s': see page_color= and the kernel's log", path, line,
			 wanted);
}

/*
 * With coloring=off or coloring=on the kernel must have page coloring, and it must
 * be off, or on for a cache of color_cache bytes and color_ways ways. With
 * coloring=none it must not have it: otherwise the kernel would be compared with
 * itself.
 */
static inline void coloring_check(void)
{
	const char *coloring = lab_text("coloring");
	char size[32];

	if (!strcmp(coloring, "none")) {
		if (coloring_line(COLORING "enabled", size, sizeof(size)))
			lab_fail("this kernel can color pages: it is not the stock kernel");
		return;
	}
	if (!strcmp(coloring, "off")) {
		coloring_expect("enabled", "0");
		return;
	}
	coloring_expect("enabled", "1");
	snprintf(size, sizeof(size), "%luK", lab_number("color_cache") >> 10);
	coloring_expect("cache_size", size);
	coloring_expect("ways", lab_text("color_ways"));
}

#endif
