// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which copy of a word of colors, and which block of many colors, to take. */

#include <linux/limits.h>
#include <linux/minmax.h>
#include "choose.h"
#include "set.h"
#include "words.h"

/*
 * How many more stretches of colors are compared after one was found of which the address
 * space holds nothing and others less than half; of which it holds nothing but others
 * more; and of which it holds a part.
 */
#define PAGE_COLOR_STRETCHES	64
#define PAGE_COLOR_DEAR_STRETCHES	(8 * PAGE_COLOR_STRETCHES)
#define PAGE_COLOR_MOST_STRETCHES	(16 * PAGE_COLOR_STRETCHES)

/* Of a word, colors that are not in the set: none if there is no set. */
static inline u64 outside_word(const struct page_color_wish *wish, u32 word)
{
	return wish->set ? ~page_color_set_word(wish->set, word) : 0;
}

/* Of a word, colors that are held or not in the set. */
static inline u64 unwanted_word(const struct page_color_wish *wish, u32 word)
{
	u64 held = wish->held ? page_color_held_word(wish->held, word) : 0;

	return held | outside_word(wish, word);
}

u64 page_color_wanted(const struct page_color_wish *wish, u32 colors, u32 word,
		      unsigned int want)
{
	u64 some = page_color_valid(colors, word);

	some &= ~(want & PAGE_COLOR_LACKED ? unwanted_word(wish, word) :
					     outside_word(wish, word));
	if (!some)
		return 0;
	if (want & PAGE_COLOR_FEW && wish->live)
		some &= page_color_live_few(wish->live, word);
	if (want & PAGE_COLOR_OLD && wish->live)
		some &= page_color_lately_until(wish->live->lately, word,
						wish->old);
	return some;
}

static unsigned long copy_frame(const struct page_color_memory *memory,
				unsigned long copy, u32 color)
{
	return (memory->first + copy) * memory->colors + color;
}

static bool is_taken(const struct page_color_part *taken, unsigned int nr,
		     unsigned long frame)
{
	while (nr--)
		if (taken[nr].frame == frame)
			return true;
	return false;
}

/* Whether a pageblock has frames that are free, and others that are not. */
static bool is_partial(const struct page_color_memory *memory, unsigned long frame)
{
	unsigned int free = page_color_free_in_block(memory->free, frame);

	return free && !(free >> memory->free->block_order);
}

/*
 * The first frame of @color in the pageblock of @last that is not before the copy of
 * @last, and the @end of that pageblock.
 */
static unsigned long in_block_of(const struct page_color_memory *memory,
				 unsigned long last, u32 color,
				 unsigned long *end)
{
	unsigned long whole = 1UL << memory->free->block_order;
	unsigned long start = last & ~(whole - 1);
	unsigned long frame = last / memory->colors * memory->colors + color;

	*end = min(copy_frame(memory, memory->copies, 0), start + whole);
	return frame < start ? frame + memory->colors : frame;
}

/*
 * Frames are taken from the pageblock in use that was the best until it has too few: it
 * is not compared with the others for each word.
 */
static bool go_on(struct page_color_memory *memory, u32 word, u64 some,
		  const struct page_color_wish *wish,
		  const struct page_color_part *taken, unsigned int nr_taken,
		  struct page_color_part *part)
{
	unsigned long last = READ_ONCE(memory->last), frame, end;
	unsigned int count = min_t(u32, wish->count, hweight64(some));
	unsigned int tries;

	if (!is_partial(memory, last))
		return false;
	frame = in_block_of(memory, last, 64 * word, &end);
	for (tries = 0; tries < PAGE_COLOR_GO_ON && frame < end;
	     tries++, frame += memory->colors) {
		u64 mask = page_color_free_word(memory->free, frame) & some;

		if (!mask || is_taken(taken, nr_taken, frame))
			continue;
		if (4 * hweight64(mask) < count && !READ_ONCE(memory->poor))
			continue;
		part->frame = frame;
		part->mask = mask;
		WRITE_ONCE(memory->last, frame);
		return true;
	}
	return false;
}

/*
 * The most copies of one word that are looked at, so that a search reaches other words.
 */
static unsigned long most_copies(const struct page_color_memory *memory)
{
	return max(4U * PAGE_COLOR_COPIES,
		   PAGE_COLOR_SEARCHED / page_color_words(memory->colors));
}

bool page_color_choose_copy(struct page_color_memory *memory, u32 word,
			    u64 some, struct page_color_wish *wish,
			    const struct page_color_part *taken,
			    unsigned int nr_taken,
			    struct page_color_part *part)
{
	unsigned long whole = 1UL << memory->free->block_order;
	unsigned long copies = memory->copies, looked, most;
	unsigned int count = min(wish->count, 64U);
	unsigned long copy = 0;
	u64 best = 0;

	part->word = word;
	if (go_on(memory, word, some, wish, taken, nr_taken, part))
		return true;
	if (copies > PAGE_COLOR_COPIES)
		copy = READ_ONCE(memory->next) % copies;
	most = min3(copies, (unsigned long)wish->looks, most_copies(memory));
	/* A longer search would cost more than the rest of pageblocks in use is worth. */
	if (wish->part)
		most = min_t(unsigned long, most, PAGE_COLOR_COPIES);
	for (looked = 0; looked < most; looked++) {
		unsigned long frame = copy_frame(memory, copy, 64 * word);
		u64 free = page_color_free_word(memory->free, frame) & some;
		unsigned int nr = min_t(unsigned int, hweight64(free), count);
		unsigned long used;
		u64 score;

		if (looked >= PAGE_COLOR_COPIES && best)
			break;
		if (++copy == copies)
			copy = 0;
		if (!nr)
			continue;
		used = whole - page_color_free_in_block(memory->free, frame);
		if (wish->part && !used)
			continue;
		/* With less than a quarter the lock is taken too often. */
		score = (u64)(4 * nr >= count) << 32 | used << 8 | nr;
		if (score <= best || is_taken(taken, nr_taken, frame))
			continue;
		best = score;
		part->frame = frame;
		part->mask = free;
		WRITE_ONCE(memory->next, copy);
	}
	wish->looks -= looked;
	if (!best) {
		WRITE_ONCE(memory->next, copy);
		return false;
	}
	WRITE_ONCE(memory->last, part->frame);
	WRITE_ONCE(memory->poor, !(best >> 32));
	return true;
}

/* Whether all of a block of frames is free. */
static bool is_free(const struct page_color_memory *memory, unsigned long frame,
		    unsigned int order)
{
	unsigned long i;

	if (order < 6)
		return !(~page_color_free_word(memory->free, frame) &
			 page_color_low_bits(1UL << order));
	for (i = 0; i < 1UL << order; i += 64)
		if (~page_color_free_word(memory->free, frame + i))
			return false;
	return true;
}

/* Looks for a block in the pageblock in use that the last one was taken from. */
static bool go_on_block(const struct page_color_memory *memory, u32 color,
			unsigned int order, unsigned long *frame)
{
	unsigned long last = READ_ONCE(memory->last_block), at, end;
	unsigned int tries;

	if (!is_partial(memory, last))
		return false;
	at = in_block_of(memory, last, color, &end);
	for (tries = 0; tries < PAGE_COLOR_GO_ON && at < end;
	     tries++, at += memory->colors) {
		if (is_free(memory, at, order)) {
			*frame = at;
			return true;
		}
	}
	return false;
}

/* The most copies that are looked at for a block of one stretch of colors. */
#define PAGE_COLOR_BLOCK_COPIES	(8UL * PAGE_COLOR_COPIES)

/*
 * A free block of the colors from @color on, in the pageblock with the fewest free
 * frames; if it is as large as a pageblock, the first that is free. Whole pageblocks are
 * cut for smaller blocks only if pageblocks in use have few free frames, or none of them
 * has the block.
 */
static bool find_free(const struct page_color_memory *memory,
		      struct page_color_wish *wish, u32 color,
		      unsigned int order, unsigned long *frame)
{
	bool is_block = order == memory->free->block_order;
	unsigned long copies = memory->copies, copy = 0, most;
	unsigned int whole = 1U << memory->free->block_order;
	/* Whether a block in a whole pageblock is good enough to end the search. */
	bool any = is_block || !page_color_many_partial(memory);
	unsigned int least = UINT_MAX, looked;

	if (!is_block && go_on_block(memory, color, order, frame))
		return true;
	if (copies > PAGE_COLOR_BLOCK_COPIES)
		copy = READ_ONCE(memory->next_block) % copies;
	most = min3(copies, PAGE_COLOR_BLOCK_COPIES, (unsigned long)wish->looks);
	for (looked = 0; looked < most; looked++) {
		unsigned long at = copy_frame(memory, copy, color);
		unsigned int nr = page_color_free_in_block(memory->free, at);

		if ((is_block || looked >= PAGE_COLOR_COPIES) &&
		    least < whole + any)
			break;
		if (++copy == copies)
			copy = 0;
		if (nr >= least)
			continue;
		/* The count of free frames tells whether a whole pageblock is free. */
		if (is_block ? !(nr >> order) : !is_free(memory, at, order))
			continue;
		least = nr;
		*frame = at;
	}
	wish->looks -= looked;
	return least != UINT_MAX;
}

/* The number of bits. With huge pages most words have all bits set, or none. */
static unsigned int weight(u64 bits)
{
	if (!bits || !~bits)
		return bits & 64;
	return hweight64(bits);
}

/*
 * The rank of a stretch of colors is a number, and the lowest is the best. From this bit
 * on it has how many colors are not in the set, and in the lowest 16 bits how many are
 * held. In between is the cost of sharing: the number of colors that many others hold,
 * and for each one that the address space holds itself an eighth of the stretch, at least
 * 1.
 */
#define PAGE_COLOR_RANK_OUTSIDE	48
#define PAGE_COLOR_RANK_COST	16

static inline u64 cost_of_held(unsigned int order)
{
	return max((1U << order) / 8, 1U);
}

static inline u64 rank_of_held(unsigned int order)
{
	return cost_of_held(order) << PAGE_COLOR_RANK_COST | 1;
}

static inline unsigned int rank_held(u64 rank)
{
	return rank & ((1U << PAGE_COLOR_RANK_COST) - 1);
}

/* All colors of a stretch are in the set, and are lacked. */
static inline bool rank_is_lacked(u64 rank)
{
	return !(rank >> PAGE_COLOR_RANK_OUTSIDE) && !rank_held(rank);
}

/* Some of them are. */
static inline bool rank_lacks(u64 rank, unsigned int order)
{
	return rank_held(rank) < 1U << order;
}

/* All of them are, and many others hold less than half of them. */
static inline bool rank_is_good(u64 rank, unsigned int order)
{
	return rank_is_lacked(rank) &&
	       rank >> PAGE_COLOR_RANK_COST < 1ULL << order >> 1;
}

static inline unsigned int rank_many(u64 rank, unsigned int order)
{
	u64 inside = rank & ((1ULL << PAGE_COLOR_RANK_OUTSIDE) - 1);

	return (inside - rank_held(rank) * rank_of_held(order)) >>
	       PAGE_COLOR_RANK_COST;
}

/* What some colors of a word add to the rank of a stretch. */
static u64 rank_word(const struct page_color_wish *wish, u32 word, u64 mask,
		     unsigned int order, u64 least)
{
	u64 unwanted = mask & unwanted_word(wish, word);
	u64 rank = weight(unwanted) * rank_of_held(order);

	if (wish->set)
		rank += (u64)weight(mask & outside_word(wish, word)) <<
			PAGE_COLOR_RANK_OUTSIDE;
	if (wish->live && rank < least)
		rank += (u64)weight(mask & ~unwanted &
				    ~page_color_live_few(wish->live, word)) <<
			PAGE_COLOR_RANK_COST;
	return rank;
}

/*
 * The rank of a stretch. Held colors are counted without those of pages that leave: this
 * is a guess, since other pages may have the same colors. If the rank is not below
 * @least, it may be incomplete: to look at the counts of holders takes the most time.
 */
static u64 rank(const struct page_color_wish *wish, u32 color,
		unsigned int order, u64 least)
{
	u32 word = color / 64, end = word + (order < 6 ? 1 : 1U << (order - 6));
	u64 mask = page_color_low_bits(1UL << order) << color % 64;
	u64 leaving, rank = 0;

	/*
	 * Pages that leave are subtracted at the end, so that all words must be counted.
	 */
	if (wish->leaving)
		least = U64_MAX;
	do
		rank += rank_word(wish, word, mask, order, least - rank);
	while (++word < end && rank < least);
	if (!wish->leaving)
		return rank;
	leaving = page_color_leaving_pages(wish->leaving, color >> order);
	return rank - min_t(u64, rank_held(rank), leaving) * rank_of_held(order);
}

/*
 * The rank of a stretch that has a free block, or else the largest number. A block as
 * large as a pageblock is searched for before the rank is computed: where memory is
 * fragmented most stretches have none, and the counts of pageblocks tell that sooner.
 */
static u64 rank_free(const struct page_color_memory *memory,
		     struct page_color_wish *wish, u32 color,
		     unsigned int order, u64 least, unsigned long *frame)
{
	u64 now;

	/* To compute a rank takes as long as to look at a copy. */
	wish->looks--;
	if (order == memory->free->block_order)
		return find_free(memory, wish, color, order, frame) ?
		       rank(wish, color, order, least) : U64_MAX;
	now = rank(wish, color, order, least);
	if (now >= least || !find_free(memory, wish, color, order, frame))
		return U64_MAX;
	return now;
}

/* Where a search is: a stretch of colors, and how many it has passed. */
struct page_color_stretch {
	u32 at;
	u32 tries;
};

/* Continue with the next stretch that has colors of the set. */
static void skip_outside(const struct page_color_wish *wish, unsigned int order,
			 u32 stretches, struct page_color_stretch *stretch)
{
	u32 next = page_color_set_next(wish->set, stretch->at << order) >> order;

	if (next < stretch->at)
		stretch->tries += stretches;
	stretch->tries += next - stretch->at;
	stretch->at = next;
}

/*
 * Continue with the next stretch that may be better than @least: near the end of a round
 * most words have no lacked color, and where other programs hold many colors most words
 * have none that few hold.
 */
static void skip_worse(struct page_color_wish *wish, u32 colors,
		       unsigned int order, u64 least, u32 end,
		       struct page_color_stretch *stretch)
{
	unsigned int want = PAGE_COLOR_LACKED;
	bool found = false;

	if (least <= 1ULL << order << PAGE_COLOR_RANK_COST)
		want |= PAGE_COLOR_FEW;
	while (!found && stretch->tries < end && wish->looks) {
		u32 color = stretch->at << order, word = color / 64, next;
		u64 some = page_color_wanted(wish, colors, word, want);

		some &= ~0ULL << color % 64;
		found = some;
		if (!found)
			wish->looks--;
		next = found ? 64 * word + __ffs64(some) : 64 * (word + 1);
		next = min(next, colors) >> order;
		stretch->tries += next - stretch->at;
		stretch->at = next < colors >> order ? next : 0;
	}
}

/*
 * The next search begins where this one has ended, unless this one has @seen all
 * stretches. Once it is past the last stretch it looks at other copies.
 */
static void go_on_later(struct page_color_memory *memory,
			struct page_color_wish *wish, u32 at,
			unsigned int order, bool seen)
{
	if (seen || at <= wish->cursor >> order)
		WRITE_ONCE(memory->next_block, READ_ONCE(memory->next_block) +
					       PAGE_COLOR_BLOCK_COPIES);
	if (!seen)
		wish->cursor = at << order;
}

bool page_color_choose_block(struct page_color_memory *memory,
			     struct page_color_wish *wish,
			     unsigned int order, unsigned long *frame,
			     unsigned int *stay)
{
	u32 colors = memory->colors, size = 1U << order;
	u32 stretches = colors >> order, end = stretches;
	struct page_color_stretch stretch = { .at = wish->cursor >> order };
	u64 least = U64_MAX, now;
	unsigned long one;

	/* In that case aligned blocks have other colors in each copy. */
	if (!stretches || colors % size)
		return false;
	for (; stretch.tries < end && least > wish->enough;
	     stretch.tries++, stretch.at++) {
		if (stretch.at >= stretches)
			stretch.at = 0;
		if (wish->set)
			skip_outside(wish, order, stretches, &stretch);
		if (order < 6 && !wish->leaving &&
		    least < size * rank_of_held(order))
			skip_worse(wish, colors, order, least, end, &stretch);
		if (stretch.tries >= end || !wish->looks)
			break;
		now = rank_free(memory, wish, stretch.at << order, order, least,
				&one);
		if (now >= least)
			continue;
		/* Colors that are not in the set count as held. */
		if (wish->set ? least == U64_MAX :
				rank_lacks(now, order) && !rank_lacks(least, order))
			end = min(end, stretch.tries + 1 +
				       PAGE_COLOR_MOST_STRETCHES);
		if (rank_is_lacked(now) && !rank_is_lacked(least))
			end = min(end, stretch.tries + 1 +
				       PAGE_COLOR_DEAR_STRETCHES);
		if (rank_is_good(now, order) && !rank_is_good(least, order))
			end = min(end, stretch.tries + 1 + PAGE_COLOR_STRETCHES);
		least = now;
		*frame = one;
		*stay = rank_held(now);
	}
	wish->rank = least;
	wish->fresh = 0;
	if (least != U64_MAX)
		wish->fresh = size - min(size, *stay + rank_many(least, order));
	if (least != U64_MAX && order < memory->free->block_order)
		WRITE_ONCE(memory->last_block, *frame);
	if (stretch.at == stretches)
		stretch.at = 0;
	/* No block was found whose colors are all in the set and lacked. */
	if (!rank_is_lacked(least))
		go_on_later(memory, wish, stretch.at, order,
			    wish->looks && stretch.tries >= stretches);
	/* Many others hold half of it or more: a later stretch may be held by none. */
	else if (!rank_is_good(least, order))
		wish->cursor = stretch.at << order;
	return least != U64_MAX;
}
