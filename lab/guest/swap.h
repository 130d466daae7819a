/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A device becomes swap, as mkswap and swapon do it. */
#ifndef HUEPAGE_SWAP_H
#define HUEPAGE_SWAP_H

#include "lab.h"

#include <fcntl.h>
#include <string.h>
#include <sys/swap.h>
#include <unistd.h>

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

#endif
