// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Whether the kernel knows which colors a program holds. In each of many ways pages are
 * unmapped, moved, copied or replaced; then as many colors must be held by nobody as
 * there are without those of the program's pages. A line has both numbers.
 */
#define _GNU_SOURCE
#include "files.h"
#include "frames.h"
#include "held_colors.h"
#include "offered.h"

#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define DIR "/sys/kernel/mm/page_color/"
#define KSM "/sys/kernel/mm/ksm/"
#define GROUPS "/groups"
#define MTHP THP "hugepages-64kB/"
#define COLORS 4096
#define HUGE (HUGE_PAGE / PAGE)
/* Half of the cache. */
#define PAGES (COLORS / 2)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef UFFDIO_MOVE
struct uffdio_move {
	uint64_t dst, src, len, mode;
	int64_t move;
};
#define UFFDIO_MOVE _IOWR(UFFDIO, 0x05, struct uffdio_move)
#endif

/* Colors of the pages of all programs of a case. */
static bool *held;
static struct lab_random random_pages = { 1 };

/* Pages that are not in memory have no color, and all programs share the zero page. */
static void hold(const char *memory, size_t pages)
{
	static const volatile char *zero;
	uint64_t zero_frame;

	if (!zero)
		zero = lab_map_small(PAGE);
	(void)*zero;
	zero_frame = frame_of(zero);
	for (size_t i = 0; i < pages; i++) {
		uint64_t entry;

		if (pread(frames_map(), &entry, 8, ((uintptr_t)memory / PAGE + i) * 8) != 8)
			lab_fail("read /proc/self/pagemap");
		if (entry & FRAME_PRESENT && (entry & FRAME_NUMBER) != zero_frame)
			held[(entry & FRAME_NUMBER) % COLORS] = true;
	}
}

/* What the programs hold, and what the kernel takes for held. */
static void say(const char *what)
{
	size_t colors = 0;

	for (size_t i = 0; i < COLORS; i++)
		colors += held[i];
	lab_result("{\"what\":\"%s\",\"colors\":%zu,\"held\":%lu}", what, colors,
		   (unsigned long)held_colors());
}

static void say_of(const char *what, const char *memory, size_t pages)
{
	hold(memory, pages);
	say(what);
}

static void advise(char *memory, size_t pages, int advice)
{
	if (madvise(memory, pages * PAGE, advice))
		lab_fail("advise (%d) %zu pages", advice, pages);
}

static void unmap(char *memory, size_t pages)
{
	if (munmap(memory, pages * PAGE))
		lab_fail("unmap %zu pages", pages);
}

/* No two pages are the same. */
static void touch(char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		*(volatile uint64_t *)(memory + i * PAGE) = i + 1;
}

static char *small(void)
{
	char *memory = lab_map_small(PAGES * PAGE);

	touch(memory, PAGES);
	return memory;
}

static char *from_huge(size_t pages)
{
	char *memory = lab_map(pages * PAGE + HUGE_PAGE);

	return (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & -HUGE_PAGE);
}

static char *huge(void)
{
	char *memory = from_huge(PAGES);

	advise(memory, PAGES, MADV_HUGEPAGE);
	touch(memory, PAGES);
	uint64_t kib = lab_read_named("/proc/self/smaps_rollup", "AnonHugePages:");

	if (kib != PAGES * PAGE / 1024)
		lab_fail("%lu KiB are in huge pages", (unsigned long)kib);
	return memory;
}

static void touched(void)
{
	say_of("touched", small(), PAGES);
}

/* Each page with a probability of one half. */
static void given_back(char *memory)
{
	for (size_t i = 0; i < PAGES; i++)
		if (lab_below(&random_pages, 2))
			advise(memory + i * PAGE, 1, MADV_DONTNEED);
}

static void small_given_back(void)
{
	char *memory = small();

	given_back(memory);
	say_of("given back", memory, PAGES);
}

static void huge_given_back(void)
{
	char *memory = huge();

	given_back(memory);
	say_of("huge, parts given back", memory, PAGES);
}

static void unmapped(void)
{
	char *memory = small();

	unmap(memory, PAGES / 2);
	say_of("unmapped", memory + PAGES / 2 * PAGE, PAGES / 2);
}

static void huge_unmapped(void)
{
	char *memory = huge();

	unmap(memory, PAGES / 2);
	say_of("huge, unmapped", memory + PAGES / 2 * PAGE, PAGES / 2);
}

static void drop(char *memory, size_t pages)
{
	offer(memory, pages);
	reclaim_offered(memory, pages);
}

static void dropped(void)
{
	char *memory = small();

	drop(memory, PAGES / 2);
	say_of("dropped", memory, PAGES);
}

static void huge_dropped(void)
{
	char *memory = huge();

	drop(memory, PAGES / 2);
	say_of("huge, dropped", memory, PAGES);
}

static void huge_offered(void)
{
	char *memory = huge();

	offer(memory, PAGES / 2);
	unmap(memory, PAGES / 2);
	say_of("huge, offered and unmapped", memory + PAGES / 2 * PAGE, PAGES / 2);
}

/* To an address at which no huge page can be; half of each is unmapped. */
static void huge_remapped(void)
{
	char *to = from_huge(2 * PAGES) + PAGE;

	to = mremap(huge(), PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (to == MAP_FAILED)
		lab_fail("move a mapping");
	say_of("huge, remapped", to, PAGES);
	for (size_t i = 0; i < PAGES; i += HUGE)
		unmap(to + i * PAGE, HUGE / 2);
	memset(held, 0, COLORS);
	for (size_t i = HUGE / 2; i < PAGES; i += HUGE)
		hold(to + i * PAGE, HUGE / 2);
	say("huge, remapped and unmapped");
}

static void collapsed(void)
{
	char *memory = from_huge(PAGES);

	advise(memory, PAGES, MADV_NOHUGEPAGE);
	touch(memory, PAGES);
	advise(memory, PAGES / 2, MADV_HUGEPAGE);
	advise(memory, PAGES / 2, MADV_COLLAPSE);
	say_of("collapsed", memory, PAGES);
}

static uint64_t collapse_allocations(void)
{
	return lab_read_named("/proc/vmstat", "thp_collapse_alloc");
}

/* Until khugepaged has allocated so many huge pages in all, and then looks at none. */
static void wait_for_khugepaged(uint64_t allocations)
{
	uint64_t now = collapse_allocations(), last;
	int tries = 1000;

	lab_write(THP "khugepaged/scan_sleep_millisecs", "10");
	for (; collapse_allocations() < allocations; usleep(10000))
		if (!tries--)
			lab_fail("khugepaged allocates nothing");
	lab_write(THP "khugepaged/scan_sleep_millisecs", "1000000");
	do {
		last = now;
		usleep(200000);
		now = collapse_allocations();
	} while (now != last);
}

/*
 * Pages that do not follow each other in memory would become huge ones of other colors, but
 * the limit of a memory cgroup does not allow it.
 */
static void collapse_failed(void)
{
	char *memory = from_huge(PAGES);

	advise(memory, PAGES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		touch(memory + i * 1029 % PAGES * PAGE, 1);
	mkdir(GROUPS, 0755);
	if (mount("groups", GROUPS, "cgroup2", 0, NULL))
		lab_fail("mount cgroup2");
	lab_write(GROUPS "/cgroup.subtree_control", "+memory");
	mkdir(GROUPS "/held", 0755);
	lab_write(GROUPS "/held/memory.max", "1M");
	lab_write(GROUPS "/held/cgroup.procs", "0");
	advise(memory, PAGES, MADV_HUGEPAGE);
	wait_for_khugepaged(collapse_allocations() + 12);
	lab_write(GROUPS "/cgroup.procs", "0");
	if (lab_read_named("/proc/self/smaps_rollup", "AnonHugePages:"))
		lab_fail("a huge page in a cgroup of 1 MiB");
	say_of("collapse failed", memory, PAGES);
}

/*
 * Small pages of every second color of three quarters of the cache, and then pages of
 * 64 KiB, for some of which only stretches with small pages are left.
 */
static void made_room(void)
{
	size_t touched = COLORS / 4 * 3, pages = COLORS / 8 * 3;
	char *memory = lab_map_small(touched * PAGE), *large = from_huge(pages);
	uint64_t before = lab_read_number(MTHP "stats/anon_fault_alloc");

	touch(memory, touched);
	for (size_t i = 0; i < touched; i++)
		if (frame_of(memory + i * PAGE) % 2)
			advise(memory + i * PAGE, 1, MADV_DONTNEED);
	lab_write(THP "enabled", "never");
	lab_write(MTHP "enabled", "madvise");
	advise(large, pages, MADV_HUGEPAGE);
	touch(large, pages);
	lab_write(MTHP "enabled", "never");
	lab_write(THP "enabled", "madvise");
	uint64_t got = lab_read_number(MTHP "stats/anon_fault_alloc") - before;

	if (got != pages / 16)
		lab_fail("%lu pages of 64 KiB", (unsigned long)got);
	hold(large, pages);
	say_of("made room", memory, touched);
}

/*
 * Pages of different colors that are left of many, so that compaction moves them. Half of
 * these are offered before it, and no longer afterwards.
 */
static void compacted(void)
{
	enum { MANY = 40 * PAGES };
	char *memory = lab_map_small(MANY * PAGE), *left[PAGES];
	bool has[COLORS] = { false };
	size_t pages = 0;

	touch(memory, MANY);
	for (size_t i = 0; i < MANY; i++) {
		bool *seen = &has[frame_of(memory + i * PAGE) % COLORS];

		if (!*seen && pages < PAGES && i % 20 == 0) {
			left[pages++] = memory + i * PAGE;
			*seen = true;
		} else {
			advise(memory + i * PAGE, 1, MADV_DONTNEED);
		}
	}
	/* The program was larger than the cache: it is counted anew at its next fault. */
	touch(memory + PAGE, 1);
	offer(memory + 2 * PAGE, MANY / 2);
	uint64_t before = lab_read_named("/proc/vmstat", "pgmigrate_success");

	lab_write("/proc/sys/vm/compact_memory", "1");
	uint64_t moved = lab_read_named("/proc/vmstat", "pgmigrate_success") - before;

	if (moved < pages / 4)
		lab_fail("compaction moved %lu of %zu pages", (unsigned long)moved, pages);
	for (size_t i = 0; i < pages; i++)
		touch(left[i], 1);
	say_of("compacted", memory, MANY);
}

/* A child writes to half of its pages, and then its parent to another half. */
static void copied(void)
{
	char *memory = small();
	pid_t child = lab_fork();

	if (!child) {
		touch(memory, PAGES / 2);
		hold(memory, PAGES);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, NULL, WUNTRACED);
	touch(memory + PAGES / 4 * PAGE, PAGES / 2);
	say_of("copied", memory, PAGES);
	kill(child, SIGCONT);
	lab_wait(child, "the child");
	memset(held, 0, COLORS);
	say_of("copied, without the child", memory, PAGES);
}

/* What a child still maps that its parent has unmapped. */
static void inherited(void)
{
	char *memory = small();
	pid_t child = lab_fork();

	if (!child) {
		unmap(memory, PAGES / 4);
		hold(memory + PAGES / 4 * PAGE, PAGES / 4 * 3);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, NULL, WUNTRACED);
	unmap(memory, PAGES / 2);
	say_of("inherited", memory + PAGES / 2 * PAGE, PAGES / 2);
	kill(child, SIGCONT);
	lab_wait(child, "the child");
}

static char *shared(int file, int flags)
{
	char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, file, 0);

	if (memory == MAP_FAILED)
		lab_fail("map a file");
	return memory;
}

static int file_in_memory(void)
{
	int file = memfd_create("held", 0);

	if (file < 0 || ftruncate(file, PAGES * PAGE))
		lab_fail("make a file in memory");
	return file;
}

static void shared_unmapped(void)
{
	char *memory = shared(file_in_memory(), MAP_SHARED);

	touch(memory, PAGES);
	unmap(memory, PAGES / 2);
	say_of("shared, unmapped", memory + PAGES / 2 * PAGE, PAGES / 2);
}

static void shared_truncated(void)
{
	int file = file_in_memory();
	char *memory = shared(file, MAP_SHARED);

	touch(memory, PAGES);
	if (ftruncate(file, PAGES / 2 * PAGE))
		lab_fail("truncate a file");
	say_of("shared, truncated", memory, PAGES / 2);
}

/* A program has written it, and ended. */
static int file_of_another(void)
{
	int file = file_in_memory();
	pid_t child = lab_fork();

	if (!child) {
		touch(shared(file, MAP_SHARED), PAGES);
		_exit(0);
	}
	lab_wait(child, "the child");
	return file;
}

static void shared_of_another(void)
{
	char *memory = shared(file_of_another(), MAP_SHARED | MAP_POPULATE);

	say_of("shared, of another", memory, PAGES);
	unmap(memory, PAGES / 2);
	memset(held, 0, COLORS);
	say_of("shared, of another, unmapped", memory + PAGES / 2 * PAGE, PAGES / 2);
}

/*
 * Pages of a file in memory are read, and every second one is replaced by a private one;
 * then half are unmapped, of both kinds at once.
 */
static void privately_copied(void)
{
	char *memory = shared(file_of_another(), MAP_PRIVATE);

	for (size_t i = 0; i < PAGES; i++)
		(void)*(volatile char *)(memory + i * PAGE);
	for (size_t i = 0; i < PAGES; i += 2)
		touch(memory + i * PAGE, 1);
	say_of("private copies", memory, PAGES);
	unmap(memory, PAGES / 2);
	memset(held, 0, COLORS);
	say_of("private copies, unmapped", memory + PAGES / 2 * PAGE, PAGES / 2);
}

static void wait_for_ksmd(void)
{
	uint64_t scans = lab_read_number(KSM "full_scans") + 3;

	for (int tries = 0; tries < 1000 && lab_read_number(KSM "full_scans") < scans; tries++)
		usleep(10000);
	if (lab_read_number(KSM "full_scans") < scans)
		lab_fail("ksmd does not scan");
}

/* Of each four pages three are the same as one before, or zero. */
static void merge(const char *what, bool zero)
{
	char *memory = small();

	for (size_t i = 0; i < PAGES; i++)
		if (i % 4)
			touch(memory + i * PAGE, 1), *(uint64_t *)(memory + i * PAGE) = !zero;
	lab_write(KSM "use_zero_pages", zero ? "1" : "0");
	lab_write(KSM "pages_to_scan", "10000");
	lab_write(KSM "sleep_millisecs", "1");
	lab_write(KSM "run", "1");
	advise(memory, PAGES, MADV_MERGEABLE);
	wait_for_ksmd();
	lab_write(KSM "run", "0");
	say_of(what, memory, PAGES);
	advise(memory, PAGES / 2, MADV_UNMERGEABLE);
	hold(memory, PAGES);
	say("unmerged");
}

static void merged(void)
{
	merge("merged", false);
}

static void merged_to_zero(void)
{
	merge("merged, zero", true);
}

static int userfaultfd_of(char *memory, size_t pages, uint64_t mode)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (uintptr_t)memory, pages * PAGE }, .mode = mode,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		lab_fail("userfaultfd");
	return fd;
}

static void copy_by_userfaultfd(int fd, char *to, char *from)
{
	struct uffdio_copy copy = {
		.dst = (uintptr_t)to, .src = (uintptr_t)from, .len = PAGE,
	};

	if (ioctl(fd, UFFDIO_COPY, &copy))
		lab_fail("UFFDIO_COPY");
}

/* Pages are copied to a part of memory, and others are moved to another part. */
static void moved_by_userfaultfd(void)
{
	char *from = small(), *to = lab_map_small(2 * PAGES * PAGE);
	int fd = userfaultfd_of(to, 2 * PAGES, UFFDIO_REGISTER_MODE_MISSING);

	for (size_t i = 0; i < PAGES / 2; i++) {
		struct uffdio_move move = {
			.dst = (uintptr_t)to + (PAGES + i) * PAGE,
			.src = (uintptr_t)from + i * PAGE, .len = PAGE,
		};

		copy_by_userfaultfd(fd, to + i * PAGE, from);
		if (i && ioctl(fd, UFFDIO_MOVE, &move))
			lab_fail("UFFDIO_MOVE");
	}
	hold(from, PAGES);
	say_of("moved by userfaultfd", to, 2 * PAGES);
}

/* As memory of virtual machines arrives. */
static void file_by_userfaultfd(void)
{
	char *from = lab_map_small(PAGE), *to = shared(file_in_memory(), MAP_SHARED);
	int fd = userfaultfd_of(to, PAGES, UFFDIO_REGISTER_MODE_MISSING);

	touch(from, 1);
	for (size_t i = 0; i < PAGES; i++)
		copy_by_userfaultfd(fd, to + i * PAGE, from);
	say_of("file by userfaultfd", to, PAGES);
}

/* What is in the file already, too. */
static void file_mapped_by_userfaultfd(void)
{
	char *to = shared(file_of_another(), MAP_SHARED);
	int fd = userfaultfd_of(to, PAGES, UFFDIO_REGISTER_MODE_MINOR);

	for (size_t i = 0; i < PAGES; i++) {
		struct uffdio_continue range = {
			.range = { (uintptr_t)to + i * PAGE, PAGE },
		};

		if (ioctl(fd, UFFDIO_CONTINUE, &range))
			lab_fail("UFFDIO_CONTINUE");
	}
	say_of("file mapped by userfaultfd", to, PAGES);
}

static void in_child(void (*load)(void))
{
	pid_t child;

	memset(held, 0, COLORS);
	child = lab_fork();
	if (!child) {
		/* So that one CPU has pages ready. */
		lab_run_on(0);
		load();
		_exit(0);
	}
	lab_wait(child, "a child");
}

int main(int argc, char **argv)
{
	static void (*const cases[])(void) = {
		touched, small_given_back, huge_given_back, unmapped, huge_unmapped, dropped,
		huge_dropped, huge_offered, huge_remapped, collapsed, collapse_failed, made_room,
		compacted, copied, inherited, shared_unmapped, shared_truncated, shared_of_another,
		privately_copied, merged, merged_to_zero, moved_by_userfaultfd, file_by_userfaultfd,
		file_mapped_by_userfaultfd,
	};

	lab_start(argc, argv);
	held = lab_map_shared(COLORS);
	lab_write(THP "enabled", "madvise");
	/* khugepaged would fill what was given back while its colors are counted. */
	lab_write(THP "khugepaged/max_ptes_none", "0");
	lab_write(THP "khugepaged/scan_sleep_millisecs", "1000000");
	expect_write(DIR "cache_size", "16M,ways=1", 0);
	expect_write(DIR "enabled", "1", 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		in_child(cases[i]);
	memset(held, 0, COLORS);
	say("nothing");
	lab_done();
}
