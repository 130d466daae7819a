/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Times one subject in one scenario. */
#ifndef HARNESS_BENCH_MEASURE_H
#define HARNESS_BENCH_MEASURE_H

#include "subject.h"

struct measurement {
	/* For a frame taken and a frame given back; the median of batches. */
	double nanoseconds;
	/* Of the colors taken at first: what all subjects must agree in. */
	uint64_t taken;
};

/* A share of 1 / 2^16 is 1. */
struct measurement measure(const struct subject *subject,
			   const struct scenario *scenario,
			   uint32_t free_share, uint64_t seed);

#endif
