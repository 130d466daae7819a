/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is compared: ways to keep free frames so that the next color is found. */
#ifndef HARNESS_BENCH_SUBJECT_H
#define HARNESS_BENCH_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scenario {
	uint32_t frames;
	/* A power of two. */
	uint32_t colors;
};

struct subject {
	const char *name;
	/* Whether it is made fastest from frames in order of their colors. */
	bool by_color;
	void (*make)(const struct scenario *scenario);
	void (*push)(uint32_t frame);
	/* Takes a frame of the color, or else of the next that there is. */
	uint32_t (*pop)(uint32_t color);
	void (*destroy)(void);
	/*
	 * Memory in a kernel, beside struct page: two lists of 11 orders, list
	 * heads of 16 bytes, tree nodes of 24.
	 */
	size_t (*bytes)(const struct scenario *scenario);
};

extern const struct subject bench_index, bench_index_beside_list, bench_linear,
	bench_lists_and_tree, bench_tree;

#endif
