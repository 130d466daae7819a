/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The system that a program of a distribution needs: files, devices, a network.
 */
#ifndef HUEPAGE_EXEC_SYSTEM_H
#define HUEPAGE_EXEC_SYSTEM_H

#include "age.h"
#include "settle.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define JOB "/job"
#define ROOT "/root"

static inline void system_mount_at(const char *what, const char *where, const char *type,
				   unsigned long flags, const char *options)
{
	if (mkdir(where, 0755) && errno != EEXIST)
		lab_fail("make %s", where);
	if (mount(what, where, type, flags, options))
		lab_fail("mount %s at %s", type, where);
}

/* The files of the host, read only; writes go to memory. */
static inline void system_mount(void)
{
	static const char plan9[] = "trans=virtio,version=9p2000.L,msize=512000,cache=";
	char options[128];

	snprintf(options, sizeof(options), "%sloose", plan9);
	system_mount_at("host", "/host", "9p", MS_RDONLY, options);
	snprintf(options, sizeof(options), "%snone", plan9);
	system_mount_at("job", JOB, "9p", 0, options);
	system_mount_at("written", "/written", "tmpfs", 0, "size=75%");
	if (mkdir("/written/files", 0755) || mkdir("/written/work", 0755))
		lab_fail("make the folders of what is written");
	system_mount_at("root", ROOT, "overlay", 0,
			"lowerdir=/host,upperdir=/written/files,workdir=/written/work");
	system_mount_at("proc", ROOT "/proc", "proc", 0, NULL);
	system_mount_at("sysfs", ROOT "/sys", "sysfs", 0, NULL);
	system_mount_at("devtmpfs", ROOT "/dev", "devtmpfs", 0, NULL);
	system_mount_at("devpts", ROOT "/dev/pts", "devpts", 0, NULL);
	system_mount_at("shm", ROOT "/dev/shm", "tmpfs", 0, "mode=1777");
	system_mount_at("run", ROOT "/run", "tmpfs", 0, "mode=755");

	struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int any = socket(AF_INET, SOCK_DGRAM, 0);

	if (any < 0 || ioctl(any, SIOCSIFFLAGS, &loopback))
		lab_fail("set up the loopback device");
	close(any);
	if (sethostname("lab", 3))
		lab_fail("name the machine");
}

/* Days of other work; the pages that the last one keeps stay mapped. */
static inline void system_age(void)
{
	struct age age = { .random = { lab_number("seed") } };
	unsigned int days = lab_number("days");

	for (unsigned int day = 0; day < days; day++) {
		const struct age_dose dose = age_dose();

		lab_note("day %u of other work", day + 1);
		age_day(&age, &dose);
	}
	settle();
}

#endif
