// SPDX-License-Identifier: GPL-2.0-only
/* /proc/page_color: how coloring fares, by node and zone. */

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "page_color.h"

static void show_free(struct seq_file *m, const struct zone *zone)
{
	u32 colors = zone->page_color->colors, low = U32_MAX, high = 0, i;
	u32 *counts = kvmalloc_array(colors, sizeof(*counts), GFP_KERNEL);

	if (!counts)
		return;
	page_color_count(zone, 0, colors, counts);
	for (i = 0; i < colors; i++) {
		low = min(low, counts[i]);
		high = max(high, counts[i]);
	}
	seq_printf(m, "  free_min %u\n  free_median %u\n  free_max %u\n", low,
		   page_color_median(counts, colors, low, high), high);
	kvfree(counts);
}

static void show_zone(struct seq_file *m, struct zone *zone)
{
	struct page_color_stats stats;

	seq_printf(m, "Node %d, zone %8s\n", zone_to_nid(zone), zone->name);
	seq_printf(m, "  colors %lu\n", zone->page_color->colors);
	show_free(m, zone);
	spin_lock_irq(&zone->lock);
	stats = zone->page_color->stats;
	spin_unlock_irq(&zone->lock);
	seq_printf(m, "  exact %lu\n  next %lu\n  fallback %lu\n",
		   stats.exact, stats.next, stats.fallback);
}

static int page_color_show(struct seq_file *m, void *v)
{
	struct zone *zone;

	seq_printf(m, "enabled %d\n", page_color_enabled());
	/* What zones have changes under this mutex only. */
	mutex_lock(&page_color_mutex);
	for_each_populated_zone(zone)
		if (zone->page_color)
			show_zone(m, zone);
	mutex_unlock(&page_color_mutex);
	return 0;
}

static int __init page_color_proc(void)
{
	proc_create_single("page_color", 0444, NULL, page_color_show);
	return 0;
}
fs_initcall(page_color_proc);
