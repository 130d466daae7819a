/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loads with pages of several sizes: 2 MiB, 64 KiB, and pages of 4 KiB among them. */
#ifndef HUEPAGE_MIXED_HUGE_H
#define HUEPAGE_MIXED_HUGE_H

#include "files.h"
#include "mixed_memory.h"

#define MTHP THP "hugepages-64kB/"
#define KHUGEPAGED THP "khugepaged/"
#define HUGE (HUGE_PAGE / PAGE)
#define MTHP_PAGES 16

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Whole pages of 2 MiB, as far as `pages` go. */
static inline char *huge_pages(size_t *pages)
{
	*pages = *pages / HUGE * HUGE;
	char *memory = any_pages(*pages);

	if (madvise(memory, *pages * PAGE, MADV_HUGEPAGE))
		lab_fail("ask for huge pages");
	return memory;
}

/* Small pages that faults of larger ones have brought since the machine booted. */
static inline uint64_t mthp_pages(void)
{
	return lab_read_number(MTHP "stats/anon_fault_alloc") * MTHP_PAGES;
}

/* Sets this until the load, which is a child, ends; the first process restores it. */
static inline void thp_set(struct mixed *mixed, const char *path, const char *value)
{
	int error = write_text(path, value);

	if (error)
		mixed_skip(mixed, "%s: %s", path, strerror(error));
}

/*
 * Restores what loads may have changed; a kernel without the file had nothing changed.
 */
static inline void thp_reset(void)
{
	write_text(THP "enabled", "madvise");
	write_text(THP "defrag", "madvise");
	write_text(MTHP "enabled", "never");
	write_text(KHUGEPAGED "scan_sleep_millisecs", "10000");
}

static inline void count_both(struct mixed *mixed, const char *first, size_t first_pages,
			      const char *second, size_t second_pages)
{
	uint32_t process = tally_process(mixed->tally);

	tally_pages(mixed->tally, process, first, first_pages);
	tally_pages(mixed->tally, process, second, second_pages);
}

/* Large pages of so many small ones, and as many small ones, in turn. */
static inline void half_of(struct mixed *mixed, char *large, size_t size)
{
	size_t half = mixed->pages / 2 / size * size;
	char *small = small_pages(mixed->pages - half);

	for (size_t at = 0; at < half; at += size) {
		for (size_t i = 0; i < size; i++)
			touch_page(large, at + i);
		for (size_t i = 0; i < size; i++)
			touch_page(small, at + i);
	}
	for (size_t at = half; at < mixed->pages - half; at++)
		touch_page(small, at);
	count_both(mixed, large, half, small, mixed->pages - half);
}

static inline void load_half_huge(struct mixed *mixed)
{
	char *large = any_pages(mixed->pages / 2);

	thp_set(mixed, THP "enabled", "madvise");
	if (madvise(large, mixed->pages / 2 * PAGE, MADV_HUGEPAGE))
		mixed_skip(mixed, "MADV_HUGEPAGE: %s", strerror(errno));
	half_of(mixed, large, HUGE);
	mixed->tally->huge_pages = huge_pages_mapped();
}

static inline void load_thp_always(struct mixed *mixed)
{
	char *memory = any_pages(mixed->pages);

	thp_set(mixed, THP "enabled", "always");
	touch(memory, mixed->pages);
	count(mixed, memory, mixed->pages);
	mixed->tally->huge_pages = huge_pages_mapped();
}

/* So much is left to the system while a process holds the rest. */
#define LEFT_FREE (16 << 20)

/*
 * Holds memory, and gives back all pages of the lower half of the colors and every
 * second page of the other colors: then there are blocks of 2 MiB in the lower half
 * only.
 */
static inline void hold_pieces(const struct mixed *mixed)
{
	uint32_t colors = mixed->tally->colors;
	size_t most = lab_read_named("/proc/meminfo", "MemTotal:") * 1024 / PAGE, pages = 0;
	char *memory = small_pages(most);

	/* Enabling huge pages raises min_free_kbytes again. */
	lab_write("/proc/sys/vm/min_free_kbytes", "2048");
	while (pages < most && (pages % 256 ||
	       lab_read_named("/proc/meminfo", "MemFree:") * 1024 > LEFT_FREE))
		touch_page(memory, pages++);
	for (size_t i = 0; i < pages; i++) {
		uint64_t frame = frame_of(memory + i * PAGE);
		bool lower = frame % colors < colors / 2;

		if ((lower || (frame ^ frame / colors) & 1) &&
		    madvise(memory + i * PAGE, PAGE, MADV_DONTNEED))
			lab_fail("free a page");
	}
}

/* As thp-always, where blocks of 2 MiB have half of the colors only. */
static inline void load_thp_pieces(struct mixed *mixed)
{
	pid_t holder = lab_fork();

	if (!holder) {
		hold_pieces(mixed);
		raise(SIGSTOP);
		_exit(0);
	}
	wait_stopped(holder);
	load_thp_always(mixed);
	stop_child(holder);
}

/*
 * Small pages of every second color of most of the cache, and then more large pages, of so
 * many small ones, than there are stretches without small pages.
 */
static inline void add_late(struct mixed *mixed, size_t size)
{
	size_t touched = mixed->pages / 3 * 2, kept = 0;
	size_t late = (mixed->pages - touched / 2) / size * size;
	char *small = small_pages(touched), *large = any_pages(late);
	char **at = malloc(touched * sizeof(*at));

	if (!at)
		lab_fail("memory for %zu pages", touched);
	if (madvise(large, late * PAGE, MADV_HUGEPAGE))
		mixed_skip(mixed, "MADV_HUGEPAGE: %s", strerror(errno));
	touch(small, touched);
	for (size_t i = 0; i < touched; i++) {
		char *page = small + i * PAGE;

		if (frame_of(page) % 2)
			at[kept++] = page;
		else if (madvise(page, PAGE, MADV_DONTNEED))
			lab_fail("free a page");
	}
	touch(large, late);
	uint32_t process = tally_process(mixed->tally);

	tally_pages(mixed->tally, process, large, late);
	for (size_t i = 0; i < kept; i++)
		tally_pages(mixed->tally, process, at[i], 1);
	free(at);
}

static inline void load_late_huge(struct mixed *mixed)
{
	thp_set(mixed, THP "enabled", "madvise");
	add_late(mixed, HUGE);
	mixed->tally->huge_pages = huge_pages_mapped();
}

/* Four threads that begin at once, each with huge pages of its own. */
static inline void load_huge_threads(struct mixed *mixed)
{
	size_t part = mixed->pages / 4 / HUGE * HUGE, pages = part * 4;

	thp_set(mixed, THP "enabled", "madvise");
	in_threads(mixed, huge_pages(&pages), part);
	mixed->tally->huge_pages = huge_pages_mapped();
}

static inline void load_mthp(struct mixed *mixed)
{
	thp_set(mixed, MTHP "enabled", "always");
	uint64_t before = mthp_pages();

	half_of(mixed, any_pages(mixed->pages / 2), MTHP_PAGES);
	mixed->tally->huge_pages = mthp_pages() - before;
}

static inline void load_late_mthp(struct mixed *mixed)
{
	thp_set(mixed, THP "enabled", "never");
	thp_set(mixed, MTHP "enabled", "madvise");
	uint64_t before = mthp_pages();

	add_late(mixed, MTHP_PAGES);
	mixed->tally->huge_pages = mthp_pages() - before;
}

/* The first quarter, small pages until then, is made into pages of 2 MiB. */
static inline void load_collapse(struct mixed *mixed)
{
	size_t part = mixed->pages / 4 / HUGE * HUGE, done = 0;
	char *memory = any_pages(mixed->pages);

	thp_set(mixed, THP "enabled", "madvise");
	touch(memory, mixed->pages);
	for (size_t at = 0; at < part; at += HUGE) {
		if (!madvise(memory + at * PAGE, HUGE_PAGE, MADV_COLLAPSE))
			done++;
		else if (errno == EINVAL)
			mixed_skip(mixed, "MADV_COLLAPSE: %s", strerror(errno));
	}
	count(mixed, memory, mixed->pages);
	mixed->tally->huge_pages = done * HUGE;
}

/*
 * Faults of 2 MiB until nine tenths of the free memory are used. A fault that falls
 * back clears less memory, so only the time of faults that get a huge page is reported.
 */
static inline void load_thp_faults(struct mixed *mixed)
{
	size_t free = lab_read_named("/proc/meminfo", "MemFree:") * 1024;
	size_t faults = free / 10 * 9 / HUGE_PAGE;
	char *memory = any_pages(faults * HUGE);
	double seconds = 0;
	size_t huge = 0;

	thp_set(mixed, THP "enabled", "madvise");
	thp_set(mixed, THP "defrag", "madvise");
	if (madvise(memory, faults * HUGE_PAGE, MADV_HUGEPAGE))
		mixed_skip(mixed, "MADV_HUGEPAGE: %s", strerror(errno));
	for (size_t i = 0; i < faults; i++) {
		uint64_t before = lab_read_named("/proc/vmstat", "thp_fault_alloc");
		double start = lab_seconds();

		touch_page(memory, i * HUGE);
		double end = lab_seconds();

		if (lab_read_named("/proc/vmstat", "thp_fault_alloc") > before) {
			seconds += end - start;
			huge++;
		}
	}
	mixed_tell(mixed, ",\"thp_faults\":%zu,\"thp_success\":%.6f,\"thp_ns\":%.0f", faults,
		   (double)huge / faults, huge ? seconds * 1e9 / huge : 0);
}

#endif
