// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A machine day after day. Each evening one program has its pages alone, and another one
 * asks for huge pages. Prints a line per day; day 0 is the machine that has just booted.
 */
#define _GNU_SOURCE
#include "coloring.h"
#include "days_files.h"
#include "days_stream.h"
#include "free_blocks.h"

/* Memory for huge pages, in tenths of the free memory. */
#define TENTHS 9

/* The results of a separate process, shared with it. */
static struct evening {
	double share;   /* of pages in conflict */
	double seconds; /* of touching all pages, by the guest's clock */
	size_t faults, huge;
} *evening;

static size_t colors, ways, pages;
static uint32_t *by_color;

static void in_a_process(void (*work)(void))
{
	pid_t child = lab_fork();

	if (!child) {
		lab_run_on(SUBJECT_CPU);
		work();
		_exit(0);
	}
	lab_wait(child, "a child");
}

/* All pages of a color conflict if there are more than the cache has ways. */
static void program(void)
{
	char *memory = small_pages(pages);
	static uint64_t frames[512];
	size_t conflicts = 0;
	double start = lab_seconds();

	touch(memory, pages);
	evening->seconds = lab_seconds() - start;
	memset(by_color, 0, colors * sizeof(*by_color));
	for (size_t at = 0; at < pages; at += 512) {
		size_t part = pages - at < 512 ? pages - at : 512;

		frames_of(memory + at * PAGE, part, frames);
		frames_count(frames, part, by_color, colors);
	}
	for (size_t color = 0; color < colors; color++)
		conflicts += by_color[color] > ways ? by_color[color] : 0;
	evening->share = (double)conflicts / pages;
}

static void huge_pages(void)
{
	size_t free_bytes = lab_read_named("/proc/meminfo", "MemFree:") * 1024;
	size_t faults = free_bytes / 10 * TENTHS / HUGE_PAGE;
	char *memory = any_pages(faults * (HUGE_PAGE / PAGE));

	if (madvise(memory, faults * HUGE_PAGE, MADV_HUGEPAGE))
		lab_fail("ask for huge pages");
	for (size_t i = 0; i < faults; i++)
		touch_page(memory, i * (HUGE_PAGE / PAGE));
	evening->faults = faults;
	evening->huge = huge_pages_mapped() / (HUGE_PAGE / PAGE);
}

/* Share of faults that get a huge page, with the kernel's setting `defrag`. */
static double thp_success(const char *defrag)
{
	/* Machines with less than 512 MiB boot with both switched off. */
	lab_write(THP "enabled", "madvise");
	lab_write(THP "defrag", defrag);
	in_a_process(huge_pages);
	return evening->faults ? (double)evening->huge / evening->faults : 0;
}

static void look(unsigned int day, bool is_last)
{
	double whole = free_in_largest();
	char more[64] = "";

	in_a_process(program);
	double at_once = thp_success("never");

	if (is_last)
		snprintf(more, sizeof(more), ",\"thp_compacting\":%.6f", thp_success("madvise"));
	lab_result("{\"day\":%u,\"conflict_share\":%.6f,\"touch_ns\":%.1f"
		   ",\"free_in_largest\":%.6f,\"thp_success\":%.6f%s}",
		   day, evening->share, evening->seconds * 1e9 / pages, whole, at_once, more);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	struct lab_random random = { lab_number("seed") };
	unsigned int days = lab_number("days");
	const char *kind = lab_text("kind");
	bool compact = lab_number("compact");
	struct days_files files = { 0 };

	coloring_check();
	colors = lab_number("colors");
	ways = lab_number("ways");
	pages = lab_number("pages");
	evening = lab_map_shared(sizeof(*evening));
	by_color = lab_map_shared(colors * sizeof(*by_color));
	look(0, !days);
	for (unsigned int today = 1; today <= days; today++) {
		lab_note("day %u of %u", today, days);
		if (!strcmp(kind, "mixed"))
			day(&random, 1);
		else if (!strcmp(kind, "cache-heavy"))
			day_of_files(&files, &random);
		else if (!strcmp(kind, "stream"))
			day_of_stream(&random, colors * ways);
		else
			lab_fail("kind=%s: no day is like this", kind);
		if (compact)
			lab_write("/proc/sys/vm/compact_memory", "1");
		look(today, today == days);
	}
	lab_done();
}
