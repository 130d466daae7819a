// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Which memory tasks with a set of colors get: small pages, huge pages, pages that
 * khugepaged makes of small ones, and pages that memory compaction moves.
 */
#define _GNU_SOURCE
#include "color_lists.h"

#include <signal.h>
#include <sys/wait.h>

#define KHUGEPAGED THP "khugepaged/"
#define HUGE (HUGE_PAGE / PAGE)

/* What was counted since the last call. */
struct counted {
	uint64_t none;
	uint64_t huge;
	uint64_t fallback;
	uint64_t collapsed;
	uint64_t failed;
};

static struct counted counted(void)
{
	static struct counted before;
	struct counted now = {
		.none = lab_read_named("/proc/vmstat", "page_color_none"),
		.huge = lab_read_named("/proc/vmstat", "thp_fault_alloc"),
		.fallback = lab_read_named("/proc/vmstat", "thp_fault_fallback"),
		.collapsed = lab_read_named("/proc/vmstat", "thp_collapse_alloc"),
		.failed = lab_read_named("/proc/vmstat", "thp_collapse_alloc_failed"),
	}, since = {
		.none = now.none - before.none,
		.huge = now.huge - before.huge,
		.fallback = now.fallback - before.fallback,
		.collapsed = now.collapsed - before.collapsed,
		.failed = now.failed - before.failed,
	};

	before = now;
	return since;
}

static void say(const char *what, size_t pages, unsigned outside)
{
	struct counted since = counted();

	lab_result("{\"what\":\"%s\",\"pages\":%zu,\"outside\":%u,\"none\":%lu,\"huge\":%lu,"
		   "\"fallback\":%lu,\"collapsed\":%lu,\"failed\":%lu}",
		   what, pages, outside, since.none, since.huge, since.fallback,
		   since.collapsed, since.failed);
}

/* A separate program, which is small. */
static void in_child(void (*load)(void))
{
	pid_t child = lab_fork();

	if (!child) {
		counted();
		load();
		_exit(0);
	}
	lab_wait(child, "a child");
}

/* Pages that are not in the set of every second color. */
static unsigned odd(const char *memory, size_t pages)
{
	unsigned found = 0;

	for (size_t i = 0; i < pages; i++)
		found += frame_of(memory + i * PAGE) % 2;
	return found;
}

static char *touched(size_t pages, int advice)
{
	char *memory = lab_map(pages * PAGE + HUGE_PAGE);

	memory = (char *)(((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
	if (madvise(memory, pages * PAGE, advice))
		lab_fail("advise");
	memset(memory, 1, pages * PAGE);
	return memory;
}

/* More pages than there are of the color, in programs with less than 32 each. */
static void small(void)
{
	enum { PROGRAMS = 40, PAGES = 16 };
	unsigned *wrong = lab_map_shared(PROGRAMS * sizeof(*wrong)), sum = 0;
	pid_t programs[PROGRAMS];

	for (int i = 0; i < PROGRAMS; i++) {
		programs[i] = lab_fork();
		if (programs[i])
			continue;
		char *memory = lab_map_small(PAGES * PAGE);

		expect_write(SELF, "7", 0);
		memset(memory, 1, PAGES * PAGE);
		expect_write(SELF, "all", 0);
		wrong[i] = outside(memory, PAGES, 7, 7);
		raise(SIGSTOP);
		_exit(0);
	}
	for (int i = 0; i < PROGRAMS; i++) {
		waitpid(programs[i], NULL, WUNTRACED);
		sum += wrong[i];
	}
	say("small", PROGRAMS * PAGES, sum);
	for (int i = 0; i < PROGRAMS; i++) {
		kill(programs[i], SIGKILL);
		waitpid(programs[i], NULL, 0);
	}
}

static void huge_in_set(void)
{
	expect_write(SELF, "512-1535", 0);
	char *memory = touched(HUGE, MADV_HUGEPAGE);

	say("huge in set", HUGE, outside(memory, HUGE, 512, 1535));
}

static void huge_asked_for(void)
{
	expect_write(SELF, "all:1/2", 0);
	char *memory = touched(HUGE, MADV_HUGEPAGE);

	say("huge asked for", HUGE, odd(memory, HUGE));
}

/* An eighth of the pages stays. */
static void touch_in_pieces(size_t pages)
{
	char *memory = touched(pages, MADV_NOHUGEPAGE);

	for (size_t i = 0; i < pages; i++)
		if (i % 8 && madvise(memory + i * PAGE, PAGE, MADV_DONTNEED))
			lab_fail("free a page");
}

static void ask_for_huge(const char *what)
{
	enum { ASKED = 16 };
	unsigned found = 0;

	counted();
	for (int i = 0; i < ASKED; i++)
		found += outside(touched(HUGE, MADV_HUGEPAGE), HUGE, 512, 1023);
	say(what, ASKED * HUGE, found);
}

/* All but a few blocks of the set are fragmented. */
static void huge_beyond_blocks(void)
{
	expect_write(SELF, "512-1023", 0);
	touch_in_pieces(12288);
	ask_for_huge("huge beyond blocks");
}

/* All blocks are: whole ones are taken before, and none is made by compaction. */
static void huge_without_blocks(void)
{
	uint64_t before, now;

	touch_in_pieces(lab_read_named("/proc/meminfo", "MemFree:") / 4 * 7 / 8);
	lab_write(THP "defrag", "never");
	now = lab_read_named("/proc/vmstat", "thp_fault_alloc");
	do {
		before = now;
		touched(HUGE, MADV_HUGEPAGE);
		now = lab_read_named("/proc/vmstat", "thp_fault_alloc");
	} while (now > before);
	lab_write(THP "defrag", "always");
	expect_write(SELF, "512-1023", 0);
	ask_for_huge("huge without blocks");
}

static void not_asked_for(const char *what, const char *enabled, const char *after)
{
	lab_write(enabled, "always");
	expect_write(SELF, "all:1/2", 0);
	char *memory = touched(HUGE, MADV_NORMAL);

	lab_write(enabled, after);
	say(what, HUGE, odd(memory, HUGE));
}

static void huge_or_small(void)
{
	not_asked_for("huge or small", THP "enabled", "madvise");
}

static void sixteen_or_one(void)
{
	not_asked_for("64 KiB or small", THP "hugepages-64kB/enabled", "never");
}

static void wait_for_scans(void)
{
	uint64_t scans = lab_read_number(KHUGEPAGED "full_scans");

	for (int tries = 0; lab_read_number(KHUGEPAGED "full_scans") < scans + 3; tries++) {
		if (tries == 3000)
			lab_fail("khugepaged does not come by");
		usleep(10000);
	}
}

/* Small pages of every second color stay; those of whole blocks are collapsed. */
static void khugepaged(void)
{
	lab_write(KHUGEPAGED "scan_sleep_millisecs", "10");
	expect_write(SELF, "all:1/2", 0);
	char *memory = touched(HUGE, MADV_NOHUGEPAGE);

	if (madvise(memory, HUGE_PAGE, MADV_HUGEPAGE))
		lab_fail("advise");
	wait_for_scans();
	say("khugepaged stays", HUGE, odd(memory, HUGE));
	expect_write(SELF, "512-1023", 0);
	wait_for_scans();
	say("khugepaged", HUGE, outside(memory, HUGE, 512, 1023));
	lab_write(KHUGEPAGED "scan_sleep_millisecs", "10000");
}

/* Fragmented memory, of which an eighth is used, is compacted. */
static void compaction(void)
{
	const size_t pages = 32768;
	uint64_t *before = lab_map(pages * sizeof(*before));
	unsigned moved = 0;

	expect_write(SELF, "all:1/2", 0);
	char *memory = touched(pages, MADV_NOHUGEPAGE);

	for (size_t i = 0; i < pages; i++)
		if (i % 8 && madvise(memory + i * PAGE, PAGE, MADV_DONTNEED))
			lab_fail("free a page");
	for (size_t i = 0; i < pages; i += 8)
		before[i] = frame_of(memory + i * PAGE);
	counted();
	lab_write("/proc/sys/vm/compact_memory", "1");
	unsigned wrong = 0;

	for (size_t i = 0; i < pages; i += 8) {
		uint64_t now = frame_of(memory + i * PAGE);

		moved += now != before[i];
		wrong += now % 2;
	}
	say("compaction", moved, wrong);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	lab_write(THP "enabled", "madvise");
	/* For a huge page that is not wanted nothing is reclaimed or compacted. */
	lab_write(THP "defrag", "always");
	expect_write(DIR "cache_size", "16M,ways=1", 0);
	expect_write(DIR "enabled", "1", 0);
	for (int times = 0; times < 4; times++)
		in_child(huge_in_set);
	in_child(huge_asked_for);
	in_child(huge_beyond_blocks);
	in_child(huge_without_blocks);
	in_child(huge_or_small);
	in_child(sixteen_or_one);
	in_child(khugepaged);
	in_child(compaction);
	in_child(small);
	lab_done();
}
