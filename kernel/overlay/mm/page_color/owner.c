// SPDX-License-Identifier: GPL-2.0-only
/* Which address space has a page that moves, and a page to move it to for that owner. */

#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/sched/mm.h>

#include "page_color.h"

/* Whether the colors of the pages of an address space matter. */
static bool has_colors(const struct mm_struct *mm)
{
	bool has;

	rcu_read_lock();
	has = rcu_access_pointer(mm->page_color.spaces) || page_color_set_of(mm);
	rcu_read_unlock();
	return has;
}

/* The first address space that has the folio mapped; ends the walk. */
static bool find_owner(struct folio *folio, struct vm_area_struct *vma,
		       unsigned long address, void *arg)
{
	DEFINE_FOLIO_VMA_WALK(pvmw, folio, vma, address, 0);
	struct mm_struct **owner = arg;

	if (!page_vma_mapped_walk(&pvmw))
		return true;
	page_vma_mapped_walk_done(&pvmw);
	if (has_colors(vma->vm_mm)) {
		mmgrab(vma->vm_mm);
		*owner = vma->vm_mm;
	}
	return false;
}

/* Pages of exec's stack do not move, and if exec fails mm->owner may be stale. */
static bool is_of_exec(struct vm_area_struct *vma, void *arg)
{
	return vma_is_temporary_stack(vma);
}

struct mm_struct *page_color_owner(struct folio *folio)
{
	struct mm_struct *owner = NULL;
	struct rmap_walk_control walk = {
		.arg = &owner,
		.invalid_vma = is_of_exec,
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

/*
 * Whether others have references to a folio that was isolated. It will most likely not
 * move, and a color that was taken for it would be held without a page.
 */
static bool is_busy(const struct folio *folio)
{
	int references = 1 + folio_mapcount(folio);

	if (!folio_test_anon(folio) || folio_test_swapcache(folio))
		references += folio_nr_pages(folio);
	return folio_ref_count(folio) > references;
}

/* The owner of a folio. Reclaim does not take the time to look for it. */
static struct mm_struct *owner_to_ask(struct folio *folio)
{
	if (current->flags & PF_MEMALLOC || is_busy(folio))
		return NULL;
	return page_color_owner(folio);
}

void page_color_owner_put(struct mm_struct *owner)
{
	if (owner)
		mmdrop(owner);
}

/* As page_color_alloc_target(), where a policy tells the node. */
struct folio *
page_color_alloc_target_mpol_noprof(struct folio *folio, gfp_t gfp,
				    unsigned int order, struct mempolicy *pol,
				    pgoff_t ilx, int nid)
{
	struct mm_struct *owner = owner_to_ask(folio);
	struct folio *target;

	if (!owner)
		return folio_alloc_mpol_noprof(gfp, order, pol, ilx, nid);
	target = page_color_alloc_mpol_noprof(owner, page_color_kind_of(folio),
					      gfp, order, pol, ilx, nid);
	page_color_owner_put(owner);
	return target;
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
	struct mm_struct *owner = owner_to_ask(folio);
	struct folio *target;

	if (owner && page_color_begin(owner, kind)) {
		target = __folio_alloc_noprof(gfp, order, nid, nodes);
		page_color_end(target);
	} else {
		target = __folio_alloc_noprof(gfp, order, nid, nodes);
	}
	page_color_owner_put(owner);
	return target;
}
