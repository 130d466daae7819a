/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Kernel interfaces that are files: what they show, and how they refuse. */
#ifndef HUEPAGE_FILES_H
#define HUEPAGE_FILES_H

#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first line without its end; an error gives "error: TEXT". */
static inline const char *file_line(const char *path)
{
	static char line[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (got < 0)
		snprintf(line, sizeof(line), "error: %s", strerror(errno));
	else
		line[got] = 0;
	if (fd >= 0)
		close(fd);
	line[strcspn(line, "\n")] = 0;
	return line;
}

static inline void expect_line(const char *path, const char *wanted)
{
	const char *line = file_line(path);

	errno = 0;
	if (strcmp(line, wanted))
		lab_fail("%s has '%s', not '%s'", path, line, wanted);
}

/* Writes at an offset: 0, or the error number. */
static inline int write_at(const char *path, const void *text, size_t bytes, off_t at)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return errno;
	/* pwrite is not for files of procfs, and some files cannot seek at all. */
	ssize_t wrote = at && lseek(fd, at, SEEK_SET) < 0 ? -1 : write(fd, text, bytes);

	if (wrote < 0)
		error = errno;
	else if ((size_t)wrote != bytes)
		error = EIO;
	close(fd);
	return error;
}

static inline int write_text(const char *path, const char *text)
{
	return write_at(path, text, strlen(text), 0);
}

static inline void expect_write(const char *path, const char *text, int wanted)
{
	int error = write_text(path, text);

	errno = error;
	if (error != wanted)
		lab_fail("writing '%.40s' to %s gives %d, not %d", text, path, error,
			 wanted);
}

#endif
