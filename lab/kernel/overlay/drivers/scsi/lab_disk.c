// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks that take time, in the guest's own clock: the emulator's answer whenever the
 * host gets to it. A disk serves one request after another.
 */

#include <linux/ktime.h>
#include <linux/lab.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include <scsi/scsi_host.h>

static unsigned int request_us;
module_param(request_us, uint, 0444);
MODULE_PARM_DESC(request_us, "microseconds of a request");

static unsigned int segment_us;
module_param(segment_us, uint, 0444);
MODULE_PARM_DESC(segment_us, "microseconds of a segment");

static unsigned int mbs;
module_param(mbs, uint, 0444);
MODULE_PARM_DESC(mbs, "10^6 bytes per second; 0: no limit");

static unsigned short segments;
module_param(segments, ushort, 0444);
MODULE_PARM_DESC(segments, "most segments of a request; 0: as the emulator says");

static unsigned int segment_size;
module_param(segment_size, uint, 0444);
MODULE_PARM_DESC(segment_size, "most bytes of a segment; 0: as the driver says");

/* When each disk, by its target, has served what it was asked for. */
static u64 busy_until[256];
static DEFINE_SPINLOCK(busy_lock);

void lab_disk_limit(struct Scsi_Host *host)
{
	if (segments)
		host->sg_tablesize = min(segments, host->sg_tablesize);
	if (segment_size)
		host->max_segment_size = segment_size;
}

/* When a request that comes now is served; 0 if the emulator's answer is all there is. */
u64 lab_disk_due(struct scsi_cmnd *cmd)
{
	u64 ns = (u64)request_us * NSEC_PER_USEC, now, due;
	unsigned int target = sdev_id(cmd->device);
	unsigned long flags;

	if (cmd->sc_data_direction == DMA_NONE || target >= ARRAY_SIZE(busy_until))
		return 0;
	ns += (u64)segment_us * NSEC_PER_USEC * scsi_sg_count(cmd);
	if (mbs)
		ns += (u64)scsi_bufflen(cmd) * 1000 / mbs;
	if (!ns)
		return 0;
	spin_lock_irqsave(&busy_lock, flags);
	now = ktime_get_ns();
	due = max(busy_until[target], now) + ns;
	busy_until[target] = due;
	spin_unlock_irqrestore(&busy_lock, flags);
	return due;
}
