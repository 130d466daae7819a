// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory management as it once was: frames in reverse, and reclaim that waits for disks
 * to be less busy.
 */

#include <linux/lab.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/sched.h>

/* Linux 2.6.24 to 2.6.30, for pages that were asked for as cold. */
bool lab_reverse __read_mostly;
module_param_named(reverse, lab_reverse, bool, 0444);
MODULE_PARM_DESC(reverse, "give the frames of a refill in reverse");

/* The congestion_wait() of Linux 2.6.31: with reads only, nothing ends it early. */
enum { WAIT_NEVER, WAIT_NO_PAGE, WAIT_EACH };
static unsigned int lab_wait __read_mostly;
module_param_named(wait, lab_wait, uint, 0444);
MODULE_PARM_DESC(wait, "1: wait where direct reclaim of 2.6.31 did; 2: each time");

static atomic_long_t waits;
static atomic_long_t waited;

static void nap(unsigned long jiffies_long)
{
	unsigned long begin = jiffies;

	set_current_state(TASK_UNINTERRUPTIBLE);
	io_schedule_timeout(jiffies_long);
	atomic_long_inc(&waits);
	atomic_long_add(jiffies - begin, &waited);
}

static int read_waits(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%ld %u\n", atomic_long_read(&waits),
			  jiffies_to_msecs(atomic_long_read(&waited)));
}

static const struct kernel_param_ops waits_ops = { .get = read_waits };

module_param_cb(waits, &waits_ops, NULL, 0444);
MODULE_PARM_DESC(waits, "how often, and for how many ms in all");

/*
 * Direct reclaim is over. It freed pages, and there may be none for this task all the
 * same: true if it is to try again. Read-ahead, which gives up there today, went on too.
 */
bool lab_wait_reclaim(unsigned long progress, const struct page *page)
{
	if (lab_wait == WAIT_NEVER || !progress)
		return false;
	if (!page || lab_wait == WAIT_EACH)
		nap(HZ / 50);
	return !page;
}

/* A round of reclaim is over. */
void lab_wait_priority(unsigned long scanned, int priority)
{
	if (lab_wait != WAIT_NEVER && scanned && priority < DEF_PRIORITY - 2)
		nap(HZ / 10);
}
