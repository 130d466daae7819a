// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Counts of 64 colors at a time. */

#include <linux/compiler.h>
#include "live.h"
#include "words.h"

size_t page_color_live_bytes(u32 colors, unsigned int planes)
{
	return sizeof(struct page_color_live) +
	       (size_t)page_color_words(colors) * planes * sizeof(u64);
}

void page_color_live_init(struct page_color_live *live, u32 colors,
			  unsigned int planes)
{
	live->colors = colors;
	live->planes = planes;
	atomic_set(&live->used, 1);
	atomic_set(&live->left, colors);
	page_color_word_locks_init(live->locks);
}

/* Bits below, and bits at or below, a level. */
struct compared {
	u64 below;
	u64 at_most;
};

static struct compared compare(const struct page_color_live *live, u32 word,
			       u32 level)
{
	const u64 *plane = &live->plane[(size_t)word * live->planes];
	u64 same = page_color_valid(live->colors, word), below = 0;
	unsigned int p = atomic_read(&live->used);
	u64 above = 0;

	if (level >> p)
		return (struct compared) { same, same };
	/*
	 * Most levels are low. A count with a bit above those of the level is larger.
	 */
	while (p && !(level >> (p - 1)))
		above |= READ_ONCE(plane[--p]);
	same &= ~above;
	while (p--) {
		u64 bits = READ_ONCE(plane[p]);

		if (level >> p & 1) {
			below |= same & ~bits;
			same &= bits;
		} else {
			same &= ~bits;
		}
	}
	return (struct compared) { below, below | same };
}

/* Colors with a count of 0: these are asked for most often. */
static u64 unheld(const struct page_color_live *live, u32 word)
{
	const u64 *plane = &live->plane[(size_t)word * live->planes];
	u64 held = ~page_color_valid(live->colors, word);
	unsigned int p = atomic_read(&live->used);

	while (p--)
		held |= READ_ONCE(plane[p]);
	return ~held;
}

u64 page_color_live_at_most(const struct page_color_live *live, u32 word,
			    u32 level)
{
	if (!level)
		return unheld(live, word);
	return compare(live, word, level).at_most;
}

/*
 * Sets a level one up or down. Counts that change meanwhile may be missed: the next
 * change of the level counts all of them again.
 */
static void change_level(struct page_color_live *live, u32 level)
{
	u32 words = page_color_words(live->colors), word;
	int left = 0, below = 0;

	for (word = 0; word < words; word++) {
		struct compared now = compare(live, word, level);

		left += hweight64(now.at_most);
		below += hweight64(now.below);
	}
	WRITE_ONCE(live->level, level);
	atomic_set(&live->left, left);
	atomic_set(&live->below, below);
}

void page_color_live_adjust(struct page_color_live *live)
{
	u32 level = READ_ONCE(live->level);
	int few = page_color_few(live->colors);
	/* At the largest level all colors are left, so it rises no further. */
	bool up = atomic_read(&live->left) < few;
	bool down = atomic_read(&live->below) >= 2 * few && level;

	if ((!up && !down) || atomic_cmpxchg(&live->leveling, 0, 1))
		return;
	change_level(live, up ? level + 1 : level - 1);
	atomic_set(&live->leveling, 0);
}

/* @left more colors are at the level or below, and @below more are below it. */
static void count(struct page_color_live *live, int left, int below)
{
	if (left)
		atomic_add(left, &live->left);
	if (below)
		atomic_add(below, &live->below);
}

/* Of the bits of plane @p, those that are as bit @p of @number. */
static u64 alike(u64 bits, u32 number, unsigned int p)
{
	return bits ^ ((number >> p & 1) - 1ULL);
}

/*
 * Bit @p of a count is about to be set: readers look at this plane from now on. Most
 * counts are small, so planes that were never used are not looked at.
 */
static void use_plane(struct page_color_live *live, int p)
{
	int used = atomic_read(&live->used), before;

	while (used <= p) {
		before = atomic_cmpxchg(&live->used, used, p + 1);
		if (before == used)
			break;
		used = before;
	}
}

/* The count of the color at @bit of a word goes up or down by one. */
static __always_inline void change_one(struct page_color_live *live, u64 *plane,
				       unsigned int bit, bool up)
{
	unsigned int used = atomic_read(&live->used), p;
	u32 level = READ_ONCE(live->level);
	u64 one = 1ULL << bit;
	u32 was = 0, lower, turned;

	for (p = 0; p < used; p++)
		was |= !!(plane[p] & one) << p;
	if (was == (up ? (1U << live->planes) - 1 : 0))
		return;
	lower = up ? was : was - 1;
	turned = was ^ (up ? was + 1 : was - 1);
	if (turned >> used)
		use_plane(live, used);
	for (p = 0; turned >> p; p++)
		WRITE_ONCE(plane[p], plane[p] ^ one);
	/* The count crosses the level, or the value just below it. */
	if (lower == level)
		count(live, up ? -1 : 1, 0);
	else if (lower + 1 == level)
		count(live, 0, up ? -1 : 1);
}

/*
 * Counts go up or down by one. @cross are those that cross the level: that had it and
 * go up, or had one more and go down; @cross_below are the same for the value just
 * below the level.
 */
static __always_inline void change_many(struct page_color_live *live, u64 *plane,
					u64 mask, bool up)
{
	u64 carry = mask, cross = mask, cross_below = mask;
	unsigned int used = atomic_read(&live->used), p;
	u32 level = READ_ONCE(live->level) + !up;
	int left, below;

	for (p = 0; p < used && (carry | cross | cross_below); p++) {
		u64 bits = plane[p];

		cross &= alike(bits, level, p);
		cross_below &= alike(bits, level - 1, p);
		if (carry)
			WRITE_ONCE(plane[p], bits ^ carry);
		carry &= up ? bits : ~bits;
	}
	/* No count is below 0. */
	if (!level)
		cross_below = 0;
	if (up && carry && used < live->planes) {
		use_plane(live, used);
		WRITE_ONCE(plane[used], carry);
		carry = 0;
	}
	/* Counts that would wrap around stay at the largest value, or at 0. */
	for (p = 0; p < used && carry; p++)
		WRITE_ONCE(plane[p], up ? plane[p] | carry : plane[p] & ~carry);
	left = hweight64(cross & ~carry);
	below = hweight64(cross_below & ~carry);
	count(live, up ? -left : left, up ? -below : below);
}

static __always_inline void change(struct page_color_live *live, u32 word,
				   u64 mask, bool up)
{
	u64 *plane = &live->plane[(size_t)word * live->planes];
	spinlock_t *lock = page_color_word_lock(live->locks, word);
	unsigned long flags;

	if (!mask)
		return;
	spin_lock_irqsave(lock, flags);
	if (mask & (mask - 1))
		change_many(live, plane, mask, up);
	else
		change_one(live, plane, __ffs64(mask), up);
	spin_unlock_irqrestore(lock, flags);
}

void page_color_live_add(struct page_color_live *live, u32 word, u64 mask)
{
	change(live, word, mask, true);
}

void page_color_live_sub(struct page_color_live *live, u32 word, u64 mask)
{
	change(live, word, mask, false);
}

u64 page_color_live_claim(struct page_color_live *live, u32 word, u64 mask)
{
	u64 *plane = &live->plane[(size_t)word * live->planes];
	spinlock_t *lock = page_color_word_lock(live->locks, word);
	unsigned long flags;

	spin_lock_irqsave(lock, flags);
	mask &= page_color_live_few(live, word);
	if (mask)
		change_many(live, plane, mask, true);
	spin_unlock_irqrestore(lock, flags);
	return mask;
}

/* For pages that are unmapped in random order, one by one. */
void page_color_live_sub_one(struct page_color_live *live, u32 word,
			     unsigned int bit)
{
	u64 *plane = &live->plane[(size_t)word * live->planes];
	spinlock_t *lock = page_color_word_lock(live->locks, word);

	spin_lock(lock);
	change_one(live, plane, bit, false);
	spin_unlock(lock);
}
