/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files share that choose frames for allocations: alloc.c, blocks.c, files.c. */
#ifndef _MM_PAGE_COLOR_ALLOC_H
#define _MM_PAGE_COLOR_ALLOC_H

#include "page_color.h"

/* The space that the allocation is for; NULL if it was made for another geometry. */
static inline struct page_color_space *
space_of(const struct page_color_ask *ask, const struct page_color_place *place)
{
	struct page_color_space *space = ask->space;

	return space && space->node == place->node->id ? space : NULL;
}

/*
 * The same when pages are to be taken: a space of another geometry is marked to be
 * counted anew, which replaces it.
 */
static inline struct page_color_space *
get_space(const struct page_color_ask *ask, const struct page_color_place *place)
{
	struct page_color_space *space = space_of(ask, place);

	if (ask->space && !space)
		WRITE_ONCE(ask->space->recount, true);
	return space;
}

/*
 * Where a search begins: at the @own cursor of a space if it has one, else at the zone's.
 */
static inline u32 cursor_of(const u32 *own, const struct page_color_zone *zone)
{
	u32 cursor = own ? READ_ONCE(*own) : PAGE_COLOR_NO_CURSOR;

	return cursor != PAGE_COLOR_NO_CURSOR ? cursor : READ_ONCE(zone->cursor);
}

/*
 * The counts of holders matter only for a space that fits into the cache: a larger one
 * holds all colors anyway.
 */
static inline const struct page_color_live *
live_for(const struct page_color_space *space,
	 const struct page_color_place *place)
{
	return space && page_color_full(space) ? NULL : place->node->live;
}

/* alloc.c */
/*
 * Colors of pages on a CPU's list cannot be used by other CPUs, for seconds if that CPU
 * has become idle. So the lists of all CPUs that allocate for one address space together
 * get about half of the colors that are left. An address space larger than the cache has
 * no such limit: it takes each color once a round, on whatever CPU.
 */
unsigned int page_color_fair_share(const struct page_color_space *space,
				   const struct page_color_live *live,
				   unsigned int count);

/* files.c */
/*
 * Frames of a pageblock, whatever their color, at most *@count, are added to @parts, of
 * which @nr are in use. Returns how many are.
 */
unsigned int page_color_gather_block(const struct page_color_free *free,
				     unsigned long frame, unsigned int *count,
				     struct page_color_part *parts,
				     unsigned int nr);

/* vain.c */
/* Whether a search for a free frame, or block, of a set is skipped. */
bool page_color_is_vain(struct page_color_zone *zone,
			const struct page_color_set *set, unsigned int order);
/* Notes the result of such a search. */
void page_color_note_set(struct page_color_zone *zone,
			 const struct page_color_set *set, unsigned int order,
			 bool found);
/* Index of the want with which a search for small pages begins. */
unsigned int page_color_first_want(struct page_color_space *space);
/* Notes its result. */
void page_color_note_vain(struct page_color_space *space, unsigned int first,
			  unsigned int found, bool less);
/* The rank of a block that is good enough to end a search; 0 if none is. */
u64 page_color_enough(struct page_color_space *space, unsigned int order);
/* Notes the rank of what it has found, and whether any of its colors is held. */
void page_color_note_block(struct page_color_space *space, unsigned int order,
			   u64 enough, u64 rank, bool held);

#endif /* _MM_PAGE_COLOR_ALLOC_H */
