/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merge domains: groups of nodes whose pages KSM may merge with each other, with a
 * stable and an unstable tree for each. Included by mm/ksm.c, which has the trees.
 *
 * A domain has the number of its lowest node. The data here changes under
 * ksm_thread_mutex only; files in sysfs read the numbers without it.
 */
#ifndef _KSM_DOMAINS_DOMAINS_H
#define _KSM_DOMAINS_DOMAINS_H

/* The address of the mapping whose ksm page ksmd is replacing by another one. */
static unsigned long ksm_remapped_address __maybe_unused;

#ifdef CONFIG_KSM_MERGE_DISTANCE

/* In rmap_item->address, beside STABLE_FLAG. */
#define REMOTE_FLAG	0x400	/* the page lies on another node than home */
#define SPANS_FLAG	0x800	/* the page lies in another domain than home */

/* Merged pages of one stable tree, as pages_shared and pages_sharing. */
struct ksm_domain_count {
	unsigned long shared;
	unsigned long sharing;
	unsigned long remote;	/* mappings of pages on another node than home */
};

static struct ksm_domain_count one_domain_count[1];

static struct {
	/* The largest distance as written, or automatic. */
	unsigned int wanted;
	bool automatic;
	/* The domain of each node; NULL until there have been several. */
	unsigned short *of;
	struct ksm_domain_count *counts;
	/* A number for each node, all 0 outside of ksm_domain_most_mapped(). */
	unsigned short *scratch;
	/* Stable nodes on the list migrate_nodes. */
	unsigned long unplaced;
	/* Mappings with SPANS_FLAG. */
	unsigned long spanning;
	/* How many mappings were split or folded, and pages moved. */
	unsigned long split;
	unsigned long folded;
	unsigned long moved;
} ksm_domains = {
	.wanted = U8_MAX,
	.counts = one_domain_count,
};

static inline int ksm_domain_of(int nid)
{
	return ksm_domains.of[nid];
}

/* The node on which the page of a mapping was before it was merged. */
static inline int ksm_home(const struct ksm_rmap_item *rmap_item)
{
	return rmap_item->home - 1;
}

static inline void ksm_set_home(struct ksm_rmap_item *rmap_item, int nid)
{
	rmap_item->home = nid + 1;
}

static inline bool ksm_is_excess(const struct ksm_stable_node *stable_node)
{
	return stable_node->excess;
}

/* Updates REMOTE_FLAG of a mapping, and its count: the page may have migrated. */
static inline void ksm_domain_note_remote(struct ksm_stable_node *stable_node,
					  struct ksm_rmap_item *rmap_item)
{
	struct ksm_domain_count *count = &ksm_domains.counts[stable_node->nid];
	bool remote = rmap_item->home &&
		      ksm_home(rmap_item) !=
		      pfn_to_nid(READ_ONCE(stable_node->kpfn));

	if (remote == !!(rmap_item->address & REMOTE_FLAG))
		return;
	rmap_item->address ^= REMOTE_FLAG;
	if (remote)
		count->remote++;
	else
		count->remote--;
}

/* A mapping has been added to the list of the stable node of its page. */
static inline void ksm_domain_joined(struct ksm_stable_node *stable_node,
				     struct ksm_rmap_item *rmap_item)
{
	struct ksm_domain_count *count = &ksm_domains.counts[stable_node->nid];

	if (rmap_item->hlist.next)
		count->sharing++;
	else
		count->shared++;
	ksm_domain_note_remote(stable_node, rmap_item);
}

/* A mapping is no longer one of a stable node; the caller clears its flags next. */
static inline void ksm_domain_left(struct ksm_stable_node *stable_node,
				   struct ksm_rmap_item *rmap_item,
				   bool sharing)
{
	struct ksm_domain_count *count = &ksm_domains.counts[stable_node->nid];

	if (sharing)
		count->sharing--;
	else
		count->shared--;
	if (rmap_item->address & REMOTE_FLAG)
		count->remote--;
	if (rmap_item->address & SPANS_FLAG)
		ksm_domains.spanning--;
}

static inline void ksm_domain_listed(void)
{
	ksm_domains.unplaced++;
}

static inline void ksm_domain_unlisted(void)
{
	ksm_domains.unplaced--;
}

/* Moves a stable node to the tree of a domain, with the counts of its mappings. */
static void ksm_domain_set(struct ksm_stable_node *stable_node, int nid)
{
	struct ksm_domain_count *from = &ksm_domains.counts[stable_node->nid];
	struct ksm_domain_count *to = &ksm_domains.counts[nid];
	struct ksm_rmap_item *rmap_item;
	unsigned long remote = 0;

	stable_node->excess = false;
	if (stable_node->nid == nid)
		return;
	stable_node->nid = nid;
	if (!stable_node->rmap_hlist_len)
		return;
	hlist_for_each_entry(rmap_item, &stable_node->hlist, hlist)
		remote += !!(rmap_item->address & REMOTE_FLAG);
	from->shared--;
	to->shared++;
	from->sharing -= stable_node->rmap_hlist_len - 1;
	to->sharing += stable_node->rmap_hlist_len - 1;
	from->remote -= remote;
	to->remote += remote;
}

/* How many mappings of a stable node had their page on this node before. */
static int ksm_mapped_from(const struct ksm_stable_node *stable_node, int nid)
{
	struct ksm_rmap_item *rmap_item;
	int mapped = 0;

	hlist_for_each_entry(rmap_item, &stable_node->hlist, hlist)
		mapped += ksm_home(rmap_item) == nid;
	return mapped;
}

/*
 * Two pages in one domain have the same content. If one can take all mappings, one
 * of them is marked as excess: the one on the node that fewer of the mappings are
 * from, or else the one with fewer mappings.
 */
static void ksm_domain_compare(struct ksm_stable_node *one,
			       struct ksm_stable_node *other)
{
	struct ksm_stable_node *excess;
	int nid, other_nid, balance;

	if (one->excess || other->excess || one->nid != other->nid ||
	    one->rmap_hlist_len + other->rmap_hlist_len > ksm_max_page_sharing)
		return;

	nid = pfn_to_nid(READ_ONCE(one->kpfn));
	other_nid = pfn_to_nid(READ_ONCE(other->kpfn));
	balance = ksm_mapped_from(one, nid) + ksm_mapped_from(other, nid) -
		  ksm_mapped_from(one, other_nid) -
		  ksm_mapped_from(other, other_nid);
	if (!balance)
		balance = one->rmap_hlist_len - other->rmap_hlist_len;
	excess = balance < 0 ? one : other;
	excess->excess = true;
}

/*
 * When ksmd, or a task that writes 2 to run, unmerges pages of other tasks, the
 * copies are to come to the node where the page was. This is set under
 * ksm_thread_mutex; other tasks see that @task is not them.
 */
static struct {
	struct task_struct *task;
	/* The next mappings of the address space that is being unmerged. */
	struct ksm_rmap_item *next;
	int nid;
} ksm_copier;

static inline void ksm_copy_begin(struct ksm_rmap_item *rmap_item)
{
	ksm_copier.next = rmap_item;
	ksm_copier.nid = NUMA_NO_NODE;
	WRITE_ONCE(ksm_copier.task, current);
}

static inline void ksm_copy_end(void)
{
	WRITE_ONCE(ksm_copier.task, NULL);
}

/* Addresses come in ascending order, as mappings are listed. */
static inline void ksm_copy_at(unsigned long addr)
{
	struct ksm_rmap_item *next;

	if (READ_ONCE(ksm_copier.task) != current)
		return;
	for (next = ksm_copier.next; next; next = next->rmap_list)
		if ((next->address & PAGE_MASK) >= addr)
			break;
	ksm_copier.next = next;
	ksm_copier.nid = next && (next->address & PAGE_MASK) == addr ?
			 ksm_home(next) : NUMA_NO_NODE;
}

int ksm_copy_nid(void)
{
	return READ_ONCE(ksm_copier.task) == current ? ksm_copier.nid :
						       NUMA_NO_NODE;
}

#else /* !CONFIG_KSM_MERGE_DISTANCE */

static inline int ksm_domain_of(int nid)
{
	return nid;
}

static inline void ksm_set_home(struct ksm_rmap_item *rmap_item, int nid)
{
}

static inline bool ksm_is_excess(const struct ksm_stable_node *stable_node)
{
	return false;
}

static inline void ksm_domain_joined(struct ksm_stable_node *stable_node,
				     struct ksm_rmap_item *rmap_item)
{
}

static inline void ksm_domain_left(struct ksm_stable_node *stable_node,
				   struct ksm_rmap_item *rmap_item,
				   bool sharing)
{
}

static inline void ksm_domain_listed(void)
{
}

static inline void ksm_domain_unlisted(void)
{
}

static inline void ksm_domain_set(struct ksm_stable_node *stable_node, int nid)
{
	DO_NUMA(stable_node->nid = nid);
}

static inline void ksm_domain_compare(struct ksm_stable_node *one,
				      struct ksm_stable_node *other)
{
}

static inline void ksm_copy_begin(struct ksm_rmap_item *rmap_item)
{
}

static inline void ksm_copy_end(void)
{
}

static inline void ksm_copy_at(unsigned long addr)
{
}

#endif /* CONFIG_KSM_MERGE_DISTANCE */

#endif
