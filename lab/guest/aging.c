// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * STREAM over arrays of several sizes on a fresh machine, then on the same
 * machine day after day. Prints a line per age, array size and kernel function,
 * in the order in which the regions 1 to 4 follow each other.
 */
#define _GNU_SOURCE
#include "coloring.h"
#include "random_pages.h"
#include "work.h"

#include <stdlib.h>

static size_t colors;
static uint32_t *by_color;

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

/* Lines that share their color with another page's among the arrays of `mask`. */
static size_t lines_in_conflict(const struct work *work, unsigned int mask)
{
	size_t lines = 0;

	memset(by_color, 0, colors * sizeof(*by_color));
	for (int n = 0; n < ARRAYS; n++)
		if (mask & 1U << n)
			frames_count(work->frames + n * work->pages, work->pages, by_color, colors);
	for (size_t i = 0; i < colors; i++)
		if (by_color[i] > 1)
			lines += by_color[i] * (PAGE / LINE);
	return lines;
}

static void stream(struct work *work, unsigned int age, const struct size *size)
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
	size_t lines = size->pages * PAGE / LINE;

	work->pages = size->pages;
	work_do(work);
	for (unsigned int n = 0; n < 4; n++)
		lab_result("{\"age\":%u,\"fill\":%s,\"kernel_fn\":\"%s\",\"lines\":%zu,"
			   "\"lines_in_conflict\":%zu,\"huge_share\":%.4f,\"moved\":%zu}",
			   age, size->fill, of[n].name, __builtin_popcount(of[n].arrays) * lines,
			   lines_in_conflict(work, of[n].arrays),
			   (double)work->told->huge_bytes / (ARRAYS * size->pages * PAGE),
			   work->told->moved);
}

static void stream_sizes(struct work *work, unsigned int age, unsigned int ages)
{
	for (size_t size = 0; size < size_count; size++) {
		lab_note("age %u of %u, fill %s", age, ages, sizes[size].fill);
		stream(work, age, sizes + size);
	}
}

/*
 * In a process that has no other memory: pages that stay from a day of aging belong
 * to others, and the kernel may place pages by what their process has already.
 */
static void stream_alone(struct work *work, unsigned int age, unsigned int ages)
{
	fflush(stdout);
	pid_t child = lab_fork();

	if (!child) {
		stream_sizes(work, age, ages);
		_exit(0);
	}
	lab_wait(child, "the measured process");
	/* Random numbers that the child has drawn are not drawn here. */
	lab_next(&work->random);
}

/* What is done to memory before each job. */
static void prepare(const char *policy)
{
	if (!strcmp(policy, "zonesort"))
		lab_write("/sys/module/lab_sort/parameters/now", "1");
	if (!strcmp(policy, "compact"))
		lab_write("/proc/sys/vm/compact_memory", "1");
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	struct age age = { .random = { lab_number("seed") } };
	const struct age_dose dose = age_dose();
	unsigned int ages = lab_number("ages");
	const char *policy = lab_text("policy");

	coloring_check();
	if (!strcmp(lab_text("cached"), "disk"))
		age.disk = "/dev/sda";
	colors = lab_number("colors");
	read_sizes(lab_text("sizes"));
	by_color = lab_map(colors * sizeof(*by_color));
	memset(by_color, 0, colors * sizeof(*by_color));
	struct work work = work_new(lab_text("touch"), largest, lab_number("seed"));

	if (!strcmp(policy, "thp")) {
		/* Machines with less than 512 MiB boot with both switched off. */
		lab_write("/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
		lab_write("/sys/kernel/mm/transparent_hugepage/defrag", "madvise");
		work.huge = true;
	}
	if (!strcmp(policy, "random"))
		work.memory = random_pages_map(&age.random, ARRAYS * largest, work.frames,
					       by_color, colors);
	for (unsigned int day = 0; day <= ages; day++) {
		if (day)
			age_days(&age, &dose, 1);
		prepare(policy);
		print_free_blocks(day);
		/* The control has allocated its pages before. */
		if (work.memory)
			stream_sizes(&work, day, ages);
		else
			stream_alone(&work, day, ages);
	}
	lab_done();
}
