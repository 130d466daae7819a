// SPDX-License-Identifier: GPL-2.0-only
/* Cache geometry: reads it from text, and checks whether it is possible. */

#include <linux/cacheinfo.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/node.h>
#include <linux/string.h>
#include "page_color.h"

static int refuse(const char **error, const char *reason)
{
	*error = reason;
	return -EINVAL;
}

/* Decimal, with a suffix as for memparse(); alone, in kB as in the patches of 2003. */
static int parse_size(char *word, unsigned long *size)
{
	static const char suffixes[] = "kmgtpe";
	size_t length = strlen(word);
	unsigned int shift = 10;
	const char *suffix;
	u64 number;

	suffix = length ? strchr(suffixes, tolower(word[length - 1])) : NULL;
	if (suffix) {
		shift = 10 * (suffix - suffixes + 1);
		word[length - 1] = '\0';
	}
	if (!isdigit(*word) || kstrtou64(word, 10, &number))
		return -EINVAL;
	if (!number || number > (u64)ULONG_MAX >> shift)
		return -EINVAL;
	*size = number << shift;
	return 0;
}

static int parse_word(char *word, bool first,
		      struct page_color_geometry *geometry, const char **error)
{
	unsigned int ways;

	if (!strncmp(word, "ways=", 5)) {
		if (kstrtouint(word + 5, 10, &ways) || !ways)
			return refuse(error, "ways is a number from 1");
		geometry->ways = ways;
		return 0;
	}
	if (strchr(word, '='))
		return refuse(error, "the only option is ways=N");
	if (!first)
		return refuse(error, "after SIZE comes ways=N");
	if (parse_size(word, &geometry->size))
		return refuse(error, "SIZE is like 16G, 512K, or a number of kB");
	return 0;
}

int page_color_parse(const char *text, struct page_color_geometry *geometry,
		     const char **error)
{
	struct page_color_geometry parsed = *geometry;
	char buffer[64], *rest, *word;
	bool first = true;
	int err;

	if (strscpy(buffer, text) < 0)
		return refuse(error, "too long");
	rest = strim(buffer);
	while ((word = strsep(&rest, ","))) {
		err = parse_word(word, first, &parsed, error);
		if (err)
			return err;
		first = false;
	}
	*geometry = parsed;
	return 0;
}

int page_color_check_geometry(struct page_color_geometry *geometry,
			      const char **error)
{
	unsigned long way;

	if (!geometry->size)
		return refuse(error, "the size of the cache is not known");
	if (!geometry->ways)
		return refuse(error, "a cache has at least one way");
	way = geometry->size / geometry->ways;
	if (way * geometry->ways != geometry->size || way % PAGE_SIZE)
		return refuse(error, "a way is not a whole number of pages");
	if (way / PAGE_SIZE < 2)
		return refuse(error, "a way is one page: there is one color");
	if (way / PAGE_SIZE > INT_MAX)
		return refuse(error, "too many colors");
	geometry->colors = way / PAGE_SIZE;
	return 0;
}

/*
 * A memory-side cache. HMAT knows "direct-mapped" and "complex", and tells
 * neither the number of ways of the latter nor how an address chooses its place:
 * it is not known which frames compete, and coloring by a guess could make it
 * worse.
 *
 * The address mode "extended linear" adds the capacity of a direct-mapped cache
 * to that of the memory behind it: the node has @size bytes of the cache, and as
 * much memory again, or a multiple of it, that competes for the same places.
 * Frames that are @size bytes apart compete, as they do when the cache is no
 * memory of its own, so the number of colors is the same; each has few frames.
 */
int page_color_check_side(const struct node_cache_attrs *attrs,
			  struct page_color_geometry *geometry,
			  const char **error)
{
	bool linear = attrs->address_mode ==
		      NODE_CACHE_ADDR_MODE_EXTENDED_LINEAR;

	geometry->size = attrs->size;
	geometry->ways = 1;
	strscpy(geometry->source, linear ? "hmat-extended-linear" : "hmat");
	if (attrs->indexing != NODE_CACHE_DIRECT_MAP)
		return refuse(error, "HMAT does not tell its ways: see page_color=SIZE,ways=N");
	return page_color_check_geometry(geometry, error);
}

/* Hypervisors fake caches of one set and one way, or impossible sizes. */
int page_color_check_leaf(const struct cacheinfo *leaf, const char **error)
{
	u64 lines = (u64)leaf->number_of_sets * leaf->ways_of_associativity;
	unsigned int partitions = max(leaf->physical_line_partition, 1u);

	if (lines <= 1)
		return refuse(error, "its sets or ways are not told");
	if (lines * leaf->coherency_line_size * partitions != leaf->size)
		return refuse(error, "its size is not sets times ways times line");
	return 0;
}

int page_color_check_node(int nid, const struct page_color_geometry *geometry,
			  const char **error)
{
	if (geometry->colors > node_present_pages(nid))
		return refuse(error, "a way is larger than the node's memory");
	return 0;
}
