/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Disks by their SCSI target: names depend on which was probed first. */
#ifndef HUEPAGE_DISKS_H
#define HUEPAGE_DISKS_H

#include "lab.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void disk_name(uint64_t target, char name[NAME_MAX + 1])
{
	char path[PATH_MAX];
	struct dirent *entry = NULL;

	snprintf(path, sizeof(path), "/sys/bus/scsi/devices/0:0:%" PRIu64 ":0/block", target);
	for (int tries = 0; tries < 100 && !entry; tries++) {
		DIR *folder = opendir(path);

		while (folder && (entry = readdir(folder)) && entry->d_name[0] == '.')
			;
		if (entry)
			strcpy(name, entry->d_name);
		if (folder)
			closedir(folder);
		if (!entry)
			usleep(10000);
	}
	if (!entry)
		lab_fail("no disk at %s", path);
}

static inline uint64_t queue_limit(const char *name)
{
	char disk[NAME_MAX + 1], path[PATH_MAX];

	disk_name(0, disk);
	snprintf(path, sizeof(path), "/sys/block/%s/queue/%s", disk, name);
	return lab_read_number(path);
}

static inline void mount_disks(uint64_t disks, const char *type)
{
	char disk[NAME_MAX + 1], device[PATH_MAX], folder[64];

	for (uint64_t target = 0; target < disks; target++) {
		disk_name(target, disk);
		snprintf(device, sizeof(device), "/dev/%s", disk);
		snprintf(folder, sizeof(folder), "/disk%" PRIu64, target);
		mkdir(folder, 0755);
		if (mount(device, folder, type, MS_RDONLY, NULL))
			lab_fail("mount %s of %s", type, device);
	}
}

static inline void disks_read_ahead(uint64_t disks, uint64_t kib)
{
	char disk[NAME_MAX + 1], path[PATH_MAX], text[32];

	snprintf(text, sizeof(text), "%" PRIu64, kib);
	for (uint64_t target = 0; target < disks; target++) {
		disk_name(target, disk);
		snprintf(path, sizeof(path), "/sys/block/%s/queue/read_ahead_kb", disk);
		lab_write(path, text);
	}
}

/* Reads a sector of a disk, past the page cache, as a mark. */
static inline void mark(uint64_t target, uint64_t sector)
{
	static char *buffer;
	char disk[NAME_MAX + 1], device[PATH_MAX];

	if (!buffer)
		buffer = lab_map(PAGE);
	disk_name(target, disk);
	snprintf(device, sizeof(device), "/dev/%s", disk);
	int file = open(device, O_RDONLY | O_DIRECT);

	if (file < 0 || pread(file, buffer, 512, sector * 512) != 512)
		lab_fail("read a mark from %s", device);
	close(file);
}

/* Reads completed by the first disks and the sectors they brought. */
static inline void disks_read(uint64_t disks, uint64_t *reads, uint64_t *sectors)
{
	char disk[NAME_MAX + 1], path[PATH_MAX];

	*reads = *sectors = 0;
	for (uint64_t target = 0; target < disks; target++) {
		uint64_t merges, some_reads, some_sectors;

		disk_name(target, disk);
		snprintf(path, sizeof(path), "/sys/block/%s/stat", disk);
		FILE *file = fopen(path, "r");

		if (!file || fscanf(file, "%" SCNu64 "%" SCNu64 "%" SCNu64, &some_reads, &merges,
				    &some_sectors) != 3)
			lab_fail("read %s", path);
		fclose(file);
		*reads += some_reads;
		*sectors += some_sectors;
	}
}

#endif
