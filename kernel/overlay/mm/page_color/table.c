// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/page_color_table: free frames of every color. Text in procfs as for
 * /proc/pagetypeinfo: a table of any length can be read in pieces, which a file
 * in sysfs cannot, and it is there without debugfs.
 */

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include "page_color.h"

/* Colors of one record, which are counted together. */
#define TABLE_COLORS 64

struct table_place {
	struct zone *zone;
	u32 first;
};

/* The zone and the colors of a record; the header is record 0. */
static void *table_find(struct seq_file *m, loff_t record)
{
	struct table_place *place = m->private;
	struct zone *zone;

	if (!record--)
		return SEQ_START_TOKEN;
	for_each_populated_zone(zone) {
		loff_t records = DIV_ROUND_UP(page_color_zone_colors(zone),
					      TABLE_COLORS);

		if (record < records) {
			place->zone = zone;
			place->first = record * TABLE_COLORS;
			return place;
		}
		record -= records;
	}
	return NULL;
}

/* Coloring of zones changes under this mutex only. */
static void *table_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&page_color_mutex);
	return table_find(m, *pos);
}

static void *table_next(struct seq_file *m, void *v, loff_t *pos)
{
	return table_find(m, ++*pos);
}

static void table_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&page_color_mutex);
}

static int table_show(struct seq_file *m, void *v)
{
	struct table_place *place = v;
	u32 counts[TABLE_COLORS], colors, nr, i;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "node zone color free\n");
		return 0;
	}
	colors = page_color_zone_colors(place->zone);
	nr = min_t(u32, TABLE_COLORS, colors - place->first);
	page_color_count(place->zone, place->first, nr, counts);
	for (i = 0; i < nr; i++)
		seq_printf(m, "%d %s %u %u\n", zone_to_nid(place->zone),
			   place->zone->name, place->first + i, counts[i]);
	return 0;
}

static const struct seq_operations table_operations = {
	.start	= table_start,
	.next	= table_next,
	.stop	= table_stop,
	.show	= table_show,
};

static int __init page_color_table(void)
{
	/* In this detail it would tell one user what another one allocates. */
	proc_create_seq_private("page_color_table", 0400, NULL,
				&table_operations, sizeof(struct table_place),
				NULL);
	return 0;
}
fs_initcall(page_color_table);
