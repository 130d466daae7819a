/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Times a subject in a scenario. */
#ifndef HARNESS_BENCH_MEASURE_H
#define HARNESS_BENCH_MEASURE_H

#include "subject.h"

struct system;

/* Free frames kept by a subject; a share of 1 / 2^16 is 1. */
struct system *system_make(const struct subject *subject,
			   const struct scenario *scenario,
			   uint32_t free_share, uint64_t seed);

/* A sum of the colors taken at first: what all subjects must agree in. */
uint64_t system_taken(const struct system *system);

/*
 * Nanoseconds for a frame taken and a frame given back: the median of the
 * batches of a short while.
 */
double system_time(struct system *system);

void system_destroy(struct system *system);

#endif
