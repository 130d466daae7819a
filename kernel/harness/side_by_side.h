/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The index and its twin, given the same random operations. */
#ifndef HARNESS_SIDE_BY_SIDE_H
#define HARNESS_SIDE_BY_SIDE_H

#include "numbers.h"

/*
 * Up to @operations on a random span; fewer if a fuzzer's numbers end. The two
 * are compared after each. If they differ, what differs is printed and the
 * program aborted.
 */
uint64_t side_by_side(struct numbers *numbers, uint64_t operations);

#endif
