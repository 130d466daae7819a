// SPDX-License-Identifier: GPL-2.0-only
/* Which free block an allocation gets, and what keeps the index true. */

#include <linux/hash.h>
#include <linux/mempolicy.h>
#include <linux/mm.h>
#include <linux/mmdebug.h>
#include <linux/pagemap.h>
#include <linux/sched.h>

#include "page_color.h"

/* How often a search in a set of colors may jump over foreign colors. */
#define PAGE_COLOR_SET_TRIES	64

static int page_color_list(int migratetype)
{
	switch (migratetype) {
	case MIGRATE_MOVABLE:
		return PAGE_COLOR_MOVABLE;
#ifdef CONFIG_CMA
	case MIGRATE_CMA:
		return PAGE_COLOR_CMA;
#endif
	default:
		return -1;
	}
}

/* Memory that came after the index was made is not in it until it is remade. */
static bool page_color_covered(const struct page_color_zone *coloring,
			       unsigned long pfn, unsigned int order)
{
	const struct page_color_span *span =
		page_color_index_span(coloring->index);

	return pfn >= span->start &&
	       pfn + (1UL << order) <= span->start + span->frames;
}

static __always_inline void
page_color_change(struct zone *zone, struct page *page, unsigned int order,
		  int migratetype,
		  bool (*change)(struct page_color_index *index,
				 unsigned int list, unsigned int order,
				 unsigned long frame))
{
	struct page_color_zone *coloring = zone->page_color;
	int list = page_color_list(migratetype);
	unsigned long pfn = page_to_pfn(page);
	bool changed;

	if (!coloring || list < 0)
		return;
	changed = change(coloring->index, list, order, pfn);
	VM_WARN_ON_ONCE(!changed && coloring->ready &&
			page_color_covered(coloring, pfn, order));
}

void __page_color_add(struct zone *zone, struct page *page, unsigned int order,
		      int migratetype)
{
	page_color_change(zone, page, order, migratetype,
			  page_color_index_add);
}

void __page_color_del(struct zone *zone, struct page *page, unsigned int order,
		      int migratetype)
{
	page_color_change(zone, page, order, migratetype,
			  page_color_index_del);
}

/* Each address space begins as far as possible from those before it. */
void page_color_init_mm(struct mm_struct *mm)
{
	static atomic_t spaces;

	mm->page_color_offset = atomic_inc_return(&spaces) * GOLDEN_RATIO_32;
}

/* Then a node gets every nth address, and so every nth color. */
static bool page_color_interleaved(struct vm_area_struct *vma,
				   unsigned long address)
{
	bool interleaved = false;
#ifdef CONFIG_NUMA
	pgoff_t ilx;
	struct mempolicy *policy = get_vma_policy(vma, address, 0, &ilx);

	interleaved = policy->mode == MPOL_INTERLEAVE ||
		      policy->mode == MPOL_WEIGHTED_INTERLEAVE;
	mpol_cond_put(policy);
#endif
	return interleaved;
}

struct folio *page_color_alloc_vma(gfp_t gfp, int order,
				   struct vm_area_struct *vma,
				   unsigned long address, bool hugepage)
{
	current->page_color.hint = (struct page_color_hint) {
		.page = address >> PAGE_SHIFT,
		.offset = vma->vm_mm->page_color_offset,
		.valid = !page_color_interleaved(vma, address),
	};
	return vma_alloc_folio_noprof(gfp, order, vma, address, hugepage);
}

void __page_color_hint_file(struct address_space *mapping, pgoff_t index)
{
	current->page_color.hint = (struct page_color_hint) {
		.page = index,
		.offset = hash_ptr(mapping, 32),
		.valid = true,
	};
}

unsigned int page_color_run_begin(struct page_color_run *run,
				  struct page_color_wish *wish,
				  unsigned int batch, bool went_on)
{
	unsigned int longest = order_base_2(batch);

	/* As read-ahead does: who goes on gets more, who jumps gets one. */
	if (!wish->hint.valid)
		run->shift = longest;
	else if (went_on && page_color_run_fits(run, wish))
		run->shift = min(run->shift + 1U, longest);
	else
		run->shift = 0;
	run->set = wish->set;
	run->key = wish->hint.valid ? page_color_place(wish) : 0;
	wish->run = 1U << run->shift;
	return wish->run;
}

static unsigned long page_color_wanted(const struct page_color_zone *coloring,
				       const struct page_color_wish *wish,
				       const struct page_color_set *set,
				       unsigned int order)
{
	unsigned long colors = coloring->colors;
	unsigned long begin;

	if (!wish->hint.valid)
		return set ? READ_ONCE(set->next) : coloring->cursor[order];
	begin = (u64)wish->hint.offset * colors >> 32;
	/* So that a huge page has the colors that small ones would have. */
	if (colors > pageblock_nr_pages)
		begin = round_down(begin, pageblock_nr_pages);
	return (wish->hint.page + begin + wish->done) % colors;
}

/* The best block for a color, whatever the colors that the task may use. */
static bool page_color_search(const struct page_color_zone *coloring,
			      enum page_color_list list, unsigned int order,
			      unsigned long color,
			      struct page_color_block *found)
{
	unsigned long follow = coloring->follow[order];

	/* The frame after the last one: what devices merge into one request. */
	if (page_color_index_color(coloring->index, follow) == color &&
	    page_color_index_holding(coloring->index, list, order, follow,
				     found))
		return true;
	return page_color_index_find(coloring->index, list, order, color,
				     found);
}

static unsigned long page_color_after(const struct page_color_zone *coloring,
				      unsigned long color, unsigned long by)
{
	color += by;
	if (color >= coloring->colors)
		color %= coloring->colors;
	return color;
}

/*
 * The first block from @color on that has nothing but colors of the set.
 * @found->distance is from @color, as without a set.
 */
static bool page_color_search_set(const struct page_color_zone *coloring,
				  const struct page_color_set *set,
				  enum page_color_list list,
				  unsigned int order, unsigned long color,
				  struct page_color_block *found)
{
	unsigned long colors = coloring->colors;
	unsigned long gone = 0;
	int tries;

	for (tries = 0; tries < PAGE_COLOR_SET_TRIES; tries++) {
		unsigned long at = page_color_after(coloring, color, gone);
		unsigned long allowed = page_color_set_next(set, at);

		gone += (allowed >= at ? 0 : colors) + allowed - at;
		if (gone >= colors)
			return false;
		if (!page_color_search(coloring, list, order, allowed, found))
			return false;
		gone += found->distance;
		if (gone >= colors)
			return false;
		found->distance = gone;
		at = page_color_index_color(coloring->index, found->frame);
		if (page_color_set_run(set, at) >= 1UL << order)
			return true;
		gone++;
	}
	return false;
}

unsigned int page_color_pick(struct zone *zone, enum page_color_list list,
			     unsigned int order, unsigned int max,
			     struct page_color_wish *wish,
			     struct page_color_block *found)
{
	struct page_color_zone *coloring = zone->page_color;
	struct page_color_set *set = wish->set;
	unsigned long color, nr;

	lockdep_assert_held(&zone->lock);
	if (!coloring || !coloring->ready)
		return 0;
	if (set && set->colors != coloring->colors)
		set = NULL;

	color = page_color_wanted(coloring, wish, set, order);
	/* Colors outside of the set are not wanted. */
	if (set)
		color = page_color_set_next(set, color);
	if (set ? !page_color_search_set(coloring, set, list, order, color,
					 found)
		: !page_color_search(coloring, list, order, color, found)) {
		if (!wish->done)
			coloring->stats.fallback += 1UL << order;
		return 0;
	}
	/* A run of placed pages ends where its colors do. */
	if (wish->hint.valid && wish->done && found->distance)
		return 0;

	color = page_color_index_color(coloring->index, found->frame);
	nr = 1UL << order;
	if (!order && !(wish->hint.valid && found->distance)) {
		nr = found->block + (1UL << found->order) - found->frame;
		nr = min_t(unsigned long, nr, max);
		/* Cut where whole blocks are left, for the runs to come. */
		nr = min(nr, wish->run - (found->frame & (wish->run - 1)));
		if (set)
			nr = min_t(unsigned long, nr,
				   page_color_set_run(set, color));
	}

	coloring->follow[order] = found->frame + nr;
	color = page_color_after(coloring, color, nr);
	if (!wish->hint.valid && set)
		WRITE_ONCE(set->next, color);
	else if (!wish->hint.valid)
		coloring->cursor[order] = color;
	if (found->distance)
		coloring->stats.next += 1UL << order;
	coloring->stats.exact += nr - (found->distance ? 1UL << order : 0);
	wish->done += nr;
	return nr;
}

bool page_color_pick_same(struct zone *zone, unsigned long pfn,
			  unsigned int order, bool ahead,
			  struct page_color_block *found)
{
	const struct page_color_zone *coloring = zone->page_color;
	unsigned long from = pageblock_end_pfn(pfn);

	lockdep_assert_held(&zone->lock);
	if (!coloring || !coloring->ready)
		return false;
	if (ahead) {
		from = pageblock_align(zone->zone_start_pfn +
				       zone->spanned_pages / 2);
		if (pfn >= from)
			return false;
	}
	return page_color_index_last(coloring->index, PAGE_COLOR_MOVABLE, order,
				     pageblock_order, pfn, from, found);
}

/*
 * The index says a block is free that is not: a defect. Never take from it
 * again; the lists are as good as ever.
 */
void page_color_distrust(struct zone *zone)
{
	lockdep_assert_held(&zone->lock);
	zone->page_color->ready = false;
}
