// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether options that are valid by themselves go together. */
#include <stdarg.h>
#include <stdio.h>

#include "options.h"
#include "recency.h"

__attribute__((format(printf, 3, 4))) static bool refuse(char *error, size_t error_size,
							 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, error_size, format, arguments);
	va_end(arguments);
	return false;
}

static bool overlap(const struct range *a, const struct range *b)
{
	return a->start < b->end && b->start < a->end;
}

/*
 * A line from a cache with larger lines would be several of one with smaller
 * ones, of which the model would touch just the first.
 */
static bool check_lines(const struct description *d, char *error, size_t error_size)
{
	unsigned int least = 0;

	for (size_t i = 0; i < d->level_count; i++) {
		unsigned int shift = d->levels[i].geometry.line_shift;

		if (shift < least)
			return refuse(error, error_size,
				      "level%zu has smaller lines than the level before", i);
		least = shift;
	}
	for (size_t i = 0; i < d->memory_side_count; i++)
		if (d->memory_sides[i].geometry.line_shift < least)
			return refuse(error, error_size,
				      "memside%zu has smaller lines than the last level", i);
	return true;
}

static bool share_memory(const struct node *a, const struct node *b)
{
	for (size_t i = 0; i < a->memory_count; i++)
		for (size_t j = 0; j < b->memory_count; j++)
			if (overlap(&a->memory[i], &b->memory[j]) && (a != b || i != j))
				return true;
	return false;
}

static bool share_cpu(const struct node *a, const struct node *b)
{
	for (size_t i = 0; i < a->cpu_count; i++)
		for (size_t j = 0; j < b->cpu_count; j++)
			if (a->cpus[i] == b->cpus[j] && (a != b || i != j))
				return true;
	return false;
}

static bool check_nodes(const struct description *d, char *error, size_t error_size)
{
	for (size_t i = 0; i < d->node_count; i++) {
		const struct node *node = &d->nodes[i];

		for (size_t j = 0; j <= i; j++) {
			if (share_memory(node, &d->nodes[j]))
				return refuse(error, error_size,
					      "memory of node%zu and node%zu overlaps", j, i);
			if (share_cpu(node, &d->nodes[j]))
				return refuse(error, error_size,
					      "node%zu and node%zu have the same CPU", j, i);
		}
		if (!node->distances != !d->nodes[0].distances)
			return refuse(error, error_size,
				      "distances are given of some nodes only: give all or none");
		if (node->distances && node->distance_count != d->node_count)
			return refuse(error, error_size,
				      "distance%zu has %zu distances for %zu nodes", i,
				      node->distance_count, d->node_count);
	}
	return true;
}

static bool covers_node(const struct description *d, const struct memory_side *range, uint32_t node)
{
	if (!d->node_count)
		return true;
	for (size_t i = 0; i < d->nodes[node].memory_count; i++)
		if (overlap(&range->range, &d->nodes[node].memory[i]))
			return true;
	return false;
}

static bool share_backing(const struct description *d, const struct memory_side *a,
			  const struct memory_side *b)
{
	if (a->backing == BACKING_ALL || b->backing == BACKING_ALL)
		return true;
	if (a->backing == BACKING_RANGE && b->backing == BACKING_RANGE)
		return overlap(&a->range, &b->range);
	if (a->backing == BACKING_RANGE)
		return covers_node(d, a, b->node);
	if (b->backing == BACKING_RANGE)
		return covers_node(d, b, a->node);
	return a->node == b->node;
}

static bool check_memory_sides(const struct description *d, char *error, size_t error_size)
{
	size_t node_count = d->node_count ? d->node_count : 1;

	for (size_t i = 0; i < d->memory_side_count; i++) {
		const struct memory_side *side = &d->memory_sides[i];

		if (side->backing == BACKING_NODE && side->node >= node_count)
			return refuse(error, error_size, "memside%zu is of node %u of %zu", i,
				      side->node, node_count);
	}
	for (size_t i = 0; i < d->memory_side_count; i++)
		for (size_t j = 0; j < i; j++)
			if (share_backing(d, &d->memory_sides[i], &d->memory_sides[j]))
				return refuse(error, error_size,
					      "memside%zu and memside%zu cache the same memory", j,
					      i);
	return true;
}

bool options_check(const struct description *d, char *error, size_t error_size)
{
	if (d->color_conflicts && !d->level_count && !d->memory_side_count)
		return refuse(error, error_size, "colors=on takes a cache to have colors");
	if (d->pairs && d->level_count &&
	    d->levels[d->level_count - 1].geometry.ways >= RECENCY_WAYS)
		return refuse(error, error_size, "pairs=on takes a last level of fewer than %d ways",
			      RECENCY_WAYS);
	return check_lines(d, error, error_size) && check_nodes(d, error, error_size) &&
	       check_memory_sides(d, error, error_size);
}
