/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Doubly linked lists through the pages that are on them, as in a kernel. */
#ifndef HARNESS_BENCH_LIST_H
#define HARNESS_BENCH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct list {
	struct list *next;
	struct list *prev;
};

/* Of the size of struct page; what is not linked is not touched. */
struct page {
	struct list list;
	char other[48];
};

_Static_assert(sizeof(struct list) == 16 && sizeof(struct page) == 64, "");

static inline void list_make(struct list *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_is_empty(const struct list *head)
{
	return head->next == head;
}

static inline void list_push(struct list *head, struct list *one)
{
	one->next = head->next;
	one->prev = head;
	head->next->prev = one;
	head->next = one;
}

static inline void list_unlink(struct list *one)
{
	one->prev->next = one->next;
	one->next->prev = one->prev;
}

/* List heads per color, two lists of 11 orders: larger blocks have fewer. */
static inline size_t list_heads(uint32_t colors)
{
	size_t heads = 0;

	for (int order = 0; order < 11; order++)
		heads += 2 * (colors >> order ? colors >> order : 1);
	return heads;
}

#endif
