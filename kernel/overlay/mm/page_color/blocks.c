// SPDX-License-Identifier: GPL-2.0-only
/* Which frames an allocation of more pages than one gets. */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <trace/events/page_color.h>

#include "alloc.h"

/*
 * Whether small pages are better than a huge page that was not asked for: the address
 * space holds more than half of the colors of the huge page, small pages get colors that
 * it lacks, and khugepaged may collapse them later. @stay colors of a @chosen block are
 * held; if no block was chosen, the share of all colors that is held stands for it.
 */
static bool small_is_better(const struct page_color_space *space,
			    const struct page_color_wish *wish, bool chosen,
			    unsigned int stay, unsigned int order)
{
	u32 colors = space->held.colors, taken = READ_ONCE(space->held.taken);
	u32 size = 1U << order;

	if (current->page_color.huge == PAGE_COLOR_HUGE || wish->leaving ||
	    wish->set || !space->direct || page_color_full(space))
		return false;
	/*
	 * For a smaller block there is mostly one whose colors are all lacked, and else
	 * small pages make room.
	 */
	if (order < pageblock_order)
		return false;
	if (colors % size || colors - taken < size)
		return false;
	return chosen ? 2 * stay > size : 2 * taken > colors;
}

/*
 * Whether small pages, with colors of the set, are taken instead of a huge page with
 * others. A fault in MADV_HUGEPAGE memory gets the huge page if no block is all in the
 * set.
 */
static bool set_wants_small(const struct page_color_wish *wish, bool chosen,
			    u32 color, unsigned int order)
{
	const struct page_color_set *set = wish->set;

	if (!set || (chosen && page_color_set_has(set, color, order)))
		return false;
	if (current->page_color.asked)
		return page_color_set_has_block(set, order);
	return current->page_color.huge != PAGE_COLOR_HUGE ||
	       page_color_is_khugepaged();
}

/*
 * A block with colors that are not in the set is left to others where set_wants_small()
 * would leave it. page_color_ask() cannot tell: direct compaction runs as reclaim does.
 * Under zone->lock.
 */
bool __page_color_may_capture(const struct page *page, unsigned int order)
{
	struct mm_struct *whom = current->page_color.whom;
	const struct page_color_set *set;
	bool may;

	if (whom == PAGE_COLOR_FILE)
		return true;
	if (!current->page_color.asked && !page_color_is_khugepaged() &&
	    current->page_color.huge == PAGE_COLOR_HUGE)
		return true;
	rcu_read_lock();
	set = page_color_set_of_node(whom, page_to_nid(page));
	may = !set || page_color_set_has(set, page_to_pfn(page) % set->colors,
					 order);
	rcu_read_unlock();
	return may;
}

/*
 * No block is searched for if none is all in the set, or none was free lately: it would
 * have other colors. Nor is one for files: mostly their pages are used by other tasks
 * than the one that reads them.
 */
static bool choose_block(const struct page_color_place *place,
			 const struct page_color_ask *ask,
			 struct page_color_wish *wish, unsigned int order,
			 unsigned long *frame, unsigned int *stay)
{
	struct page_color_memory *memory = &place->zone->memory;
	bool chosen;

	if (!ask->set)
		return page_color_choose_block(memory, wish, order, frame, stay);
	if (ask->file || !page_color_set_has_block(ask->set, order) ||
	    page_color_is_vain(place->zone, ask->set, order))
		return false;
	chosen = page_color_choose_block(memory, wish, order, frame, stay);
	page_color_note_set(place->zone, ask->set, order,
			    chosen && page_color_set_has(ask->set,
							 *frame % memory->colors,
							 order));
	return chosen;
}

unsigned int page_color_claim_block(struct page_color_space *space,
				    struct page_color_live *live, u32 color,
				    unsigned int order, unsigned int least)
{
	u64 all = page_color_low_bits(min(1U << order, 64U)) << color % 64;
	u64 some[PAGE_COLOR_BLOCK_WORDS];
	unsigned int words = DIV_ROUND_UP(1U << order, 64), claimed = 0, i;

	page_color_comes(space, color, order);
	for (i = 0; i < words; i++) {
		some[i] = page_color_claim(space, live, color / 64 + i, all);
		claimed += hweight64(some[i]);
	}
	if (claimed >= least)
		return claimed;
	while (i--)
		page_color_unmark(space, live, color / 64 + i, some[i]);
	page_color_comes_not();
	return 0;
}

/* Whether the colors of a chosen block are what they must be at least. */
static bool is_least(const struct page_color_wish *wish, unsigned int least,
		     unsigned int stay, unsigned int order)
{
	return least & PAGE_COLOR_FEW ? wish->fresh == 1U << order :
					2 * stay <= 1U << order;
}

/* Chooses a block. False if none is found, or if small pages are to be taken instead. */
static bool gather_one(struct zone *zone, const struct page_color_place *place,
		       struct page_color_space *space,
		       const struct page_color_ask *ask,
		       struct page_color_wish *wish, unsigned int order,
		       unsigned long *frame)
{
	struct page_color_leaving *leaving = current->page_color.leaving;
	u32 *own = space ? &space->block_cursor : NULL;
	unsigned int stay = 1U << order;
	u32 colors, before, taken;
	bool chosen, small, notes = space && !ask->set && !wish->leaving &&
				    !ask->least;

	wish->enough = notes ? page_color_enough(space, order) : 0;
	wish->cursor = cursor_of(own, place->zone);
	/* Colors before the zone's cursor were given to small programs. */
	if (!own)
		wish->cursor = ALIGN(wish->cursor, 1U << order);
	before = wish->cursor;
	chosen = choose_block(place, ask, wish, order, frame, &stay);
	if (notes && chosen)
		page_color_note_block(space, order, wish->enough, wish->rank, stay);
	colors = place->zone->memory.colors;
	taken = chosen ? *frame % colors : 0;
	if (leaving && !(colors % (1U << order)))
		leaving->stay = stay;
	/* Other zones are asked first. */
	if (ask->least && (!chosen || !is_least(wish, ask->least, stay, order)))
		return false;
	small = (space && small_is_better(space, wish, chosen, stay, order)) ||
		set_wants_small(wish, chosen, taken, order);
	/* Continue behind the block, unless the search has ended early. */
	if (chosen && !small && wish->cursor == before &&
	    (!ask->set || page_color_set_has(ask->set, taken, order)))
		wish->cursor = (taken + (1U << order)) % colors;
	if (wish->cursor != before)
		WRITE_ONCE(*(own ?: &place->zone->cursor), wish->cursor);
	if (small) {
		current->page_color.huge = PAGE_COLOR_SMALL;
		trace_page_color_leave_block(zone, order);
		return false;
	}
	trace_page_color_choose_block(zone, order, chosen);
	return chosen;
}

/*
 * Claims at most @more blocks for the next allocations: those behind the chosen one, up
 * to the end of its word of colors, that are free and whose colors are all lacked and
 * held by few.
 */
static void claim_more(const struct page_color_place *place,
		       struct page_color_space *space,
		       const struct page_color_wish *wish, unsigned int more,
		       struct page_color_blocks *blocks)
{
	const struct page_color_memory *memory = &place->zone->memory;
	u32 colors = memory->colors, color = blocks->frame % colors;
	u32 word = color / 64, size = 1U << blocks->order, end = color + size;
	struct page_color_live *live = place->node->live;
	u64 all = page_color_low_bits(size) << color % 64, some, claimed;

	some = page_color_wanted(wish, colors, word,
				 PAGE_COLOR_LACKED | PAGE_COLOR_FEW);
	some &= page_color_free_word(memory->free, blocks->frame) << color % 64;
	for (all <<= size; all && more; all <<= size) {
		if (~some & all)
			continue;
		claimed = page_color_claim(space, live, word, all);
		if (claimed != all) {
			page_color_unmark(space, live, word, claimed);
			continue;
		}
		blocks->more |= all >> color % 64;
		end = 64 * word + fls64(all);
		more--;
	}
	/* The next search begins behind the last of them. */
	if (READ_ONCE(space->block_cursor) == (color + size) % colors)
		WRITE_ONCE(space->block_cursor, end % colors);
}

/* Attempts to claim a block while other threads or programs are quicker. */
#define PAGE_COLOR_CLAIMS	4

/* Copies that a search may look at for a program that is small and has no set. */
#define PAGE_COLOR_FEW_LOOKS	(PAGE_COLOR_SEARCHED / 16)

bool page_color_gather_blocks(struct zone *zone,
			      const struct page_color_ask *ask,
			      unsigned int more,
			      struct page_color_blocks *blocks)
{
	unsigned int order = blocks->order;
	struct page_color_leaving *leaving = current->page_color.leaving;
	struct page_color_wish wish = { .set = ask->set };
	unsigned int claims = PAGE_COLOR_CLAIMS;
	struct page_color_space *space;
	struct page_color_place place;

	blocks->claimed = 0;
	blocks->more = 0;
	if (!page_color_place_of(&place, zone))
		return false;
	if (ask->file && !ask->set)
		return false;
	space = get_space(ask, &place);
	wish.held = space ? &space->held : NULL;
	wish.live = live_for(space, &place);
	if (leaving && leaving->nr && leaving->nid == zone_to_nid(zone))
		wish.leaving = leaving;
	do {
		wish.looks = space || ask->set ? PAGE_COLOR_SEARCHED :
						 PAGE_COLOR_FEW_LOOKS;
		if (!gather_one(zone, &place, space, ask, &wish, order,
				&blocks->frame))
			return false;
		if (space)
			page_color_stay(space, blocks->frame, order, blocks->stay);
		else
			memset(blocks->stay, 0, sizeof(blocks->stay));
		/* With pages that leave, it is not known which colors are lacked. */
		if (!space || !wish.fresh || wish.leaving)
			break;
		blocks->claimed =
			page_color_claim_block(space, place.node->live,
					       blocks->frame % space->held.colors,
					       order, wish.fresh);
	} while (!blocks->claimed && --claims);
	if (!blocks->claimed)
		return true;
	if (order < 6 && blocks->claimed == 1U << order && !wish.set) {
		more = min(more, page_color_fair_share(space, wish.live, 64) >> order);
		claim_more(&place, space, &wish, more, blocks);
	}
	if (place.node->live)
		page_color_live_adjust(place.node->live);
	return true;
}
