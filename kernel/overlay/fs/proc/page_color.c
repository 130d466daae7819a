// SPDX-License-Identifier: GPL-2.0-only
/* /proc/PID/page_colors: which colors of page frames a task uses. */

#include <linux/capability.h>
#include <linux/page_color.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include "internal.h"

/* The longest list that may be written: enough for a person or a program. */
#define LIST_MAX SZ_64K

static int page_colors_show(struct seq_file *m, void *v)
{
	struct task_struct *task = get_proc_task(m->private);
	int err;

	if (!task)
		return -ESRCH;
	err = page_color_task_show(m, task);
	put_task_struct(task);
	return err;
}

static int page_colors_open(struct inode *inode, struct file *file)
{
	return single_open(file, page_colors_show, inode);
}

/*
 * A user who gives a task one color knows its frame numbers modulo the number of
 * colors: so writing needs the privilege that /proc/PID/pagemap needs to show
 * frame numbers. It is checked for the opener of the file: otherwise a privileged
 * program could be made to write to it with its own rights.
 */
static int may_write(struct file *file, struct task_struct *task)
{
	if (!file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;
	return security_task_setscheduler(task);
}

static int write_list(struct file *file, char *list)
{
	struct task_struct *task = get_proc_task(file_inode(file));
	int err;

	if (!task)
		return -ESRCH;
	err = may_write(file, task);
	if (!err)
		err = page_color_task_write(task, list);
	put_task_struct(task);
	return err;
}

static ssize_t page_colors_write(struct file *file, const char __user *buf,
				 size_t count, loff_t *pos)
{
	char *list;
	int err;

	/* A list in several pieces would be several sets. */
	if (*pos)
		return -EINVAL;
	if (count > LIST_MAX)
		return -E2BIG;
	list = kvmalloc(count + 1, GFP_KERNEL_ACCOUNT);
	if (!list)
		return -ENOMEM;
	err = -EFAULT;
	if (!copy_from_user(list, buf, count)) {
		list[count] = '\0';
		err = strlen(list) == count ? write_list(file, list) : -EINVAL;
	}
	kvfree(list);
	if (err)
		return err;
	*pos += count;
	return count;
}

const struct file_operations proc_page_colors_operations = {
	.open		= page_colors_open,
	.read		= seq_read,
	.write		= page_colors_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};
