// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Reads of working sets below and above the size of L2, a matrix product and a
 * Fourier transform, in memory of four placements: as the kernel allocates pages
 * after boot (fresh) and after aging (aged), contiguous frames, random frames.
 * Memory that has been measured once is not freed, so that no repeat gets the
 * frames of the one before. For memory that the kernel allocates, each is a process
 * that has no other memory: the kernel may place pages by what their process has
 * already.
 */
#define _GNU_SOURCE
#include "coloring.h"
#include "placement.h"

#include <math.h>
#include <unistd.h>

#define WARM 100
#define LINE 64

enum placement { FRESH, AGED, CONTIGUOUS, RANDOM };

static const char *const names[] = { "fresh", "aged", "contiguous", "random" };
static struct pool pools[4];
static uint64_t cache_pages, ways;

static char *pages_of(enum placement placement, size_t pages)
{
	return placement <= AGED ? pages_from_kernel(pages) : pages_from(&pools[placement], pages);
}

/* Pages that share a color with more pages than there are ways. */
static uint64_t pages_in_conflict(const char *memory, uint64_t pages)
{
	uint64_t colors = cache_pages / ways, count = 0;
	uint32_t *of_color = calloc(colors, sizeof(*of_color));

	if (!of_color)
		lab_fail("memory for %lu colors", colors);
	for (uint64_t i = 0; i < pages; i++)
		of_color[frame_of(memory + i * PAGE) % colors]++;
	for (uint64_t color = 0; color < colors; color++)
		if (of_color[color] > ways)
			count += of_color[color];
	free(of_color);
	return count;
}

static inline __attribute__((always_inline)) void read_lines(const char *memory, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += LINE)
		(void)*(const volatile uint64_t *)(memory + i);
}

static void run_reads(enum placement placement, uint64_t eighths)
{
	uint64_t pages = cache_pages * eighths / 8;
	char *memory = pages_of(placement, pages);

	/* The second pass finds the order of use that every later pass finds. */
	REGION_BEGIN(WARM);
	read_lines(memory, pages * PAGE);
	read_lines(memory, pages * PAGE);
	REGION_END(WARM);
	REGION_BEGIN(1);
	read_lines(memory, pages * PAGE);
	REGION_END(1);
	lab_result("{\"work\":\"read\",\"placement\":\"%s\",\"eighths\":%lu,\"lines\":%lu,"
		   "\"warm_reads\":%lu,\"lines_in_conflict\":%lu}",
		   names[placement], eighths, pages * PAGE / LINE, 2 * pages * PAGE / LINE,
		   pages_in_conflict(memory, pages) * (PAGE / LINE));
}

/* Rows of c = a times b, where b is stored by columns. */
static __attribute__((noinline)) void multiply(const double *a, const double *b, double *c,
					       uint64_t n, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		for (uint64_t j = 0; j < n; j++) {
			double sum = 0;

			for (uint64_t k = 0; k < n; k++)
				sum += a[i * n + k] * b[j * n + k];
			c[i * n + j] = sum;
		}
}

static void run_matrix(enum placement placement, uint64_t n, uint64_t rows)
{
	uint64_t pages = (n * n * sizeof(double) + PAGE - 1) / PAGE;
	char *memory = pages_of(placement, 3 * pages);
	double *a = (double *)memory, *b = (double *)(memory + pages * PAGE);
	double *c = (double *)(memory + 2 * pages * PAGE);

	if (!rows || rows >= n)
		lab_fail("%lu rows of %lu: one more is needed to warm up", rows, n);
	for (uint64_t i = 0; i < n; i++)
		for (uint64_t k = 0; k < n; k++) {
			a[i * n + k] = i + 1;
			b[i * n + k] = k;
		}
	REGION_BEGIN(WARM);
	multiply(a, b, c, n, 0, 1);
	REGION_END(WARM);
	REGION_BEGIN(2);
	multiply(a, b, c, n, 1, rows + 1);
	REGION_END(2);
	for (uint64_t i = 0; i <= rows; i++)
		for (uint64_t j = 0; j < n; j++)
			if (c[i * n + j] != (i + 1) * (n * (n - 1) / 2))
				lab_fail("the matrix product is wrong at %lu, %lu", i, j);
	lab_result("{\"work\":\"matrix\",\"placement\":\"%s\",\"size\":%lu,\"units\":%lu}",
		   names[placement], n, rows);
}

/* In place, inputs in bit-reversed order; roots are exp(-2 pi i k / n), k < n/2. */
static __attribute__((noinline)) void transform(double *x, const double *roots, uint64_t n)
{
	for (uint64_t half = 1; half < n; half *= 2)
		for (uint64_t start = 0; start < n; start += 2 * half)
			for (uint64_t k = 0; k < half; k++) {
				double *even = x + 2 * (start + k), *odd = even + 2 * half;
				const double *root = roots + 2 * k * (n / 2 / half);
				double re = odd[0] * root[0] - odd[1] * root[1];
				double im = odd[0] * root[1] + odd[1] * root[0];

				odd[0] = even[0] - re;
				odd[1] = even[1] - im;
				even[0] += re;
				even[1] += im;
			}
}

/* All zero but element 1: the transform is the roots themselves. */
static void set_impulse(double *x, uint64_t n)
{
	memset(x, 0, 2 * n * sizeof(double));
	/* 1 with its bits reversed. */
	x[2 * (n / 2)] = 1;
}

static void run_transform(enum placement placement, uint64_t n)
{
	uint64_t pages = (2 * n * sizeof(double) + PAGE - 1) / PAGE;
	uint64_t root_pages = (n * sizeof(double) + PAGE - 1) / PAGE;
	char *memory = pages_of(placement, pages + root_pages);
	double *x = (double *)memory, *roots = (double *)(memory + pages * PAGE);

	if (n < 4 || n & (n - 1))
		lab_fail("fft_points: %lu is no power of two", n);
	for (uint64_t k = 0; k < n / 2; k++) {
		roots[2 * k] = cos(2 * M_PI * k / n);
		roots[2 * k + 1] = -sin(2 * M_PI * k / n);
	}
	set_impulse(x, n);
	/* Touches all that the transform uses, as the work before it would have. */
	REGION_BEGIN(WARM);
	read_lines(memory, (pages + root_pages) * PAGE);
	REGION_END(WARM);
	REGION_BEGIN(3);
	transform(x, roots, n);
	REGION_END(3);
	for (uint64_t k = 0; k < n / 2; k++)
		if (fabs(x[2 * k] - roots[2 * k]) > 1e-9 ||
		    fabs(x[2 * k + 1] - roots[2 * k + 1]) > 1e-9)
			lab_fail("the transform is wrong at %lu", k);
	lab_result("{\"work\":\"fft\",\"placement\":\"%s\",\"size\":%lu,\"units\":1}",
		   names[placement], n);
}

/* In a process that stays, and keeps its pages, if the kernel allocates them. */
static void in_process(void (*run)(enum placement, uint64_t), enum placement placement,
		       uint64_t number)
{
	int ready[2];
	char byte = 0;

	if (placement > AGED) {
		run(placement, number);
		return;
	}
	if (pipe(ready))
		lab_fail("make a pipe");
	pid_t child = lab_fork();

	if (!child) {
		run(placement, number);
		if (write(ready[1], &byte, 1) != 1)
			lab_fail("tell that it is done");
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		lab_fail("a process ended early");
	close(ready[0]);
}

static void run_matrix_rows(enum placement placement, uint64_t n)
{
	run_matrix(placement, n, lab_number("matrix_rows"));
}

/* Calls run for each number of a list with commas. */
static void each(const char *key, void (*run)(enum placement, uint64_t), enum placement placement)
{
	const char *list = lab_text(key);

	while (*list) {
		char *rest;
		uint64_t number = strtoull(list, &rest, 10);

		if (rest == list || !number)
			lab_fail("%s=%s is no list of numbers", key, list);
		in_process(run, placement, number);
		list = rest + (*rest == ',');
	}
}

static void run_all(enum placement placement)
{
	uint64_t repeats = lab_number("repeats"), programs = lab_number("program_repeats");

	lab_note("reads: %s", names[placement]);
	for (uint64_t i = 0; i < repeats; i++)
		each("eighths", run_reads, placement);
	lab_note("programs: %s", names[placement]);
	for (uint64_t i = 0; i < programs; i++) {
		in_process(run_matrix_rows, placement, lab_number("matrix"));
		each("fft_points", run_transform, placement);
	}
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	struct lab_random random = { lab_number("seed") };

	coloring_check();
	cache_pages = lab_number("cache_pages");
	ways = lab_number("ways");
	pools[CONTIGUOUS] = contiguous_pool(lab_number("contiguous_pages"));
	run_all(FRESH);
	age(&random, lab_number("age_pages"), lab_number("age_rounds"));
	run_all(AGED);
	run_all(CONTIGUOUS);
	pools[RANDOM] = random_pool(&random, lab_number("random_pages"));
	run_all(RANDOM);
	lab_done();
}
