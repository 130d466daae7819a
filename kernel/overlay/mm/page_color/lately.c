// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* When 64 colors at a time were taken. */

#include <linux/bitops.h>
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
	/* The oldest generation is 1, so that there is one before it. */
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

/* Compares the values of the colors of a word with a number. */
static __always_inline struct compared
compare(const struct page_color_lately_word *word, unsigned int number)
{
	u64 same = ~0ULL, below = 0;
	unsigned int p = PAGE_COLOR_LATELY_PLANES;

	while (p--) {
		u64 bits = READ_ONCE(word->plane[p]), bit = -(u64)(number >> p & 1);

		below |= same & ~bits & bit;
		same &= ~(bits ^ bit);
	}
	return (struct compared) { below, below | same };
}

/*
 * Of a word whose values are relative to generation @now, the colors that were last
 * taken before generation @until, and those in it or before.
 */
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
	/* If the word was last taken in @until or before, all of its colors were. */
	if (until < latest)
		some &= compare_time(w, latest, until).at_most;
	return some;
}

/*
 * Makes the values of a word relative to generation @now: each generation that has
 * passed makes them one less, down to 0. Returns the generation of the word, which is
 * later than @now if another CPU was quicker.
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

/* @left more colors are old, and @below more were last taken before the level. */
static void count(struct page_color_lately *lately, int left, int below)
{
	if (left)
		atomic_add(left, &lately->left);
	if (below)
		atomic_add(below, &lately->below);
}

/*
 * Those of @mask that were last taken in generation @until or before count as taken
 * now, or as taken long ago if not @taken. Returns which.
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
	/*
	 * If the level is the present generation, a color that is taken is still old.
	 */
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
	/* Of the CPUs that see that a generation is over, one begins the next. */
	if (taken >= lately->quarter &&
	    atomic_cmpxchg(&lately->taken, taken, taken - lately->quarter) == taken)
		atomic64_inc(&lately->now);
}

/* A generation takes at least one in so many of a quarter of the colors. */
#define PAGE_COLOR_LATELY_YOUNG	16

void page_color_lately_begin(struct page_color_lately *lately)
{
	int taken = atomic_read(&lately->taken);

	if (taken >= DIV_ROUND_UP(lately->quarter, PAGE_COLOR_LATELY_YOUNG) &&
	    atomic_cmpxchg(&lately->taken, taken, 0) == taken)
		atomic64_inc(&lately->now);
}

void page_color_lately_forget(struct page_color_lately *lately, u32 word,
			      u64 mask)
{
	if (mask)
		change(lately, word, mask, U64_MAX, false);
}

/* The most words that are looked at for the level; of more words, a sample. */
#define PAGE_COLOR_LATELY_LOOKS	1024

/* The level that the counts ask for: one step from the present one, or the same. */
static u64 next_level(const struct page_color_lately *lately, u64 now)
{
	u64 oldest = now - PAGE_COLOR_LATELY_MOST, level = READ_ONCE(lately->level);
	int few = page_color_few(lately->colors);

	/* Older ones are not told apart: the level follows, and is counted anew. */
	if (level < oldest)
		return oldest;
	if (level < now && atomic_read(&lately->left) < few)
		return level + 1;
	if (level > oldest && atomic_read(&lately->below) >= 2 * few)
		return level - 1;
	return level;
}

/* Changes meanwhile may be missed: the next change of the level counts again. */
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
	/* Another CPU may have changed it meanwhile. */
	level = next_level(lately, now);
	if (level != lately->level)
		set_level(lately, level);
	atomic_set(&lately->leveling, 0);
}
