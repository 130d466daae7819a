// SPDX-License-Identifier: GPL-2.0-only
/*
 * The static policy of Johnny Cache (OSDI 2023): a page that user space may have goes
 * to a least used bucket of the direct-mapped cache, by the number of such pages that
 * the bucket has already, whoever they belong to. Among buckets that are used as little
 * they are taken in turn.
 */

#include <linux/bitmap.h>
#include <linux/lab.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

/* A bucket with more pages is as one with so many. */
#define LEVELS 32

static unsigned long lab_buckets;
module_param_named(buckets, lab_buckets, ulong, 0444);
MODULE_PARM_DESC(buckets, "pages of the cache; 0: off");

static DEFINE_SPINLOCK(buckets_lock);
static unsigned short *used;              /* pages of a bucket */
static unsigned long *at_level[LEVELS];   /* buckets that have so many */
static unsigned long next_at[LEVELS];     /* where to go on */
static unsigned long *counted;            /* frames that are in used */
static unsigned long frames;
static bool ready __read_mostly;

static unsigned int level_of(unsigned long bucket)
{
	return min_t(unsigned int, used[bucket], LEVELS - 1);
}

static void change(unsigned long bucket, int by)
{
	__clear_bit(bucket, at_level[level_of(bucket)]);
	used[bucket] += by;
	__set_bit(bucket, at_level[level_of(bucket)]);
}

static struct page *from_bucket(struct zone *zone, unsigned long bucket)
{
	unsigned long pfn = roundup(zone->zone_start_pfn, lab_buckets) + bucket;

	if (pfn >= zone->zone_start_pfn + lab_buckets)
		pfn -= lab_buckets;
	for (; pfn < zone_end_pfn(zone); pfn += lab_buckets) {
		struct page *page = pfn_valid(pfn) ? lab_take(zone, pfn) : NULL;

		if (page)
			return page;
	}
	return NULL;
}

static struct page *from_level(struct zone *zone, unsigned int level)
{
	unsigned long begin = next_at[level], bucket;
	struct page *page;

	for_each_set_bit_wrap(bucket, at_level[level], lab_buckets, begin) {
		page = from_bucket(zone, bucket);
		if (!page)
			continue;
		next_at[level] = bucket + 1 < lab_buckets ? bucket + 1 : 0;
		__set_bit(page_to_pfn(page), counted);
		change(bucket, 1);
		return page;
	}
	return NULL;
}

/* NULL for what is no page of user space, or if no bucket has a free frame. */
struct page *lab_least_used(struct zone *zone, unsigned int order, int migratetype)
{
	struct page *page = NULL;
	unsigned long flags;

	if (!ready || order || migratetype != MIGRATE_MOVABLE)
		return NULL;
	spin_lock_irqsave(&zone->lock, flags);
	spin_lock(&buckets_lock);
	for (unsigned int level = 0; level < LEVELS && !page; level++)
		page = from_level(zone, level);
	spin_unlock(&buckets_lock);
	spin_unlock_irqrestore(&zone->lock, flags);
	return page;
}

void lab_freed(struct page *page, unsigned int order)
{
	unsigned long pfn = page_to_pfn(page), end = pfn + (1UL << order), flags;

	if (!ready)
		return;
	spin_lock_irqsave(&buckets_lock, flags);
	for (; pfn < end && pfn < frames; pfn++)
		if (__test_and_clear_bit(pfn, counted))
			change(pfn % lab_buckets, -1);
	spin_unlock_irqrestore(&buckets_lock, flags);
}

/* Pages that are in use by now are the kernel's own, and those of a file system in memory. */
static int __init buckets_init(void)
{
	size_t size = BITS_TO_LONGS(lab_buckets) * sizeof(long);

	if (!lab_buckets)
		return 0;
	frames = max_pfn;
	used = vzalloc(array_size(lab_buckets, sizeof(*used)));
	counted = vzalloc(BITS_TO_LONGS(frames) * sizeof(long));
	if (!used || !counted)
		return -ENOMEM;
	for (unsigned int level = 0; level < LEVELS; level++) {
		at_level[level] = vzalloc(size);
		if (!at_level[level])
			return -ENOMEM;
	}
	bitmap_fill(at_level[0], lab_buckets);
	WRITE_ONCE(ready, true);
	return 0;
}
late_initcall(buckets_init);
