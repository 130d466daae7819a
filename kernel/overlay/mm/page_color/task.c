// SPDX-License-Identifier: GPL-2.0-only
/* The color set of a task: changed, shown, inherited and given up. */

#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include "page_color.h"

u32 page_color_max_colors(void)
{
	unsigned long colors = 0;
	int nid;

	mutex_lock(&page_color_mutex);
	for_each_node(nid)
		colors = max(colors, page_color_geometries[nid].colors);
	mutex_unlock(&page_color_mutex);
	return colors;
}

/*
 * A set whose last reference went before it could be taken has been replaced
 * already: then there is another one, or none.
 */
static struct page_color_set *get_set(struct task_struct *task)
{
	struct page_color_set *set;

	rcu_read_lock();
	do {
		set = rcu_dereference(task->page_color.set);
	} while (set && !refcount_inc_not_zero(&set->refs));
	rcu_read_unlock();
	return set;
}

/* The new task is a copy of current, but not an owner of what it points to. */
void page_color_fork(struct task_struct *task)
{
	RCU_INIT_POINTER(task->page_color.set, get_set(current));
	task->page_color.whom = NULL;
}

void page_color_exit(struct task_struct *task)
{
	page_color_set_put(rcu_dereference_protected(task->page_color.set, 1));
}

const struct page_color_set *page_color_current_set(void)
{
	return rcu_dereference(current->page_color.set);
}

int page_color_task_write(struct task_struct *task, char *list)
{
	u32 colors = page_color_max_colors();
	struct page_color_set *set, *old;

	/* Kernel threads have no user memory, and their children inherit. */
	if (task->flags & PF_KTHREAD)
		return -EINVAL;
	if (!colors)
		return -ENODEV;
	set = page_color_set_parse(list, colors);
	if (IS_ERR(set))
		return PTR_ERR(set);
	old = unrcu_pointer(xchg(&task->page_color.set, RCU_INITIALIZER(set)));
	page_color_set_put(old);
	return 0;
}

static void show_ranges(struct seq_file *m, const struct page_color_set *set)
{
	u32 i;

	for (i = 0; i < set->nr && !seq_has_overflowed(m); i++) {
		const struct page_color_range *range = &set->ranges[i];

		seq_printf(m, i ? ",%u" : "%u", range->first);
		if (range->last != range->first)
			seq_printf(m, "-%u", range->last);
		cond_resched();
	}
	seq_putc(m, '\n');
}

int page_color_task_show(struct seq_file *m, struct task_struct *task)
{
	u32 colors = page_color_max_colors();
	struct page_color_set *set;

	if (!colors)
		return -ENODEV;
	set = get_set(task);
	if (set && set->colors == colors)
		show_ranges(m, set);
	else
		seq_printf(m, "0-%u\n", colors - 1);
	page_color_set_put(set);
	return 0;
}
