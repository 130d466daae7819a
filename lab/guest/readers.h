/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Parallel readers, a process each, which begin at the same moment. */
#ifndef HUEPAGE_READERS_H
#define HUEPAGE_READERS_H

#include "lab.h"

#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

struct readers {
	uint64_t count;
	int gate[2];
};

/* Forks them; each calls `read_all` with its number once the gate is closed. */
static inline void readers_fork(struct readers *readers, uint64_t count,
				void (*read_all)(uint64_t reader, int how), int how)
{
	readers->count = count;
	if (pipe(readers->gate))
		lab_fail("pipe");
	for (uint64_t reader = 0; reader < count; reader++) {
		if (!lab_fork()) {
			char go;

			close(readers->gate[1]);
			/* All begin when the gate is closed by the parent. */
			if (read(readers->gate[0], &go, 1))
				lab_fail("the gate holds a byte");
			read_all(reader, how);
			_exit(0);
		}
	}
}

/* Lets them go and waits until the last one has ended. */
static inline void readers_run(struct readers *readers)
{
	close(readers->gate[1]);
	for (uint64_t reader = 0; reader < readers->count; reader++) {
		int status;

		if (wait(&status) < 0 || status)
			lab_fail("a reader ended with status %d", status);
	}
	close(readers->gate[0]);
}

#endif
