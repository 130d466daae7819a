// SPDX-License-Identifier: GPL-2.0-only
/* Who has a page that moves, and what it moves to for the owner. */

#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/sched/mm.h>

#include "page_color.h"

/* The first address space that has the folio mapped; ends the walk. */
static bool find_owner(struct folio *folio, struct vm_area_struct *vma,
		       unsigned long address, void *arg)
{
	DEFINE_FOLIO_VMA_WALK(pvmw, folio, vma, address, 0);
	struct mm_struct **owner = arg;

	if (!page_vma_mapped_walk(&pvmw))
		return true;
	page_vma_mapped_walk_done(&pvmw);
	if (rcu_access_pointer(vma->vm_mm->page_color.spaces)) {
		mmgrab(vma->vm_mm);
		*owner = vma->vm_mm;
	}
	return false;
}

struct mm_struct *page_color_owner(struct folio *folio)
{
	struct mm_struct *owner = NULL;
	struct rmap_walk_control walk = {
		.arg = &owner,
		.try_lock = true,
		.rmap_one = find_owner,
		.anon_lock = folio_lock_anon_vma_read,
	};

	if (!page_color_is_held(folio) || !folio_trylock(folio))
		return NULL;
	rmap_walk(folio, &walk);
	folio_unlock(folio);
	return owner;
}

void page_color_owner_put(struct mm_struct *owner)
{
	if (owner)
		mmdrop(owner);
}

/*
 * If the folio does not move after all, its owner holds the colors of the target
 * until they are counted anew.
 */
struct folio *
page_color_alloc_target_noprof(struct folio *folio, gfp_t gfp,
			       unsigned int order, int nid, nodemask_t *nodes)
{
	enum page_color_kind kind = page_color_kind_of(folio);
	struct mm_struct *owner = NULL;
	struct folio *target;

	/* Who reclaims memory has no time to ask. */
	if (!(current->flags & PF_MEMALLOC))
		owner = page_color_owner(folio);
	if (owner && page_color_begin(owner, kind)) {
		target = __folio_alloc_noprof(gfp, order, nid, nodes);
		page_color_end(owner, kind, gfp, target);
	} else {
		target = __folio_alloc_noprof(gfp, order, nid, nodes);
	}
	page_color_owner_put(owner);
	return target;
}
