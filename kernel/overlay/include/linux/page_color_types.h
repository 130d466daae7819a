/* SPDX-License-Identifier: GPL-2.0-only */
/* What page coloring keeps in structures of others. */
#ifndef _LINUX_PAGE_COLOR_TYPES_H
#define _LINUX_PAGE_COLOR_TYPES_H

#include <linux/types.h>

struct page_color_set;

/**
 * struct page_color_hint - where the page that is allocated next will be used
 * @page: number of the page in its address space or file
 * @offset: where that address space or file begins in the cycle of colors, in
 *          parts of 2^32
 * @valid: whether the allocation has a place at all
 */
struct page_color_hint {
	unsigned long page;
	u32 offset;
	bool valid;
};

/**
 * struct page_color_task - what coloring knows of a task
 * @set: colors that it was given, or NULL; changed under cpuset_mutex
 * @both: of these, the colors that its cpuset has, too. NULL if @set is, or if
 *        there are none: then those of the cpuset count. Changed under
 *        cpuset_mutex whenever one of the two sets changes.
 * @hint: set by whoever allocates on behalf of an address or a file
 */
struct page_color_task {
	struct page_color_set __rcu *set;
#ifdef CONFIG_CPUSETS
	struct page_color_set __rcu *both;
#endif
	struct page_color_hint hint;
};

/**
 * struct page_color_run - the pages of consecutive colors that a CPU holds
 * @key: which place the first of them is for
 * @set: whose colors they are; only compared, never followed
 * @shift: how long the next run may be; grows while places follow each other
 */
struct page_color_run {
	u64 key;
	const void *set;
	u8 shift;
};

#endif /* _LINUX_PAGE_COLOR_TYPES_H */
