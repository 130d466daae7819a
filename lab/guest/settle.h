/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Waits until the kernel has compacted what it would compact in the background. */
#ifndef HUEPAGE_SETTLE_H
#define HUEPAGE_SETTLE_H

#include "lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* How much the kernel compacts by itself; it looks when the number is written. */
#define PROACTIVENESS "/proc/sys/vm/compaction_proactiveness"

static inline uint64_t pages_migrated(void)
{
	return lab_read_named("/proc/vmstat", "pgmigrate_success");
}

/*
 * The kernel looks twice a second whether memory is worth compacting; when that was
 * of no use, again in half a minute, in the midst of a pass. What it moves would be
 * counted as the pass's. So it is asked to look now, and may go on until it has moved
 * nothing for a while, or a minute has gone.
 */
static inline void settle(void)
{
	uint64_t migrated = pages_migrated();
	char same[32];

	/* It looks though the number be the same. */
	snprintf(same, sizeof(same), "%" PRIu64, lab_read_number(PROACTIVENESS));
	lab_write(PROACTIVENESS, same);
	for (int calm = 0, tries = 0; calm < 4 && tries < 120; tries++) {
		uint64_t before = migrated;

		usleep(500000);
		migrated = pages_migrated();
		calm = migrated == before ? calm + 1 : 0;
	}
}

#endif
