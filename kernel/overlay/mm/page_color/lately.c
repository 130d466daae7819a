// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* When 64 colors at a time were taken. */

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/math.h>
#include "lately.h"
#include "words.h"

size_t page_color_lately_bytes(u32 colors)
{
	return sizeof(struct page_color_lately) +
	       page_color_words(colors) * sizeof(struct page_color_lately_word);
}

void page_color_lately_init(struct page_color_lately *lately, u32 colors)
{
	lately->colors = colors;
	lately->quarter = max(colors / 4, 1U);
	/* There is one before the oldest one. */
	atomic64_set(&lately->now, PAGE_COLOR_LATELY_MOST + 1);
	lately->level = 1;
	atomic_set(&lately->left, colors);
	page_color_word_locks_init(lately->locks);
}

/* Bits below, and bits at or below, a number. */
struct compared {
	u64 below;
	u64 at_most;
};

/* Of what colors have left. */
static __always_inline struct compared
compare(const struct page_color_lately_word *word, unsigned int number)
{
	u64 low = READ_ONCE(word->plane[0]), bit_0 = -(u64)(number & 1);
	u64 mid = READ_ONCE(word->plane[1]), bit_1 = -(u64)(number >> 1 & 1);
	u64 high = READ_ONCE(word->plane[2]), bit_2 = -(u64)(number >> 2);
	u64 same = ~(high ^ bit_2), below = ~high & bit_2;

	BUILD_BUG_ON(PAGE_COLOR_LATELY_PLANES != 3);
	below |= same & ~mid & bit_1;
	same &= ~(mid ^ bit_1);
	below |= same & ~low & bit_0;
	same &= ~(low ^ bit_0);
	return (struct compared) { below, below | same };
}

/* Of a word on which nothing has changed since @now began, before and until @until. */
static __always_inline struct compared
compare_time(const struct page_color_lately_word *word, u64 now, u64 until)
{
	u64 age = now > until ? now - until : 0;

	/* Older ones are not told apart. */
	return compare(word, PAGE_COLOR_LATELY_MOST -
		       min_t(u64, age, PAGE_COLOR_LATELY_MOST));
}

u64 page_color_lately_until(const struct page_color_lately *lately, u32 word,
			    u64 until)
{
	const struct page_color_lately_word *w = &lately->word[word];
	u64 some = page_color_valid(lately->colors, word);
	u64 latest = READ_ONCE(w->latest);

	until = max(until, page_color_lately_oldest(lately));
	/* Most have not changed for long where it matters. */
	if (until < latest)
		some &= compare_time(w, latest, until).at_most;
	return some;
}

/*
 * On to a later generation: each one that has passed leaves one less, down to none.
 * Returns the one that it is in: another CPU may have been quicker.
 */
static u64 go_on(struct page_color_lately_word *word, u64 now)
{
	u64 passed = now - word->latest, borrow = 0, left[PAGE_COLOR_LATELY_PLANES];
	unsigned int p;

	if (now <= word->latest)
		return word->latest;
	if (passed > PAGE_COLOR_LATELY_MOST)
		passed = PAGE_COLOR_LATELY_MOST;
	for (p = 0; p < PAGE_COLOR_LATELY_PLANES; p++) {
		u64 bits = word->plane[p], one = -(passed >> p & 1);

		left[p] = bits ^ one ^ borrow;
		borrow = (~bits & (one | borrow)) | (one & borrow);
	}
	for (p = 0; p < PAGE_COLOR_LATELY_PLANES; p++)
		WRITE_ONCE(word->plane[p], left[p] & ~borrow);
	WRITE_ONCE(word->latest, now);
	return now;
}

/* So many colors became old, and so many are older than that. */
static void count(struct page_color_lately *lately, int left, int below)
{
	if (left)
		atomic_add(left, &lately->left);
	if (below)
		atomic_add(below, &lately->below);
}

/*
 * Those of @mask that were taken in generation @until or before are taken now, or
 * nobody knows when any more. Returns which.
 */
static __always_inline u64 change(struct page_color_lately *lately, u32 word,
				  u64 mask, u64 until, bool taken)
{
	struct page_color_lately_word *w = &lately->word[word];
	spinlock_t *lock = page_color_word_lock(lately->locks, word);
	struct compared before;
	unsigned long flags;
	unsigned int p;
	u64 now, level;

	spin_lock_irqsave(lock, flags);
	now = go_on(w, page_color_lately_now(lately));
	level = READ_ONCE(lately->level);
	if (until < now)
		mask &= compare_time(w, now, until).at_most;
	before = compare_time(w, now, level);
	for (p = 0; p < PAGE_COLOR_LATELY_PLANES; p++) {
		u64 bits = w->plane[p];

		WRITE_ONCE(w->plane[p], taken ? bits | mask : bits & ~mask);
	}
	/* What is taken is old still, where all are. */
	if (taken)
		count(lately,
		      level < now ? -(int)hweight64(mask & before.at_most) : 0,
		      -(int)hweight64(mask & before.below));
	else
		count(lately, hweight64(mask & ~before.at_most),
		      hweight64(mask & ~before.below));
	spin_unlock_irqrestore(lock, flags);
	return mask;
}

u64 page_color_lately_claim(struct page_color_lately *lately, u32 word, u64 mask,
			    u64 until)
{
	return change(lately, word, mask, until, true);
}

void page_color_lately_take(struct page_color_lately *lately, u32 word, u64 mask)
{
	int taken;

	if (!mask)
		return;
	change(lately, word, mask, U64_MAX, true);
	taken = atomic_add_return(hweight64(mask), &lately->taken);
	/* One of those who see that a generation is over begins the next. */
	if (taken >= lately->quarter &&
	    atomic_cmpxchg(&lately->taken, taken, taken - lately->quarter) == taken)
		atomic64_inc(&lately->now);
}

void page_color_lately_forget(struct page_color_lately *lately, u32 word,
			      u64 mask)
{
	if (mask)
		change(lately, word, mask, U64_MAX, false);
}

/* Words that are looked at for the level; of more, some. */
#define PAGE_COLOR_LATELY_LOOKS	1024

/* The level that is right by what is counted, one step from it, or the same. */
static u64 next_level(const struct page_color_lately *lately, u64 now)
{
	u64 oldest = now - PAGE_COLOR_LATELY_MOST, level = READ_ONCE(lately->level);
	int few = page_color_few(lately->colors);

	/* Before that none is told apart. So it is counted again now and then. */
	if (level < oldest)
		return oldest;
	if (level < now && atomic_read(&lately->left) < few)
		return level + 1;
	if (level > oldest && atomic_read(&lately->below) >= 2 * few)
		return level - 1;
	return level;
}

/* What changes meanwhile may be missed: with the next level it is counted again. */
static void set_level(struct page_color_lately *lately, u64 level)
{
	u32 words = page_color_words(lately->colors), word;
	u32 step = DIV_ROUND_UP(words, PAGE_COLOR_LATELY_LOOKS);
	int left = 0, below = 0;

	for (word = level % step; word < words; word += step) {
		u64 old = page_color_lately_until(lately, word, level);
		u64 older = page_color_lately_until(lately, word, level - 1);

		left += step * hweight64(old);
		below += step * hweight64(older);
	}
	WRITE_ONCE(lately->level, level);
	atomic_set(&lately->left, left);
	atomic_set(&lately->below, below);
}

void page_color_lately_adjust(struct page_color_lately *lately)
{
	u64 now = page_color_lately_now(lately), level;

	if (next_level(lately, now) == READ_ONCE(lately->level) ||
	    atomic_cmpxchg(&lately->leveling, 0, 1))
		return;
	/* Somebody else may have been quicker. */
	level = next_level(lately, now);
	if (level != lately->level)
		set_level(lately, level);
	atomic_set(&lately->leveling, 0);
}
