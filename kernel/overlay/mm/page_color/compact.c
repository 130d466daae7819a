// SPDX-License-Identifier: GPL-2.0-only
/* Where compaction moves pages to. */

#include <linux/mm.h>

#include "page_color.h"

/* Where colors are few, so many frames are looked at from the last one down. */
#define PAGE_COLOR_LAST		65536

/*
 * Finds a frame in the copies of a word, from the last to @from, in pageblocks in
 * use.
 */
static bool find_last(const struct page_color_memory *memory, u32 color,
		      u64 some, unsigned long from, unsigned long *found)
{
	unsigned long at = (memory->first + memory->copies - 1) *
			   memory->colors + color;
	unsigned int tries = max(PAGE_COLOR_COPIES,
				 PAGE_COLOR_LAST / memory->colors);

	for (; tries && at >= from; tries--) {
		u64 free = page_color_free_word(memory->free, at) & some;

		if (free && page_color_free_in_block(memory->free, at) <
			    pageblock_nr_pages) {
			*found = at + __ffs64(free);
			return true;
		}
		if (at < memory->colors)
			break;
		at -= memory->colors;
	}
	return false;
}

/*
 * Finds a frame of a wanted color, from the word of the zone's cursor on, which
 * moves behind each color that is chosen. The color is held from then on: all new
 * frames of a pageblock's pages are chosen before the first page moves, and the
 * owner may take pages meanwhile. If the page does not move after all, the color
 * is held until it is counted anew.
 */
static bool find_wanted(struct page_color_place *place,
			struct page_color_space *space,
			const struct page_color_set *set, unsigned long from,
			unsigned long *found)
{
	struct page_color_memory *memory = &place->zone->memory;
	struct page_color_wish wish = {
		.held = space ? &space->held : NULL,
		.live = place->node->live,
		.set = set,
	};
	u32 words = page_color_words(memory->colors);
	u32 word = READ_ONCE(place->zone->cursor) / 64;
	int tries;

	for (tries = 0; tries < PAGE_COLOR_COPIES; tries++, word++) {
		u32 color;
		u64 some;

		if (word >= words)
			word = 0;
		if (set && !page_color_set_word(set, word))
			word = page_color_set_next(set, word * 64) / 64;
		some = page_color_wanted(&wish, memory->colors, word,
					 PAGE_COLOR_LACKED | PAGE_COLOR_FEW);
		if (!some || !find_last(memory, 64 * word, some, from, found))
			continue;
		color = *found % memory->colors;
		WRITE_ONCE(place->zone->cursor, (color + 1) % memory->colors);
		if (!space || page_color_claim(space, place->node->live, color / 64,
					       BIT_ULL(color % 64)))
			return true;
	}
	return false;
}

/* Finds the last free frame of the same color, however early in the zone it is. */
static bool find_same(struct zone *zone, unsigned long frame,
		      unsigned long from, unsigned long *found)
{
	const struct page_color_memory *memory;
	struct page_color_place place;

	if (!page_color_place_of(&place, zone))
		return false;
	memory = &place.zone->memory;
	return find_last(memory, frame % memory->colors, 1, from, found);
}

static bool find_other(struct zone *zone, struct page_color_space *space,
		       const struct page_color_set *set, unsigned long best,
		       unsigned long from, unsigned long *found)
{
	struct page_color_place place;

	if (!page_color_place_of(&place, zone) || !place.node->live)
		return false;
	if (space && space->node != place.node->id)
		return false;
	return find_wanted(&place, space, set, best, found) ||
	       find_wanted(&place, space, set, from, found);
}

bool page_color_keeps(struct zone *zone)
{
	struct page_color_place place;
	bool keeps;

	rcu_read_lock();
	keeps = page_color_place_of(&place, zone) && place.node->live;
	rcu_read_unlock();
	return keeps;
}

bool page_color_find_place(struct zone *zone, struct folio *folio,
			   unsigned long best, unsigned long from,
			   unsigned long *found)
{
	const struct page_color_set *set = NULL;
	struct page_color_space *space = NULL;
	struct mm_struct *owner;
	bool done;

	rcu_read_lock();
	done = find_same(zone, folio_pfn(folio), from, found);
	rcu_read_unlock();
	/* The owner matters only if another color is to be chosen. */
	if (done || !page_color_keeps(zone))
		return done;
	owner = page_color_owner(folio);
	rcu_read_lock();
	if (owner) {
		space = page_color_space(owner, folio_nid(folio),
					 page_color_kind_of(folio));
		set = page_color_set_of_node(owner, zone_to_nid(zone));
	}
	done = find_other(zone, space, set, best, from, found);
	rcu_read_unlock();
	page_color_owner_put(owner);
	return done;
}

unsigned long page_color_advance(struct zone *zone, unsigned long free_pfn,
				 unsigned long migrate_pfn,
				 unsigned int *colored)
{
	struct page_color_zone *coloring;

	rcu_read_lock();
	coloring = rcu_dereference(zone->page_color);
	while (coloring && free_pfn > migrate_pfn + pageblock_nr_pages) {
		unsigned int free = page_color_free_in_block(coloring->memory.free,
							     free_pfn);

		/* Pages are not moved to whole pageblocks. */
		if (free == pageblock_nr_pages)
			free = 0;
		if (*colored < free)
			break;
		*colored -= free;
		free_pfn -= pageblock_nr_pages;
	}
	rcu_read_unlock();
	return free_pfn;
}
