// SPDX-License-Identifier: GPL-2.0-only
/* Color sets: lists of colors as ascending ranges, and questions to them. */

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/jump_label.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "page_color.h"

DEFINE_STATIC_KEY_FALSE(page_color_sets_key);
/* Drivers choose zero pages by it. */
EXPORT_SYMBOL_GPL(page_color_sets_key);

void page_color_sets_begin(void)
{
	if (!static_key_enabled(&page_color_sets_key))
		static_branch_enable(&page_color_sets_key);
}

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

static struct page_color_set *make_set(u32 nr, u32 colors)
{
	static atomic64_t last_id;
	struct page_color_set *set;

	set = kvzalloc(struct_size(set, ranges, nr), GFP_KERNEL_ACCOUNT);
	if (!set)
		return ERR_PTR(-ENOMEM);
	set->id = atomic64_inc_return(&last_id);
	refcount_set(&set->refs, 1);
	set->colors = colors;
	set->nr = nr;
	return set;
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
	set = make_set(nr, colors);
	if (IS_ERR(set))
		return set;
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
	/* Two bitmaps: one for the whole list, and one for an item of it. */
	bitmap = kvcalloc(2, bytes, GFP_KERNEL_ACCOUNT);
	if (!bitmap)
		return ERR_PTR(-ENOMEM);
	err = parse_list(list, bitmap, bitmap + BITS_TO_LONGS(colors), colors);
	set = err ? ERR_PTR(err) : from_bitmap(bitmap, colors);
	kvfree(bitmap);
	return set;
}

/* Finds the ranges that two sets share, and stores them if there is a place. */
static u32 find_both(const struct page_color_set *a,
		     const struct page_color_set *b,
		     struct page_color_range *ranges)
{
	u32 i = 0, j = 0, nr = 0;

	while (i < a->nr && j < b->nr) {
		u32 first = max(a->ranges[i].first, b->ranges[j].first);
		u32 last = min(a->ranges[i].last, b->ranges[j].last);

		if (first <= last && ranges)
			ranges[nr] = (struct page_color_range) { first, last };
		nr += first <= last;
		if (a->ranges[i].last < b->ranges[j].last)
			i++;
		else
			j++;
		cond_resched();
	}
	return nr;
}

struct page_color_set *page_color_set_both(const struct page_color_set *a,
					   const struct page_color_set *b)
{
	u32 nr = find_both(a, b, NULL);
	struct page_color_set *set;

	if (!nr)
		return NULL;
	set = make_set(nr, a->colors);
	if (IS_ERR(set))
		return set;
	set->parts[0] = a->id;
	set->parts[1] = b->id;
	find_both(a, b, set->ranges);
	return set;
}

/*
 * If the last reference to a set is gone before one is taken here, the set has
 * been replaced: then there is another one, or none.
 */
struct page_color_set *page_color_set_get(struct page_color_set __rcu **from)
{
	struct page_color_set *set;

	rcu_read_lock();
	do {
		set = rcu_dereference(*from);
	} while (set && !refcount_inc_not_zero(&set->refs));
	rcu_read_unlock();
	return set;
}

void page_color_set_put(struct page_color_set *set)
{
	if (set && refcount_dec_and_test(&set->refs))
		kvfree_rcu(set, rcu);
}

void page_color_set_show(struct seq_file *m, const struct page_color_set *set)
{
	u32 i;

	for (i = 0; i < set->nr && !seq_has_overflowed(m); i++) {
		const struct page_color_range *range = &set->ranges[i];

		seq_printf(m, i ? ",%u" : "%u", range->first);
		if (range->last != range->first)
			seq_printf(m, "-%u", range->last);
		cond_resched();
	}
	seq_putc(m, '\n');
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

u64 page_color_set_word(const struct page_color_set *set, u32 word)
{
	u64 first = (u64)word * 64, last = first + 63, bits = 0;
	u32 i;

	if (first >= set->colors)
		return 0;
	/* A word has at most 32 ranges: they do not touch each other. */
	for (i = find_range(set, first);
	     i < set->nr && set->ranges[i].first <= last; i++) {
		const struct page_color_range *range = &set->ranges[i];

		bits |= GENMASK_ULL(min_t(u64, range->last, last) - first,
				    max_t(u64, range->first, first) - first);
	}
	return bits;
}

bool page_color_set_has(const struct page_color_set *set, u32 color,
			unsigned int order)
{
	u32 i = find_range(set, color);

	/* Ranges do not touch: one has all of the colors, or none has. */
	return i < set->nr && set->ranges[i].first <= color &&
	       set->ranges[i].last >= color + (1U << order) - 1;
}

/* Ranges looked at for a block: sets with more are meant for small pages. */
#define PAGE_COLOR_SET_RANGES	4096U

bool page_color_set_has_block(const struct page_color_set *set,
			      unsigned int order)
{
	u32 size = 1U << order, i;

	/*
	 * If it is no multiple, aligned blocks begin at any color: none is
	 * chosen.
	 */
	if (set->colors % size)
		return false;
	for (i = 0; i < min(set->nr, PAGE_COLOR_SET_RANGES); i++) {
		const struct page_color_range *range = &set->ranges[i];

		if (ALIGN((u64)range->first, size) + size <= range->last + 1ULL)
			return true;
	}
	return false;
}

u32 page_color_set_next(const struct page_color_set *set, u32 color)
{
	u32 i = find_range(set, color);

	if (i == set->nr)
		return set->ranges[0].first;
	return max(color, set->ranges[i].first);
}
