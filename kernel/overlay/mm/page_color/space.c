// SPDX-License-Identifier: GPL-2.0-only
/*
 * The colors that an address space holds, from the first pages that make it large to its
 * end: kept up to date as pages are taken and moved. What is unmapped is in unmap.c.
 */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "space.h"
#include "../internal.h"

void page_color_space_put(struct page_color_space *space)
{
	if (space && refcount_dec_and_test(&space->refs))
		kvfree_rcu(space, rcu);
}

/* Only those that the space lacks and few hold, if @claim; else all. */
static __always_inline u64 mark(struct page_color_space *space,
				struct page_color_live *live, u32 word, u64 mask,
				bool claim)
{
	unsigned long flags;
	u64 fresh = 0;

	spin_lock_irqsave(&space->lock, flags);
	if (!space->gone) {
		bool counts = live && word < space->full_from;

		if (claim)
			mask &= ~page_color_held_word(&space->held, word);
		if (claim && counts)
			mask = page_color_live_claim(live, word, mask);
		if (unlikely(space->seen))
			page_color_held_mark(space->seen, word, mask);
		fresh = page_color_held_mark(&space->held, word, mask);
		WRITE_ONCE(space->marked, space->marked + hweight64(fresh));
		if (!claim && counts)
			page_color_live_add(live, word, fresh);
		if (page_color_held_round(&space->held)) {
			WRITE_ONCE(space->full_from, 0);
			space->rounded = true;
		}
	}
	spin_unlock_irqrestore(&space->lock, flags);
	return fresh;
}

u64 page_color_mark(struct page_color_space *space, struct page_color_live *live,
		    u32 word, u64 mask)
{
	return mark(space, live, word, mask, false);
}

/*
 * A space that has held all colors takes them in turn: the time of that is not noted. Nor is
 * that of colors that pages move to when the space is counted: it may be at rest.
 */
static __always_inline u64 take(struct page_color_space *space,
				struct page_color_live *live, u32 word, u64 mask,
				bool claim)
{
	u64 fresh = mark(space, live, word, mask, claim);

	if (!fresh || !live || page_color_full(space) || current->page_color.again)
		return fresh;
	/* Two threads may find it not set: the second generation would be too young. */
	if (unlikely(!READ_ONCE(space->began))) {
		WRITE_ONCE(space->began, true);
		page_color_lately_begin(live->lately);
	}
	page_color_lately_take(live->lately, word, fresh);
	return fresh;
}

u64 page_color_take(struct page_color_space *space, struct page_color_live *live,
		    u32 word, u64 mask)
{
	return take(space, live, word, mask, false);
}

u64 page_color_claim(struct page_color_space *space, struct page_color_live *live,
		     u32 word, u64 mask)
{
	return take(space, live, word, mask, true);
}

unsigned long page_color_held_pages(struct mm_struct *mm,
				    enum page_color_kind kind)
{
	int counter = page_color_counter(kind);

	return percpu_counter_sum_positive(&mm->rss_stat[counter]);
}

/* An address space with so many pages in the cache of a node is large. */
static unsigned long large(int nid)
{
	struct page_color_node *node;
	unsigned long pages = 0;

	rcu_read_lock();
	node = rcu_dereference(page_color_nodes[nid]);
	if (node)
		pages = node->large;
	rcu_read_unlock();
	return pages;
}

/*
 * Whether it is time to count what an address space holds: with @nr pages it has been
 * given as many as make it large, and does not seem to have given them back. Of these
 * pages @more are not mapped yet.
 */
static bool has_grown(struct mm_struct *mm, enum page_color_kind kind, int nid,
		      unsigned long nr, unsigned long more)
{
	unsigned long limit = large(nid), pages;

	if (!limit)
		return false;
	/* Threads may overwrite each other's sum: the count is a little later then. */
	pages = READ_ONCE(mm->page_color.pages[kind]) + nr;
	if (pages >= limit && is_own(mm)) {
		/* A huge page may be the first one. */
		pages = page_color_held_pages(mm, kind) + more;
		if (pages >= limit) {
			/* A page more or less makes no difference. */
			WRITE_ONCE(mm->page_color.pages[kind], 0);
			return true;
		}
		/* The sum over CPUs is not made for each of the next pages. */
		pages = min(pages, limit - limit / 64);
	}
	WRITE_ONCE(mm->page_color.pages[kind], pages);
	return false;
}

static __always_inline void
change_pages(struct mm_struct *mm, enum page_color_kind kind, struct page *page,
	     unsigned long nr, space_fn fn)
{
	struct page_color_space *space;

	rcu_read_lock();
	space = page_color_space(mm, page_to_nid(page), kind);
	if (space)
		space_words(space, page_to_pfn(page), nr, fn);
	rcu_read_unlock();
}

/*
 * Others may have allocated all pages that an address space maps: of files in memory, and
 * by userfaultfd. It is counted once those that nobody else maps make it large: pages that
 * many map would count for each of them, and be avoided by all others.
 */
void __page_color_map(struct mm_struct *mm, struct page *page, unsigned long nr)
{
	enum page_color_kind kind = page_kind(page);
	struct page_color_space *space;

	rcu_read_lock();
	space = page_color_space(mm, page_to_nid(page), kind);
	if (space)
		space_words(space, page_to_pfn(page), nr, page_color_mark);
	rcu_read_unlock();
	if (!space && !folio_likely_mapped_shared(page_folio(page)) &&
	    has_grown(mm, kind, page_to_nid(page), nr, 0))
		page_color_request_count();
}

/*
 * The folio is not anonymous yet. If other pages of the space have one of its colors, the
 * space no longer holds that color, either.
 */
void __page_color_unused(struct mm_struct *mm, struct folio *folio)
{
	struct page_color_space *space;

	rcu_read_lock();
	space = page_color_space(mm, folio_nid(folio), PAGE_COLOR_ANON);
	if (space) {
		space_words(space, folio_pfn(folio), folio_nr_pages(folio),
			    page_color_unmark);
		page_color_keep_room(mm, space, folio);
	}
	rcu_read_unlock();
}

void page_color_move(struct mm_struct *mm, struct page *from, struct page *page,
		     unsigned long nr)
{
	enum page_color_kind kind = page_kind(page);
	struct page_color_space *space;
	bool stays = from == page;

	/* Pages of devices have no color. */
	if (!page_color_is_held(page_folio(page))) {
		__page_color_unmap(mm, from, nr);
		return;
	}
	if (!page_color_is_held(page_folio(from))) {
		__page_color_map(mm, page, nr);
		return;
	}
	rcu_read_lock();
	space = page_color_space(mm, page_to_nid(page), kind);
	if (space && page_to_nid(from) == page_to_nid(page))
		stays = space_color(space, from) == space_color(space, page);
	rcu_read_unlock();
	if (stays)
		return;
	/* With @again, another page of the space has the old color, which stays held. */
	if (!current->page_color.again)
		change_pages(mm, kind, from, nr, page_color_unmark);
	change_pages(mm, kind, page, nr, page_color_mark);
}

static struct page_color_space *make_space(int nid, enum page_color_kind kind)
{
	struct page_color_space *space = NULL;
	struct page_color_node *node;
	bool direct = false;
	u32 colors = 0;
	u64 id = 0;

	rcu_read_lock();
	node = rcu_dereference(page_color_nodes[nid]);
	if (node) {
		colors = node->colors;
		direct = node->direct;
		id = node->id;
	}
	rcu_read_unlock();
	if (!colors)
		return NULL;
	space = kvzalloc(struct_size(space, held.bits, page_color_words(colors)),
			 GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY);
	if (!space)
		return NULL;
	refcount_set(&space->refs, 1);
	spin_lock_init(&space->lock);
	space->nid = nid;
	space->kind = kind;
	memset32(space->cursor, PAGE_COLOR_NO_CURSOR, PAGE_COLOR_WANTS);
	space->old_cursor = PAGE_COLOR_NO_CURSOR;
	space->block_cursor = PAGE_COLOR_NO_CURSOR;
	space->node = id;
	space->direct = direct;
	space->held.colors = colors;
	space->full_from = page_color_words(colors);
	return space;
}

struct page_color_held *page_color_make_held(u32 colors)
{
	struct page_color_held *held;

	held = kvzalloc(struct_size(held, bits, page_color_words(colors)),
			GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY);
	if (held)
		held->colors = colors;
	return held;
}

/* New spaces are put in front of the list, so that readers go on to see the others. */
void page_color_add_spaces(struct mm_struct *mm, unsigned long more)
{
	unsigned long pages[PAGE_COLOR_KINDS];
	struct page_color_space *first, *space;
	int nid, kind;

	first = rcu_dereference_protected(mm->page_color.spaces, true);
	for (kind = 0; kind < PAGE_COLOR_KINDS; kind++)
		pages[kind] = page_color_held_pages(mm, kind);
	pages[PAGE_COLOR_ANON] += more;
	for_each_node_state(nid, N_MEMORY) {
		for (kind = 0; kind < PAGE_COLOR_KINDS; kind++) {
			if (page_color_find_space(first, nid, kind) ||
			    pages[kind] < large(nid))
				continue;
			space = make_space(nid, kind);
			if (!space)
				continue;
			space->fresh = true;
			space->next = first;
			first = space;
		}
	}
	rcu_assign_pointer(mm->page_color.spaces, first);
}

/* The counts of all colors that a space counts as a holder of go up or down. */
static void count_held(const struct page_color_space *space,
		       void (*count)(struct page_color_live *live, u32 word,
				     u64 mask))
{
	u32 word, words = page_color_words(space->held.colors);

	for (word = 0; word < words; word++) {
		u64 held = word < space->full_from ?
			page_color_held_word(&space->held, word) :
			page_color_valid(space->held.colors, word);
		struct page_color_node *node;

		if (!held)
			continue;
		rcu_read_lock();
		node = space_node(space);
		if (node && node->live)
			count(node->live, word, held);
		rcu_read_unlock();
		if (!(word % 1024))
			cond_resched();
	}
}

/* Counts have gone down, so the level of colors that few hold may be lower. */
static void adjust_level(const struct page_color_space *space)
{
	struct page_color_node *node;

	rcu_read_lock();
	node = space_node(space);
	if (node && node->live)
		page_color_live_adjust(node->live);
	rcu_read_unlock();
}

/* The address space that held the colors has ended. */
static void forget_taken(struct page_color_live *live, u32 word, u64 mask)
{
	page_color_lately_forget(live->lately, word, mask);
}

/* The spaces are no longer used but by CPUs that have pages ready for them. */
static void retire_spaces(struct page_color_space *space)
{
	struct page_color_space *next;

	for (; space; space = next) {
		next = space->next;
		spin_lock_irq(&space->lock);
		space->gone = true;
		spin_unlock_irq(&space->lock);
		if (refcount_read(&space->refs) > 1)
			page_color_drop_runs(space);
		count_held(space, page_color_live_sub);
		count_held(space, forget_taken);
		adjust_level(space);
		page_color_space_put(space);
	}
}

/*
 * A space of another geometry holds nothing that counts. If there is one, all spaces are
 * dropped, and made anew.
 */
void page_color_drop_stale(struct mm_struct *mm)
{
	struct page_color_space *first, *space;
	bool stale = false;

	first = rcu_dereference_protected(mm->page_color.spaces, true);
	rcu_read_lock();
	for (space = first; space; space = space->next)
		stale = stale || !space_node(space);
	rcu_read_unlock();
	if (!stale)
		return;
	RCU_INIT_POINTER(mm->page_color.spaces, NULL);
	retire_spaces(first);
}

/* Whether @more pages make an address space large in some node that has a cache. */
static bool becomes_large(struct mm_struct *mm, unsigned long more)
{
	unsigned long pages = page_color_pages(mm, PAGE_COLOR_ANON);
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (pages < large(nid) && pages + more >= large(nid))
			return true;
	return false;
}

/*
 * Makes the spaces of an address space that becomes large by @more pages, which are about
 * to be allocated. If there is no memory for them, has_grown() asks for them later. The
 * list is changed only with @counting set. No space is dropped, since others may look at
 * the list under mmap_lock alone. Without CONFIG_NUMA the address space that anonymous
 * memory is for is not known.
 */
static void expect(struct mm_struct *mm, unsigned long more)
{
	struct page_color_space *space;

	if (!IS_ENABLED(CONFIG_NUMA) || !becomes_large(mm, more) ||
	    cmpxchg(&mm->page_color.counting, 0, 1))
		return;
	page_color_add_spaces(mm, more);
	space = rcu_dereference_protected(mm->page_color.spaces, true);
	for (; space; space = space->next)
		if (space->fresh)
			WRITE_ONCE(space->recount, true);
	/* The next one that sets @counting sees what was changed here. */
	smp_store_release(&mm->page_color.counting, 0);
}

/*
 * A huge page does not move later. So its colors are chosen even if it is the page that
 * makes the address space large.
 */
void __page_color_huge_begin(struct vm_area_struct *vma, unsigned int order)
{
	bool asked = vma->vm_flags & VM_HUGEPAGE;

	current->page_color.asked = asked;
	current->page_color.huge = asked ? PAGE_COLOR_HUGE :
					   PAGE_COLOR_HUGE_OR_SMALL;
	expect(vma->vm_mm, 1UL << order);
}

void page_color_take_block(struct page_color_space *space, unsigned long frame,
			   unsigned int order, unsigned int claimed)
{
	if (claimed == 1U << order)
		return;
	if (!claimed)
		page_color_comes(space, frame % space->held.colors, order);
	rcu_read_lock();
	space_words(space, frame, 1UL << order, page_color_take);
	rcu_read_unlock();
}

/* If some colors were not claimed, it is not known whether they were held before. */
void page_color_lose_block(struct page_color_space *space, unsigned long frame,
			   unsigned int order, unsigned int claimed)
{
	if (claimed == 1U << order)
		page_color_unmark_frames(space, frame, 1UL << order);
	else
		WRITE_ONCE(space->recount, true);
	page_color_comes_not();
}

/*
 * Pages that were chosen by color come here, too, if the space is to be counted anyway:
 * then it holds their colors already.
 */
static noinline void take_default_block(struct mm_struct *whom,
					struct page_color_space *space,
					unsigned long frame, unsigned int order)
{
	u32 color = frame % space->held.colors;
	u64 stay[PAGE_COLOR_BLOCK_WORDS];

	if (page_color_is_coming(space, color, order))
		return;
	page_color_comes(space, color, order);
	page_color_stay(space, frame, order, stay);
	space_words(space, frame, 1UL << order, page_color_take);
	if (!READ_ONCE(space->recount) && !current->page_color.leaving)
		page_color_make_room(whom, space, frame, order, stay);
}

static void take_default(struct mm_struct *whom, struct page_color_space *space,
			 struct folio *folio, u64 stay)
{
	unsigned int order = folio_order(folio);

	if (stay)
		page_color_make_room(whom, space, folio_pfn(folio), order, &stay);
	else if (order)
		take_default_block(whom, space, folio_pfn(folio), order);
	else
		space_words(space, folio_pfn(folio), 1, page_color_take);
}

/*
 * An address space also holds the colors of pages from the default path; marking a page
 * that is marked already changes nothing. The address space is counted when it has become
 * large, or when what is noted for it is not what it holds. Returns @folio.
 */
noinline struct folio *__page_color_end(struct folio *folio)
{
	struct mm_struct *whom = current->page_color.whom;
	enum page_color_kind kind = current->page_color.kind;
	u64 stay = current->page_color.stay;
	struct page_color_space *space;
	bool count = false;

	current->page_color.whom = NULL;
	current->page_color.stay = 0;
	/* Address spaces do not hold pages of other files. */
	if (!folio || kind == PAGE_COLOR_KINDS)
		return folio;
	rcu_read_lock();
	space = page_color_space(whom, folio_nid(folio), kind);
	if (space) {
		take_default(whom, space, folio, stay);
		count = is_own(whom) && READ_ONCE(space->recount);
	}
	rcu_read_unlock();
	if (!space)
		count = has_grown(whom, kind, folio_nid(folio),
				  folio_nr_pages(folio), folio_nr_pages(folio));
	if (count)
		page_color_request_count();
	return folio;
}

struct folio *page_color_ended(struct folio *folio)
{
	return unlikely(current->page_color.whom) ? __page_color_end(folio) :
						    folio;
}

struct folio *
page_color_alloc_mpol_noprof(struct mm_struct *whom, enum page_color_kind kind,
			     gfp_t gfp, unsigned int order,
			     struct mempolicy *pol, pgoff_t ilx, int nid)
{
	struct folio *folio;

	if (!page_color_begin(whom, kind))
		return folio_alloc_mpol_noprof(gfp, order, pol, ilx, nid);
	folio = folio_alloc_mpol_noprof(gfp, order, pol, ilx, nid);
	if (whom == PAGE_COLOR_FILE)
		current->page_color.whom = NULL;
	else
		page_color_end(folio);
	return folio;
}

struct folio *page_color_alloc_file_noprof(gfp_t gfp, unsigned int order)
{
	struct folio *folio;

	if (!(gfp & __GFP_MOVABLE) ||
	    !page_color_begin(PAGE_COLOR_FILE, PAGE_COLOR_SHMEM))
		return folio_alloc_noprof(gfp, order);
	folio = folio_alloc_noprof(gfp, order);
	current->page_color.whom = NULL;
	return folio;
}

void page_color_init_mm(struct mm_struct *mm)
{
	RCU_INIT_POINTER(mm->page_color.spaces, NULL);
	mm->page_color.counting = 0;
	memset(mm->page_color.pages, 0, sizeof(mm->page_color.pages));
}

/*
 * The child maps what its parent maps, so its colors need not be counted. Where the cache
 * is not direct-mapped they are not copied: see counts_first(). The parent's mmap_lock is
 * held for writing, so that its spaces stay.
 */
void page_color_copy_mm(struct mm_struct *mm, struct mm_struct *from)
{
	struct page_color_space *first = NULL, *space, *old;
	u32 word;

	old = rcu_dereference_protected(from->page_color.spaces,
					lockdep_is_held(&from->mmap_lock));
	for (; old; old = old->next) {
		/* The child has no page tables yet for files that it shares. */
		if (old->kind == PAGE_COLOR_SHMEM &&
		    page_color_held_pages(mm, old->kind) < large(old->nid))
			continue;
		space = old->direct ? make_space(old->nid, old->kind) : NULL;
		if (!space)
			continue;
		if (space->node != old->node) {
			kvfree(space);
			continue;
		}
		/* The child does not have the pages on CPUs' lists, which are marked. */
		if (refcount_read(&old->refs) > 1)
			page_color_drop_runs(old);
		space->full_from = old->full_from;
		for (word = 0; word < page_color_words(old->held.colors); word++)
			page_color_held_mark(&space->held, word,
					     page_color_held_word(&old->held,
								  word));
		/* The child may map less than its parent, with MADV_DONTFORK for one. */
		if (READ_ONCE(old->recount) || READ_ONCE(old->counted) ||
		    page_color_holds_less(space,
					  page_color_held_pages(mm, space->kind)))
			space->recount = true;
		count_held(space, page_color_live_add);
		space->next = first;
		first = space;
	}
	rcu_assign_pointer(mm->page_color.spaces, first);
}

/* The page tables of the address space are gone, and nothing uses it any more. */
void page_color_exit_mm(struct mm_struct *mm)
{
	struct page_color_space *spaces, *space;

	spaces = rcu_dereference_protected(mm->page_color.spaces, true);
	if (!spaces)
		return;
	RCU_INIT_POINTER(mm->page_color.spaces, NULL);
	for (space = spaces; space; space = space->next)
		if (space->kind == PAGE_COLOR_ANON)
			page_color_drain_local(space->nid);
	retire_spaces(spaces);
}
