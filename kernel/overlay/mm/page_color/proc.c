// SPDX-License-Identifier: GPL-2.0-only
/* /proc/page_color: what is colored, by node and zone. */

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "page_color.h"

u32 page_color_zone_colors(const struct zone *zone)
{
	const struct page_color_zone *coloring =
		rcu_dereference_protected(zone->page_color,
					  lockdep_is_held(&page_color_mutex));

	return coloring ? coloring->memory.colors : 0;
}

static void show_node(struct seq_file *m, int nid)
{
	const struct page_color_node *node =
		rcu_dereference_protected(page_color_nodes[nid],
					  lockdep_is_held(&page_color_mutex));

	if (!node)
		return;
	seq_printf(m, "Node %d\n  colors %u\n  large %lu\n", nid,
		   node->colors, node->large);
	if (!node->live)
		return;
	/* How many large address spaces hold the colors that few hold. */
	seq_printf(m, "  level %u\n  left %d\n",
		   READ_ONCE(node->live->level),
		   atomic_read(&node->live->left));
}

/* It does not grow with memory or colors: everybody may read it. */
static int page_color_show(struct seq_file *m, void *v)
{
	struct zone *zone;
	int nid;

	seq_printf(m, "enabled %d\n", page_color_enabled());
	/* What is colored changes under this mutex only. */
	mutex_lock(&page_color_mutex);
	for_each_online_node(nid)
		show_node(m, nid);
	for_each_populated_zone(zone)
		if (page_color_zone_colors(zone))
			seq_printf(m, "Node %d, zone %8s\n",
				   zone_to_nid(zone), zone->name);
	mutex_unlock(&page_color_mutex);
	return 0;
}

static int __init page_color_proc(void)
{
	proc_create_single("page_color", 0444, NULL, page_color_show);
	return 0;
}
fs_initcall(page_color_proc);
