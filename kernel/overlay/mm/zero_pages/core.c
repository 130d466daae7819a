// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zero pages are set aside before any is mapped, and published when the caches
 * are known: until then there is one, which stays the first of them.
 */

#define pr_fmt(fmt) "zero_pages: " fmt

#include <linux/cacheinfo.h>
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/zero_pages.h>
#include "zero_pages.h"

/* The bits of an address that choose its zero page, all in the page number. */
unsigned long zero_page_mask __ro_after_init;
EXPORT_SYMBOL(zero_page_mask);

static struct zero_pages_request request __initdata;
/* Contiguous zeroed pages; before publishing only the first is used. */
static unsigned int set_aside __initdata = 1;
static enum zero_pages_source source __ro_after_init;
static const char *reason __ro_after_init = "zero_pages= was not given";

unsigned int zero_pages_number(void)
{
	return (zero_page_mask >> PAGE_SHIFT) + 1;
}

enum zero_pages_source zero_pages_source(void)
{
	return source;
}

const char *zero_pages_reason(void)
{
	return reason;
}

static int __init zero_pages_setup(char *text)
{
	if (zero_pages_parse(text, &request)) {
		pr_warn("%s: not off, auto, l1, l2 or a power of two up to %u; there is one zero page\n",
			text, ZERO_PAGES_MAX);
		reason = "zero_pages= cannot be understood";
	} else if (request.source == ZERO_PAGES_OFF) {
		reason = "off";
	}
	return 0;
}
early_param("zero_pages", zero_pages_setup);

static int __init zero_pages_set_aside(void)
{
	unsigned int number = zero_pages_at_most(&request), i;
	struct page *page;

	if (request.source == ZERO_PAGES_OFF)
		return 0;
	page = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_SKIP_KASAN |
			   __GFP_NOWARN, ilog2(number));
	if (!page) {
		pr_warn("no memory for %u pages in a row; there is one zero page\n",
			number);
		request.source = ZERO_PAGES_OFF;
		reason = "there was no memory for more";
		return 0;
	}
	split_page(page, ilog2(number));
	for (i = 0; i < number; i++) {
		mark_page_reserved(page + i);
		zero_page_clear_tags(page + i);
	}
	set_aside = number;
	/* No page table maps the zero page of the kernel image yet. */
	zero_pfn = page_to_pfn(page);
	return 0;
}
early_initcall(zero_pages_set_aside);

/*
 * If cores differ the largest number is taken: it is a multiple of the others.
 */
static unsigned int __init zero_pages_of_cpus(unsigned int level)
{
	unsigned int cpu, number = 0, i;

	reason = "no such cache is known";
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct cpu_cacheinfo *info = get_cpu_cacheinfo(cpu);

		for (i = 0; info && info->info_list && i < info->num_leaves;
		     i++) {
			const struct cacheinfo *leaf = &info->info_list[i];

			if (leaf->level == level &&
			    leaf->type != CACHE_TYPE_INST)
				number = max(number,
					     zero_pages_of_cache(leaf, &reason));
		}
	}
	cpus_read_unlock();
	return number;
}

static unsigned int __init zero_pages_needed(void)
{
	unsigned int level = zero_pages_level(request.source), number;

	if (!level) {
		reason = "asked for on the command line";
		return request.number;
	}
	number = zero_pages_of_cpus(level);
	if (!number) {
		pr_warn("L%u: %s; there is one zero page\n", level, reason);
		return 1;
	}
	reason = number > 1 ? "pages of one way of the cache" :
			      "a way of the cache is no larger than a page";
	return number;
}

/*
 * A task that maps a zero page has read the mask before, and a task that finds
 * the mapping takes the lock of its page table after that: so it sees the mask,
 * too.
 */
static int __init zero_pages_publish(void)
{
	unsigned int number, i;

	if (request.source == ZERO_PAGES_OFF)
		return 0;
	source = request.source;
	number = zero_pages_needed();
	WRITE_ONCE(zero_page_mask, (unsigned long)(number - 1) << PAGE_SHIFT);
	for (i = number; i < set_aside; i++)
		free_reserved_page(pfn_to_page(zero_pfn + i));
	pr_info("%u (%s: %s)\n", number, zero_pages_source_name(source), reason);
	return 0;
}
late_initcall(zero_pages_publish);
