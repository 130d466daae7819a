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
	int i;

	live->colors = colors;
	live->planes = planes;
	atomic_set(&live->left, colors);
	for (i = 0; i < PAGE_COLOR_LIVE_LOCKS; i++)
		spin_lock_init(&live->locks[i].lock);
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
	unsigned int p = live->planes;

	if (level >> p)
		return (struct compared) { same, same };
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

u64 page_color_live_at_most(const struct page_color_live *live, u32 word,
			    u32 level)
{
	return compare(live, word, level).at_most;
}

/* So many colors shall be left before the next level is begun. */
static int few(const struct page_color_live *live)
{
	return live->colors / 512 + 1;
}

/*
 * One level up or down. Counts that change meanwhile may be missed: the next
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

static void adjust(struct page_color_live *live)
{
	u32 level = READ_ONCE(live->level);
	/* At the largest count, all are left. */
	bool up = atomic_read(&live->left) < few(live);
	bool down = atomic_read(&live->below) >= 2 * few(live) && level;

	if ((!up && !down) || atomic_cmpxchg(&live->leveling, 0, 1))
		return;
	change_level(live, up ? level + 1 : level - 1);
	atomic_set(&live->leveling, 0);
}

void page_color_live_adjust(struct page_color_live *live)
{
	adjust(live);
	if (live->lately)
		adjust(live->lately);
}

static void add(u64 *plane, unsigned int planes, u64 carry)
{
	unsigned int p;
	u64 bits;

	for (p = 0; p < planes && carry; p++) {
		bits = plane[p];
		WRITE_ONCE(plane[p], bits ^ carry);
		carry &= bits;
	}
	/* What went over the top was all ones, and stays so. */
	for (p = 0; p < planes && carry; p++)
		WRITE_ONCE(plane[p], plane[p] | carry);
}

static void sub(u64 *plane, unsigned int planes, u64 borrow)
{
	unsigned int p;
	u64 bits;

	for (p = 0; p < planes && borrow; p++) {
		bits = plane[p];
		WRITE_ONCE(plane[p], bits ^ borrow);
		borrow &= ~bits;
	}
	for (p = 0; p < planes && borrow; p++)
		WRITE_ONCE(plane[p], plane[p] & ~borrow);
}

static void fill(u64 *plane, unsigned int planes, u64 mask)
{
	unsigned int p;

	for (p = 0; p < planes; p++)
		WRITE_ONCE(plane[p], plane[p] | mask);
}

typedef void (*live_change_fn)(u64 *plane, unsigned int planes, u64 mask);

static __always_inline void change(struct page_color_live *live, u32 word,
				   u64 mask, live_change_fn how)
{
	spinlock_t *lock = &live->locks[word % PAGE_COLOR_LIVE_LOCKS].lock;
	u64 *plane = &live->plane[(size_t)word * live->planes];
	struct compared before, after;
	unsigned long flags;
	int left, below;
	u32 level;

	if (!mask)
		return;
	spin_lock_irqsave(lock, flags);
	level = READ_ONCE(live->level);
	before = compare(live, word, level);
	how(plane, live->planes, mask);
	after = compare(live, word, level);
	left = hweight64(after.at_most) - hweight64(before.at_most);
	below = hweight64(after.below) - hweight64(before.below);
	if (left)
		atomic_add(left, &live->left);
	if (below)
		atomic_add(below, &live->below);
	spin_unlock_irqrestore(lock, flags);
}

void page_color_live_add(struct page_color_live *live, u32 word, u64 mask)
{
	change(live, word, mask, add);
}

void page_color_live_sub(struct page_color_live *live, u32 word, u64 mask)
{
	change(live, word, mask, sub);
}

/* For each eighth color that is taken, those of one word sink. */
void page_color_live_taken(struct page_color_live *live, u32 word, u64 mask)
{
	struct page_color_live *lately = live->lately;
	u32 words = page_color_words(live->colors), sunk, now;

	if (!lately || !mask)
		return;
	change(lately, word, mask, fill);
	now = atomic_add_return(hweight64(mask), &lately->taken);
	for (sunk = (now - hweight64(mask)) / 8; sunk != now / 8; sunk++)
		page_color_live_sub(lately, sunk % words,
				    page_color_valid(live->colors,
						     sunk % words));
}
