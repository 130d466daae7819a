/* SPDX-License-Identifier: GPL-2.0-only */
/* What kernel/cgroup/cpuset.c and mm/page_color/cgroup.c share. */
#ifndef _LINUX_PAGE_COLOR_CPUSET_H
#define _LINUX_PAGE_COLOR_CPUSET_H

#include <linux/types.h>

struct cgroup_subsys_state;
struct cgroup_taskset;
struct kernfs_open_file;
struct page_color_set;
struct seq_file;
struct task_struct;

#ifdef CONFIG_PAGE_COLOR

/* The longest list that the file cpuset.page_colors takes. */
#define PAGE_COLOR_CPUSET_LIST	65536

/**
 * struct page_color_cpuset - the colors of a cpuset
 * @own: as written, NULL for those of the parent
 * @effective: what its tasks may use, NULL for all
 *
 * Both change under cpuset_mutex and are read under RCU. On the legacy hierarchy
 * both stay NULL.
 */
struct page_color_cpuset {
	struct page_color_set __rcu *own;
	struct page_color_set __rcu *effective;
};

/* In kernel/cgroup/cpuset.c. */
struct page_color_cpuset *cpuset_page_color(struct cgroup_subsys_state *css);

/* In mm/page_color/cgroup.c; online and attach are called under cpuset_mutex. */
void page_color_cpuset_online(struct cgroup_subsys_state *css);
void page_color_cpuset_free(struct cgroup_subsys_state *css);
void page_color_cpuset_attach(struct cgroup_taskset *tset);
/* Takes cpuset_mutex if the new task has a set. */
void page_color_cpuset_fork(struct task_struct *task);

int page_color_cpuset_show(struct seq_file *m, void *v);
int page_color_cpuset_show_effective(struct seq_file *m, void *v);
ssize_t page_color_cpuset_write(struct kernfs_open_file *of, char *buf,
				size_t nbytes, loff_t off);

#else /* !CONFIG_PAGE_COLOR */

/*
 * Macros: even calls of empty functions change how GCC arranges their callers.
 */
#define page_color_cpuset_online(css)	((void)(css))
#define page_color_cpuset_free(css)	((void)(css))
#define page_color_cpuset_attach(tset)	((void)(tset))
#define page_color_cpuset_fork(task)	((void)(task))

#endif /* CONFIG_PAGE_COLOR */

#endif /* _LINUX_PAGE_COLOR_CPUSET_H */
