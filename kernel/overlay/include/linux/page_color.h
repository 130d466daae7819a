/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page coloring: user memory is allocated so that it spreads evenly over the
 * sets of a cache. Documentation/admin-guide/mm/page_color.rst
 */
#ifndef _LINUX_PAGE_COLOR_H
#define _LINUX_PAGE_COLOR_H

#include <linux/jump_label.h>
#include <linux/nodemask_types.h>
#include <linux/page_color_types.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>

struct encoded_page;
struct folio;
struct mempolicy;
struct mm_struct;
struct page;
struct page_color_leaving;
struct task_struct;
struct vm_area_struct;
struct zone;

/*
 * Allocate a folio for an address space, or for a file if @whom is
 * PAGE_COLOR_FILE: folio_alloc_mpol() and filemap_alloc_folio() while coloring
 * is on. Not there, and not called, without CONFIG_PAGE_COLOR.
 */
struct folio *
page_color_alloc_mpol_noprof(struct mm_struct *whom, enum page_color_kind kind,
			     gfp_t gfp, unsigned int order,
			     struct mempolicy *pol, pgoff_t ilx, int nid);
struct folio *page_color_alloc_file_noprof(gfp_t gfp, unsigned int order);
/* page_color_end(), for callers that would save a register for it. Returns @folio. */
struct folio *page_color_ended(struct folio *folio);
/* A huge page that small ones of an address space, @leaving, are copied to. */
struct folio *
page_color_alloc_collapse_noprof(struct mm_struct *mm,
				 struct page_color_leaving *leaving,
				 gfp_t gfp, int nid, nodemask_t *nodes);

/*
 * The target that a folio is about to be copied to, in the colors of the folio's owner.
 */
struct folio *
page_color_alloc_target_noprof(struct folio *folio, gfp_t gfp,
			       unsigned int order, int nid, nodemask_t *nodes);
struct folio *
page_color_alloc_target_mpol_noprof(struct folio *folio, gfp_t gfp,
				    unsigned int order, struct mempolicy *pol,
				    pgoff_t ilx, int nid);

#define page_color_alloc_mpol(...)					\
	alloc_hooks(page_color_alloc_mpol_noprof(__VA_ARGS__))
#define page_color_alloc_collapse(...)					\
	alloc_hooks(page_color_alloc_collapse_noprof(__VA_ARGS__))
#define page_color_alloc_target(...)					\
	alloc_hooks(page_color_alloc_target_noprof(__VA_ARGS__))
#define page_color_alloc_target_mpol(...)				\
	alloc_hooks(page_color_alloc_target_mpol_noprof(__VA_ARGS__))

#ifdef CONFIG_PAGE_COLOR

DECLARE_STATIC_KEY_FALSE(page_color_key);
/* On from the time that a task or a cpuset is first given a set. */
DECLARE_STATIC_KEY_FALSE(page_color_sets_key);

static __always_inline bool page_color_enabled(void)
{
	return static_branch_unlikely(&page_color_key);
}

/*
 * What the task allocates up to page_color_end() is for the address space @whom. False
 * if it cannot be noted, since reclaim comes here in the midst of another allocation of
 * the task.
 */
static __always_inline bool page_color_begin(struct mm_struct *whom,
					     enum page_color_kind kind)
{
	if (current->flags & PF_MEMALLOC)
		return false;
	current->page_color.kind = kind;
	current->page_color.whom = whom;
	return true;
}

struct folio *__page_color_end(struct folio *folio);

/* @folio is what the task was given, or NULL. */
static __always_inline void page_color_end(struct folio *folio)
{
	if (unlikely(current->page_color.whom))
		__page_color_end(folio);
}

/* Value of @coming: the task will map a huge page, and has not been given one yet. */
#define PAGE_COLOR_TO_COME	((struct page_color_space *)1)

/*
 * Announces that the task will call page_color_huge_mapped() after the next huge page.
 */
static __always_inline void page_color_huge_comes(void)
{
	if (page_color_enabled())
		current->page_color.coming = PAGE_COLOR_TO_COME;
}

/* What the task was given is in a page table now, or has been given back. */
static __always_inline void page_color_huge_mapped(void)
{
	/* A task that sees it sees the change of the page table, too. */
	smp_store_release(&current->page_color.coming, NULL);
}

void __page_color_huge_begin(struct vm_area_struct *vma, unsigned int order);

/*
 * A fault is about to allocate a page of 2^@order small ones, with MADV_HUGEPAGE or not.
 */
static __always_inline void page_color_huge_begin(struct vm_area_struct *vma,
						  unsigned int order)
{
	if (page_color_enabled())
		__page_color_huge_begin(vma, order);
}

static __always_inline void page_color_huge_end(void)
{
	current->page_color.asked = false;
	current->page_color.huge = PAGE_COLOR_HUGE;
}

bool __page_color_may_capture(const struct page *page, unsigned int order);

/* Whether the current task may have the block that its compaction has made. */
static __always_inline bool page_color_may_capture(const struct page *page,
						   unsigned int order)
{
	return !static_branch_unlikely(&page_color_sets_key) ||
	       __page_color_may_capture(page, order);
}

/*
 * Whether the task is to fall back to small pages instead of taking any block of @order.
 * Interrupts, and reclaim on the way, take blocks for other purposes.
 */
static __always_inline bool page_color_wants_small(unsigned int order)
{
	return order && current->page_color.huge == PAGE_COLOR_SMALL &&
	       in_task() && !(current->flags & PF_MEMALLOC);
}

/* @nr pages in a row are mapped by an address space, or no longer mapped. */
void __page_color_map(struct mm_struct *mm, struct page *page, unsigned long nr);
void __page_color_unmap(struct mm_struct *mm, struct page *page,
			unsigned long nr);
/*
 * Content of the @nr pages from @from on has moved to those from @page on. The old
 * colors were held meanwhile, so that nobody took them.
 */
void page_color_move(struct mm_struct *mm, struct page *from, struct page *page,
		     unsigned long nr);
/* Pages that an mmu_gather has collected are no longer mapped. */
void page_color_unmap_batch(struct mm_struct *mm,
			    struct encoded_page **pages, unsigned int nr);

/* Notes a small page that a huge one is about to take the place of. */
void __page_color_leave(struct page_color_leaving *leaving, struct page *page);

static __always_inline void page_color_leave(struct page_color_leaving *leaving,
					     struct page *page)
{
	if (page_color_enabled())
		__page_color_leave(leaving, page);
}

void __page_color_settle(struct mm_struct *mm);

/*
 * khugepaged, which has no lock of @mm, is done with it for now. If it is due, what @mm
 * holds is counted, and small pages move that share colors with huge ones.
 */
static __always_inline void page_color_settle(struct mm_struct *mm)
{
	if (page_color_enabled())
		__page_color_settle(mm);
}

static __always_inline void page_color_map(struct mm_struct *mm,
					   struct page *page, unsigned long nr)
{
	if (page_color_enabled())
		__page_color_map(mm, page, nr);
}

void __page_color_unused(struct mm_struct *mm, struct folio *folio);

/* A page that a fault was given for anonymous memory is not mapped after all. */
static __always_inline void page_color_unused(struct mm_struct *mm,
					      struct folio *folio)
{
	if (page_color_enabled())
		__page_color_unused(mm, folio);
}

/* Pages of files on disks are not held: it may be called for them. */
static __always_inline void page_color_unmap(struct mm_struct *mm,
					     struct page *page,
					     unsigned long nr)
{
	if (page_color_enabled())
		__page_color_unmap(mm, page, nr);
}

void __page_color_collapse_failed(struct mm_struct *mm,
				  const struct page_color_leaving *leaving,
				  const struct folio *folio);

/* The huge page that was allocated for small ones does not take their place. */
static __always_inline void
page_color_collapse_failed(struct mm_struct *mm,
			   const struct page_color_leaving *leaving,
			   const struct folio *folio)
{
	if (page_color_enabled())
		__page_color_collapse_failed(mm, leaving, folio);
}

void __page_color_collapsed(struct mm_struct *mm,
			    struct page_color_leaving *leaving,
			    struct folio *folio);

/* The huge page takes the place of the small ones; under the lock of its page table. */
static __always_inline void
page_color_collapsed(struct mm_struct *mm,
		     struct page_color_leaving *leaving,
		     struct folio *folio)
{
	if (page_color_enabled())
		__page_color_collapsed(mm, leaving, folio);
}

/* Beginnings and ends of address spaces and tasks. */
void page_color_init_mm(struct mm_struct *mm);
/* A fork has copied the page tables of @from. */
void page_color_copy_mm(struct mm_struct *mm, struct mm_struct *from);
void page_color_exit_mm(struct mm_struct *mm);
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

/* A macro: code that an inline function guards would still change instruction order. */
#define page_color_enabled() false
static inline bool page_color_begin(struct mm_struct *whom,
				    enum page_color_kind kind)
{
	return false;
}

static inline void page_color_end(struct folio *folio) { }
static inline void page_color_huge_begin(struct vm_area_struct *vma,
					 unsigned int order) { }
static inline void page_color_huge_end(void) { }
static inline void page_color_huge_comes(void) { }
static inline void page_color_huge_mapped(void) { }
static inline bool page_color_may_capture(const struct page *page,
					  unsigned int order)
{
	return true;
}

static inline bool page_color_wants_small(unsigned int order) { return false; }
static inline void page_color_leave(struct page_color_leaving *leaving,
				    struct page *page) { }
static inline void page_color_settle(struct mm_struct *mm) { }
static inline void page_color_map(struct mm_struct *mm, struct page *page,
				  unsigned long nr) { }
static inline void page_color_unused(struct mm_struct *mm,
				     struct folio *folio) { }
static inline void
page_color_collapse_failed(struct mm_struct *mm,
			   const struct page_color_leaving *leaving,
			   const struct folio *folio) { }
static inline void
page_color_collapsed(struct mm_struct *mm,
		     struct page_color_leaving *leaving,
		     struct folio *folio) { }
static inline void page_color_unmap(struct mm_struct *mm, struct page *page,
				    unsigned long nr) { }
static inline void page_color_move(struct mm_struct *mm, struct page *from,
				   struct page *page, unsigned long nr) { }
static inline void page_color_unmap_batch(struct mm_struct *mm,
					  struct encoded_page **pages,
					  unsigned int nr) { }
static inline void page_color_init_mm(struct mm_struct *mm) { }
static inline void page_color_copy_mm(struct mm_struct *mm,
				      struct mm_struct *from) { }
static inline void page_color_exit_mm(struct mm_struct *mm) { }
static inline void page_color_fork(struct task_struct *task) { }
static inline void page_color_exit(struct task_struct *task) { }

#endif /* CONFIG_PAGE_COLOR */

#endif /* _LINUX_PAGE_COLOR_H */
