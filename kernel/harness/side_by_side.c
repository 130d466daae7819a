// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Operations on free frames, counts, held colors and the choice by them, beside the twin.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "side_by_side.h"
#include "twin.h"
#include "words.h"

/* Most operations are on so few frames, so that these fill up. */
#define BUSY 8192
#define MOST_COLORS 4096

struct both {
	struct numbers *numbers;
	struct twin twin;
	struct page_color_free *free;
	struct page_color_live *live;
	struct page_color_held *held;
	struct page_color_memory memory;
	struct page_color_set set;
	unsigned long busy;
	/* Colors are taken in turn, so that none is older than the others for long. */
	bool in_turn;
	u32 turn;
};

#define SAME(got, wanted)                                                              \
	do {                                                                           \
		u64 got_ = (got), wanted_ = (wanted);                                  \
		if (got_ != wanted_) {                                                 \
			fprintf(stderr, "%s:%d: %s is %" PRIx64 ", %s is %" PRIx64     \
				" (%u colors)\n", __FILE__, __LINE__, #got, got_,      \
				#wanted, wanted_, both->twin.colors);                  \
			abort();                                                       \
		}                                                                      \
	} while (0)

u64 page_color_set_word(const struct page_color_set *set, u32 word)
{
	u64 some = 0;

	for (u32 i = 0; i < 64 && 64 * word + i < set->colors; i++)
		some |= (u64)set->has[64 * word + i] << i;
	return some;
}

u32 page_color_set_next(const struct page_color_set *set, u32 color)
{
	for (u32 i = 0; i < set->colors; i++)
		if (set->has[(color + i) % set->colors])
			return (color + i) % set->colors;
	abort();
}

static void *zeroed(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!memory)
		abort();
	return memset(memory, 0, bytes);
}

static u32 random_colors(struct numbers *numbers)
{
	static const u32 some[] = { 2, 3, 16, 32, 48, 63, 64, 65, 128, 192, 512, 1024, 1536,
				    2048, 4096 };

	if (numbers_one_in(numbers, 3))
		return 2 + numbers_below(numbers, 3000);
	return some[numbers_below(numbers, sizeof(some) / sizeof(*some))];
}

static void begin(struct both *both, struct numbers *numbers)
{
	unsigned int block_order = PAGE_COLOR_BLOCK_ORDER_MIN + numbers_below(numbers, 7);
	unsigned long start = numbers_below(numbers, 5) * PAGE_COLOR_CHUNK;
	u32 colors = random_colors(numbers);
	unsigned int planes = 1 + numbers_below(numbers, 4);
	u32 words = page_color_words(colors);

	*both = (struct both){ .numbers = numbers };
	both->twin = twin_new(start, block_order, colors);
	both->free = zeroed(sizeof(*both->free) + TWIN_CHUNKS * sizeof(both->free->chunk[0]));
	both->free->start = start;
	both->free->chunks = TWIN_CHUNKS;
	both->free->block_order = block_order;
	/* Nothing is free yet. */
	both->free->lowest = start + TWIN_FRAMES;
	for (int i = 0; i < TWIN_CHUNKS; i++) {
		both->twin.there[i] = !i || numbers_one_in(numbers, 2);
		if (both->twin.there[i])
			both->free->chunk[i] = zeroed(page_color_chunk_bytes(block_order));
	}
	both->live = zeroed(page_color_live_bytes(colors, planes));
	page_color_live_init(both->live, colors, planes);
	both->live->lately = zeroed(page_color_lately_bytes(colors));
	page_color_lately_init(both->live->lately, colors);
	both->held = zeroed(sizeof(*both->held) + words * sizeof(u64));
	both->held->colors = colors;
	both->set.colors = colors;
	both->set.has = zeroed(colors);
	for (u32 i = 0; i < colors; i++)
		both->set.has[i] = numbers_one_in(numbers, 2);
	/* A set has at least one color. */
	both->set.has[numbers_below(numbers, colors)] = true;
	both->memory = (struct page_color_memory){
		.free = both->free,
		.colors = colors,
		.first = start / colors,
	};
	both->memory.copies = (start + TWIN_FRAMES - 1) / colors - both->memory.first + 1;
	both->in_turn = numbers_one_in(numbers, 2);
	/* Across the border between two chunks in most cases. */
	both->busy = start + PAGE_COLOR_CHUNK - BUSY / 2;
	/* So few copies that all are looked at. */
	if (numbers_one_in(numbers, 2)) {
		both->memory.first = both->busy / colors;
		both->memory.copies = BUSY / colors < PAGE_COLOR_COPIES ?
				      BUSY / colors + 1 : PAGE_COLOR_COPIES;
	}
	both->memory.last = both->memory.first * colors;
	both->memory.last_block = both->memory.last;
}

static void end(struct both *both)
{
	for (int i = 0; i < TWIN_CHUNKS; i++)
		free(both->free->chunk[i]);
	free(both->free);
	free(both->live->lately);
	free(both->live);
	free(both->held);
	free(both->set.has);
	twin_end(&both->twin);
}

static unsigned long random_frame(struct both *both)
{
	if (numbers_one_in(both->numbers, 64))
		return numbers_below(both->numbers,
				     both->twin.start + TWIN_FRAMES + PAGE_COLOR_CHUNK);
	return both->busy + numbers_below(both->numbers, BUSY);
}

static void change_free(struct both *both, bool set)
{
	unsigned int order = numbers_below(both->numbers, both->twin.block_order + 1);
	unsigned long frame = random_frame(both) >> order << order;

	if (set)
		page_color_free_set(both->free, frame, order);
	else
		page_color_free_clear(both->free, frame, order);
	for (unsigned long i = 0; i < 1UL << order; i++)
		twin_set_free(&both->twin, frame + i, set);
}

static void clear_mask(struct both *both)
{
	unsigned long frame = random_frame(both);
	u64 mask = numbers_chance(both->numbers);

	page_color_free_clear_mask(both->free, frame, mask);
	for (int i = 0; i < 64; i++)
		if (mask >> i & 1)
			twin_set_free(&both->twin, frame + i, false);
}

static void look_at_free(struct both *both)
{
	unsigned long frame = random_frame(both), lowest, limit, found;

	SAME(page_color_free_word(both->free, frame), twin_free_word(&both->twin, frame));
	SAME(page_color_free_in_block(both->free, frame), twin_in_block(&both->twin, frame));
	if (!numbers_one_in(both->numbers, 256))
		return;
	SAME(both->free->count, twin_count(&both->twin));
	SAME(both->free->partial, twin_partial(&both->twin));
	/* No frame is free before the lowest pageblock. */
	SAME(twin_lowest(&both->twin, 0) >= both->free->lowest, true);
	lowest = twin_lowest(&both->twin, frame);
	SAME(page_color_free_lowest(both->free, frame, ULONG_MAX), lowest);
	limit = random_frame(both);
	found = page_color_free_lowest(both->free, frame, limit);
	if (lowest < limit)
		SAME(found, lowest);
	else
		SAME(found >= limit && found <= lowest &&
		     (found < (limit > frame ? limit : frame) + PAGE_COLOR_CHUNK ||
		      found == ULONG_MAX), true);
}

static u32 random_word(struct both *both)
{
	return numbers_below(both->numbers, page_color_words(both->twin.colors));
}

static u64 random_mask(struct both *both, u32 word)
{
	u64 mask = numbers_chance(both->numbers);

	if (numbers_one_in(both->numbers, 2))
		mask &= numbers_chance(both->numbers) & numbers_chance(both->numbers);
	return mask & page_color_valid(both->twin.colors, word);
}

/* Checks the level, and what is counted with it, by counting again. */
static void check_level(struct both *both)
{
	struct page_color_live *live = both->live;
	u32 colors = both->twin.colors, level = live->level;
	u32 most = (1U << live->planes) - 1;
	int left = 0, below = 0, few = colors / 512 + 1;

	for (u32 i = 0; i < colors; i++) {
		left += both->twin.live[i] <= level;
		below += both->twin.live[i] < level;
	}
	SAME(atomic_read(&live->left), left);
	SAME(atomic_read(&live->below), below);
	/* Each change moves the level by one, so it may not be where it should be yet. */
	SAME(level <= most, true);
	for (int i = 0; i < 300; i++)
		page_color_live_adjust(live);
	SAME(atomic_read(&live->left) >= few || live->level == most, true);
	SAME(atomic_read(&live->below) < 2 * few, true);
}

static void look_at_counts(struct both *both, u32 word)
{
	u32 most = (1U << both->live->planes) - 1;

	for (u32 level = 0; level <= most + 1; level++)
		SAME(page_color_live_at_most(both->live, word, level),
		     twin_at_most(&both->twin, both->twin.live, word, level));
	SAME(page_color_live_few(both->live, word),
	     twin_at_most(&both->twin, both->twin.live, word, both->live->level));
	if (numbers_one_in(both->numbers, 64))
		check_level(both);
}

/*
 * The same for the generations in which colors were taken; the counts of generations that
 * are not told apart may be wrong.
 */
static void check_old(struct both *both)
{
	struct page_color_lately *lately = both->live->lately;
	u64 oldest = both->twin.now - PAGE_COLOR_LATELY_MOST, level = lately->level;
	int few = both->twin.colors / 512 + 1, left = 0, below = 0;

	for (u32 i = 0; i < both->twin.colors; i++) {
		left += both->twin.lately[i] <= level;
		below += both->twin.lately[i] < level;
	}
	if (level >= oldest)
		SAME(atomic_read(&lately->left), left);
	if (level > oldest)
		SAME(atomic_read(&lately->below), below);
	for (u64 i = 0; i <= PAGE_COLOR_LATELY_MOST; i++)
		page_color_lately_adjust(lately);
	level = page_color_lately_level(lately);
	SAME(level, lately->level);
	SAME(level >= oldest && level <= page_color_lately_now(lately), true);
	left = 0;
	below = 0;
	for (u32 i = 0; i < both->twin.colors; i++) {
		left += both->twin.lately[i] <= level;
		below += both->twin.lately[i] < level;
	}
	SAME(left >= few, true);
	SAME(below < 2 * few || level == oldest, true);
}

static void look_at_lately(struct both *both, u32 word)
{
	struct page_color_lately *lately = both->live->lately;

	SAME(page_color_lately_now(lately), both->twin.now);
	for (u64 age = 0; age <= PAGE_COLOR_LATELY_MOST + 1; age++)
		SAME(page_color_lately_until(lately, word, page_color_lately_now(lately) - age),
		     twin_until(&both->twin, word, page_color_lately_now(lately) - age));
	if (numbers_one_in(both->numbers, 64))
		check_old(both);
}

static void note_taken(struct both *both, u32 word, u64 mask, u64 when)
{
	for (int i = 0; i < 64; i++)
		if (mask >> i & 1)
			both->twin.lately[64 * word + i] = when;
	look_at_lately(both, word);
}

static u64 random_time(struct both *both)
{
	return both->twin.now - numbers_below(both->numbers, PAGE_COLOR_LATELY_MOST + 2);
}

static void take_color(struct both *both)
{
	struct page_color_lately *lately = both->live->lately;
	u32 word = random_word(both);
	u64 mask = random_mask(both, word), until = random_time(both), old, when;

	if (both->in_turn) {
		word = both->turn++ % page_color_words(both->twin.colors);
		mask = page_color_valid(both->twin.colors, word);
	}
	when = both->twin.now;
	switch (numbers_below(both->numbers, 8)) {
	case 0:
		old = mask & twin_until(&both->twin, word, until);
		SAME(page_color_lately_claim(lately, word, mask, until), old);
		note_taken(both, word, old, when);
		break;
	case 1:
		page_color_lately_forget(lately, word, mask);
		note_taken(both, word, mask, 0);
		break;
	case 2:
		page_color_lately_begin(lately);
		twin_begin(&both->twin);
		break;
	default:
		page_color_lately_take(lately, word, mask);
		twin_pass(&both->twin, hweight64(mask));
		note_taken(both, word, mask, when);
	}
	look_at_lately(both, random_word(both));
}

static void change_live(struct both *both)
{
	u32 most = (1U << both->live->planes) - 1, word = random_word(both);
	bool more = numbers_below(both->numbers, 5) < 3;
	u64 mask = random_mask(both, word), few;

	if (more && numbers_one_in(both->numbers, 2)) {
		few = twin_at_most(&both->twin, both->twin.live, word, both->live->level);
		SAME(page_color_live_claim(both->live, word, mask), mask & few);
		mask &= few;
	} else if (more)
		page_color_live_add(both->live, word, mask);
	else if (mask && numbers_one_in(both->numbers, 2))
		page_color_live_sub_one(both->live, word, __ffs64(mask &= -mask));
	else
		page_color_live_sub(both->live, word, mask);
	for (int i = 0; i < 64; i++)
		if (mask >> i & 1)
			twin_live(&both->twin, 64 * word + i, more, most);
	look_at_counts(both, word);
}

static void change_held_word(struct both *both, u32 word, u64 mask, bool hold)
{
	u64 changed = 0, got;
	bool round;

	if (hold) {
		got = page_color_held_mark(both->held, word, mask);
	} else if (mask && numbers_one_in(both->numbers, 2)) {
		mask &= -mask & page_color_valid(both->twin.colors, word);
		got = mask && page_color_held_unmark_one(both->held, 64 * word + __ffs64(mask)) ?
		      mask : 0;
	} else {
		got = page_color_held_unmark(both->held, word, mask);
	}
	for (u32 i = 0; i < 64 && 64 * word + i < both->twin.colors; i++)
		if (mask >> i & 1 && twin_hold(&both->twin, 64 * word + i, hold))
			changed |= 1ULL << i;
	SAME(got, changed);
	SAME(both->held->taken, both->twin.taken);
	round = both->twin.taken == both->twin.colors;
	SAME(page_color_held_round(both->held), round);
	if (round) {
		memset(both->twin.held, 0, both->twin.colors);
		both->twin.taken = 0;
	}
	SAME(page_color_held_word(both->held, word), twin_held_word(&both->twin, word));
	SAME(page_color_held_lacks(both->held, word),
	     twin_held_word(&both->twin, word) != page_color_valid(both->twin.colors, word));
}

static void change_held(struct both *both)
{
	bool hold = numbers_below(both->numbers, 5) < 4;

	change_held_word(both, random_word(both), numbers_chance(both->numbers), hold);
}

static void add_live(struct both *both, u32 word, u64 mask)
{
	u32 most = (1U << both->live->planes) - 1;

	mask &= page_color_valid(both->twin.colors, word);
	page_color_live_add(both->live, word, mask);
	for (int i = 0; i < 64; i++)
		if (mask >> i & 1)
			twin_live(&both->twin, 64 * word + i, true, most);
}

/*
 * Makes no stretch good: one of each two colors is held, by the space itself or by many.
 */
static void hold_pairs(struct both *both)
{
	const u64 every_second = 0x5555555555555555;
	bool own = numbers_one_in(both->numbers, 2);
	u32 times = both->live->level + 1;

	for (u32 word = 0; word < page_color_words(both->twin.colors); word++) {
		if (own)
			change_held_word(both, word, every_second, true);
		for (u32 i = 0; !own && i < times; i++)
			add_live(both, word, every_second);
	}
}

static struct page_color_wish random_wish(struct both *both)
{
	return (struct page_color_wish){
		.held = numbers_one_in(both->numbers, 4) ? NULL : both->held,
		.live = numbers_one_in(both->numbers, 4) ? NULL : both->live,
		.set = numbers_one_in(both->numbers, 2) ? NULL : &both->set,
		.old = random_time(both),
		.cursor = numbers_below(both->numbers, both->twin.colors),
		.count = 1 + numbers_below(both->numbers, 100),
		.looks = numbers_one_in(both->numbers, 4) ?
			 1 + numbers_below(both->numbers, 200) : PAGE_COLOR_SEARCHED,
		.part = numbers_one_in(both->numbers, 2),
	};
}

static bool twin_wants(struct both *both, const struct page_color_wish *wish, u32 color,
		       unsigned int want)
{
	if (wish->set && !both->set.has[color])
		return false;
	if (want & PAGE_COLOR_LACKED && wish->held && both->twin.held[color])
		return false;
	if (want & PAGE_COLOR_OLD && wish->live &&
	    !(twin_until(&both->twin, color / 64, wish->old) >> color % 64 & 1))
		return false;
	return !(want & PAGE_COLOR_FEW && wish->live) ||
	       both->twin.live[color] <= both->live->level;
}

/* Whether a frame is in the pageblock of the last copy, and not in a copy before that. */
static bool goes_on(struct both *both, unsigned long last, unsigned long frame)
{
	unsigned long whole = 1UL << both->twin.block_order;

	return frame / whole == last / whole && frame / both->twin.colors >= last / both->twin.colors;
}

/* Whether that frame also has enough of what is wanted. */
static bool may_go_on(struct both *both, unsigned long last, bool poor, unsigned long frame,
		      u64 some, unsigned int count)
{
	unsigned long whole = 1UL << both->twin.block_order;
	unsigned int in_block, nr;

	if (!goes_on(both, last, frame))
		return false;
	in_block = twin_in_block(&both->twin, last);
	nr = hweight64(twin_free_word(&both->twin, frame) & some);
	count = hweight64(some) < count ? hweight64(some) : count;
	return in_block && in_block < whole && nr && (poor || 4 * nr >= count);
}

/*
 * Chooses a copy: one in the pageblock that was chosen last, or else the best of all if
 * all are looked at.
 */
static void choose_copy(struct both *both)
{
	struct page_color_wish wish = random_wish(both);
	unsigned int want = numbers_below(both->numbers, 8), count;
	u32 colors = both->twin.colors, word = random_word(both);
	struct page_color_part part = { 0 }, taken = { 0 };
	unsigned long whole = 1UL << both->twin.block_order, last = both->memory.last;
	u64 some = page_color_wanted(&wish, colors, word, want), best = 0, mine = 0;
	unsigned int before = 0, looks = wish.looks, limit = 16384 / page_color_words(colors);
	bool found, first, goes = false, may_go = false, poor = both->memory.poor;

	for (u32 i = 0; i < 64; i++)
		SAME(some >> i & 1, 64 * word + i < colors &&
		     twin_wants(both, &wish, 64 * word + i, want));
	limit = limit > 256 ? limit : 256;
	taken.frame = random_frame(both) / colors * colors + 64 * word;
	found = page_color_choose_copy(&both->memory, word, some, &wish, &taken, 1, &part);
	first = found;
	SAME(wish.looks <= looks, true);
	SAME(looks - wish.looks <= (wish.part ? PAGE_COLOR_COPIES : limit), true);
	if (found) {
		SAME(part.word, word);
		SAME(part.frame % colors, 64 * word);
		SAME(part.frame != taken.frame, true);
		SAME(part.mask, twin_free_word(&both->twin, part.frame) & some);
		SAME(part.mask != 0, true);
	}
	count = wish.count < 64 ? wish.count : 64;
	for (unsigned long copy = 0; copy < both->memory.copies; copy++) {
		unsigned long frame = (both->memory.first + copy) * colors + 64 * word;
		u64 free = twin_free_word(&both->twin, frame) & some, score;
		unsigned int nr = hweight64(free);

		nr = nr < count ? nr : count;
		if (frame != taken.frame && may_go_on(both, last, poor, frame, some, count)) {
			may_go = may_go || before < PAGE_COLOR_GO_ON;
			goes = goes || (found && frame == part.frame);
		}
		before += goes_on(both, last, frame);
		if (!nr || frame == taken.frame ||
		    (wish.part && twin_in_block(&both->twin, frame) == whole))
			continue;
		score = (u64)(4 * nr >= count) << 32 |
			(whole - twin_in_block(&both->twin, frame)) << 8 | nr;
		if (score > best)
			best = score;
		if (found && frame == part.frame)
			mine = score;
	}
	/* A search may end before it has found what is free: the next ones continue. */
	if (!found && best && looks == PAGE_COLOR_SEARCHED && wish.part)
		SAME(both->memory.copies > PAGE_COLOR_COPIES &&
		     wish.looks == looks - PAGE_COLOR_COPIES, true);
	else if (!found && best && looks == PAGE_COLOR_SEARCHED)
		SAME(both->memory.copies > limit && wish.looks == looks - limit, true);
	for (unsigned long more = 1 + both->memory.copies /
				  (wish.part ? PAGE_COLOR_COPIES : limit);
	     !found && best && more; more--) {
		wish.looks = PAGE_COLOR_SEARCHED;
		found = page_color_choose_copy(&both->memory, word, some, &wish, &taken, 1, &part);
	}
	SAME(found, best != 0);
	if (found != first)
		return;
	/* Not all copies of a pageblock are looked at. */
	if (may_go)
		SAME(goes, true);
	if (found)
		SAME(both->memory.last, part.frame);
	if (found && !goes)
		SAME(both->memory.poor, !(mine >> 32));
	if (!goes && both->memory.copies <= PAGE_COLOR_COPIES && both->memory.copies <= looks)
		SAME(mine, best);
}

/* Random pages leave, which the twin counts by stretch. */
static void let_leave(struct both *both, struct page_color_leaving *leaving, u32 *pages,
		      u32 stretches)
{
	u32 told_apart = 0, left = numbers_below(both->numbers, 1200), at = 0;

	page_color_leaving_begin(leaving, 0);
	while (left--) {
		if (numbers_one_in(both->numbers, 8))
			at = numbers_below(both->numbers, stretches);
		page_color_leaving_add(leaving, at);
		if (!pages[at] && told_apart++ >= PAGE_COLOR_LEAVING)
			continue;
		pages[at]++;
	}
	SAME(page_color_leaving_pages(leaving, at), pages[at]);
	at = numbers_below(both->numbers, stretches);
	SAME(page_color_leaving_pages(leaving, at), pages[at]);
}

static u64 eighth(u32 size)
{
	return size < 8 ? 1 : size / 8;
}

static u64 twin_rank(struct both *both, const struct page_color_wish *wish, u32 color,
		     u32 size, u32 leaving)
{
	struct page_color_wish of_all = *wish;
	u64 outside = 0, held = 0, many = 0;

	of_all.set = NULL;
	for (u32 i = color; i < color + size; i++) {
		outside += wish->set && !both->set.has[i];
		if (!twin_wants(both, wish, i, PAGE_COLOR_LACKED))
			held++;
		else
			many += !twin_wants(both, &of_all, i, PAGE_COLOR_FEW);
	}
	held = held > leaving ? held - leaving : 0;
	return outside << 48 | (held * eighth(size) + many) << 16 | held;
}

/* All colors are in the set, and are lacked. */
static bool twin_is_lacked(u64 rank)
{
	return !(rank >> 48) && !(rank & 0xffff);
}

/* Some of them are. */
static bool twin_lacks(u64 rank, u32 size)
{
	return (rank & 0xffff) < size;
}

/* All of them are, and fewer than half are held by many. */
static bool twin_is_good(u64 rank, u32 size)
{
	return twin_is_lacked(rank) && rank >> 16 < size / 2;
}

static bool twin_block_free(struct both *both, unsigned long frame, unsigned long size)
{
	for (unsigned long i = 0; i < size; i++)
		if (!twin_free(&both->twin, frame + i))
			return false;
	return true;
}

static bool twin_any_free(struct both *both, u32 color, unsigned long size)
{
	unsigned long copy = both->memory.first, end = copy + both->memory.copies;

	for (; copy < end; copy++)
		if (twin_block_free(both, copy * both->twin.colors + color, size))
			return true;
	return false;
}

/* Whether the pageblock in use of @last has a block, from the copy of @last on. */
static bool may_stay(struct both *both, unsigned long last, u32 color, unsigned long size)
{
	unsigned long whole = 1UL << both->twin.block_order, copy = last / both->twin.colors;
	unsigned int in_block = twin_in_block(&both->twin, last), tries = 0;

	if (!in_block || in_block == whole)
		return false;
	for (; copy < both->memory.first + both->memory.copies && tries < PAGE_COLOR_GO_ON; copy++) {
		unsigned long frame = copy * both->twin.colors + color;

		if (frame / whole > last / whole)
			break;
		if (frame / whole < last / whole)
			continue;
		tries++;
		if (twin_block_free(both, frame, size))
			return true;
	}
	return false;
}

/* Of pageblocks that have the block, one with the fewest free frames must be cut. */
static void check_cut(struct both *both, unsigned long frame, unsigned long size)
{
	unsigned long whole = 1UL << both->twin.block_order, copies = both->memory.copies;
	u32 colors = both->twin.colors, color = frame % colors;
	unsigned long looks = copies * colors / 64, half = twin_count(&both->twin) / 2;
	bool many = twin_partial(&both->twin) >= (looks / 2 < half ? looks / 2 : half);
	unsigned int fewest = whole;

	for (unsigned long copy = 0; copy < copies; copy++) {
		unsigned long at = (both->memory.first + copy) * colors + color;

		if (twin_in_block(&both->twin, at) < fewest && twin_block_free(both, at, size))
			fewest = twin_in_block(&both->twin, at);
	}
	if (copies <= PAGE_COLOR_COPIES)
		SAME(twin_in_block(&both->twin, frame), fewest);
	else if (many && copies <= 512)
		SAME(twin_in_block(&both->twin, frame) < whole, fewest < whole);
}

/* Chooses a block, which must be in the best stretch that has a free one. */
static void choose_block(struct both *both)
{
	/* There are more of the smallest blocks than are compared. */
	bool pairs = numbers_one_in(both->numbers, 8);
	unsigned int order = 1 + (pairs ? 0 : numbers_below(both->numbers, both->twin.block_order));
	struct page_color_wish wish;
	unsigned long frame = 0, size = 1UL << order;
	unsigned int stay = 0;
	u32 colors = both->twin.colors, stretches = colors >> order;
	static u32 pages[MOST_COLORS];
	struct page_color_leaving leaving;
	u64 least = UINT64_MAX;
	bool any = false;
	unsigned long whole = 1UL << both->twin.block_order, last = both->memory.last_block;
	unsigned int looks;
	u32 cursor, first, end = stretches, asked = 0;
	bool found;

	if (pairs)
		hold_pairs(both);
	wish = random_wish(both);
	if (numbers_one_in(both->numbers, 4))
		wish.enough = numbers_below(both->numbers, size) * (eighth(size) << 16 | 1);
	looks = wish.looks;
	cursor = wish.cursor;
	first = cursor >> order;
	memset(pages, 0, sizeof(pages));
	if (stretches && numbers_one_in(both->numbers, 2)) {
		let_leave(both, &leaving, pages, stretches);
		wish.leaving = &leaving;
	}
	found = page_color_choose_block(&both->memory, &wish, order, &frame, &stay);
	if (found) {
		SAME(colors % size, 0);
		SAME(frame % size, 0);
		u64 rank = twin_rank(both, &wish, frame % colors, size,
				     pages[frame % colors / size]);

		SAME(twin_block_free(both, frame, size), true);
		if (size < whole && may_stay(both, last, frame % colors, size))
			SAME(frame / whole, last / whole);
		else if (size < whole && looks == PAGE_COLOR_SEARCHED && wish.looks)
			check_cut(both, frame, size);
		if (size < whole)
			SAME(both->memory.last_block, frame);
		u64 held = rank & 0xffff;
		u64 worse = held + (u32)(rank >> 16) - held * eighth(size);

		SAME(stay, held);
		SAME(wish.rank, rank);
		SAME(wish.fresh, worse < size ? size - worse : 0);
	}
	if (colors % size || both->memory.copies > 512)
		return;
	for (u32 tries = 0; tries < end; tries++) {
		u32 at = (first + tries) % stretches, color = at * size;
		u64 rank = twin_rank(both, &wish, color, size, pages[at]);

		/* A stretch without a color of the set is not looked at. */
		if (rank >> 48 == size)
			continue;
		asked += rank < least || size == whole;
		if (!twin_any_free(both, color, size))
			continue;
		any = true;
		if (rank >= least)
			continue;
		u32 more = stretches;

		if (wish.set ? least == UINT64_MAX :
			       twin_lacks(rank, size) && !twin_lacks(least, size))
			more = 1024;
		if (twin_is_lacked(rank) && !twin_is_lacked(least))
			more = 512;
		if (twin_is_good(rank, size) && !twin_is_good(least, size))
			more = 64;
		if (rank <= wish.enough)
			more = 0;
		end = end < tries + 1 + more ? end : tries + 1 + more;
		least = rank;
	}
	/* A search may end before it has found a block: the next ones continue. */
	if (looks < end + asked * both->memory.copies) {
		SAME(wish.looks <= looks, true);
		for (u32 more = stretches; !found && any && more; more--) {
			SAME(wish.looks, 0);
			/* Enough for one stretch of colors. */
			wish.looks = 1 + both->memory.copies;
			found = page_color_choose_block(&both->memory, &wish, order, &frame,
							&stay);
		}
		SAME(found, any);
		return;
	}
	SAME(found, any);
	SAME(looks - wish.looks <= end + asked * both->memory.copies, true);
	if (!found)
		return;
	SAME(twin_rank(both, &wish, frame % colors, size, pages[frame % colors / size]), least);
	/*
	 * If the block is not good, the next search begins with stretches that were not
	 * looked at; some words may be skipped.
	 */
	u32 behind = (wish.cursor / size + 2 * stretches - (first + end) % stretches) % stretches;

	if (twin_is_good(least, size) || (!twin_is_lacked(least) && end == stretches))
		SAME(wish.cursor, cursor);
	else if (!wish.set)
		SAME(behind < 64, true);
}

static void operation(struct both *both)
{
	switch (numbers_below(both->numbers, 8)) {
	case 0:
	case 1:
		change_free(both, true);
		break;
	case 2:
		change_free(both, false);
		break;
	case 3:
		clear_mask(both);
		break;
	case 4:
		look_at_free(both);
		break;
	case 5:
		if (numbers_one_in(both->numbers, 3))
			take_color(both);
		else
			change_live(both);
		break;
	case 6:
		change_held(both);
		break;
	default:
		/* The twin is slow at these. */
		if (numbers_one_in(both->numbers, 64))
			choose_copy(both);
		else if (numbers_one_in(both->numbers, 64))
			choose_block(both);
		else
			look_at_free(both);
	}
}

uint64_t side_by_side(struct numbers *numbers, uint64_t operations)
{
	struct both both;
	uint64_t done;

	begin(&both, numbers);
	for (done = 0; done < operations && (!numbers->bytes || numbers->left); done++)
		operation(&both);
	end(&both);
	return done;
}
