/* SPDX-License-Identifier: GPL-2.0-only */
/* Larger pages, and those that a CPU has ready. Part of buddy.h. */
#ifndef _MM_PAGE_COLOR_BUDDY_BLOCKS_H
#define _MM_PAGE_COLOR_BUDDY_BLOCKS_H

#include "buddy_pcp.h"

/*
 * Counts what the default path counts. @space holds the page, and nothing else is to be
 * done for it; or NULL.
 */
static __always_inline void color_done(struct zone *preferred_zone,
				       struct zone *zone, struct page *page,
				       unsigned int order,
				       const struct page_color_space *space)
{
	if (space && !READ_ONCE(space->recount))
		current->page_color.whom = NULL;
	__count_zid_vm_events(PGALLOC, page_zonenum(page), 1 << order);
	zone_statistics(preferred_zone, zone, 1);
}

/* Give back the frames taken of a block that is not complete. Under zone->lock. */
static void color_put_back(struct zone *zone, unsigned long pfn, u64 taken)
{
	for (; taken; taken &= taken - 1) {
		unsigned long frame = pfn + __ffs64(taken);
		int mt = get_pfnblock_migratetype(pfn_to_page(frame), frame);

		color_freed(zone, frame, 0, mt);
		__free_one_page(pfn_to_page(frame), frame, zone, 0, mt, FPI_NONE);
	}
}

/*
 * Take the first of some blocks, and put the others on the list of the CPU. A block that
 * is no longer free as a whole is not taken, and if it is not the first, its colors are
 * unmarked. Under zone->lock.
 */
static struct page *color_take_blocks(struct zone *zone,
				      struct per_cpu_pages *pcp,
				      const struct page_color_blocks *blocks,
				      unsigned int alloc_flags,
				      struct page_color_space *space)
{
	unsigned long size = 1UL << blocks->order, pfn = blocks->frame;
	u64 all = page_color_low_bits(size), taken;
	struct page *first = NULL;

	taken = color_take(zone, pfn, all | blocks->more, alloc_flags);
	if ((taken & all) == all)
		first = pfn_to_page(pfn);
	else
		color_put_back(zone, pfn, taken & all);
	for (all <<= size; all; all <<= size) {
		struct page *page;

		pfn += size;
		if (!(all & blocks->more))
			continue;
		if ((taken & all) != all) {
			color_put_back(zone, blocks->frame, taken & all);
			page_color_unmark_frames(space, pfn, size);
			continue;
		}
		page = pfn_to_page(pfn);
		list_add_tail(&page->pcp_list, &pcp->lists[PCP_BLOCK_LIST]);
		pcp->count += size;
	}
	return first;
}

/* How many more blocks are taken with one, for the list of the CPU. */
static unsigned int color_more_blocks(struct zone *zone,
				      struct per_cpu_pages *pcp,
				      unsigned int order)
{
	/* As in color_count(). */
	if (!pcp || READ_ONCE(pcp->high_min) < READ_ONCE(pcp->batch) ||
	    test_bit(ZONE_BELOW_HIGH, &zone->flags))
		return 0;
	return (64 >> order) - 1;
}

/* Take the best block, and more for the list of @pcp, which is locked or NULL. */
static struct page *color_take_best_block(struct zone *zone,
					  struct per_cpu_pages *pcp,
					  unsigned int order,
					  unsigned int alloc_flags,
					  const struct page_color_ask *ask)
{
	unsigned int more = color_more_blocks(zone, pcp, order);
	struct page_color_blocks blocks;
	struct page *page = NULL;
	unsigned long flags;
	int tries = 4;

	blocks.order = order;
	/* In the last zone small pages were better than a block; look anew. */
	if (page_color_wants_small(order))
		current->page_color.huge = current->page_color.asked ?
			PAGE_COLOR_HUGE : PAGE_COLOR_HUGE_OR_SMALL;
	/* What was chosen may be gone when it is taken: choose again. */
	while (!page && tries-- &&
	       page_color_gather_blocks(zone, ask, more, &blocks)) {
		spin_lock_irqsave(&zone->lock, flags);
		page = order < 6 ? color_take_blocks(zone, pcp, &blocks,
						     alloc_flags, ask->space) :
				   color_take_block(zone, blocks.frame, order,
						    alloc_flags);
		spin_unlock_irqrestore(&zone->lock, flags);
		if (!page && blocks.claimed)
			page_color_lose_block(ask->space, blocks.frame, order,
					      blocks.claimed);
	}
	if (page && ask->space) {
		page_color_take_block(ask->space, blocks.frame, order,
				      blocks.claimed);
		/* @pcp is locked for smaller blocks. */
		if (order < 6)
			current->page_color.stay = blocks.stay[0];
		else if (!current->page_color.leaving)
			page_color_make_room(current->page_color.whom, ask->space,
					     blocks.frame, order, blocks.stay);
	}
	return page;
}

/*
 * Whether a CPU keeps pages of @order ready for @ask: from the second allocation of this
 * order in a row on, but not while pages that it has ready for others are in use. Under
 * pcp->lock.
 */
static bool color_keeps_blocks(struct zone *zone, struct per_cpu_pages *pcp,
			       unsigned int order,
			       const struct page_color_ask *ask)
{
	struct page_color_run *run = &pcp->color_run;
	unsigned long flags;

	if (!page_color_run_fits(run, ask) && !run->idle &&
	    !list_empty(&pcp->lists[PCP_COLOR_LIST]))
		return false;
	color_begin_run(zone, pcp, ask);
	run->idle = false;
	if (run->order == order)
		return true;
	if (!list_empty(&pcp->lists[PCP_BLOCK_LIST])) {
		spin_lock_irqsave(&zone->lock, flags);
		color_free_blocks(zone, pcp, pcp->count);
		spin_unlock_irqrestore(&zone->lock, flags);
	}
	run->order = order;
	return false;
}

/* A block that the CPU has ready, or else the best one, with more for its list. */
static struct page *color_next_block(struct zone *zone,
				     struct per_cpu_pages *pcp,
				     unsigned int order,
				     unsigned int alloc_flags,
				     const struct page_color_ask *ask)
{
	struct page *page =
		list_first_entry_or_null(&pcp->lists[PCP_BLOCK_LIST],
					 struct page, pcp_list);

	pcp->free_count >>= 1;
	if (page) {
		list_del(&page->pcp_list);
		pcp->count -= 1 << order;
		return page;
	}
	if (page_color_is_least_vain(&pcp->color_run, ask->least))
		return NULL;
	page = color_take_best_block(zone, pcp, order, alloc_flags, ask);
	page_color_note_least(&pcp->color_run, ask->least, page);
	return page;
}

/* Only blocks of fewer than 64 pages are kept ready by a CPU. */
static struct page *color_get_block(struct zone *zone, unsigned int order,
				    unsigned int alloc_flags,
				    const struct page_color_ask *ask)
{
	bool ready = order < 6 && ask->space && !ask->set &&
		     !current->page_color.leaving;
	unsigned long __maybe_unused UP_flags;
	struct per_cpu_pages *pcp = NULL;
	struct page *page = NULL;
	bool keeps = false;

	/* As in rmqueue_pcplist(). */
	pcp_trylock_prepare(UP_flags);
	if (ready)
		pcp = pcp_spin_trylock(zone->per_cpu_pageset);
	if (pcp) {
		keeps = color_keeps_blocks(zone, pcp, order, ask);
		if (keeps)
			page = color_next_block(zone, pcp, order, alloc_flags,
						ask);
		pcp_spin_unlock(pcp);
	}
	pcp_trylock_finish(UP_flags);
	if (!keeps)
		page = color_take_best_block(zone, NULL, order, alloc_flags, ask);
	return page;
}

/*
 * Count an allocation without colors of the set: without a block the default path takes
 * any, and a chosen block may have other colors.
 */
static void color_note_set(struct page *page, unsigned int order,
			   const struct page_color_set *set)
{
	if (!page && page_color_wants_small(order))
		return;
	if (!page || !page_color_set_has(set, page_to_pfn(page) % set->colors,
					 order))
		count_vm_event(PAGE_COLOR_NONE);
}

/* A block of more pages than one. */
static noinline struct page *color_rmqueue_block(struct zone *preferred_zone,
						 struct zone *zone,
						 unsigned int order,
						 unsigned int alloc_flags)
{
	struct page_color_ask ask = {};
	struct page *page = NULL;

	/* Small pages of the own node are better than a block of another one. */
	if (page_color_wants_small(order) &&
	    zone_to_nid(zone) != zone_to_nid(preferred_zone))
		return NULL;
	current->page_color.stay = 0;
	ask.least = color_least(alloc_flags);
	rcu_read_lock();
	/*
	 * Orders that CPUs' lists have come from there for small programs. A set wants its
	 * own colors first, and few of them are searched for.
	 */
	if (page_color_ask(&ask, zone_to_nid(zone)) ?
	    !ask.set || !ask.least :
	    page_color_is_small() && !pcp_allowed_order(order))
		page = color_get_block(zone, order, alloc_flags, &ask);
	/* The colors of bad pages stay held until the space is counted anew. */
	if (page && check_new_pages(page, order)) {
		page = NULL;
		current->page_color.stay = 0;
	}
	if (ask.set && !ask.least)
		color_note_set(page, order, ask.set);
	if (page)
		color_done(preferred_zone, zone, page, order,
			   current->page_color.stay ? NULL : ask.space);
	rcu_read_unlock();
	return page;
}

#endif /* _MM_PAGE_COLOR_BUDDY_BLOCKS_H */
