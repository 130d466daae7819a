/* SPDX-License-Identifier: GPL-2.0-only */
/* The lists of a CPU: pages on them are given back, and taken by color. Part of buddy.h. */
#ifndef _MM_PAGE_COLOR_BUDDY_PCP_H
#define _MM_PAGE_COLOR_BUDDY_PCP_H

#include "buddy_lists.h"

/*
 * Free pages from the end of a list, at most @max: those that follow each other
 * on the list and in memory, either way, as blocks. Returns how many.
 */
static noinline int color_free_run(struct zone *zone, struct list_head *list,
				   int max, struct page_color_run *run)
{
	struct page *page = list_last_entry(list, struct page, pcp_list);
	unsigned long pfn = page_to_pfn(page), first = pfn, last = pfn, end;
	unsigned long low = pageblock_start_pfn(pfn);
	unsigned long high = pageblock_end_pfn(pfn);
	int mt = get_pfnblock_migratetype(page, pfn);
	struct list_head *before;
	int nr = 0, order;

	do {
		before = page->pcp_list.prev;
		trace_mm_page_pcpu_drain(page, 0, mt);
		if (++nr == max || before == list)
			break;
		page = list_entry(before, struct page, pcp_list);
		pfn = page_to_pfn(page);
		if (pfn == last + 1 && pfn < high)
			last = pfn;
		else if (pfn == first - 1 && pfn >= low)
			first = pfn;
		else
			break;
	} while (true);
	/* All at once; their links have no meaning once they are free. */
	__list_del(before, list);

	if (run && run->space && !run->mixed)
		page_color_unmark_frames(run->space, first, nr);
	end = first + nr;
	for (pfn = first; pfn < end; pfn += 1UL << order) {
		order = page_color_block_order(pfn, end);
		color_freed(zone, pfn, order, mt);
		__free_one_page(pfn_to_page(pfn), pfn, zone, order, mt,
				FPI_NONE);
	}
	return nr;
}

/* Whether the frame of a list's last page is not next to that of the page before it. */
static bool color_is_single(const struct list_head *list)
{
	const struct list_head *last = list->prev, *before = last->prev;
	struct page *page = list_entry(last, struct page, pcp_list);
	struct page *page_before = list_entry(before, struct page, pcp_list);

	return before == list ||
	       (page != page_before + 1 && page != page_before - 1);
}

/* As color_free_run(), but for one page. */
static __always_inline void color_free_single(struct zone *zone,
					      struct page_color_free *free,
					      struct list_head *list)
{
	struct page *page = list_last_entry(list, struct page, pcp_list);
	unsigned long pfn = page_to_pfn(page);
	int mt = get_pfnblock_migratetype(page, pfn);

	/* As list_del(), but its links have no meaning once it is free. */
	__list_del_entry(&page->pcp_list);
	trace_mm_page_pcpu_drain(page, 0, mt);
	color_freed_to(free, pfn, 0, mt);
	__free_one_page(page, pfn, zone, 0, mt, FPI_NONE);
}

/*
 * Free larger pages that a CPU has ready for an address space, at least @count frames if
 * there are as many; returns how many.
 */
static int color_free_blocks(struct zone *zone, struct per_cpu_pages *pcp,
			     int count)
{
	struct list_head *list = &pcp->lists[PCP_BLOCK_LIST];
	struct page_color_run *run = &pcp->color_run;
	int nr = 0;

	while (nr < count && !list_empty(list)) {
		struct page *page = list_last_entry(list, struct page, pcp_list);
		unsigned long pfn = page_to_pfn(page);
		int mt = get_pfnblock_migratetype(page, pfn);

		list_del(&page->pcp_list);
		trace_mm_page_pcpu_drain(page, run->order, mt);
		page_color_unmark_frames(run->space, pfn, 1UL << run->order);
		color_freed(zone, pfn, run->order, mt);
		__free_one_page(page, pfn, zone, run->order, mt, FPI_NONE);
		nr += 1 << run->order;
	}
	pcp->count -= nr;
	return nr;
}

/* Free order-0 pages of a list, at most @count; returns how many. */
static int color_free_list(struct zone *zone, struct per_cpu_pages *pcp,
			   int pindex, int count)
{
	struct page_color_run *run =
		pindex == PCP_COLOR_LIST ? &pcp->color_run : NULL;
	struct page_color_free *free = page_color_zone_free(zone);
	struct list_head *list = &pcp->lists[pindex];
	int nr = 0;

	while (nr < count && !list_empty(list)) {
		/* Pages that were touched in random order are not next to each other. */
		if (!run && color_is_single(list)) {
			color_free_single(zone, free, list);
			nr++;
		} else {
			nr += color_free_run(zone, list, count - nr, run);
		}
	}
	pcp->count -= nr;
	return nr;
}

/* What free_pcppages_bulk() does with one list while coloring is on. */
static int color_free_bulk(struct zone *zone, struct per_cpu_pages *pcp,
			   int pindex, unsigned int order, int count)
{
	struct list_head *list = &pcp->lists[pindex];
	int nr = 0;

	if (pindex == PCP_BLOCK_LIST)
		return color_free_blocks(zone, pcp, count);
	if (!order)
		return color_free_list(zone, pcp, pindex, count);
	do {
		struct page *page = list_last_entry(list, struct page, pcp_list);
		unsigned long pfn = page_to_pfn(page);
		int mt = get_pfnblock_migratetype(page, pfn);

		list_del(&page->pcp_list);
		nr += 1 << order;
		color_freed(zone, pfn, order, mt);
		__free_one_page(page, pfn, zone, order, mt, FPI_NONE);
		trace_mm_page_pcpu_drain(page, order, mt);
	} while (nr < count && !list_empty(list));
	pcp->count -= nr;
	return nr;
}

/* Give back the pages that a CPU has ready for a space or a set. */
static void color_end_run(struct zone *zone, struct per_cpu_pages *pcp)
{
	unsigned long flags;

	if (list_empty(&pcp->lists[PCP_COLOR_LIST]) &&
	    list_empty(&pcp->lists[PCP_BLOCK_LIST]))
		return;
	spin_lock_irqsave(&zone->lock, flags);
	color_free_list(zone, pcp, PCP_COLOR_LIST, pcp->count);
	color_free_blocks(zone, pcp, pcp->count);
	spin_unlock_irqrestore(&zone->lock, flags);
}

/* From now on a CPU has pages ready for @ask; those for another space or set go back. */
static void color_begin_run(struct zone *zone, struct per_cpu_pages *pcp,
			    const struct page_color_ask *ask)
{
	if (page_color_run_fits(&pcp->color_run, ask))
		return;
	color_end_run(zone, pcp);
	page_color_run_begin(&pcp->color_run, ask);
	pcp->color_run.order = 0;
}

/*
 * Take the frames of all parts. Colors that were marked for @ask, but whose frames are no
 * longer free, are unmarked. Under zone->lock. Returns how many were taken.
 */
static int color_take_parts(struct zone *zone, struct page_color_part *parts,
			    unsigned int nr, unsigned int alloc_flags,
			    const struct page_color_ask *ask)
{
	struct page_color_part *part;
	int taken = 0;

	for (part = parts; part < parts + nr; part++) {
		u64 mask = part->mask;

		part->mask = color_take(zone, part->frame, mask, alloc_flags);
		if (unlikely(mask != part->mask) && ask && part->fresh)
			page_color_lost(zone, ask, part, mask & ~part->mask);
		taken += hweight64(part->mask);
	}
	return taken;
}

/*
 * Whether the space held some of the colors before: pages that are mapped may have them,
 * so that they stay held when the pages on the list are given back.
 */
static bool color_is_mixed(const struct page_color_part *parts, unsigned int nr)
{
	while (nr--)
		if (!parts[nr].fresh)
			return true;
	return false;
}

static void color_add_parts(struct list_head *list,
			    const struct page_color_part *parts, unsigned int nr)
{
	const struct page_color_part *part;
	u64 taken;

	for (part = parts; part < parts + nr; part++) {
		for (taken = part->mask; taken; taken &= taken - 1) {
			struct page *page =
				pfn_to_page(part->frame + __ffs64(taken));

			list_add_tail(&page->pcp_list, list);
		}
	}
}

/*
 * How often a batch is doubled at most. For files, as nr_pcp_alloc() has it, each page that
 * was freed makes it half as many: programs that read more than fits into memory go on
 * with what reclaim frees, and more than that would take the zone from one watermark past
 * the next, so that they would have to reclaim pages themselves. Anonymous memory is taken
 * in long runs nevertheless: short ones lie in more pageblocks, and fewer stay whole.
 */
static unsigned int color_factor(struct per_cpu_pages *pcp, int pindex)
{
	unsigned int factor = CONFIG_PCP_BATCH_SCALE_MAX;

	if (pindex == PCP_FILE_LIST) {
		factor = pcp->alloc_factor;
		if (factor < CONFIG_PCP_BATCH_SCALE_MAX)
			pcp->alloc_factor++;
	}
	return factor;
}

/*
 * How many pages to take at once: twice as many each time, as the default path does, and
 * no more than a list of this zone may hold; where memory is scarce no more than
 * pcp->high_min allows.
 */
static int color_count(struct zone *zone, struct per_cpu_pages *pcp, int pindex)
{
	struct page_color_run *run = &pcp->color_run;
	unsigned int batch = READ_ONCE(pcp->batch), most;

	/* Boot pagesets, and those that are disabled, hold no pages. */
	if (READ_ONCE(pcp->high_min) < batch)
		return 1;
	most = min_t(unsigned int, batch << color_factor(pcp, pindex),
		     READ_ONCE(pcp->high_max));
	if (test_bit(ZONE_BELOW_HIGH, &zone->flags))
		most = min_t(int, most,
			     max(READ_ONCE(pcp->high_min) - pcp->count, 0));
	run->longest = clamp(run->longest * 2, batch, max(most, batch));
	return run->longest;
}

/*
 * Colors are chosen among pages on the buddy lists. Freed pages on a CPU's list cannot be
 * chosen there, and keep blocks from becoming whole: as many as were taken are given back
 * under the same hold of the lock.
 */
static void color_exchange(struct zone *zone, struct per_cpu_pages *pcp,
			   int count)
{
	color_free_list(zone, pcp, order_to_pindex(MIGRATE_MOVABLE, 0), count);
}

/*
 * Take wanted pages that this CPU has just freed: these are cache-warm, and zone->lock is
 * not needed. False if none is wanted.
 */
static bool color_reuse(struct zone *zone, struct per_cpu_pages *pcp,
			const struct page_color_ask *ask, int count)
{
	int freed = order_to_pindex(MIGRATE_MOVABLE, 0);

	return page_color_reuse(zone, ask, count, &pcp->lists[freed],
				&pcp->lists[PCP_COLOR_LIST]);
}

/* What colors must be while other zones of the node may have better ones. */
static __always_inline unsigned int color_least(unsigned int alloc_flags)
{
	return (alloc_flags & ALLOC_COLOR_LEAST) >> ALLOC_COLOR_SHIFT;
}

/* What page_color_gather() finds, unless such a search was in vain lately. */
static unsigned int color_gather(struct zone *zone, struct page_color_run *run,
				 const struct page_color_ask *ask,
				 unsigned int count,
				 struct page_color_part *parts)
{
	unsigned int nr;

	if (page_color_is_least_vain(run, ask->least))
		return 0;
	nr = page_color_gather(zone, ask, ask->least, count, parts);
	page_color_note_least(run, ask->least, nr);
	/* The next time as many are asked for. */
	if (!nr && ask->least)
		run->longest /= 2;
	return nr;
}

/*
 * Fill the list of a CPU, which is empty or has pages of another address space. False if
 * nothing could be chosen.
 */
static bool color_refill(struct zone *zone, unsigned int alloc_flags,
			 struct per_cpu_pages *pcp, int pindex,
			 const struct page_color_ask *ask)
{
	struct page_color_part parts[PAGE_COLOR_PARTS];
	struct list_head *list = &pcp->lists[pindex];
	unsigned long flags;
	unsigned int nr;
	int count;

	if (pindex == PCP_COLOR_LIST)
		color_begin_run(zone, pcp, ask);
	count = color_count(zone, pcp, pindex);
	if (pindex == PCP_COLOR_LIST) {
		pcp->color_run.mixed = false;
		if (color_reuse(zone, pcp, ask, count))
			return true;
		nr = color_gather(zone, &pcp->color_run, ask, count, parts);
	} else {
		nr = page_color_gather_file(zone, count, parts);
	}
	if (!nr)
		return false;
	spin_lock_irqsave(&zone->lock, flags);
	count = color_take_parts(zone, parts, nr, alloc_flags, ask);
	if (pindex == PCP_COLOR_LIST)
		color_exchange(zone, pcp, count);
	else
		page_color_file_low(zone);
	spin_unlock_irqrestore(&zone->lock, flags);
	if (pindex == PCP_COLOR_LIST)
		pcp->color_run.mixed = color_is_mixed(parts, nr);
	color_add_parts(list, parts, nr);
	pcp->count += count;
	return true;
}

/*
 * What rmqueue_bulk() does with movable pages while coloring is on: small address
 * spaces get colors that few large ones hold, and all of them in turn.
 */
static int color_bulk(struct zone *zone, unsigned long count,
		      struct list_head *list, unsigned int alloc_flags)
{
	struct page_color_part parts[PAGE_COLOR_PARTS];
	unsigned long flags;
	unsigned int nr;
	int taken = 0;

	if (debug_guardpage_enabled())
		return 0;
	rcu_read_lock();
	nr = page_color_gather_small(zone, count, parts);
	if (nr) {
		spin_lock_irqsave(&zone->lock, flags);
		taken = color_take_parts(zone, parts, nr, alloc_flags, NULL);
		spin_unlock_irqrestore(&zone->lock, flags);
	}
	rcu_read_unlock();
	color_add_parts(list, parts, nr);
	return taken;
}

/* Whether a list of a CPU has pages for @ask. */
static __always_inline bool color_is_ready(struct per_cpu_pages *pcp, int pindex,
					   const struct page_color_ask *ask)
{
	return !list_empty(&pcp->lists[pindex]) &&
	       (pindex == PCP_FILE_LIST ||
		page_color_run_fits(&pcp->color_run, ask));
}

/*
 * The same after the list was filled, if needed: several times if chosen frames are gone
 * when they are to be taken. @ask is looked up again, so that the fast path need not keep
 * it across the call.
 */
static noinline bool color_make_ready(struct zone *zone, unsigned int alloc_flags,
				      struct per_cpu_pages *pcp, int pindex)
{
	struct page_color_ask ask = {};
	int tries = 4;

	if (!page_color_ask(&ask, zone_to_nid(zone)))
		return false;
	ask.least = color_least(alloc_flags);
	while (tries-- && !color_is_ready(pcp, pindex, &ask))
		if (!color_refill(zone, alloc_flags, pcp, pindex, &ask))
			break;
	return !list_empty(&pcp->lists[pindex]);
}

#endif /* _MM_PAGE_COLOR_BUDDY_PCP_H */
