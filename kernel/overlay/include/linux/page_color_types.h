/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields of page coloring in structures of other subsystems. */
#ifndef _LINUX_PAGE_COLOR_TYPES_H
#define _LINUX_PAGE_COLOR_TYPES_H

#include <linux/types.h>

struct mm_struct;
struct page_color_leaving;
struct page_color_room;
struct page_color_set;
struct page_color_space;

/*
 * An address space has its own record of held colors for each kind: a program works on
 * its anonymous pages and on files in memory at different times.
 */
enum page_color_kind {
	PAGE_COLOR_ANON,
	PAGE_COLOR_SHMEM,
	/* Used as a kind: pages of other files, which address spaces do not hold. */
	PAGE_COLOR_KINDS,
};

/* What a fault is to get instead of a huge page. */
enum page_color_huge {
	/* The huge page, since it was asked for or nothing is known; only sets matter. */
	PAGE_COLOR_HUGE,
	/* The huge page, or small ones if these get better colors. */
	PAGE_COLOR_HUGE_OR_SMALL,
	/* Small ones, since these get better colors. */
	PAGE_COLOR_SMALL,
};

/**
 * struct page_color_task - what coloring knows of a task
 * @set: colors that it was given, or NULL; changed under cpuset_mutex
 * @both: the colors of @set that its cpuset has, too. NULL if @set is NULL, or if
 *        there are none: then the colors of the cpuset count. Changed under
 *        cpuset_mutex whenever one of the two sets changes.
 * @whom: the address space that the task allocates a page for, until it was given
 *        a page that is marked as held and nothing else is to be done;
 *        PAGE_COLOR_FILE for a page of a file; or NULL
 * @leaving: small pages that the page will take the place of, or NULL
 * @kind: what kind of page it will be
 * @huge: whether small pages do as well as the huge page that it allocates
 * @asked: in a fault: the huge page was asked for
 * @stay: colors of the page, if it is one of 2 to 32 small ones, that its owner holds for
 *        other pages, as bits of their word
 * @room: of khugepaged, colors that small pages give to the huge pages it has made
 * @again: it moves pages whose colors other pages of the same address space have
 * @coming: the space that holds the colors of a block that the task was given and may
 *          not have mapped yet; only compared, never followed; or NULL
 * @coming_color: the first color of that block
 * @coming_order: the order of that block
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
	u64 stay;
	struct page_color_room *room;
	struct page_color_space *coming;
	u32 coming_color;
	unsigned int coming_order;
};

#define PAGE_COLOR_FILE	((struct mm_struct *)1)

/**
 * struct page_color_skip - what is not tried again for a while after it was in vain
 * @left: how many of the next attempts are skipped
 * @after: how many were skipped after the last one that was in vain
 */
struct page_color_skip {
	u8 left;
	u8 after;
};

/**
 * struct page_color_run - the pages of chosen colors that a CPU has ready
 * @space: the space that they are for, or NULL; the run has a reference
 * @set: id of the set whose colors they have, or 0
 * @longest: how many were taken at once the last time; the next time twice as many
 * @idle: no page was taken since the CPU's statistics were last updated
 * @mixed: the space held some of the colors before, for other pages
 * @order: order of the larger pages; the space held none of their colors before
 * @skip: searches for the best colors, and for lacked ones, where another zone may have
 *	  them
 */
struct page_color_run {
	struct page_color_space *space;
	u64 set;
	unsigned int longest;
	bool idle;
	bool mixed;
	unsigned int order;
	struct page_color_skip skip[2];
};

/**
 * struct page_color_mm - what coloring knows of an address space
 * @spaces: the colors that it holds, once it is large; only the task that has set
 *          @counting changes the list
 * @counting: a task counts what it holds, or changes @spaces
 * @pages: pages of each kind that were allocated since it was last found to be small
 */
struct page_color_mm {
	struct page_color_space __rcu *spaces;
	int counting;
	unsigned long pages[PAGE_COLOR_KINDS];
};

#endif /* _LINUX_PAGE_COLOR_TYPES_H */
