/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions of interest: from a begin to its end, which writes a record per CPU.
 */
#ifndef REGION_H
#define REGION_H

#include <stdio.h>

#include "addresses.h"
#include "hierarchy.h"

struct regions {
	struct hierarchy *hierarchy;
	FILE *out;
	/* Instructions that a CPU executed so far, without the marks. */
	uint64_t (*instructions)(unsigned int cpu);
	uint64_t *instructions_before; /* by CPU, at the latest begin */
	struct addresses addresses; /* of which executions inside are counted */
	bool inside;
	unsigned int current; /* while inside */
	unsigned int sequence;
};

bool regions_init(struct regions *regions, struct hierarchy *hierarchy, FILE *out,
		  uint64_t (*instructions)(unsigned int cpu));

/*
 * For all CPUs at once. A begin inside a region and an end of another region
 * than the one begun are reported as errors and change nothing.
 */
void region_begin(struct regions *regions, unsigned int id);
void region_end(struct regions *regions, unsigned int id);

/* No access will follow. */
void regions_finish(struct regions *regions);

#endif
