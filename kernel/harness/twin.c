// SPDX-License-Identifier: MIT OR Apache-2.0
/* Nothing is sorted or remembered here: every question goes over all blocks. */
#include "twin.h"

bool twin_inside(const struct twin *twin, unsigned int order,
		 unsigned long block)
{
	unsigned long size = 1UL << order;
	unsigned long end = twin->span.start + twin->span.frames;

	return block % size == 0 && block >= twin->span.start && block < end &&
	       end - block >= size;
}

static size_t place(const struct twin *twin, struct twin_block block)
{
	size_t i;

	for (i = 0; i < twin->count; i++)
		if (twin->blocks[i].block == block.block &&
		    twin->blocks[i].order == block.order &&
		    twin->blocks[i].list == block.list)
			break;
	return i;
}

bool twin_has(const struct twin *twin, struct twin_block block)
{
	return place(twin, block) < twin->count;
}

bool twin_add(struct twin *twin, struct twin_block block)
{
	if (!twin_inside(twin, block.order, block.block) ||
	    twin_has(twin, block))
		return false;
	twin->blocks[twin->count++] = block;
	return true;
}

bool twin_del(struct twin *twin, struct twin_block block)
{
	size_t i = place(twin, block);

	if (i == twin->count)
		return false;
	twin->blocks[i] = twin->blocks[--twin->count];
	return true;
}

unsigned long twin_distance(const struct twin *twin, unsigned int order,
			    unsigned long frame, unsigned long color)
{
	unsigned long colors = twin->span.colors;
	unsigned long first = frame % colors;

	/* Of this color is the frame so many colors after the first. */
	if ((color + colors - first) % colors < 1UL << order)
		return 0;
	return (first + colors - color) % colors;
}

bool twin_find(const struct twin *twin, unsigned int list, unsigned int order,
	       unsigned long color, unsigned long *distance,
	       unsigned int *lowest)
{
	bool found = false;

	for (size_t i = 0; i < twin->count; i++) {
		const struct twin_block *block = &twin->blocks[i];
		unsigned long d;

		if (block->list != list || block->order < order)
			continue;
		d = twin_distance(twin, block->order, block->block, color);
		if (found && (d > *distance ||
			      (d == *distance && block->order >= *lowest)))
			continue;
		found = true;
		*distance = d;
		*lowest = block->order;
	}
	return found;
}

bool twin_holding(const struct twin *twin, unsigned int list,
		  unsigned int order, unsigned long frame,
		  unsigned int *lowest)
{
	bool found = false;

	for (size_t i = 0; i < twin->count; i++) {
		const struct twin_block *block = &twin->blocks[i];

		if (block->list != list || block->order < order ||
		    frame >> block->order != block->block >> block->order)
			continue;
		if (found && block->order > *lowest)
			continue;
		found = true;
		*lowest = block->order;
	}
	return found;
}

bool twin_last(const struct twin *twin, unsigned int list, unsigned int order,
	       unsigned int orders, unsigned long frame, unsigned long from,
	       struct twin_block *last)
{
	bool found = false;

	for (size_t i = 0; i < twin->count; i++) {
		const struct twin_block *block = &twin->blocks[i];
		unsigned long own = frame >> block->order << block->order;

		if (own + (1UL << block->order) >
		    twin->span.start + twin->span.frames)
			continue;
		if (block->list != list || block->order < order ||
		    block->order >= orders || block->block < from ||
		    block->block % twin->span.colors != own % twin->span.colors)
			continue;
		if (found && (block->order > last->order ||
			      (block->order == last->order &&
			       block->block < last->block)))
			continue;
		found = true;
		*last = *block;
	}
	return found;
}

unsigned long twin_count(const struct twin *twin, unsigned int list,
			 unsigned long color)
{
	unsigned long count = 0;

	for (size_t i = 0; i < twin->count; i++) {
		const struct twin_block *block = &twin->blocks[i];
		unsigned long end = block->block + (1UL << block->order);

		if (block->list != list)
			continue;
		for (unsigned long frame = block->block; frame < end; frame++)
			count += frame % twin->span.colors == color;
	}
	return count;
}
