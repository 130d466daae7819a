/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of merge domains in /sys/kernel/mm/ksm. Included by mm/ksm.c.
 * Reading takes no lock, since ksmd may hold its mutex for long.
 */
#ifndef _KSM_DOMAINS_FILES_H
#define _KSM_DOMAINS_FILES_H

#ifdef CONFIG_KSM_MERGE_DISTANCE

/* The largest distance between two nodes of one domain. */
static int ksm_distance_in_force(void)
{
	/* Pairs with smp_store_release() in ksm_domain_alloc(). */
	const unsigned short *of = smp_load_acquire(&ksm_domains.of);
	bool one = READ_ONCE(ksm_merge_across_nodes);
	int from, to, largest = LOCAL_DISTANCE;

	for_each_node_state(from, N_MEMORY)
		for_each_node_state(to, N_MEMORY)
			if (one || of[from] == of[to])
				largest = max(largest, ksm_distance(from, to));
	return largest;
}

static ssize_t merge_distance_show(struct kobject *kobj,
				   struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d%s\n", ksm_distance_in_force(),
			  READ_ONCE(ksm_domains.automatic) ? " auto" : "");
}

static ssize_t merge_distance_store(struct kobject *kobj,
				    struct kobj_attribute *attr,
				    const char *buf, size_t count)
{
	bool strict = str_has_prefix(buf, "strict ");
	const char *text = buf + (strict ? strlen("strict ") : 0);
	bool automatic = sysfs_streq(text, "auto");
	unsigned int wanted = LOCAL_DISTANCE;
	int err;

	err = automatic ? 0 : kstrtouint(text, 10, &wanted);
	if (err)
		return err;
	if (wanted < LOCAL_DISTANCE || wanted > U8_MAX)
		return -EINVAL;

	mutex_lock(&ksm_thread_mutex);
	wait_while_offlining();
	err = ksm_domain_change(wanted, automatic, strict);
	mutex_unlock(&ksm_thread_mutex);
	return err ? err : count;
}
KSM_ATTR(merge_distance);

static int ksm_domain_emit(char *buf, int at, int domain,
			   const unsigned short *of)
{
	struct ksm_domain_count *counts = READ_ONCE(ksm_domains.counts);
	struct ksm_domain_count sum = { };
	nodemask_t nodes = NODE_MASK_NONE;
	int nid;

	/* A page that waits to be placed counts in the tree where it was. */
	for (nid = 0; of && nid < nr_node_ids; nid++) {
		if (of[nid] != domain)
			continue;
		if (node_state(nid, N_MEMORY))
			node_set(nid, nodes);
		sum.shared += READ_ONCE(counts[nid].shared);
		sum.sharing += READ_ONCE(counts[nid].sharing);
		sum.remote += READ_ONCE(counts[nid].remote);
	}
	if (!of) {
		nodes = node_states[N_MEMORY];
		sum = one_domain_count[0];
	}
	if (nodes_empty(nodes) && !sum.shared)
		return 0;
	return sysfs_emit_at(buf, at,
			     "nodes %*pbl shared %lu sharing %lu saved %lu remote %lu\n",
			     nodemask_pr_args(&nodes), sum.shared, sum.sharing,
			     sum.sharing * PAGE_SIZE, sum.remote);
}

static ssize_t merge_domains_show(struct kobject *kobj,
				  struct kobj_attribute *attr, char *buf)
{
	/* Pairs with smp_store_release() in ksm_domain_alloc(). */
	const unsigned short *of = smp_load_acquire(&ksm_domains.of);
	int nid, at = 0;

	if (!of)
		return ksm_domain_emit(buf, 0, 0, NULL);
	for (nid = 0; nid < nr_node_ids; nid++)
		if (of[nid] == nid)
			at += ksm_domain_emit(buf, at, nid, of);
	return at;
}
KSM_ATTR_RO(merge_domains);

#define KSM_DOMAIN_COUNT(_name, _field)					\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	return sysfs_emit(buf, "%lu\n", READ_ONCE(ksm_domains._field));	\
}									\
KSM_ATTR_RO(_name)

KSM_DOMAIN_COUNT(merge_unplaced, unplaced);
KSM_DOMAIN_COUNT(merge_spanning, spanning);
KSM_DOMAIN_COUNT(merge_split, split);
KSM_DOMAIN_COUNT(merge_folded, folded);
KSM_DOMAIN_COUNT(merge_moved, moved);

#endif /* CONFIG_KSM_MERGE_DISTANCE */

#endif
