/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames on the buddy lists, and their bits. Part of buddy.h. */
#ifndef _MM_PAGE_COLOR_BUDDY_LISTS_H
#define _MM_PAGE_COLOR_BUDDY_LISTS_H

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

#endif /* _MM_PAGE_COLOR_BUDDY_LISTS_H */
