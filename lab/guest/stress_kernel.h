/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Kernel functions that the stress uses beside memory: compaction, hotplug of memory
 * and a CPU, contiguous memory, kills, and the settings of page coloring. What the
 * kernel does not have is left out and reported.
 */
#ifndef HUEPAGE_STRESS_KERNEL_H
#define HUEPAGE_STRESS_KERNEL_H

#include "files.h"
#include "pattern.h"

#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define COLOR "/sys/kernel/mm/page_color/"
#define GROUP "/cgroup/victims"
#define MEMORY_BLOCKS "/sys/devices/system/memory/"
#define SECOND_CPU "/sys/devices/system/cpu/cpu1/online"
#define CONTIGUOUS "/sys/kernel/debug/cma/reserved/"

/* How often each was done, and how often the kernel refused. */
struct done {
	uint64_t compact, drop, offline, online, offline_refused, killed;
	uint64_t contiguous, contiguous_refused, cpu;
	uint64_t enabled, disabled, geometry, table;
};

static inline bool is_there(const char *path)
{
	return !access(path, F_OK);
}

/* Takes one block of memory offline if possible; all that are offline come back. */
static inline void stress_hotplug(struct lab_random *random, struct done *done)
{
	char path[128], state[16] = "";
	unsigned int block, blocks[64], there = 0;

	for (block = 0; block < 64; block++) {
		snprintf(path, sizeof(path), MEMORY_BLOCKS "memory%u/state", block);
		if (is_there(path))
			blocks[there++] = block;
	}
	if (!there)
		return;
	snprintf(path, sizeof(path), MEMORY_BLOCKS "memory%u/state",
		 blocks[lab_below(random, there)]);
	int error = write_text(path, "offline");

	if (!error)
		done->offline++;
	/* EPERM: arm64 keeps the memory that it booted with. */
	else if (error == EBUSY || error == EINVAL || error == EINTR || error == EPERM)
		done->offline_refused++;
	else
		lab_fail("%s: offline gives error %d", path, error);
	for (block = 0; block < 64; block++) {
		snprintf(path, sizeof(path), MEMORY_BLOCKS "memory%u/state", block);
		int file = open(path, O_RDONLY | O_CLOEXEC);

		if (file < 0)
			continue;
		if (read(file, state, sizeof(state) - 1) <= 0)
			lab_fail("read %s", path);
		close(file);
		if (strncmp(state, "offline", 7))
			continue;
		lab_write(path, "online_movable");
		done->online++;
	}
}

/* Takes the second CPU offline, with the pages on its lists, and brings it back. */
static inline void stress_cpu(struct done *done)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };

	if (!is_there(SECOND_CPU))
		return;
	lab_write(SECOND_CPU, "0");
	nanosleep(&pause, NULL);
	lab_write(SECOND_CPU, "1");
	done->cpu++;
}

/* Allocates contiguous pages in an area (CMA) that user pages may use meanwhile. */
static inline void stress_contiguous(struct lab_random *random, struct done *done)
{
	char pages[16];

	if (!is_there(CONTIGUOUS "alloc"))
		return;
	snprintf(pages, sizeof(pages), "%u", 1 + (unsigned int)lab_below(random, 2048));
	int error = write_text(CONTIGUOUS "alloc", pages);

	if (error == ENOMEM) {
		done->contiguous_refused++;
		return;
	}
	if (error)
		lab_fail(CONTIGUOUS "alloc: %s gives error %d", pages, error);
	lab_write(CONTIGUOUS "free", pages);
	done->contiguous++;
}

static inline void stress_group(void)
{
	mkdir("/cgroup", 0755);
	if (mount("cgroup2", "/cgroup", "cgroup2", 0, NULL))
		lab_fail("mount control groups");
	lab_write("/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0755))
		lab_fail("make " GROUP);
	lab_write(GROUP "/memory.max", "16M");
}

/* A child takes more memory than its group may have, until the kernel kills it. */
static inline void stress_kill(uint64_t owner, struct done *done)
{
	int status;
	pid_t child = lab_fork();

	if (!child) {
		struct area area;

		lab_write(GROUP "/cgroup.procs", "0");
		area_map(&area, 32 * MIB / PAGE, owner, 0);
		for (size_t i = 0; i < area.pages; i++)
			pattern_write(&area, i);
		_exit(3);
	}
	if (waitpid(child, &status, 0) != child)
		lab_fail("wait for a victim");
	errno = 0;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		lab_fail("a victim ended with status %x, not killed", status);
	done->killed++;
}

static inline void read_all(const char *path)
{
	static char text[65536];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (file < 0)
		lab_fail("open %s", path);
	while ((got = read(file, text, sizeof(text))) > 0)
		;
	if (got < 0)
		lab_fail("read %s", path);
	close(file);
}

/* Changes one of the settings of page coloring, if the kernel has any. */
static inline void stress_color(struct lab_random *random, struct done *done)
{
	/* Of the largest a zone has few frames of each color: other zones are asked, too. */
	static const char *const sizes[] = { "4M,ways=1",  "3M,ways=3",	 "16M,ways=1",
					     "2M,ways=16", "20M,ways=5", "128M,ways=1" };
	static bool enabled;

	switch (lab_below(random, 3)) {
	case 0:
		/* Possible only while coloring is off; then it is turned on again. */
		lab_write(COLOR "enabled", "0");
		lab_write(COLOR "cache_size", sizes[lab_below(random, sizeof(sizes) / sizeof(*sizes))]);
		done->geometry++;
		lab_write(COLOR "enabled", "1");
		enabled = true;
		break;
	case 1:
		enabled = !enabled;
		lab_write(COLOR "enabled", enabled ? "1" : "0");
		done->enabled += enabled;
		done->disabled += !enabled;
		break;
	default:
		read_all("/proc/page_color");
		read_all("/proc/page_color_table");
		done->table++;
	}
}

#endif
