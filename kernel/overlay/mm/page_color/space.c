// SPDX-License-Identifier: GPL-2.0-only
/*
 * The colors that an address space holds: told by its page tables when it has
 * become large, kept up to date as pages are taken and unmapped, and told anew
 * when too much has happened that nobody tells of.
 */

#include <linux/freezer.h>
#include <linux/fs.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/pagewalk.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/task_work.h>

#include "page_color.h"
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
		space->marked += hweight64(fresh);
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

/* Who is larger than the cache goes through all colors again and again. */
static __always_inline u64 take(struct page_color_space *space,
				struct page_color_live *live, u32 word, u64 mask,
				bool claim)
{
	u64 fresh = mark(space, live, word, mask, claim);

	if (live && !page_color_full(space))
		page_color_live_taken(live, word, fresh);
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

/* The cache that a space was made for, if it is still colored for. */
static struct page_color_node *node_of(const struct page_color_space *space)
{
	struct page_color_node *node =
		rcu_dereference(page_color_nodes[space->nid]);

	return node && node->id == space->node ? node : NULL;
}

/*
 * @fn for each word of colors that frames in a row have, in a node with these counts.
 * Returns how many it changed.
 */
static __always_inline unsigned int
for_words_of(struct page_color_space *space, struct page_color_live *live,
	     unsigned long frame, unsigned long nr,
	     u64 (*fn)(struct page_color_space *space,
		       struct page_color_live *live, u32 word, u64 mask))
{
	u32 colors = space->held.colors, color = frame % colors;
	unsigned int changed = 0;

	while (nr) {
		unsigned long part = min3(nr, 64UL - color % 64,
					  (unsigned long)colors - color);

		changed += hweight64(fn(space, live, color / 64,
					page_color_low_bits(part) << color % 64));
		nr -= part;
		color += part;
		if (color == colors)
			color = 0;
	}
	return changed;
}

static __always_inline unsigned int
for_words(struct page_color_space *space, unsigned long frame, unsigned long nr,
	  u64 (*fn)(struct page_color_space *space, struct page_color_live *live,
		    u32 word, u64 mask))
{
	struct page_color_node *node = node_of(space);

	return node ? for_words_of(space, node->live, frame, nr, fn) : nr;
}

static void unmark_frame(struct page_color_space *space, unsigned long frame)
{
	struct page_color_node *node = node_of(space);
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
		for_words(space, frame, nr, page_color_unmark);
	rcu_read_unlock();
}

static __always_inline void
change_pages(struct mm_struct *mm, enum page_color_kind kind, struct page *page,
	     unsigned long nr,
	     u64 (*fn)(struct page_color_space *space,
		       struct page_color_live *live, u32 word, u64 mask))
{
	struct page_color_space *space;

	rcu_read_lock();
	space = page_color_space(mm, page_to_nid(page), kind);
	if (space)
		for_words(space, page_to_pfn(page), nr, fn);
	rcu_read_unlock();
}

static __always_inline enum page_color_kind kind_of(struct page *page)
{
	return page_color_kind_of(page_folio(page));
}

void __page_color_map(struct mm_struct *mm, struct page *page, unsigned long nr)
{
	change_pages(mm, kind_of(page), page, nr, page_color_mark);
}

void __page_color_unmap(struct mm_struct *mm, struct page *page,
			unsigned long nr)
{
	struct page_color_space *space;

	rcu_read_lock();
	space = page_color_space(mm, page_to_nid(page), kind_of(page));
	if (space)
		page_color_unmark_frames(space, page_to_pfn(page), nr);
	rcu_read_unlock();
}

static u32 color_in(struct page_color_space *space, struct page *page)
{
	return page_to_pfn(page) % space->held.colors;
}

void page_color_move(struct mm_struct *mm, struct page *from, struct page *page,
		     unsigned long nr)
{
	enum page_color_kind kind = kind_of(page);
	struct page_color_space *space;
	bool stays = from == page;

	rcu_read_lock();
	space = page_color_space(mm, page_to_nid(page), kind);
	if (space && page_to_nid(from) == page_to_nid(page))
		stays = color_in(space, from) == color_in(space, page);
	rcu_read_unlock();
	if (stays)
		return;
	/* Else another page has the color that it had. */
	if (!current->page_color.again)
		change_pages(mm, kind, from, nr, page_color_unmark);
	change_pages(mm, kind, page, nr, page_color_mark);
}

/* Who was larger than the cache and is so no more is counted on its next fault. */
static void note_shrunk(struct mm_struct *mm)
{
	struct page_color_space *space;

	rcu_read_lock();
	for (space = rcu_dereference(mm->page_color.spaces); space;
	     space = space->next)
		if (page_color_full(space) &&
		    page_color_shrunk(space, page_color_pages(mm, space->kind)))
			WRITE_ONCE(space->recount, true);
	rcu_read_unlock();
}

/**
 * struct unmapping - pages that are unmapped
 * @mm: their address space
 * @first: of the row that is collected: pages of a kind that follow each other
 * @nr: how many pages it has
 * @kind: what they are
 * @space: that of the last row, mostly the same; locked, or NULL
 * @live: the counts of its node
 * @flags: of its lock
 * @left: how much more is done before others may have the lock
 */
struct unmapping {
	struct mm_struct *mm;
	struct page *first;
	unsigned long nr;
	enum page_color_kind kind;
	struct page_color_space *space;
	struct page_color_live *live;
	unsigned long flags;
	long left;
};

/* Rows, and words of colors of long ones: who waits for the lock may have zone->lock. */
#define PAGE_COLOR_UNMAPPED	16
/* Pages after which a row ends. */
#define PAGE_COLOR_ROW		512

static void unlock_space(struct unmapping *unmapping)
{
	struct page_color_space *space = unmapping->space;

	unmapping->space = NULL;
	if (space)
		spin_unlock_irqrestore(&space->lock, unmapping->flags);
}

/* That of the row; false if there is none. Under rcu_read_lock(). */
static noinline bool lock_space(struct unmapping *unmapping, int nid)
{
	struct page_color_space *space;
	struct page_color_node *node;

	unlock_space(unmapping);
	space = page_color_space(unmapping->mm, nid, unmapping->kind);
	node = space ? node_of(space) : NULL;
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

/* It is that of the row, and others need not have it yet. */
static bool is_locked(const struct unmapping *unmapping, int nid)
{
	const struct page_color_space *space = unmapping->space;

	return space && space->nid == nid && space->kind == unmapping->kind &&
	       unmapping->left > 0;
}

static noinline void unmap_words(struct unmapping *unmapping)
{
	for_words_of(unmapping->space, unmapping->live,
		     page_to_pfn(unmapping->first), unmapping->nr, unmark);
	unmapping->left -= 1 + unmapping->nr / 64;
}

static void unmap_row(struct unmapping *unmapping)
{
	struct page *page = unmapping->first;
	int nid = page_to_nid(page);
	struct page_color_space *space;

	if (!is_locked(unmapping, nid) && !lock_space(unmapping, nid))
		return;
	if (unmapping->nr > 1) {
		unmap_words(unmapping);
		return;
	}
	unmapping->left--;
	space = unmapping->space;
	unmark_one(space, unmapping->live,
		   page_to_pfn(page) % space->held.colors);
}

/*
 * Pages that follow each other in memory are unmapped as one; a huge page is told
 * of where it is unmapped as a whole.
 */
void page_color_unmap_batch(struct mm_struct *mm,
			    struct encoded_page **pages, unsigned int nr)
{
	struct unmapping unmapping = { .mm = mm };
	struct address_space *mapping = NULL;
	struct page *next = NULL;
	unsigned int i;

	if (!rcu_access_pointer(mm->page_color.spaces))
		return;
	rcu_read_lock();
	for (i = 0; i < nr; i++) {
		struct page *page = encoded_page_ptr(pages[i]);
		bool in_rows = encoded_page_flags(pages[i]) &
			       ENCODED_PAGE_BIT_NR_PAGES_NEXT;
		unsigned long in_row = 1;
		enum page_color_kind kind;
		struct folio *folio;

		/* Most follow the last one, and are what it is. */
		if (page == next && page->mapping == mapping && !in_rows &&
		    !PageCompound(page) && unmapping.nr < PAGE_COLOR_ROW) {
			unmapping.nr++;
			next++;
			continue;
		}
		folio = page_folio(page);
		if (in_rows)
			in_row = encoded_nr_pages(pages[++i]);
		else if (folio_test_pmd_mappable(folio) && page == &folio->page)
			continue;
		if (!page_color_is_held(folio))
			continue;
		kind = page_color_kind_of(folio);
		mapping = folio->mapping;
		next = mapping ? page + in_row : NULL;
		if (page == unmapping.first + unmapping.nr &&
		    kind == unmapping.kind && unmapping.nr < PAGE_COLOR_ROW) {
			unmapping.nr += in_row;
			continue;
		}
		if (unmapping.nr)
			unmap_row(&unmapping);
		unmapping.first = page;
		unmapping.nr = in_row;
		unmapping.kind = kind;
	}
	if (unmapping.nr)
		unmap_row(&unmapping);
	unlock_space(&unmapping);
	rcu_read_unlock();
	note_shrunk(mm);
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
	space->cursor = PAGE_COLOR_NO_CURSOR;
	space->block_cursor = PAGE_COLOR_NO_CURSOR;
	space->node = id;
	space->direct = direct;
	space->held.colors = colors;
	space->full_from = page_color_words(colors);
	return space;
}

static unsigned long held_pages(struct mm_struct *mm, enum page_color_kind kind)
{
	int counter = page_color_counter(kind);

	return percpu_counter_sum_positive(&mm->rss_stat[counter]);
}

static struct page_color_held *make_held(u32 colors)
{
	struct page_color_held *held;

	held = kvzalloc(struct_size(held, bits, page_color_words(colors)),
			GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY);
	if (held)
		held->colors = colors;
	return held;
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

/* Pages that a small program has, of which few are used all the time. */
#define PAGE_COLOR_SMALL_PROGRAM	128

/*
 * Whether the pages that are there when an address space becomes large are held.
 * Where a color has room for several, a bit cannot tell how many it has: they must
 * be less than one of each color. Where the cache is small they are those that any
 * program has, and what comes from now on is even by itself.
 */
static bool counts_first(const struct page_color_space *space,
			 unsigned long pages)
{
	return space->direct || (pages >= PAGE_COLOR_SMALL_PROGRAM &&
				 pages < space->held.colors);
}

/*
 * Spaces for what an address space is large in and has none, once it has so many
 * anonymous pages @more. They come before those that are there, which readers go on to
 * see.
 */
static void add_spaces(struct mm_struct *mm, unsigned long more)
{
	unsigned long pages[PAGE_COLOR_KINDS];
	struct page_color_space *first, *space;
	int nid, kind;

	first = rcu_dereference_protected(mm->page_color.spaces, true);
	for (kind = 0; kind < PAGE_COLOR_KINDS; kind++)
		pages[kind] = held_pages(mm, kind);
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

/**
 * struct count - a walk through page tables
 * @huge: huge pages are counted
 * @small: so are small ones
 * @again: those that will move
 */
struct count {
	bool huge;
	bool small;
	struct page_color_again again;
};

/* Whether a page that was counted before has the color of a page. */
static bool is_counted(const struct page_color_space *space, u32 color)
{
	return page_color_held_word(space->walked, color / 64) >> color % 64 & 1;
}

static u64 mark_counted(struct page_color_space *space,
			struct page_color_live *live, u32 word, u64 mask)
{
	if (space->walked)
		page_color_held_mark(space->walked, word, mask);
	return page_color_mark(space, live, word, mask);
}

/*
 * Whether others have the color, while there are colors that nobody has. It is asked
 * for pages that were taken before the address space was large, and so are not marked:
 * from then on it is among those who hold its colors.
 */
static bool others_hold(struct page_color_space *space, u32 color)
{
	struct page_color_node *node = node_of(space);

	if (space->seen || !node || !node->live || READ_ONCE(node->live->level) ||
	    page_color_held_word(&space->held, color / 64) >> color % 64 & 1)
		return false;
	return !(page_color_live_few(node->live, color / 64) >> color % 64 & 1);
}

/*
 * A small page whose color another page of the address space has is not counted, but
 * shall move. So shall one whose color others have, but it is counted until it has
 * moved.
 */
static void count_small(struct count *count, struct vm_area_struct *vma,
			struct page_color_space *space, struct page *page)
{
	struct folio *folio = page_folio(page);
	u32 color = color_in(space, page);

	if (space->walked && !page_color_full(space)) {
		if (is_counted(space, color)) {
			page_color_again_add(&count->again, vma, folio, true);
			return;
		}
		if (others_hold(space, color))
			page_color_again_add(&count->again, vma, folio, false);
	}
	for_words(space, page_to_pfn(page), 1, mark_counted);
}

/* Spaces that are not counted keep what they hold. */
static void count_pages(struct mm_walk *walk, struct page *page, unsigned long nr)
{
	struct page_color_space *space;

	if (!page || !page_color_is_held(page_folio(page)))
		return;
	rcu_read_lock();
	space = page_color_space(walk->mm, page_to_nid(page), kind_of(page));
	if (!space || !READ_ONCE(space->counted))
		goto out;
	if (nr == 1)
		count_small(walk->private, walk->vma, space, page);
	else
		for_words(space, page_to_pfn(page), nr, mark_counted);
out:
	rcu_read_unlock();
}

static int count_pmd(pmd_t *pmd, unsigned long address, unsigned long end,
		     struct mm_walk *walk)
{
	struct vm_area_struct *vma = walk->vma;
	struct count *count = walk->private;
	struct page *page;
	pte_t *start, *pte;
	/* Of the page table. */
	spinlock_t *lock;

	lock = pmd_trans_huge_lock(pmd, vma);
	if (lock) {
		page = count->huge && pmd_present(*pmd) ?
			vm_normal_page_pmd(vma, address, *pmd) : NULL;
		count_pages(walk, page, HPAGE_PMD_NR);
		spin_unlock(lock);
		cond_resched();
		return 0;
	}
	if (!count->small) {
		cond_resched();
		return 0;
	}
	start = pte_offset_map_lock(walk->mm, pmd, address, &lock);
	if (!start)
		return 0;
	for (pte = start; address < end; pte++, address += PAGE_SIZE) {
		pte_t entry = ptep_get(pte);

		if (!pte_present(entry))
			continue;
		count_pages(walk, vm_normal_page(vma, address, entry), 1);
	}
	pte_unmap_unlock(start, lock);
	cond_resched();
	return 0;
}

/* Huge mappings of devices would be split, and nobody holds what they map. */
static int skip_vma(unsigned long start, unsigned long end, struct mm_walk *walk)
{
	return walk->vma->vm_flags & VM_PFNMAP || vma_is_dax(walk->vma);
}

static const struct mm_walk_ops count_ops = {
	.pmd_entry = count_pmd,
	.test_walk = skip_vma,
	.walk_lock = PGWALK_RDLOCK,
};

/* The counts of all colors that a space counts for go up or down. */
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
		node = node_of(space);
		if (node && node->live)
			count(node->live, word, held);
		rcu_read_unlock();
		if (!(word % 1024))
			cond_resched();
	}
}

/* Fewer hold colors now: the level of those that few hold may be lower. */
static void adjust_level(const struct page_color_space *space)
{
	struct page_color_node *node;

	rcu_read_lock();
	node = node_of(space);
	if (node && node->live)
		page_color_live_adjust(node->live);
	rcu_read_unlock();
}

/* Nobody uses them any more but for CPUs that have pages ready for them. */
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
		adjust_level(space);
		page_color_space_put(space);
	}
}

/* Those that were made for another geometry hold nothing that counts. */
static void drop_stale(struct mm_struct *mm)
{
	struct page_color_space *first, *space;
	bool stale = false;

	first = rcu_dereference_protected(mm->page_color.spaces, true);
	rcu_read_lock();
	for (space = first; space; space = space->next)
		stale = stale || !node_of(space);
	rcu_read_unlock();
	if (!stale)
		return;
	RCU_INIT_POINTER(mm->page_color.spaces, NULL);
	retire_spaces(first);
}

static u64 see(struct page_color_space *space, struct page_color_live *live,
	       u32 word, u64 mask)
{
	spin_lock_irq(&space->lock);
	page_color_held_mark(space->seen, word, mask);
	spin_unlock_irq(&space->lock);
	return 0;
}

static void see_coming_of(struct task_struct *process,
			  struct page_color_space *space)
{
	struct task_struct *task;

	for_each_thread(process, task) {
		struct page_color_task *its = &task->page_color;

		/* If not, page tables have what it has mapped. */
		if (smp_load_acquire(&its->coming) == space)
			for_words(space, READ_ONCE(its->coming_color),
				  1UL << READ_ONCE(its->coming_order), see);
	}
}

/*
 * What was marked before and is mapped by now will be seen, or is about to be mapped: by
 * threads of current, or of the owner.
 */
static void see_coming(struct mm_struct *mm, struct page_color_space *space)
{
	struct task_struct *owner = NULL;

	rcu_read_lock();
	if (current->mm == mm)
		see_coming_of(current, space);
#ifdef CONFIG_MEMCG
	owner = rcu_dereference(mm->owner);
#endif
	if (owner && !same_thread_group(owner, current))
		see_coming_of(owner, space);
	rcu_read_unlock();
}

/*
 * From here on marks are noted, too. Pages that CPUs have ready are marked but
 * in no page table: they are given back. The first time nothing is marked yet but what
 * came since the space was made.
 */
static void begin_count(struct mm_struct *mm, struct page_color_space *space)
{
	struct page_color_held *seen;

	WRITE_ONCE(space->recount, false);
	space->crowded = xchg(&space->crowd, 0);
	if (space->fresh) {
		space->fresh = false;
		space->counted = !page_color_full(space) &&
			counts_first(space, held_pages(mm, space->kind));
		if (space->counted && space->direct)
			space->walked = make_held(space->held.colors);
		return;
	}
	/* A color held twice cannot be told from one held once. */
	if (page_color_full(space) &&
	    !page_color_shrunk(space, held_pages(mm, space->kind)))
		return;
	seen = make_held(space->held.colors);
	if (!seen)
		return;
	if (space->direct)
		space->walked = make_held(space->held.colors);
	spin_lock_irq(&space->lock);
	space->seen = seen;
	space->marked = 0;
	spin_unlock_irq(&space->lock);
	WRITE_ONCE(space->counted, true);
	page_color_drop_runs(space);
	see_coming(mm, space);
}

/*
 * A word of what was seen, or marked meanwhile, is what is held. If the last color has
 * been taken since the first word, all count as held again: it stays so.
 */
static void use_seen(struct page_color_space *space,
		     struct page_color_live *live, u32 word)
{
	u64 held, counted;

	spin_lock_irq(&space->lock);
	if (space->rounded)
		goto out;
	held = page_color_held_word(space->seen, word);
	counted = page_color_held_word(&space->held, word);
	page_color_held_unmark(&space->held, word, ~held);
	if (word >= space->full_from) {
		page_color_held_mark(&space->held, word, held);
		WRITE_ONCE(space->full_from, word + 1);
		counted = page_color_valid(space->held.colors, word);
	}
	if (live)
		page_color_live_sub(live, word, counted & ~held);
out:
	spin_unlock_irq(&space->lock);
}

/*
 * What was neither seen nor marked meanwhile is not held, if all was looked at. Else it
 * is counted later.
 */
static void end_count(struct page_color_space *space, bool whole)
{
	struct page_color_held *seen = space->seen;
	u32 word;

	WRITE_ONCE(space->counted, false);
	kvfree(space->walked);
	space->walked = NULL;
	if (!whole)
		WRITE_ONCE(space->recount, true);
	if (!seen)
		return;
	spin_lock_irq(&space->lock);
	space->rounded = false;
	spin_unlock_irq(&space->lock);
	for (word = 0; whole && word < page_color_words(seen->colors); word++) {
		struct page_color_node *node;

		rcu_read_lock();
		node = node_of(space);
		if (node)
			use_seen(space, node->live, word);
		rcu_read_unlock();
		if (!(word % 1024))
			cond_resched();
	}
	spin_lock_irq(&space->lock);
	if (page_color_held_round(&space->held))
		WRITE_ONCE(space->full_from, 0);
	space->seen = NULL;
	spin_unlock_irq(&space->lock);
	kvfree(seen);
}

/*
 * To count is to look at all pages: some are worth it when they are one in so many; more
 * each time that none moved, after a few times, and, of programs that are not looked at in
 * a moment, each time until it takes longer to move them than to look for them.
 */
#define PAGE_COLOR_CROWD	2048
#define PAGE_COLOR_MOMENT	65536
#define PAGE_COLOR_FEW_TIMES	4

static unsigned long worth_a_count(struct mm_struct *mm,
				   const struct page_color_space *space)
{
	unsigned long pages = page_color_pages(mm, space->kind);
	int vainly = max(READ_ONCE(space->vainly) - PAGE_COLOR_FEW_TIMES, 0);

	return max(pages / PAGE_COLOR_CROWD, 1UL) <<
	       min(vainly + READ_ONCE(space->crowds), 16);
}

static bool add_to_crowd(struct mm_struct *mm, struct page_color_space *space,
			 unsigned int pages)
{
	if (!IS_ENABLED(CONFIG_MIGRATION) || space->kind != PAGE_COLOR_ANON ||
	    !space->direct || page_color_full(space))
		return false;
	/* Threads may miss each other's. */
	pages += READ_ONCE(space->crowd);
	WRITE_ONCE(space->crowd, pages);
	if (pages < worth_a_count(mm, space))
		return false;
	WRITE_ONCE(space->recount, true);
	return true;
}

/* Small pages in the way of huge ones have moved, if they could. */
static void end_crowd(struct mm_struct *mm, struct page_color_space *space,
		      bool moved)
{
	u32 crowd = space->crowded;

	if (moved)
		WRITE_ONCE(space->vainly, 0);
	if (crowd < worth_a_count(mm, space))
		return;
	if (!moved && space->vainly < 16 + PAGE_COLOR_FEW_TIMES)
		WRITE_ONCE(space->vainly, space->vainly + 1);
	if (crowd < page_color_again_pays(mm) &&
	    page_color_pages(mm, space->kind) >= PAGE_COLOR_MOMENT &&
	    space->crowds < ilog2(PAGE_COLOR_CROWD / PAGE_COLOR_PAYS))
		WRITE_ONCE(space->crowds, space->crowds + 1);
}

/* Who counts for others does not wait for them. */
static bool lock_to_count(struct mm_struct *mm)
{
	return current->mm == mm ? !mmap_read_lock_killable(mm) :
				   mmap_read_trylock(mm);
}

bool page_color_is_in_vain(const struct mm_struct *mm)
{
	if (current->mm == mm)
		return fatal_signal_pending(current);
	return atomic_read(&mm->mm_users) == 1 || freezing(current);
}

/* Between parts of this size others may have mmap_lock. */
#define PAGE_COLOR_WALK	SZ_64M

/*
 * Pages that come meanwhile are marked. Those that mremap() moves to where was looked
 * before are missed until the next count. False, without mmap_lock, if not all was
 * looked at.
 */
static bool walk(struct mm_struct *mm, struct count *count)
{
	struct vm_area_struct *vma;
	unsigned long at = 0, end;

	while ((vma = find_vma(mm, at))) {
		at = max(at, vma->vm_start);
		end = min(ALIGN(at + 1, PAGE_COLOR_WALK), vma->vm_end);
		walk_page_range(mm, at, end, &count_ops, count);
		at = end;
		if (page_color_is_in_vain(mm)) {
			mmap_read_unlock(mm);
			return false;
		}
		if (!mmap_lock_is_contended(mm))
			continue;
		mmap_read_unlock(mm);
		cond_resched();
		if (!lock_to_count(mm))
			return false;
	}
	return true;
}

/* Where pages may move, huge ones are counted first, for they do not. */
static bool count_all(struct mm_struct *mm, struct count *count, bool direct)
{
	count->huge = true;
	count->small = !direct;
	if (!walk(mm, count))
		return false;
	if (!direct)
		return true;
	/* Pages that have just come could not be moved. */
	lru_add_drain();
	count->huge = false;
	count->small = true;
	return walk(mm, count);
}

/*
 * Somebody else is at it, and may be past what this task has mapped. If it is the first
 * count, this need not be marked: there may have been no space when it was taken.
 */
static void count_later(struct mm_struct *mm)
{
	struct page_color_space *space;

	rcu_read_lock();
	for (space = rcu_dereference(mm->page_color.spaces); space;
	     space = space->next)
		if (READ_ONCE(space->counted) && !READ_ONCE(space->seen))
			WRITE_ONCE(space->recount, true);
	rcu_read_unlock();
}

/*
 * No lock is held. Threads of @mm go on: what they take meanwhile is marked at
 * once.
 */
static void count_spaces(struct mm_struct *mm)
{
	bool counted = false, direct = false, whole = true, more;
	struct page_color_space *first, *space;
	struct count count;

	page_color_again_begin(&count.again, mm);
	if (cmpxchg(&mm->page_color.counting, 0, 1)) {
		count_later(mm);
		return;
	}
	if (!lock_to_count(mm))
		goto out;
	drop_stale(mm);
	add_spaces(mm, 0);
	first = rcu_dereference_protected(mm->page_color.spaces, true);
	for (space = first; space; space = space->next) {
		begin_count(mm, space);
		counted = counted || space->counted;
		direct = direct || space->walked;
	}
	if (counted)
		whole = count_all(mm, &count, direct);
	for (space = first; space; space = space->next)
		end_count(space, whole);
	if (whole)
		mmap_read_unlock(mm);
	more = page_color_again_move(&count.again);
	for (space = first; space; space = space->next) {
		end_crowd(mm, space, count.again.moved);
		if (more)
			WRITE_ONCE(space->recount, true);
	}
out:
	/* Whoever counts next sees what this has changed. */
	smp_store_release(&mm->page_color.counting, 0);
}

/* @more pages make it large in some node, which has a cache. */
static bool becomes_large(struct mm_struct *mm, unsigned long more)
{
	unsigned long pages = page_color_pages(mm, PAGE_COLOR_ANON);
	bool becomes = false;
	int nid;

	rcu_read_lock();
	for_each_node_state(nid, N_MEMORY) {
		struct page_color_node *node =
			rcu_dereference(page_color_nodes[nid]);

		becomes = becomes || (node && pages < node->large &&
				      pages + more >= node->large);
	}
	rcu_read_unlock();
	return becomes;
}

/*
 * Once: if there is no memory for it, it is made where it is found to have grown. Whoever
 * changes the list has @counting. No space is dropped: others may look at the list under
 * mmap_lock alone. Without CONFIG_NUMA nobody says for whom anonymous memory is.
 */
void __page_color_expect(struct mm_struct *mm, unsigned long more)
{
	struct page_color_space *space;

	if (!IS_ENABLED(CONFIG_NUMA) || !becomes_large(mm, more) ||
	    cmpxchg(&mm->page_color.counting, 0, 1))
		return;
	add_spaces(mm, more);
	space = rcu_dereference_protected(mm->page_color.spaces, true);
	for (; space; space = space->next)
		if (space->fresh)
			WRITE_ONCE(space->recount, true);
	/* Whoever counts next sees what this has changed. */
	smp_store_release(&mm->page_color.counting, 0);
}

/* In the context of the task, on its way to user mode. */
static void count_own_spaces(struct callback_head *work)
{
	kfree(work);
	if (current->mm)
		count_spaces(current->mm);
}

/* Whether the current task comes to user mode with the address space. */
static bool is_own(const struct mm_struct *mm)
{
	return current->mm == mm && !(current->flags & (PF_KTHREAD | PF_EXITING));
}

/* Once for all who ask until then. Without memory it is asked for again later. */
static void request_count(gfp_t gfp)
{
	struct callback_head *work;

	work = task_work_cancel_func(current, count_own_spaces);
	if (!work) {
		/* The caller may hold locks that reclaim would take. */
		work = kmalloc(sizeof(*work), (gfp & GFP_RECLAIM_MASK) |
			       __GFP_NOWARN | __GFP_NORETRY);
		if (!work)
			return;
		init_task_work(work, count_own_spaces);
	}
	if (task_work_add(current, work, TWA_RESUME))
		kfree(work);
}

void page_color_crowd(struct mm_struct *mm, int nid, unsigned int pages,
		      gfp_t gfp)
{
	struct page_color_space *space;
	bool count = false;

	rcu_read_lock();
	space = page_color_space(mm, nid, PAGE_COLOR_ANON);
	if (space)
		count = add_to_crowd(mm, space, pages);
	rcu_read_unlock();
	if (count && is_own(mm))
		request_count(gfp);
}

/*
 * Other pages have colors of a block that current has got, too: so many. Of larger
 * pages that are mapped by small ones it is not known which came first.
 */
static void crowd_by_block(struct mm_struct *mm, struct page_color_space *space,
			   unsigned int order, unsigned int stay)
{
	/* Those that leave are among them, and told by themselves. */
	if (!stay || order < pageblock_order || current->page_color.leaving)
		return;
	/* As many shall find another color. */
	if (space->held.colors - READ_ONCE(space->held.taken) >= stay &&
	    !page_color_set_of_node(mm, space->nid))
		add_to_crowd(mm, space, stay);
}

void page_color_take_block(struct page_color_space *space, unsigned long frame,
			   unsigned int order)
{
	unsigned int size = 1U << order, taken;

	page_color_comes(space, frame % space->held.colors, order);
	rcu_read_lock();
	taken = for_words(space, frame, size, page_color_take);
	crowd_by_block(current->page_color.whom, space, order, size - taken);
	rcu_read_unlock();
}

void __page_color_settle(struct mm_struct *mm)
{
	struct mem_cgroup *memcg, *before;
	struct page_color_space *space;
	bool count = false;

	rcu_read_lock();
	for (space = rcu_dereference(mm->page_color.spaces); space;
	     space = space->next)
		count = count || READ_ONCE(space->recount);
	rcu_read_unlock();
	if (!count || !mmget_not_zero(mm))
		return;
	memcg = get_mem_cgroup_from_mm(mm);
	before = set_active_memcg(memcg);
	count_spaces(mm);
	set_active_memcg(before);
	mem_cgroup_put(memcg);
	mmput_async(mm);
}

/*
 * Whether it is time to look at how much an address space holds: it has got as
 * many pages as make it large, and does not seem to have given them back.
 */
static bool has_grown(struct mm_struct *mm, enum page_color_kind kind,
		      const struct folio *folio)
{
	unsigned long limit = large(folio_nid(folio)), pages;

	/* Threads may miss each other's pages; it is looked at a little later. */
	pages = READ_ONCE(mm->page_color.pages[kind]) + folio_nr_pages(folio);
	if (limit && pages >= limit) {
		/* The folio is not mapped yet; a huge page may be the first one. */
		pages = held_pages(mm, kind) + folio_nr_pages(folio);
		if (pages >= limit) {
			/* A page more or less makes no difference. */
			WRITE_ONCE(mm->page_color.pages[kind], 0);
			return true;
		}
	}
	WRITE_ONCE(mm->page_color.pages[kind], pages);
	return false;
}

/* What was chosen comes here, too, if colors will be counted anyway. */
static void take_default(struct mm_struct *whom, struct page_color_space *space,
			 struct folio *folio)
{
	u32 color = folio_pfn(folio) % space->held.colors;
	unsigned int order = folio_order(folio), taken;

	if (order && page_color_is_coming(space, color, order))
		return;
	if (order)
		page_color_comes(space, color, order);
	taken = for_words(space, folio_pfn(folio), 1UL << order,
			  page_color_take);
	if (!READ_ONCE(space->recount))
		crowd_by_block(whom, space, order, (1U << order) - taken);
}

/*
 * What the default path has given to an address space is held by it, too; a page
 * that is marked already is not changed by it. What the address space holds is
 * counted when it has grown large, or is not what is noted for it.
 */
noinline void __page_color_end(struct mm_struct *whom,
			       enum page_color_kind kind, gfp_t gfp,
			       struct folio *folio)
{
	struct page_color_space *space;
	bool own = is_own(whom), count = false;

	/* Nobody holds pages of other files. */
	if (!folio || kind == PAGE_COLOR_KINDS)
		return;
	rcu_read_lock();
	space = page_color_space(whom, folio_nid(folio), kind);
	if (space) {
		take_default(whom, space, folio);
		count = own && READ_ONCE(space->recount);
	}
	rcu_read_unlock();
	if (own && !space)
		count = has_grown(whom, kind, folio);
	if (count)
		request_count(gfp);
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
		page_color_end(whom, kind, gfp, folio);
	return folio;
}

struct folio *page_color_alloc_file_noprof(gfp_t gfp, unsigned int order)
{
	struct folio *folio;

	if (!page_color_begin(PAGE_COLOR_FILE, PAGE_COLOR_SHMEM))
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
 * It maps what its parent maps: the colors need not be looked for again, but
 * where add_spaces() does not ask for them either. The parent's mmap_lock is held
 * for writing, so that its spaces stay.
 */
void page_color_copy_mm(struct mm_struct *mm, struct mm_struct *from)
{
	struct page_color_space *first = NULL, *space, *old;
	u32 word;

	old = rcu_dereference_protected(from->page_color.spaces,
					lockdep_is_held(&from->mmap_lock));
	for (; old; old = old->next) {
		space = old->direct ? make_space(old->nid, old->kind) : NULL;
		if (!space)
			continue;
		if (space->node != old->node) {
			kvfree(space);
			continue;
		}
		/* Pages that CPUs have ready are marked, and are not copied. */
		if (refcount_read(&old->refs) > 1)
			page_color_drop_runs(old);
		space->full_from = old->full_from;
		for (word = 0; word < page_color_words(old->held.colors); word++)
			page_color_held_mark(&space->held, word,
					     page_color_held_word(&old->held,
								  word));
		/* Not all of it is copied: MADV_DONTFORK, for one. */
		if (READ_ONCE(old->recount) || READ_ONCE(old->counted) ||
		    page_color_holds_less(space,
					  held_pages(mm, space->kind)))
			space->recount = true;
		count_held(space, page_color_live_add);
		space->next = first;
		first = space;
	}
	rcu_assign_pointer(mm->page_color.spaces, first);
}

/* Its page tables are gone, and nobody will use it any more. */
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
