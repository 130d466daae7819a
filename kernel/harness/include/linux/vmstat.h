/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HARNESS_LINUX_VMSTAT_H
#define HARNESS_LINUX_VMSTAT_H

enum vm_event_item {
	PAGE_COLOR_BEST,
	PAGE_COLOR_OTHER,
	PAGE_COLOR_NONE,
};

static inline void count_vm_event(enum vm_event_item item)
{
}

static inline void count_vm_events(enum vm_event_item item, long delta)
{
}

#endif
