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
 * @source: where this is from, as text for people
 */
struct page_color_geometry {
	unsigned long size;
	unsigned int ways;
	unsigned long colors;
	char source[64];
};

/* An address space with one page for each 128 pages of a cache is large. */
#define PAGE_COLOR_LARGE	128

/**
 * struct page_color_node - the cache of a node whose memory is colored
 * @rcu: freed after readers
 * @id: differs from that of every other node, and of a later geometry of this one
 * @colors: pages of one way
 * @large: an address space with so many pages is given colors; a smaller one fills
 *         less than 1/128 of the cache
 * @direct: the cache is direct-mapped: it has room for one page of each color, so
 *          that a bit tells whether there is room for another page
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
 * struct page_color_vain - what follows after searches that found no free frame
 * @want: index of the want with which searches begin that are skipped
 * @skip: which ones do so
 */
struct page_color_vain {
	u8 want;
	struct page_color_skip skip;
};

/**
 * struct page_color_shared - what follows after searches that found only blocks with
 *                            colors that the space holds
 * @order: of the blocks
 * @rank: of the best one: searches that are skipped end with one that is as good
 * @taken: how many colors the space held then
 * @skip: which ones do so
 */
struct page_color_shared {
	unsigned int order;
	u64 rank;
	u32 taken;
	struct page_color_skip skip;
};

/* The most pairs of a set and an order for which a zone notes such searches. */
#define PAGE_COLOR_VAIN_SETS	32

/**
 * struct page_color_vain_set - the same for searches for any color of a set
 * @key: the set and the order
 * @skip: which ones are not made
 */
struct page_color_vain_set {
	u64 key;
	struct page_color_skip skip;
};

/**
 * struct page_color_zone - coloring of one zone
 * @rcu: freed after readers
 * @node: id of the node's cache that it is for
 * @memory: the memory that is chosen from; memory.free changes under zone->lock
 * @cursor: the color to begin with for allocations without a cursor of their own
 * @rest: the pageblock in use from which frames of any color were taken last
 * @low: where frames for files were last found behind the lowest ones, 0 at first
 * @vain: searches for sets that found no free frame, or block
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

/* The coloring of a zone and of its node, if both are of the same geometry. */
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

/* The search begins at the zone's cursor, behind the colors that small programs took. */
#define PAGE_COLOR_NO_CURSOR	U32_MAX

/* Wants: lacked colors that few hold, lacked ones, ones that few hold, and any. */
#define PAGE_COLOR_WANTS	4

/**
 * struct page_color_space - the colors that an address space holds in one node
 * @refs: one of the address space, and one of each CPU that has a run for it
 * @rcu: freed after readers
 * @next: the next one, for another node or kind
 * @nid: the node
 * @kind: the kind of pages
 * @node: id of the node's cache
 * @lock: for @held, @rounded, @full_from and @gone, and where @marked grows. Nested in
 *        zone->lock, and outside of the locks of page_color_live.
 * @gone: it was replaced, or its address space has ended; it holds nothing any more
 * @recount: it is to be counted, since it may not hold what its page tables say
 * @counted: it is being counted: colors of pages in its page tables are marked
 * @direct: whether the node's cache is direct-mapped
 * @fresh: the pages that its page tables had when it was made are not counted yet
 * @began: it has taken colors
 * @marked: colors marked since it was counted; it is set to 0 without the lock, and
 *          another CPU may overwrite that
 * @failed: pages of huge pages that did not take the place of small ones, since it was
 *          counted for these
 * @walked: while it is counted, colors of pages that were counted; NULL if no page
 *          shall move
 * @seen: while it is counted, colors that were seen or marked since the count began;
 *        NULL in a first count
 * @cursor: color to begin the next search with, for each want, or PAGE_COLOR_NO_CURSOR
 * @old_cursor: the same for colors that were taken longest ago
 * @block_cursor: the same for blocks
 * @rounded: all colors were held, and a new round has begun, since this was cleared
 * @full_from: words from this one on count as held whatever @held says: the
 *             space has held all colors, so that what it holds of the next round
 *             makes no difference to others. Not a word if it has not.
 * @vain: searches that found no free frame
 * @shared: searches that found no block of colors that it lacks
 * @room: attempts to move small pages that have colors of a larger one
 * @held: the colors that it holds
 */
struct page_color_space {
	refcount_t refs;
	struct rcu_head rcu;
	struct page_color_space *next;
	int nid;
	enum page_color_kind kind;
	u64 node;
	/* See @lock above. */
	spinlock_t lock;
	bool gone;
	bool recount;
	bool counted;
	bool direct;
	bool fresh;
	bool began;
	bool rounded;
	u32 marked;
	u32 failed;
	u32 cursor[PAGE_COLOR_WANTS];
	u32 old_cursor;
	u32 block_cursor;
	u32 full_from;
	struct page_color_vain vain;
	struct page_color_shared shared;
	struct page_color_skip room;
	struct page_color_held *walked;
	struct page_color_held *seen;
	struct page_color_held held;
};

/* Whether the space has held all colors. */
static inline bool page_color_full(const struct page_color_space *space)
{
	return READ_ONCE(space->full_from) <
	       page_color_words(space->held.colors);
}

/*
 * Whether address spaces hold pages of a folio: not those of files, but for files in
 * memory (shmem), of hugetlb, and of devices. Pages that may be dropped (MADV_FREE) are
 * anonymous, but not swapbacked.
 */
static inline bool page_color_is_held(const struct folio *folio)
{
	return (folio_test_anon(folio) || folio_test_swapbacked(folio)) &&
	       !folio_test_hugetlb(folio) && !folio_is_zone_device(folio);
}

/* The kind of pages that are held at all. */
static inline enum page_color_kind page_color_kind_of(const struct folio *folio)
{
	return folio_test_anon(folio) ? PAGE_COLOR_ANON : PAGE_COLOR_SHMEM;
}

static inline int page_color_counter(enum page_color_kind kind)
{
	return kind == PAGE_COLOR_ANON ? MM_ANONPAGES : MM_SHMEMPAGES;
}

/* Pages of a kind, without what CPUs have not added to the counter yet. */
static inline unsigned long page_color_pages(struct mm_struct *mm,
					     enum page_color_kind kind)
{
	return get_mm_counter(mm, page_color_counter(kind));
}

/* With so many pages, a space that has held all colors fits into the cache again. */
static inline bool page_color_shrunk(const struct page_color_space *space,
				     unsigned long pages)
{
	return pages < space->held.colors - space->held.colors / 8;
}

/* Whether with so many pages a space cannot hold all that is noted for it. */
static inline bool page_color_holds_less(const struct page_color_space *space,
					 unsigned long pages)
{
	return page_color_full(space) ? page_color_shrunk(space, pages) :
					pages < READ_ONCE(space->held.taken);
}

/* A list of spaces does not change while readers see it; new spaces come before it. */
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
 * Notes a block whose colors current is about to take for a space, and which is in no
 * page table until current has mapped it. Called before the colors are marked, and only
 * of use if current will say when it has mapped the block.
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

/* The block was lost, and its colors are not held any more. */
static inline void page_color_comes_not(void)
{
	if (current->page_color.coming)
		WRITE_ONCE(current->page_color.coming, PAGE_COLOR_TO_COME);
}

/* Whether this block of the space was noted so. */
static inline bool page_color_is_coming(const struct page_color_space *space,
					u32 color, unsigned int order)
{
	const struct page_color_task *task = &current->page_color;

	return task->coming == space && task->coming_color == color &&
	       task->coming_order == order;
}

/* space.c */
void page_color_space_put(struct page_color_space *space);
/* Mark colors as held. Returns those that were not. */
u64 page_color_mark(struct page_color_space *space, struct page_color_live *live,
		    u32 word, u64 mask);
/* The same as page_color_mark(), for pages that were allocated just now. */
u64 page_color_take(struct page_color_space *space, struct page_color_live *live,
		    u32 word, u64 mask);
/*
 * The same as page_color_take(), but only for colors that the space lacks and, where it
 * counts as a holder, few hold.
 */
u64 page_color_claim(struct page_color_space *space, struct page_color_live *live,
		     u32 word, u64 mask);
/* Words of the colors of the largest block. */
#define PAGE_COLOR_BLOCK_WORDS	DIV_ROUND_UP(1 << MAX_PAGE_ORDER, 64)

/*
 * Of the colors of a block, those that the space holds, as bits of each word of colors. If
 * the number of colors is no multiple of the size of the block, some may be missing.
 */
static inline void page_color_stay(const struct page_color_space *space,
				   unsigned long frame, unsigned int order,
				   u64 *stay)
{
	u32 colors = space->held.colors, color = frame % colors;
	u64 all = page_color_low_bits(min(1UL << order, 64UL)) << color % 64;
	u32 word = color / 64, end = word + DIV_ROUND_UP(1U << order, 64);

	for (; word < end; word++)
		*stay++ = word < page_color_words(colors) ?
			page_color_held_word(&space->held, word) & all : 0;
}

/* Takes all colors of a block that current has got, of which so many are @claimed. */
void page_color_take_block(struct page_color_space *space, unsigned long frame,
			   unsigned int order, unsigned int claimed);
/* Current has not got a block of which it has @claimed so many colors. */
void page_color_lose_block(struct page_color_space *space, unsigned long frame,
			   unsigned int order, unsigned int claimed);

/* unmap.c */
/* Mark colors as no longer held. Returns those that were held. */
u64 page_color_unmark(struct page_color_space *space,
		      struct page_color_live *live, u32 word, u64 mask);
void page_color_unmark_frames(struct page_color_space *space,
			      unsigned long frame, unsigned long nr);

/* recount.c */
/*
 * Whether counting, or moving pages, is to be given up: for another address space when
 * that has ended or the machine is suspended, for one's own when the task is killed.
 */
bool page_color_is_in_vain(const struct mm_struct *mm);

/* again.c */
/* Pages that move at once; as many are allocated for them. */
#define PAGE_COLOR_AGAIN	512U
/* The most pages that move after one count, in parts of PAGE_COLOR_AGAIN. */
#define PAGE_COLOR_AGAIN_MOST	32768U
/* Moving one page takes as long as looking at so many. */
#define PAGE_COLOR_PAYS		64

/**
 * struct page_color_again - pages of an address space that another color is better for
 * @own: isolated, by folio->lru: another page of the address space has their color
 * @others: the same, but other address spaces hold their color
 * @found: how many pages there were, whether they may move or not
 * @nr: of them, how many are isolated
 * @most: how many may be
 * @moved: of them, how many have moved
 * @batch: how many are left to move of the present part: those of one list and node
 * @mm: the address space
 * @least: what is wanted of the colors that they move to, as for page_color_gather()
 * @ready: pages to move to, which are allocated for a whole part at once
 */
struct page_color_again {
	struct list_head own;
	struct list_head others;
	unsigned int found;
	unsigned int nr;
	unsigned int most;
	unsigned int moved;
	unsigned int batch;
	struct mm_struct *mm;
	unsigned int least;
	struct list_head ready;
};

static inline void page_color_again_begin(struct page_color_again *again,
					  struct mm_struct *mm)
{
	INIT_LIST_HEAD(&again->own);
	INIT_LIST_HEAD(&again->others);
	again->found = 0;
	again->nr = 0;
	again->most = clamp(page_color_pages(mm, PAGE_COLOR_ANON) /
			    PAGE_COLOR_PAYS, PAGE_COLOR_AGAIN,
			    PAGE_COLOR_AGAIN_MOST);
	again->moved = 0;
	again->mm = mm;
	INIT_LIST_HEAD(&again->ready);
}

#ifdef CONFIG_MIGRATION
/* Adds a page, if it may move; under the lock of its page table. */
void page_color_again_add(struct page_color_again *again,
			  struct vm_area_struct *vma, struct folio *folio,
			  bool own);
/*
 * Moves the pages as far as possible. No lock is held. Returns whether more pages may be
 * left that can move: as many as allowed were added, and at least half of them have
 * moved.
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

/* room.c */
#ifdef CONFIG_MIGRATION
/*
 * Current has got a block for an address space. Small pages of it that have colors of
 * @stay, as page_color_stay() has them, move once current is on its way to user mode, or
 * khugepaged is done with @mm. Under rcu_read_lock(), without pcp->lock.
 */
void page_color_make_room(struct mm_struct *mm, struct page_color_space *space,
			  unsigned long frame, unsigned int order,
			  const u64 *stay);
/* Current does not map the block in @mm after all. */
void page_color_keep_room(const struct mm_struct *mm,
			  const struct page_color_space *space,
			  struct folio *folio);
/* khugepaged is done with @mm, or @mm, if it is NULL, has ended. */
void page_color_settle_room(struct mm_struct *mm);
#else
static inline void page_color_make_room(struct mm_struct *mm,
					struct page_color_space *space,
					unsigned long frame, unsigned int order,
					const u64 *stay) { }
static inline void page_color_keep_room(const struct mm_struct *mm,
					const struct page_color_space *space,
					struct folio *folio) { }
static inline void page_color_settle_room(struct mm_struct *mm) { }
#endif

/* vain.c */
/* Whether to look for small pages that have colors of a larger one is skipped. */
bool page_color_is_room_vain(struct page_color_space *space, unsigned int order);
/* Notes whether there were some, and none has moved. */
void page_color_note_room(struct page_color_space *space, bool vain);
/* Whether the search of a zone for colors that are @least is skipped. */
bool page_color_is_least_vain(struct page_color_run *run, unsigned int least);
/* Notes whether it has found any. */
void page_color_note_least(struct page_color_run *run, unsigned int least,
			   bool found);

/* core.c: state; all changes under page_color_mutex */
extern struct mutex page_color_mutex;
/* With so few frames of each color a zone lacks colors although it is not full. */
#define PAGE_COLOR_FEW_COPIES	4
/* Whether there has been such a zone, and a lower one of its node. */
extern bool page_color_few_copies;
/* by node; the geometry in force, or that would be if enabled */
extern struct page_color_geometry page_color_geometries[MAX_NUMNODES];

/*
 * Takes page_color_mutex. Enabling looks for free frames in all zones. -ENODEV if no node
 * has a cache to color for.
 */
int page_color_enable(bool enable);
/* Sets the geometry of all nodes; -EBUSY while enabled. Takes the mutex. */
int page_color_set_geometry(const struct page_color_geometry *geometry);
/* Calls page_color_detect() for all nodes again; -EBUSY while enabled. */
int page_color_detect_geometry(void);
/* The most colors of any node, 0 if no node has a cache to color for. */
u32 page_color_max_colors(void);

/* Sets the bits of free frames from @pfn to @end; under zone->lock. */
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
 * Reads "SIZE[,ways=N]", or a part of it; a size has a suffix, or is in kB. Fills the
 * fields that are given. -EINVAL, with the reason in *error.
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
/* Whether what a processor reports of a cache is possible; -EINVAL as above. */
int page_color_check_leaf(const struct cacheinfo *leaf, const char **error);
/* Whether any two frames of the node have the same color; -EINVAL as above. */
int page_color_check_node(int nid, const struct page_color_geometry *geometry,
			  const char **error);

struct page_color_range {
	u32 first;
	u32 last;
};

/**
 * struct page_color_set - colors that tasks may use: not all and not none
 * @id: from 1; no two sets have ever had the same
 * @parts: ids of the sets whose common colors these are, 0 if it was read from a list
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
/* Called before a set is given to a task or cpuset. Takes cpus_read_lock(). */
void page_color_sets_begin(void);

/*
 * Makes a set from a list as for bitmap_parselist(), which is overwritten. NULL if it
 * names all @colors. -EINVAL if it names none, or unknown ones.
 */
struct page_color_set *page_color_set_parse(char *list, u32 colors);
/* The colors that are in both of two sets of the same number of colors. NULL if none. */
struct page_color_set *page_color_set_both(const struct page_color_set *a,
					   const struct page_color_set *b);
/* Whether there are 2^@order colors in a row, aligned, that are all in the set. */
bool page_color_set_has_block(const struct page_color_set *set,
			      unsigned int order);
/* Whether 2^@order colors from @color on are all in the set. */
bool page_color_set_has(const struct page_color_set *set, u32 color,
			unsigned int order);
/* Takes a reference to the set that is at @from, or returns NULL. */
struct page_color_set *page_color_set_get(struct page_color_set __rcu **from);
/* @set may be NULL. */
void page_color_set_put(struct page_color_set *set);
/* Prints ascending ranges and a newline. */
void page_color_set_show(struct seq_file *m, const struct page_color_set *set);

/* control.c */
/* Calls page_color_detect_geometry() with the locks that it needs. */
int page_color_detect_all(void);

/*
 * Checks a geometry, fills its colors and makes it that of all nodes. -EINVAL
 * with the reason in *error, -EBUSY while enabled.
 */
int page_color_use_geometry(struct page_color_geometry *geometry,
			    const char **error);

/* Room for the text of any value of a geometry. */
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
 * The colors that memory of @mm may have, NULL for all: those of the current task if @mm
 * is its own or NULL, else those of the owner of @mm. An interrupt may use all. Under
 * rcu_read_lock() as long as the set is used. The caller ignores a set whose number of
 * colors is not that of the zone.
 */
static inline const struct page_color_set *
page_color_set_of(const struct mm_struct *mm)
{
	if (!static_branch_unlikely(&page_color_sets_key))
		return NULL;
	return __page_color_set_of(mm);
}

/* The same for memory of a node: NULL if the set has another number of colors. */
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
/* Called when the number of colors may have changed, and with it which sets count. */
void page_color_cpusets_update(void);
/* The same, soon, for callers that hold locks. */
void page_color_cpusets_update_later(void);
#else
static inline void page_color_cpusets_update(void) { }
static inline void page_color_cpusets_update_later(void) { }
#endif

/* alloc.c, blocks.c and files.c, for mm/page_alloc.c */

/**
 * struct page_color_ask - for whom an allocation is
 * @space: the address space, if it has been given colors
 * @set: colors that the task may use, if not all
 * @file: a page of a file
 * @least: what its colors must be, while other zones of the node may have better ones:
 *	   PAGE_COLOR_LACKED, alone or with PAGE_COLOR_FEW. If alone, half of the colors
 *	   of a block may be held: small pages make room
 */
struct page_color_ask {
	struct page_color_space *space;
	const struct page_color_set *set;
	bool file;
	unsigned int least;
};

/*
 * Whether an allocation is for the address space or set of the current task: not in an
 * interrupt, nor in reclaim, whose pages are not those that the task will use.
 */
static __always_inline bool page_color_may_ask(void)
{
	return in_task() && !(current->flags & PF_MEMALLOC);
}

/*
 * Fills @ask, which is zeroed, with what the current task allocates for. False if that
 * has neither a space nor a set and is no file; else under rcu_read_lock() while @ask is
 * used.
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

/* page_color_ask() is false, but it is for an address space, which is small yet. */
static inline bool page_color_is_small(void)
{
	return page_color_may_ask() && current->page_color.whom;
}

/*
 * Whether the current task is khugepaged and makes a huge page of small ones that are
 * held. Pages of files are not held, and may be of programs with other sets.
 */
static inline bool page_color_is_khugepaged(void)
{
	const struct page_color_leaving *leaving = current->page_color.leaving;

	return leaving && leaving->kind != PAGE_COLOR_KINDS &&
	       current->flags & PF_KTHREAD;
}

/* Whether the pages that a CPU has ready are for @ask. */
static inline bool page_color_run_fits(const struct page_color_run *run,
				       const struct page_color_ask *ask)
{
	return run->space == ask->space &&
	       run->set == (ask->set ? ask->set->id : 0);
}

/* A CPU begins to have pages ready for @ask; those for another one have gone back. */
void page_color_run_begin(struct page_color_run *run,
			  const struct page_color_ask *ask);

/*
 * Takes pages that were freed last and have the best colors: at most @count go from
 * @freed to the end of @list, and are marked. Returns how many.
 */
unsigned int page_color_reuse(struct zone *zone,
			      const struct page_color_ask *ask,
			      unsigned int count, struct list_head *freed,
			      struct list_head *list);
/*
 * Chooses frames to take: at most @count, in at most PAGE_COLOR_PARTS parts, of colors
 * that are all of @least (PAGE_COLOR_LACKED, PAGE_COLOR_FEW). Colors that the space did
 * not hold are marked. Returns the number of parts; 0 if none is found: then another zone
 * is asked if @least is set, and else the default path decides.
 */
unsigned int page_color_gather(struct zone *zone,
			       const struct page_color_ask *ask,
			       unsigned int least, unsigned int count,
			       struct page_color_part *parts);
/* The same for small programs: colors that few hold. */
unsigned int page_color_gather_small(struct zone *zone, unsigned int count,
				     struct page_color_part *parts);
/* The same for a page of a file: the lowest pageblock with free frames. */
unsigned int page_color_gather_file(struct zone *zone, unsigned int count,
				    struct page_color_part *parts);
/*
 * Claims the colors of a block, from @color on, that the space lacks and few hold, if
 * these are at least @least. Returns how many, or 0.
 */
unsigned int page_color_claim_block(struct page_color_space *space,
				    struct page_color_live *live, u32 color,
				    unsigned int order, unsigned int least);
/**
 * struct page_color_blocks - a block to take, and more of its order behind it
 * @order: that of each
 * @frame: where the first one begins
 * @claimed: how many of its colors were claimed: lacked before, and held from now on
 * @stay: of the first block, colors that the space held before, as page_color_stay() has
 *	  them
 * @more: frames of the other blocks, as bits from @frame on; all of their colors were
 *	  claimed
 */
struct page_color_blocks {
	unsigned int order;
	unsigned long frame;
	unsigned int claimed;
	u64 stay[PAGE_COLOR_BLOCK_WORDS];
	u64 more;
};

/*
 * Chooses a block of @blocks->order to take, and at most @more blocks behind it that are
 * as good, if blocks have fewer than 64 frames. False if the default path must decide.
 */
bool page_color_gather_blocks(struct zone *zone,
			      const struct page_color_ask *ask,
			      unsigned int more,
			      struct page_color_blocks *blocks);

/* Files took the lowest frames: passes pageblocks without any; under zone->lock. */
void page_color_file_low(struct zone *zone);

/* Unmarks colors of frames that were chosen but not free when they were to be taken. */
void page_color_lost(struct zone *zone, const struct page_color_ask *ask,
		     const struct page_color_part *part, u64 lost);

/* owner.c */
/*
 * The address space that has a folio mapped, with a reference; if there are several, one
 * of them. NULL if it is small and has no set, if such pages are not held, or if a lock
 * is contended. The caller may move the folio all the same, to a color that few hold. May
 * sleep.
 */
struct mm_struct *page_color_owner(struct folio *folio);
/* @owner may be NULL. */
void page_color_owner_put(struct mm_struct *owner);

/* compact.c, for mm/compaction.c and mm/page_alloc.c */
/*
 * Finds a frame to which compaction can move a small folio: of the same color, or else of
 * a color that few hold and the owner of the folio lacks, which is held from now on; at
 * or after @best, or else @from, but not in a pageblock that is free as a whole, since
 * compaction is to make those. May sleep.
 */
bool page_color_find_place(struct zone *zone, struct folio *folio,
			   unsigned long best, unsigned long from,
			   unsigned long *found);
/*
 * Whether a page for which there is no such frame stays where it is, if nobody waits for
 * the block. In the cache of one processor, which programs do not fill together, it moves
 * to any frame.
 */
bool page_color_keeps(struct zone *zone);
/*
 * Where compaction's free scanner continues after @colored pages have been placed without
 * it: behind as many free frames.
 */
unsigned long page_color_advance(struct zone *zone, unsigned long free_pfn,
				 unsigned long migrate_pfn,
				 unsigned int *colored);

/* Whether frames of this type are chosen by color. */
static inline bool page_color_movable(int migratetype)
{
	return migratetype == MIGRATE_MOVABLE || is_migrate_cma(migratetype);
}

/* The order of the largest aligned block that begins with @pfn and ends by @end. */
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
 * Allocates at most @count pages of the best colors for an address space, which are all
 * of @least as for page_color_gather(), and are held from now on. They are added to the
 * end of @list by page->lru. Fewer, or none, if memory is scarce. Between
 * page_color_begin() and page_color_end().
 */
void page_color_alloc_best(struct mm_struct *mm, int nid, unsigned int least,
			   unsigned int count, struct list_head *list);
/* Allocates the frame that page_color_find_place() finds; NULL if memory is scarce. */
struct page *page_color_alloc_place(struct zone *zone, struct folio *folio,
				    unsigned long best, unsigned long from);

#endif /* _MM_PAGE_COLOR_H */
