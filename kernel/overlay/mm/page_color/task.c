// SPDX-License-Identifier: GPL-2.0-only
/* The color set of a task: changed, shown, inherited and given up. */

#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "page_color.h"

struct page_color_set *page_color_task_set(struct task_struct *task)
{
#ifdef CONFIG_CPUSETS
	struct page_color_set *both = rcu_dereference(task->page_color.both);

	return both ?: page_color_task_cpuset(task);
#else
	return rcu_dereference(task->page_color.set);
#endif
}

/*
 * The set of the task that owns the memory, not of the one that allocates it:
 * khugepaged, ptrace and migration allocate for others. Without memory cgroups the
 * owner is not known.
 */
const struct page_color_set *__page_color_set_of(const struct mm_struct *mm)
{
	struct task_struct *owner = current;

	if (!in_task())
		return NULL;
#ifdef CONFIG_MEMCG
	/* A kernel thread may have borrowed the address space. */
	if (mm && (mm != current->mm || current->flags & PF_KTHREAD))
		owner = rcu_dereference(mm->owner);
	/* A child that is being forked is not in its cgroup yet. */
	if (owner && READ_ONCE(owner->__state) == TASK_NEW)
		owner = current;
#endif
	return owner ? page_color_task_set(owner) : NULL;
}

const struct page_color_set *
page_color_set_of_node(const struct mm_struct *mm, int nid)
{
	const struct page_color_set *set = page_color_set_of(mm);
	const struct page_color_node *node;

	if (!set)
		return NULL;
	node = rcu_dereference(page_color_nodes[nid]);
	/* A set that was made for another number of colors has no meaning. */
	return node && set->colors == node->colors ? set : NULL;
}

/*
 * If the cpuset gets another set meanwhile, page_color_cpuset_fork() corrects this.
 */
static void inherit_sets(struct page_color_task *to)
{
	struct page_color_task *from = &current->page_color;

	RCU_INIT_POINTER(to->set, page_color_set_get(&from->set));
#ifdef CONFIG_CPUSETS
	RCU_INIT_POINTER(to->both, page_color_set_get(&from->both));
#endif
}

/* The new task is a copy of current, and has no reference to what that points to. */
void page_color_fork(struct task_struct *task)
{
	memset(&task->page_color, 0, sizeof(task->page_color));
	if (static_branch_unlikely(&page_color_sets_key))
		inherit_sets(&task->page_color);
}

void page_color_exit(struct task_struct *task)
{
	kfree(task->page_color.room);
	page_color_set_put(rcu_dereference_protected(task->page_color.set, 1));
#ifdef CONFIG_CPUSETS
	page_color_set_put(rcu_dereference_protected(task->page_color.both, 1));
#endif
}

#ifndef CONFIG_CPUSETS
int page_color_task_replace(struct task_struct *task,
			    struct page_color_set *set)
{
	set = unrcu_pointer(xchg(&task->page_color.set, RCU_INITIALIZER(set)));
	page_color_set_put(set);
	return 0;
}
#endif

int page_color_task_write(struct task_struct *task, char *list)
{
	u32 colors = page_color_max_colors();
	struct page_color_set *set;
	int err;

	/* Kernel threads have no user memory, and their children inherit. */
	if (task->flags & PF_KTHREAD)
		return -EINVAL;
	if (!colors)
		return -ENODEV;
	set = page_color_set_parse(list, colors);
	if (IS_ERR(set))
		return PTR_ERR(set);
	if (set)
		page_color_sets_begin();
	err = page_color_task_replace(task, set);
	if (err)
		page_color_set_put(set);
	return err;
}

/* The set of a task with a reference, so that the caller may sleep. */
static struct page_color_set *get_task_set(struct task_struct *task)
{
	struct page_color_set *set;

	rcu_read_lock();
	do {
		set = page_color_task_set(task);
	} while (set && !refcount_inc_not_zero(&set->refs));
	rcu_read_unlock();
	return set;
}

int page_color_task_show(struct seq_file *m, struct task_struct *task)
{
	u32 colors = page_color_max_colors();
	struct page_color_set *set;

	if (!colors)
		return -ENODEV;
	set = get_task_set(task);
	if (set && set->colors == colors)
		page_color_set_show(m, set);
	else
		seq_printf(m, "0-%u\n", colors - 1);
	page_color_set_put(set);
	return 0;
}
