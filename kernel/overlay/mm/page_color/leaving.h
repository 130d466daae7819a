/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Small pages that a huge page is about to take the place of. Their colors come free
 * when it does, so that a block of these colors need not be avoided.
 */
#ifndef _MM_PAGE_COLOR_LEAVING_H
#define _MM_PAGE_COLOR_LEAVING_H

#include <linux/types.h>

#ifdef CONFIG_PAGE_COLOR

/*
 * The most stretches that are counted; pages of further ones count as if they stayed.
 */
#define PAGE_COLOR_LEAVING	64

/**
 * struct page_color_leaving - small pages, by stretch of colors
 * @kind: what they are, an enum page_color_kind
 * @nid: node of the first one; those of other nodes are not noted
 * @small: no huge page was allocated, since it would have had colors that are not
 *         in the set of the program
 * @stay: set when the huge page is chosen: how many of its colors other pages have
 * @nr: how many of @part are in use
 * @part: how many pages have colors of a stretch: of as many colors as the huge
 *        page has, and beginning with a multiple of that
 */
struct page_color_leaving {
	u8 kind;
	bool small;
	int nid;
	unsigned int stay;
	unsigned int nr;
	struct {
		u32 stretch;
		u32 pages;
	} part[PAGE_COLOR_LEAVING];
};

static inline void page_color_leaving_begin(struct page_color_leaving *leaving,
					    u8 kind)
{
	leaving->kind = kind;
	leaving->small = false;
	leaving->nr = 0;
	leaving->stay = 0;
}

/*
 * Notes a page of a stretch. The last stretch is looked at first, since most pages
 * have the same as the one before.
 */
static inline void page_color_leaving_add(struct page_color_leaving *leaving,
					  u32 stretch)
{
	unsigned int i = leaving->nr;

	while (i--) {
		if (leaving->part[i].stretch == stretch) {
			leaving->part[i].pages++;
			return;
		}
	}
	if (leaving->nr == PAGE_COLOR_LEAVING)
		return;
	leaving->part[leaving->nr].stretch = stretch;
	leaving->part[leaving->nr++].pages = 1;
}

static inline u32
page_color_leaving_pages(const struct page_color_leaving *leaving, u32 stretch)
{
	unsigned int i;

	for (i = 0; i < leaving->nr; i++)
		if (leaving->part[i].stretch == stretch)
			return leaving->part[i].pages;
	return 0;
}

/* The small pages stay, so khugepaged need not sleep until memory is free. */
static inline bool
page_color_leaving_stays(const struct page_color_leaving *leaving)
{
	return leaving->small;
}

#else /* !CONFIG_PAGE_COLOR */

struct page_color_leaving { };

static inline bool
page_color_leaving_stays(const struct page_color_leaving *leaving)
{
	return false;
}

static inline void page_color_leaving_begin(struct page_color_leaving *leaving,
					    u8 kind) { }

#endif /* CONFIG_PAGE_COLOR */

#endif /* _MM_PAGE_COLOR_LEAVING_H */
