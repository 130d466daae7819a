/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MM_ZERO_PAGES_H
#define _MM_ZERO_PAGES_H

#include <linux/types.h>

struct cacheinfo;

/* 1 MiB of pages of 4 KiB: one way of the largest private caches there are. */
#define ZERO_PAGES_MAX	256

/* What zero_pages= asks for. */
enum zero_pages_source {
	ZERO_PAGES_OFF,
	ZERO_PAGES_NUMBER,
	ZERO_PAGES_AUTO,
	ZERO_PAGES_L1,
	ZERO_PAGES_L2,
};

/**
 * struct zero_pages_request - what was asked for
 * @source: where the number comes from
 * @number: the number on the command line, for ZERO_PAGES_NUMBER
 */
struct zero_pages_request {
	enum zero_pages_source source;
	unsigned int number;
};

/* number.c: no memory and no hardware, so that it can be tested */

/* -EINVAL for a text that is not understood, or an impossible number. */
int zero_pages_parse(const char *text, struct zero_pages_request *request);
/* How many pages to set aside until it is known how many are needed. */
unsigned int zero_pages_at_most(const struct zero_pages_request *request);
/* The level of the cache that gives the number; 0 if none does. */
unsigned int zero_pages_level(enum zero_pages_source source);
const char *zero_pages_source_name(enum zero_pages_source source);
/*
 * How many pages one way of a cache has, which is how many colors it has: 1
 * where a way is no larger than a page. 0 if that cannot be the geometry of a
 * cache, with the reason.
 */
unsigned int zero_pages_of_cache(const struct cacheinfo *leaf,
				 const char **reason);

/* core.c: what is in force, for sysfs.c */
unsigned int zero_pages_number(void);
enum zero_pages_source zero_pages_source(void);
const char *zero_pages_reason(void);

#endif /* _MM_ZERO_PAGES_H */
