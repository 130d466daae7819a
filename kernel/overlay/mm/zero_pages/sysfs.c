// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/mm/zero_pages: how many, why, and how often they are mapped. */

#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/pagewalk.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include "zero_pages.h"

static ssize_t number_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%u\n", zero_pages_number());
}

static struct kobj_attribute number_attr = __ATTR_RO(number);

static ssize_t source_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  zero_pages_source_name(zero_pages_source()));
}

static struct kobj_attribute source_attr = __ATTR_RO(source);

static ssize_t reason_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n", zero_pages_reason());
}

static struct kobj_attribute reason_attr = __ATTR_RO(reason);

static int count_pmd(pmd_t *pmd, unsigned long addr, unsigned long end,
		     struct mm_walk *walk)
{
	unsigned long *counts = walk->private;
	pte_t *start, *pte;
	/* Of the page table. */
	spinlock_t *lock;

	start = pte_offset_map_lock(walk->mm, pmd, addr, &lock);
	/* It is a huge page, or no page table any more. */
	if (!start)
		return 0;
	for (pte = start; addr < end; pte++, addr += PAGE_SIZE) {
		pte_t entry = ptep_get(pte);

		if (pte_present(entry) && is_zero_pfn(pte_pfn(entry)))
			counts[pte_pfn(entry) - my_zero_pfn(0)]++;
	}
	pte_unmap_unlock(start, lock);
	cond_resched();
	return 0;
}

static const struct mm_walk_ops count_ops = {
	.pmd_entry = count_pmd,
	.walk_lock = PGWALK_RDLOCK,
};

/* The first process from number @nr on, with a reference; NULL if none. */
static struct task_struct *next_process(int *nr)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	while (!task && (pid = find_ge_pid(*nr, &init_pid_ns))) {
		*nr = pid_nr(pid) + 1;
		task = pid_task(pid, PIDTYPE_TGID);
		if (task)
			get_task_struct(task);
	}
	rcu_read_unlock();
	return task;
}

static int count_process(struct task_struct *task, unsigned long *counts)
{
	struct mm_struct *mm = get_task_mm(task);
	int err;

	if (!mm)
		return 0;
	err = mmap_read_lock_killable(mm);
	if (!err) {
		err = walk_page_range(mm, 0, mm->task_size, &count_ops,
				      counts);
		mmap_read_unlock(mm);
	}
	mmput(mm);
	return err;
}

/*
 * Mappings of zero pages are not counted, so all page tables are looked at.
 * This takes long, so only root may do it.
 */
static ssize_t mapped_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	unsigned int number = zero_pages_number(), i;
	struct task_struct *task;
	unsigned long *counts;
	int err = 0, nr = 1;
	ssize_t len = 0;

	counts = kcalloc(number, sizeof(*counts), GFP_KERNEL);
	if (!counts)
		return -ENOMEM;
	while (!err && (task = next_process(&nr))) {
		err = count_process(task, counts);
		put_task_struct(task);
	}
	for (i = 0; i < number; i++)
		len += sysfs_emit_at(buf, len, "%lu%c", counts[i],
				     i + 1 < number ? ' ' : '\n');
	kfree(counts);
	return err ?: len;
}

static struct kobj_attribute mapped_attr = __ATTR_RO_MODE(mapped, 0400);

static struct attribute *attrs[] = {
	&number_attr.attr,
	&source_attr.attr,
	&reason_attr.attr,
	&mapped_attr.attr,
	NULL
};

static const struct attribute_group group = {
	.name = "zero_pages",
	.attrs = attrs,
};

static int __init zero_pages_sysfs(void)
{
	return sysfs_create_group(mm_kobj, &group);
}
late_initcall(zero_pages_sysfs);
