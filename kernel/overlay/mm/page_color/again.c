// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves pages of an address space that have the color of another page of it: those
 * that it took while it was small, and those of colors that a huge page has, too.
 * They move to colors that it lacks. Pages that it took while it was small also move
 * if other address spaces hold their color and there are colors that nobody holds.
 */

#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>

#include "page_color.h"
#include "../internal.h"

/* Shared pages have colors of other programs to heed; locked pages must stay. */
static bool may_move(struct vm_area_struct *vma, struct folio *folio)
{
	return folio_test_anon(folio) && folio_test_swapbacked(folio) &&
	       !folio_test_large(folio) && !folio_test_ksm(folio) &&
	       !folio_likely_mapped_shared(folio) &&
	       !folio_maybe_dma_pinned(folio) && !(vma->vm_flags & VM_LOCKED);
}

void page_color_again_add(struct page_color_again *again,
			  struct vm_area_struct *vma, struct folio *folio,
			  bool own)
{
	again->found++;
	if (again->nr == again->most || !may_move(vma, folio) ||
	    !folio_isolate_lru(folio))
		return;
	list_add_tail(&folio->lru, own ? &again->own : &again->others);
	/* Counted as it will be subtracted; it may be lazily freed by now. */
	node_stat_add_folio(folio, NR_ISOLATED_ANON + folio_is_file_lru(folio));
	again->nr++;
}

/* No page has moved here: the address space does not hold the color any more. */
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

static struct folio *alloc_for_noprof(struct folio *folio, unsigned long private)
{
	struct page_color_again *again = (struct page_color_again *)private;
	struct folio *other;

	if (list_empty(&again->ready) &&
	    page_color_begin(again->mm, PAGE_COLOR_ANON)) {
		page_color_alloc_best(again->mm, folio_nid(folio), again->least,
				      max(again->batch, 1U), &again->ready);
		current->page_color.whom = NULL;
	}
	other = list_first_entry_or_null(&again->ready, struct folio, lru);
	if (!other)
		return NULL;
	list_del_init(&other->lru);
	/* A folio whose move is tried again takes another page. */
	if (again->batch)
		again->batch--;
	return other;
}

static struct folio *alloc_for(struct folio *folio, unsigned long private)
{
	return alloc_hooks(alloc_for_noprof(folio, private));
}

/* Moves pages of one node. False if there was no page to move one of them to. */
static bool move(struct list_head *pages, struct page_color_again *again)
{
	struct folio *folio, *next;
	unsigned int moved = 0;
	int err;

	err = migrate_pages(pages, alloc_for, put_back, (unsigned long)again,
			    MIGRATE_ASYNC, MR_COMPACTION, &moved);
	if (err)
		putback_movable_pages(pages);
	again->moved += moved;
	list_for_each_entry_safe(folio, next, &again->ready, lru) {
		list_del_init(&folio->lru);
		put_back(folio, (unsigned long)again);
	}
	return err != -ENOMEM;
}

/* After a node had no page for one of them, others of this node are put back. */
static void move_by_node(struct list_head *pages, struct page_color_again *again)
{
	int none = NUMA_NO_NODE;

	while (!list_empty(pages)) {
		int nid = folio_nid(list_first_entry(pages, struct folio, lru));
		struct folio *folio, *next;
		LIST_HEAD(part);

		again->batch = 0;
		list_for_each_entry_safe(folio, next, pages, lru) {
			if (folio_nid(folio) != nid)
				continue;
			list_move_tail(&folio->lru, &part);
			if (++again->batch == PAGE_COLOR_AGAIN)
				break;
		}
		if (nid == none || page_color_is_in_vain(again->mm))
			putback_movable_pages(&part);
		else if (!move(&part, again))
			none = nid;
		cond_resched();
	}
}

bool page_color_again_move(struct page_color_again *again)
{
	again->least = PAGE_COLOR_LACKED;
	current->page_color.again = true;
	move_by_node(&again->own, again);
	current->page_color.again = false;
	/* A page whose color others hold moves only to a color that few hold. */
	again->least |= PAGE_COLOR_FEW;
	move_by_node(&again->others, again);
	return again->nr == again->most && again->moved >= again->most / 2;
}
