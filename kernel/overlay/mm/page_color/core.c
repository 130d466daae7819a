// SPDX-License-Identifier: GPL-2.0-only
/* Which zones and nodes are colored, and what is free in them to begin with. */

#define pr_fmt(fmt) "page_color: " fmt

#include <linux/cpu.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mutex.h>

#include "page_color.h"
#include "../internal.h"

/* Frames looked at in one hold of zone->lock, which takes tens of microseconds. */
#define PAGE_COLOR_FILL	4096UL

/* A cache with fewer colors than this belongs to one processor. */
#define PAGE_COLOR_SHARED	512

DEFINE_STATIC_KEY_FALSE(page_color_key);
/* Geometry, nodes, and which zones are colored. */
DEFINE_MUTEX(page_color_mutex);
bool page_color_few_copies __read_mostly;

struct page_color_geometry page_color_geometries[MAX_NUMNODES];
struct page_color_node __rcu *page_color_nodes[MAX_NUMNODES];

/* Whether a node that gets memory later is asked for its cache. */
static bool page_color_detecting;

static struct page_color_node *node_get(int nid)
{
	return rcu_dereference_protected(page_color_nodes[nid],
					 lockdep_is_held(&page_color_mutex));
}

static struct page_color_zone *zone_get(struct zone *zone)
{
	/* It changes under both locks. */
	return rcu_dereference_protected(zone->page_color,
					 lockdep_is_held(&page_color_mutex));
}

static void free_live(struct page_color_live *live)
{
	if (live)
		kvfree(live->lately);
	kvfree(live);
}

/*
 * Pages are shared, so a color may have more holders than pages. Counts go up to 255, so
 * that a program that forks many children which end again does not take its own colors
 * off the counts.
 */
static struct page_color_live *make_live(int nid, u32 colors)
{
	struct page_color_live *live;

	live = kvzalloc_node(page_color_live_bytes(colors, PAGE_COLOR_PLANES_MAX),
			     GFP_KERNEL, nid);
	if (!live)
		return NULL;
	page_color_live_init(live, colors, PAGE_COLOR_PLANES_MAX);
	live->lately = kvzalloc_node(page_color_lately_bytes(colors), GFP_KERNEL,
				     nid);
	if (!live->lately) {
		free_live(live);
		return NULL;
	}
	page_color_lately_init(live->lately, colors);
	return live;
}

static int make_node(int nid)
{
	const struct page_color_geometry *geometry = &page_color_geometries[nid];
	struct page_color_node *node;
	static u64 ids;

	if (node_get(nid))
		return 0;
	node = kzalloc_node(sizeof(*node), GFP_KERNEL, nid);
	if (!node)
		return -ENOMEM;
	node->id = ++ids;
	node->colors = geometry->colors;
	node->large = max(geometry->size / PAGE_SIZE / PAGE_COLOR_LARGE, 1UL);
	node->direct = geometry->ways == 1;
	if (node->colors >= PAGE_COLOR_SHARED) {
		node->live = make_live(nid, node->colors);
		if (!node->live) {
			kfree(node);
			return -ENOMEM;
		}
	}
	rcu_assign_pointer(page_color_nodes[nid], node);
	return 0;
}

static void free_node(struct rcu_head *rcu)
{
	struct page_color_node *node =
		container_of(rcu, struct page_color_node, rcu);

	free_live(node->live);
	kfree(node);
}

static void drop_node(int nid)
{
	struct page_color_node *node = node_get(nid);

	if (!node)
		return;
	RCU_INIT_POINTER(page_color_nodes[nid], NULL);
	call_rcu(&node->rcu, free_node);
}

static unsigned long end_of(const struct page_color_free *free)
{
	return free->start + free->chunks * PAGE_COLOR_CHUNK;
}

static void free_zone(struct page_color_zone *coloring)
{
	if (!coloring)
		return;
	kvfree(coloring->memory.free);
	kfree(coloring);
}

/* Whether another zone of the node is asked after it. */
static bool has_lower(const struct zone *zone)
{
	struct zone *lower = zone->zone_pgdat->node_zones;

	while (lower < zone && !populated_zone(lower))
		lower++;
	return lower < zone;
}

/* Makes the coloring of a whole zone, and of what @old spans. */
static struct page_color_zone *make_zone(struct zone *zone,
					 const struct page_color_zone *old)
{
	const struct page_color_node *node = node_get(zone_to_nid(zone));
	unsigned long start = round_down(zone->zone_start_pfn, PAGE_COLOR_CHUNK);
	unsigned long end = zone_end_pfn(zone), chunks;
	struct page_color_zone *coloring;
	struct page_color_free *free;

	if (old) {
		start = min(start, old->memory.free->start);
		end = max(end, end_of(old->memory.free));
	}
	chunks = DIV_ROUND_UP(end - start, PAGE_COLOR_CHUNK);
	coloring = kzalloc_node(sizeof(*coloring), GFP_KERNEL,
				zone_to_nid(zone));
	free = kvzalloc_node(struct_size(free, chunk, chunks), GFP_KERNEL,
			     zone_to_nid(zone));
	if (!coloring || !free) {
		kvfree(free);
		kfree(coloring);
		return NULL;
	}
	free->start = start;
	free->chunks = chunks;
	free->block_order = pageblock_order;
	free->lowest = zone->zone_start_pfn;
	coloring->node = node->id;
	coloring->memory.free = free;
	coloring->memory.colors = node->colors;
	coloring->memory.first = zone->zone_start_pfn / node->colors;
	coloring->memory.last = coloring->memory.first * node->colors;
	coloring->memory.last_block = coloring->memory.last;
	coloring->rest = free->start;
	coloring->memory.copies = (zone_end_pfn(zone) - 1) / node->colors -
				  coloring->memory.first + 1;
	if (coloring->memory.copies <= PAGE_COLOR_FEW_COPIES && has_lower(zone))
		WRITE_ONCE(page_color_few_copies, true);
	return coloring;
}

static void free_chunks(struct page_color_free *free)
{
	unsigned long i;

	for (i = 0; i < free->chunks; i++)
		kvfree(free->chunk[i]);
}

/*
 * From now on frames of the zone are chosen by @coloring; if it is NULL, not by color.
 */
static void attach(struct zone *zone, struct page_color_zone *coloring)
{
	struct page_color_zone *old = zone_get(zone);
	unsigned long flags;

	spin_lock_irqsave(&zone->lock, flags);
	if (old && coloring)
		page_color_free_adopt(coloring->memory.free, old->memory.free);
	rcu_assign_pointer(zone->page_color, coloring);
	spin_unlock_irqrestore(&zone->lock, flags);
	if (!old)
		return;
	/* Wait until those that choose frames no longer use it. */
	synchronize_rcu();
	if (!coloring)
		free_chunks(old->memory.free);
	free_zone(old);
}

void page_color_look(struct zone *zone, unsigned long pfn, unsigned long end)
{
	struct page_color_free *free = page_color_zone_free(zone);

	while (pfn < end) {
		struct page *page = pfn_to_online_page(pfn);

		if (!page || page_zone(page) != zone || !PageBuddy(page)) {
			pfn++;
			continue;
		}
		if (page_color_movable(get_pageblock_migratetype(page)))
			page_color_free_set(free, pfn, buddy_order(page));
		pfn += 1UL << buddy_order(page);
	}
}

/*
 * Looks for free frames between two places without holding the lock for long. Pages that
 * are freed or taken meanwhile change their bits by themselves, in front of this place
 * or behind it.
 */
static void fill(struct zone *zone, unsigned long pfn, unsigned long end)
{
	unsigned long flags, stop;

	for (; pfn < end; pfn = stop) {
		stop = min(ALIGN(pfn + 1, PAGE_COLOR_FILL), end);
		spin_lock_irqsave(&zone->lock, flags);
		page_color_look(zone, pfn, stop);
		spin_unlock_irqrestore(&zone->lock, flags);
		cond_resched();
	}
}

/* Memory for the bits of frames, only where memory is online. */
static int make_chunks(struct zone *zone, unsigned long start,
		       unsigned long end)
{
	struct page_color_free *free = zone_get(zone)->memory.free;
	struct page_color_chunk **place, *chunk;
	unsigned long pfn;

	for (pfn = start; pfn < end; pfn = pageblock_end_pfn(pfn)) {
		cond_resched();
		place = &free->chunk[(pfn - free->start) >>
				     PAGE_COLOR_CHUNK_ORDER];
		if (*place || !pfn_to_online_page(pfn))
			continue;
		chunk = kvzalloc_node(page_color_chunk_bytes(pageblock_order),
				      GFP_KERNEL, zone_to_nid(zone));
		if (!chunk)
			return -ENOMEM;
		/* Only zeros: nothing is free yet. */
		smp_store_release(place, chunk);
	}
	return 0;
}

static bool covers(const struct page_color_zone *coloring,
		   const struct zone *zone)
{
	const struct page_color_memory *memory = &coloring->memory;
	unsigned long last = zone_end_pfn(zone) - 1;

	return memory->free->start <= zone->zone_start_pfn &&
	       end_of(memory->free) > last &&
	       memory->first <= zone->zone_start_pfn / memory->colors &&
	       memory->first + memory->copies > last / memory->colors;
}

/*
 * Color the memory of a zone from @start to @end, which came after the rest if
 * there is a rest: what is known of that stays.
 */
static int cover(struct zone *zone, unsigned long start, unsigned long end)
{
	struct page_color_zone *coloring = zone_get(zone);
	int err;

	if (!coloring || !covers(coloring, zone)) {
		coloring = make_zone(zone, coloring);
		if (!coloring)
			return -ENOMEM;
		attach(zone, coloring);
	}
	err = make_chunks(zone, start, end);
	if (!err)
		fill(zone, start, end);
	return err;
}

static bool is_wanted(struct zone *zone)
{
	return populated_zone(zone) &&
	       page_color_geometries[zone_to_nid(zone)].colors > 1;
}

/* Colors the zones that have memory between two frames; zones and nodes come and go. */
static int build(unsigned long start, unsigned long end)
{
	struct zone *zone;
	int built = 0, err = 0;

	lockdep_assert_held(&page_color_mutex);
	for_each_zone(zone) {
		unsigned long from = max(start, zone->zone_start_pfn);
		unsigned long to = min(end, zone_end_pfn(zone));

		if (!is_wanted(zone) || from >= to)
			continue;
		err = make_node(zone_to_nid(zone));
		if (!err)
			err = cover(zone, from, to);
		if (err)
			break;
		built++;
	}
	if (err)
		pr_warn("node %d zone %s: no memory\n", zone_to_nid(zone),
			zone->name);
	return err ?: built ? 0 : -ENODEV;
}

static void page_color_drop(void)
{
	struct zone *zone;
	int nid;

	for_each_zone(zone)
		attach(zone, NULL);
	for (nid = 0; nid < MAX_NUMNODES; nid++)
		drop_node(nid);
	/*
	 * Wait until nothing looks at a set by this geometry, before another one comes.
	 */
	synchronize_rcu();
}

/* Pages that CPUs have ready are given back: no allocation takes them any more. */
static void drain(void)
{
	struct zone *zone;

	/* Zone by zone: a drain of all of them may do nothing beside another. */
	for_each_populated_zone(zone)
		drain_all_pages(zone);
}

/* Memory hotplug takes its locks in this order before it calls the notifier. */
static void page_color_lock(void)
{
	cpus_read_lock();
	get_online_mems();
	mutex_lock(&page_color_mutex);
}

static void page_color_unlock(void)
{
	mutex_unlock(&page_color_mutex);
	put_online_mems();
	cpus_read_unlock();
}

int page_color_enable(bool enable)
{
	int err = 0;

	page_color_lock();
	if (enable == static_key_enabled(&page_color_key))
		goto out;
	if (enable) {
		/* First frees and allocations change bits, then look for free frames. */
		static_branch_enable_cpuslocked(&page_color_key);
		err = build(0, ULONG_MAX);
	}
	if (!enable || err) {
		/*
		 * In the reverse order. From here on CPUs' lists get no pages of chosen
		 * colors; they are emptied before the key is off, since without it the
		 * order of the blocks on them is not known.
		 */
		page_color_drop();
		drain();
		static_branch_disable_cpuslocked(&page_color_key);
	}
out:
	page_color_unlock();
	return err;
}

/* The most colors of any node, read without page_color_mutex, which is held for long. */
static u32 max_colors;

/* Called whenever geometries have changed. */
static void note_max_colors(void)
{
	unsigned long colors = 0;
	int nid;

	lockdep_assert_held(&page_color_mutex);
	for (nid = 0; nid < MAX_NUMNODES; nid++)
		colors = max(colors, page_color_geometries[nid].colors);
	WRITE_ONCE(max_colors, colors);
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
	note_max_colors();
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
	note_max_colors();
out:
	mutex_unlock(&page_color_mutex);
	return err;
}

u32 page_color_max_colors(void)
{
	return READ_ONCE(max_colors);
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
	note_max_colors();
}

/* Drops zones that have no memory any more, and nodes whose zones have none. */
static void drop_empty(void)
{
	struct zone *zone;
	int nid;

	for_each_zone(zone)
		if (zone_get(zone) && !populated_zone(zone))
			attach(zone, NULL);
	for_each_online_node(nid)
		if (!node_present_pages(nid))
			drop_node(nid);
}

static int page_color_memory_event(struct notifier_block *self,
				   unsigned long action, void *arg)
{
	const struct memory_notify *memory = arg;

	if (action != MEM_ONLINE && action != MEM_OFFLINE)
		return NOTIFY_OK;
	mutex_lock(&page_color_mutex);
	page_color_detect_new();
	if (static_key_enabled(&page_color_key)) {
		if (action == MEM_ONLINE)
			build(memory->start_pfn,
			      memory->start_pfn + memory->nr_pages);
		else
			drop_empty();
	}
	mutex_unlock(&page_color_mutex);
	return NOTIFY_OK;
}

static int __init page_color_init(void)
{
	return hotplug_memory_notifier(page_color_memory_event,
				       DEFAULT_CALLBACK_PRI);
}
core_initcall(page_color_init);
