// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A scan is stopped midway by switching to merge_across_nodes=1 and back: the items
 * that the unstable tree of a node held before must not be in it any more. Mainline
 * does not empty the trees of other nodes while it merges across them, so that it
 * finds items that are freed. Only a kernel with debug checks reports that.
 */
#define _GNU_SOURCE
#include "ksm.h"
#include "ksmd.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PAGES 512UL

/* Pages on a node, no two of them the same. */
static uint64_t *fill_node(int node, uint64_t seed)
{
	unsigned long mask = 1UL << node;
	struct lab_random random = { seed };
	uint64_t *memory = lab_map(PAGES * PAGE);

	if (syscall(SYS_mbind, memory, PAGES * PAGE, BIND_POLICY, &mask, 8 * sizeof(mask), 0) ||
	    madvise(memory, PAGES * PAGE, MADV_MERGEABLE))
		lab_fail("memory on node %d", node);
	for (uint64_t page = 0; page < PAGES; page++)
		memory[page * WORDS] = lab_next(&random);
	return memory;
}

/* Scans some pages of the next full scan, and stops. */
static void scan_some(uint64_t pages)
{
	uint64_t scans = lab_read_number(KSM "full_scans");
	uint64_t before = lab_read_number(KSM "pages_scanned");

	lab_write(KSM "pages_to_scan", "20");
	lab_write(KSM "sleep_millisecs", "1");
	lab_write(KSM "run", "1");
	while (lab_read_number(KSM "pages_scanned") - before < pages)
		usleep(1000);
	lab_write(KSM "run", "0");
	if (lab_read_number(KSM "full_scans") != scans)
		lab_fail("the scan was to stop midway");
}

static void across(int to)
{
	errno = ksm_switch(to);
	if (errno)
		lab_fail("merge_across_nodes=%d", to);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	across(0);
	uint64_t *first = fill_node(0, 1), *second = fill_node(1, 2);

	ksm_settle();
	/* Both trees get items of this scan: more than the first area. */
	scan_some(PAGES + PAGES / 2);
	across(1);
	ksm_settle();
	munmap(second, PAGES * PAGE);
	ksm_settle();
	second = fill_node(1, 3);
	ksm_settle();
	scan_some(PAGES / 2);
	across(0);
	ksm_settle();
	if (first[0] == second[0])
		lab_fail("contents are lost");
	lab_result("{\"step\":\"stale\",\"pages\":%ju}", (uintmax_t)(2 * PAGES));
	lab_done();
}
