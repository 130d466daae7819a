/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory placed by cache color, from C.
 *
 *	cargo build --release -p huepage-c
 *	cc -I crates/huepage-c/include crates/huepage-c/examples/place.c \
 *		-L target/release -lhuepage -Wl,-rpath,target/release -o place
 */
#include <huepage.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBERS 100000

static void check(int code)
{
	if (code) {
		fprintf(stderr, "place: %s (%d)\n", huepage_message(), code);
		exit(code);
	}
}

int main(void)
{
	huepage *cache;
	void *memory;

	check(huepage_open(NULL, &cache));
	check(huepage_alloc(cache, NUMBERS * sizeof(double), &memory));

	double *numbers = memory;
	double sum = 0;

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = i + 1;
	for (int i = 0; i < NUMBERS; i++)
		sum += numbers[i];
	printf("sum: %.0f\n", sum);

	int32_t colors[4];
	size_t pages;
	huepage_report report;

	check(huepage_colors_of(cache, memory, NUMBERS * sizeof(double), colors, 4, &pages));
	printf("%u colors by %s\n", huepage_colors(cache), huepage_reason(cache));
	printf("%zu pages, of colors %d %d %d %d …\n", pages, colors[0], colors[1],
	       colors[2], colors[3]);
	check(huepage_reverify(cache, memory, &report));
	printf("reverified: %zu in place, %zu put right\n", report.already, report.placed);
	check(huepage_free(cache, memory));
	huepage_close(cache);
	return 0;
}
