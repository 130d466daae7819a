// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* The bits of a PLRU tree are one word per set. */
#define MAX_TREE_WAYS 64

static bool take_latency(struct reader *reader, uint32_t *latency)
{
	uint64_t number;

	if (!take_number(reader, "latency", 1000000, &number))
		return false;
	*latency = number;
	return true;
}

/* SIZE:WAYS:LINE */
static bool take_size(struct reader *reader, struct geometry *geometry)
{
	uint64_t size, ways, line;

	if (!take_number(reader, "size", UINT64_C(1) << 48, &size) ||
	    !take_number(reader, "ways", UINT32_MAX, &ways) ||
	    !take_number(reader, "line", 1 << PAGE_SHIFT, &line))
		return false;
	if (!line || line & (line - 1))
		return refuse(reader, "line %llu is no power of two", (unsigned long long)line);
	if (!ways || !size || size % (ways * line))
		return refuse(reader, "size %llu is no multiple of %llu ways of %llu bytes",
			      (unsigned long long)size, (unsigned long long)ways,
			      (unsigned long long)line);
	geometry->ways = ways;
	geometry->sets = size / (ways * line);
	geometry->line_shift = __builtin_ctzll(line);
	return true;
}

static bool read_level(struct reader *reader, struct description *description)
{
	static const char *const replacements[] = { "lru", "tree-plru", "random", "qlru", NULL };
	static const char *const scopes[] = { "private", "shared", NULL };
	struct level *level = &description->levels[description->level_count++];
	uint32_t *ways = &level->geometry.ways;
	unsigned int replacement, scope;

	if (!take_size(reader, &level->geometry) ||
	    !take_choice(reader, "replacement", replacements, &replacement) ||
	    !take_choice(reader, "scope", scopes, &scope) ||
	    !take_latency(reader, &level->latency))
		return false;
	level->geometry.replacement = (enum replacement)replacement;
	level->shared = scope;
	if (replacement == REPLACE_TREE_PLRU && (*ways > MAX_TREE_WAYS || *ways & (*ways - 1)))
		return refuse(reader, "tree-plru takes a power of two up to %d ways, not %u",
			      MAX_TREE_WAYS, *ways);
	return true;
}

static bool read_memory_side(struct reader *reader, struct description *description)
{
	struct memory_side *side = &description->memory_sides[description->memory_side_count++];
	uint64_t node = 0;
	char *backing;

	side->geometry.replacement = REPLACE_LRU;
	if (!take_size(reader, &side->geometry) || !take(reader, ":", "backing", &backing))
		return false;
	if (!strcmp(backing, "all")) {
		side->backing = BACKING_ALL;
	} else if (!strncmp(backing, "node", 4)) {
		side->backing = BACKING_NODE;
		if (!parse_number(reader, backing + 4, "node", UINT32_MAX, &node))
			return false;
	} else {
		side->backing = BACKING_RANGE;
		if (!parse_range(reader, backing, &side->range))
			return false;
	}
	side->node = node;
	return take_latency(reader, &side->latency);
}

static bool read_node(struct reader *reader, struct description *description)
{
	struct node *node = &description->nodes[description->node_count++];
	char *memory, *cpus;

	if (!take(reader, ":", "memory", &memory) || !take(reader, ":", "list of CPUs", &cpus))
		return false;
	node->memory_count = count_fields(memory);
	node->memory = calloc(node->memory_count + 1, sizeof(*node->memory));
	if (!node->memory)
		return refuse(reader, "not enough memory");
	for (size_t i = 0; i < node->memory_count; i++)
		if (!parse_range(reader, strsep(&memory, "+"), &node->memory[i]))
			return false;
	return parse_list(reader, cpus, "CPU", &node->cpus, &node->cpu_count);
}

static bool read_distance(struct reader *reader, struct description *description, uint64_t index)
{
	struct node *node = &description->nodes[index];

	char *list;

	return take(reader, ":", "list", &list) &&
	       parse_list(reader, list, "distance", &node->distances, &node->distance_count);
}

/* Makes room for one more in an array, and clears it. */
static bool grow(void **array, size_t count, size_t size)
{
	void *larger = realloc(*array, (count + 1) * size);

	if (!larger)
		return false;
	*array = larger;
	memset((char *)larger + count * size, 0, size);
	return true;
}

static bool is_indexed(const char *key, const char *name)
{
	return !strncmp(key, name, strlen(name)) && strchr("0123456789", key[strlen(name)]) &&
	       key[strlen(name)];
}

/* The number behind the name must be the next one of its kind. */
static bool expect_index(struct reader *reader, const char *digits, size_t next)
{
	uint64_t index;

	return parse_number(reader, digits, "index", UINT32_MAX, &index) &&
	       (index == next || refuse(reader, "expected number %zu", next));
}

static bool add_indexed(struct reader *reader, struct description *d, const char *key)
{
	if (is_indexed(key, "level"))
		return expect_index(reader, key + 5, d->level_count) &&
		       (grow((void **)&d->levels, d->level_count, sizeof(*d->levels)) ||
			refuse(reader, "not enough memory")) &&
		       read_level(reader, d);
	if (is_indexed(key, "memside"))
		return expect_index(reader, key + 7, d->memory_side_count) &&
		       (grow((void **)&d->memory_sides, d->memory_side_count,
			     sizeof(*d->memory_sides)) ||
			refuse(reader, "not enough memory")) &&
		       read_memory_side(reader, d);
	if (is_indexed(key, "node"))
		return expect_index(reader, key + 4, d->node_count) &&
		       (grow((void **)&d->nodes, d->node_count, sizeof(*d->nodes)) ||
			refuse(reader, "not enough memory")) &&
		       read_node(reader, d);
	if (is_indexed(key, "distance")) {
		uint64_t index;

		return parse_number(reader, key + 8, "index", UINT32_MAX, &index) &&
		       (index < d->node_count || refuse(reader, "there is no such node before")) &&
		       read_distance(reader, d, index);
	}
	return refuse(reader, "there is no such option");
}

static bool take_switch(struct reader *reader, const char *off, const char *on, bool *value)
{
	const char *const names[] = { off, on, NULL };
	unsigned int choice;

	if (!take_choice(reader, "value", names, &choice))
		return false;
	*value = choice;
	return true;
}

static bool add(struct reader *reader, struct description *d, const char *key)
{
	if (!strcmp(key, "out")) {
		d->out = strdup(reader->rest);
		reader->rest = NULL;
		return d->out || refuse(reader, "not enough memory");
	}
	if (!strcmp(key, "memory"))
		return take_latency(reader, &d->memory_latency);
	if (!strcmp(key, "seed"))
		return take_number(reader, "seed", UINT64_MAX, &d->seed);
	if (!strcmp(key, "outside"))
		return take_switch(reader, "model", "skip", &d->skip_outside);
	if (!strcmp(key, "colors"))
		return take_switch(reader, "off", "on", &d->color_conflicts);
	if (!strcmp(key, "pages"))
		return take_switch(reader, "off", "on", &d->page_times);
	if (!strcmp(key, "frames"))
		return take_switch(reader, "off", "on", &d->frames);
	if (!strcmp(key, "addresses"))
		return take_switch(reader, "off", "on", &d->addresses);
	if (!strcmp(key, "pairs"))
		return take_switch(reader, "off", "on", &d->pairs);
	if (!strcmp(key, "strings"))
		return take_switch(reader, "on", "off", &d->skip_strings);
	return add_indexed(reader, d, key);
}

bool options_add(struct description *description, const char *option, char *error,
		 size_t error_size)
{
	char wrong[200];
	char *copy = strdup(option), *key = copy;
	struct reader reader = { .rest = copy, .error = wrong, .error_size = sizeof(wrong) };
	bool added = false;

	if (!copy)
		refuse(&reader, "not enough memory");
	else if (strsep(&reader.rest, "="), !reader.rest)
		refuse(&reader, "there is no '='");
	else if (add(&reader, description, key))
		added = !reader.rest || refuse(&reader, "nothing is expected behind it, but there is ':%s'",
					       reader.rest);
	if (!added)
		snprintf(error, error_size, "option %s: %s", option, wrong);
	free(copy);
	return added;
}
