/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What choosing frames asks of a set of colors. */
#ifndef _MM_PAGE_COLOR_SET_H
#define _MM_PAGE_COLOR_SET_H

#include <linux/types.h>

struct page_color_set;

/* Bit i: color 64 * @word + i is in the set. */
u64 page_color_set_word(const struct page_color_set *set, u32 word);
/* The first color of the set at or after @color, cyclically. */
u32 page_color_set_next(const struct page_color_set *set, u32 color);

#endif /* _MM_PAGE_COLOR_SET_H */
