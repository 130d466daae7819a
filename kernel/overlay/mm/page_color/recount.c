// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the colors that an address space holds by its page tables: when it has become
 * large, and again when many pages may have been unmapped without being reported. Pages
 * for which another color is better are moved then.
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
#include <linux/swapops.h>
#include <linux/task_work.h>

#include "space.h"
#include "../internal.h"

/* A small program has so many pages, and uses few of them all the time. */
#define PAGE_COLOR_SMALL_PROGRAM	128

/*
 * Whether the pages that are there when an address space becomes large count as held.
 * Where a color has room for several pages, a bit cannot tell how many there are: the
 * pages count if they are fewer than one of each color. Where the cache is small they are
 * those that any program has, and pages that come from now on are spread evenly without
 * them.
 */
static bool counts_first(const struct page_color_space *space,
			 unsigned long pages)
{
	return space->direct || (pages >= PAGE_COLOR_SMALL_PROGRAM &&
				 pages < space->held.colors);
}

/**
 * struct count - a walk through page tables
 * @huge: huge pages are counted
 * @small: small pages are counted
 * @again: pages that will move
 */
struct count {
	bool huge;
	bool small;
	struct page_color_again again;
};

/* Whether a page that was counted before has the color. */
static bool is_counted(const struct page_color_space *space, u32 color)
{
	return page_color_held_word(space->walked, color / 64) >> color % 64 & 1;
}

/* What an address space has when it has just become large was taken lately. */
static u64 mark_counted(struct page_color_space *space,
			struct page_color_live *live, u32 word, u64 mask)
{
	if (space->walked)
		page_color_held_mark(space->walked, word, mask);
	if (space->seen)
		return page_color_mark(space, live, word, mask);
	return page_color_take(space, live, word, mask);
}

/*
 * Whether other programs hold the color, while there are colors that nobody holds. It is
 * asked for pages that were taken before the address space was large, and so are not
 * marked: once they are, the address space is one of the holders.
 */
static bool others_hold(struct page_color_space *space, u32 color)
{
	struct page_color_node *node = space_node(space);

	if (space->seen || !node || !node->live || READ_ONCE(node->live->level) ||
	    page_color_held_word(&space->held, color / 64) >> color % 64 & 1)
		return false;
	return !(page_color_live_few(node->live, color / 64) >> color % 64 & 1);
}

/*
 * A small page is not counted, but shall move, if another page of the address space has
 * its color. If other programs hold its color it shall move, too, and is counted until it
 * has moved.
 */
static void count_small(struct count *count, struct vm_area_struct *vma,
			struct page_color_space *space, struct page *page)
{
	struct folio *folio = page_folio(page);
	u32 color = space_color(space, page);

	/* One that held all colors and is counted again has shrunk. */
	if (space->walked && (space->seen || !page_color_full(space))) {
		if (is_counted(space, color)) {
			page_color_again_add(&count->again, vma, folio, true);
			return;
		}
		if (others_hold(space, color))
			page_color_again_add(&count->again, vma, folio, false);
	}
	space_words(space, page_to_pfn(page), 1, mark_counted);
}

/*
 * Marks the colors of pages; a space that is not being counted keeps what it holds. Only a
 * small page that is in the page table may move.
 */
static void count_pages(struct mm_walk *walk, struct page *page, unsigned long nr,
			bool present)
{
	struct page_color_space *space;

	if (!page || !page_color_is_held(page_folio(page)))
		return;
	rcu_read_lock();
	space = page_color_space(walk->mm, page_to_nid(page), page_kind(page));
	if (!space || !READ_ONCE(space->counted))
		goto out;
	if (nr == 1 && present)
		count_small(walk->private, walk->vma, space, page);
	else
		space_words(space, page_to_pfn(page), nr, mark_counted);
out:
	rcu_read_unlock();
}

/* A page that is moved or split is in no page table. It holds its color meanwhile. */
static struct page *moving_page(swp_entry_t entry)
{
	return is_migration_entry(entry) ? pfn_swap_entry_to_page(entry) : NULL;
}

static struct page *small_page(struct vm_area_struct *vma, unsigned long address,
			       pte_t entry)
{
	if (pte_present(entry))
		return vm_normal_page(vma, address, entry);
	return is_swap_pte(entry) ? moving_page(pte_to_swp_entry(entry)) : NULL;
}

static struct page *huge_page(struct vm_area_struct *vma, unsigned long address,
			      pmd_t entry)
{
	if (pmd_present(entry))
		return vm_normal_page_pmd(vma, address, entry);
	return is_swap_pmd(entry) ? moving_page(pmd_to_swp_entry(entry)) : NULL;
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
		page = count->huge ? huge_page(vma, address, *pmd) : NULL;
		count_pages(walk, page, HPAGE_PMD_NR, true);
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

		count_pages(walk, small_page(vma, address, entry), 1,
			    pte_present(entry));
	}
	pte_unmap_unlock(start, lock);
	cond_resched();
	return 0;
}

/* A walk would split huge mappings of devices, and what they map is not held. */
static int skip_vma(unsigned long start, unsigned long end, struct mm_walk *walk)
{
	return walk->vma->vm_flags & VM_PFNMAP || vma_is_dax(walk->vma);
}

static const struct mm_walk_ops count_ops = {
	.pmd_entry = count_pmd,
	.test_walk = skip_vma,
	.walk_lock = PGWALK_RDLOCK,
};

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

		/* If it is no longer set, the block is in a page table. */
		if (smp_load_acquire(&its->coming) == space)
			space_words(space, READ_ONCE(its->coming_color),
				    1UL << READ_ONCE(its->coming_order), see);
	}
}

/*
 * Marks a block that a thread of current or of the owner has taken before the count began
 * and has not mapped yet: the walk through page tables may miss it.
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
 * Begins to count a space: from here on colors that are marked are noted in @seen, too.
 * Pages on CPUs' lists are marked as held but in no page table: they are given back. For
 * the first count @seen is not needed: only what came since the space was made is marked.
 */
static void begin_count(struct mm_struct *mm, struct page_color_space *space)
{
	struct page_color_held *seen;

	WRITE_ONCE(space->recount, false);
	if (space->fresh) {
		space->fresh = false;
		space->counted = !page_color_full(space) &&
			counts_first(space,
				     page_color_held_pages(mm, space->kind));
		if (space->counted && space->direct)
			space->walked = page_color_make_held(space->held.colors);
		return;
	}
	/* A bit cannot tell whether a color has one page or several. */
	if (page_color_full(space) &&
	    !page_color_shrunk(space, page_color_held_pages(mm, space->kind)))
		return;
	seen = page_color_make_held(space->held.colors);
	if (!seen)
		return;
	if (space->direct)
		space->walked = page_color_make_held(space->held.colors);
	spin_lock_irq(&space->lock);
	space->seen = seen;
	WRITE_ONCE(space->marked, 0);
	spin_unlock_irq(&space->lock);
	WRITE_ONCE(space->counted, true);
	page_color_drop_runs(space);
	see_coming(mm, space);
}

/*
 * Colors of a word are held that were seen in page tables, or marked meanwhile. If the
 * space has held all colors since the first word was looked at, all words count as held
 * again, and stay so.
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
 * Ends the count of a space. If the @whole address space was looked at, colors are not
 * held any more that were neither seen nor marked meanwhile. Else the space is counted
 * later.
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
		node = space_node(space);
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

/* A task that counts another address space does not wait for its lock. */
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

/* After each part of this size others may take mmap_lock. */
#define PAGE_COLOR_WALK	SZ_64M

/*
 * Pages that come meanwhile are marked. Pages that mremap() moves to a place that was
 * looked at before are missed until the next count. Returns false, without mmap_lock, if
 * not all was looked at.
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

/* Where pages may move, huge ones are counted first, since they stay. */
static bool count_all(struct mm_struct *mm, struct count *count, bool direct)
{
	count->huge = true;
	count->small = !direct;
	if (!walk(mm, count))
		return false;
	if (!direct)
		return true;
	/* Pages that wait to be added to the LRU lists could not be isolated. */
	lru_add_drain();
	count->huge = false;
	count->small = true;
	return walk(mm, count);
}

/*
 * Another task is counting, and may have passed what this task has mapped since. In a
 * first count that page may be unmarked: there may have been no space when it was taken.
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
 * Counts all spaces of an address space. The caller holds no lock. Threads of @mm go on
 * running: what they take meanwhile is marked at once.
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
	page_color_drop_stale(mm);
	page_color_add_spaces(mm, 0);
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
	for (space = first; more && space; space = space->next)
		WRITE_ONCE(space->recount, true);
out:
	/* The next one that sets @counting sees what was changed here. */
	smp_store_release(&mm->page_color.counting, 0);
}

/* In the context of the task, on its way to user mode. */
static void count_own_spaces(struct callback_head *work)
{
	kfree(work);
	if (current->mm)
		count_spaces(current->mm);
}

/* One count serves all requests until then. Without memory, a later request is made. */
void page_color_request_count(void)
{
	struct callback_head *work;

	work = task_work_cancel_func(current, count_own_spaces);
	if (!work) {
		/* The caller may hold locks that reclaim would take. */
		work = kmalloc(sizeof(*work), GFP_NOWAIT | __GFP_NOWARN);
		if (!work)
			return;
		init_task_work(work, count_own_spaces);
	}
	if (task_work_add(current, work, TWA_RESUME))
		kfree(work);
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
	if (!count && !current->page_color.room)
		return;
	if (!mmget_not_zero(mm)) {
		page_color_settle_room(NULL);
		return;
	}
	memcg = get_mem_cgroup_from_mm(mm);
	before = set_active_memcg(memcg);
	page_color_settle_room(mm);
	if (count)
		count_spaces(mm);
	set_active_memcg(before);
	mem_cgroup_put(memcg);
	mmput_async(mm);
}
