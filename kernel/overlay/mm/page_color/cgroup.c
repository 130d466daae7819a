// SPDX-License-Identifier: GPL-2.0-only
/*
 * Color sets of cpusets, on cgroup v2: cpuset.page_colors and
 * cpuset.page_colors.effective. They change under cpuset_mutex, which is taken after
 * cpus_read_lock(); allocations read them under RCU.
 */

#define pr_fmt(fmt) "page_color: " fmt

#include <linux/cgroup.h>
#include <linux/cpuset.h>
#include <linux/err.h>
#include <linux/page_color_cpuset.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "page_color.h"

/*
 * The most ranges of a set in a cpuset. Cgroups may be delegated to users, and a change
 * goes through all cgroups below while others wait for cpuset_mutex.
 */
#define CPUSET_RANGES	4096

/* The number of colors that effective sets are for; under cpuset_mutex. */
static u32 effective_colors;

/* Sets change under cpuset_mutex only, which the caller holds. */
#define held(pointer)	rcu_dereference_protected(pointer, 1)

struct page_color_set *page_color_task_cpuset(struct task_struct *task)
{
	struct cgroup_subsys_state *css = task_css(task, cpuset_cgrp_id);

	return rcu_dereference(cpuset_page_color(css)->effective);
}

static struct page_color_set *get_task_cpuset(struct task_struct *task)
{
	struct cgroup_subsys_state *css;
	struct page_color_set *set;

	rcu_read_lock();
	css = task_css(task, cpuset_cgrp_id);
	set = page_color_set_get(&cpuset_page_color(css)->effective);
	rcu_read_unlock();
	return set;
}

static void replace(struct page_color_set __rcu **where,
		    struct page_color_set *set)
{
	struct page_color_set *old = held(*where);

	rcu_assign_pointer(*where, set);
	page_color_set_put(old);
}

static struct page_color_set *get(struct page_color_set *set)
{
	if (set)
		refcount_inc(&set->refs);
	return set;
}

static bool is_combined(const struct page_color_set *both,
			const struct page_color_set *own,
			const struct page_color_set *effective)
{
	return both && both->parts[0] == own->id &&
	       both->parts[1] == effective->id;
}

/**
 * struct combination - the colors that two sets have in common
 * @parts: the sets' ids, 0 before any two were combined
 * @both: the colors, with a reference; -EINVAL if there are none
 *
 * Threads share their sets, and forks inherit them: of many tasks one after the
 * other most have the same two sets as the last one.
 */
struct combination {
	u64 parts[2];
	struct page_color_set *both;
};

static void forget(struct combination *last)
{
	if (!IS_ERR(last->both))
		page_color_set_put(last->both);
	memset(last, 0, sizeof(*last));
}

/* The common colors, with a reference. -EINVAL if there are none, or -ENOMEM. */
static struct page_color_set *common_of(const struct page_color_set *own,
					const struct page_color_set *effective,
					struct combination *last)
{
	struct page_color_set *both;

	if (last->parts[0] != own->id || last->parts[1] != effective->id) {
		both = page_color_set_both(own, effective) ?: ERR_PTR(-EINVAL);
		if (both == ERR_PTR(-ENOMEM))
			return both;
		forget(last);
		last->parts[0] = own->id;
		last->parts[1] = effective->id;
		last->both = both;
	}
	return IS_ERR(last->both) ? last->both : get(last->both);
}

/*
 * The colors that are both in a task's own set and in that of its cpuset, with a
 * reference; cpuset_mutex held. NULL if the set of the cpuset counts alone. -EINVAL if no
 * color is in both.
 */
static struct page_color_set *find_common(struct task_struct *task,
					  struct page_color_set *own,
					  struct combination *last)
{
	struct page_color_set *both = held(task->page_color.both);
	struct page_color_set *effective;

	if (!own)
		return NULL;
	effective = get_task_cpuset(task);
	if (!effective)
		return get(own);
	/* A set that was made for another number of colors does not count. */
	if (own->colors != effective->colors)
		both = NULL;
	else if (is_combined(both, own, effective))
		get(both);
	else
		both = common_of(own, effective, last);
	page_color_set_put(effective);
	return both;
}

/*
 * Either pointer may be set alone: a fork may have copied one before its parent was given
 * the sets, and the other one after that.
 */
static bool has_set(struct task_struct *task)
{
	return rcu_access_pointer(task->page_color.set) ||
	       rcu_access_pointer(task->page_color.both);
}

/*
 * A task has moved to another cpuset, or its cpuset has been given another set;
 * cpuset_mutex held. If its own set no longer counts the log says so, since the task has
 * not asked for that.
 */
static void combine(struct task_struct *task, struct combination *last)
{
	struct page_color_set *both;

	if (!has_set(task))
		return;
	both = find_common(task, held(task->page_color.set), last);
	if (IS_ERR(both)) {
		pr_info_ratelimited("%s[%d]: its own color set does not count: %s\n",
				    task->comm, task_pid_nr(task),
				    PTR_ERR(both) == -EINVAL ?
				    "its cpuset has none of these colors" :
				    "no memory");
		both = NULL;
	}
	replace(&task->page_color.both, both);
}

int page_color_task_replace(struct task_struct *task,
			    struct page_color_set *set)
{
	struct combination last = {};
	struct page_color_set *both;

	cpuset_lock();
	both = find_common(task, set, &last);
	if (!IS_ERR(both)) {
		replace(&task->page_color.both, both);
		replace(&task->page_color.set, set);
	}
	cpuset_unlock();
	forget(&last);
	return PTR_ERR_OR_ZERO(both);
}

/*
 * The effective set of a cpuset, with a reference: its own set as far as the parent has
 * it, or the parent's if that leaves nothing, as for cpus and mems.
 */
static struct page_color_set *find_effective(struct page_color_set *own,
					     struct page_color_set *above,
					     u32 colors)
{
	struct page_color_set *both;

	if (!own || own->colors != colors)
		return get(above);
	if (!above)
		return get(own);
	both = page_color_set_both(own, above);
	return both ?: get(above);
}

static bool same(const struct page_color_set *a, const struct page_color_set *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->colors == b->colors && a->nr == b->nr &&
	       !memcmp(a->ranges, b->ranges, a->nr * sizeof(*a->ranges));
}

static void update_tasks(struct cgroup_subsys_state *css)
{
	struct combination last = {};
	struct css_task_iter it;
	struct task_struct *task;

	css_task_iter_start(css, 0, &it);
	while ((task = css_task_iter_next(&it)))
		combine(task, &last);
	css_task_iter_end(&it);
	forget(&last);
}

/* Returns 1 if the effective set has changed, 0 if not, or an error. */
static int update_one(struct cgroup_subsys_state *css, bool must)
{
	struct page_color_cpuset *cs = cpuset_page_color(css);
	struct page_color_set *above = NULL, *set;

	if (css->parent)
		above = held(cpuset_page_color(css->parent)->effective);
	set = find_effective(held(cs->own), above, effective_colors);
	if (IS_ERR(set)) {
		if (must)
			return PTR_ERR(set);
		pr_warn_ratelimited("no memory for the color set of a cpuset: that of its parent counts\n");
		set = get(above);
	}
	if (same(set, held(cs->effective))) {
		page_color_set_put(set);
		return 0;
	}
	replace(&cs->effective, set);
	update_tasks(css);
	return 1;
}

/*
 * Updates a cpuset and those below it; cpuset_mutex held. If there is no memory for the
 * first one, an error is returned and nothing changes. A cpuset that comes online
 * meanwhile copies the set of its parent once it has this mutex.
 */
static int update_below(struct cgroup_subsys_state *first, bool all)
{
	struct cgroup_subsys_state *css;
	int changed = 0;

	rcu_read_lock();
	css_for_each_descendant_pre(css, first) {
		struct cgroup_subsys_state *here = css;

		if (!css_tryget_online(here))
			continue;
		rcu_read_unlock();
		changed = update_one(here, here == first);
		cond_resched();
		rcu_read_lock();
		if (!changed && !all)
			css = css_rightmost_descendant(here);
		css_put(here);
		if (changed < 0)
			break;
	}
	rcu_read_unlock();
	return min(changed, 0);
}

/* Sets that were ignored may count now, and the other way round. */
static void update_all(u32 colors)
{
	effective_colors = colors;
	update_below(init_css_set.subsys[cpuset_cgrp_id], true);
}

void page_color_cpusets_update(void)
{
	u32 colors;

	if (!static_key_enabled(&page_color_sets_key))
		return;
	cpuset_lock();
	colors = page_color_max_colors();
	if (colors != effective_colors)
		update_all(colors);
	cpuset_unlock();
}

static void update_work(struct work_struct *work)
{
	page_color_cpusets_update();
}

void page_color_cpusets_update_later(void)
{
	static DECLARE_WORK(work, update_work);

	if (static_key_enabled(&page_color_sets_key))
		schedule_work(&work);
}

void page_color_cpuset_online(struct cgroup_subsys_state *css)
{
	struct page_color_cpuset *above = cpuset_page_color(css->parent);

	replace(&cpuset_page_color(css)->effective, get(held(above->effective)));
}

/* No task and no reader can reach the cpuset any more. */
void page_color_cpuset_free(struct cgroup_subsys_state *css)
{
	struct page_color_cpuset *cs = cpuset_page_color(css);

	page_color_set_put(held(cs->own));
	page_color_set_put(held(cs->effective));
}

/* Tasks have come from cpusets with other sets. */
void page_color_cpuset_attach(struct cgroup_taskset *tset)
{
	struct cgroup_subsys_state *css;
	struct combination last = {};
	struct task_struct *task;

	if (!static_key_enabled(&page_color_sets_key))
		return;
	cgroup_taskset_for_each(task, css, tset)
		combine(task, &last);
	forget(&last);
}

/* Whether the colors of a task are those that its set and its cpuset's have in common. */
static bool is_up_to_date(struct task_struct *task)
{
	const struct page_color_set *own, *both, *effective;
	bool same;

	rcu_read_lock();
	own = rcu_dereference(task->page_color.set);
	both = rcu_dereference(task->page_color.both);
	effective = page_color_task_cpuset(task);
	if (own && !effective)
		same = both == own;
	else if (!own || own->colors != effective->colors)
		same = !both;
	else
		same = is_combined(both, own, effective);
	rcu_read_unlock();
	return same;
}

/*
 * From now on changes of the cpuset find the new task. Updates its sets if they have
 * changed since page_color_fork(), or if it is not in the cpuset of its parent. Mostly
 * they are right, and cpuset_mutex is not taken, for which all forks would wait.
 */
void page_color_cpuset_fork(struct task_struct *task)
{
	struct combination last = {};

	if (!static_key_enabled(&page_color_sets_key) || is_up_to_date(task))
		return;
	cpuset_lock();
	combine(task, &last);
	cpuset_unlock();
	forget(&last);
}

int page_color_cpuset_show(struct seq_file *m, void *v)
{
	struct page_color_cpuset *cs = cpuset_page_color(seq_css(m));
	struct page_color_set *set = page_color_set_get(&cs->own);

	if (set)
		page_color_set_show(m, set);
	else
		seq_putc(m, '\n');
	page_color_set_put(set);
	return 0;
}

int page_color_cpuset_show_effective(struct seq_file *m, void *v)
{
	struct page_color_cpuset *cs = cpuset_page_color(seq_css(m));
	struct page_color_set *set = page_color_set_get(&cs->effective);
	u32 colors = page_color_max_colors();

	if (set && set->colors == colors)
		page_color_set_show(m, set);
	else if (colors)
		seq_printf(m, "0-%u\n", colors - 1);
	else
		seq_putc(m, '\n');
	page_color_set_put(set);
	return 0;
}

/* NULL for an empty list, or for one of all colors. */
static struct page_color_set *parse(char *list)
{
	u32 colors = page_color_max_colors();
	struct page_color_set *set;

	list = strim(list);
	if (!*list)
		return NULL;
	if (!colors)
		return ERR_PTR(-ENODEV);
	set = page_color_set_parse(list, colors);
	if (IS_ERR_OR_NULL(set) || set->nr <= CPUSET_RANGES)
		return set;
	page_color_set_put(set);
	return ERR_PTR(-E2BIG);
}

/* cpuset_mutex held. Takes over the reference to @set, if there is no error. */
static int change(struct cgroup_subsys_state *css, struct page_color_set *set)
{
	struct page_color_cpuset *cs = cpuset_page_color(css);
	struct page_color_set *old = held(cs->own);
	u32 colors = page_color_max_colors();
	int err;

	/* The directory of the cpuset has been removed. */
	if (!(css->flags & CSS_ONLINE))
		return -ENODEV;
	if (colors != effective_colors)
		update_all(colors);
	rcu_assign_pointer(cs->own, set);
	err = update_below(css, false);
	if (err)
		rcu_assign_pointer(cs->own, old);
	else
		page_color_set_put(old);
	return err;
}

ssize_t page_color_cpuset_write(struct kernfs_open_file *of, char *buf,
				size_t nbytes, loff_t off)
{
	struct page_color_set *set;
	int err;

	/* A list in several pieces would be several sets. */
	if (off || strlen(buf) != nbytes)
		return -EINVAL;
	set = parse(buf);
	if (IS_ERR(set))
		return PTR_ERR(set);
	if (set)
		page_color_sets_begin();
	cpuset_lock();
	err = change(of_css(of), set);
	cpuset_unlock();
	if (err)
		page_color_set_put(set);
	return err ?: nbytes;
}
