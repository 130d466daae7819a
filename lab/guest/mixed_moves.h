/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loads whose pages the kernel moves: khugepaged, memory that goes offline, NUMA balancing. */
#ifndef HUEPAGE_MIXED_MOVES_H
#define HUEPAGE_MIXED_MOVES_H

#include "files.h"
#include "mixed_huge.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>

#define MEMORY "/sys/devices/system/memory/"
#define BLOCKS 64
#define NUMA_BALANCING "/proc/sys/kernel/numa_balancing"
/* Seconds of the guest; the kernel scans a program's pages about once in one. */
#define BALANCING_SECONDS 30

/* As `collapse`, but khugepaged does it. */
static inline void load_khugepaged(struct mixed *mixed)
{
	size_t part = mixed->pages / 4 / HUGE * HUGE;
	char *memory = any_pages(mixed->pages);

	thp_set(mixed, THP "enabled", "madvise");
	touch(memory, mixed->pages);
	thp_set(mixed, KHUGEPAGED "scan_sleep_millisecs", "10");
	if (madvise(memory, part * PAGE, MADV_HUGEPAGE))
		mixed_skip(mixed, "MADV_HUGEPAGE: %s", strerror(errno));
	for (int tries = 0; tries < 1000 && huge_pages_mapped() < part; tries++)
		usleep(10000);
	/*
	 * Small pages with colors of huge ones move when khugepaged is done with the
	 * program, which it must be once more.
	 */
	uint64_t scans = lab_read_number(KHUGEPAGED "full_scans");

	for (int tries = 0; tries < 1000 && lab_read_number(KHUGEPAGED "full_scans") < scans + 2;
	     tries++)
		usleep(10000);
	count(mixed, memory, mixed->pages);
	mixed->tally->huge_pages = huge_pages_mapped();
}

/*
 * Takes the block of memory offline that has the most of these frames and can go, or -1.
 */
static inline int take_offline(const uint64_t *frames, size_t pages)
{
	uint64_t size = strtoull(file_line(MEMORY "block_size_bytes"), NULL, 16) / PAGE;
	size_t in_block[BLOCKS] = { 0 };
	char path[64];

	for (size_t i = 0; i < pages; i++)
		if (frames[i] / size < BLOCKS)
			in_block[frames[i] / size]++;
	for (;;) {
		int most = 0;

		for (int i = 1; i < BLOCKS; i++)
			if (in_block[i] > in_block[most])
				most = i;
		if (!in_block[most])
			return -1;
		snprintf(path, sizeof(path), MEMORY "memory%d/state", most);
		if (!write_text(path, "offline"))
			return most;
		in_block[most] = 0;
	}
}

/* Programs that have pages there get other pages for them. */
static inline void load_offlining(struct mixed *mixed)
{
	char *memory = small_pages(mixed->pages), path[64];
	uint64_t *before = malloc(2 * mixed->pages * sizeof(*before));
	uint64_t *after = before + mixed->pages;
	size_t moved = 0;

	if (!before)
		lab_fail("memory for %zu frame numbers", 2 * mixed->pages);
	touch(memory, mixed->pages);
	frames_of(memory, mixed->pages, before);
	int block = take_offline(before, mixed->pages);

	if (block < 0)
		mixed_skip(mixed, "no block of memory that has pages of the program goes offline");
	count(mixed, memory, mixed->pages);
	frames_of(memory, mixed->pages, after);
	for (size_t i = 0; i < mixed->pages; i++)
		moved += before[i] != after[i];
	mixed_tell(mixed, ",\"moved\":%zu", moved);
	snprintf(path, sizeof(path), MEMORY "memory%d/state", block);
	lab_write(path, "online");
}

/* Pages that go to the other node, and where they are. */
struct moving {
	char *memory;
	void **pages;
	int *nodes;
};

/* Touches pages, on the node of this CPU. */
static inline struct moving pages_to_move(const struct mixed *mixed)
{
	struct moving moving = {
		.memory = small_pages(mixed->pages),
		.pages = malloc(mixed->pages * sizeof(*moving.pages)),
		.nodes = malloc(mixed->pages * sizeof(*moving.nodes)),
	};

	if (!moving.nodes || !moving.pages)
		lab_fail("memory for %zu nodes", mixed->pages);
	for (size_t i = 0; i < mixed->pages; i++)
		moving.pages[i] = moving.memory + i * PAGE;
	touch(moving.memory, mixed->pages);
	return moving;
}

/* How many are not on the other node. */
static inline size_t still_here(const struct mixed *mixed, const struct moving *moving)
{
	size_t far = 0;

	if (syscall(SYS_move_pages, 0, mixed->pages, moving->pages, NULL, moving->nodes, 0))
		lab_fail("ask for the nodes of pages");
	for (size_t i = 0; i < mixed->pages; i++)
		far += moving->nodes[i] != 1;
	return far;
}

/*
 * Pages that have not moved are in another cache: they are reported as far, not counted.
 */
static inline void count_moved(struct mixed *mixed, const struct moving *moving)
{
	size_t far = still_here(mixed, moving);
	uint32_t process = tally_process(mixed->tally);

	for (size_t i = 0, end; i < mixed->pages; i = end + 1) {
		for (end = i; end < mixed->pages && moving->nodes[end] == 1;)
			end++;
		if (end > i)
			tally_pages(mixed->tally, process, moving->memory + i * PAGE, end - i);
	}
	mixed_tell(mixed, ",\"far\":%zu", far);
}

/*
 * The program has its pages on the node of one CPU, and continues on the other CPU: the
 * kernel moves the pages there.
 */
static inline void load_balancing(struct mixed *mixed)
{
	struct moving moving = pages_to_move(mixed);
	int error = write_text(NUMA_BALANCING, "1");

	if (error)
		mixed_skip(mixed, "NUMA balancing: %s", strerror(error));
	lab_run_on(OTHER_CPU);
	double end = lab_seconds() + BALANCING_SECONDS;

	do {
		for (int i = 0; i < 20; i++)
			touch(moving.memory, mixed->pages);
	} while (still_here(mixed, &moving) > mixed->pages / 1000 && lab_seconds() < end);
	lab_write(NUMA_BALANCING, "0");
	count_moved(mixed, &moving);
}

/* The program moves them by itself, with move_pages(). */
static inline void load_mbind(struct mixed *mixed)
{
	struct moving moving = pages_to_move(mixed);
	unsigned long other = 1 << 1;

	if (syscall(SYS_mbind, moving.memory, mixed->pages * PAGE, MPOL_BIND, &other,
		    8 * sizeof(other), MPOL_MF_MOVE))
		lab_fail("bind memory to the other node");
	count_moved(mixed, &moving);
}

#endif
