// SPDX-License-Identifier: MIT OR Apache-2.0
/* Random operations on words of bits and their twin: `random OPERATIONS [SEED]`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "side_by_side.h"

/*
 * Operations on one memory: enough to fill it, and few enough to see many memories.
 */
#define OPERATIONS 20000

static uint64_t number(const char *text)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end) {
		fprintf(stderr, "'%s' is no number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	uint64_t operations, seed, done = 0, memories = 0;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s OPERATIONS [SEED]\n", argv[0]);
		return 2;
	}
	operations = number(argv[1]);
	seed = argc > 2 ? number(argv[2]) : 1;
	while (done < operations) {
		struct numbers numbers = { .state = seed + memories++ };

		done += side_by_side(&numbers, OPERATIONS);
	}
	printf("%" PRIu64 " operations on %" PRIu64 " memories, seeds from %" PRIu64
	       ": no difference\n", done, memories, seed);
	return 0;
}
