// SPDX-License-Identifier: GPL-2.0-only
/* The colors that an address space gives up: of pages that are unmapped, one or many. */

#include <linux/mm.h>
#include <linux/sched.h>

#include "space.h"
#include "../internal.h"

/* Under the lock of the space, which is not gone. */
static u64 unmark(struct page_color_space *space, struct page_color_live *live,
		  u32 word, u64 mask)
{
	u64 gone = page_color_held_unmark(&space->held, word, mask);

	if (live && word < space->full_from)
		page_color_live_sub(live, word, gone);
	return gone;
}

/* The same of one color, where interrupts are off. */
static __always_inline void unmark_one(struct page_color_space *space,
				       struct page_color_live *live, u32 color)
{
	u32 word = color / 64;

	if (page_color_held_unmark_one(&space->held, color) && live &&
	    word < space->full_from)
		page_color_live_sub_one(live, word, color % 64);
}

u64 page_color_unmark(struct page_color_space *space,
		      struct page_color_live *live, u32 word, u64 mask)
{
	unsigned long flags;
	u64 gone = 0;

	spin_lock_irqsave(&space->lock, flags);
	if (!space->gone)
		gone = unmark(space, live, word, mask);
	spin_unlock_irqrestore(&space->lock, flags);
	return gone;
}

static void unmark_frame(struct page_color_space *space, unsigned long frame)
{
	struct page_color_node *node = space_node(space);
	unsigned long flags;

	if (!node)
		return;
	spin_lock_irqsave(&space->lock, flags);
	if (!space->gone)
		unmark_one(space, node->live, frame % space->held.colors);
	spin_unlock_irqrestore(&space->lock, flags);
}

void page_color_unmark_frames(struct page_color_space *space,
			      unsigned long frame, unsigned long nr)
{
	rcu_read_lock();
	if (nr == 1)
		unmark_frame(space, frame);
	else
		space_words(space, frame, nr, page_color_unmark);
	rcu_read_unlock();
}

void __page_color_unmap(struct mm_struct *mm, struct page *page,
			unsigned long nr)
{
	struct page_color_space *space;

	if (!page_color_is_held(page_folio(page)))
		return;
	rcu_read_lock();
	space = page_color_space(mm, page_to_nid(page), page_kind(page));
	if (space)
		page_color_unmark_frames(space, page_to_pfn(page), nr);
	rcu_read_unlock();
}

/*
 * A space that was larger than the cache and no longer is, is counted. Until then others
 * take it for one that holds every color, and the program may not fault again for long.
 */
static void note_shrunk(struct mm_struct *mm)
{
	struct page_color_space *space;
	unsigned long pages;
	bool count = false;

	rcu_read_lock();
	for (space = rcu_dereference(mm->page_color.spaces); space;
	     space = space->next) {
		if (!page_color_full(space) ||
		    !page_color_shrunk(space, page_color_pages(mm, space->kind)))
			continue;
		WRITE_ONCE(space->recount, true);
		/* CPUs have parts of the counter that was looked at. */
		pages = page_color_held_pages(mm, space->kind);
		count = count || page_color_shrunk(space, pages);
	}
	rcu_read_unlock();
	if (count && is_own(mm))
		page_color_request_count();
}

/**
 * struct unmapping - pages that are unmapped
 * @mm: their address space
 * @kind: what the row is of
 * @space: that of the last row, mostly the same for the next one; locked, or NULL
 * @live: the counts of its node
 * @flags: of its lock
 * @left: how many more rows, words and other entries before the lock is given up
 */
struct unmapping {
	struct mm_struct *mm;
	enum page_color_kind kind;
	struct page_color_space *space;
	struct page_color_live *live;
	unsigned long flags;
	long left;
};

/*
 * The most rows, words of long rows, and entries without a row for which the lock is held:
 * others that wait for it may hold zone->lock.
 */
#define PAGE_COLOR_UNMAPPED	16
/* A row ends before a frame that is a multiple of this, so it is in one node. */
#define PAGE_COLOR_ROW		512

static void unlock_space(struct unmapping *unmapping)
{
	struct page_color_space *space = unmapping->space;

	unmapping->space = NULL;
	if (space)
		spin_unlock_irqrestore(&space->lock, unmapping->flags);
}

/* The row that is to be unmapped is of this kind. */
static void set_kind(struct unmapping *unmapping, enum page_color_kind kind)
{
	if (unmapping->kind == kind)
		return;
	unlock_space(unmapping);
	unmapping->kind = kind;
}

/* An entry is passed over. */
static void pass(struct unmapping *unmapping)
{
	if (unmapping->space && --unmapping->left <= 0)
		unlock_space(unmapping);
}

/* Locks the space of the row; false if there is none. Under rcu_read_lock(). */
static noinline bool lock_space(struct unmapping *unmapping, int nid)
{
	struct page_color_space *space;
	struct page_color_node *node;

	unlock_space(unmapping);
	space = page_color_space(unmapping->mm, nid, unmapping->kind);
	node = space ? space_node(space) : NULL;
	if (!node)
		return false;
	spin_lock_irqsave(&space->lock, unmapping->flags);
	unmapping->space = space;
	unmapping->live = node->live;
	unmapping->left = PAGE_COLOR_UNMAPPED;
	if (!space->gone)
		return true;
	unlock_space(unmapping);
	return false;
}

/* Whether the space of the row is locked already, and may remain so. */
static __always_inline bool is_locked(const struct unmapping *unmapping, int nid)
{
	const struct page_color_space *space = unmapping->space;

	return space && space->nid == nid && unmapping->left > 0;
}

static noinline void unmap_words(struct unmapping *unmapping, struct page *page,
				 unsigned long nr)
{
	space_words_of(unmapping->space, unmapping->live, page_to_pfn(page), nr,
		       unmark);
	unmapping->left -= nr / 64;
}

/* The kind of @nr pages, which follow each other, is set. */
static __always_inline void unmap_row(struct unmapping *unmapping,
				      struct page *page, unsigned long nr)
{
	struct page_color_space *space;
	int nid = page_to_nid(page);

	if (!is_locked(unmapping, nid) && !lock_space(unmapping, nid))
		return;
	unmapping->left--;
	space = unmapping->space;
	if (nr > 1)
		unmap_words(unmapping, page, nr);
	else
		unmark_one(space, unmapping->live, space_color(space, page));
}

/* How many pages an entry of a batch has. Goes on to the next entry. */
static __always_inline unsigned long next_entry(struct encoded_page ***entry)
{
	struct encoded_page *page = *(*entry)++;

	if (!(encoded_page_flags(page) & ENCODED_PAGE_BIT_NR_PAGES_NEXT))
		return 1;
	return encoded_nr_pages(*(*entry)++);
}

/* Whether the pages of an entry continue a row of @nr pages of a mapping. */
static __always_inline bool goes_on(struct encoded_page *entry, struct page *first,
				    unsigned long nr,
				    const struct address_space *mapping)
{
	struct page *page = encoded_page_ptr(entry);

	return page == first + nr && mapping &&
	       page_folio(page)->mapping == mapping &&
	       page_to_pfn(page) % PAGE_COLOR_ROW;
}

/*
 * Pages that follow each other in memory are unmapped as one row. Of a huge page only the
 * first page is in the batch: the others are unmapped where the huge page is. Of an
 * address space that ends nothing is unmapped here: page_color_exit_mm() retires its
 * spaces.
 *
 * All pages of one mapping are held, and of one kind, if one is. So this is looked up
 * only for a page whose mapping is not that of the page before it.
 */
void page_color_unmap_batch(struct mm_struct *mm,
			    struct encoded_page **pages, unsigned int nr)
{
	struct encoded_page **entry = pages, **end = pages + nr;
	struct unmapping unmapping = { .mm = mm };
	struct address_space *mapping = NULL;

	if (!rcu_access_pointer(mm->page_color.spaces) ||
	    !atomic_read(&mm->mm_users))
		return;
	rcu_read_lock();
	while (entry < end) {
		struct page *page = encoded_page_ptr(*entry);
		unsigned long in_row = next_entry(&entry);

		if (!mapping || page->mapping != mapping || PageCompound(page)) {
			struct folio *folio = page_folio(page);

			mapping = NULL;
			if (!page_color_is_held(folio)) {
				pass(&unmapping);
				continue;
			}
			mapping = folio->mapping;
			set_kind(&unmapping, page_color_kind_of(folio));
		}
		while (entry < end && goes_on(*entry, page, in_row, mapping))
			in_row += next_entry(&entry);
		unmap_row(&unmapping, page, in_row);
	}
	unlock_space(&unmapping);
	rcu_read_unlock();
	note_shrunk(mm);
}
