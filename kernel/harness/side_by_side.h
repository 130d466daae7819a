/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The words of bits and the twin, which are given the same operations. */
#ifndef HARNESS_SIDE_BY_SIDE_H
#define HARNESS_SIDE_BY_SIDE_H

#include "numbers.h"

/*
 * Does so many operations on one memory and one cache, both of random size.
 * Ends the program where the two differ. Returns how many were done.
 */
uint64_t side_by_side(struct numbers *numbers, uint64_t operations);

#endif
