/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of mm/page_color and mm/page_alloc.c share. */
#ifndef _MM_PAGE_COLOR_H
#define _MM_PAGE_COLOR_H

#include <linux/mmzone.h>
#include <linux/page_color.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include "index.h"

struct cacheinfo;
struct node_cache_attrs;
struct seq_file;

/* The lists that movable user memory is taken from. */
enum page_color_list {
	PAGE_COLOR_MOVABLE,
#ifdef CONFIG_CMA
	PAGE_COLOR_CMA,
#endif
	PAGE_COLOR_LISTS,
};

/**
 * struct page_color_geometry - the cache of a node
 * @size: bytes, 0 if there is none worth coloring
 * @ways: associativity
 * @colors: pages of one way
 * @source: where this was learned from, for people
 */
struct page_color_geometry {
	unsigned long size;
	unsigned int ways;
	unsigned long colors;
	char source[64];
};

/* Allocations as they came out; under zone->lock. */
struct page_color_stats {
	unsigned long exact;	/* the wanted color */
	unsigned long next;	/* the next color that existed */
	unsigned long fallback;	/* no block in the index, or none of the set */
};

/**
 * struct page_color_zone - coloring of one zone, under zone->lock
 * @index: free blocks by color
 * @colors: their number
 * @ready: whether all free blocks are in the index
 * @cursor: the next color in sequence, for each order
 * @follow: the frame after the last one given out, for each order
 * @stats: how allocations came out
 */
struct page_color_zone {
	struct page_color_index *index;
	unsigned long colors;
	bool ready;
	unsigned long cursor[NR_PAGE_ORDERS];
	unsigned long follow[NR_PAGE_ORDERS];
	struct page_color_stats stats;
};

/* core.c: state; all changes under page_color_mutex */
extern struct mutex page_color_mutex;
/* by node; the geometry in force, or that would be if enabled */
extern struct page_color_geometry page_color_geometries[MAX_NUMNODES];

/*
 * Takes page_color_mutex. Enabling builds the index of all zones from their
 * free lists, disabling frees it. -ENODEV if no node has a cache to color for.
 */
int page_color_enable(bool enable);
/* Another geometry for all nodes; -EBUSY while enabled. Takes the mutex. */
int page_color_set_geometry(const struct page_color_geometry *geometry);
/* Ask page_color_detect() for all nodes again; -EBUSY while enabled. */
int page_color_detect_geometry(void);

/* detect.c */
/*
 * The cache of a node: memory-side cache from HMAT if direct-mapped, else the
 * last private level of cacheinfo. Impossible geometry is rejected. -ENODEV,
 * with the reason logged, if there is none. The caller holds cpus_read_lock(),
 * which comes before page_color_mutex, and that mutex. The reason is logged once
 * for each node, until it has a cache.
 */
int page_color_detect(int nid, struct page_color_geometry *geometry);
/* geometry.c */
/*
 * "SIZE[,ways=N]", or one of them: a size with suffix, or plain kB. Fills what
 * is named. -EINVAL, with the reason in *error.
 */
int page_color_parse(const char *text, struct page_color_geometry *geometry,
		     const char **error);
/* Fills colors from size and ways; -EINVAL with the reason in *error. */
int page_color_check_geometry(struct page_color_geometry *geometry,
			      const char **error);
/* The geometry of a cache in front of memory; -EINVAL as above. */
int page_color_check_side(const struct node_cache_attrs *attrs,
			  struct page_color_geometry *geometry,
			  const char **error);
/* Whether what a processor tells of a cache can be true; -EINVAL as above. */
int page_color_check_leaf(const struct cacheinfo *leaf, const char **error);
/* Whether frames of the node compete at all; -EINVAL as above. */
int page_color_check_node(int nid, const struct page_color_geometry *geometry,
			  const char **error);

struct page_color_range {
	u32 first;
	u32 last;
};

/**
 * struct page_color_set - colors that tasks may use: not all and not none
 * @id: of no other set that there ever was, from 1
 * @parts: the sets whose common colors these are, 0 if it was read from a list
 * @refs: tasks and cpusets that have it
 * @rcu: freed after readers
 * @colors: how many colors there were when the set was made; with any other
 *          number the set has no meaning and is ignored
 * @next: where the color of the next page is looked for
 * @nr: number of ranges
 * @ranges: ascending, not touching each other
 */
struct page_color_set {
	u64 id;
	u64 parts[2];
	refcount_t refs;
	struct rcu_head rcu;
	u32 colors;
	u32 next;
	u32 nr;
	struct page_color_range ranges[] __counted_by(nr);
};

/* boot.c */
/* page_color_detect_geometry() with its locks. */
int page_color_detect_all(void);

/* control.c */
/*
 * Checks a geometry, fills its colors and makes it that of all nodes. -EINVAL
 * with the reason in *error, -EBUSY while enabled.
 */
int page_color_use_geometry(struct page_color_geometry *geometry,
			    const char **error);

/* What one value of a geometry is shown as; room for any of them. */
#define PAGE_COLOR_TEXT	64
typedef void (*page_color_text_fn)(char *text,
				   const struct page_color_geometry *geometry);
void page_color_size_text(char *text, const struct page_color_geometry *geometry);
void page_color_ways_text(char *text, const struct page_color_geometry *geometry);
void page_color_colors_text(char *text,
			    const struct page_color_geometry *geometry);
void page_color_source_text(char *text,
			    const struct page_color_geometry *geometry);

/* count.c */
/* Of a zone with an index; page_color_mutex held. */
void page_color_count(const struct zone *zone, u32 first, u32 nr, u32 *counts);
/* The lower median of numbers from @min to @max. */
u32 page_color_median(const u32 *counts, u32 nr, u32 min, u32 max);

/* task.c */
/* The most colors of any node, 0 if no node has a cache to color for. */
u32 page_color_max_colors(void);

/* On as soon as a task or a cpuset has been given a set, and for good. */
DECLARE_STATIC_KEY_FALSE(page_color_sets_key);
/* Before a set is given. Takes cpus_read_lock(). */
void page_color_sets_begin(void);

const struct page_color_set *__page_color_current_set(void);

/*
 * What the current task may use, NULL for all; an interrupt may use all. Under
 * rcu_read_lock(), as long as the set is used. Whoever asks ignores a set whose
 * number of colors is not that of the zone.
 */
static inline const struct page_color_set *page_color_current_set(void)
{
	if (!static_branch_unlikely(&page_color_sets_key))
		return NULL;
	return __page_color_current_set();
}

/*
 * Gives a task a set, or NULL, and takes over the reference if that is possible.
 * -EINVAL if it has no color in common with the task's cpuset.
 */
int page_color_task_replace(struct task_struct *task,
			    struct page_color_set *set);

/* cgroup.c, as far as there are cpusets */
#ifdef CONFIG_CPUSETS
/* The colors of a task's cpuset, NULL for all; under rcu_read_lock(). */
struct page_color_set *page_color_task_cpuset(struct task_struct *task);
/* The number of colors may have changed: which sets count may change, too. */
void page_color_cpusets_update(void);
/* The same, soon, for callers that hold locks. */
void page_color_cpusets_update_later(void);
#else
static inline void page_color_cpusets_update(void) { }
static inline void page_color_cpusets_update_later(void) { }
#endif

/* set.c */
/*
 * A set from a list as for bitmap_parselist(), which is overwritten. NULL if it
 * names all @colors. -EINVAL if it names none, or others.
 */
struct page_color_set *page_color_set_parse(char *list, u32 colors);
/* Colors that are in both, of sets of the same number of colors. NULL if none. */
struct page_color_set *page_color_set_both(const struct page_color_set *a,
					   const struct page_color_set *b);
/* A reference to the set that is there, or NULL. */
struct page_color_set *page_color_set_get(struct page_color_set __rcu **from);
/* @set may be NULL. */
void page_color_set_put(struct page_color_set *set);
/* Ascending ranges and a newline. */
void page_color_set_show(struct seq_file *m, const struct page_color_set *set);
/* Bit i: whether color 64 * @word + i is in the set; 0 after the last color. */
u64 page_color_set_word(const struct page_color_set *set, u32 word);
/* The first color of the set at or after @color, cyclically. */
u32 page_color_set_next(const struct page_color_set *set, u32 color);
/* How many colors from @color on, not wrapping, are in the set: 0 if it is not. */
u32 page_color_set_run(const struct page_color_set *set, u32 color);

/* in mm/page_alloc.c */
/* What the lists of CPUs may hold, after page_color_key. */
void page_color_update_pcp(void);
/*
 * Allocates the frames that page_color_pick_same() chooses for a page. NULL if
 * there are none, or if memory is too scarce.
 */
struct page *page_color_alloc_same(struct zone *zone, struct page *page,
				   unsigned int order, bool ahead);

/* alloc.c, for mm/page_alloc.c */

/**
 * struct page_color_wish - what an allocation would like
 * @set: colors it may use, or NULL; valid under the caller's rcu_read_lock()
 * @hint: its place in an address space or file, if it has one
 * @done: pages that it has got in this run
 * @run: how long the run shall be, a power of two; it ends at a multiple of it
 */
struct page_color_wish {
	struct page_color_set *set;
	struct page_color_hint hint;
	unsigned int done;
	unsigned int run;
};

/* What current would like; under rcu_read_lock() as long as @wish is used. */
static inline void page_color_wish(struct page_color_wish *wish)
{
	wish->set = NULL;
	wish->hint.valid = false;
	wish->done = 0;
	wish->run = 1;
	/* An interrupt has no place, and no set of its own. */
	if (!in_task())
		return;
	wish->set = (struct page_color_set *)page_color_current_set();
	/* A hint is for one allocation, this one. */
	if (page_color_hinted()) {
		wish->hint = current->page_color.hint;
		current->page_color.hint.valid = false;
	}
}

/* Tells places apart, and the place after a place is the next number. */
static inline u64 page_color_place(const struct page_color_wish *wish)
{
	return wish->hint.page + ((u64)wish->hint.offset << 32);
}

/* Whether the first page of a CPU's run is right for a wish. */
static inline bool page_color_run_fits(const struct page_color_run *run,
				       const struct page_color_wish *wish)
{
	if (run->set != wish->set)
		return false;
	return !wish->hint.valid || run->key == page_color_place(wish);
}

/*
 * A new run begins: how many pages it may have, a power of two. @went_on:
 * whether the last run was used up.
 */
unsigned int page_color_run_begin(struct page_color_run *run,
				  struct page_color_wish *wish,
				  unsigned int batch, bool went_on);

static inline void page_color_run_took(struct page_color_run *run)
{
	run->key++;
}

/*
 * Whether an order has more than one color in this zone: a block that contains
 * all colors needs no choice.
 */
static inline bool page_color_matters(struct zone *zone, unsigned int order)
{
	return page_color_geometries[zone_to_nid(zone)].colors >> order > 1;
}

/**
 * page_color_pick() - choose the next pages; zone->lock held
 * @zone: the zone
 * @list: the list to take from
 * @order: order of the allocation
 * @max: at most so many pages in a row, for order 0
 * @wish: what is wanted; @wish->done goes on
 * @found: the free block, and in it the first page to take
 *
 * The caller takes what is returned: the choice is counted and the next one
 * follows it.
 *
 * Return: number of pages from @found->frame on, 0 if the default path must
 * decide.
 */
unsigned int page_color_pick(struct zone *zone, enum page_color_list list,
			     unsigned int order, unsigned int max,
			     struct page_color_wish *wish,
			     struct page_color_block *found);

/**
 * page_color_pick_same() - choose where a page can move and keep its color
 * @zone: the zone; its lock is held
 * @pfn: where the page is
 * @order: its order
 * @ahead: nobody waits for it; only from the first half of the zone to the
 *         second, so that no page moves twice
 * @found: the free block, and in it the first frame to take
 *
 * Always in a pageblock after the one that it leaves, the last there is: what
 * has been moved does not move back. Never in a free block of that size or
 * more: to make those is what pages are moved for.
 *
 * Return: whether there is such a place.
 */
bool page_color_pick_same(struct zone *zone, unsigned long pfn,
			  unsigned int order, bool ahead,
			  struct page_color_block *found);

/* The index has been found wrong; zone->lock held. */
void page_color_distrust(struct zone *zone);

#endif /* _MM_PAGE_COLOR_H */
