// SPDX-License-Identifier: GPL-2.0-only
/* Which cache the memory of a node is colored for, if none is given. */

#define pr_fmt(fmt) "page_color: " fmt

#include <linux/acpi.h>
#include <linux/cacheinfo.h>
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/node.h>
#include <linux/topology.h>
#include "page_color.h"

static bool detect_memory_side(int nid, struct page_color_geometry *geometry,
			       const char **error)
{
	struct node_cache_attrs attrs;

	if (hmat_get_memory_side_cache(nid, &attrs))
		return false;
	return !page_color_check_side(&attrs, geometry, error) &&
	       !page_color_check_node(nid, geometry, error);
}

/* A cache that other cores fill, too, is of no use for coloring. */
static bool is_private(const struct cacheinfo *leaf, unsigned int cpu)
{
	return leaf->level >= 2 &&
	       (leaf->type == CACHE_TYPE_DATA ||
		leaf->type == CACHE_TYPE_UNIFIED) &&
	       cpumask_subset(&leaf->shared_cpu_map,
			      topology_sibling_cpumask(cpu));
}

static const struct cacheinfo *last_private(unsigned int cpu)
{
	const struct cpu_cacheinfo *info = get_cpu_cacheinfo(cpu);
	const struct cacheinfo *leaf, *best = NULL;
	unsigned int i;

	if (!info || !info->info_list)
		return NULL;
	for (i = 0; i < info->num_leaves; i++) {
		leaf = &info->info_list[i];
		if (is_private(leaf, cpu) && (!best || leaf->level > best->level))
			best = leaf;
	}
	return best;
}

static bool detect_cpu(int nid, unsigned int cpu,
		       struct page_color_geometry *geometry,
		       const char **error)
{
	const struct cacheinfo *leaf = last_private(cpu);

	if (!leaf || page_color_check_leaf(leaf, error))
		return false;
	geometry->size = leaf->size;
	geometry->ways = leaf->ways_of_associativity;
	snprintf(geometry->source, sizeof(geometry->source), "cpu-l%u",
		 leaf->level);
	return !page_color_check_geometry(geometry, error) &&
	       !page_color_check_node(nid, geometry, error);
}

/*
 * Where cores differ, the most colors are taken: if sizes divide each other,
 * pages that are spread over the larger cache are spread over the smaller one as
 * well. A node without processors takes those of all nodes.
 */
static bool detect_private(int nid, struct page_color_geometry *geometry,
			   const char **error)
{
	const struct cpumask *near = cpumask_of_node(nid);
	struct page_color_geometry one = { };
	unsigned int cpu;

	geometry->colors = 0;
	if (!cpumask_intersects(near, cpu_online_mask))
		near = cpu_online_mask;
	for_each_cpu_and(cpu, near, cpu_online_mask)
		if (detect_cpu(nid, cpu, &one, error) &&
		    one.colors > geometry->colors)
			*geometry = one;
	return geometry->colors;
}

/*
 * Nodes for which the log has said why they have no cache to color for: detection
 * is repeated whenever memory comes or goes. Under page_color_mutex.
 */
static nodemask_t told;

int page_color_detect(int nid, struct page_color_geometry *geometry)
{
	struct page_color_geometry found = { };
	const char *error = NULL;
	bool tell;

	lockdep_assert_cpus_held();
	memset(geometry, 0, sizeof(*geometry));
	if (!node_present_pages(nid))
		return -ENODEV;
	tell = !node_test_and_set(nid, told);
	if (detect_memory_side(nid, &found, &error))
		goto found;
	if (error && tell)
		pr_warn("node %d: memory-side cache of %lu KiB not used: %s\n",
			nid, found.size >> 10, error);
	error = "none is known";
	if (detect_private(nid, &found, &error))
		goto found;
	if (tell)
		pr_info("node %d: no private cache to color for: %s\n", nid,
			error);
	return -ENODEV;
found:
	node_clear(nid, told);
	pr_info("node %d: %s: %lu KiB, %u ways, %lu colors\n", nid,
		found.source, found.size >> 10, found.ways, found.colors);
	*geometry = found;
	page_color_cpusets_update_later();
	return 0;
}
