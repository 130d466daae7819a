/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the accesses to each page frame came to, over all regions of interest and
 * CPUs: with it a program's counts can be told by its mappings.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Frames from here on are not told apart: 64 GiB. */
#define FRAMES_END (UINT64_C(1) << 24)

struct frames {
	size_t caches;    /* kinds of misses: each level, then memory-side caches */
	uint64_t *counts; /* by frame: accesses, then misses in each cache */
	size_t count;     /* frames that there is room for */
	bool incomplete;  /* memory ran out, or a frame was beyond the end */
};

void frames_init(struct frames *frames, size_t caches);

/* An access to a frame. */
void frames_access(struct frames *frames, uint64_t frame);

/* A line of a frame was in that cache not found. */
void frames_miss(struct frames *frames, uint64_t frame, size_t cache);

/* A line of JSON: {"frames":[[frame,accesses,misses in each cache],…]}, ascending. */
void frames_print(const struct frames *frames, FILE *out);

#endif
