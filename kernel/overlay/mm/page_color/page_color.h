/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of mm/page_color and mm/page_alloc.c share. */
#ifndef _MM_PAGE_COLOR_H
#define _MM_PAGE_COLOR_H

#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/page_color.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include "choose.h"
#include "set.h"

struct cacheinfo;
struct node_cache_attrs;
struct seq_file;

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

/* An address space with one in so many of the pages of a cache is large. */
#define PAGE_COLOR_LARGE	128

/**
 * struct page_color_node - the cache of a node whose memory is colored
 * @rcu: freed after readers
 * @id: no other node, and no later geometry of this one, has it
 * @colors: pages of one way
 * @large: an address space with so many pages is given colors; a smaller one
 *         cannot fill more than 1/128 of the cache
 * @direct: direct-mapped: one page of each color fits, so that a bit tells
 *          whether there is room for another one
 * @live: how many address spaces hold each color; NULL for the cache of one
 *        processor, which they do not fill together
 */
struct page_color_node {
	struct rcu_head rcu;
	u64 id;
	u32 colors;
	unsigned long large;
	bool direct;
	struct page_color_live *live;
};

/* Changes under page_color_mutex. */
extern struct page_color_node __rcu *page_color_nodes[MAX_NUMNODES];

/**
 * struct page_color_vain - searches for frames that were not there
 * @want: what was searched for in vain: the next searches begin behind it
 * @skip: how many
 * @skipped: how many did so the last time
 */
struct page_color_vain {
	u8 want;
	u8 skip;
	u8 skipped;
};

/* Sets and orders that a zone remembers. */
#define PAGE_COLOR_VAIN_SETS	32

/**
 * struct page_color_vain_set - searches for any color of a set
 * @key: the set and the order
 * @skip: how many of the next ones are not made
 * @skipped: how many were not the last time
 */
struct page_color_vain_set {
	u64 key;
	u8 skip;
	u8 skipped;
};

/**
 * struct page_color_zone - coloring of one zone
 * @rcu: freed after readers
 * @node: id of the node's cache that it is for
 * @memory: what is chosen from; memory.free changes under zone->lock
 * @cursor: the next color where no address space has a cursor
 * @rest: the pageblock in use from which frames of any color were taken last
 * @low: where the search for pages of files ended behind the lowest ones, 0 at first
 * @vain: sets that had no free frame, or block
 */
struct page_color_zone {
	struct rcu_head rcu;
	u64 node;
	struct page_color_memory memory;
	u32 cursor;
	unsigned long rest;
	unsigned long low;
	struct page_color_vain_set vain[PAGE_COLOR_VAIN_SETS];
};

/* What is known of a zone and its node, if both are of the same geometry. */
struct page_color_place {
	struct page_color_zone *zone;
	struct page_color_node *node;
};

/* Under rcu_read_lock(). */
static inline bool page_color_place_of(struct page_color_place *place,
				       struct zone *zone)
{
	place->zone = rcu_dereference(zone->page_color);
	place->node = rcu_dereference(page_color_nodes[zone_to_nid(zone)]);
	return place->zone && place->node &&
	       place->zone->node == place->node->id;
}

/* It begins where small address spaces have just taken pages. */
#define PAGE_COLOR_NO_CURSOR	U32_MAX

/* Colors that it lacks and few hold, that it lacks, that few hold, and any. */
#define PAGE_COLOR_WANTS	4

/**
 * struct page_color_space - the colors that an address space holds in one node
 * @refs: of the address space, and of each CPU that has a run for it
 * @rcu: freed after readers
 * @next: the same for another node
 * @nid: the node
 * @kind: of the pages
 * @node: id of the node's cache
 * @lock: for @held, @rounded, @full_from and @gone, and where @marked grows. Nested in
 *        zone->lock, and outside of the locks of page_color_live.
 * @gone: replaced, or its address space is gone; it holds nothing any more
 * @recount: what it holds is not what its page tables say
 * @counted: what its page tables have is marked, by whoever counts
 * @direct: as that of the node's cache
 * @fresh: what its page tables had when it was made has not been counted yet
 * @marked: colors marked since it was counted; begins anew without the lock, now and
 *          then in vain
 * @crowd: colors of huge pages that the space held already, since it was counted
 * @crowded: the same before that
 * @crowds: how often it was counted for few of them
 * @vainly: how often in a row no page moved when it was counted for them
 * @walked: while it is counted, colors of pages that were counted; NULL if no page
 *          shall move
 * @seen: while it is counted, colors that were seen or marked since that began
 * @cursor: color to go on with, for each of what is wanted, or PAGE_COLOR_NO_CURSOR
 * @old_cursor: the same where those that were taken longest ago are searched for
 * @block_cursor: the same for blocks: what lies behind the last one is looked at first
 * @rounded: all colors were held, and a new round has begun, since this was cleared
 * @full_from: words from this one on count as held whatever @held says: the
 *             space has held all colors, so that what it holds of the next round
 *             makes no difference to others. Not a word if it has not.
 * @vain: what was searched for in vain
 * @held: the colors
 */
struct page_color_space {
	refcount_t refs;
	struct rcu_head rcu;
	struct page_color_space *next;
	int nid;
	enum page_color_kind kind;
	u64 node;
	/* Of what is held: see above. */
	spinlock_t lock;
	bool gone;
	bool recount;
	bool counted;
	bool direct;
	bool fresh;
	bool rounded;
	u32 marked;
	u32 crowd;
	u32 crowded;
	u8 crowds;
	u8 vainly;
	u32 cursor[PAGE_COLOR_WANTS];
	u32 old_cursor;
	u32 block_cursor;
	u32 full_from;
	struct page_color_vain vain;
	struct page_color_held *walked;
	struct page_color_held *seen;
	struct page_color_held held;
};

/* It has held all colors. */
static inline bool page_color_full(const struct page_color_space *space)
{
	return READ_ONCE(space->full_from) <
	       page_color_words(space->held.colors);
}

/* Pages of files are not held, but for those in memory only. */
static inline bool page_color_is_held(const struct folio *folio)
{
	return folio_test_anon(folio) || folio_test_swapbacked(folio);
}

/* Of pages that are held at all. */
static inline enum page_color_kind page_color_kind_of(const struct folio *folio)
{
	return folio_test_anon(folio) ? PAGE_COLOR_ANON : PAGE_COLOR_SHMEM;
}

static inline int page_color_counter(enum page_color_kind kind)
{
	return kind == PAGE_COLOR_ANON ? MM_ANONPAGES : MM_SHMEMPAGES;
}

/* Pages of a kind, but for what CPUs have not told yet. */
static inline unsigned long page_color_pages(struct mm_struct *mm,
					     enum page_color_kind kind)
{
	return get_mm_counter(mm, page_color_counter(kind));
}

/* One that has held all colors fits into the cache again with so many pages. */
static inline bool page_color_shrunk(const struct page_color_space *space,
				     unsigned long pages)
{
	return pages < space->held.colors - space->held.colors / 8;
}

/* With so many pages it cannot hold what is noted for it. */
static inline bool page_color_holds_less(const struct page_color_space *space,
					 unsigned long pages)
{
	return page_color_full(space) ? page_color_shrunk(space, pages) :
					pages < READ_ONCE(space->held.taken);
}

/* A list is as it was made until all of it is freed. */
static inline struct page_color_space *
page_color_find_space(struct page_color_space *space, int nid,
		      enum page_color_kind kind)
{
	while (space && (space->nid != nid || space->kind != kind))
		space = space->next;
	return space;
}

/* What an address space holds in a node, or NULL; under rcu_read_lock(). */
static inline struct page_color_space *
page_color_space(const struct mm_struct *mm, int nid, enum page_color_kind kind)
{
	return page_color_find_space(rcu_dereference(mm->page_color.spaces), nid,
				     kind);
}

/*
 * Until current has mapped a block, it holds the colors, but page tables do not say so.
 * Before they are marked; only if current says when it has mapped it.
 */
static inline void page_color_comes(struct page_color_space *space, u32 color,
				    unsigned int order)
{
	struct page_color_task *task = &current->page_color;

	if (!task->coming)
		return;
	WRITE_ONCE(task->coming_color, color);
	WRITE_ONCE(task->coming_order, order);
	WRITE_ONCE(task->coming, space);
}

/* It was lost, and has no colors any more. */
static inline void page_color_comes_not(void)
{
	if (current->page_color.coming)
		WRITE_ONCE(current->page_color.coming, PAGE_COLOR_TO_COME);
}

/* All of that has been said of a block. */
static inline bool page_color_is_coming(const struct page_color_space *space,
					u32 color, unsigned int order)
{
	const struct page_color_task *task = &current->page_color;

	return task->coming == space && task->coming_color == color &&
	       task->coming_order == order;
}

/* space.c */
void page_color_space_put(struct page_color_space *space);
/* Colors are held from now on, or no more. Return those that were not, or were. */
u64 page_color_mark(struct page_color_space *space, struct page_color_live *live,
		    u32 word, u64 mask);
u64 page_color_unmark(struct page_color_space *space,
		      struct page_color_live *live, u32 word, u64 mask);
/* As marked, for pages that were allocated just now. */
u64 page_color_take(struct page_color_space *space, struct page_color_live *live,
		    u32 word, u64 mask);
/* As taken, but only those that the space lacks and, where it counts, few hold. */
u64 page_color_claim(struct page_color_space *space, struct page_color_live *live,
		     u32 word, u64 mask);
/*
 * All colors of a block that current has got are taken, of which so many are @claimed;
 * those held already are a crowd.
 */
void page_color_take_block(struct page_color_space *space, unsigned long frame,
			   unsigned int order, unsigned int claimed);
/* Current has not got a block of which so many colors are @claimed. */
void page_color_lose_block(struct page_color_space *space, unsigned long frame,
			   unsigned int order, unsigned int claimed);
void page_color_unmark_frames(struct page_color_space *space,
			      unsigned long frame, unsigned long nr);

/* recount.c */
/*
 * Whoever counts for others gives up where the others are gone, or when the machine
 * sleeps; and for himself when he is killed.
 */
bool page_color_is_in_vain(const struct mm_struct *mm);
/*
 * A huge page of an address space, in node @nid, has colors that small ones have,
 * too: so many. When the colors are counted the next time, these move.
 */
void page_color_crowd(struct mm_struct *mm, int nid, unsigned int pages);

/* again.c */
/* Pages that move at once, and for which as many are taken. */
#define PAGE_COLOR_AGAIN	512U
/* Each time that colors are counted at most so many move, one part after the other. */
#define PAGE_COLOR_AGAIN_MOST	32768U
/* To move one page takes as long as to look at so many. */
#define PAGE_COLOR_PAYS		64

/**
 * struct page_color_again - pages of an address space that another color is better for
 * @own: isolated, by folio->lru: another page of the address space has their color
 * @others: the same: other address spaces have it
 * @nr: how many
 * @most: how many may move
 * @moved: of them, how many have moved
 * @batch: how many are left to move now: those of one list and node
 * @mm: the address space
 * @least: what the colors are that they move to, as for page_color_gather()
 * @ready: pages to move to, of which as many are taken at once as move
 */
struct page_color_again {
	struct list_head own;
	struct list_head others;
	unsigned int nr;
	unsigned int most;
	unsigned int moved;
	unsigned int batch;
	struct mm_struct *mm;
	unsigned int least;
	struct list_head ready;
};

/* So many pages take as long to move as it takes to look for them. */
static inline unsigned int page_color_again_pays(struct mm_struct *mm)
{
	return page_color_pages(mm, PAGE_COLOR_ANON) / PAGE_COLOR_PAYS;
}

static inline void page_color_again_begin(struct page_color_again *again,
					  struct mm_struct *mm)
{
	INIT_LIST_HEAD(&again->own);
	INIT_LIST_HEAD(&again->others);
	again->nr = 0;
	again->most = clamp(page_color_again_pays(mm), PAGE_COLOR_AGAIN,
			    PAGE_COLOR_AGAIN_MOST);
	again->moved = 0;
	again->mm = mm;
	INIT_LIST_HEAD(&again->ready);
}

#ifdef CONFIG_MIGRATION
/* One more, if it may move; under the lock of its page table. */
void page_color_again_add(struct page_color_again *again,
			  struct vm_area_struct *vma, struct folio *folio,
			  bool own);
/*
 * They move, as far as they can. No lock is held. Whether more may be left that can
 * move, too: there were as many as may move, and most have.
 */
bool page_color_again_move(struct page_color_again *again);
#else
static inline void page_color_again_add(struct page_color_again *again,
					struct vm_area_struct *vma,
					struct folio *folio, bool own) { }
static inline bool page_color_again_move(struct page_color_again *again)
{
	return false;
}
#endif

/* core.c: state; all changes under page_color_mutex */
extern struct mutex page_color_mutex;
/* by node; the geometry in force, or that would be if enabled */
extern struct page_color_geometry page_color_geometries[MAX_NUMNODES];

/*
 * Takes page_color_mutex. Enabling looks at the free lists of all zones. -ENODEV
 * if no node has a cache to color for.
 */
int page_color_enable(bool enable);
/* Another geometry for all nodes; -EBUSY while enabled. Takes the mutex. */
int page_color_set_geometry(const struct page_color_geometry *geometry);
/* Ask page_color_detect() for all nodes again; -EBUSY while enabled. */
int page_color_detect_geometry(void);
/* The most colors of any node, 0 if no node has a cache to color for. */
u32 page_color_max_colors(void);

/* Look for free frames from @pfn to @end; under zone->lock. */
void page_color_look(struct zone *zone, unsigned long pfn, unsigned long end);

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
 * "SIZE[,ways=N]", any of it: a size with suffix, or plain kB. Fills what is
 * named. -EINVAL, with the reason in *error.
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
 * @nr: number of ranges
 * @ranges: ascending, not touching each other
 */
struct page_color_set {
	u64 id;
	u64 parts[2];
	refcount_t refs;
	struct rcu_head rcu;
	u32 colors;
	u32 nr;
	struct page_color_range ranges[] __counted_by(nr);
};

/* set.c */
/* Before a set is given. Takes cpus_read_lock(). */
void page_color_sets_begin(void);

/*
 * A set from a list as for bitmap_parselist(), which is overwritten. NULL if it
 * names all @colors. -EINVAL if it names none, or others.
 */
struct page_color_set *page_color_set_parse(char *list, u32 colors);
/* Colors that are in both, of sets of the same number of colors. NULL if none. */
struct page_color_set *page_color_set_both(const struct page_color_set *a,
					   const struct page_color_set *b);
/* Whether there are 2^@order colors in a row, aligned, that are all in the set. */
bool page_color_set_has_block(const struct page_color_set *set,
			      unsigned int order);
/* Whether 2^@order colors from @color on are all in the set. */
bool page_color_set_has(const struct page_color_set *set, u32 color,
			unsigned int order);
/* A reference to the set that is there, or NULL. */
struct page_color_set *page_color_set_get(struct page_color_set __rcu **from);
/* @set may be NULL. */
void page_color_set_put(struct page_color_set *set);
/* Ascending ranges and a newline. */
void page_color_set_show(struct seq_file *m, const struct page_color_set *set);

/* control.c */
/* page_color_detect_geometry() with its locks. */
int page_color_detect_all(void);

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
/* Free frames by color, of a zone that is colored; page_color_mutex held. */
void page_color_count(const struct zone *zone, u32 first, u32 nr, u32 *counts);

/* proc.c */
/* Colors of a zone, 0 if it is not colored; page_color_mutex held. */
u32 page_color_zone_colors(const struct zone *zone);

/* task.c */
/* The colors that a task may use, NULL for all; under rcu_read_lock(). */
struct page_color_set *page_color_task_set(struct task_struct *task);

const struct page_color_set *__page_color_set_of(const struct mm_struct *mm);

/*
 * What the memory of @mm may use, NULL for all: the colors of the current task if it is
 * its own or @mm is NULL, else those of its owner. An interrupt may use all. Under
 * rcu_read_lock(), as long as the set is used. Whoever asks ignores a set whose
 * number of colors is not that of the zone.
 */
static inline const struct page_color_set *
page_color_set_of(const struct mm_struct *mm)
{
	if (!static_branch_unlikely(&page_color_sets_key))
		return NULL;
	return __page_color_set_of(mm);
}

/* The same for memory of a node: NULL if the set is of another number of colors. */
const struct page_color_set *
page_color_set_of_node(const struct mm_struct *mm, int nid);

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

/* alloc.c, for mm/page_alloc.c */

/**
 * struct page_color_ask - for whom an allocation is
 * @space: the address space, if it has been given colors
 * @set: colors that the task may use, if not all
 * @file: a page of a file
 */
struct page_color_ask {
	struct page_color_space *space;
	const struct page_color_set *set;
	bool file;
};

/*
 * Interrupts ask for nobody, and neither does who reclaims memory on the way: its pages
 * are not those that the task will use.
 */
static __always_inline bool page_color_may_ask(void)
{
	return in_task() && !(current->flags & PF_MEMALLOC);
}

/*
 * For whom the current task allocates, in @ask, which is zeroed. False if nobody in
 * particular asks; else under rcu_read_lock() while used.
 */
static __always_inline bool page_color_ask(struct page_color_ask *ask, int nid)
{
	struct mm_struct *whom = current->page_color.whom;

	if (!page_color_may_ask())
		return false;
	ask->file = whom == PAGE_COLOR_FILE;
	if (static_branch_unlikely(&page_color_sets_key))
		ask->set = page_color_set_of_node(ask->file ? NULL : whom, nid);
	if (unlikely(ask->file))
		return true;
	if (whom)
		ask->space = page_color_space(whom, nid,
					      current->page_color.kind);
	return ask->space || ask->set;
}

/* Nobody in particular asks, but it is for an address space: one that is small yet. */
static inline bool page_color_is_small(void)
{
	return page_color_may_ask() && current->page_color.whom;
}

/*
 * The current task makes a huge page of small ones, without being asked. Nobody holds
 * pages of files: these may be of programs with other sets.
 */
static inline bool page_color_is_khugepaged(void)
{
	const struct page_color_leaving *leaving = current->page_color.leaving;

	return leaving && leaving->kind != PAGE_COLOR_KINDS &&
	       current->flags & PF_KTHREAD;
}

/* Whether the pages that a CPU has ready are for those that ask. */
static inline bool page_color_run_fits(const struct page_color_run *run,
				       const struct page_color_ask *ask)
{
	return run->space == ask->space &&
	       run->set == (ask->set ? ask->set->id : 0);
}

/* From now on they are: those of another one have been given back. */
void page_color_run_begin(struct page_color_run *run,
			  const struct page_color_ask *ask);

/*
 * Pages that were freed last and have the colors that are wanted most: at most
 * @count go from @freed to the end of @list, and are marked. Returns how many.
 */
unsigned int page_color_reuse(struct zone *zone,
			      const struct page_color_ask *ask,
			      unsigned int count, struct list_head *freed,
			      struct list_head *list);
/*
 * Frames to take: at most @count, in at most PAGE_COLOR_PARTS parts, of colors that
 * are all of @least: PAGE_COLOR_LACKED, PAGE_COLOR_FEW. Those that the space did not
 * hold are marked. Returns the number of parts; 0 if the default path must decide.
 */
unsigned int page_color_gather(struct zone *zone,
			       const struct page_color_ask *ask,
			       unsigned int least, unsigned int count,
			       struct page_color_part *parts);
/* The same for whoever is small: colors that few hold. */
unsigned int page_color_gather_small(struct zone *zone, unsigned int count,
				     struct page_color_part *parts);
/* The same for a page of a file: the lowest pageblock with free frames. */
unsigned int page_color_gather_file(struct zone *zone, unsigned int count,
				    struct page_color_part *parts);
/*
 * Colors of a block, from @color on, that the space lacks and few hold are held from now
 * on, if they are at least @least. Returns how many, or 0.
 */
unsigned int page_color_claim_block(struct page_color_space *space,
				    struct page_color_live *live, u32 color,
				    unsigned int order, unsigned int least);
/**
 * struct page_color_blocks - a block to take, and more of its order behind it
 * @order: that of each
 * @frame: where the first one begins
 * @claimed: so many of its colors are held from now on, and were not before
 * @more: frames of the others, from @frame on; all of their colors are held from now on,
 *	  and were not before
 */
struct page_color_blocks {
	unsigned int order;
	unsigned long frame;
	unsigned int claimed;
	u64 more;
};

/*
 * A block to take of @blocks->order, and of those behind it that are as good @more, of
 * fewer than 64 frames each. False if the default path must decide.
 */
bool page_color_gather_blocks(struct zone *zone,
			      const struct page_color_ask *ask,
			      unsigned int more,
			      struct page_color_blocks *blocks);

/* Files took the lowest frames: pageblocks that have none are passed; under zone->lock. */
void page_color_file_low(struct zone *zone);

/* Frames that a part lost before they were taken. */
void page_color_lost(struct zone *zone, const struct page_color_ask *ask,
		     const struct page_color_part *part, u64 lost);

/* owner.c */
/*
 * Who has a folio, with a reference; of several, one. NULL if that one is small and has
 * no set, if nobody holds such pages, or if a lock is contended: who waits for it may
 * move the folio all the same, to a color that few hold. May sleep.
 */
struct mm_struct *page_color_owner(struct folio *folio);
/* @owner may be NULL. */
void page_color_owner_put(struct mm_struct *owner);

/* compact.c, for mm/compaction.c and mm/page_alloc.c */
/*
 * A frame to which compaction can move a small folio: one of the same color, or else
 * of one that few hold and who has the folio does not, which is held from now on; at
 * or after @best, or else @from, but not in a pageblock that is free as a whole,
 * since to make those is what pages are moved for. May sleep.
 */
bool page_color_find_place(struct zone *zone, struct folio *folio,
			   unsigned long best, unsigned long from,
			   unsigned long *found);
/*
 * Whether a page for which there is no such place stays where it is, if nobody in
 * particular needs the block. In the cache of one processor, which programs do not
 * fill together, it takes any frame.
 */
bool page_color_keeps(struct zone *zone);
/*
 * Where compaction's free scanner is, after it has placed @colored pages by
 * itself: it passes as many free frames.
 */
unsigned long page_color_advance(struct zone *zone, unsigned long free_pfn,
				 unsigned long migrate_pfn,
				 unsigned int *colored);

/* Whether free pages of this type are chosen from. */
static inline bool page_color_movable(int migratetype)
{
	return migratetype == MIGRATE_MOVABLE || is_migrate_cma(migratetype);
}

/* Of the frames up to @end, the largest aligned block that begins with @pfn. */
static inline unsigned int page_color_block_order(unsigned long pfn,
						  unsigned long end)
{
	return min_t(unsigned int, __fls(end - pfn),
		     pfn ? __ffs(pfn) : MAX_PAGE_ORDER);
}

/* Free frames of a zone; under zone->lock. NULL where nothing is colored. */
static inline struct page_color_free *page_color_zone_free(struct zone *zone)
{
	struct page_color_zone *coloring =
		rcu_dereference_protected(zone->page_color,
					  lockdep_is_held(&zone->lock));

	return coloring ? coloring->memory.free : NULL;
}

/* mm/page_alloc.c */
/* Gives back what CPUs have ready for a space that is gone. */
void page_color_drop_runs(const struct page_color_space *space);
/* Gives back movable pages that wait on the lists of this CPU. */
void page_color_drain_local(int nid);
/*
 * At most @count pages of the best colors for an address space, which are all of
 * @least, as for page_color_gather(), and held from now on: to the end of @list, by
 * page->lru. Fewer, or none, if memory is scarce. Between page_color_begin() and the
 * end.
 */
void page_color_alloc_best(struct mm_struct *mm, int nid, unsigned int least,
			   unsigned int count, struct list_head *list);
/* Allocates what page_color_find_place() finds; NULL if memory is scarce. */
struct page *page_color_alloc_place(struct zone *zone, struct folio *folio,
				    unsigned long best, unsigned long from);

#endif /* _MM_PAGE_COLOR_H */
