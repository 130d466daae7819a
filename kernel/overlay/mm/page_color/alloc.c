// SPDX-License-Identifier: GPL-2.0-only
/* Which frames an allocation of a small page gets. */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmstat.h>

#include "alloc.h"

#define CREATE_TRACE_POINTS
#include <trace/events/page_color.h>

void page_color_run_begin(struct page_color_run *run,
			  const struct page_color_ask *ask)
{
	if (!page_color_run_fits(run, ask)) {
		page_color_space_put(run->space);
		run->space = ask->space;
		if (run->space && !refcount_inc_not_zero(&run->space->refs))
			run->space = NULL;
		run->set = ask->set ? ask->set->id : 0;
		run->longest = 0;
		memset(run->skip, 0, sizeof(run->skip));
	}
}

/*
 * Marks the chosen colors of a word as held. Returns those that may be used: not lacked
 * colors that another thread of the program has taken since they were chosen, nor colors
 * that few held and another program has taken, if both lacked and held by few is wanted.
 */
static u64 take_wanted(struct page_color_space *space,
		       struct page_color_live *live, u32 word, u64 some,
		       const struct page_color_wish *wish, unsigned int want)
{
	const unsigned int both = PAGE_COLOR_LACKED | PAGE_COLOR_FEW;
	u64 fresh;

	if (want & PAGE_COLOR_OLD) {
		some = page_color_lately_claim(live->lately, word, some,
					       wish->old);
		if (!some)
			return 0;
	}
	if ((want & both) == both)
		fresh = page_color_claim(space, live, word, some);
	else
		fresh = page_color_take(space, live, word, some);
	return want & PAGE_COLOR_LACKED ? fresh : some;
}

/*
 * The most words that one search passes: for the best colors, for others, and for colors
 * that were not taken lately, for which up to four searches are made. The next search
 * continues where this one has ended.
 */
#define PAGE_COLOR_BEST_WORDS	16384
#define PAGE_COLOR_WORDS	4096
#define PAGE_COLOR_OLD_WORDS	1024
#define PAGE_COLOR_OLD_TRIES	4
#define PAGE_COLOR_OLDEST_WORDS	4096U

static u32 most_words(unsigned int want)
{
	if (want & PAGE_COLOR_OLD)
		return PAGE_COLOR_OLD_WORDS;
	if (want & PAGE_COLOR_LACKED && want & PAGE_COLOR_FEW)
		return PAGE_COLOR_BEST_WORDS;
	return PAGE_COLOR_WORDS;
}

/*
 * Goes once through all words from the cursor on, or through as many as one search
 * passes; the first word is looked at in two parts. From pageblocks in use a space gets
 * all that it lacks of a word, from several copies, before the next word: pages next to
 * each other in virtual memory have neighboring colors then, and the colors that are
 * still lacked follow each other. A block needs such a row of lacked colors, and a huge
 * page that takes the place of small pages needs one that these leave. Whole pageblocks
 * are not cut for that.
 */
static unsigned int gather(const struct page_color_place *place,
			   struct page_color_space *space,
			   struct page_color_wish *wish, unsigned int want,
			   struct page_color_part *parts, unsigned int nr)
{
	struct page_color_memory *memory = &place->zone->memory;
	u32 colors = memory->colors, words = page_color_words(colors);
	u32 word = wish->cursor / 64, gone, step;
	unsigned int before = nr, wanted = wish->count;
	u32 most = most_words(want), passed = 0;
	bool fill = want & PAGE_COLOR_LACKED && space && wish->part;

	/* Up to four searches for old colors share the looks of one. */
	wish->looks = PAGE_COLOR_SEARCHED /
		      (want & PAGE_COLOR_OLD ? PAGE_COLOR_OLD_TRIES : 1);
	/* With few words a round may end, and the next begin, within a run. */
	for (gone = 0; gone <= max(words, 8U) && nr < PAGE_COLOR_PARTS;
	     gone += step, word += step) {
		u64 some;

		step = 1;
		/* Words without a color of the set do not count as passed. */
		if (!wish->looks || passed == most)
			break;
		passed++;
		/* One pass through all words has found nothing. */
		if (gone > words && nr == before)
			break;
		/* Pageblocks in use must give eight pages a word. */
		if (wish->part && gone >= 4 && wanted - wish->count < 8 * gone)
			break;
		if (word >= words)
			word = 0;
		if (wish->set && !page_color_set_word(wish->set, word)) {
			u32 next = page_color_set_next(wish->set, word * 64) / 64;

			gone += next > word ? next - word : words - word + next;
			word = next;
		}
		/* Near the end of a round the space lacks no color of most words. */
		if (want & PAGE_COLOR_LACKED && space &&
		    !page_color_held_lacks(&space->held, word))
			continue;
		some = page_color_wanted(wish, colors, word, want);
		if (!gone)
			some &= ~0ULL << wish->cursor % 64;
		else if (gone == words && words > 1)
			some &= page_color_low_bits(wish->cursor % 64);
		if (!some)
			continue;
		if (!page_color_choose_copy(memory, word, some, wish, parts,
					    nr, &parts[nr]))
			continue;
		some = page_color_first_bits(parts[nr].mask, wish->count);
		if (space)
			some = take_wanted(space, place->node->live, word, some,
					   wish, want);
		if (!some)
			continue;
		parts[nr].fresh = space && want & PAGE_COLOR_LACKED;
		parts[nr++].mask = some;
		wish->count -= hweight64(some);
		if (!wish->count)
			break;
		step = !fill;
	}
	if (nr == before) {
		/* A search that has ended early is continued by the next one. */
		if (!wish->looks || passed == most)
			wish->cursor = word < words ? 64 * word : 0;
		return nr;
	}
	if (space && place->node->live)
		page_color_live_adjust(place->node->live);
	wish->cursor = 64 * parts[nr - 1].word +
			       fls64(parts[nr - 1].mask);
	if (!wish->looks)
		wish->cursor = 64 * word;
	if (wish->cursor >= colors)
		wish->cursor = 0;
	return nr;
}

/*
 * How many of @count pages are worth taking zone->lock for. More are taken where a search
 * finds them, but whole pageblocks are not cut for more, and worse colors are not taken.
 */
static unsigned int enough(unsigned int count)
{
	return min(count, 512U);
}

/*
 * Whether pageblocks in use have enough free frames: whole ones are left for huge pages.
 */
static bool has_partial(const struct page_color_free *free, unsigned int count)
{
	return READ_ONCE(free->partial) >= 4 * enough(count);
}

/* Whether less than half of what would be enough was found. */
static bool is_little(unsigned int found, unsigned int count)
{
	return 2 * found < enough(count);
}

/* Takes frames from pageblocks in use first, as long as these have enough. */
static unsigned int gather_best(const struct page_color_place *place,
				struct page_color_space *space,
				struct page_color_wish *wish, unsigned int want,
				struct page_color_part *parts)
{
	const struct page_color_memory *memory = &place->zone->memory;
	unsigned int count = wish->count, nr = 0;

	wish->part = has_partial(memory->free, count) &&
		     page_color_many_partial(memory);
	if (wish->part)
		nr = gather(place, space, wish, want, parts, 0);
	wish->part = false;
	if (is_little(count - wish->count, count))
		nr = gather(place, space, wish, want, parts, nr);
	return nr;
}

/*
 * Some pages go without a report, and their colors would stay held for good.
 * When a space may hold many such colors it is counted anew, and when it was larger than
 * the cache and no longer is.
 */
static void check_space(struct page_color_space *space,
			const struct page_color_node *node, unsigned int run)
{
	struct mm_struct *mm = current->page_color.whom;
	unsigned long slack, pages;

	/* Pages on CPUs' lists are marked, and CPUs have parts of the page counter. */
	slack = node->colors / 64 + 64 * num_online_cpus() +
		(unsigned long)run * refcount_read(&space->refs);

	if (READ_ONCE(space->marked) < slack)
		return;
	pages = slack + page_color_pages(mm, space->kind);
	if (page_color_holds_less(space, pages)) {
		WRITE_ONCE(space->marked, 0);
		WRITE_ONCE(space->recount, true);
	}
}

/* The list of one CPU has pages of at most one in so many colors of a cache. */
#define PAGE_COLOR_SHARE	32

unsigned int page_color_fair_share(const struct page_color_space *space,
				   const struct page_color_live *live,
				   unsigned int count)
{
	/*
	 * One reference is that of the address space, and the current CPU has a run. A CPU
	 * that takes pages from two zones has two, and counts twice.
	 */
	u32 cpus = max(refcount_read(&space->refs), 2U) - 1, left;

	if (!live)
		return count;
	left = min(live->colors - READ_ONCE(space->held.taken),
		   (u32)max(atomic_read(&live->left), 0));
	left = min(left / 2 / cpus, live->colors / PAGE_COLOR_SHARE);
	return min(count, max(left, 4U));
}

/* Pageblocks that are looked at for one in use: 1 GiB of those of 2 MiB. */
#define PAGE_COLOR_REST	512

/*
 * An address space of up to so many times the cache, or one in so many pages of a zone if
 * that is more, has its pages spread evenly over the colors.
 */
#define PAGE_COLOR_EVEN		2
#define PAGE_COLOR_EVEN_PART	4

/*
 * An address space larger than that takes pages of any color from pageblocks in use. To
 * get each color equally often it would have to cut one whole pageblock after another for
 * the colors that pageblocks in use lack.
 */
static bool takes_rest(struct zone *zone,
		       const struct page_color_place *place,
		       const struct page_color_space *space,
		       const struct page_color_ask *ask, unsigned int count)
{
	const struct page_color_memory *memory = &place->zone->memory;
	unsigned long cache = PAGE_COLOR_LARGE * place->node->large;
	unsigned long many = max(PAGE_COLOR_EVEN * cache,
				 zone_managed_pages(zone) / PAGE_COLOR_EVEN_PART);

	if (!space || !page_color_full(space) || !place->node->live || ask->set)
		return false;
	/* gather_rest() takes frames by 64, which must have the colors of one word. */
	if (memory->colors % 64)
		return false;
	return has_partial(memory->free, count) &&
	       page_color_pages(current->page_color.whom, space->kind) > many;
}

/* Takes frames of pageblocks in use, one pageblock after the other. */
static unsigned int gather_rest(const struct page_color_place *place,
				struct page_color_space *space,
				unsigned int *count,
				struct page_color_part *parts)
{
	const struct page_color_memory *memory = &place->zone->memory;
	const struct page_color_free *free = memory->free;
	unsigned long end = free->start + free->chunks * PAGE_COLOR_CHUNK;
	unsigned long whole = 1UL << free->block_order;
	unsigned long frame = READ_ONCE(place->zone->rest);
	unsigned int blocks, nr = 0, i;

	for (blocks = 0; blocks < PAGE_COLOR_REST; blocks++) {
		unsigned int in_block = page_color_free_in_block(free, frame);

		if (in_block && in_block < whole)
			nr = page_color_gather_block(free, frame, count, parts, nr);
		if (!*count || nr == PAGE_COLOR_PARTS)
			break;
		frame += whole;
		if (frame >= end)
			frame = free->start;
	}
	WRITE_ONCE(place->zone->rest, frame);
	for (i = 0; i < nr; i++) {
		parts[i].word = parts[i].frame % memory->colors / 64;
		page_color_mark(space, place->node->live, parts[i].word,
				parts[i].mask);
	}
	return nr;
}

/* What is wanted, best first. */
static const unsigned int wants[PAGE_COLOR_WANTS] = {
	PAGE_COLOR_LACKED | PAGE_COLOR_FEW,
	PAGE_COLOR_LACKED,
	PAGE_COLOR_FEW,
	0,
};

/*
 * If nearly all colors are held, or no frame of a color that few hold is free, lacked
 * colors that were taken longest ago come first: the programs that hold them may be idle.
 */
static unsigned int old_first(const struct page_color_space *space,
			      struct page_color_wish *wish, unsigned int want)
{
	if (!space || !wish->live || !(want & PAGE_COLOR_LACKED))
		return want;
	if (want & PAGE_COLOR_FEW && !READ_ONCE(wish->live->level))
		return want;
	page_color_lately_adjust(wish->live->lately);
	wish->old = page_color_lately_level(wish->live->lately);
	return want | PAGE_COLOR_OLD;
}

/*
 * Where the search for old colors begins. It has a cursor of its own: a search that finds
 * nothing passes a part of the colors only, while the other searches are to continue
 * where they have last found something.
 */
static u32 old_cursor_of(const struct page_color_space *space, u32 cursor)
{
	u32 own = READ_ONCE(space->old_cursor);

	return own != PAGE_COLOR_NO_CURSOR ? own : cursor;
}

/*
 * Looks for wanted colors that are old, or else for those that were taken longest ago of
 * the words that are passed, up to the present generation. The search for their frames
 * begins there, and takes colors of that generation as old. Returns where the next one
 * begins if they were not old: there are some elsewhere.
 */
static u32 find_oldest(const struct page_color_place *place,
		       struct page_color_wish *wish, unsigned int want, u64 now)
{
	const struct page_color_lately *lately = wish->live->lately;
	u32 colors = place->zone->memory.colors, words = page_color_words(colors);
	u32 word = wish->cursor / 64, left = min(words, PAGE_COLOR_OLDEST_WORDS);
	u64 oldest = now;

	for (; left && oldest > wish->old; left--, word++) {
		u64 some;

		if (word >= words)
			word = 0;
		some = page_color_wanted(wish, colors, word, want);
		while (some && oldest > wish->old) {
			some &= page_color_lately_until(lately, word, oldest - 1);
			if (!some)
				break;
			oldest--;
			wish->cursor = 64 * word;
		}
	}
	wish->old = oldest;
	return word < words ? 64 * word : 0;
}

/* Pageblocks in use come first only for the best colors, and for old ones. */
static unsigned int gather_want(const struct page_color_place *place,
				struct page_color_space *space,
				struct page_color_wish *wish, unsigned int want,
				struct page_color_part *parts)
{
	unsigned int nr = 0, tries = PAGE_COLOR_OLD_TRIES;

	if (old_first(space, wish, want) != want) {
		u64 now = page_color_lately_now(wish->live->lately), level = wish->old;
		u32 cursor = wish->cursor, end;
		bool old;

		wish->cursor = old_cursor_of(space, cursor);
		end = find_oldest(place, wish, want, now);
		old = wish->old == level;
		/* Where no frame of them is free one more generation counts as old. */
		for (; !nr && tries-- && wish->old < now; wish->old++)
			nr = gather_best(place, space, wish,
					 want | PAGE_COLOR_OLD, parts);
		WRITE_ONCE(space->old_cursor, old ? wish->cursor : end);
		wish->cursor = cursor;
		if (nr)
			return nr;
	}
	if (want == wants[0])
		return gather_best(place, space, wish, want, parts);
	return gather(place, space, wish, want, parts, 0);
}

/* Freed pages that are looked at for each one that is taken. */
#define PAGE_COLOR_LOOKS	8

/*
 * The last pages of @list have the colors of @mask. Those whose color another thread or
 * program has taken meanwhile go back to @freed. Returns how many.
 */
static unsigned int claim_reused(struct page_color_space *space,
				 const struct page_color_wish *wish,
				 struct page_color_live *live, u32 word, u64 mask,
				 unsigned int want, struct list_head *freed,
				 struct list_head *list)
{
	unsigned int left, back = 0;
	struct page *page, *next;

	if (!space || !mask)
		return 0;
	left = hweight64(mask);
	mask &= ~take_wanted(space, live, word, mask, wish, want);
	list_for_each_entry_safe_reverse(page, next, list, pcp_list) {
		u32 color = page_to_pfn(page) % space->held.colors;

		if (!mask || !left--)
			break;
		if (!(mask >> color % 64 & 1))
			continue;
		list_move(&page->pcp_list, freed);
		back++;
	}
	return back;
}

unsigned int page_color_reuse(struct zone *zone,
			      const struct page_color_ask *ask,
			      unsigned int count, struct list_head *freed,
			      struct list_head *list)
{
	struct page_color_space *space = ask->space;
	struct page_color_wish wish = { .set = ask->set };
	unsigned int nr = 0, looked = 0, want;
	struct page *page, *next;
	u32 colors, word = U32_MAX;
	struct page_color_place place;
	u64 some = 0, mask = 0;

	if (!page_color_place_of(&place, zone) ||
	    (space && space->node != place.node->id))
		return 0;
	wish.held = space ? &space->held : NULL;
	wish.live = live_for(space, &place);
	want = old_first(space, &wish, wants[0]);
	if (space)
		count = page_color_fair_share(space, wish.live, count);
	colors = place.zone->memory.colors;
	list_for_each_entry_safe(page, next, freed, pcp_list) {
		u32 color = page_to_pfn(page) % colors;
		u64 bit = BIT_ULL(color % 64);

		if (nr == count || looked++ >= PAGE_COLOR_LOOKS * (nr + 1))
			break;
		if (color / 64 != word) {
			nr -= claim_reused(space, &wish, place.node->live, word,
					   mask, want, freed, list);
			mask = 0;
			word = color / 64;
			some = page_color_wanted(&wish, colors, word, want);
		}
		if (!(some & bit))
			continue;
		some &= ~bit;
		mask |= bit;
		list_move_tail(&page->pcp_list, list);
		nr++;
	}
	nr -= claim_reused(space, &wish, place.node->live, word, mask, want,
			   freed, list);
	if (!nr)
		return 0;
	if (space) {
		if (place.node->live)
			page_color_live_adjust(place.node->live);
		count_vm_events(PAGE_COLOR_BEST, nr);
	}
	trace_page_color_choose(zone, 0, count, nr);
	return nr;
}

/* Counts pages that were taken whatever their color. */
static void note_rest(struct zone *zone, const struct page_color_place *place,
		      struct page_color_space *space, unsigned int wished,
		      unsigned int chosen)
{
	trace_page_color_choose(zone, ARRAY_SIZE(wants) - 1, wished, chosen);
	check_space(space, place->node, wished);
	count_vm_events(PAGE_COLOR_OTHER, chosen);
}

/*
 * When memory is nearly full, pages come from reclaim and have any color, and the space
 * lacks few of these. A search takes as long for one page as for many, so if it has found
 * next to no lacked color it takes others, too. For a space larger than the cache see
 * takes_rest() and page_color_note_vain() instead.
 */
static bool is_starved(const struct page_color_space *space,
		       const struct page_color_wish *wish, unsigned int count)
{
	return !wish->looks && 8 * (count - wish->count) < count &&
	       !page_color_full(space);
}

unsigned int page_color_gather(struct zone *zone,
			       const struct page_color_ask *ask,
			       unsigned int least, unsigned int count,
			       struct page_color_part *parts)
{
	struct page_color_wish wish = { .set = ask->set };
	unsigned int first, i, nr = 0, run = 0, differs, tried = 0, best;
	struct page_color_space *space;
	struct page_color_place place;
	u32 *own;

	if (!page_color_place_of(&place, zone))
		return 0;
	space = get_space(ask, &place);
	if (!space && !ask->set)
		return 0;
	wish.live = live_for(space, &place);
	wish.held = space ? &space->held : NULL;
	if (space) {
		run = count;
		if (takes_rest(zone, &place, space, ask, run)) {
			nr = gather_rest(&place, space, &count, parts);
			if (nr) {
				note_rest(zone, &place, space, run, run - count);
				return nr;
			}
		}
		count = page_color_fair_share(space, wish.live, count);
	}
	wish.count = count;
	differs = (wish.held ? PAGE_COLOR_LACKED : 0) |
		  (wish.live ? PAGE_COLOR_FEW : 0);
	if (ask->set && page_color_is_vain(place.zone, ask->set, 0)) {
		if (!least)
			count_vm_event(PAGE_COLOR_NONE);
		return 0;
	}
	first = least ? 0 : page_color_first_want(space);
	for (i = first; i < ARRAY_SIZE(wants); i++) {
		if (least & ~wants[i])
			return 0;
		/* No lacked color is free, so there is nothing to divide. */
		if (space && !(wants[i] & PAGE_COLOR_LACKED)) {
			count = run;
			wish.count = run;
		}
		/* The same search has been made already, and has found nothing. */
		if (tried & BIT(wants[i] & differs))
			continue;
		tried |= BIT(wants[i] & differs);
		/* Each want continues where it was last found. */
		own = space ? &space->cursor[i] : &place.zone->cursor;
		wish.cursor = cursor_of(own, place.zone);
		nr = gather_want(&place, space, &wish, wants[i], parts);
		WRITE_ONCE(*own, wish.cursor);
		if (nr)
			break;
	}
	best = nr ? count - wish.count : 0;
	trace_page_color_choose(zone, i, count, best);
	if (space && nr && !least && is_starved(space, &wish, count))
		nr = gather(&place, space, &wish, 0, parts, nr);
	if (ask->set)
		page_color_note_set(place.zone, ask->set, 0, nr);
	/* A set without free frames tells nothing about tasks with another, or none. */
	if (space && (nr || !ask->set))
		page_color_note_vain(space, first, i, is_little(best, count));
	if (space)
		check_space(space, place.node, run);
	if (!nr && !least) {
		count_vm_event(PAGE_COLOR_NONE);
	} else if (nr && space) {
		count_vm_events(!i ? PAGE_COLOR_BEST : PAGE_COLOR_OTHER, best);
		count_vm_events(PAGE_COLOR_OTHER, count - wish.count - best);
	}
	return nr;
}

unsigned int page_color_gather_small(struct zone *zone, unsigned int count,
				     struct page_color_part *parts)
{
	struct page_color_wish wish = { .count = count };
	struct page_color_place place;
	unsigned int nr;

	if (!page_color_place_of(&place, zone))
		return 0;
	wish.live = place.node->live;
	wish.cursor = READ_ONCE(place.zone->cursor);
	nr = gather_best(&place, NULL, &wish, PAGE_COLOR_FEW, parts);
	WRITE_ONCE(place.zone->cursor, wish.cursor);
	return nr;
}

void page_color_lost(struct zone *zone, const struct page_color_ask *ask,
		     const struct page_color_part *part, u64 lost)
{
	struct page_color_space *space;
	struct page_color_place place;

	if (!lost || !page_color_place_of(&place, zone))
		return;
	space = space_of(ask, &place);
	if (space)
		page_color_unmark(space, place.node->live, part->word, lost);
}
