// SPDX-License-Identifier: GPL-2.0-or-later
#include "recency.h"

#include <stdlib.h>

/* No way; ways are counted from 0. */
#define NONE UINT32_MAX

struct way {
	uint64_t tag;
	uint32_t newer, older; /* by last use */
	uint32_t next;         /* of the same bucket */
};

struct recency {
	uint32_t ways, used;
	uint32_t newest, oldest;
	unsigned int shift; /* of a hash, to its bucket */
	uint32_t *buckets;  /* first way of each */
	struct way way[];
};

struct recency *recency_new(uint32_t ways)
{
	struct recency *r = calloc(1, sizeof(*r) + ways * sizeof(r->way[0]));
	uint64_t buckets = 2;

	if (!r)
		return NULL;
	r->ways = ways;
	r->newest = r->oldest = NONE;
	for (r->shift = 63; buckets < ways; r->shift--)
		buckets *= 2;
	r->buckets = malloc(buckets * sizeof(*r->buckets));
	if (!r->buckets) {
		free(r);
		return NULL;
	}
	for (uint64_t i = 0; i < buckets; i++)
		r->buckets[i] = NONE;
	return r;
}

static uint32_t *bucket_of(struct recency *r, uint64_t tag)
{
	return &r->buckets[tag * UINT64_C(0x9e3779b97f4a7c15) >> r->shift];
}

static void unlink_way(struct recency *r, uint32_t n)
{
	struct way *way = &r->way[n];

	if (way->newer == NONE)
		r->newest = way->older;
	else
		r->way[way->newer].older = way->older;
	if (way->older == NONE)
		r->oldest = way->newer;
	else
		r->way[way->older].newer = way->newer;
}

static void make_newest(struct recency *r, uint32_t n)
{
	r->way[n].newer = NONE;
	r->way[n].older = r->newest;
	if (r->newest == NONE)
		r->oldest = n;
	else
		r->way[r->newest].newer = n;
	r->newest = n;
}

/* Takes the way out of its bucket. */
static void forget(struct recency *r, uint32_t n)
{
	uint32_t *link = bucket_of(r, r->way[n].tag);

	while (*link != n)
		link = &r->way[*link].next;
	*link = r->way[n].next;
}

bool recency_use(struct recency *r, uint64_t tag)
{
	uint32_t *bucket = bucket_of(r, tag), n = *bucket;

	while (n != NONE && r->way[n].tag != tag)
		n = r->way[n].next;
	if (n != NONE) {
		unlink_way(r, n);
		make_newest(r, n);
		return true;
	}
	if (r->used < r->ways) {
		n = r->used++;
	} else {
		n = r->oldest;
		unlink_way(r, n);
		forget(r, n);
	}
	r->way[n].tag = tag;
	r->way[n].next = *bucket;
	*bucket = n;
	make_newest(r, n);
	return false;
}
