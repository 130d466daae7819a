/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses to each page frame and misses of them, over all regions of interest and
 * CPUs: with a program's mappings they give the counts of that program.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Frames from this one on are not counted one by one: 64 GiB. */
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

/* A line of a frame missed in that cache. */
void frames_miss(struct frames *frames, uint64_t frame, size_t cache);

/* A line of JSON: {"frames":[[frame,accesses,misses in each cache],…]}, ascending. */
void frames_print(const struct frames *frames, FILE *out);

#endif
