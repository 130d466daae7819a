// SPDX-License-Identifier: GPL-2.0-only
/* Which frames an allocation gets. */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmstat.h>

#include "page_color.h"

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
	}
}

/* The space that the allocation is for; NULL if it was made for another geometry. */
static struct page_color_space *space_of(const struct page_color_ask *ask,
					 const struct page_color_place *place)
{
	struct page_color_space *space = ask->space;

	return space && space->node == place->node->id ? space : NULL;
}

/*
 * The same when pages are to be taken: a space of another geometry is marked to be
 * counted anew, which replaces it.
 */
static struct page_color_space *
get_space(const struct page_color_ask *ask, const struct page_color_place *place)
{
	struct page_color_space *space = space_of(ask, place);

	if (ask->space && !space)
		WRITE_ONCE(ask->space->recount, true);
	return space;
}

/*
 * Where a search begins: at the @own cursor of a space if it has one, else at the zone's.
 */
static u32 cursor_of(const u32 *own, const struct page_color_zone *zone)
{
	u32 cursor = own ? READ_ONCE(*own) : PAGE_COLOR_NO_CURSOR;

	return cursor != PAGE_COLOR_NO_CURSOR ? cursor : READ_ONCE(zone->cursor);
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
	wish->looks = PAGE_COLOR_SEARCHED / (want & PAGE_COLOR_OLD ? 4 : 1);
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
 * Some ways of unmapping a page do not report it, and its color would stay held for good.
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

/*
 * Colors of pages on a CPU's list cannot be used by other CPUs, for seconds if that CPU
 * has become idle. So the lists of all CPUs that allocate for one address space together
 * get about half of the colors that are left. An address space larger than the cache has
 * no such limit: it takes each color once a round, on whatever CPU.
 */
static unsigned int fair_share(const struct page_color_space *space,
			       const struct page_color_live *live,
			       unsigned int count)
{
	/* One reference is that of the address space, and the current CPU has a run. */
	u32 cpus = max(refcount_read(&space->refs), 2U) - 1, left;

	if (!live)
		return count;
	left = min(live->colors - READ_ONCE(space->held.taken),
		   (u32)max(atomic_read(&live->left), 0));
	left = min(left / 2 / cpus, live->colors / PAGE_COLOR_SHARE);
	return min(count, max(left, 4U));
}

/*
 * The counts of holders matter only for a space that fits into the cache: a larger one
 * holds all colors anyway.
 */
static const struct page_color_live *
live_for(const struct page_color_space *space,
	 const struct page_color_place *place)
{
	return space && page_color_full(space) ? NULL : place->node->live;
}

/* Frames of a pageblock, whatever their color. */
static unsigned int gather_block(const struct page_color_free *free,
				 unsigned long frame, unsigned int *count,
				 struct page_color_part *parts, unsigned int nr)
{
	unsigned long end = frame + (1UL << free->block_order);

	for (; frame < end && *count && nr < PAGE_COLOR_PARTS; frame += 64) {
		u64 some = page_color_free_word(free, frame);

		some = page_color_first_bits(some, *count);
		if (!some)
			continue;
		parts[nr].frame = frame;
		parts[nr].fresh = false;
		parts[nr++].mask = some;
		*count -= hweight64(some);
	}
	return nr;
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
			nr = gather_block(free, frame, count, parts, nr);
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
 * So many more generations count as old after a search for old colors has found nothing.
 */
#define PAGE_COLOR_OLDER	2

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

/* Pageblocks in use come first only for the best colors, and for old ones. */
static unsigned int gather_want(const struct page_color_place *place,
				struct page_color_space *space,
				struct page_color_wish *wish, unsigned int want,
				struct page_color_part *parts)
{
	u64 now = wish->live ? page_color_lately_now(wish->live->lately) : 0;
	unsigned int nr = 0;

	if (old_first(space, wish, want) != want) {
		u32 cursor = wish->cursor;

		wish->cursor = old_cursor_of(space, cursor);
		for (; !nr && wish->old < now; wish->old += PAGE_COLOR_OLDER)
			nr = gather_best(place, space, wish,
					 want | PAGE_COLOR_OLD, parts);
		WRITE_ONCE(space->old_cursor, wish->cursor);
		wish->cursor = cursor;
		if (nr)
			return nr;
	}
	if (want == wants[0])
		return gather_best(place, space, wish, want, parts);
	return gather(place, space, wish, want, parts, 0);
}

/* The most searches that are skipped after one that found nothing. */
#define PAGE_COLOR_MOST_SKIPPED	15

static u64 key_of(const struct page_color_set *set, unsigned int order)
{
	return set->id << 4 | order;
}

static struct page_color_vain_set *
vain_of(struct page_color_zone *zone, const struct page_color_set *set,
	unsigned int order)
{
	return &zone->vain[(set->id + 5 * order) % PAGE_COLOR_VAIN_SETS];
}

/*
 * Whether a search for a free frame, or block, of a set is skipped: after one that found
 * nothing the next 1, 3, 7 and so on are. A skipped one gives a page of another color, or
 * no block.
 */
static bool is_vain(struct page_color_zone *zone,
		    const struct page_color_set *set, unsigned int order)
{
	struct page_color_vain_set *vain = vain_of(zone, set, order);
	u8 skip = READ_ONCE(vain->skip);

	if (READ_ONCE(vain->key) != key_of(set, order) || !skip)
		return false;
	WRITE_ONCE(vain->skip, skip - 1);
	return true;
}

/*
 * Notes the result of a search. If another set has the entry, it is replaced after a
 * search that found nothing, and kept after one that found something.
 */
static void note_set(struct page_color_zone *zone,
		     const struct page_color_set *set, unsigned int order,
		     bool found)
{
	struct page_color_vain_set *vain = vain_of(zone, set, order);
	bool same = READ_ONCE(vain->key) == key_of(set, order);
	u8 most = order ? PAGE_COLOR_MOST_SKIPPED : U8_MAX, skip = 0;

	if (!found)
		skip = same ? min(2 * vain->skipped + 1, most) : 1;
	else if (!same)
		return;
	WRITE_ONCE(vain->skip, 0);
	WRITE_ONCE(vain->key, key_of(set, order));
	WRITE_ONCE(vain->skipped, skip);
	WRITE_ONCE(vain->skip, skip);
}

/*
 * A search that finds no free frame takes long: after one, the next 1, 3, 7 and so on
 * begin with the want behind it. If threads race here, a search is made in addition or
 * left out.
 */
static unsigned int first_want(struct page_color_space *space)
{
	u8 skip = space ? READ_ONCE(space->vain.skip) : 0;

	if (!skip)
		return 0;
	WRITE_ONCE(space->vain.skip, skip - 1);
	return READ_ONCE(space->vain.want);
}

/*
 * Notes the result of a search: @found is the index of the want that gave frames, or the
 * number of wants if none did; @less, that it gave little of what was wished for. Only a
 * space larger than the cache skips wants because they gave little. One that fits into
 * the cache begins with the best want whenever something was found: a color that has come
 * free meanwhile saves a conflict.
 */
static void note_vain(struct page_color_space *space, unsigned int first,
		      unsigned int found, bool less)
{
	unsigned int skipped = READ_ONCE(space->vain.skipped);

	if (found < ARRAY_SIZE(wants) && page_color_full(space))
		found = min_t(unsigned int, found + less, ARRAY_SIZE(wants) - 1);
	else if (found < ARRAY_SIZE(wants))
		found = first;
	if (found > first) {
		skipped = min(2 * skipped + 1, PAGE_COLOR_MOST_SKIPPED);
		WRITE_ONCE(space->vain.want, found);
		WRITE_ONCE(space->vain.skip, skipped);
		WRITE_ONCE(space->vain.skipped, skipped);
	} else if (!first && skipped) {
		WRITE_ONCE(space->vain.skipped, 0);
	}
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
		count = fair_share(space, wish.live, count);
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
 * takes_rest() and note_vain() instead.
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
		count = fair_share(space, wish.live, count);
	}
	wish.count = count;
	differs = (wish.held ? PAGE_COLOR_LACKED : 0) |
		  (wish.live ? PAGE_COLOR_FEW : 0);
	if (ask->set && is_vain(place.zone, ask->set, 0)) {
		if (!least)
			count_vm_event(PAGE_COLOR_NONE);
		return 0;
	}
	first = first_want(space);
	for (i = first; i < ARRAY_SIZE(wants); i++) {
		if (least & ~wants[i])
			return 0;
		/* No lacked color is free, so fair_share() has nothing to divide. */
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
		note_set(place.zone, ask->set, 0, nr);
	/* A set without free frames tells nothing about tasks with another, or none. */
	if (space && (nr || !ask->set))
		note_vain(space, first, i, is_little(best, count));
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

/*
 * The most pageblocks that are looked at for files: from the lowest one on, and then from
 * where frames were last found behind these.
 */
#define PAGE_COLOR_LOW		512
#define PAGE_COLOR_LOW_BEHIND	4096

/* Searches at most @blocks pageblocks from *@frame on; *@frame is where it ended. */
static unsigned int gather_low(const struct page_color_free *free,
			       unsigned long *frame, unsigned int blocks,
			       unsigned int *count,
			       struct page_color_part *parts)
{
	unsigned long whole = 1UL << free->block_order;
	unsigned long end = *frame + blocks * whole;
	unsigned int nr = 0;

	for (;;) {
		*frame = page_color_free_lowest(free, *frame, end);
		if (*frame >= end)
			return nr;
		nr = gather_block(free, *frame, count, parts, nr);
		if (!*count || nr == PAGE_COLOR_PARTS)
			return nr;
		*frame += whole;
	}
}

unsigned int page_color_gather_file(struct zone *zone, unsigned int count,
				    struct page_color_part *parts)
{
	const struct page_color_free *free;
	struct page_color_place place;
	unsigned long frame;
	unsigned int nr;

	if (!page_color_place_of(&place, zone))
		return 0;
	free = place.zone->memory.free;
	frame = READ_ONCE(free->lowest);
	nr = gather_low(free, &frame, PAGE_COLOR_LOW, &count, parts);
	if (nr && frame != ULONG_MAX && frame > READ_ONCE(place.zone->low))
		WRITE_ONCE(place.zone->low, frame);
	if (nr || frame == ULONG_MAX)
		return nr;
	/* The few frames so low are taken: continue where the others were. */
	frame = max(frame, READ_ONCE(place.zone->low));
	nr = gather_low(free, &frame, PAGE_COLOR_LOW_BEHIND, &count, parts);
	WRITE_ONCE(place.zone->low, frame == ULONG_MAX ? 0 : frame);
	return nr;
}

/* The most pageblocks without a free frame that are passed under zone->lock. */
#define PAGE_COLOR_PASSED	64

void page_color_file_low(struct zone *zone)
{
	struct page_color_free *free = page_color_zone_free(zone);
	unsigned long lowest, end;

	if (!free)
		return;
	end = free->lowest + (PAGE_COLOR_PASSED << free->block_order);
	lowest = page_color_free_lowest(free, free->lowest, end);
	if (lowest != ULONG_MAX)
		WRITE_ONCE(free->lowest, lowest);
}

/*
 * Whether small pages are better than a huge page that was not asked for: the address
 * space holds more than half of the colors of the huge page, small pages get colors that
 * it lacks, and khugepaged may collapse them later. @stay colors of a @chosen block are
 * held; if no block was chosen, the share of all colors that is held stands for it.
 */
static bool small_is_better(const struct page_color_space *space,
			    const struct page_color_wish *wish, bool chosen,
			    unsigned int stay, unsigned int order)
{
	u32 colors = space->held.colors, taken = READ_ONCE(space->held.taken);
	u32 size = 1U << order;

	if (current->page_color.huge == PAGE_COLOR_HUGE || wish->leaving ||
	    wish->set || !space->direct || page_color_full(space))
		return false;
	/* For a smaller block there is mostly one whose colors are all lacked. */
	if (order < pageblock_order)
		return false;
	if (colors % size || colors - taken < size)
		return false;
	return chosen ? 2 * stay > size : 2 * taken > colors;
}

/*
 * Whether small pages, with colors of the set, are taken instead of a huge page with
 * others. A fault in MADV_HUGEPAGE memory gets the huge page if no block is all in the
 * set.
 */
static bool set_wants_small(const struct page_color_wish *wish, bool chosen,
			    u32 color, unsigned int order)
{
	const struct page_color_set *set = wish->set;

	if (!set || (chosen && page_color_set_has(set, color, order)))
		return false;
	if (current->page_color.asked)
		return page_color_set_has_block(set, order);
	return current->page_color.huge != PAGE_COLOR_HUGE ||
	       page_color_is_khugepaged();
}

/*
 * A block with colors that are not in the set is left to others where set_wants_small()
 * would leave it. page_color_ask() cannot tell: direct compaction runs as reclaim does.
 * Under zone->lock.
 */
bool __page_color_may_capture(const struct page *page, unsigned int order)
{
	struct mm_struct *whom = current->page_color.whom;
	const struct page_color_set *set;
	bool may;

	if (whom == PAGE_COLOR_FILE)
		return true;
	if (!current->page_color.asked && !page_color_is_khugepaged() &&
	    current->page_color.huge == PAGE_COLOR_HUGE)
		return true;
	rcu_read_lock();
	set = page_color_set_of_node(whom, page_to_nid(page));
	may = !set || page_color_set_has(set, page_to_pfn(page) % set->colors,
					 order);
	rcu_read_unlock();
	return may;
}

/*
 * No block is searched for if none is all in the set, or none was free lately: it would
 * have other colors. Nor is one for files: mostly their pages are used by other tasks
 * than the one that reads them.
 */
static bool choose_block(const struct page_color_place *place,
			 const struct page_color_ask *ask,
			 struct page_color_wish *wish, unsigned int order,
			 unsigned long *frame, unsigned int *stay)
{
	struct page_color_memory *memory = &place->zone->memory;
	bool chosen;

	if (!ask->set)
		return page_color_choose_block(memory, wish, order, frame, stay);
	if (ask->file || !page_color_set_has_block(ask->set, order) ||
	    is_vain(place->zone, ask->set, order))
		return false;
	chosen = page_color_choose_block(memory, wish, order, frame, stay);
	note_set(place->zone, ask->set, order,
		 chosen && page_color_set_has(ask->set,
					      *frame % memory->colors, order));
	return chosen;
}

unsigned int page_color_claim_block(struct page_color_space *space,
				    struct page_color_live *live, u32 color,
				    unsigned int order, unsigned int least)
{
	u64 all = page_color_low_bits(min(1U << order, 64U)) << color % 64;
	u64 some[DIV_ROUND_UP(1 << MAX_PAGE_ORDER, 64)];
	unsigned int words = DIV_ROUND_UP(1U << order, 64), claimed = 0, i;

	page_color_comes(space, color, order);
	for (i = 0; i < words; i++) {
		some[i] = page_color_claim(space, live, color / 64 + i, all);
		claimed += hweight64(some[i]);
	}
	if (claimed >= least)
		return claimed;
	while (i--)
		page_color_unmark(space, live, color / 64 + i, some[i]);
	page_color_comes_not();
	return 0;
}

/* Chooses a block. False if none is found, or if small pages are to be taken instead. */
static bool gather_one(struct zone *zone, const struct page_color_place *place,
		       struct page_color_space *space,
		       const struct page_color_ask *ask,
		       struct page_color_wish *wish, unsigned int order,
		       unsigned long *frame)
{
	struct page_color_leaving *leaving = current->page_color.leaving;
	u32 *own = space ? &space->block_cursor : NULL;
	unsigned int stay = 1U << order;
	u32 colors, before, taken;
	bool chosen, small;

	wish->cursor = cursor_of(own, place->zone);
	/* Colors before the zone's cursor were given to small programs. */
	if (!own)
		wish->cursor = ALIGN(wish->cursor, 1U << order);
	before = wish->cursor;
	chosen = choose_block(place, ask, wish, order, frame, &stay);
	colors = place->zone->memory.colors;
	taken = chosen ? *frame % colors : 0;
	if (leaving && !(colors % (1U << order)))
		leaving->stay = stay;
	small = (space && small_is_better(space, wish, chosen, stay, order)) ||
		set_wants_small(wish, chosen, taken, order);
	/* Continue behind the block, unless the search has ended early. */
	if (chosen && !small && wish->cursor == before &&
	    (!ask->set || page_color_set_has(ask->set, taken, order)))
		wish->cursor = (taken + (1U << order)) % colors;
	if (wish->cursor != before)
		WRITE_ONCE(*(own ?: &place->zone->cursor), wish->cursor);
	if (small) {
		current->page_color.huge = PAGE_COLOR_SMALL;
		trace_page_color_leave_block(zone, order);
		return false;
	}
	trace_page_color_choose_block(zone, order, chosen);
	return chosen;
}

/*
 * Claims at most @more blocks for the next allocations: those behind the chosen one, up
 * to the end of its word of colors, that are free and whose colors are all lacked and
 * held by few.
 */
static void claim_more(const struct page_color_place *place,
		       struct page_color_space *space,
		       const struct page_color_wish *wish, unsigned int more,
		       struct page_color_blocks *blocks)
{
	const struct page_color_memory *memory = &place->zone->memory;
	u32 colors = memory->colors, color = blocks->frame % colors;
	u32 word = color / 64, size = 1U << blocks->order, end = color + size;
	struct page_color_live *live = place->node->live;
	u64 all = page_color_low_bits(size) << color % 64, some, claimed;

	some = page_color_wanted(wish, colors, word,
				 PAGE_COLOR_LACKED | PAGE_COLOR_FEW);
	some &= page_color_free_word(memory->free, blocks->frame) << color % 64;
	for (all <<= size; all && more; all <<= size) {
		if (~some & all)
			continue;
		claimed = page_color_claim(space, live, word, all);
		if (claimed != all) {
			page_color_unmark(space, live, word, claimed);
			continue;
		}
		blocks->more |= all >> color % 64;
		end = 64 * word + fls64(all);
		more--;
	}
	/* The next search begins behind the last of them. */
	if (READ_ONCE(space->block_cursor) == (color + size) % colors)
		WRITE_ONCE(space->block_cursor, end % colors);
}

/* Attempts to claim a block while other threads or programs are quicker. */
#define PAGE_COLOR_CLAIMS	4

/* Copies that a search may look at for a program that is small and has no set. */
#define PAGE_COLOR_FEW_LOOKS	(PAGE_COLOR_SEARCHED / 16)

bool page_color_gather_blocks(struct zone *zone,
			      const struct page_color_ask *ask,
			      unsigned int more,
			      struct page_color_blocks *blocks)
{
	unsigned int order = blocks->order;
	struct page_color_leaving *leaving = current->page_color.leaving;
	struct page_color_wish wish = { .set = ask->set };
	unsigned int claims = PAGE_COLOR_CLAIMS;
	struct page_color_space *space;
	struct page_color_place place;

	blocks->claimed = 0;
	blocks->more = 0;
	if (!page_color_place_of(&place, zone))
		return false;
	if (ask->file && !ask->set)
		return false;
	space = get_space(ask, &place);
	wish.held = space ? &space->held : NULL;
	wish.live = live_for(space, &place);
	if (leaving && leaving->nr && leaving->nid == zone_to_nid(zone))
		wish.leaving = leaving;
	do {
		wish.looks = space || ask->set ? PAGE_COLOR_SEARCHED :
						 PAGE_COLOR_FEW_LOOKS;
		if (!gather_one(zone, &place, space, ask, &wish, order,
				&blocks->frame))
			return false;
		/* With pages that leave, it is not known which colors are lacked. */
		if (!space || !wish.fresh || wish.leaving)
			break;
		blocks->claimed =
			page_color_claim_block(space, place.node->live,
					       blocks->frame % space->held.colors,
					       order, wish.fresh);
	} while (!blocks->claimed && --claims);
	if (!blocks->claimed)
		return true;
	if (order < 6 && blocks->claimed == 1U << order && !wish.set) {
		more = min(more, fair_share(space, wish.live, 64) >> order);
		claim_more(&place, space, &wish, more, blocks);
	}
	if (place.node->live)
		page_color_live_adjust(place.node->live);
	return true;
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
