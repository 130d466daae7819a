/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Doubly linked lists. */
#ifndef HARNESS_LINUX_LIST_H
#define HARNESS_LINUX_LIST_H

#include <stddef.h>

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

static inline void list_add(struct list_head *entry, struct list_head *before)
{
	entry->next = before->next;
	entry->prev = before;
	before->next->prev = entry;
	before->next = entry;
}

static inline void list_move(struct list_head *entry, struct list_head *list)
{
	list_del(entry);
	list_add(entry, list);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *list)
{
	list_del(entry);
	list_add(entry, list->prev);
}

#define list_entry(entry, type, member) \
	((type *)((char *)(entry) - offsetof(type, member)))

#define list_for_each_entry_safe(at, then, list, member)                       \
	for (at = list_entry((list)->next, __typeof__(*at), member),           \
	     then = list_entry(at->member.next, __typeof__(*at), member);      \
	     &at->member != (list);                                            \
	     at = then, then = list_entry(at->member.next, __typeof__(*at), member))

#define list_for_each_entry_safe_reverse(at, then, list, member)               \
	for (at = list_entry((list)->prev, __typeof__(*at), member),           \
	     then = list_entry(at->member.prev, __typeof__(*at), member);      \
	     &at->member != (list);                                            \
	     at = then, then = list_entry(at->member.prev, __typeof__(*at), member))

#endif
