// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Compares designs of page coloring: conflicts under mixed loads, supply of huge
 * pages, what is done under the zone's lock, and memory.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loads.h"

static const struct design *const designs[] = {
	&design_stock,	   &design_shuffle, &design_cursor,
	&design_occupancy, &design_groups,  &design_words_only,
	&design_words,
};

#define DESIGNS	(sizeof(designs) / sizeof(*designs))
#define DAYS	4
static const unsigned int days[DAYS] = { 0, 1, 3, 10 };
#define LAST_DAY 30

/* 64 MiB of cache before 512 MiB of memory, as in the table of mixed loads. */
#define FRAMES	(1U << 17)
#define COLORS	(1U << 14)

struct outcome {
	/* Worst of all seeds and days, and the mean. */
	struct conflicts worst[64], mean[64];
	double in_largest, huge_supply;
	double locks, steps, outside;
	double loop_locks, loop_steps;
	uint64_t hold, hold_many;
};

static void run_loads(struct machine *machine, struct outcome *outcome,
		      double weight)
{
	for (unsigned int i = 0; i < nr_loads; i++) {
		struct conflicts found =
			loads[i].run(machine, loads[i].fill);

		if (found.within > outcome->worst[i].within)
			outcome->worst[i].within = found.within;
		if (found.across > outcome->worst[i].across)
			outcome->worst[i].across = found.across;
		outcome->mean[i].within += found.within * weight;
		outcome->mean[i].across += found.across * weight;
		zone_check(&machine->zone);
	}
}

/* Long fills on an aged machine: what a page costs. */
static void run_cost(struct machine *machine, struct outcome *outcome,
		     double weight)
{
	struct cost *cost = &machine->zone.cost;
	double pages = 16 * .94 * machine->zone.colors;

	memset(cost, 0, sizeof(*cost));
	for (int i = 0; i < 16; i++)
		loads[0].run(machine, .94);
	outcome->locks += cost->locks / pages * weight;
	outcome->steps += cost->steps / pages * weight;
	outcome->outside += cost->outside / pages * weight;
	if (cost->worst > outcome->hold)
		outcome->hold = cost->worst;
	memset(cost, 0, sizeof(*cost));
	machine_loop(machine, 4000);
	/* 24.5 pages each time. */
	outcome->loop_locks += cost->locks / 98000. * weight;
	outcome->loop_steps += cost->steps / 98000. * weight;
}

/* The longest hold where there are four million colors, two frames to each. */
static void run_many(const struct design *design, struct outcome *outcome)
{
	struct machine machine;

	sim_seed(1);
	machine_start(&machine, design, 1U << 23, 1U << 22);
	memset(&machine.zone.cost, 0, sizeof(machine.zone.cost));
	loads[0].run(&machine, loads[0].fill);
	outcome->hold_many = machine.zone.cost.worst;
	machine_stop(&machine);
}

static void run(const struct design *design, unsigned int seeds,
		struct outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	for (unsigned int seed = 1; seed <= seeds; seed++) {
		struct machine machine;
		unsigned int day = 0;

		sim_seed(seed);
		machine_start(&machine, design, FRAMES, COLORS);
		for (unsigned int i = 0; i < DAYS; i++) {
			for (; day < days[i]; day++)
				machine_age(&machine);
			run_loads(&machine, outcome, 1.0 / seeds / DAYS);
		}
		run_cost(&machine, outcome, 1.0 / seeds);
		for (; day < LAST_DAY; day++)
			machine_age(&machine);
		for (unsigned int cpu = 0; cpu < 2; cpu++)
			cpu_drain(&machine.zone, cpu);
		outcome->in_largest += zone_in_largest(&machine.zone) / seeds;
		outcome->huge_supply += zone_huge_supply(&machine.zone) / seeds;
		machine_stop(&machine);
	}
}

static void print_loads(const struct outcome *outcomes, unsigned int seeds,
			bool across)
{
	printf("\n## Pages in conflict %s\n\n",
	       across ? "with any page of the load" :
			"within an address space");
	printf("Mean and worst of %u seeds on days 0, 1, 3 and 10.\n\n", seeds);
	printf("| load | fill |");
	for (unsigned int i = 0; i < DESIGNS; i++)
		printf(" %s |", designs[i]->name);
	printf("\n|---|---|");
	for (unsigned int i = 0; i < DESIGNS; i++)
		printf("---|");
	printf("\n");
	for (unsigned int i = 0; i < nr_loads; i++) {
		printf("| %s | %.2f |", loads[i].name, loads[i].fill);
		for (unsigned int d = 0; d < DESIGNS; d++) {
			const struct outcome *o = &outcomes[d];

			printf(" %.4f (%.4f) |",
			       across ? o->mean[i].across : o->mean[i].within,
			       across ? o->worst[i].across : o->worst[i].within);
		}
		printf("\n");
	}
}

static void print_cost(const struct outcome *outcomes)
{
	static const uint64_t sizes[][2] = {
		{ 1ULL << 25, 1ULL << 22 }, { 1ULL << 22, 32 } };

	printf("\n## Supply of huge pages, and cost\n\n");
	printf("Free memory in blocks of the largest order, and in whole "
	       "pageblocks, after day %d. Filling %.2f of the cache on day 10: "
	       "acquisitions of the lock per page, steps (lists and words "
	       "touched) under it per page and in the longest hold, there "
	       "and with 4,194,304 colors, steps without it per page; and "
	       "the first two in small loops that map and unmap 1 to 48 "
	       "pages.\n\n", LAST_DAY, .94);
	printf("| design | largest order | pageblocks | locks | steps held | "
	       "longest | with 4 M colors | steps free | loop: locks | "
	       "loop: steps held |\n"
	       "|---|---|---|---|---|---|---|---|---|---|\n");
	for (unsigned int d = 0; d < DESIGNS; d++)
		printf("| %s | %.3f | %.3f | %.4f | %.2f | %llu | %llu | %.2f | "
		       "%.4f | %.2f |\n",
		       designs[d]->name, outcomes[d].in_largest,
		       outcomes[d].huge_supply, outcomes[d].locks,
		       outcomes[d].steps,
		       (unsigned long long)outcomes[d].hold,
		       (unsigned long long)outcomes[d].hold_many,
		       outcomes[d].outside, outcomes[d].loop_locks,
		       outcomes[d].loop_steps);
	printf("\nMemory beside the buddy lists: for all of memory, and for an "
	       "address space that fills the cache.\n\n"
	       "| design | 128 GiB, 4,194,304 colors | 16 GiB, 32 colors |\n|---|---|---|\n");
	for (unsigned int d = 0; d < DESIGNS; d++) {
		printf("| %s |", designs[d]->name);
		for (int i = 0; i < 2; i++) {
			uint64_t all, space;

			designs[d]->memory(sizes[i][0], sizes[i][1], &all,
					   &space);
			printf(" %.0f KiB + %.0f KiB |", all / 1024.0,
			       space / 1024.0);
		}
		printf("\n");
	}
}

static unsigned int failed;

static void expect(bool holds, const char *design, const char *what)
{
	printf("%s: %s: %s\n", holds ? "ok" : "FAILED", design, what);
	failed += !holds;
}

/*
 * That the simulator shows what was measured in kernels: a cursor that all move is
 * perfect alone, and fails beside any other allocation and after freeing; the
 * prototype does not; stock gets worse with age.
 */
static int check(void)
{
	static struct outcome outcomes[DESIGNS];
	const struct outcome *stock = &outcomes[0], *cursor = &outcomes[2];
	const struct outcome *prototype = &outcomes[3];
	struct machine machine;
	double fresh;

	for (unsigned int d = 0; d < DESIGNS; d++)
		run(designs[d], 1, &outcomes[d]);
	sim_seed(1);
	machine_start(&machine, &design_stock, FRAMES, COLORS);
	fresh = loads[0].run(&machine, loads[0].fill).within;
	machine_stop(&machine);
	expect(fresh < .3 && stock->worst[0].within > .5, "stock",
	       "fresh below .3 in conflict, aged above .5");
	expect(cursor->worst[0].within < .001, "cursor", "none alone");
	for (unsigned int i = 0; i < nr_loads; i++) {
		if (strstr(loads[i].name, "churn"))
			expect(cursor->mean[i].within > .3, "cursor",
			       loads[i].name);
		if (!strcmp(loads[i].name, "refault") && loads[i].fill > .9)
			/* .38 in a kernel */
			expect(cursor->mean[i].within > .3 &&
			       cursor->mean[i].within < .45, "cursor",
			       loads[i].name);
		if (!strstr(loads[i].name, "huge"))
			expect(prototype->worst[i].across < .001, "occupancy",
			       loads[i].name);
	}
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct outcome outcomes[DESIGNS];
	unsigned int seeds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;

	if (argc == 2 && !strcmp(argv[1], "check"))
		return check();
	if (!seeds || argc > 2) {
		fprintf(stderr, "usage: sim check | [SEEDS]\n");
		return 2;
	}
	printf("# Designs of page coloring, simulated\n\n");
	printf("Modelled: a buddy allocator with per-CPU lists, %u frames, "
	       "%u colors, two CPUs.\n\n", FRAMES, COLORS);
	for (unsigned int d = 0; d < DESIGNS; d++)
		printf("- `%s`: %s\n", designs[d]->name, designs[d]->what);
	for (unsigned int d = 0; d < DESIGNS; d++) {
		run(designs[d], seeds, &outcomes[d]);
		run_many(designs[d], &outcomes[d]);
		fprintf(stderr, "sim: %s\n", designs[d]->name);
	}
	print_loads(outcomes, seeds, false);
	print_loads(outcomes, seeds, true);
	print_cost(outcomes);
	return 0;
}
