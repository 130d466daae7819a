/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files share that know which colors an address space holds. */
#ifndef _MM_PAGE_COLOR_SPACE_H
#define _MM_PAGE_COLOR_SPACE_H

#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/minmax.h>
#include <linux/sched.h>

#include "page_color.h"
#include "words.h"

typedef u64 (*space_fn)(struct page_color_space *space,
			struct page_color_live *live, u32 word, u64 mask);

/* The cache that a space was made for, if it is still colored for. */
static inline struct page_color_node *
space_node(const struct page_color_space *space)
{
	struct page_color_node *node =
		rcu_dereference(page_color_nodes[space->nid]);

	return node && node->id == space->node ? node : NULL;
}

/*
 * Calls @fn for each word of colors of @nr frames in a row, in a node with these counts.
 */
static __always_inline void
space_words_of(struct page_color_space *space, struct page_color_live *live,
	       unsigned long frame, unsigned long nr, space_fn fn)
{
	u32 colors = space->held.colors, color = frame % colors;

	while (nr) {
		unsigned long part = min3(nr, 64UL - color % 64,
					  (unsigned long)colors - color);

		fn(space, live, color / 64,
		   page_color_low_bits(part) << color % 64);
		nr -= part;
		color += part;
		if (color == colors)
			color = 0;
	}
}

/* The same in the node that it is for. */
static __always_inline void
space_words(struct page_color_space *space, unsigned long frame, unsigned long nr,
	    space_fn fn)
{
	struct page_color_node *node = space_node(space);

	if (node)
		space_words_of(space, node->live, frame, nr, fn);
}

static __always_inline enum page_color_kind page_kind(struct page *page)
{
	return page_color_kind_of(page_folio(page));
}

static inline u32 space_color(const struct page_color_space *space,
			      struct page *page)
{
	return page_to_pfn(page) % space->held.colors;
}

/* Whether the current task will return to user mode in this address space. */
static inline bool is_own(const struct mm_struct *mm)
{
	return current->mm == mm &&
	       !(current->flags & (PF_KTHREAD | PF_USER_WORKER | PF_EXITING));
}

/* space.c */
/* The exact number of pages of a kind that are mapped. */
unsigned long page_color_held_pages(struct mm_struct *mm,
				    enum page_color_kind kind);
/* NULL if there is no memory. */
struct page_color_held *page_color_make_held(u32 colors);
/*
 * Makes the spaces that an address space lacks, for each node and kind that it is
 * large in once it has @more anonymous pages. The caller has set @counting.
 */
void page_color_add_spaces(struct mm_struct *mm, unsigned long more);
/*
 * Drops all spaces if one has another geometry; with @counting set, under mmap_lock.
 */
void page_color_drop_stale(struct mm_struct *mm);

/* recount.c */
/* Makes current count what its address space holds, on its way to user mode. */
void page_color_request_count(void);

#endif /* _MM_PAGE_COLOR_SPACE_H */
