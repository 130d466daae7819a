// SPDX-License-Identifier: GPL-2.0-only
/* The number of zero pages: from the command line, or from a cache. */

#include <linux/cacheinfo.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/string.h>
#include "zero_pages.h"

static const char *const names[] = {
	[ZERO_PAGES_OFF] = "off",
	[ZERO_PAGES_NUMBER] = "number",
	[ZERO_PAGES_AUTO] = "auto",
	[ZERO_PAGES_L1] = "l1",
	[ZERO_PAGES_L2] = "l2",
};

const char *zero_pages_source_name(enum zero_pages_source source)
{
	return names[source];
}

int zero_pages_parse(const char *text, struct zero_pages_request *request)
{
	unsigned int number;
	int source;

	source = match_string(names, ARRAY_SIZE(names), text);
	if (source >= 0 && source != ZERO_PAGES_NUMBER) {
		request->source = source;
		request->number = 0;
		return 0;
	}
	/* A power of two, since bits of the address choose among the pages. */
	if (kstrtouint(text, 0, &number) || !is_power_of_2(number) ||
	    number > ZERO_PAGES_MAX)
		return -EINVAL;
	request->source = ZERO_PAGES_NUMBER;
	request->number = number;
	return 0;
}

unsigned int zero_pages_at_most(const struct zero_pages_request *request)
{
	switch (request->source) {
	case ZERO_PAGES_OFF:
		return 1;
	case ZERO_PAGES_NUMBER:
		return request->number;
	default:
		return ZERO_PAGES_MAX;
	}
}

unsigned int zero_pages_level(enum zero_pages_source source)
{
	switch (source) {
	case ZERO_PAGES_AUTO:
	case ZERO_PAGES_L1:
		return 1;
	case ZERO_PAGES_L2:
		return 2;
	default:
		return 0;
	}
}

unsigned int zero_pages_of_cache(const struct cacheinfo *leaf,
				 const char **reason)
{
	unsigned int way;

	if (!leaf->size || !leaf->ways_of_associativity) {
		*reason = "its size or its number of ways is not known";
		return 0;
	}
	if (leaf->size % leaf->ways_of_associativity) {
		*reason = "its size is no multiple of its ways";
		return 0;
	}
	way = leaf->size / leaf->ways_of_associativity;
	if (leaf->coherency_line_size && leaf->number_of_sets &&
	    way != leaf->coherency_line_size * leaf->number_of_sets) {
		*reason = "its size is not lines times sets times ways";
		return 0;
	}
	if (!is_power_of_2(way)) {
		*reason = "a way of it is no power of two";
		return 0;
	}
	if (way / PAGE_SIZE > ZERO_PAGES_MAX) {
		*reason = "a way of it has too many pages";
		return 0;
	}
	return max_t(unsigned int, way / PAGE_SIZE, 1);
}
