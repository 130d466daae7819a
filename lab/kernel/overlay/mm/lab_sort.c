// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorts all lists of free blocks by address, as the zonesort module does that came with
 * Knights Landing and that Slurm runs before a job. What waits on the CPUs' own lists
 * is given back first, so that it is sorted too.
 */

#include <linux/gfp.h>
#include <linux/list_sort.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>

static int by_address(void *priv, const struct list_head *a, const struct list_head *b)
{
	unsigned long frame = page_to_pfn(list_entry(a, struct page, buddy_list));
	unsigned long other = page_to_pfn(list_entry(b, struct page, buddy_list));

	return frame < other ? -1 : frame > other;
}

static int sort_set(const char *value, const struct kernel_param *param)
{
	struct zone *zone;
	unsigned long flags;
	int order, type;

	drain_all_pages(NULL);
	for_each_populated_zone(zone) {
		spin_lock_irqsave(&zone->lock, flags);
		for_each_migratetype_order(order, type)
			list_sort(NULL, &zone->free_area[order].free_list[type], by_address);
		spin_unlock_irqrestore(&zone->lock, flags);
	}
	return 0;
}

static const struct kernel_param_ops sort_ops = { .set = sort_set };

module_param_cb(now, &sort_ops, NULL, 0200);
MODULE_PARM_DESC(now, "write anything to sort");
