/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Locks of words of colors: millions of words share a few locks. */
#ifndef _MM_PAGE_COLOR_WORD_LOCK_H
#define _MM_PAGE_COLOR_WORD_LOCK_H

#include <linux/cache.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define PAGE_COLOR_WORD_LOCKS	64

struct page_color_word_lock {
	/* For the words whose number has the same remainder. */
	spinlock_t lock;
} ____cacheline_aligned;

static inline void page_color_word_locks_init(struct page_color_word_lock *locks)
{
	int i;

	for (i = 0; i < PAGE_COLOR_WORD_LOCKS; i++)
		spin_lock_init(&locks[i].lock);
}

static inline spinlock_t *
page_color_word_lock(struct page_color_word_lock *locks, u32 word)
{
	return &locks[word % PAGE_COLOR_WORD_LOCKS].lock;
}

#endif /* _MM_PAGE_COLOR_WORD_LOCK_H */
