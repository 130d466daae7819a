/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One frame out of the lists of free blocks, whichever block it is in. Part of
 * page_alloc.c, for the functions that are known only there.
 */

/* NULL if the frame is not free, or in a block that is not for movable pages. */
struct page *lab_take(struct zone *zone, unsigned long pfn)
{
	struct page *page = pfn_to_page(pfn), *head;
	unsigned int order;

	lockdep_assert_held(&zone->lock);
	if (page_zone(page) != zone || get_pfnblock_migratetype(page, pfn) != MIGRATE_MOVABLE)
		return NULL;
	for (order = 0; order < NR_PAGE_ORDERS; order++) {
		head = pfn_to_page(pfn & ~((1UL << order) - 1));
		if (PageBuddy(head) && buddy_order(head) >= order)
			break;
	}
	if (order == NR_PAGE_ORDERS)
		return NULL;
	order = buddy_order(head);
	del_page_from_free_list(head, zone, order, MIGRATE_MOVABLE);
	while (order--) {
		struct page *half = head + (1UL << order), *rest = half;

		if (page >= half) {
			rest = head;
			head = half;
		}
		__add_to_free_list(rest, zone, order, MIGRATE_MOVABLE, false);
		set_buddy_order(rest, order);
		account_freepages(zone, 1 << order, MIGRATE_MOVABLE);
	}
	return page;
}
