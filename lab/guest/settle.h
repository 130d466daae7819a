/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Waits until the kernel has compacted what it would compact in the background. */
#ifndef HUEPAGE_SETTLE_H
#define HUEPAGE_SETTLE_H

#include "lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* How much the kernel compacts by itself; writing the number makes it look. */
#define PROACTIVENESS "/proc/sys/vm/compaction_proactiveness"

static inline uint64_t pages_migrated(void)
{
	return lab_read_named("/proc/vmstat", "pgmigrate_success");
}

/*
 * The kernel looks twice a second whether to compact memory; after a useless attempt,
 * only after half a minute, which may be in the midst of a pass, and the moves would
 * be counted as the pass's. So the kernel is asked to look now, and may compact until
 * it has moved nothing for a while, or for a minute.
 */
static inline void settle(void)
{
	uint64_t migrated = pages_migrated();
	char same[32];

	/* Writing the same number makes it look, too. */
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
