// SPDX-License-Identifier: GPL-2.0-only
/* A huge page that small ones of an address space are copied to. */

#include <linux/mm.h>

#include "page_color.h"

void __page_color_leave(struct page_color_leaving *leaving, struct page *page)
{
	struct page_color_node *node;
	int nid = page_to_nid(page);

	if (!leaving->nr)
		leaving->nid = nid;
	if (leaving->nid != nid)
		return;
	rcu_read_lock();
	node = rcu_dereference(page_color_nodes[nid]);
	/* If the colors are no multiple, blocks are not chosen by color. */
	if (node && !(node->colors % HPAGE_PMD_NR))
		page_color_leaving_add(leaving, page_to_pfn(page) %
						node->colors / HPAGE_PMD_NR);
	rcu_read_unlock();
}

/*
 * Colors of pages on CPUs' lists count as held: a block of them would be avoided.
 */
static void drop_runs(struct mm_struct *mm,
		      const struct page_color_leaving *leaving)
{
	struct page_color_space *space;

	if (!leaving->nr)
		return;
	rcu_read_lock();
	space = page_color_space(mm, leaving->nid, leaving->kind);
	if (space)
		page_color_drop_runs(space);
	rcu_read_unlock();
}

/*
 * Whether a block is searched for, which may compact memory: khugepaged does not if
 * no block can have only colors of the set.
 */
static bool has_block(struct mm_struct *mm, int nid)
{
	const struct page_color_set *set;
	bool has;

	rcu_read_lock();
	set = page_color_set_of_node(mm, nid);
	has = !set || !page_color_is_khugepaged() ||
	      page_color_set_has_block(set, HPAGE_PMD_ORDER);
	rcu_read_unlock();
	return has;
}

/*
 * Small pages stay, and some of the colors of the huge page are theirs. All are counted when
 * as many may be held without a page as a 64th of the pages, since khugepaged may fail again
 * and again.
 */
void __page_color_collapse_failed(struct mm_struct *mm,
				  const struct page_color_leaving *leaving,
				  const struct folio *folio)
{
	struct page_color_space *space;
	unsigned long pages;

	if (leaving->kind == PAGE_COLOR_KINDS)
		return;
	rcu_read_lock();
	space = page_color_space(mm, folio_nid(folio), leaving->kind);
	if (space) {
		pages = page_color_pages(mm, leaving->kind);
		space->failed += HPAGE_PMD_NR;
		if (space->failed > pages / 64) {
			space->failed = 0;
			WRITE_ONCE(space->recount, true);
		}
	}
	rcu_read_unlock();
}

struct folio *
page_color_alloc_collapse_noprof(struct mm_struct *mm,
				 struct page_color_leaving *leaving,
				 gfp_t gfp, int nid, nodemask_t *nodes)
{
	struct folio *folio = NULL;

	if (!page_color_begin(mm, leaving->kind))
		return __folio_alloc_noprof(gfp, HPAGE_PMD_ORDER, nid, nodes);
	drop_runs(mm, leaving);
	current->page_color.leaving = leaving;
	if (has_block(mm, nid))
		folio = __folio_alloc_noprof(gfp, HPAGE_PMD_ORDER, nid, nodes);
	else
		current->page_color.huge = PAGE_COLOR_SMALL;
	leaving->small = !folio && current->page_color.huge == PAGE_COLOR_SMALL;
	page_color_huge_end();
	page_color_end(folio);
	current->page_color.leaving = NULL;
	return folio;
}

/*
 * The huge page is in the page table, and the small ones have left. Unmapping these may
 * have unmarked some of its colors. Other small pages have some of them if any stay.
 */
void __page_color_collapsed(struct mm_struct *mm,
			    struct page_color_leaving *leaving,
			    struct folio *folio)
{
	u64 all[PAGE_COLOR_BLOCK_WORDS];
	struct page_color_space *space;

	__page_color_map(mm, &folio->page, HPAGE_PMD_NR);
	if (!leaving->stay)
		return;
	memset(all, ~0, sizeof(all));
	current->page_color.leaving = leaving;
	rcu_read_lock();
	space = page_color_space(mm, folio_nid(folio), PAGE_COLOR_ANON);
	if (space)
		page_color_make_room(mm, space, folio_pfn(folio),
				     HPAGE_PMD_ORDER, all);
	rcu_read_unlock();
	current->page_color.leaving = NULL;
}
