/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The source of a test's numbers: a repeatable random generator, or a fuzzer.
 */
#ifndef HARNESS_NUMBERS_H
#define HARNESS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct numbers {
	uint64_t state;
	/* Bytes of the fuzzer; if NULL, numbers are random. */
	const uint8_t *bytes;
	size_t left;
};

/* splitmix64 */
static inline uint64_t numbers_chance(struct numbers *numbers)
{
	uint64_t z = numbers->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/*
 * A number below @below, which is not 0. Without bytes left a fuzzer gives 0.
 */
static inline uint64_t numbers_below(struct numbers *numbers, uint64_t below)
{
	uint64_t number = 0;

	if (!numbers->bytes)
		return numbers_chance(numbers) % below;
	for (uint64_t room = below - 1; room && numbers->left; room >>= 8) {
		number = number << 8 | *numbers->bytes++;
		numbers->left--;
	}
	return number % below;
}

static inline bool numbers_one_in(struct numbers *numbers, uint64_t n)
{
	return numbers_below(numbers, n) == 0;
}

#endif
