// SPDX-License-Identifier: GPL-2.0-only
/* Searches that found nothing: which ones are not made again for a while. */

#include <linux/mm.h>

#include "alloc.h"

/* The most searches that are skipped after one that found nothing. */
#define PAGE_COLOR_MOST_SKIPPED	15

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
 * Whether a search for a free frame, or block, of a set is skipped: after one that found
 * nothing the next 1, 3, 7 and so on are. A skipped one gives a page of another color, or
 * no block.
 */
bool page_color_is_vain(struct page_color_zone *zone,
			const struct page_color_set *set, unsigned int order)
{
	struct page_color_vain_set *vain = vain_of(zone, set, order);
	u8 skip = READ_ONCE(vain->skip);

	if (READ_ONCE(vain->key) != key_of(set, order) || !skip)
		return false;
	WRITE_ONCE(vain->skip, skip - 1);
	return true;
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
	u8 most = order ? PAGE_COLOR_MOST_SKIPPED : U8_MAX, skip = 0;

	if (!found)
		skip = same ? min(2 * vain->skipped + 1, most) : 1;
	else if (!same)
		return;
	WRITE_ONCE(vain->skip, 0);
	WRITE_ONCE(vain->key, key_of(set, order));
	WRITE_ONCE(vain->skipped, skip);
	WRITE_ONCE(vain->skip, skip);
}

/*
 * A search that finds no free frame takes long: after one, the next 1, 3, 7 and so on
 * begin with the want behind it. If threads race here, a search is made in addition or
 * left out.
 */
unsigned int page_color_first_want(struct page_color_space *space)
{
	u8 skip = space ? READ_ONCE(space->vain.skip) : 0;

	if (!skip)
		return 0;
	WRITE_ONCE(space->vain.skip, skip - 1);
	return READ_ONCE(space->vain.want);
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
	unsigned int skipped = READ_ONCE(space->vain.skipped);

	if (found < PAGE_COLOR_WANTS && page_color_full(space))
		found = min_t(unsigned int, found + less, PAGE_COLOR_WANTS - 1);
	else if (found < PAGE_COLOR_WANTS)
		found = first;
	if (found > first) {
		skipped = min(2 * skipped + 1, PAGE_COLOR_MOST_SKIPPED);
		WRITE_ONCE(space->vain.want, found);
		WRITE_ONCE(space->vain.skip, skipped);
		WRITE_ONCE(space->vain.skipped, skipped);
	} else if (!first && skipped) {
		WRITE_ONCE(space->vain.skipped, 0);
	}
}
