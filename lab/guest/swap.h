/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A device or a disk becomes swap, as mkswap and swapon do it. */
#ifndef HUEPAGE_SWAP_H
#define HUEPAGE_SWAP_H

#include "disks.h"

#include <sys/swap.h>

static inline void swap_on(const char *device, uint32_t pages)
{
	static char header[PAGE];
	const uint32_t about[] = { 1 /* version */, pages - 1, 0 };

	memcpy(header + 1024, about, sizeof(about));
	memcpy(header + PAGE - 10, "SWAPSPACE2", 10);
	int file = open(device, O_WRONLY);

	if (file < 0 || write(file, header, PAGE) != (ssize_t)PAGE || fsync(file) || close(file))
		lab_fail("write the header of swap to %s", device);
	if (swapon(device, 0))
		lab_fail("swap on %s", device);
}

/* All of the disk at a SCSI target, whose device it names. */
static inline void swap_on_disk(uint64_t target, char device[PATH_MAX])
{
	char disk[NAME_MAX + 1];

	disk_name(target, disk);
	snprintf(device, PATH_MAX, "/sys/block/%s/size", disk);
	uint64_t pages = lab_read_number(device) * 512 / PAGE;

	snprintf(device, PATH_MAX, "/dev/%s", disk);
	swap_on(device, pages);
}

#endif
