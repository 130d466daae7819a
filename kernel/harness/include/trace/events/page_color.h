/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tracepoints that do nothing. */
#ifndef HARNESS_TRACE_EVENTS_PAGE_COLOR_H
#define HARNESS_TRACE_EVENTS_PAGE_COLOR_H

struct zone;

static inline void trace_page_color_choose(const struct zone *zone, unsigned int want,
					   unsigned int wished, unsigned int chosen)
{
}

static inline void trace_page_color_choose_block(const struct zone *zone,
						 unsigned int order, bool chosen)
{
}

static inline void trace_page_color_leave_block(const struct zone *zone, unsigned int order)
{
}

#endif
