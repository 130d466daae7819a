// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of an address space that have the color of another page of it: those that it
 * took while it was small, and those in whose place a huge page came. They move to
 * colors that it lacks. So do pages taken while it was small whose color other
 * address spaces have, if there are colors that nobody has.
 */

#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>

#include "page_color.h"
#include "../internal.h"

/* What is shared has other colors to heed, and what is locked stays in its place. */
static bool may_move(struct vm_area_struct *vma, struct folio *folio)
{
	/* The colors that it may use are those of its tasks. */
	if (static_branch_unlikely(&page_color_sets_key) &&
	    current->mm != vma->vm_mm)
		return false;
	return folio_test_anon(folio) && folio_test_swapbacked(folio) &&
	       !folio_test_large(folio) && !folio_test_ksm(folio) &&
	       !folio_likely_mapped_shared(folio) &&
	       !folio_maybe_dma_pinned(folio) && !(vma->vm_flags & VM_LOCKED);
}

void page_color_again_add(struct page_color_again *again,
			  struct vm_area_struct *vma, struct folio *folio,
			  bool own)
{
	if (again->nr == PAGE_COLOR_AGAIN || !may_move(vma, folio) ||
	    !folio_isolate_lru(folio))
		return;
	list_add_tail(&folio->lru, own ? &again->own : &again->others);
	/* As it is subtracted; it may have been freed lazily meanwhile. */
	node_stat_add_folio(folio, NR_ISOLATED_ANON + folio_is_file_lru(folio));
	again->nr++;
}

static struct folio *alloc_for(struct folio *folio, unsigned long private)
{
	struct mm_struct *mm = (struct mm_struct *)private;
	struct page *page;

	if (!page_color_begin(mm, PAGE_COLOR_ANON))
		return NULL;
	page = page_color_alloc_lacked(mm, folio_nid(folio));
	current->page_color.whom = NULL;
	return page ? page_folio(page) : NULL;
}

/* It was not moved to: nobody has the color. */
static void put_back(struct folio *folio, unsigned long private)
{
	struct mm_struct *mm = (struct mm_struct *)private;
	struct page_color_space *space;

	rcu_read_lock();
	space = page_color_space(mm, folio_nid(folio), PAGE_COLOR_ANON);
	if (space)
		page_color_unmark_frames(space, folio_pfn(folio), 1);
	rcu_read_unlock();
	folio_put(folio);
}

static void move(struct list_head *pages, struct mm_struct *mm)
{
	if (!list_empty(pages) &&
	    migrate_pages(pages, alloc_for, put_back, (unsigned long)mm,
			  MIGRATE_ASYNC, MR_COMPACTION, NULL))
		putback_movable_pages(pages);
}

void page_color_again_move(struct page_color_again *again, struct mm_struct *mm)
{
	current->page_color.again = true;
	move(&again->own, mm);
	current->page_color.again = false;
	move(&again->others, mm);
}
