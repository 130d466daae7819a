// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * How nodes are divided into merge domains, beside a twin that keeps sets of nodes
 * and looks at every pair each time: `domains MACHINES [SEED]`. The distances of
 * machines are random, or those of rings and sockets, which are often equal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "partition.h"

#define MOST 12

struct machine {
	unsigned int nodes;
	uint8_t distance[MOST][MOST];
};

static unsigned int below(struct numbers *numbers, unsigned int number)
{
	return (unsigned int)numbers_below(numbers, number);
}

static struct machine draw(struct numbers *numbers)
{
	struct machine machine = { .nodes = 1 + below(numbers, MOST) };
	unsigned int kind = below(numbers, 3), spread = 1 + below(numbers, 245);
	unsigned int hop = 1 + below(numbers, 20), nodes = machine.nodes;

	for (unsigned int i = 0; i < nodes; i++) {
		machine.distance[i][i] = 10;
		for (unsigned int j = 0; j < i; j++) {
			unsigned int apart = i - j < nodes - i + j ? i - j : nodes - i + j;
			uint8_t distance = kind == 0 ? 11 + below(numbers, spread) :
					   kind == 1 ? 10 + hop * apart :
						       (i % 4 == j % 4 ? 12 : 21);

			machine.distance[i][j] = machine.distance[j][i] = distance;
		}
	}
	return machine;
}

/* The largest distance between nodes of two sets, which are given as bits. */
static unsigned int farthest(const struct machine *machine, unsigned int a, unsigned int b)
{
	unsigned int most = 0;

	for (unsigned int i = 0; i < machine->nodes; i++)
		for (unsigned int j = 0; j < machine->nodes; j++)
			if (a >> i & 1 && b >> j & 1 && machine->distance[i][j] > most)
				most = machine->distance[i][j];
	return most;
}

static void twin(const struct machine *machine, unsigned int limit, unsigned short *lowest)
{
	unsigned int sets[MOST];

	/*
	 * A set is at the index of its lowest node; the other entries are empty.
	 */
	for (unsigned int i = 0; i < machine->nodes; i++)
		sets[i] = 1U << i;
	for (;;) {
		unsigned int best = ~0U, to = 0, from = 0;

		for (unsigned int i = 0; i < machine->nodes; i++)
			for (unsigned int j = i + 1; j < machine->nodes; j++) {
				unsigned int apart = farthest(machine, sets[i], sets[j]);

				if (sets[i] && sets[j] && apart <= limit && apart < best) {
					best = apart;
					to = i;
					from = j;
				}
			}
		if (best == ~0U)
			break;
		sets[to] |= sets[from];
		sets[from] = 0;
	}
	for (unsigned int i = 0; i < machine->nodes; i++)
		for (unsigned int j = 0; j < machine->nodes; j++)
			if (sets[j] >> i & 1)
				lowest[i] = (unsigned short)j;
}

static void divide(const struct machine *machine, unsigned int limit, unsigned short *lowest)
{
	uint8_t distance[MOST * MOST];

	for (unsigned int i = 0; i < machine->nodes; i++)
		memcpy(distance + i * machine->nodes, machine->distance[i], machine->nodes);
	ksm_partition(distance, machine->nodes, limit, lowest);
}

static void fail(const struct machine *machine, unsigned int limit, const char *what)
{
	printf("%s, with limit %u between these %u nodes:\n", what, limit, machine->nodes);
	for (unsigned int i = 0; i < machine->nodes; i++)
		for (unsigned int j = 0; j < machine->nodes; j++)
			printf("%4u%s", machine->distance[i][j], j + 1 < machine->nodes ? "" : "\n");
	exit(1);
}

static void check_limit(const struct machine *machine, unsigned int limit,
			unsigned short *before)
{
	unsigned short lowest[MOST], expected[MOST];

	divide(machine, limit, lowest);
	twin(machine, limit, expected);
	if (memcmp(lowest, expected, machine->nodes * sizeof(*lowest)))
		fail(machine, limit, "the twin divides otherwise");
	for (unsigned int i = 0; i < machine->nodes; i++)
		for (unsigned int j = 0; j < machine->nodes; j++) {
			if (lowest[i] == lowest[j] && machine->distance[i][j] > limit)
				fail(machine, limit, "a domain is too large");
			if (before[i] == before[j] && lowest[i] != lowest[j])
				fail(machine, limit, "a larger limit divides a domain");
		}
	memcpy(before, lowest, sizeof(lowest));
}

static unsigned int near(const struct machine *machine)
{
	uint8_t distance[MOST * MOST];

	for (unsigned int i = 0; i < machine->nodes; i++)
		memcpy(distance + i * machine->nodes, machine->distance[i], machine->nodes);
	return ksm_near(distance, machine->nodes, 10);
}

/*
 * Checks ksm_near(): the largest ratio between a distance and the next larger one.
 */
static void check_near(const struct machine *machine)
{
	unsigned int best = 10, found = near(machine);
	double gap = 1;

	for (unsigned int low = 10; low < 256; low++) {
		unsigned int next = 256, there = 0;

		for (unsigned int i = 0; i < machine->nodes; i++)
			for (unsigned int j = 0; j < machine->nodes; j++) {
				unsigned int distance = machine->distance[i][j];

				there |= distance == low;
				if (distance > low && distance < next)
					next = distance;
			}
		if (there && next < 256 && (double)next / low > gap) {
			gap = (double)next / low;
			best = low;
		}
	}
	if (found != best)
		fail(machine, found, "near is another distance");
}

int main(int argc, char **argv)
{
	unsigned long machines = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	if (!machines || argc > 3) {
		fprintf(stderr, "usage: %s MACHINES [SEED]\n", argv[0]);
		return 2;
	}
	for (unsigned long i = 0; i < machines; i++) {
		struct numbers numbers = { .state = seed + i };
		struct machine machine = draw(&numbers);
		unsigned short before[MOST];

		for (unsigned short node = 0; node < MOST; node++)
			before[node] = node;
		for (unsigned int limit = 10; limit < 256; limit += 1 + below(&numbers, 8))
			check_limit(&machine, limit, before);
		check_near(&machine);
	}
	printf("%lu machines, seeds from %lu: no difference\n", machines, seed);
	return 0;
}
