// SPDX-License-Identifier: GPL-2.0-only
/* What was in vain: which attempts are not made again for a while. */

#include <linux/mm.h>

#include "alloc.h"

/* The most attempts that are skipped after one that was in vain. */
#define PAGE_COLOR_MOST_SKIPPED	15

/* If threads race here, an attempt is made in addition or left out. */
static bool is_skipped(struct page_color_skip *skip)
{
	u8 left = READ_ONCE(skip->left);

	if (left)
		WRITE_ONCE(skip->left, left - 1);
	return left;
}

/* One was in vain: the next 1, 3, 7 and so on are skipped, up to @most. */
static void skip_more(struct page_color_skip *skip, u8 most)
{
	u8 after = min(2 * READ_ONCE(skip->after) + 1, most);

	WRITE_ONCE(skip->after, after);
	WRITE_ONCE(skip->left, after);
}

/* One was not: after the next one that is in vain, one is skipped again. */
static void skip_none(struct page_color_skip *skip)
{
	if (!READ_ONCE(skip->after))
		return;
	WRITE_ONCE(skip->left, 0);
	WRITE_ONCE(skip->after, 0);
}

static u64 key_of(const struct page_color_set *set, unsigned int order)
{
	return set->id << 4 | order;
}

static struct page_color_vain_set *
vain_of(struct page_color_zone *zone, const struct page_color_set *set,
	unsigned int order)
{
	return &zone->vain[(set->id + 5 * order) % PAGE_COLOR_VAIN_SETS];
}

/*
 * Whether a search for a free frame, or block, of a set is skipped. A skipped one gives a
 * page of another color, or no block.
 */
bool page_color_is_vain(struct page_color_zone *zone,
			const struct page_color_set *set, unsigned int order)
{
	struct page_color_vain_set *vain = vain_of(zone, set, order);

	return READ_ONCE(vain->key) == key_of(set, order) &&
	       is_skipped(&vain->skip);
}

/*
 * Notes the result of a search. If another set has the entry, it is replaced after a
 * search that found nothing, and kept after one that found something.
 */
void page_color_note_set(struct page_color_zone *zone,
			 const struct page_color_set *set, unsigned int order,
			 bool found)
{
	struct page_color_vain_set *vain = vain_of(zone, set, order);
	bool same = READ_ONCE(vain->key) == key_of(set, order);

	if (found && !same)
		return;
	if (found || !same)
		skip_none(&vain->skip);
	WRITE_ONCE(vain->key, key_of(set, order));
	if (!found)
		skip_more(&vain->skip, order ? PAGE_COLOR_MOST_SKIPPED : U8_MAX);
}

/*
 * A search that finds no free frame takes long: one that is skipped begins with the want
 * behind it.
 */
unsigned int page_color_first_want(struct page_color_space *space)
{
	return space && is_skipped(&space->vain.skip) ?
	       READ_ONCE(space->vain.want) : 0;
}

/*
 * Notes the result of a search: @found is the index of the want that gave frames, or the
 * number of wants if none did; @less, that it gave little of what was wished for. Only a
 * space larger than the cache skips wants because they gave little. One that fits into
 * the cache begins with the best want whenever something was found: a color that has come
 * free meanwhile saves a conflict.
 */
void page_color_note_vain(struct page_color_space *space, unsigned int first,
			  unsigned int found, bool less)
{
	if (found < PAGE_COLOR_WANTS && page_color_full(space))
		found = min_t(unsigned int, found + less, PAGE_COLOR_WANTS - 1);
	else if (found < PAGE_COLOR_WANTS)
		found = first;
	if (found > first) {
		WRITE_ONCE(space->vain.want, found);
		skip_more(&space->vain.skip, PAGE_COLOR_MOST_SKIPPED);
	} else if (!first) {
		skip_none(&space->vain.skip);
	}
}

/*
 * The rank of a block with which a search ends at once, or 0. Where a program holds a part
 * of each stretch of colors, up to 1,024 stretches are compared, which takes longer than
 * to move the small pages that have colors of the block. For huge pages they are compared
 * each time: clearing one takes longer. What was noted does not count once the program
 * holds less: colors have come free, or a new round has begun.
 */
u64 page_color_enough(struct page_color_space *space, unsigned int order)
{
	struct page_color_shared *shared = &space->shared;

	if (order >= 6 || READ_ONCE(shared->order) != order ||
	    READ_ONCE(space->held.taken) < READ_ONCE(shared->taken) ||
	    !is_skipped(&shared->skip))
		return 0;
	return READ_ONCE(shared->rank);
}

/*
 * Notes the rank of the block that was found. It is in vain to compare all stretches if
 * colors of the best one are @held; @enough is what the search could end with.
 */
void page_color_note_block(struct page_color_space *space, unsigned int order,
			   u64 enough, u64 rank, bool held)
{
	struct page_color_shared *shared = &space->shared;

	if (order >= 6 || (held && enough && rank <= enough))
		return;
	if (!held || READ_ONCE(shared->order) != order)
		skip_none(&shared->skip);
	if (!held)
		return;
	WRITE_ONCE(shared->order, order);
	WRITE_ONCE(shared->rank, rank);
	WRITE_ONCE(shared->taken, READ_ONCE(space->held.taken));
	skip_more(&shared->skip, PAGE_COLOR_MOST_SKIPPED);
}

/*
 * Whether to look for small pages that have colors of a larger one is skipped: none has
 * moved lately, since they are locked for one. They are looked for each time if the larger
 * page shares many colors.
 */
bool page_color_is_room_vain(struct page_color_space *space, unsigned int order)
{
	return order < 6 && is_skipped(&space->room);
}

void page_color_note_room(struct page_color_space *space, bool vain)
{
	if (vain)
		skip_more(&space->room, PAGE_COLOR_MOST_SKIPPED);
	else
		skip_none(&space->room);
}

static struct page_color_skip *least_skip(struct page_color_run *run,
					  unsigned int least)
{
	return &run->skip[least & PAGE_COLOR_FEW ? 0 : 1];
}

/* A zone that has given nothing is asked for each page before the zone that has it. */
bool page_color_is_least_vain(struct page_color_run *run, unsigned int least)
{
	return least && is_skipped(least_skip(run, least));
}

void page_color_note_least(struct page_color_run *run, unsigned int least,
			   bool found)
{
	if (least && found)
		skip_none(least_skip(run, least));
	else if (least)
		skip_more(least_skip(run, least), PAGE_COLOR_MOST_SKIPPED);
}
