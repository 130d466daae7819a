// SPDX-License-Identifier: GPL-2.0-only
/* Color sets: lists of colors as ascending ranges, and questions to them. */

#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "page_color.h"

/*
 * Item by item, because a task may write this and each item may touch the whole
 * bitmap: it can be preempted and killed in between.
 */
static int parse_list(char *list, unsigned long *bitmap, unsigned long *item,
		      u32 colors)
{
	char *word;
	int err;

	while ((word = strsep(&list, ", \t"))) {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		if (!*word)
			continue;
		err = bitmap_parselist(word, item, colors);
		if (err)
			return -EINVAL;
		bitmap_or(bitmap, bitmap, item, colors);
	}
	return 0;
}

static u32 count_ranges(const unsigned long *bitmap, u32 colors)
{
	unsigned int first, end;
	u32 nr = 0;

	for_each_set_bitrange(first, end, bitmap, colors) {
		nr++;
		cond_resched();
	}
	return nr;
}

static struct page_color_set *from_bitmap(const unsigned long *bitmap,
					  u32 colors)
{
	u32 nr = count_ranges(bitmap, colors);
	struct page_color_set *set;
	unsigned int first, end;
	u32 i = 0;

	if (!nr)
		return ERR_PTR(-EINVAL);
	if (bitmap_full(bitmap, colors))
		return NULL;
	set = kvzalloc(struct_size(set, ranges, nr), GFP_KERNEL_ACCOUNT);
	if (!set)
		return ERR_PTR(-ENOMEM);
	refcount_set(&set->refs, 1);
	set->colors = colors;
	set->nr = nr;
	for_each_set_bitrange(first, end, bitmap, colors) {
		set->ranges[i].first = first;
		set->ranges[i++].last = end - 1;
		cond_resched();
	}
	return set;
}

struct page_color_set *page_color_set_parse(char *list, u32 colors)
{
	size_t bytes = BITS_TO_LONGS(colors) * sizeof(long);
	struct page_color_set *set;
	unsigned long *bitmap;
	int err;

	/* bitmap_parselist() ends at a newline: nothing may hide behind it. */
	list = strim(list);
	if (!colors || colors > INT_MAX || strchr(list, '\n'))
		return ERR_PTR(-EINVAL);
	/* Twice: all of the list, and one item of it. */
	bitmap = kvcalloc(2, bytes, GFP_KERNEL_ACCOUNT);
	if (!bitmap)
		return ERR_PTR(-ENOMEM);
	err = parse_list(list, bitmap, bitmap + BITS_TO_LONGS(colors), colors);
	set = err ? ERR_PTR(err) : from_bitmap(bitmap, colors);
	kvfree(bitmap);
	return set;
}

void page_color_set_put(struct page_color_set *set)
{
	if (set && refcount_dec_and_test(&set->refs))
		kvfree_rcu(set, rcu);
}

/* The first range that does not end before @color, set->nr if there is none. */
static u32 find_range(const struct page_color_set *set, u32 color)
{
	u32 low = 0, high = set->nr;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (set->ranges[middle].last < color)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

u32 page_color_set_next(const struct page_color_set *set, u32 color)
{
	u32 i = find_range(set, color);

	if (i == set->nr)
		return set->ranges[0].first;
	return max(color, set->ranges[i].first);
}

u32 page_color_set_run(const struct page_color_set *set, u32 color)
{
	u32 i = find_range(set, color);

	if (i == set->nr || color < set->ranges[i].first)
		return 0;
	return set->ranges[i].last - color + 1;
}

/* The first range that does not end before the word, and what it has of it. */
u64 page_color_set_word(const struct page_color_set *set, u32 word)
{
	u64 first = 64ULL * word, last = first + 63, some = 0;
	u32 i;

	for (i = find_range(set, first); i < set->nr; i++) {
		const struct page_color_range *range = &set->ranges[i];

		if (range->first > last)
			break;
		some |= page_color_low_bits(min_t(u64, range->last, last) -
					    first + 1) &
			~page_color_low_bits(range->first > first ?
					     range->first - first : 0);
	}
	return some;
}
