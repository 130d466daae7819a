/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What experiments of the lab ask of the kernel to see what it is worth, and no other
 * kernel has. Each is off unless the command line asks for it.
 */
#ifndef _LINUX_LAB_H
#define _LINUX_LAB_H

#include <linux/list.h>
#include <linux/types.h>

struct Scsi_Host;
struct page;
struct scsi_cmnd;
struct zone;

extern bool lab_reverse;

/* Frames in the order in which they were split off, or in the reverse of it. */
static inline void lab_refill(struct list_head *page, struct list_head *list)
{
	if (lab_reverse)
		list_add(page, list);
	else
		list_add_tail(page, list);
}

bool lab_wait_reclaim(unsigned long progress, const struct page *page);
void lab_wait_priority(unsigned long scanned, int priority);

struct page *lab_take(struct zone *zone, unsigned long pfn);
struct page *lab_least_used(struct zone *zone, unsigned int order, int migratetype);
void lab_freed(struct page *page, unsigned int order);

void lab_disk_limit(struct Scsi_Host *host);
u64 lab_disk_due(struct scsi_cmnd *cmd);

#endif
