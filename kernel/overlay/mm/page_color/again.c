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

/* It was not moved to: nobody has the color. */
static void put_back(struct folio *folio, unsigned long private)
{
	struct page_color_again *again = (struct page_color_again *)private;
	struct page_color_space *space;

	rcu_read_lock();
	space = page_color_space(again->mm, folio_nid(folio), PAGE_COLOR_ANON);
	if (space)
		page_color_unmark_frames(space, folio_pfn(folio), 1);
	rcu_read_unlock();
	folio_put(folio);
}

/* Of the pages that are ready, one of a node. Those of another node are given back. */
static struct folio *take_ready(struct page_color_again *again, int nid)
{
	struct folio *folio, *next;

	list_for_each_entry_safe(folio, next, &again->ready, lru) {
		list_del_init(&folio->lru);
		if (folio_nid(folio) == nid)
			return folio;
		put_back(folio, (unsigned long)again);
	}
	return NULL;
}

static struct folio *alloc_for(struct folio *folio, unsigned long private)
{
	struct page_color_again *again = (struct page_color_again *)private;
	int nid = folio_nid(folio);
	struct folio *other;

	other = take_ready(again, nid);
	if (other || !page_color_begin(again->mm, PAGE_COLOR_ANON))
		return other;
	page_color_alloc_lacked(again->mm, nid, again->nr, &again->ready);
	current->page_color.whom = NULL;
	return take_ready(again, nid);
}

static void move(struct list_head *pages, struct page_color_again *again)
{
	if (!list_empty(pages) &&
	    migrate_pages(pages, alloc_for, put_back, (unsigned long)again,
			  MIGRATE_ASYNC, MR_COMPACTION, NULL))
		putback_movable_pages(pages);
}

void page_color_again_move(struct page_color_again *again)
{
	current->page_color.again = true;
	move(&again->own, again);
	current->page_color.again = false;
	move(&again->others, again);
	take_ready(again, NUMA_NO_NODE);
}
