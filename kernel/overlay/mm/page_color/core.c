// SPDX-License-Identifier: GPL-2.0-only
/* Building and dropping the index of each zone. */

#define pr_fmt(fmt) "page_color: " fmt

#include <linux/cpu.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sizes.h>

#include "page_color.h"
#include "../internal.h"

/* Frames looked at in one hold of zone->lock: some tens of microseconds. */
#define PAGE_COLOR_CHUNK	4096UL

DEFINE_STATIC_KEY_FALSE(page_color_key);
/* Never on. */
DEFINE_STATIC_KEY_FALSE(page_color_hint_key);
/* Geometry, and which zones have an index. */
DEFINE_MUTEX(page_color_mutex);

struct page_color_geometry page_color_geometries[MAX_NUMNODES];

/* Whether a node that gets memory later is asked for its cache. */
static bool page_color_detecting;

static struct page_color_zone *page_color_make(struct zone *zone)
{
	struct page_color_span span = {
		.start = zone->zone_start_pfn,
		.frames = zone->spanned_pages,
		.colors = page_color_geometries[zone_to_nid(zone)].colors,
		.orders = NR_PAGE_ORDERS,
		.lists = PAGE_COLOR_LISTS,
	};
	size_t bytes = page_color_index_bytes(&span);
	struct page_color_zone *coloring;
	void *memory;

	/*
	 * Four bits to a frame, more where most of the span is a hole or where
	 * blocks do not divide a huge number of colors.
	 */
	if (!bytes || bytes > max(zone_managed_pages(zone) * PAGE_SIZE / SZ_1K,
				  SZ_64K)) {
		pr_warn("node %d zone %s: an index of %zu bytes for %lu colors is too much, left as it is\n",
			zone_to_nid(zone), zone->name, bytes, span.colors);
		return NULL;
	}
	coloring = kzalloc_node(sizeof(*coloring), GFP_KERNEL,
				zone_to_nid(zone));
	memory = kvzalloc_node(bytes, GFP_KERNEL, zone_to_nid(zone));
	if (!coloring || !memory) {
		kvfree(memory);
		kfree(coloring);
		pr_warn("node %d zone %s: no memory for an index of %zu bytes\n",
			zone_to_nid(zone), zone->name, bytes);
		return NULL;
	}
	coloring->index = page_color_index_init(memory, &span);
	coloring->colors = span.colors;
	return coloring;
}

/* From now on the lists' changes go to @coloring. */
static void page_color_attach(struct zone *zone,
			      struct page_color_zone *coloring)
{
	struct page_color_zone *old;
	unsigned long flags;

	spin_lock_irqsave(&zone->lock, flags);
	old = zone->page_color;
	if (old && coloring)
		coloring->stats = old->stats;
	zone->page_color = coloring;
	spin_unlock_irqrestore(&zone->lock, flags);
	if (!old)
		return;
	kvfree(old->index);
	kfree(old);
}

static void page_color_fill_chunk(struct zone *zone, unsigned long pfn,
				  unsigned long end)
{
	unsigned long flags;

	spin_lock_irqsave(&zone->lock, flags);
	while (pfn < end) {
		struct page *page = pfn_to_online_page(pfn);
		unsigned int order;

		if (!page || page_zone(page) != zone || !PageBuddy(page)) {
			pfn++;
			continue;
		}
		order = buddy_order(page);
		__page_color_add(zone, page, order,
				 get_pageblock_migratetype(page));
		pfn += 1UL << order;
	}
	spin_unlock_irqrestore(&zone->lock, flags);
}

/*
 * Blocks that come and go meanwhile keep the index true by themselves, on
 * either side of the place that this has reached.
 */
static void page_color_fill(struct zone *zone)
{
	unsigned long end = zone_end_pfn(zone);
	unsigned long pfn = zone->zone_start_pfn;
	unsigned long flags, stop;

	for (; pfn < end; pfn = stop) {
		stop = min(ALIGN(pfn + 1, PAGE_COLOR_CHUNK), end);
		if (pfn_to_online_page(pfn) || pfn_to_online_page(stop - 1))
			page_color_fill_chunk(zone, pfn, stop);
		cond_resched();
	}
	spin_lock_irqsave(&zone->lock, flags);
	zone->page_color->ready = true;
	spin_unlock_irqrestore(&zone->lock, flags);
}

/* Whether the index covers the zone, and not much more. */
static bool page_color_covers(struct zone *zone)
{
	const struct page_color_span *span;
	unsigned long shrunk;

	if (!zone->page_color)
		return false;
	span = page_color_index_span(zone->page_color->index);
	shrunk = zone->spanned_pages + zone->spanned_pages / 2;
	return span->start <= zone->zone_start_pfn &&
	       span->start + span->frames >= zone_end_pfn(zone) &&
	       span->frames <= shrunk;
}

/* Bring all zones up to date; zones and nodes may have come and gone. */
static int page_color_build(void)
{
	struct page_color_zone *coloring;
	struct zone *zone;
	int built = 0;

	lockdep_assert_held(&page_color_mutex);
	for_each_zone(zone) {
		bool wanted = populated_zone(zone) &&
			page_color_geometries[zone_to_nid(zone)].colors > 1;

		if (wanted && page_color_covers(zone)) {
			built++;
			continue;
		}
		coloring = wanted ? page_color_make(zone) : NULL;
		if (!coloring && !zone->page_color)
			continue;
		page_color_attach(zone, coloring);
		if (!coloring)
			continue;
		page_color_fill(zone);
		built++;
	}
	return built ? 0 : -ENODEV;
}

static void page_color_drop(void)
{
	struct zone *zone;

	for_each_zone(zone)
		page_color_attach(zone, NULL);
}

/* Memory hotplug takes its locks in this order before it notifies us. */
static void page_color_lock(void)
{
	cpus_read_lock();
	get_online_mems();
	mutex_lock(&page_color_mutex);
}

int page_color_enable(bool enable)
{
	int err = 0;

	page_color_lock();
	if (enable == static_key_enabled(&page_color_key))
		goto out;
	if (enable) {
		/* First the changes of the lists, then what is on them. */
		static_branch_enable_cpuslocked(&page_color_key);
		err = page_color_build();
	}
	if (!enable || err) {
		/* The other way round: a stale index must not be asked. */
		page_color_drop();
		static_branch_disable_cpuslocked(&page_color_key);
		/* Nobody takes from the runs that CPUs hold any more. */
		drain_all_pages(NULL);
	}
out:
	mutex_unlock(&page_color_mutex);
	/* Not under the mutex: who takes memory offline holds this when notifying. */
	page_color_update_pcp();
	put_online_mems();
	cpus_read_unlock();
	return err;
}

int page_color_set_geometry(const struct page_color_geometry *geometry)
{
	int nid, err = 0;

	mutex_lock(&page_color_mutex);
	if (static_key_enabled(&page_color_key)) {
		err = -EBUSY;
		goto out;
	}
	for (nid = 0; nid < MAX_NUMNODES; nid++)
		page_color_geometries[nid] = *geometry;
	page_color_detecting = false;
out:
	mutex_unlock(&page_color_mutex);
	return err;
}

int page_color_detect_geometry(void)
{
	int nid, err = 0;

	mutex_lock(&page_color_mutex);
	if (static_key_enabled(&page_color_key)) {
		err = -EBUSY;
		goto out;
	}
	err = -ENODEV;
	page_color_detecting = true;
	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		struct page_color_geometry *geometry =
			&page_color_geometries[nid];

		memset(geometry, 0, sizeof(*geometry));
		if (node_online(nid) && !page_color_detect(nid, geometry))
			err = 0;
	}
out:
	mutex_unlock(&page_color_mutex);
	return err;
}

/* CXL memory, for one, is a node of its own that comes after boot. */
static void page_color_detect_new(void)
{
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		struct page_color_geometry *geometry =
			&page_color_geometries[nid];

		if (page_color_detecting && !geometry->size)
			page_color_detect(nid, geometry);
	}
}

static int page_color_memory_event(struct notifier_block *self,
				   unsigned long action, void *arg)
{
	if (action != MEM_ONLINE && action != MEM_OFFLINE)
		return NOTIFY_OK;
	mutex_lock(&page_color_mutex);
	page_color_detect_new();
	if (static_key_enabled(&page_color_key))
		page_color_build();
	mutex_unlock(&page_color_mutex);
	return NOTIFY_OK;
}

static int __init page_color_init(void)
{
	return hotplug_memory_notifier(page_color_memory_event,
				       DEFAULT_CALLBACK_PRI);
}
core_initcall(page_color_init);
