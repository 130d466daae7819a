// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small pages make room for a larger one that has their colors: they are found by their
 * frames, since a color has few, and move to colors that the address space lacks.
 */

#include <linux/bitops.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/rmap.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/task_work.h>

#include "space.h"

/* Where a color has more frames, to look at all takes longer than the move is worth. */
#define PAGE_COLOR_ROOM_COPIES	64

/* The most words of colors that one task makes room for at once. */
#define PAGE_COLOR_ROOM_PARTS	64

/**
 * struct page_color_room - colors that small pages give to larger ones
 * @work: makes the room, in the context of the task, on its way to user mode
 * @mm: the address space; only compared
 * @node: id of the node's cache that the colors are of
 * @nid: the node
 * @nr: how many of @part are in use
 * @part: some colors of a word
 */
struct page_color_room {
	struct callback_head work;
	const struct mm_struct *mm;
	u64 node;
	int nid;
	unsigned int nr;
	struct {
		u32 word;
		u64 mask;
	} part[PAGE_COLOR_ROOM_PARTS];
};

/* A small anonymous page of a zone that is on the LRU lists, with a reference. */
static struct folio *get_small(struct zone *zone, unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);
	struct folio *folio;

	if (!page || page_zone(page) != zone || PageTail(page))
		return NULL;
	folio = page_folio(page);
	if (!folio_test_lru(folio) || !folio_test_anon(folio) ||
	    !folio_test_swapbacked(folio) || folio_test_large(folio) ||
	    !folio_try_get(folio))
		return NULL;
	if (page_folio(page) == folio && folio_test_lru(folio) &&
	    !folio_likely_mapped_shared(folio))
		return folio;
	folio_put(folio);
	return NULL;
}

/* Ends the walk once the folio is found in the address space. */
static bool add_own(struct folio *folio, struct vm_area_struct *vma,
		    unsigned long address, void *arg)
{
	DEFINE_FOLIO_VMA_WALK(pvmw, folio, vma, address, 0);
	struct page_color_again *again = arg;

	if (vma->vm_mm != again->mm || !page_vma_mapped_walk(&pvmw))
		return true;
	page_color_again_add(again, vma, folio, true);
	page_vma_mapped_walk_done(&pvmw);
	return false;
}

static void add_page(struct page_color_again *again, struct zone *zone,
		     unsigned long pfn)
{
	struct folio *folio = get_small(zone, pfn);
	struct rmap_walk_control walk = {
		.arg = again,
		.try_lock = true,
		.rmap_one = add_own,
		.anon_lock = folio_lock_anon_vma_read,
	};

	if (!folio)
		return;
	if (folio_trylock(folio)) {
		if (folio_test_anon(folio) && !folio_test_ksm(folio))
			rmap_walk(folio, &walk);
		folio_unlock(folio);
	}
	folio_put(folio);
}

/* Adds all small pages that have colors of a word in a zone. False if it is too large. */
static bool add_all(struct page_color_again *again, struct zone *zone, u64 node,
		    u32 word, u64 mask)
{
	unsigned long pfn = 0, copies = 0;
	struct page_color_place place;
	u32 colors = 0;
	u64 left;

	rcu_read_lock();
	if (page_color_place_of(&place, zone) && place.node->id == node) {
		colors = place.zone->memory.colors;
		copies = place.zone->memory.copies;
		pfn = place.zone->memory.first * colors + 64UL * word;
	}
	rcu_read_unlock();
	if (copies > PAGE_COLOR_ROOM_COPIES)
		return false;
	for (; copies && !page_color_is_in_vain(again->mm); copies--, pfn += colors) {
		for (left = mask; left; left &= left - 1)
			add_page(again, zone, pfn + __ffs64(left));
		cond_resched();
	}
	return true;
}

/*
 * Pages on CPUs' lists are given back. The larger pages hold their colors, which are
 * unmarked then.
 */
static void drop_runs(struct mm_struct *mm, const struct page_color_room *room)
{
	struct page_color_space *space;
	struct page_color_node *node;
	unsigned int i;

	rcu_read_lock();
	space = page_color_space(mm, room->nid, PAGE_COLOR_ANON);
	node = space && space->node == room->node ? space_node(space) : NULL;
	if (node && refcount_read(&space->refs) > 1) {
		page_color_drop_runs(space);
		for (i = 0; i < room->nr; i++)
			page_color_mark(space, node->live, room->part[i].word,
					room->part[i].mask);
	}
	rcu_read_unlock();
}

/*
 * If all were looked at and fewer small pages were found than colors, CPUs may have pages
 * of the others ready.
 * What cannot move stays where it is.
 */
static void make_room(struct mm_struct *mm, const struct page_color_room *room)
{
	struct zone *zones = NODE_DATA(room->nid)->node_zones, *zone;
	struct page_color_again again;
	struct page_color_space *space;
	unsigned int colors = 0, i;
	bool all = true;

	if (mm != room->mm)
		return;
	page_color_again_begin(&again, mm);
	again.most = 64 * room->nr;
	/* Pages that wait to be added to the LRU lists cannot be isolated. */
	lru_add_drain();
	for (i = 0; i < room->nr; i++) {
		for (zone = zones; zone < zones + MAX_NR_ZONES; zone++)
			all &= add_all(&again, zone, room->node,
				       room->part[i].word, room->part[i].mask);
		colors += hweight64(room->part[i].mask);
	}
	if (all && again.found < colors)
		drop_runs(mm, room);
	page_color_again_move(&again);
	rcu_read_lock();
	space = page_color_space(mm, room->nid, PAGE_COLOR_ANON);
	if (space)
		page_color_note_room(space, again.found && !again.moved);
	rcu_read_unlock();
}

static void make_own_room(struct callback_head *work)
{
	struct page_color_room *room =
		container_of(work, struct page_color_room, work);

	if (current->mm)
		make_room(current->mm, room);
	kfree(room);
}

void page_color_settle_room(struct mm_struct *mm)
{
	struct page_color_room *room = current->page_color.room;

	current->page_color.room = NULL;
	if (room && mm)
		make_room(mm, room);
	kfree(room);
}

/* The room that current is to make on its way to user mode, or NULL. */
static struct page_color_room *take_own_room(void)
{
	struct callback_head *work = task_work_cancel_func(current, make_own_room);

	return work ? container_of(work, struct page_color_room, work) : NULL;
}

static void put_own_room(struct page_color_room *room)
{
	if (!room->nr || task_work_add(current, &room->work, TWA_RESUME))
		kfree(room);
}

/* What is not made yet for @mm, or a new one; NULL if there is no memory. */
static struct page_color_room *get_room(const struct mm_struct *mm,
					const struct page_color_space *space,
					bool own)
{
	struct page_color_room *room =
		own ? take_own_room() : current->page_color.room;

	if (room && room->mm == mm)
		return room;
	/* The caller may hold locks that reclaim would take. */
	room = room ?: kmalloc(sizeof(*room), GFP_NOWAIT | __GFP_NOWARN);
	if (!room)
		return NULL;
	room->nr = 0;
	init_task_work(&room->work, make_own_room);
	room->mm = mm;
	room->node = space->node;
	room->nid = space->nid;
	return room;
}

/* False if there are too many. */
static bool add_part(struct page_color_room *room, u32 word, u64 mask)
{
	if (room->nr && room->part[room->nr - 1].word == word) {
		room->part[room->nr - 1].mask |= mask;
		return true;
	}
	if (room->nr == PAGE_COLOR_ROOM_PARTS)
		return false;
	room->part[room->nr].word = word;
	room->part[room->nr++].mask = mask;
	return true;
}

/*
 * What is too many is left to a count, which moves small pages that have colors of huge
 * ones.
 */
static void add_parts(struct page_color_room *room,
		      struct page_color_space *space, u32 word, const u64 *stay,
		      unsigned int order)
{
	unsigned int words = DIV_ROUND_UP(1U << order, 64);

	while (words && room->node == space->node &&
	       (!*stay || add_part(room, word, *stay))) {
		words--;
		word++;
		stay++;
	}
	if (words && order >= pageblock_order)
		WRITE_ONCE(space->recount, true);
}

/* Whether the frames of a color in a node are few enough to look at all. */
static bool is_searched(int nid)
{
	struct zone *zones = NODE_DATA(nid)->node_zones, *zone;
	struct page_color_place place;

	for (zone = zones; zone < zones + MAX_NR_ZONES; zone++)
		if (page_color_place_of(&place, zone) &&
		    place.zone->memory.copies <= PAGE_COLOR_ROOM_COPIES)
			return true;
	return false;
}

void page_color_make_room(struct mm_struct *mm, struct page_color_space *space,
			  unsigned long frame, unsigned int order,
			  const u64 *stay)
{
	unsigned int words = DIV_ROUND_UP(1U << order, 64), nr = 0, i;
	struct page_color_room *room;
	bool own = is_own(mm);

	for (i = 0; i < words; i++)
		nr += hweight64(stay[i]);
	if (!nr || (!own && !page_color_is_khugepaged()))
		return;
	if (!space->direct || space->kind != PAGE_COLOR_ANON ||
	    page_color_full(space))
		return;
	/* Where next to no color is lacked, it is not worth looking for pages. */
	if (space->held.colors - READ_ONCE(space->held.taken) < min(nr, 64U) ||
	    page_color_set_of_node(mm, space->nid) || !is_searched(space->nid) ||
	    page_color_is_room_vain(space, order))
		return;
	room = get_room(mm, space, own);
	if (!room)
		return;
	add_parts(room, space, frame % space->held.colors / 64, stay, order);
	if (own)
		put_own_room(room);
	else
		current->page_color.room = room;
}

void page_color_keep_room(const struct mm_struct *mm,
			  const struct page_color_space *space,
			  struct folio *folio)
{
	u32 color = folio_pfn(folio) % space->held.colors, word = color / 64;
	unsigned long pages = folio_nr_pages(folio);
	u64 all = page_color_low_bits(min(pages, 64UL)) << color % 64;
	struct page_color_room *room;
	unsigned int i;

	room = folio_test_large(folio) ? take_own_room() : NULL;
	if (!room)
		return;
	for (i = 0; i < room->nr; i++)
		if (room->mm == mm && room->node == space->node &&
		    room->part[i].word - word < DIV_ROUND_UP(pages, 64))
			room->part[i].mask &= ~all;
	put_own_room(room);
}
