// SPDX-License-Identifier: GPL-2.0-or-later
#include "addresses.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

struct executed {
	uint64_t address;
	uint64_t times;
};

static int compare(const void *a, const void *b)
{
	uint64_t one = ((const struct executed *)a)->address;
	uint64_t other = ((const struct executed *)b)->address;

	return (one > other) - (one < other);
}

uint64_t *addresses_count_of(struct addresses *addresses, uint64_t address)
{
	struct executed wanted = { .address = address }, *fresh;
	struct executed **found = tfind(&wanted, &addresses->tree, compare);

	if (found)
		return &(*found)->times;
	fresh = malloc(sizeof(*fresh));
	if (fresh) {
		*fresh = wanted;
		if (tsearch(fresh, &addresses->tree, compare))
			return &fresh->times;
		free(fresh);
	}
	addresses->incomplete = true;
	return NULL;
}

static void clear(const void *node, VISIT visit, void *data)
{
	struct executed *executed = *(struct executed *const *)node;

	(void)data;
	if (visit == preorder || visit == leaf)
		executed->times = 0;
}

void addresses_clear(struct addresses *addresses)
{
	twalk_r(addresses->tree, clear, NULL);
}

struct list {
	FILE *out;
	const char *comma;
};

static void print(const void *node, VISIT visit, void *data)
{
	const struct executed *executed = *(struct executed *const *)node;
	struct list *list = data;

	/* In the order of addresses. */
	if (visit != postorder && visit != leaf)
		return;
	if (!executed->times)
		return;
	fprintf(list->out, "%s[%" PRIu64 ",%" PRIu64 "]", list->comma, executed->address,
		executed->times);
	list->comma = ",";
}

void addresses_print(const struct addresses *addresses, FILE *out)
{
	struct list list = { .out = out, .comma = "" };

	fputs("{\"addresses\":[", out);
	twalk_r(addresses->tree, print, &list);
	fputs("]}\n", out);
}
