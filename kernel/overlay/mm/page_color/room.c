// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small pages make room for a larger one, of less than 64 pages, that has their colors:
 * they are found by their frames, since a color has few, and move to colors that the
 * address space lacks. For a huge page all pages of the address space are counted instead.
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

#include "page_color.h"

/* Where a color has more frames, to look at all takes longer than the move is worth. */
#define PAGE_COLOR_ROOM_COPIES	256

/* The most larger pages of one system call that room is made for. */
#define PAGE_COLOR_ROOMS	30

/**
 * struct page_color_room - larger pages that small ones make room for
 * @work: makes the room, in the context of the task, on its way to user mode
 * @node: id of the node's cache that the colors are of
 * @nid: the node
 * @nr: how many larger pages
 * @block: of each, the word of colors, and which of these small pages have, too
 */
struct page_color_room {
	struct callback_head work;
	u64 node;
	int nid;
	unsigned int nr;
	struct {
		u32 word;
		u64 mask;
	} block[PAGE_COLOR_ROOMS];
};

/* A small anonymous page on the LRU lists, with a reference. */
static struct folio *get_small(unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);
	struct folio *folio;

	if (!page || PageTail(page))
		return NULL;
	folio = page_folio(page);
	if (!folio_test_lru(folio) || !folio_test_anon(folio) ||
	    folio_test_large(folio) || !folio_try_get(folio))
		return NULL;
	if (page_folio(page) == folio && folio_test_lru(folio))
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

static void add_page(struct page_color_again *again, unsigned long pfn)
{
	struct folio *folio = get_small(pfn);
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

/* Adds all small pages that have colors of a word in a zone. */
static void add_all(struct page_color_again *again, struct zone *zone, u64 node,
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
		return;
	for (; copies; copies--, pfn += colors)
		for (left = mask; left; left &= left - 1)
			add_page(again, pfn + __ffs64(left));
}

/*
 * What was not yet mapped when its frame was looked at, or cannot move, stays where it is.
 */
static void make_room(struct callback_head *work)
{
	struct page_color_room *room =
		container_of(work, struct page_color_room, work);
	struct zone *zones = NODE_DATA(room->nid)->node_zones, *zone;
	struct page_color_again again;
	unsigned int i;

	if (current->mm) {
		page_color_again_begin(&again, current->mm);
		/* Pages that wait to be added to the LRU lists cannot be isolated. */
		lru_add_drain();
		for (i = 0; i < room->nr; i++) {
			for (zone = zones; zone < zones + MAX_NR_ZONES; zone++)
				add_all(&again, zone, room->node,
					room->block[i].word,
					room->block[i].mask);
			cond_resched();
		}
		page_color_again_move(&again);
	}
	kfree(room);
}

void page_color_make_room(const struct page_color_space *space,
			  unsigned long frame, u64 mask)
{
	struct page_color_room *room;
	struct callback_head *work;
	u32 color = frame % space->held.colors;

	if (!space->direct || space->kind != PAGE_COLOR_ANON ||
	    page_color_full(space))
		return;
	/* As many pages must be able to find another color. */
	if (space->held.colors - READ_ONCE(space->held.taken) < hweight64(mask) ||
	    page_color_set_of_node(current->mm, space->nid))
		return;
	work = task_work_cancel_func(current, make_room);
	if (work) {
		room = container_of(work, struct page_color_room, work);
	} else {
		/* The caller may hold locks that reclaim would take. */
		room = kzalloc(sizeof(*room), GFP_NOWAIT | __GFP_NOWARN);
		if (!room)
			return;
		init_task_work(&room->work, make_room);
		room->node = space->node;
		room->nid = space->nid;
	}
	if (room->nr < PAGE_COLOR_ROOMS && room->node == space->node) {
		room->block[room->nr].word = color / 64;
		room->block[room->nr++].mask = mask;
	}
	if (task_work_add(current, &room->work, TWA_RESUME))
		kfree(room);
}
