// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * STREAM over arrays of several sizes on a fresh machine, then on the same
 * machine day after day. Prints a line per age, array size and kernel function,
 * in the order in which the regions 1 to 4 follow each other.
 */
#define _GNU_SOURCE
#include "age.h"
#include "frames.h"
#include "stream.h"

#include <stdbool.h>
#include <stdlib.h>

#define HUGE (2 * MIB)
#define FACTOR 3.0

enum { A, B, C, ARRAYS };

/* What is settled before the first array is made. */
static size_t colors;
static uint64_t *frames;    /* of the pages of all arrays */
static uint32_t *by_color;
static char *random_pages;  /* of the control, all arrays are taken from it */

static struct size {
	char fill[16]; /* as it is called */
	size_t pages;  /* of one array */
} sizes[32];
static size_t size_count, largest;

/* FILL:PAGES,FILL:PAGES,… */
static void read_sizes(const char *text)
{
	while (*text) {
		struct size *size = sizes + size_count++;
		int used = 0;

		if (size_count > sizeof(sizes) / sizeof(*sizes))
			lab_fail("more than %zu array sizes", size_count - 1);
		if (sscanf(text, "%15[0-9.]:%zu%n", size->fill, &size->pages, &used) != 2 ||
		    !size->pages)
			lab_fail("'%s' is no size of arrays", text);
		if (size->pages > largest)
			largest = size->pages;
		text += used;
		text += *text == ',';
	}
}

/*
 * The control: pages picked at random among nearly all frames of the machine.
 * A file in memory owns the frames; the arrays map single pages of it.
 */
static void make_random_pages(struct lab_random *random)
{
	size_t wanted = ARRAYS * largest;
	size_t pool = age_free_pages();
	/*
	 * The kernel keeps some pages for itself; the pool needs tables, and every
	 * page of the arrays a mapping of its own, of about 300 bytes.
	 */
	size_t reserve = 4 * MIB / PAGE + pool / 16 + wanted * 512 / PAGE;
	int file = memfd_create("pool", 0);

	if (pool < reserve + wanted)
		lab_fail("%zu free pages are not enough for %zu random ones", pool, wanted);
	pool -= reserve;
	if (file < 0 || fallocate(file, 0, 0, pool * PAGE))
		lab_fail("make a file of %zu pages in memory", pool);
	char *all = mmap(NULL, pool * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	uint32_t *order = lab_map(pool * sizeof(*order));

	if (all == MAP_FAILED)
		lab_fail("map the pool");
	for (size_t i = 0; i < pool; i++)
		(void)*(volatile char *)(all + i * PAGE);
	age_order(random, order, pool);
	lab_write("/proc/sys/vm/max_map_count", "1000000");
	random_pages = lab_map(wanted * PAGE);
	for (size_t i = 0; i < wanted; i++)
		if (mmap(random_pages + i * PAGE, PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, file, order[i] * PAGE) == MAP_FAILED)
			lab_fail("map page %zu of the pool", i);

	/* How many colors have 0, 1, 2, … frames in the pool. */
	uint32_t having[64] = { 0 }, most = 0;

	memset(by_color, 0, colors * sizeof(*by_color));
	for (size_t i = 0; i < pool; i += wanted) {
		size_t part = pool - i < wanted ? pool - i : wanted;

		frames_of(all + i * PAGE, part, frames);
		frames_count(frames, part, by_color, colors);
	}
	for (size_t i = 0; i < colors; i++) {
		if (by_color[i] >= 64)
			lab_fail("a color has %u frames", by_color[i]);
		having[by_color[i]]++;
		if (by_color[i] > most)
			most = by_color[i];
	}
	printf("LAB {\"pool\":[");
	for (uint32_t i = 0; i <= most; i++)
		printf("%s%u", i ? "," : "", having[i]);
	printf("]}\n");
	munmap(order, pool * sizeof(*order));
	munmap(all, pool * PAGE);
	close(file);
}

/* Free blocks by order, all zones. */
static void print_free_blocks(unsigned int age)
{
	unsigned long sum[16] = { 0 };
	char line[512];
	int orders = 0;
	FILE *file = fopen("/proc/buddyinfo", "r");

	if (!file)
		lab_fail("open /proc/buddyinfo");
	while (fgets(line, sizeof(line), file)) {
		int at = 0, used;
		unsigned long blocks;

		orders = 0;
		if (sscanf(line, "Node %*d, zone %*s%n", &at) < 0 || !at)
			lab_fail("cannot read '%s' of /proc/buddyinfo", line);
		while (orders < 16 && sscanf(line + at, "%lu%n", &blocks, &used) == 1) {
			sum[orders++] += blocks;
			at += used;
		}
	}
	fclose(file);
	printf("LAB {\"age\":%u,\"free_blocks\":[", age);
	for (int i = 0; i < orders; i++)
		printf("%s%lu", i ? "," : "", sum[i]);
	printf("]}\n");
}

static size_t anonymous_huge_bytes(void)
{
	char line[128];
	unsigned long kib = 0;
	FILE *file = fopen("/proc/self/smaps_rollup", "r");

	if (!file)
		lab_fail("open /proc/self/smaps_rollup");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "AnonHugePages: %lu", &kib) == 1)
			break;
	fclose(file);
	return kib << 10;
}

/* Lines that share their color with another page's among the arrays of `mask`. */
static size_t lines_in_conflict(size_t pages, unsigned int mask)
{
	size_t lines = 0;

	memset(by_color, 0, colors * sizeof(*by_color));
	for (int n = 0; n < ARRAYS; n++)
		if (mask & 1U << n)
			frames_count(frames + n * pages, pages, by_color, colors);
	for (size_t i = 0; i < colors; i++)
		if (by_color[i] > 1)
			lines += by_color[i] * (PAGE / LINE);
	return lines;
}

static void check(const struct line *array, size_t lines, double value, char name)
{
	for (size_t i = 0; i < lines; i++)
		if (array[i].part[i % 4][i % 2] != value)
			lab_fail("%c holds %g at line %zu, not %g", name,
				 array[i].part[i % 4][i % 2], i, value);
}

static void stream(unsigned int age, const struct size *size, bool huge)
{
	static const struct {
		const char *name;
		unsigned int arrays;
	} of[] = {
		{ "copy", 1 << A | 1 << C },
		{ "scale", 1 << C | 1 << B },
		{ "add", 1 << A | 1 << B | 1 << C },
		{ "triad", 1 << A | 1 << B | 1 << C },
	};
	size_t pages = size->pages, lines = pages * PAGE / LINE;
	size_t bytes = ARRAYS * pages * PAGE;
	char *mapped = NULL, *memory = random_pages;

	if (!memory) {
		mapped = lab_map(bytes + HUGE);
		memory = (char *)(((uintptr_t)mapped + HUGE - 1) & -HUGE);
		if (madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
			lab_fail("choose the size of pages");
	}
	struct line *a = (struct line *)memory;
	struct line *b = a + lines, *c = b + lines;

	for (size_t i = 0; i < lines; i++) {
		line_store(a + i, (struct line){ { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } } });
		line_store(b + i, (struct line){ { { 2, 2 }, { 2, 2 }, { 2, 2 }, { 2, 2 } } });
		line_store(c + i, (struct line){ { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } });
	}
	frames_of(memory, ARRAYS * pages, frames);
	size_t huge_bytes = anonymous_huge_bytes();

#define PASS(id, touch, work)           \
	do {                            \
		REGION_BEGIN(0);        \
		touch;                  \
		REGION_END(0);          \
		REGION_BEGIN(id);       \
		work;                   \
		REGION_END(id);         \
	} while (0)
	PASS(1, stream_touch(c, a, NULL, lines), stream_copy(c, a, lines));
	PASS(2, stream_touch(b, c, NULL, lines), stream_scale(b, c, FACTOR, lines));
	PASS(3, stream_touch(c, a, b, lines), stream_add(c, a, b, lines));
	PASS(4, stream_touch(a, b, c, lines), stream_triad(a, b, c, FACTOR, lines));

	check(b, lines, FACTOR, 'b');
	check(c, lines, 1 + FACTOR, 'c');
	check(a, lines, FACTOR + FACTOR * (1 + FACTOR), 'a');
	for (unsigned int n = 0; n < 4; n++)
		lab_result("{\"age\":%u,\"fill\":%s,\"kernel_fn\":\"%s\",\"lines\":%zu,"
			   "\"lines_in_conflict\":%zu,\"huge_share\":%.4f}",
			   age, size->fill, of[n].name, __builtin_popcount(of[n].arrays) * lines,
			   lines_in_conflict(pages, of[n].arrays),
			   (double)huge_bytes / bytes);
	if (mapped)
		munmap(mapped, bytes + HUGE);
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	struct age age = { .random = { lab_number("seed") } };
	const struct age_dose dose = {
		.pages = lab_number("pages"),
		.rounds = lab_number("rounds"),
		.keep = lab_number("keep"),
		.forked = lab_number("forked"),
		.files = lab_number("files"),
	};
	unsigned int ages = lab_number("ages");
	const char *policy = lab_text("policy");

	if (!strcmp(lab_text("cached"), "disk"))
		age.disk = "/dev/sda";
	colors = lab_number("colors");
	read_sizes(lab_text("sizes"));
	frames = lab_map(ARRAYS * largest * sizeof(*frames));
	by_color = lab_map(colors * sizeof(*by_color));
	memset(frames, 0, ARRAYS * largest * sizeof(*frames));
	memset(by_color, 0, colors * sizeof(*by_color));
	if (!strcmp(policy, "thp")) {
		/* Machines with less than 512 MiB boot with both switched off. */
		lab_write("/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
		lab_write("/sys/kernel/mm/transparent_hugepage/defrag", "madvise");
	}
	if (!strcmp(policy, "random"))
		make_random_pages(&age.random);
	for (unsigned int day = 0; day <= ages; day++) {
		if (day)
			age_day(&age, &dose);
		print_free_blocks(day);
		for (size_t size = 0; size < size_count; size++) {
			lab_note("age %u of %u, fill %s", day, ages, sizes[size].fill);
			stream(day, sizes + size, !strcmp(policy, "thp"));
		}
	}
	lab_done();
}
