// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the copy of a merged page goes that is made for another task: near the
 * task that owns the page, not near the one that makes the copy.
 */

#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/ksm.h>
#include <linux/memcontrol.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/page_color.h>
#include <linux/sched/task.h>
#include <linux/swap.h>
#include <linux/topology.h>

/* A policy that takes memory near the node that is asked for. */
static struct mempolicy near_node = {
	.refcnt = ATOMIC_INIT(1),
	.mode = MPOL_LOCAL,
};

/*
 * The policy of the task that owns an address space, with a reference, and where
 * that task runs. Without memory control groups the owner is not known.
 */
static struct mempolicy *owner_policy(struct mm_struct *mm, int *nid)
{
	struct mempolicy *policy = NULL;
#ifdef CONFIG_MEMCG
	struct task_struct *owner;

	rcu_read_lock();
	owner = rcu_dereference(mm->owner);
	if (owner) {
		task_lock(owner);
		policy = owner->mempolicy;
		mpol_get(policy);
		task_unlock(owner);
		*nid = cpu_to_node(task_cpu(owner));
	}
	rcu_read_unlock();
#endif
	return policy;
}

/**
 * ksm_copy_alloc - a page for a copy that is made for others
 * @vma: where it will be mapped
 * @addr: at which address
 * @zero: whether it is to be cleared
 *
 * It comes to the node that the policy of the mapping says, or else that of the
 * task; without one, to where the page was before it was merged if that is known,
 * or else to where the task runs.
 *
 * Return: the page, charged to the memory control group of the address space, or
 * NULL.
 */
struct folio *ksm_copy_alloc(struct vm_area_struct *vma, unsigned long addr,
			     bool zero)
{
	gfp_t gfp = GFP_HIGHUSER_MOVABLE;
	int home = ksm_copy_nid(), nid = numa_node_id();
	struct mempolicy *policy;
	struct folio *folio;

	if (vma->vm_policy || (vma->vm_ops && vma->vm_ops->get_policy)) {
		folio = vma_alloc_folio(gfp, 0, vma, addr, false);
	} else {
		policy = owner_policy(vma->vm_mm, &nid);
		if (home != NUMA_NO_NODE)
			nid = home;
		/* Interleaved by address: the owner's turn cannot be taken. */
		if (page_color_enabled())
			folio = page_color_alloc_mpol(vma->vm_mm,
						      PAGE_COLOR_ANON, gfp, 0,
						      policy ?: &near_node,
						      addr >> PAGE_SHIFT, nid);
		else
			folio = folio_alloc_mpol(gfp, 0, policy ?: &near_node,
						 addr >> PAGE_SHIFT, nid);
		mpol_put(policy);
	}
	if (!folio)
		return NULL;
	if (mem_cgroup_charge(folio, vma->vm_mm, GFP_KERNEL)) {
		folio_put(folio);
		return NULL;
	}
	folio_throttle_swaprate(folio, GFP_KERNEL);
	if (zero)
		clear_user_highpage(&folio->page, addr);
	return folio;
}
