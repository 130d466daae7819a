/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page coloring: user memory is allocated so that it spreads evenly over the
 * sets of a cache. Documentation/admin-guide/mm/page_color.rst
 */
#ifndef _LINUX_PAGE_COLOR_H
#define _LINUX_PAGE_COLOR_H

#include <linux/jump_label.h>
#include <linux/page_color_types.h>
#include <linux/types.h>

struct address_space;
struct folio;
struct mm_struct;
struct page;
struct task_struct;
struct vm_area_struct;
struct zone;

#ifdef CONFIG_PAGE_COLOR

DECLARE_STATIC_KEY_FALSE(page_color_key);

static __always_inline bool page_color_enabled(void)
{
	return static_branch_unlikely(&page_color_key);
}

/* The places where the buddy allocator's lists change. */
void __page_color_add(struct zone *zone, struct page *page, unsigned int order,
		      int migratetype);
void __page_color_del(struct zone *zone, struct page *page, unsigned int order,
		      int migratetype);

static __always_inline void page_color_add(struct zone *zone, struct page *page,
					   unsigned int order, int migratetype)
{
	if (page_color_enabled())
		__page_color_add(zone, page, order, migratetype);
}

static __always_inline void page_color_del(struct zone *zone, struct page *page,
					   unsigned int order, int migratetype)
{
	if (page_color_enabled())
		__page_color_del(zone, page, order, migratetype);
}

static __always_inline void page_color_move(struct zone *zone,
					    struct page *page,
					    unsigned int order, int old_mt,
					    int new_mt)
{
	if (page_color_enabled()) {
		__page_color_del(zone, page, order, old_mt);
		__page_color_add(zone, page, order, new_mt);
	}
}

/* Whether colors follow from places, so that hints are of use. */
DECLARE_STATIC_KEY_FALSE(page_color_hint_key);

static __always_inline bool page_color_hinted(void)
{
	return static_branch_unlikely(&page_color_hint_key);
}

/* Allocates a folio that will be used at this address. */
struct folio *page_color_alloc_vma(gfp_t gfp, int order,
				   struct vm_area_struct *vma,
				   unsigned long address, bool hugepage);

/* Where the next page that the task allocates will be used. */
void __page_color_hint_file(struct address_space *mapping, pgoff_t index);

static __always_inline void page_color_hint_file(struct address_space *mapping,
						 pgoff_t index)
{
	if (page_color_hinted())
		__page_color_hint_file(mapping, index);
}

/* Lives and deaths of address spaces and tasks. */
void page_color_init_mm(struct mm_struct *mm);
void page_color_fork(struct task_struct *task);
void page_color_exit(struct task_struct *task);

/* The geometry of a node, in its directory. */
struct attribute_group;
extern const struct attribute_group page_color_node_group;

/* The set of a task as text; the caller has checked permission. */
struct seq_file;
int page_color_task_show(struct seq_file *m, struct task_struct *task);
int page_color_task_write(struct task_struct *task, char *list);

#else /* !CONFIG_PAGE_COLOR */

static inline bool page_color_enabled(void) { return false; }
static inline void page_color_add(struct zone *zone, struct page *page,
				  unsigned int order, int migratetype) { }
static inline void page_color_del(struct zone *zone, struct page *page,
				  unsigned int order, int migratetype) { }
static inline void page_color_move(struct zone *zone, struct page *page,
				   unsigned int order, int old_mt,
				   int new_mt) { }
static inline bool page_color_hinted(void) { return false; }
/* Never called. */
struct folio *page_color_alloc_vma(gfp_t gfp, int order,
				   struct vm_area_struct *vma,
				   unsigned long address, bool hugepage);
/* No function: a call of an empty one changes how GCC arranges its caller. */
#define page_color_hint_file(mapping, index) ((void)(mapping), (void)(index))
static inline void page_color_init_mm(struct mm_struct *mm) { }
static inline void page_color_fork(struct task_struct *task) { }
static inline void page_color_exit(struct task_struct *task) { }

#endif /* CONFIG_PAGE_COLOR */

#endif /* _LINUX_PAGE_COLOR_H */
