/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ksmd does with merged pages after domains have changed or pages have migrated:
 * stable nodes go to the tree of their domain, mappings get a page of their domain, and
 * pages move to the node from which they are mapped most. Included by mm/ksm.c. ksmd does
 * this under ksm_thread_mutex, a step for each page that it scans.
 */
#ifndef _KSM_DOMAINS_MOVES_H
#define _KSM_DOMAINS_MOVES_H

#ifdef CONFIG_KSM_MERGE_DISTANCE

#include "partition.h"

/*
 * Puts a stable node of the list migrate_nodes into the tree of its page's domain. The
 * caller has a reference to the page, so the node is not stale.
 */
static void ksm_domain_place(struct ksm_stable_node *stable_node,
			     struct page *page)
{
	struct page *kpage = stable_tree_search(page);

	if (!IS_ERR_OR_NULL(kpage))
		put_page(kpage);
	/* There was no memory for a chain: try other nodes first. */
	if (stable_node->head == &migrate_nodes)
		list_move_tail(&stable_node->list, &migrate_nodes);
}

/* Places a stable node, which counts as a scanned page; false if there is none. */
static bool ksm_domain_place_next(void)
{
	struct ksm_stable_node *stable_node;
	struct folio *folio;

	if (likely(list_empty(&migrate_nodes)))
		return false;
	stable_node = list_first_entry(&migrate_nodes, struct ksm_stable_node,
				       list);
	folio = ksm_get_folio(stable_node, KSM_GET_FOLIO_NOLOCK);
	if (folio) {
		ksm_domain_place(stable_node, &folio->page);
		folio_put(folio);
	}
	return true;
}

/*
 * Finds the page in the tree of a domain that has the same content as @page and can take
 * one more mapping, with a reference; NULL if there is none, -EBUSY if it is locked.
 */
static struct page *ksm_domain_find(struct page *page, int nid)
{
	struct rb_root *root = root_stable_tree + nid;
	struct ksm_stable_node *stable_node, *dup;
	struct rb_node **link;
	struct folio *folio;
	int ret;

again:
	link = &root->rb_node;
	while (*link) {
		cond_resched();
		stable_node = rb_entry(*link, struct ksm_stable_node, node);
		folio = chain_prune(&dup, &stable_node, root);
		if (!folio)
			goto again;	/* a stale node is gone, see stable_tree_search() */
		ret = memcmp_pages(page, &folio->page);
		folio_put(folio);
		if (ret) {
			link = ret < 0 ? &(*link)->rb_left : &(*link)->rb_right;
			continue;
		}
		if (!is_page_sharing_candidate(dup))
			return NULL;
		folio = ksm_get_folio(dup, KSM_GET_FOLIO_TRYLOCK);
		if (IS_ERR(folio))
			return ERR_CAST(folio);
		if (!folio)
			goto again;
		folio_unlock(folio);
		if (get_kpfn_nid(READ_ONCE(dup->kpfn)) != nid ||
		    page == &folio->page) {
			folio_put(folio);
			return NULL;
		}
		return &folio->page;
	}
	return NULL;
}

/*
 * Gives a mapping of a merged page another merged page with the same content. Both pages
 * stay write-protected, so that only the mapping may have changed meanwhile, which
 * replace_page() notices.
 */
static bool ksm_domain_remap(struct ksm_rmap_item *rmap_item, struct page *page,
			     struct page *kpage)
{
	unsigned long addr = rmap_item->address & PAGE_MASK;
	struct mm_struct *mm = rmap_item->mm;
	struct vm_area_struct *vma;
	struct folio_walk fw;
	bool done = false;
	pte_t pte;

	mmap_read_lock(mm);
	vma = find_mergeable_vma(mm, addr);
	if (!vma || !trylock_page(page))
		goto out;
	if (folio_walk_start(&fw, vma, addr, 0)) {
		pte = fw.pte;
		done = fw.page == page && fw.level == FW_LEVEL_PTE &&
		       !pte_write(pte);
		folio_walk_end(&fw, vma);
	}
	ksm_remapped_address = addr;
	done = done && pages_identical(page, kpage) &&
	       !replace_page(vma, page, kpage, pte);
	unlock_page(page);
	if (done) {
		remove_rmap_item_from_tree(rmap_item);
		/* While mmap_lock is held, as in try_to_merge_with_ksm_page(). */
		rmap_item->anon_vma = vma->anon_vma;
		get_anon_vma(vma->anon_vma);
	}
out:
	mmap_read_unlock(mm);
	if (!done)
		return false;

	lock_page(kpage);
	stable_tree_append(rmap_item, page_stable_node(kpage), false);
	unlock_page(kpage);
	return true;
}

/* Moves a mapping of a page in excess to the other page of the same content. */
static void ksm_domain_fold(struct ksm_rmap_item *rmap_item, struct page *page,
			    struct ksm_stable_node *stable_node)
{
	struct page *kpage = ksm_domain_find(page, stable_node->nid);

	if (!kpage) {
		stable_node->excess = false;
		return;
	}
	if (IS_ERR(kpage))
		return;
	ksm_domains.folded += ksm_domain_remap(rmap_item, page, kpage);
	put_page(kpage);
}

/*
 * Gives a mapping a copy of its page, which becomes the merged page of its domain. If
 * that fails, the copy remains an ordinary page and is scanned as all are.
 */
static void ksm_domain_copy(struct ksm_rmap_item *rmap_item, struct page *page,
			    int domain)
{
	struct ksm_stable_node *stable_node;
	struct page *copy;

	break_mapping(rmap_item, rmap_item->mm, rmap_item->address);
	copy = get_mergeable_page(rmap_item);
	if (!copy)
		return;
	if (copy == page)	/* no memory for the copy: retried later */
		goto out;
	ksm_domains.split++;
	remove_rmap_item_from_tree(rmap_item);
	/* Until a page is added to the LRU, the per-CPU batch has a reference to it. */
	lru_add_drain();
	if (PageKsm(copy) || ksm_domain_of(page_to_nid(copy)) != domain ||
	    !pages_identical(copy, page) ||
	    try_to_merge_with_ksm_page(rmap_item, copy, NULL))
		goto out;

	lock_page(copy);
	stable_node = stable_tree_insert(page_folio(copy));
	if (stable_node)
		stable_tree_append(rmap_item, stable_node, false);
	unlock_page(copy);
	if (!stable_node)
		break_cow(rmap_item);
out:
	put_page(copy);
}

/* Gives a mapping whose page is in another domain a page in the domain of its home. */
static void ksm_domain_split(struct ksm_rmap_item *rmap_item, struct page *page)
{
	int domain = ksm_domain_of(ksm_home(rmap_item));
	struct page *kpage = ksm_domain_find(page, domain);

	if (IS_ERR(kpage))
		return;
	if (!kpage) {
		ksm_domain_copy(rmap_item, page, domain);
		return;
	}
	ksm_domains.split += ksm_domain_remap(rmap_item, page, kpage);
	put_page(kpage);
}

/*
 * ksmd has come to a mapping of a merged page. True if nothing else is to be done: the
 * page is in the right tree, and the mapping is one of its stable node or was given to
 * another.
 */
static bool ksm_domain_visit(struct ksm_rmap_item *rmap_item, struct page *page,
			     struct ksm_stable_node *stable_node)
{
	if (stable_node->head != &migrate_nodes &&
	    get_kpfn_nid(READ_ONCE(stable_node->kpfn)) != stable_node->nid)
		stable_node_list(stable_node);
	if (stable_node->head == &migrate_nodes) {
		ksm_domain_place(stable_node, page);
		if (stable_node->head == &migrate_nodes)
			return true;
	}
	if (rmap_item->head != stable_node)
		return false;

	ksm_domain_note_remote(stable_node, rmap_item);
	if (rmap_item->address & SPANS_FLAG)
		ksm_domain_split(rmap_item, page);
	else if (stable_node->excess)
		ksm_domain_fold(rmap_item, page, stable_node);
	return true;
}

/* The node of the domain that most mappings of a page are from; among equals its own. */
static int ksm_domain_most_mapped(struct ksm_stable_node *stable_node, int own)
{
	unsigned short *mapped = ksm_domains.scratch;
	struct ksm_rmap_item *rmap_item;
	int nid, most = own;

	hlist_for_each_entry(rmap_item, &stable_node->hlist, hlist)
		if (rmap_item->home && mapped[ksm_home(rmap_item)] < USHRT_MAX)
			mapped[ksm_home(rmap_item)]++;
	hlist_for_each_entry(rmap_item, &stable_node->hlist, hlist) {
		nid = ksm_home(rmap_item);
		if (rmap_item->home && mapped[nid] > mapped[most] &&
		    node_state(nid, N_MEMORY) &&
		    ksm_domain_of(nid) == stable_node->nid)
			most = nid;
	}
	hlist_for_each_entry(rmap_item, &stable_node->hlist, hlist)
		if (rmap_item->home)
			mapped[ksm_home(rmap_item)] = 0;
	return most;
}

/*
 * A mapping has been added to a merged page, whose reference is given up here. The first
 * merged page of a content is the page that was found second, on whatever node. So each
 * time that the number of its mappings has doubled, it moves to the node that most of
 * them are from. With one domain pages stay where they are, as in mainline.
 */
static void ksm_domain_put(struct page *kpage)
{
	struct migration_target_control target = {
		.gfp_mask = GFP_HIGHUSER_MOVABLE | __GFP_THISNODE |
			    __GFP_NOWARN | __GFP_NORETRY,
		.reason = MR_NUMA_MISPLACED,
	};
	struct folio *folio = page_folio(kpage);
	struct ksm_stable_node *stable_node;
	int own = folio_nid(folio);
	LIST_HEAD(folios);

	if (ksm_merge_across_nodes) {
		put_page(kpage);
		return;
	}
	target.nid = own;
	folio_lock(folio);
	stable_node = folio_stable_node(folio);
	if (stable_node && stable_node->rmap_hlist_len >= 4 &&
	    is_power_of_2(stable_node->rmap_hlist_len))
		target.nid = ksm_domain_most_mapped(stable_node, own);
	folio_unlock(folio);

	if (target.nid == own || !folio_isolate_lru(folio)) {
		folio_put(folio);
		return;
	}
	folio_put(folio);
	list_add(&folio->lru, &folios);
	node_stat_mod_folio(folio, NR_ISOLATED_ANON, 1);
	if (migrate_pages(&folios, alloc_migration_target, NULL,
			  (unsigned long)&target, MIGRATE_ASYNC,
			  target.reason, NULL))
		putback_movable_pages(&folios);
	else
		ksm_domains.moved++;
}

/* If the distance differs by direction, the larger one counts. */
static int ksm_distance(int from, int to)
{
	return max(node_distance(from, to), node_distance(to, from));
}

/* Fills @of with the domain of each node if pages may be merged up to a distance. */
static int ksm_domain_divide(unsigned int wanted, bool automatic,
			     unsigned short *of, bool *one)
{
	unsigned int nr = num_node_state(N_MEMORY), i = 0, j, limit = wanted;
	unsigned short *nids, *lowest;
	u8 *distance;
	int nid, err = -ENOMEM;

	nids = kvmalloc_array(nr, sizeof(*nids), GFP_KERNEL);
	lowest = kvmalloc_array(nr, sizeof(*lowest), GFP_KERNEL);
	distance = kvmalloc_array(nr, nr, GFP_KERNEL);
	if (!nids || !lowest || !distance)
		goto out;

	for_each_node_state(nid, N_MEMORY) {
		if (i == nr)
			break;
		nids[i++] = nid;
	}
	nr = i;
	for (i = 0; i < nr; i++)
		for (j = 0; j < nr; j++)
			distance[i * nr + j] = min(ksm_distance(nids[i], nids[j]),
						   U8_MAX);

	if (automatic)
		limit = ksm_near(distance, nr, LOCAL_DISTANCE);
	*one = (automatic || limit > LOCAL_DISTANCE) &&
	       ksm_largest_within(distance, nr, U8_MAX) <= limit;
	/* Nodes without memory are domains of their own, also once they get some. */
	for (i = 0; i < nr_node_ids; i++)
		of[i] = *one ? 0 : i;
	if (!*one) {
		ksm_partition(distance, nr, limit, lowest);
		for (i = 0; i < nr; i++)
			of[nids[i]] = nids[lowest[i]];
	}
	err = 0;
out:
	kvfree(distance);
	kvfree(lowest);
	kvfree(nids);
	return err;
}

/* Allocates trees and counts for as many domains as there may be nodes. */
static int ksm_domain_alloc(void)
{
	struct ksm_domain_count *counts;
	unsigned short *of, *scratch;
	struct rb_root *roots;

	/* RB_ROOT is zero. */
	roots = kcalloc(nr_node_ids + nr_node_ids, sizeof(*roots), GFP_KERNEL);
	of = kcalloc(nr_node_ids, sizeof(*of), GFP_KERNEL);
	scratch = kcalloc(nr_node_ids, sizeof(*scratch), GFP_KERNEL);
	counts = kcalloc(nr_node_ids, sizeof(*counts), GFP_KERNEL);
	if (!roots || !of || !scratch || !counts) {
		kfree(counts);
		kfree(scratch);
		kfree(of);
		kfree(roots);
		return -ENOMEM;
	}
	root_stable_tree = roots;
	root_unstable_tree = roots + nr_node_ids;
	root_stable_tree[0] = one_stable_tree[0];
	root_unstable_tree[0] = one_unstable_tree[0];
	/*
	 * From now on each scan begins with all unstable trees empty, also those of
	 * domains that no longer exist, since these may exist again.
	 */
	ksm_nr_node_ids = nr_node_ids;
	counts[0] = one_domain_count[0];
	ksm_domains.scratch = scratch;
	WRITE_ONCE(ksm_domains.counts, counts);
	/* Readers of the files that see @of see all that was set before it. */
	smp_store_release(&ksm_domains.of, of);
	return 0;
}

/* Updates SPANS_FLAG of mappings: the page is in another domain than the home. */
static void ksm_domain_mark(struct ksm_stable_node *stable_node)
{
	int domain = get_kpfn_nid(READ_ONCE(stable_node->kpfn));
	struct ksm_rmap_item *rmap_item;
	bool spans;

	hlist_for_each_entry(rmap_item, &stable_node->hlist, hlist) {
		spans = !ksm_merge_across_nodes && rmap_item->home &&
			node_state(ksm_home(rmap_item), N_MEMORY) &&
			ksm_domain_of(ksm_home(rmap_item)) != domain;
		if (spans == !!(rmap_item->address & SPANS_FLAG))
			continue;
		rmap_item->address ^= SPANS_FLAG;
		ksm_domains.spanning += spans ? 1 : -1;
	}
}

static void ksm_domain_review(struct ksm_stable_node *stable_node)
{
	stable_node->excess = false;
	ksm_domain_mark(stable_node);
	if (get_kpfn_nid(READ_ONCE(stable_node->kpfn)) != stable_node->nid)
		stable_node_list(stable_node);
}

/* Domains have changed: stable nodes in the wrong tree wait for ksmd to place them. */
static void ksm_domain_review_all(void)
{
	struct ksm_stable_node *stable_node, *dup;
	struct rb_node *node, *next;
	struct hlist_node *safe;
	int nid;

	for (nid = 0; nid < ksm_nr_node_ids; nid++) {
		struct rb_root *root = root_stable_tree + nid;

		for (node = rb_first(root); node; node = next) {
			next = rb_next(node);
			cond_resched();
			stable_node = rb_entry(node, struct ksm_stable_node,
					       node);
			if (!is_stable_node_chain(stable_node)) {
				ksm_domain_review(stable_node);
				continue;
			}
			hlist_for_each_entry_safe(dup, safe,
						  &stable_node->hlist,
						  hlist_dup)
				ksm_domain_review(dup);
			if (hlist_empty(&stable_node->hlist))
				free_stable_node_chain(stable_node, root);
		}
	}
	list_for_each_entry(stable_node, &migrate_nodes, list) {
		cond_resched();
		ksm_domain_mark(stable_node);
	}
}

/*
 * The distance has been changed, or nodes have come or gone. With @strict, domains change
 * only while no page is merged.
 */
static int ksm_domain_change(unsigned int wanted, bool automatic, bool strict)
{
	unsigned short *of;
	int err;
	bool one;

	of = kcalloc(nr_node_ids, sizeof(*of), GFP_KERNEL);
	if (!of)
		return -ENOMEM;
	err = ksm_domain_divide(wanted, automatic, of, &one);
	if (err)
		goto out;
	if (one == ksm_merge_across_nodes &&
	    (one || !memcmp(of, ksm_domains.of, nr_node_ids * sizeof(*of))))
		goto accept;
	err = -EBUSY;
	if (strict && (ksm_pages_shared || remove_all_stable_nodes()))
		goto out;
	err = ksm_domains.of ? 0 : ksm_domain_alloc();
	if (err)
		goto out;
	memcpy(ksm_domains.of, of, nr_node_ids * sizeof(*of));
	ksm_merge_across_nodes = one;
	ksm_domain_review_all();
accept:
	ksm_domains.wanted = wanted;
	ksm_domains.automatic = automatic;
	err = 0;
out:
	kfree(of);
	return err;
}

/* A node has been given its first memory, or has lost its last. */
static int ksm_domain_memory_callback(struct notifier_block *self,
				      unsigned long action, void *arg)
{
	struct memory_notify *mn = arg;

	if ((action != MEM_ONLINE && action != MEM_OFFLINE) ||
	    mn->status_change_nid == NUMA_NO_NODE)
		return NOTIFY_OK;

	mutex_lock(&ksm_thread_mutex);
	wait_while_offlining();
	if (ksm_domains.of &&
	    ksm_domain_change(ksm_domains.wanted, ksm_domains.automatic, false))
		pr_warn("no memory to divide nodes into domains anew\n");
	mutex_unlock(&ksm_thread_mutex);
	return NOTIFY_OK;
}

/* Called after KSM's own notifier, which forgets the pages that are gone. */
static void __init ksm_domain_init(void)
{
	hotplug_memory_notifier(ksm_domain_memory_callback,
				KSM_CALLBACK_PRI - 1);
}

#else /* !CONFIG_KSM_MERGE_DISTANCE */

static inline bool ksm_domain_place_next(void)
{
	return false;
}

static inline bool ksm_domain_visit(struct ksm_rmap_item *rmap_item,
				    struct page *page,
				    struct ksm_stable_node *stable_node)
{
	return false;
}

static inline void ksm_domain_put(struct page *kpage)
{
	put_page(kpage);
}

static inline void ksm_domain_init(void)
{
}

#endif /* CONFIG_KSM_MERGE_DISTANCE */

#endif
