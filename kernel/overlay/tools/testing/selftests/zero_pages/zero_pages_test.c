// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zero pages as programs see them: which one an address gets, that it stays zero
 * whatever programs do, and that all ways to map one choose the same. Needs root,
 * to learn frame numbers. Most useful with zero_pages=8 on the command line.
 *
 * See Documentation/admin-guide/mm/zero_pages.rst.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../kselftest_harness.h"

#define SYSFS "/sys/kernel/mm/zero_pages/"
#define COLORS "/proc/self/page_colors"
#define KSM "/sys/kernel/mm/ksm/"
/* Of an area; more than there can be zero pages. */
#define PAGES 512
/* Many that use them at once, how often, and how many pages each of them has. */
#define PROCESSES 64
#define ROUNDS 40
#define FEW 64

static size_t page_size;
static unsigned long number;
/* The frame of the first zero page. */
static uint64_t first;

static long number_in(const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return atol(text);
}

/* 0, or the error number. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = errno;
	close(fd);
	return err;
}

/* What a file of one word for each frame says of a frame. */
static uint64_t word_of_frame(const char *path, uint64_t frame)
{
	uint64_t word = UINT64_MAX;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (pread(fd, &word, sizeof(word), frame * sizeof(word)) != sizeof(word))
		word = UINT64_MAX;
	close(fd);
	return word;
}

/* 0 if nothing is there. */
static uint64_t frame_of(const char *page)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (pread(fd, &entry, sizeof(entry),
		  (uintptr_t)page / page_size * sizeof(entry)) != sizeof(entry))
		entry = 0;
	close(fd);
	return entry >> 63 ? entry & ((1ULL << 55) - 1) : 0;
}

static char *map_area(size_t pages)
{
	char *area = mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		ksft_exit_fail_msg("map %zu pages: %s\n", pages, strerror(errno));
	madvise(area, pages * page_size, MADV_NOHUGEPAGE);
	return area;
}

/* Reads all of it; whether it was all zero. */
static bool is_zero(const char *area, size_t pages)
{
	const uint64_t *words = (const uint64_t *)area;
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < pages * page_size / sizeof(*words); i++)
		all |= words[i];
	return !all;
}

static char read_byte(const char *at)
{
	char byte = *at;

	/* Forces the read, although the byte is not used. */
	asm volatile("" : "+r" (byte));
	return byte;
}

FIXTURE(zero)
{
	char *area;
};

FIXTURE_SETUP(zero)
{
	size_t i;

	page_size = sysconf(_SC_PAGESIZE);
	if (access(SYSFS "number", F_OK))
		SKIP(return, "CONFIG_COLOR_ZERO_PAGES is not set");
	if (geteuid())
		SKIP(return, "frame numbers need root");
	number = number_in(SYSFS "number");
	self->area = map_area(PAGES);
	ASSERT_TRUE(is_zero(self->area, PAGES));
	first = UINT64_MAX;
	for (i = 0; i < PAGES; i++)
		if (frame_of(self->area + i * page_size) < first)
			first = frame_of(self->area + i * page_size);
	ASSERT_NE(first, 0);
}

FIXTURE_TEARDOWN(zero)
{
	/* Zero pages must be zero after each test. */
	EXPECT_TRUE(is_zero(map_area(PAGES), PAGES));
	munmap(self->area, PAGES * page_size);
}

/* The frame that an address should have. */
static uint64_t wanted(const char *page)
{
	return first + (uintptr_t)page / page_size % number;
}

static size_t misplaced(const char *area, size_t pages)
{
	size_t i, bad = 0;

	for (i = 0; i < pages; i++)
		bad += frame_of(area + i * page_size) !=
		       wanted(area + i * page_size);
	return bad;
}

TEST_F(zero, addresses_choose_the_page)
{
	EXPECT_EQ(misplaced(self->area, PAGES), 0);
}

TEST_F(zero, writing_gives_a_page_of_its_own)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		self->area[i * page_size] = 1;
	for (i = 0; i < PAGES; i++)
		EXPECT_GE(frame_of(self->area + i * page_size) - first,
			  number);
}

TEST_F(zero, children_have_the_same)
{
	pid_t child = fork();
	int status;

	/* fork() copies no page table of memory that was never written. */
	if (!child)
		_exit(!is_zero(self->area, PAGES) ||
		      misplaced(self->area, PAGES));
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
}

/* mremap() moves what is mapped: colors follow addresses from the next fault on. */
TEST_F(zero, moved_mappings_stay_zero)
{
	char *to = map_area(PAGES + 1);

	to = mremap(self->area, PAGES * page_size, PAGES * page_size,
		    MREMAP_MAYMOVE | MREMAP_FIXED, to + page_size);
	ASSERT_NE(to, MAP_FAILED);
	EXPECT_TRUE(is_zero(to, PAGES));
	madvise(to, PAGES * page_size, MADV_DONTNEED);
	EXPECT_TRUE(is_zero(to, PAGES));
	EXPECT_EQ(misplaced(to, PAGES), 0);
	self->area = map_area(PAGES);
}

TEST_F(zero, forced_writes_go_elsewhere)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	char *page = self->area, one = 1;

	mprotect(self->area, PAGES * page_size, PROT_READ);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(pwrite(fd, &one, 1, (uintptr_t)page), 1);
	close(fd);
	EXPECT_EQ(page[0], 1);
	EXPECT_GE(frame_of(page) - first, number);
	EXPECT_TRUE(is_zero(page + page_size, PAGES - 1));
}

TEST_F(zero, a_tracer_writes_elsewhere)
{
	pid_t child = fork();
	int status;

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(self->area[0] != 1 || !is_zero(self->area + page_size, 7));
	}
	ASSERT_EQ(waitpid(child, &status, 0), child);
	ASSERT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(ptrace(PTRACE_POKEDATA, child, self->area, 1), 0);
	ptrace(PTRACE_CONT, child, 0, 0);
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
	EXPECT_TRUE(is_zero(self->area, PAGES));
}

#ifdef __aarch64__

/* Where the C library is older. */
#ifndef PROT_MTE
#define PROT_MTE		0x20
#endif
#ifndef HWCAP2_MTE
#define HWCAP2_MTE		0x40000
#endif
#ifndef PTRACE_PEEKMTETAGS
#define PTRACE_PEEKMTETAGS	33
#endif
#define GRANULE			16

/* How many granules of an area have a tag other than 0. */
static size_t tagged(const char *area, size_t pages)
{
	size_t i, sum = 0;

	for (i = 0; i < pages * page_size; i += GRANULE) {
		uintptr_t at = (uintptr_t)area + i;

		asm volatile(".arch armv8.5-a+memtag\n\tldg %0, [%0]"
			     : "+r" (at) : : "memory");
		sum += at >> 56 & 15 ? 1 : 0;
	}
	return sum;
}

/* Programs read zero pages with tags: by pointers that have the tag 0. */
TEST_F(zero, tags_are_zero)
{
	const size_t size = PAGES * page_size;
	unsigned char tags[1 << 12];
	struct iovec vector = { tags, page_size / GRANULE };
	int status, i, sum = 0;
	char *area;
	pid_t child;

	if (!(getauxval(AT_HWCAP2) & HWCAP2_MTE))
		SKIP(return, "the processor or the kernel has no memory tags");
	area = map_area(PAGES);
	ASSERT_EQ(mprotect(area, size, PROT_READ | PROT_WRITE | PROT_MTE), 0);
	ASSERT_TRUE(is_zero(area, PAGES));
	EXPECT_EQ(misplaced(area, PAGES), 0);
	ASSERT_EQ(tagged(area, PAGES), 0);

	/* A read by a pointer of another tag is answered by SIGSEGV. */
	ASSERT_EQ(prctl(PR_SET_TAGGED_ADDR_CTRL,
			PR_TAGGED_ADDR_ENABLE | PR_MTE_TCF_SYNC, 0, 0, 0), 0);
	EXPECT_TRUE(is_zero(area, PAGES));

	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	ASSERT_EQ(waitpid(child, &status, 0), child);
	ASSERT_TRUE(WIFSTOPPED(status));
	memset(tags, 1, sizeof(tags));
	ASSERT_EQ(ptrace(PTRACE_PEEKMTETAGS, child, area, &vector), 0);
	ASSERT_EQ(vector.iov_len, page_size / GRANULE);
	for (i = 0; i < vector.iov_len; i++)
		sum += tags[i];
	EXPECT_EQ(sum, 0);
	ptrace(PTRACE_CONT, child, 0, 0);
	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
	munmap(area, size);
}

#endif

/* Pages that a pipe holds are read only; reading into zero pages copies them. */
TEST_F(zero, pipes_and_reads_do_not_write)
{
	struct iovec vector = { self->area, 8 * page_size };
	static char buffer[1 << 16];
	int pipes[2], zero;
	ssize_t got;

	ASSERT_EQ(pipe(pipes), 0);
	got = vmsplice(pipes[1], &vector, 1, 0);
	ASSERT_GT(got, 0);
	ASSERT_EQ(read(pipes[0], buffer, got), got);
	memset(buffer, 7, sizeof(buffer));
	ASSERT_EQ(write(pipes[1], buffer, page_size), (ssize_t)page_size);
	ASSERT_EQ(read(pipes[0], self->area, page_size), (ssize_t)page_size);
	EXPECT_EQ(self->area[0], 7);
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_EQ(read(zero, self->area + page_size, page_size),
		  (ssize_t)page_size);
	close(zero);
	close(pipes[0]);
	close(pipes[1]);
	EXPECT_TRUE(is_zero(self->area + page_size, PAGES - 1));
}

static int open_userfaultfd(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	int fd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return -1;
	}
	return fd;
}

TEST_F(zero, userfaultfd_chooses_alike)
{
	char *area = map_area(PAGES);
	struct uffdio_register range = {
		.range = { (uintptr_t)area, PAGES * page_size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_zeropage zero = { .range = range.range };
	int fd = open_userfaultfd(0);

	if (fd < 0)
		SKIP(return, "no userfaultfd");
	ASSERT_EQ(ioctl(fd, UFFDIO_REGISTER, &range), 0);
	ASSERT_EQ(ioctl(fd, UFFDIO_ZEROPAGE, &zero), 0);
	EXPECT_TRUE(is_zero(area, PAGES));
	EXPECT_EQ(misplaced(area, PAGES), 0);
	close(fd);
	munmap(area, PAGES * page_size);
}

#ifdef UFFDIO_MOVE
TEST_F(zero, moved_by_userfaultfd_they_are_chosen_anew)
{
	/* One page farther than a multiple of the most zero pages. */
	char *area = map_area(2 * PAGES + 1);
	struct uffdio_register range = {
		.range = { (uintptr_t)area, (2 * PAGES + 1) * page_size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	char *to = area + (PAGES + 1) * page_size;
	struct uffdio_move move = {
		.dst = (uintptr_t)to,
		.src = (uintptr_t)area,
		.len = PAGES * page_size,
	};
	int fd = open_userfaultfd(UFFD_FEATURE_MOVE);

	if (fd < 0)
		SKIP(return, "no UFFDIO_MOVE");
	ASSERT_TRUE(is_zero(area, PAGES));
	ASSERT_EQ(ioctl(fd, UFFDIO_REGISTER, &range), 0);
	ASSERT_EQ(ioctl(fd, UFFDIO_MOVE, &move), 0);
	EXPECT_EQ(misplaced(to, PAGES), 0);
	EXPECT_TRUE(is_zero(to, PAGES));
	close(fd);
	munmap(area, (2 * PAGES + 1) * page_size);
}
#endif

/* A huge zero page that is split becomes small ones. */
TEST_F(zero, a_split_huge_zero_page_chooses_alike)
{
	size_t huge = number_in("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
	char *area = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *page = (char *)(((uintptr_t)area + huge - 1) & -huge);

	if ((ssize_t)huge <= 0 || madvise(page, huge, MADV_HUGEPAGE))
		SKIP(return, "no transparent huge pages");
	ASSERT_EQ(read_byte(page), 0);
	page[huge - 1] = 1;
	/* Otherwise khugepaged may collapse them before they are looked at. */
	madvise(page, huge, MADV_NOHUGEPAGE);
	if (frame_of(page) - first >= number)
		SKIP(return, "no huge zero page was there");
	EXPECT_EQ(misplaced(page, huge / page_size - 1), 0);
	munmap(area, 2 * huge);
}

static bool ksm_scans(int more)
{
	long from = number_in(KSM "full_scans");
	int tries;

	for (tries = 0; tries < 600; tries++) {
		if (number_in(KSM "full_scans") >= from + more)
			return true;
		usleep(50000);
	}
	return false;
}

TEST_F(zero, merged_zeros_choose_alike_and_part_again)
{
	char *area = map_area(PAGES);
	size_t i, merged = 0, bad = 0;

	if (put(KSM "use_zero_pages", "1"))
		SKIP(return, "no KSM");
	put(KSM "sleep_millisecs", "10");
	put(KSM "pages_to_scan", "10000");
	memset(area, 1, PAGES * page_size);
	memset(area, 0, PAGES * page_size);
	ASSERT_EQ(madvise(area, PAGES * page_size, MADV_MERGEABLE), 0);
	put(KSM "run", "1");
	ASSERT_TRUE(ksm_scans(3));
	for (i = 0; i < PAGES; i++) {
		uint64_t frame = frame_of(area + i * page_size);

		merged += frame - first < number;
		bad += frame - first < number &&
		       frame != wanted(area + i * page_size);
	}
	EXPECT_GT(merged, PAGES / 2);
	EXPECT_EQ(bad, 0);
	ASSERT_EQ(madvise(area, PAGES * page_size, MADV_UNMERGEABLE), 0);
	memset(area, 3, PAGES * page_size);
	put(KSM "run", "2");
	put(KSM "use_zero_pages", "0");
	munmap(area, PAGES * page_size);
}

/* No count may be left changed. */
TEST_F(zero, a_million_mappings_leave_no_trace)
{
	int round;

	for (round = 0; round < 1000000 / PAGES; round++) {
		ASSERT_TRUE(is_zero(self->area, 1));
		for (int i = 0; i < PAGES; i++)
			read_byte(self->area + i * page_size);
		madvise(self->area, PAGES * page_size, MADV_DONTNEED);
	}
	EXPECT_TRUE(is_zero(self->area, PAGES));
	EXPECT_EQ(misplaced(self->area, PAGES), 0);
}

/*
 * How often all zero pages are mapped; -1 if the file does not list each of them.
 */
static long all_mapped(void)
{
	char text[8192], *at = text, *end;
	unsigned long sum = 0, count, numbers = 0;
	int fd = open(SYSFS "mapped", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, text, sizeof(text) - 1);

	close(fd);
	if (got <= 0)
		return -1;
	text[got] = '\0';
	for (count = strtoul(at, &end, 10); end != at;
	     count = strtoul(at, &end, 10)) {
		numbers++;
		sum += count;
		at = end;
	}
	return numbers == number ? (long)sum : -1;
}

TEST_F(zero, the_administrator_sees_what_is_mapped)
{
	EXPECT_GE(all_mapped(), PAGES);
}

/* A pipe has references to zero pages while their mapping is removed. */
static bool held_by_a_pipe(char *area)
{
	/* As many as a pipe holds. */
	struct iovec vector = { area, 16 * page_size };
	char page[1 << 12];
	bool zero = true;
	ssize_t got, i;
	int ends[2];

	if (pipe(ends))
		return false;
	if (vmsplice(ends[1], &vector, 1, 0) != (ssize_t)vector.iov_len)
		zero = false;
	madvise(area, 16 * page_size, MADV_DONTNEED);
	close(ends[1]);
	while ((got = read(ends[0], page, sizeof(page))) > 0)
		for (i = 0; i < got; i++)
			zero = zero && !page[i];
	close(ends[0]);
	return zero;
}

/*
 * Maps, reads, forks and unmaps. A page that is written to makes fork() copy page
 * tables, with the zero pages in them.
 */
static bool use_zero_pages(int who)
{
	bool good = true;
	int round, status;

	for (round = 0; good && round < ROUNDS; round++) {
		char *area = map_area(FEW);
		pid_t child;

		area[0] = 1;
		good = is_zero(area + page_size, FEW - 1) &&
		       misplaced(area + page_size, 4) == 0;
		child = fork();
		if (!child) {
			good = is_zero(area + page_size, FEW - 1);
			if (round % 2)
				munmap(area, FEW / 2 * page_size);
			_exit(!good);
		}
		if (who % 2)
			good = good && held_by_a_pipe(area + page_size);
		else
			area[(FEW - 1) * page_size] = 2;
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			good = false;
		munmap(area, FEW * page_size);
	}
	return good;
}

/*
 * The flags in /proc/kpageflags without KPF_REFERENCED, which each access changes.
 */
static uint64_t lasting_flags(unsigned long frame)
{
	uint64_t flags = word_of_frame("/proc/kpageflags", frame);

	return flags == UINT64_MAX ? flags : flags & ~(1ULL << 2);
}

/*
 * Zero pages are mapped without being counted: after many processes their counts,
 * and how often they are mapped, are the same as before.
 */
TEST_F(zero, many_processes_at_once_leave_no_trace)
{
	uint64_t counts[PAGES], flags[PAGES];
	long before = all_mapped();
	pid_t children[PROCESSES];
	int i, begin[2], status;
	char nothing;

	ASSERT_LE(number, PAGES);
	for (i = 0; i < number; i++) {
		counts[i] = word_of_frame("/proc/kpagecount", first + i);
		flags[i] = lasting_flags(first + i);
		ASSERT_NE(counts[i], UINT64_MAX);
		ASSERT_NE(flags[i], UINT64_MAX);
	}
	ASSERT_GE(before, PAGES);
	ASSERT_EQ(pipe(begin), 0);
	for (i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		ASSERT_GE(children[i], 0);
		if (!children[i]) {
			close(begin[1]);
			/* All begin at once, when the last one has been forked. */
			if (read(begin[0], &nothing, 1))
				_exit(2);
			_exit(!use_zero_pages(i));
		}
	}
	close(begin[1]);
	close(begin[0]);
	for (i = 0; i < PROCESSES; i++) {
		ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
		EXPECT_EQ(status, 0);
	}
	EXPECT_EQ(all_mapped(), before);
	for (i = 0; i < number; i++) {
		EXPECT_EQ(word_of_frame("/proc/kpagecount", first + i),
			  counts[i]);
		EXPECT_EQ(lasting_flags(first + i), flags[i]);
	}
	EXPECT_TRUE(is_zero(self->area, PAGES));
	EXPECT_EQ(misplaced(self->area, PAGES), 0);
}

/*
 * The zero pages of a task that may use some colors only; pages mapped before stay.
 */
TEST_F(zero, sets_choose_among_their_own)
{
	char colors[64], *area;
	unsigned long last = 0;
	size_t i;
	int fd = open(COLORS, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || number_in("/sys/kernel/mm/page_color/enabled") != 1 ||
	    read(fd, colors, sizeof(colors) - 1) <= 0)
		SKIP(return, "no page coloring, or it is not enabled");
	close(fd);
	if (sscanf(colors, "0-%lu", &last) != 1 || number < 4)
		SKIP(return, "few zero pages, or colors");
	/* The first two zero pages, as colors. */
	snprintf(colors, sizeof(colors), "%lu,%lu", first % (last + 1),
		 (first + 1) % (last + 1));
	if (put(COLORS, colors))
		SKIP(return, "colors cannot be set");
	EXPECT_EQ(misplaced(self->area, PAGES), 0);
	area = map_area(PAGES);
	EXPECT_TRUE(is_zero(area, PAGES));
	for (i = 0; i < PAGES; i++)
		EXPECT_LT(frame_of(area + i * page_size) - first, 2);
	snprintf(colors, sizeof(colors), "0-%lu", last);
	EXPECT_EQ(put(COLORS, colors), 0);
}

TEST_HARNESS_MAIN
