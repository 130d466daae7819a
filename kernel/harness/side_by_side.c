// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The index and its twin do the same; whatever can be asked of the index is
 * asked, and the answer compared.
 */
#include "side_by_side.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "random_span.h"
#include "twin.h"

struct pair {
	struct numbers *numbers;
	struct twin twin;
	struct page_color_index *index;
	uint64_t seed;
	uint64_t operation;
};

static void compare(const struct pair *pair, const char *what,
		    unsigned long index, unsigned long twin)
{
	const struct page_color_span *span = &pair->twin.span;

	if (index == twin)
		return;
	fprintf(stderr,
		"%s: the index says %lu, its twin %lu\n"
		"at operation %" PRIu64 " of seed %" PRIu64 ": start %lu, "
		"frames %lu, colors %lu, orders %u, lists %u\n",
		what, index, twin, pair->operation, pair->seed, span->start,
		span->frames, span->colors, span->orders, span->lists);
	abort();
}

/* Mostly a block of the span; some over its ends, or not aligned. */
static struct twin_block random_block(struct pair *pair)
{
	const struct page_color_span *span = &pair->twin.span;
	struct numbers *numbers = pair->numbers;
	struct twin_block block = {
		.list = (unsigned int)numbers_below(numbers, span->lists),
		.order = (unsigned int)numbers_below(numbers, span->orders),
	};
	unsigned long frame;

	switch (numbers_below(numbers, 8)) {
	case 0:
		frame = span->start + numbers_below(numbers, 3);
		break;
	case 1:
		frame = span->start + span->frames - numbers_below(numbers, 3);
		break;
	default:
		frame = span->start + numbers_below(numbers, span->frames);
	}
	block.block = frame >> block.order << block.order;
	if (numbers_one_in(numbers, 64))
		block.block = frame;
	return block;
}

/* One that is there, if there is any. */
static struct twin_block random_member(struct pair *pair)
{
	if (!pair->twin.count)
		return random_block(pair);
	return pair->twin.blocks[numbers_below(pair->numbers,
					       pair->twin.count)];
}

static void add(struct pair *pair, struct twin_block block)
{
	bool added;

	if (pair->twin.count == TWIN_BLOCKS)
		return;
	added = twin_add(&pair->twin, block);
	compare(pair, "add",
		page_color_index_add(pair->index, block.list, block.order,
				     block.block),
		added);
}

static void del(struct pair *pair, struct twin_block block)
{
	bool deleted = twin_del(&pair->twin, block);

	compare(pair, "del",
		page_color_index_del(pair->index, block.list, block.order,
				     block.block),
		deleted);
}

static void has(struct pair *pair, struct twin_block block)
{
	compare(pair, "has",
		page_color_index_has(pair->index, block.list, block.order,
				     block.block),
		twin_has(&pair->twin, block));
}

/* As a buddy allocator does: one half stays, the other is split further. */
static void split(struct pair *pair, unsigned int list, unsigned int order,
		  const struct page_color_block *found)
{
	unsigned long block = found->block;
	unsigned int level = found->order;

	del(pair, (struct twin_block){ list, level, block });
	while (level-- > order) {
		unsigned long upper = block + (1UL << level);
		unsigned long rest = found->frame < upper ? upper : block;

		add(pair, (struct twin_block){ list, level, rest });
		block = found->frame < upper ? block : upper;
	}
	compare(pair, "the frame left by splitting", block, found->frame);
}

static void find(struct pair *pair)
{
	const struct twin *twin = &pair->twin;
	struct numbers *numbers = pair->numbers;
	unsigned int list = numbers_below(numbers, twin->span.lists);
	unsigned int order = numbers_below(numbers, twin->span.orders);
	unsigned long color = numbers_below(numbers, twin->span.colors);
	struct page_color_block found;
	unsigned long distance;
	unsigned int lowest;
	bool exists;

	if (numbers_one_in(numbers, 2))
		order = 0;
	if (numbers_one_in(numbers, 2))
		color = (random_member(pair).block +
			 numbers_below(numbers, 1025)) % twin->span.colors;
	exists = twin_find(twin, list, order, color, &distance, &lowest);
	compare(pair, "find",
		page_color_index_find(pair->index, list, order, color, &found),
		exists);
	if (!exists)
		return;
	compare(pair, "find: distance", found.distance, distance);
	compare(pair, "find: order", found.order, lowest);
	compare(pair, "find: existence",
		twin_has(twin, (struct twin_block){ list, found.order,
						    found.block }),
		true);
	compare(pair, "find: alignment of the part",
		found.frame % (1UL << order), 0);
	compare(pair, "find: place of the part",
		found.frame >> found.order << found.order, found.block);
	compare(pair, "find: distance of the part",
		twin_distance(twin, order, found.frame, color), distance);
	if (numbers_one_in(numbers, 2))
		split(pair, list, order, &found);
}

static void holding(struct pair *pair)
{
	struct twin_block near = random_member(pair);
	unsigned int order = numbers_below(pair->numbers, near.order + 1);
	unsigned long frame =
		near.block + numbers_below(pair->numbers, 1UL << near.order);
	struct page_color_block found;
	unsigned int lowest;
	bool holds = twin_holding(&pair->twin, near.list, order, frame,
				  &lowest);

	compare(pair, "holding",
		page_color_index_holding(pair->index, near.list, order, frame,
					 &found),
		holds);
	if (!holds)
		return;
	compare(pair, "holding: order", found.order, lowest);
	compare(pair, "holding: block", found.block,
		frame >> lowest << lowest);
	compare(pair, "holding: part", found.frame, frame >> order << order);
	compare(pair, "holding: distance", found.distance, 0);
}

/* A block that moves to where it has the same colors. */
static void last(struct pair *pair)
{
	const struct page_color_span *span = &pair->twin.span;
	struct twin_block moves = random_block(pair), to = { 0 };
	unsigned int orders = numbers_below(pair->numbers, span->orders + 2);
	unsigned long from = random_block(pair).block;
	struct page_color_block found;
	bool exists;

	moves.block = moves.block >> moves.order << moves.order;
	/* Most blocks have a frame that is so many caches away from another's. */
	if (pair->twin.count && numbers_one_in(pair->numbers, 2)) {
		unsigned long near = random_member(pair).block;
		unsigned long caches = (near - span->start) / span->colors;

		moves.order = 0;
		moves.block = near - span->colors *
				     numbers_below(pair->numbers, caches + 1);
	}
	if (numbers_one_in(pair->numbers, 2))
		from = moves.block;
	/* Of a frame beyond the span nothing is promised. */
	if (!twin_inside(&pair->twin, moves.order, moves.block))
		return;
	exists = twin_last(&pair->twin, moves.list, moves.order, orders,
			   moves.block, from, &to);
	compare(pair, "last",
		page_color_index_last(pair->index, moves.list, moves.order,
				      orders, moves.block, from, &found),
		exists);
	if (!exists)
		return;
	compare(pair, "last: order", found.order, to.order);
	compare(pair, "last: block", found.block, to.block);
	compare(pair, "last: part", found.frame - found.block,
		moves.block % (1UL << to.order));
	compare(pair, "last: color", found.frame % span->colors,
		moves.block % span->colors);
	compare(pair, "last: distance", found.distance, 0);
}

static void color(struct pair *pair)
{
	unsigned long frame = random_block(pair).block;

	if (numbers_one_in(pair->numbers, 16))
		frame = numbers_below(pair->numbers, ~0UL);
	compare(pair, "color", page_color_index_color(pair->index, frame),
		frame % pair->twin.span.colors);
}

static void count(struct pair *pair)
{
	struct twin_block near = random_member(pair);
	unsigned long one = near.block % pair->twin.span.colors;

	if (numbers_one_in(pair->numbers, 4))
		one = numbers_below(pair->numbers, pair->twin.span.colors);
	compare(pair, "count",
		page_color_index_count(pair->index, near.list, one),
		twin_count(&pair->twin, near.list, one));
}

static void operate(struct pair *pair)
{
	switch (numbers_below(pair->numbers, 64)) {
	case 0 ... 19:
		return add(pair, random_block(pair));
	case 20 ... 31:
		return del(pair, random_member(pair));
	case 32 ... 33:
		return del(pair, random_block(pair));
	case 34 ... 37:
		return has(pair, random_block(pair));
	case 38 ... 39:
		return has(pair, random_member(pair));
	case 40 ... 55:
		return find(pair);
	case 56 ... 58:
		return holding(pair);
	case 59 ... 61:
		return last(pair);
	case 62:
		return color(pair);
	default:
		return count(pair);
	}
}

uint64_t side_by_side(struct numbers *numbers, uint64_t operations)
{
	struct pair pair = { .numbers = numbers, .seed = numbers->state };
	size_t bytes;
	void *memory;

	pair.twin.span = random_span(numbers);
	bytes = page_color_index_bytes(&pair.twin.span);
	if (!bytes) {
		compare(&pair, "possible", false,
			pair.twin.span.start + pair.twin.span.frames <
				1UL << 42 && pair.twin.span.colors < 1UL << 32);
		return 0;
	}
	memory = calloc(1, bytes);
	if (!memory) {
		perror("no memory for an index");
		exit(1);
	}
	pair.index = page_color_index_init(memory, &pair.twin.span);
	while (pair.operation < operations &&
	       (!numbers->bytes || numbers->left)) {
		operate(&pair);
		pair.operation++;
	}
	/* Emptied, it finds nothing. */
	while (pair.twin.count)
		del(&pair, pair.twin.blocks[0]);
	for (unsigned int list = 0; list < pair.twin.span.lists; list++) {
		struct page_color_block found;

		compare(&pair, "find in what is empty",
			page_color_index_find(pair.index, list, 0, 0, &found),
			false);
	}
	free(memory);
	return pair.operation;
}
