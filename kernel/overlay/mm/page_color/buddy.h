/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of page coloring that changes the buddy lists and the lists of CPUs: included
 * by mm/page_alloc.c, whose static functions it is made of. Here is what that calls to
 * allocate pages, and to drain lists.
 */
#ifndef _MM_PAGE_COLOR_BUDDY_H
#define _MM_PAGE_COLOR_BUDDY_H

#include "buddy_blocks.h"

/* The first page of a list of this CPU; under pcp->lock. */
static __always_inline struct page *color_next(struct per_cpu_pages *pcp,
					       int pindex)
{
	struct page *page = list_first_entry(&pcp->lists[pindex], struct page,
					     pcp_list);

	list_del(&page->pcp_list);
	pcp->count--;
	return page;
}

/* A page for @ask from a list of this CPU: most often one is ready. */
static __always_inline struct page *
color_rmqueue_pcp(struct zone *zone, unsigned int alloc_flags,
		  struct per_cpu_pages *pcp, int pindex,
		  const struct page_color_ask *ask)
{
	if (unlikely(!color_is_ready(pcp, pindex, ask)) &&
	    !color_make_ready(zone, alloc_flags, pcp, pindex))
		return NULL;
	return color_next(pcp, pindex);
}

/* What the caller knows of the allocation before page_color_ask(). */
enum color_who {
	COLOR_ANYBODY,
	/* A file, or an address space with colors, while no task has a set. */
	COLOR_FILE,
	COLOR_SPACE,
};

/* page_color_ask(), as far as it is needed. */
static __always_inline bool color_ask(struct page_color_ask *ask, int nid,
				      enum color_who who)
{
	if (who == COLOR_ANYBODY)
		return page_color_ask(ask, nid);
	if (!page_color_may_ask())
		return false;
	if (who == COLOR_FILE)
		ask->file = true;
	else
		ask->space = page_color_space(current->page_color.whom, nid,
					      current->page_color.kind);
	return ask->file || ask->space;
}

/* @ask is looked up under pcp->lock: most allocations find a page on the list then. */
static __always_inline struct page *
color_rmqueue_lists(struct zone *preferred_zone, struct zone *zone,
		    unsigned int alloc_flags, enum color_who who)
{
	unsigned long __maybe_unused UP_flags;
	struct page_color_ask ask = {};
	struct page *page = NULL;
	struct per_cpu_pages *pcp;

	rcu_read_lock();
	/* As in rmqueue_pcplist(). */
	pcp_trylock_prepare(UP_flags);
	pcp = pcp_spin_trylock(zone->per_cpu_pageset);
	if (unlikely(!pcp))
		goto out;
	if (color_ask(&ask, zone_to_nid(zone), who)) {
		pcp->free_count >>= 1;
		pcp->color_run.idle = false;
		if (ask.file && !ask.set)
			page = color_rmqueue_pcp(zone, alloc_flags, pcp,
						 PCP_FILE_LIST, &ask);
		else
			page = color_rmqueue_pcp(zone, alloc_flags, pcp,
						 PCP_COLOR_LIST, &ask);
	}
	pcp_spin_unlock(pcp);
	if (!page)
		goto out;
	/*
	 * A bad page: the default path gives another. The color stays held until a count.
	 */
	if (check_new_pages(page, 0))
		page = NULL;
	else
		color_done(preferred_zone, zone, page, 0, ask.space);
out:
	pcp_trylock_finish(UP_flags);
	rcu_read_unlock();
	return page;
}

static noinline struct page *color_rmqueue_any(struct zone *preferred_zone,
					       struct zone *zone,
					       unsigned int alloc_flags)
{
	return color_rmqueue_lists(preferred_zone, zone, alloc_flags,
				   COLOR_ANYBODY);
}

static noinline struct page *color_rmqueue_file(struct zone *preferred_zone,
						struct zone *zone,
						unsigned int alloc_flags)
{
	return color_rmqueue_lists(preferred_zone, zone, alloc_flags,
				   COLOR_FILE);
}

static noinline struct page *color_rmqueue_space(struct zone *preferred_zone,
						 struct zone *zone,
						 unsigned int alloc_flags)
{
	return color_rmqueue_lists(preferred_zone, zone, alloc_flags,
				   COLOR_SPACE);
}

/* Whether a zone has an eighth of its node: a smaller one is left to those who need it. */
static inline bool color_is_large(struct zone *zone)
{
	return zone_managed_pages(zone) >= zone->zone_pgdat->node_present_pages / 8;
}

/* Whether a zone gives the best colors where @first, of the same node, lacks them. */
static inline bool color_may_be_asked(struct zone *first, struct zone *zone)
{
	return zone == first ||
	       (zone_to_nid(zone) == zone_to_nid(first) && color_is_large(zone) &&
		!test_bit(ZONE_BELOW_HIGH, &zone->flags));
}

/*
 * Whether an allocation for an address space has several large zones of a node to choose
 * from, and may find no good color in the first one.
 */
static bool color_has_zones(const struct alloc_context *ac)
{
	const struct mm_struct *whom = current->page_color.whom;
	struct page_color_ask ask = {};
	struct page_color_place place;
	struct zone *first, *next;
	bool has;

	if (!whom || whom == PAGE_COLOR_FILE ||
	    ac->migratetype != MIGRATE_MOVABLE ||
	    !rcu_access_pointer(whom->page_color.spaces))
		return false;
	first = zonelist_zone(ac->preferred_zoneref);
	next = first ? zonelist_zone(ac->preferred_zoneref + 1) : NULL;
	if (!next || zone_to_nid(next) != zone_to_nid(first) ||
	    !color_is_large(next))
		return false;
	rcu_read_lock();
	has = page_color_place_of(&place, first) &&
	      place.zone->memory.copies <= PAGE_COLOR_FEW_COPIES &&
	      page_color_ask(&ask, zone_to_nid(first)) && ask.space &&
	      !page_color_full(ask.space);
	rcu_read_unlock();
	return has;
}

/*
 * What rmqueue() does first while coloring is on: a page for an allocation whose color
 * matters, or NULL if the default path must decide.
 */
static __always_inline struct page *color_rmqueue(struct zone *preferred_zone,
						  struct zone *zone,
						  unsigned int order,
						  unsigned int alloc_flags)
{
	struct mm_struct *whom = current->page_color.whom;

	/* Guard pages are neither free nor in use. */
	if (debug_guardpage_enabled())
		return NULL;
	if (order)
		return color_rmqueue_block(preferred_zone, zone, order,
					   alloc_flags);
	if (static_branch_unlikely(&page_color_sets_key))
		return color_rmqueue_any(preferred_zone, zone, alloc_flags);
	if (whom == PAGE_COLOR_FILE)
		return color_rmqueue_file(preferred_zone, zone, alloc_flags);
	/* Small programs have no spaces: their pages come from the default path. */
	if (!whom || !rcu_access_pointer(whom->page_color.spaces))
		return NULL;
	return color_rmqueue_space(preferred_zone, zone, alloc_flags);
}

/*
 * Pages that stay on a CPU's list for long keep blocks from becoming whole, and a CPU
 * that takes none still counts in page_color_fair_share(): its run ends when nothing was
 * taken between two calls. Called with the CPU's statistics, under pcp->lock. Returns
 * whether there is more to look at.
 */
static bool color_decay(struct zone *zone, struct per_cpu_pages *pcp)
{
	bool empty = list_empty(&pcp->lists[PCP_COLOR_LIST]) &&
		     list_empty(&pcp->lists[PCP_BLOCK_LIST]) &&
		     list_empty(&pcp->lists[PCP_FILE_LIST]);
	struct page_color_run *run = &pcp->color_run;
	unsigned long flags;

	if (empty && !run->space)
		return false;
	if (!run->idle) {
		run->idle = true;
		return true;
	}
	color_end_run(zone, pcp);
	if (!list_empty(&pcp->lists[PCP_FILE_LIST])) {
		spin_lock_irqsave(&zone->lock, flags);
		color_free_list(zone, pcp, PCP_FILE_LIST, pcp->count);
		spin_unlock_irqrestore(&zone->lock, flags);
	}
	page_color_space_put(run->space);
	run->space = NULL;
	run->longest = 0;
	return false;
}

static void color_drop_run(struct zone *zone, struct per_cpu_pages *pcp,
			   const struct page_color_space *space)
{
	struct page_color_space *dropped = NULL;
	unsigned long __maybe_unused UP_flags;

	pcp_spin_lock_maybe_irqsave(pcp, UP_flags);
	if (pcp->color_run.space == space) {
		color_end_run(zone, pcp);
		dropped = pcp->color_run.space;
		pcp->color_run.space = NULL;
	}
	pcp_spin_unlock_maybe_irqrestore(pcp, UP_flags);
	page_color_space_put(dropped);
}

/* The lists of a CPU have been emptied and are about to be freed. */
static void color_forget_run(struct zone *zone, int cpu)
{
	struct per_cpu_pages *pcp = per_cpu_ptr(zone->per_cpu_pageset, cpu);
	unsigned long __maybe_unused UP_flags;
	struct page_color_space *space;

	pcp_spin_lock_maybe_irqsave(pcp, UP_flags);
	space = pcp->color_run.space;
	pcp->color_run.space = NULL;
	pcp_spin_unlock_maybe_irqrestore(pcp, UP_flags);
	page_color_space_put(space);
}

/* The zone has no memory any more. Wait for allocations that began while it had some. */
static void color_forget_runs(struct zone *zone)
{
	int cpu;

	synchronize_rcu();
	for_each_possible_cpu(cpu)
		color_forget_run(zone, cpu);
}

static void color_drop_runs(struct zone *zone,
			    const struct page_color_space *space)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct per_cpu_pages *pcp =
			per_cpu_ptr(zone->per_cpu_pageset, cpu);

		if (READ_ONCE(pcp->color_run.space) == space)
			color_drop_run(zone, pcp, space);
	}
}

/*
 * Pages that CPUs have ready for a space go back. A CPU that begins a run just
 * now is not waited for.
 */
void page_color_drop_runs(const struct page_color_space *space)
{
	struct zone *zone;

	/* Per-CPU lists of a zone without memory stay until then. */
	rcu_read_lock();
	for_each_populated_zone(zone)
		if (zone_to_nid(zone) == space->nid)
			color_drop_runs(zone, space);
	rcu_read_unlock();
}

static void color_drain_local(struct zone *zone)
{
	struct per_cpu_pages *pcp = raw_cpu_ptr(zone->per_cpu_pageset);
	int nr, left = READ_ONCE(pcp->count);
	unsigned long __maybe_unused UP_flags;
	unsigned long flags;

	/* At most as many as there are now: other tasks may go on freeing pages. */
	do {
		pcp_spin_lock_maybe_irqsave(pcp, UP_flags);
		spin_lock_irqsave(&zone->lock, flags);
		nr = color_free_list(zone, pcp,
				     order_to_pindex(MIGRATE_MOVABLE, 0),
				     READ_ONCE(pcp->batch));
		spin_unlock_irqrestore(&zone->lock, flags);
		pcp_spin_unlock_maybe_irqrestore(pcp, UP_flags);
		left -= nr;
	} while (nr && left > 0);
}

/* A program has ended: what it left on the lists of this CPU is free for others. */
void page_color_drain_local(int nid)
{
	struct zone *zone;

	rcu_read_lock();
	for_each_populated_zone(zone)
		if (zone_to_nid(zone) == nid)
			color_drain_local(zone);
	rcu_read_unlock();
}

struct page *page_color_alloc_place(struct zone *zone, struct folio *folio,
				    unsigned long best, unsigned long from)
{
	unsigned long watermark = zone->_watermark[WMARK_MIN] + 1;
	struct page *page = NULL;
	unsigned long flags, pfn;

	if (debug_guardpage_enabled() ||
	    !page_color_find_place(zone, folio, best, from, &pfn))
		return NULL;
	spin_lock_irqsave(&zone->lock, flags);
	/* Obey watermarks as __isolate_free_page() does. */
	if (zone_watermark_ok(zone, 0, watermark, 0, ALLOC_CMA) &&
	    color_take(zone, pfn, 1, ALLOC_CMA))
		page = pfn_to_page(pfn);
	spin_unlock_irqrestore(&zone->lock, flags);
	if (!page)
		return NULL;

	post_alloc_hook(page, 0, __GFP_MOVABLE);
	set_page_refcounted(page);
	return page;
}

/* Takes pages of a zone that is above its low watermark. Returns how many. */
static int color_alloc_best(struct zone *zone, const struct page_color_ask *ask,
			    unsigned int least, unsigned int count,
			    struct list_head *list)
{
	struct page_color_part parts[PAGE_COLOR_PARTS];
	unsigned long flags;
	unsigned int nr;
	int taken;

	if (!zone_watermark_ok(zone, 0, low_wmark_pages(zone) + count,
			       gfp_zone(GFP_HIGHUSER_MOVABLE), ALLOC_CMA))
		return 0;
	nr = page_color_gather(zone, ask, least, count, parts);
	if (!nr)
		return 0;
	spin_lock_irqsave(&zone->lock, flags);
	taken = color_take_parts(zone, parts, nr, ALLOC_CMA, ask);
	spin_unlock_irqrestore(&zone->lock, flags);
	color_add_parts(list, parts, nr);
	return taken;
}

void page_color_alloc_best(struct mm_struct *mm, int nid, unsigned int least,
			   unsigned int count, struct list_head *list)
{
	struct page_color_ask ask = {};
	LIST_HEAD(taken);
	struct page *page;
	int nr = 0, i;

	if (debug_guardpage_enabled())
		return;
	rcu_read_lock();
	if (static_branch_unlikely(&page_color_sets_key))
		ask.set = page_color_set_of_node(mm, nid);
	ask.space = page_color_space(mm, nid, PAGE_COLOR_ANON);
	/* After all colors have been held, none is better than another. */
	if (ask.space && page_color_full(ask.space))
		ask.space = NULL;
	for (i = MAX_NR_ZONES - 1; i >= 0 && ask.space && !nr; i--) {
		struct zone *zone = &NODE_DATA(nid)->node_zones[i];

		if (populated_zone(zone))
			nr = color_alloc_best(zone, &ask, least, count, &taken);
	}
	rcu_read_unlock();
	list_for_each_entry(page, &taken, pcp_list) {
		post_alloc_hook(page, 0, __GFP_MOVABLE);
		set_page_refcounted(page);
	}
	list_splice_tail(&taken, list);
}

#endif /* _MM_PAGE_COLOR_BUDDY_H */
