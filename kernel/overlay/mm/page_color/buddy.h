/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of page coloring that changes the buddy lists and the lists of CPUs:
 * included by mm/page_alloc.c, whose static functions it is made of.
 */
#ifndef _MM_PAGE_COLOR_BUDDY_H
#define _MM_PAGE_COLOR_BUDDY_H

#include "page_color.h"

/* As color_freed(), where @free has been looked up: NULL if nothing is colored there. */
static __always_inline void color_freed_to(struct page_color_free *free,
					   unsigned long pfn,
					   unsigned int order, int migratetype)
{
	if (!free)
		return;
	if (page_color_movable(migratetype))
		page_color_free_set(free, pfn, order);
	else
		/* The part of a larger block that is isolated was free before. */
		page_color_free_clear(free, pfn, order);
}

/* Frames came to the free lists; under zone->lock. */
static void color_freed(struct zone *zone, unsigned long pfn,
			unsigned int order, int migratetype)
{
	color_freed_to(page_color_zone_free(zone), pfn, order, migratetype);
}

/* Frames left the free lists; under zone->lock. */
static void color_taken(struct zone *zone, struct page *page,
			unsigned int order)
{
	struct page_color_free *free = page_color_zone_free(zone);

	if (free)
		page_color_free_clear(free, page_to_pfn(page), order);
}

/* The last @nr pages of a list have just been taken; mostly they follow each other. */
static void color_taken_list(struct zone *zone, struct list_head *list, int nr,
			     unsigned int order)
{
	struct page_color_free *free = page_color_zone_free(zone);
	/* Of 64 frames, those taken. */
	unsigned long first = 0;
	u64 taken = 0;
	struct page *page;

	if (!free)
		return;
	list_for_each_entry_reverse(page, list, pcp_list) {
		unsigned long pfn;

		if (!nr--)
			break;
		pfn = page_to_pfn(page);
		if (order >= 6) {
			page_color_free_clear(free, pfn, order);
			continue;
		}
		if (pfn - first >= 64) {
			if (taken)
				page_color_free_clear_mask(free, first, taken);
			first = pfn & ~63UL;
			taken = 0;
		}
		taken |= page_color_low_bits(1UL << order) << pfn % 64;
	}
	if (taken)
		page_color_free_clear_mask(free, first, taken);
}

/*
 * The free pages of a pageblock, or of several, are on the lists of another type
 * from now on.
 */
static void color_moved(struct zone *zone, unsigned long start_pfn,
			unsigned int order)
{
	struct page_color_free *free = page_color_zone_free(zone);

	if (!free)
		return;
	page_color_free_clear(free, start_pfn, order);
	page_color_look(zone, start_pfn, start_pfn + (1UL << order));
}

/* The free block that a frame is in, under zone->lock; -1 if it is in none. */
static int color_block_order(unsigned long pfn)
{
	int order;

	for (order = 0; order < NR_PAGE_ORDERS; order++) {
		struct page *head = pfn_to_page(pfn & ~0UL << order);

		if (PageBuddy(head) && buddy_order(head) >= order)
			return buddy_order(head);
	}
	return -1;
}

/* Give back frames as the largest blocks that are aligned. */
static void color_give_back(struct zone *zone, unsigned long pfn,
			    unsigned long end, int migratetype)
{
	while (pfn < end) {
		unsigned int order = page_color_block_order(pfn, end);
		struct page *page = pfn_to_page(pfn);

		__add_to_free_list(page, zone, order, migratetype, false);
		set_buddy_order(page, order);
		pfn += 1UL << order;
	}
}

/*
 * Take those of 64 frames from @pfn on that @mask names, as far as they are free
 * and movable. A block is cut once, instead of being halved for each page of it.
 * Returns what was taken.
 */
static u64 color_take(struct zone *zone, unsigned long pfn, u64 mask,
		      unsigned int alloc_flags)
{
	struct page_color_free *free = page_color_zone_free(zone);
	u64 taken = 0;

	if (!free)
		return 0;
	/* The memory may have gone: only what has a bit has a struct page. */
	mask &= page_color_free_word(free, pfn);
	while (mask) {
		unsigned long first = pfn + __ffs64(mask), head, end, at;
		int order = color_block_order(first), mt;
		u64 in_block;

		if (order < 0) {
			page_color_free_clear(free, first, 0);
			mask &= mask - 1;
			continue;
		}
		head = first & ~0UL << order;
		end = head + (1UL << order);
		in_block = mask & page_color_low_bits(end - pfn);
		mask &= ~in_block;
		mt = get_pfnblock_migratetype(pfn_to_page(head), head);
		if (is_migrate_cma(mt) && !(alloc_flags & ALLOC_CMA))
			continue;
		page_color_free_clear_mask(free, pfn, in_block);
		if (!page_color_movable(mt))
			continue;

		__del_page_from_free_list(pfn_to_page(head), zone, order, mt);
		account_freepages(zone, -(int)hweight64(in_block), mt);
		taken |= in_block;
		for (at = head; in_block; ) {
			unsigned int skip = __ffs64(in_block);
			u64 rest = in_block >> skip;
			unsigned int nr = ~rest ? __ffs64(~rest) : 64;

			color_give_back(zone, at, pfn + skip, mt);
			at = pfn + skip + nr;
			in_block &= ~(page_color_low_bits(nr) << skip);
		}
		color_give_back(zone, at, end, mt);
	}
	return taken;
}

/* Frames of a block that are not free, whatever their bits say. */
static void color_clear_gone(struct page_color_free *free, unsigned long pfn,
			     unsigned int order)
{
	unsigned long end = pfn + (1UL << order);

	while (pfn < end) {
		int free_order = color_block_order(pfn);

		if (free_order < 0)
			page_color_free_clear(free, pfn++, 0);
		else
			pfn = (pfn & ~0UL << free_order) + (1UL << free_order);
	}
}

/*
 * Take a whole block; NULL if it may not be taken. Frames that are not free, or not
 * movable, lose their bits, so that they are not chosen again.
 */
static struct page *color_take_block(struct zone *zone, unsigned long pfn,
				     unsigned int order,
				     unsigned int alloc_flags)
{
	struct page_color_free *free = page_color_zone_free(zone);
	unsigned long head, size = 1UL << order;
	int from, mt;

	if (!free || !(page_color_free_word(free, pfn) & 1))
		return NULL;
	from = color_block_order(pfn);
	if (from < (int)order) {
		color_clear_gone(free, pfn, order);
		return NULL;
	}
	head = pfn & ~0UL << from;
	mt = get_pfnblock_migratetype(pfn_to_page(head), head);
	if (is_migrate_cma(mt) && !(alloc_flags & ALLOC_CMA))
		return NULL;
	if (!page_color_movable(mt)) {
		page_color_free_clear(free, pfn, order);
		return NULL;
	}
	__del_page_from_free_list(pfn_to_page(head), zone, from, mt);
	account_freepages(zone, -(int)size, mt);
	page_color_free_clear(free, pfn, order);
	color_give_back(zone, head, pfn, mt);
	color_give_back(zone, pfn + size, head + (1UL << from), mt);
	return pfn_to_page(pfn);
}

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
		nr = page_color_gather(zone, ask, 0, count, parts);
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
	while (tries-- && !color_is_ready(pcp, pindex, &ask))
		if (!color_refill(zone, alloc_flags, pcp, pindex, &ask))
			break;
	return !list_empty(&pcp->lists[pindex]);
}

/* Counts what the default path counts. @space holds the page, or is NULL. */
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
	struct page_color_blocks blocks = { .order = order };
	struct page *page = NULL;
	unsigned long flags;
	int tries = 4;

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
	if (page && ask->space)
		page_color_take_block(ask->space, blocks.frame, order,
				      blocks.claimed);
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
	if (!page)
		return color_take_best_block(zone, pcp, order, alloc_flags, ask);
	list_del(&page->pcp_list);
	pcp->count -= 1 << order;
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
	rcu_read_lock();
	/* Orders that CPUs' lists have come from there for small programs. */
	if (page_color_ask(&ask, zone_to_nid(zone)) ||
	    (page_color_is_small() && !pcp_allowed_order(order)))
		page = color_get_block(zone, order, alloc_flags, &ask);
	/* The colors of bad pages stay held until the space is counted anew. */
	if (page && check_new_pages(page, order))
		page = NULL;
	if (ask.set)
		color_note_set(page, order, ask.set);
	if (page)
		color_done(preferred_zone, zone, page, order, ask.space);
	rcu_read_unlock();
	return page;
}

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
 * that takes none still counts in fair_share(): its run ends when nothing was taken
 * between two calls. Called with the CPU's statistics, under pcp->lock. Returns whether
 * there is more to look at.
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
