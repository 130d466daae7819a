// SPDX-License-Identifier: MIT OR Apache-2.0
#include "report.h"

#include <stdio.h>

static double fastest_tree(const struct row *row)
{
	double fastest = row->median[FIRST_TREE];

	for (int i = FIRST_TREE + 1; i < SUBJECTS; i++)
		if (row->median[i] < fastest)
			fastest = row->median[i];
	return fastest;
}

static void times(const struct report *report)
{
	printf("## Nanoseconds for a frame taken and a frame given back\n\n"
	       "Median of %d rounds, in brackets the quartiles.\n\n"
	       "| colors | free |", ROUNDS);
	for (int i = 0; i < SUBJECTS; i++)
		printf(" %s |", report->names[i]);
	printf(" fastest tree / index | / index beside buddy list |\n|---:|---:|");
	for (int i = 0; i < SUBJECTS + 2; i++)
		printf("---:|");
	printf("\n");
	for (int c = 0; c < COLORS; c++) {
		for (int s = 0; s < SHARES; s++) {
			const struct row *row = &report->rows[c][s];

			printf("| %u | %.3g %% |", report->colors[c],
			       row->free_share * 100 / 65536.0);
			for (int i = 0; i < SUBJECTS; i++)
				printf(" %.1f (%.1f–%.1f) |", row->median[i],
				       row->lower[i], row->upper[i]);
			printf(" %.1f | %.1f |\n",
			       fastest_tree(row) / row->median[0],
			       fastest_tree(row) / row->median[1]);
		}
	}
}

static void memory(const struct report *report)
{
	printf("\n## Bytes beside struct page, two lists of 11 orders\n\n"
	       "| colors |");
	for (int i = 0; i < SUBJECTS; i++)
		printf(" %s |", report->names[i]);
	printf(" of memory, index | lists / index | lists and tree / index |\n|");
	for (int i = 0; i < SUBJECTS + 4; i++)
		printf("---:|");
	printf("\n");
	for (int c = 0; c < COLORS; c++) {
		const size_t *bytes = report->bytes[c];

		printf("| %u |", report->colors[c]);
		for (int i = 0; i < SUBJECTS; i++)
			printf(" %zu |", bytes[i]);
		printf(" %.4f %% | %.3g | %.3g |\n",
		       100.0 * (double)bytes[0] / (report->frames * 4096.0),
		       (double)bytes[2] / (double)bytes[0],
		       (double)bytes[3] / (double)bytes[0]);
	}
}

void report_table(const struct report *report)
{
	printf("<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n"
	       "# color-index\n\n"
	       "Ways to find a free frame of the next color, %u frames of "
	       "4 KiB. Kind: measured.\n\n"
	       "Command: `make -C kernel/harness bench RESULTS=../../results`\n\n",
	       report->frames);
	times(report);
	memory(report);
}

static void json_row(FILE *file, const struct report *report, int c,
		     const struct row *row)
{
	fprintf(file, "    {\"colors\": %u, \"free\": %.6g, \"nanoseconds\": {",
		report->colors[c], row->free_share / 65536.0);
	for (int i = 0; i < SUBJECTS; i++)
		fprintf(file,
			"%s\n      \"%s\": {\"median\": %.2f, \"lower\": %.2f, "
			"\"upper\": %.2f}", i ? "," : "", report->names[i],
			row->median[i], row->lower[i], row->upper[i]);
	fprintf(file, "},\n     \"fastest_tree_to_index\": %.2f}",
		fastest_tree(row) / row->median[0]);
}

bool report_json(const struct report *report, const char *path)
{
	FILE *file = fopen(path, "w");
	bool failed;

	if (!file) {
		perror(path);
		return false;
	}
	fprintf(file,
		"{\n  \"schema\": \"huepage.harness/1\",\n"
		"  \"experiment\": \"color-index\",\n  \"kind\": \"measured\",\n"
		"  \"command\": \"make -C kernel/harness bench RESULTS=../../results\",\n"
		"  \"frames\": %u,\n  \"rounds\": %d,\n  \"rows\": [\n",
		report->frames, ROUNDS);
	for (int c = 0; c < COLORS; c++)
		for (int s = 0; s < SHARES; s++) {
			json_row(file, report, c, &report->rows[c][s]);
			fprintf(file, c == COLORS - 1 && s == SHARES - 1 ?
					      "\n" : ",\n");
		}
	fprintf(file, "  ],\n  \"bytes\": [\n");
	for (int c = 0; c < COLORS; c++) {
		fprintf(file, "    {\"colors\": %u", report->colors[c]);
		for (int i = 0; i < SUBJECTS; i++)
			fprintf(file, ", \"%s\": %zu", report->names[i],
				report->bytes[c][i]);
		fprintf(file, "}%s\n", c == COLORS - 1 ? "" : ",");
	}
	fprintf(file, "  ]\n}\n");
	failed = ferror(file);
	if (fclose(file) || failed) {
		perror(path);
		return false;
	}
	return true;
}
