/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zero pages of several colors, chosen by virtual address.
 * Documentation/admin-guide/mm/zero_pages.rst
 *
 * There is always at least one zero page. Zero pages follow each other in memory
 * from zero_pfn on, and their number is a power of two, so that is_zero_pfn() is
 * one comparison. ZERO_PAGE(address) depends on the address alone; which zero
 * page a mapping gets may also depend on the colors that its task may use.
 */
#ifndef _LINUX_ZERO_PAGES_H
#define _LINUX_ZERO_PAGES_H

#include <linux/mm.h>

#ifdef CONFIG_COLOR_ZERO_PAGES

/* The zero page of the kernel image, used until others are set aside. */
static inline void zero_pages_begin(phys_addr_t page)
{
	zero_pfn = PHYS_PFN(page);
}

#else

static inline void zero_pages_begin(phys_addr_t page) { }

#endif

#if defined(CONFIG_COLOR_ZERO_PAGES) && defined(CONFIG_PAGE_COLOR)

DECLARE_STATIC_KEY_FALSE(page_color_sets_key);

unsigned long zero_pfn_in_set(struct mm_struct *mm, unsigned long addr);

/* The zero page that is mapped at an address. */
static inline unsigned long vma_zero_pfn(const struct vm_area_struct *vma,
					 unsigned long addr)
{
	if (static_branch_unlikely(&page_color_sets_key))
		return zero_pfn_in_set(vma->vm_mm, addr);
	return my_zero_pfn(addr);
}

#else

static inline unsigned long vma_zero_pfn(const struct vm_area_struct *vma,
					 unsigned long addr)
{
	return my_zero_pfn(addr);
}

#endif

/* The same as a struct page: a constant without the option, unlike zero_pfn. */
static inline struct page *vma_zero_page(const struct vm_area_struct *vma,
					 unsigned long addr)
{
#ifdef CONFIG_COLOR_ZERO_PAGES
	return pfn_to_page(vma_zero_pfn(vma, addr));
#else
	return ZERO_PAGE(addr);
#endif
}

#endif /* _LINUX_ZERO_PAGES_H */
