/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One node with one zone. */
#ifndef HARNESS_LINUX_MMZONE_H
#define HARNESS_LINUX_MMZONE_H

#include <linux/mm_types.h>
#include <linux/spinlock.h>

#define MAX_NUMNODES 1
#define MAX_PAGE_ORDER 10
#define MIGRATE_MOVABLE 1

#define pageblock_order 9U
#define pageblock_start_pfn(pfn) ((pfn) & ~((1UL << pageblock_order) - 1))

enum node_states {
	N_MEMORY,
};

#define for_each_node_state(nid, state) for ((nid) = 0; (nid) < MAX_NUMNODES; (nid)++)

struct page_color_zone;

struct zone {
	spinlock_t lock;
	unsigned long managed;
	struct page_color_zone *page_color;
};

static inline int zone_to_nid(const struct zone *zone)
{
	return 0;
}

static inline unsigned long zone_managed_pages(const struct zone *zone)
{
	return zone->managed;
}

static inline bool is_migrate_cma(int migratetype)
{
	return false;
}

#endif
