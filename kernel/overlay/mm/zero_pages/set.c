// SPDX-License-Identifier: GPL-2.0-only
/* The zero page of a mapping whose task may use only some colors. */

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/zero_pages.h>
#include "../page_color/page_color.h"
#include "zero_pages.h"

static bool in_set(const struct page_color_set *set, unsigned long pfn)
{
	return page_color_set_has(set, pfn % set->colors, 0);
}

static unsigned long choose(const struct page_color_set *set,
			    unsigned long addr)
{
	unsigned int number = zero_pages_number(), i, some = 0, nth;
	unsigned long first = my_zero_pfn(0);

	for (i = 0; i < number; i++)
		some += in_set(set, first + i);
	/* If no zero page has a color of the set, choose as without a set. */
	if (!some)
		return my_zero_pfn(addr);
	nth = (addr >> PAGE_SHIFT) % some;
	for (i = 0; i < number; i++)
		if (in_set(set, first + i) && !nth--)
			break;
	return first + i;
}

unsigned long zero_pfn_in_set(struct mm_struct *mm, unsigned long addr)
{
	int nid = page_to_nid(pfn_to_page(my_zero_pfn(0)));
	unsigned long pfn = my_zero_pfn(addr);
	const struct page_color_set *set;

	if (!zero_page_mask)
		return pfn;
	rcu_read_lock();
	set = page_color_set_of_node(mm, nid);
	if (set)
		pfn = choose(set, addr);
	rcu_read_unlock();
	return pfn;
}
EXPORT_SYMBOL_GPL(zero_pfn_in_set);
