/* SPDX-License-Identifier: GPL-2.0-only */
/* What page coloring keeps in structures of others. */
#ifndef _LINUX_PAGE_COLOR_TYPES_H
#define _LINUX_PAGE_COLOR_TYPES_H

#include <linux/types.h>

struct mm_struct;
struct page_color_leaving;
struct page_color_set;
struct page_color_space;

/*
 * What an address space holds of each kind is told apart: a program works on its
 * anonymous pages and on files in memory at different times.
 */
enum page_color_kind {
	PAGE_COLOR_ANON,
	PAGE_COLOR_SHMEM,
	/* As a kind, what no address space holds: pages of other files. */
	PAGE_COLOR_KINDS,
};

/* Of a huge page that a fault allocates. */
enum page_color_huge {
	/* It was asked for, or nobody has said: only colors that it may not have matter. */
	PAGE_COLOR_HUGE,
	/* Small ones do as well. */
	PAGE_COLOR_HUGE_OR_SMALL,
	/* Small ones get better colors. */
	PAGE_COLOR_SMALL,
};

/**
 * struct page_color_task - what coloring knows of a task
 * @set: colors that it was given, or NULL; changed under cpuset_mutex
 * @both: of these, the colors that its cpuset has, too. NULL if @set is, or if
 *        there are none: then those of the cpuset count. Changed under
 *        cpuset_mutex whenever one of the two sets changes.
 * @whom: the address space that the task allocates a page for, until it has got
 *        one that is marked as held and nothing else is to be done;
 *        PAGE_COLOR_FILE for a page of a file; or NULL
 * @leaving: pages that it will take the place of, or NULL
 * @kind: what kind of page it will be
 * @huge: whether small pages do as well as the huge one that it allocates
 * @asked: in a fault: the huge page was asked for
 * @again: it moves pages whose colors other pages of the same address space have
 * @coming: holds the colors of a block that the task has got and may not have mapped yet:
 *          not to be looked into; or NULL
 * @coming_color: the first of them
 * @coming_order: of the block
 */
struct page_color_task {
	struct page_color_set __rcu *set;
#ifdef CONFIG_CPUSETS
	struct page_color_set __rcu *both;
#endif
	struct mm_struct *whom;
	struct page_color_leaving *leaving;
	enum page_color_kind kind;
	enum page_color_huge huge;
	bool asked;
	bool again;
	struct page_color_space *coming;
	u32 coming_color;
	unsigned int coming_order;
};

#define PAGE_COLOR_FILE	((struct mm_struct *)1)

/**
 * struct page_color_run - the pages of chosen colors that a CPU has ready
 * @space: the address space that they are for, or NULL; the run has a reference
 * @set: id of the set whose colors they are, or 0
 * @longest: how many were taken at once; the next time twice as many
 * @idle: nothing was taken since somebody looked
 * @mixed: the space held some of the colors before, for other pages
 * @order: of the larger pages; the space held none of their colors before
 */
struct page_color_run {
	struct page_color_space *space;
	u64 set;
	unsigned int longest;
	bool idle;
	bool mixed;
	unsigned int order;
};

/**
 * struct page_color_mm - what coloring knows of an address space
 * @spaces: the colors that it holds, once it is large; changed by whoever has set
 *          @counting
 * @counting: what it holds is being counted
 * @pages: of each kind, allocated since it was found to be small
 */
struct page_color_mm {
	struct page_color_space __rcu *spaces;
	int counting;
	unsigned long pages[PAGE_COLOR_KINDS];
};

#endif /* _LINUX_PAGE_COLOR_TYPES_H */
