/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What alloc.c, space.c, unmap.c and set.c of mm/page_color need of memory management. Of
 * functions for pages and folios there are only declarations: refills.c is linked
 * without the functions that call them.
 */
#ifndef HARNESS_LINUX_MM_H
#define HARNESS_LINUX_MM_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/mm_types.h>
#include <linux/mmzone.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define __counted_by(member)
#define IS_ENABLED(option) 0
#define num_online_cpus() 8U

/* Types of functions that are not called here. */
struct mutex;
struct mempolicy;
struct encoded_page;

#define ENCODED_PAGE_BIT_NR_PAGES_NEXT 2UL

/* Not defined: the functions that call them are not called. */
unsigned long page_to_pfn(const struct page *page);
int page_to_nid(const struct page *page);
struct folio *page_folio(const struct page *page);
bool PageCompound(const struct page *page);
struct page *encoded_page_ptr(struct encoded_page *page);
unsigned long encoded_page_flags(struct encoded_page *page);
unsigned long encoded_nr_pages(struct encoded_page *page);
bool folio_test_anon(const struct folio *folio);
bool folio_test_hugetlb(const struct folio *folio);
bool folio_is_zone_device(const struct folio *folio);
bool folio_likely_mapped_shared(const struct folio *folio);
bool folio_test_swapbacked(const struct folio *folio);
bool folio_test_pmd_mappable(const struct folio *folio);
unsigned long folio_pfn(const struct folio *folio);
unsigned int folio_order(const struct folio *folio);
long folio_nr_pages(const struct folio *folio);
int folio_nid(const struct folio *folio);
struct folio *folio_alloc_noprof(gfp_t gfp, unsigned int order);
struct folio *folio_alloc_mpol_noprof(gfp_t gfp, unsigned int order,
				      struct mempolicy *pol, pgoff_t ilx, int nid);
int cmpxchg(int *place, int old, int value);

#endif
