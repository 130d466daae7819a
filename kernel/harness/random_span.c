// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Spans of all kinds: most small, so that they fill up and colors repeat; some
 * large enough for four levels of summaries.
 */
#include "random_span.h"

static const unsigned long primes[] = {
	2, 3, 5, 7, 31, 61, 127, 257, 509, 1021, 2053, 8191, 65537, 999983,
};

/* Up to @most, at any scale alike. */
static unsigned long of_any_size(struct numbers *numbers, unsigned int bits)
{
	return 1 + numbers_below(numbers,
				 1UL << numbers_below(numbers, bits + 1));
}

static unsigned long random_colors(struct numbers *numbers,
				   unsigned long frames)
{
	switch (numbers_below(numbers, 8)) {
	case 0:
		return 1;
	case 1:
	case 2:
		return 1UL << numbers_below(numbers, 21);
	case 3:
		return (1 + 2 * numbers_below(numbers, 64))
		       << numbers_below(numbers, 14);
	case 4:
		return primes[numbers_below(numbers, sizeof(primes) /
							     sizeof(*primes))];
	case 5:
		/* As many as frames, or almost. */
		return frames + numbers_below(numbers, 3);
	case 6:
		/* More, up to all there can be. */
		return frames + of_any_size(numbers, 31);
	default:
		return of_any_size(numbers, 16);
	}
}

struct page_color_span random_span(struct numbers *numbers)
{
	struct page_color_span span = {
		.lists = 1 + (unsigned int)numbers_below(numbers, 3),
		.orders = 11,
	};

	if (numbers_one_in(numbers, 4))
		span.orders = 1 + (unsigned int)numbers_below(numbers, 14);
	switch (numbers_below(numbers, 16)) {
	case 0:
		span.frames = of_any_size(numbers, 20);
		break;
	case 1:
		span.frames = 1UL << numbers_below(numbers, 20);
		break;
	default:
		span.frames = of_any_size(numbers, 13);
	}
	span.colors = random_colors(numbers, span.frames);
	switch (numbers_below(numbers, 4)) {
	case 0:
		span.start = 0;
		break;
	case 1:
		span.start = of_any_size(numbers, 40)
			     << (span.orders - 1);
		break;
	default:
		span.start = of_any_size(numbers, 40);
	}
	return span;
}
