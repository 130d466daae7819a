// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Compares the color index with other structures in one run:
 * `bench [--frames N] [--json FILE]`; the table goes to standard output.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "report.h"

/* 96 GiB of pages of 4 KiB: six times a cache of 16 GiB. */
#define FRAMES (96u << 18)

static const uint32_t colors[COLORS] = { 1u << 5, 1u << 10, 1u << 16, 1u << 22 };
/* Of 2^16: almost nothing, a thousandth, a sixteenth, half, most. */
static const uint32_t free_shares[SHARES] = { 1, 64, 4096, 32768, 61440 };

static const struct subject *const subjects[SUBJECTS] = {
	&bench_index, &bench_index_beside_list, &bench_linear,
	&bench_lists_and_tree, &bench_tree,
};

static int by_value(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/*
 * Subjects take turns, a short while each, so that what else the machine does
 * falls on all of them.
 */
static void run(struct row *row, const struct scenario *scenario)
{
	double times[SUBJECTS][ROUNDS];
	struct system *systems[SUBJECTS];

	for (int i = 0; i < SUBJECTS; i++) {
		systems[i] = system_make(subjects[i], scenario,
					 row->free_share, 1);
		if (system_taken(systems[i]) != system_taken(systems[0])) {
			fprintf(stderr, "%s takes other colors than %s\n",
				subjects[i]->name, subjects[0]->name);
			exit(1);
		}
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < SUBJECTS; i++)
			times[i][round] = system_time(systems[i]);
	for (int i = 0; i < SUBJECTS; i++) {
		system_destroy(systems[i]);
		qsort(times[i], ROUNDS, sizeof(double), by_value);
		row->median[i] = times[i][ROUNDS / 2];
		row->lower[i] = times[i][ROUNDS / 4];
		row->upper[i] = times[i][ROUNDS - 1 - ROUNDS / 4];
	}
}

int main(int argc, char **argv)
{
	struct report report = { .frames = FRAMES };
	const char *json = NULL;

	for (int i = 1; i < argc; i += 2) {
		if (i + 1 < argc && !strcmp(argv[i], "--json")) {
			json = argv[i + 1];
		} else if (i + 1 < argc && !strcmp(argv[i], "--frames") &&
			   atol(argv[i + 1]) >= 1L << 22 &&
			   atol(argv[i + 1]) <= 1L << 30) {
			report.frames = (uint32_t)atol(argv[i + 1]);
		} else {
			fprintf(stderr,
				"usage: %s [--frames N] [--json FILE], N at least "
				"2^22 and at most 2^30\n", argv[0]);
			return 2;
		}
	}
	for (int i = 0; i < SUBJECTS; i++)
		report.names[i] = subjects[i]->name;
	for (int c = 0; c < COLORS; c++) {
		const struct scenario scenario = {
			.frames = report.frames,
			.colors = colors[c],
		};

		report.colors[c] = colors[c];
		for (int i = 0; i < SUBJECTS; i++)
			report.bytes[c][i] = subjects[i]->bytes(&scenario);
		for (int s = 0; s < SHARES; s++) {
			struct row *row = &report.rows[c][s];

			row->free_share = free_shares[s];
			run(row, &scenario);
			fprintf(stderr, "%u colors, %.4g free: done\n",
				colors[c], free_shares[s] / 65536.0);
		}
	}
	report_table(&report);
	return json && !report_json(&report, json);
}
