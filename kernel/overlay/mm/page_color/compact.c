// SPDX-License-Identifier: GPL-2.0-only
/* Where compaction moves pages to. */

#include <linux/mm.h>

#include "page_color.h"

/* Of a copy of a word, from the last copy down to @from; in pageblocks in use. */
static bool find_last(const struct page_color_memory *memory, u32 color,
		      u64 some, unsigned long from, unsigned long *found)
{
	unsigned long at = (memory->first + memory->copies - 1) *
			   memory->colors + color;
	unsigned int tries;

	for (tries = 0; tries < PAGE_COLOR_COPIES && at >= from; tries++) {
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

/* The same of a color that few hold, other than the last one. */
static bool find_few(struct page_color_place *place, unsigned long from,
		     unsigned long *found)
{
	struct page_color_memory *memory = &place->zone->memory;
	u32 words = page_color_words(memory->colors);
	u32 word = READ_ONCE(place->zone->cursor) / 64;
	int tries;

	for (tries = 0; tries < PAGE_COLOR_COPIES; tries++, word++) {
		u64 some;

		if (word >= words)
			word = 0;
		some = page_color_live_few(place->node->live, word);
		if (!some || !find_last(memory, 64 * word, some, from, found))
			continue;
		WRITE_ONCE(place->zone->cursor,
			   (*found + 1) % memory->colors);
		return true;
	}
	return false;
}

/*
 * Who has the page holds the new color when it has arrived. Until then the color
 * counts as held, so that nobody takes it who finds others.
 */
static void note(struct page_color_moving *moving, struct page_color_node *node,
		 u32 color)
{
	struct page_color_coming *coming = &node->coming;

	spin_lock(&coming->lock);
	if (!moving->node) {
		moving->node = node->id;
		coming->batches++;
	}
	if (moving->node == node->id && coming->nr < PAGE_COLOR_COMING) {
		coming->color[coming->nr++] = color;
		page_color_live_add(node->live, color / 64,
				    BIT_ULL(color % 64));
	}
	spin_unlock(&coming->lock);
}

bool page_color_find_place(struct zone *zone, unsigned long frame,
			   unsigned long best, unsigned long from,
			   struct page_color_moving *moving,
			   unsigned long *found)
{
	struct page_color_memory *memory;
	struct page_color_place place;

	if (!page_color_place_of(&place, zone))
		return false;
	memory = &place.zone->memory;
	/* The last one there is, so at or after @best if any is. */
	if (find_last(memory, frame % memory->colors, 1, from, found))
		return true;
	if (!place.node->live || (!find_few(&place, best, found) &&
				  !find_few(&place, from, found)))
		return false;
	note(moving, place.node, *found % memory->colors);
	return true;
}

static void forget(struct page_color_node *node)
{
	struct page_color_coming *coming = &node->coming;

	while (coming->nr) {
		u32 color = coming->color[--coming->nr];

		page_color_live_sub(node->live, color / 64,
				    BIT_ULL(color % 64));
	}
}

void page_color_moved(struct zone *zone, struct page_color_moving *moving)
{
	struct page_color_node *node;

	rcu_read_lock();
	node = rcu_dereference(page_color_nodes[zone_to_nid(zone)]);
	/* Else it went with what was noted. */
	if (node && node->id == moving->node) {
		spin_lock(&node->coming.lock);
		if (!--node->coming.batches)
			forget(node);
		spin_unlock(&node->coming.lock);
	}
	rcu_read_unlock();
	moving->node = 0;
}

unsigned long page_color_advance(struct zone *zone, unsigned long free_pfn,
				 unsigned long migrate_pfn,
				 struct page_color_moving *moving)
{
	struct page_color_zone *coloring;

	rcu_read_lock();
	coloring = rcu_dereference(zone->page_color);
	while (coloring && free_pfn > migrate_pfn + pageblock_nr_pages) {
		unsigned int free = page_color_free_in_block(coloring->memory.free,
							     free_pfn);

		/* Whole pageblocks are not moved to. */
		if (free == pageblock_nr_pages)
			free = 0;
		if (moving->placed < free)
			break;
		moving->placed -= free;
		free_pfn -= pageblock_nr_pages;
	}
	rcu_read_unlock();
	return free_pfn;
}
