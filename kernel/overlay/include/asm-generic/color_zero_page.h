/* SPDX-License-Identifier: GPL-2.0-only */
/* ZERO_PAGE() of architectures with CONFIG_COLOR_ZERO_PAGES. */
#ifndef _ASM_GENERIC_COLOR_ZERO_PAGE_H
#define _ASM_GENERIC_COLOR_ZERO_PAGE_H

#define __HAVE_COLOR_ZERO_PAGE

#ifndef __ASSEMBLY__
/* The first zero page, and the bits of an address that choose one. */
extern unsigned long zero_pfn;
extern unsigned long zero_page_mask;
#endif

#define ZERO_PAGE(vaddr)						\
	pfn_to_page(zero_pfn +						\
		    (((unsigned long)(vaddr) & zero_page_mask) >> PAGE_SHIFT))

/*
 * Where memory has tags: clears the tags of a page before it becomes a zero page.
 */
#ifndef zero_page_clear_tags
#define zero_page_clear_tags(page)	((void)(page))
#endif

#endif /* _ASM_GENERIC_COLOR_ZERO_PAGE_H */
