/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The figures of a run, as a table and as JSON. */
#ifndef HARNESS_BENCH_REPORT_H
#define HARNESS_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLORS 4
#define SHARES 5
/* The index, the index beside a list, a linear search, and two with trees. */
#define SUBJECTS 5
#define FIRST_TREE 3
#define ROUNDS 25

struct row {
	uint32_t free_share;
	double median[SUBJECTS];
	/* The quartiles. */
	double lower[SUBJECTS];
	double upper[SUBJECTS];
};

struct report {
	uint32_t frames;
	const char *names[SUBJECTS];
	uint32_t colors[COLORS];
	size_t bytes[COLORS][SUBJECTS];
	struct row rows[COLORS][SHARES];
};

void report_table(const struct report *report);

/* Whether it was written; if not, the reason is printed. */
bool report_json(const struct report *report, const char *path);

#endif
