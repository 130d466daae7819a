/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM page_color

#if !defined(_TRACE_PAGE_COLOR_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_PAGE_COLOR_H

#include <linux/mmzone.h>
#include <linux/tracepoint.h>

/*
 * Pages chosen for a large address space or for a set of colors: what the colors
 * were chosen by, how many pages were wished for, and how many were chosen. If none
 * was, the default path decides.
 */
TRACE_EVENT(page_color_choose,
	    TP_PROTO(struct zone *zone, unsigned int want, unsigned int wished,
		     unsigned int chosen),
	    TP_ARGS(zone, want, wished, chosen),
	    TP_STRUCT__entry(__field(int, nid)
			     __field(int, zone)
			     __field(unsigned int, want)
			     __field(unsigned int, wished)
			     __field(unsigned int, chosen)),
	    TP_fast_assign(__entry->nid = zone_to_nid(zone);
			   __entry->zone = zone_idx(zone);
			   __entry->want = want;
			   __entry->wished = wished;
			   __entry->chosen = chosen;),
	    TP_printk("nid=%d zone=%d colors=%s wished=%u chosen=%u",
		      __entry->nid, __entry->zone,
		      __print_symbolic(__entry->want,
				       { 0, "lacked,few" }, { 1, "lacked" },
				       { 2, "few" }, { 3, "any" },
				       { 4, "none" }),
		      __entry->wished, __entry->chosen)
);

/* A block of pages: whether one was chosen, or the default path decides. */
TRACE_EVENT(page_color_choose_block,
	    TP_PROTO(struct zone *zone, unsigned int order, bool chosen),
	    TP_ARGS(zone, order, chosen),
	    TP_STRUCT__entry(__field(int, nid)
			     __field(int, zone)
			     __field(unsigned int, order)
			     __field(bool, chosen)),
	    TP_fast_assign(__entry->nid = zone_to_nid(zone);
			   __entry->zone = zone_idx(zone);
			   __entry->order = order;
			   __entry->chosen = chosen;),
	    TP_printk("nid=%d zone=%d order=%u chosen=%d", __entry->nid,
		      __entry->zone, __entry->order, __entry->chosen)
);

/* Small pages are taken for a block: of better colors, or those of the set. */
TRACE_EVENT(page_color_leave_block,
	    TP_PROTO(struct zone *zone, unsigned int order),
	    TP_ARGS(zone, order),
	    TP_STRUCT__entry(__field(int, nid)
			     __field(int, zone)
			     __field(unsigned int, order)),
	    TP_fast_assign(__entry->nid = zone_to_nid(zone);
			   __entry->zone = zone_idx(zone);
			   __entry->order = order;),
	    TP_printk("nid=%d zone=%d order=%u", __entry->nid, __entry->zone,
		      __entry->order)
);

#endif /* _TRACE_PAGE_COLOR_H */

#include <trace/define_trace.h>
