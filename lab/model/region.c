// SPDX-License-Identifier: GPL-2.0-or-later
#include "region.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

bool regions_init(struct regions *regions, struct hierarchy *hierarchy, FILE *out,
		  uint64_t (*instructions)(unsigned int cpu))
{
	*regions = (struct regions){
		.hierarchy = hierarchy,
		.out = out,
		.instructions = instructions,
		.instructions_before = calloc(hierarchy->cpu_count, sizeof(uint64_t)),
	};
	return regions->instructions_before;
}

/* The text must need no escapes in JSON. */
__attribute__((format(printf, 2, 3))) static void report(struct regions *regions,
							 const char *format, ...)
{
	char text[200];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(regions->out, "{\"error\":\"%s\"}\n", text);
	fflush(regions->out);
	fprintf(stderr, "huepage model: %s\n", text);
}

static void print_tallies(FILE *out, const char *name, const struct tally *tallies, size_t count)
{
	fprintf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s{\"hits\":%" PRIu64 ",\"misses\":%" PRIu64 "}", i ? "," : "",
			tallies[i].hits, tallies[i].misses);
	fputc(']', out);
}

static void print_numbers(FILE *out, const char *name, const uint64_t *numbers, size_t count)
{
	fprintf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", numbers[i]);
	fputc(']', out);
}

/* 17 digits are enough to read back the same double. */
static void print_page_times(FILE *out, struct page_times times)
{
	fprintf(out,
		",\"page_times\":{\"pages\":%" PRIu64 ",\"mean\":%.17g,\"deviation\":%.17g,"
		"\"access_mean\":%.17g,\"access_deviation\":%.17g}",
		times.pages, times.mean, times.deviation, times.access_mean,
		times.access_deviation);
}

static void print_record(struct regions *regions, unsigned int index, uint64_t instructions)
{
	const struct hierarchy *hierarchy = regions->hierarchy;
	const struct description *description = hierarchy->description;
	const struct cpu *cpu = &hierarchy->cpus[index];
	FILE *out = regions->out;

	fprintf(out,
		"{\"region\":%u,\"sequence\":%u,\"cpu\":%u,\"instructions\":%" PRIu64
		",\"accesses\":%" PRIu64,
		regions->current, regions->sequence, index, instructions, cpu->accesses);
	print_tallies(out, "levels", cpu->level_tallies, description->level_count);
	print_tallies(out, "memory_side", cpu->memory_side_tallies,
		      description->memory_side_count);
	print_numbers(out, "nodes", cpu->nodes, hierarchy->node_count);
	fprintf(out, ",\"elsewhere\":%" PRIu64 ",\"cycles\":%" PRIu64, cpu->elsewhere,
		instructions + cpu->cycles);
	if (description->color_conflicts)
		print_numbers(out, "color_conflicts", cpu->colors, hierarchy->color_count);
	if (description->page_times)
		print_page_times(out, pages_summary(&cpu->pages));
	fputs("}\n", out);
}

void region_begin(struct regions *regions, unsigned int id)
{
	struct hierarchy *hierarchy = regions->hierarchy;

	if (regions->inside) {
		report(regions, "region %u begins inside region %u: end that one first", id,
		       regions->current);
		return;
	}
	regions->inside = true;
	regions->current = id;
	hierarchy_clear_counts(hierarchy);
	hierarchy->counted_frames = hierarchy->description->frames ? &hierarchy->frames : NULL;
	for (size_t i = 0; i < hierarchy->cpu_count; i++)
		regions->instructions_before[i] = regions->instructions(i);
	if (hierarchy->description->addresses)
		addresses_clear(&regions->addresses);
}

void region_end(struct regions *regions, unsigned int id)
{
	struct hierarchy *hierarchy = regions->hierarchy;

	if (!regions->inside) {
		report(regions, "region %u ends without having begun", id);
		return;
	}
	if (id != regions->current) {
		report(regions, "region %u ends inside region %u: end that one first", id,
		       regions->current);
		return;
	}
	regions->inside = false;
	hierarchy->counted_frames = NULL;
	for (size_t i = 0; i < hierarchy->cpu_count; i++) {
		uint64_t executed = regions->instructions(i) - regions->instructions_before[i];

		if (executed)
			print_record(regions, i, executed);
		if (hierarchy->cpus[i].pages.incomplete)
			report(regions, "region %u: not enough memory for its page times", id);
	}
	if (hierarchy->description->addresses)
		addresses_print(&regions->addresses, regions->out);
	if (regions->addresses.incomplete)
		report(regions, "region %u: not enough memory for its addresses", id);
	regions->sequence++;
	if (fflush(regions->out) || ferror(regions->out))
		fprintf(stderr, "huepage model: region %u could not be written: see that there "
				"is room for the file given by out=\n", id);
}

void regions_finish(struct regions *regions)
{
	if (regions->inside)
		report(regions, "region %u did not end", regions->current);
	if (!regions->hierarchy->description->frames)
		return;
	if (regions->hierarchy->frames.incomplete)
		report(regions, "accesses to some frames were not counted: not enough memory, or "
				"frames beyond 64 GiB");
	frames_print(&regions->hierarchy->frames, regions->out);
	fflush(regions->out);
}
