/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Address spaces and a task. Pages are numbers here: there is no struct page. */
#ifndef HARNESS_LINUX_MM_TYPES_H
#define HARNESS_LINUX_MM_TYPES_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/page_color_types.h>

struct address_space;

struct page {
	struct list_head pcp_list;
	struct address_space *mapping;
};

struct folio {
	struct page page;
	struct address_space *mapping;
};

struct percpu_counter {
	long count;
};

enum {
	MM_FILEPAGES,
	MM_ANONPAGES,
	MM_SWAPENTS,
	MM_SHMEMPAGES,
	NR_MM_COUNTERS,
};

struct mm_struct {
	atomic_t mm_users;
	struct percpu_counter rss_stat[NR_MM_COUNTERS];
	struct page_color_mm page_color;
};

struct vm_area_struct {
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
};

#define VM_HUGEPAGE 1UL

struct task_struct {
	unsigned int flags;
	struct mm_struct *mm;
	struct page_color_task page_color;
};

#define PF_MEMALLOC 1U
#define PF_KTHREAD 2U
#define PF_EXITING 4U
#define PF_USER_WORKER 8U

/* The only task. */
extern struct task_struct harness_task;
#define current (&harness_task)

static inline long percpu_counter_sum_positive(struct percpu_counter *counter)
{
	return counter->count;
}

static inline unsigned long get_mm_counter(struct mm_struct *mm, int member)
{
	return mm->rss_stat[member].count;
}

#endif
