// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Sequential readers, a disk and a file each, on a machine whose memory is much less
 * than they read: how fast that is, and how often and how long they wait for memory.
 */
#define _GNU_SOURCE
#include "coloring.h"
#include "disks.h"
#include "lab.h"
#include "readers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t readers, bytes, record;

/* What the kernel counts of waiting for memory (pressure). */
struct waits {
	uint64_t stalls, scanned_direct, scanned_kswapd;
	uint64_t stalled_us; /* at least one task */
	uint64_t waits, waited_ms; /* of lab.wait */
};

static void read_vmstat(struct waits *waits)
{
	char name[64];
	uint64_t value;
	FILE *file = fopen("/proc/vmstat", "r");

	if (!file)
		lab_fail("open /proc/vmstat");
	while (fscanf(file, "%63s %" SCNu64, name, &value) == 2) {
		if (!strncmp(name, "allocstall_", strlen("allocstall_")))
			waits->stalls += value;
		else if (!strcmp(name, "pgscan_direct"))
			waits->scanned_direct = value;
		else if (!strcmp(name, "pgscan_kswapd"))
			waits->scanned_kswapd = value;
	}
	fclose(file);
}

static struct waits read_waits(void)
{
	struct waits waits = { 0 };
	FILE *file;

	read_vmstat(&waits);
	file = fopen("/proc/pressure/memory", "r");
	if (!file || fscanf(file, "some %*s %*s %*s total=%" SCNu64, &waits.stalled_us) != 1)
		lab_fail("read /proc/pressure/memory");
	fclose(file);
	file = fopen("/sys/module/lab/parameters/waits", "r");
	if (!file || fscanf(file, "%" SCNu64 "%" SCNu64, &waits.waits, &waits.waited_ms) != 2)
		lab_fail("read the parameter lab.waits");
	fclose(file);
	return waits;
}

static void read_file(uint64_t reader, int direct)
{
	char path[64], *buffer = lab_map(record);

	snprintf(path, sizeof(path), "/disk%" PRIu64 "/file", reader);
	int file = open(path, O_RDONLY | (direct ? O_DIRECT : 0));

	if (file < 0)
		lab_fail("open %s", path);
	for (uint64_t at = 0; at < bytes; at += record) {
		uint64_t block;

		if (read(file, buffer, record) != (ssize_t)record)
			lab_fail("read %s at %" PRIu64, path, at);
		memcpy(&block, buffer, sizeof(block));
		if (block != at / PAGE)
			lab_fail("%s at %" PRIu64 " holds block %" PRIu64, path, at, block);
	}
}

static void run(const char *mode, int direct)
{
	struct readers all;

	readers_fork(&all, readers, read_file, direct);
	struct waits before = read_waits();
	double begin = lab_seconds();

	readers_run(&all);
	double seconds = lab_seconds() - begin;
	struct waits after = read_waits();

	lab_result("{\"mode\":\"%s\",\"bytes\":%" PRIu64 ",\"seconds\":%.6f,\"stalls\":%" PRIu64
		   ",\"scanned_direct\":%" PRIu64 ",\"scanned_kswapd\":%" PRIu64
		   ",\"stalled_us\":%" PRIu64 ",\"waits\":%" PRIu64 ",\"waited_ms\":%" PRIu64 "}",
		   mode, readers * bytes, seconds, after.stalls - before.stalls,
		   after.scanned_direct - before.scanned_direct,
		   after.scanned_kswapd - before.scanned_kswapd, after.stalled_us - before.stalled_us,
		   after.waits - before.waits, after.waited_ms - before.waited_ms);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	coloring_check();
	readers = lab_number("readers");
	bytes = lab_number("bytes");
	record = lab_number("record");
	mount_disks(readers, lab_text("fs"));
	disks_read_ahead(readers, lab_number("read_ahead"));
	lab_result("{\"max_segments\":%" PRIu64 ",\"max_segment_size\":%" PRIu64
		   ",\"max_sectors_kb\":%" PRIu64 ",\"read_ahead_kb\":%" PRIu64 "}",
		   queue_limit("max_segments"), queue_limit("max_segment_size"),
		   queue_limit("max_sectors_kb"), queue_limit("read_ahead_kb"));
	lab_note("%" PRIu64 " readers of %" PRIu64 " MiB each", readers, bytes / MIB);
	run("cached", false);
	run("direct", true);
	lab_done();
}
