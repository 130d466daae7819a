// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Large caches, for which the lab has too little memory: two programs of blocks, one
 * behind the other in colors, and how long a search takes where others, or the program
 * itself, hold a part of each stretch of colors. Simulated; times are those of this
 * machine.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "choose.h"
#include "numbers.h"
#include "words.h"

/* How many frames each color has, and the order of huge pages of 2 MiB. */
#define COPIES 4
#define BLOCK_ORDER 9
#define PLANES 8
#define PAGES_OF_MIB 256

struct program {
	struct page_color_held *held;
	u32 cursor;
};

struct machine {
	struct page_color_memory memory;
	struct page_color_live *live;
	/* How many programs have taken each color. */
	unsigned char *taken;
};

/* Not called: no program has a set. */
u64 page_color_set_word(const struct page_color_set *set, u32 word)
{
	abort();
}

u32 page_color_set_next(const struct page_color_set *set, u32 color)
{
	abort();
}

static void *zeroed(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory) {
		fprintf(stderr, "no %zu bytes of memory\n", bytes);
		exit(1);
	}
	return memory;
}

/* All of its memory is free. */
static struct machine machine_new(u32 colors)
{
	unsigned long frames = (unsigned long)colors * COPIES;
	unsigned long chunks = (frames + PAGE_COLOR_CHUNK - 1) / PAGE_COLOR_CHUNK;
	struct page_color_free *free;
	struct machine machine;

	free = zeroed(sizeof(*free) + chunks * sizeof(free->chunk[0]));
	free->chunks = chunks;
	free->block_order = BLOCK_ORDER;
	for (unsigned long i = 0; i < chunks; i++)
		free->chunk[i] = zeroed(page_color_chunk_bytes(BLOCK_ORDER));
	for (unsigned long frame = 0; frame < frames; frame += 1UL << BLOCK_ORDER)
		page_color_free_set(free, frame, BLOCK_ORDER);
	machine = (struct machine){
		.memory = { .free = free, .colors = colors, .copies = COPIES },
		.live = zeroed(page_color_live_bytes(colors, PLANES)),
		.taken = zeroed(colors),
	};
	page_color_live_init(machine.live, colors, PLANES);
	machine.live->lately = zeroed(page_color_lately_bytes(colors));
	page_color_lately_init(machine.live->lately, colors);
	return machine;
}

static struct program program_new(u32 colors)
{
	struct program program = {
		.held = zeroed(sizeof(*program.held) + page_color_words(colors) * sizeof(u64)),
	};

	program.held->colors = colors;
	return program;
}

static void hold(struct machine *machine, struct program *program, u32 word, u64 mask)
{
	u64 fresh = page_color_held_mark(program->held, word, mask);

	page_color_live_add(machine->live, word, fresh);
	page_color_lately_take(machine->live->lately, word, fresh);
}

static bool search(struct machine *machine, struct program *program, unsigned int order,
		   unsigned long *frame, unsigned int *looks)
{
	struct page_color_wish wish = {
		.held = program->held,
		.live = machine->live,
		.cursor = program->cursor,
		.looks = PAGE_COLOR_SEARCHED,
	};
	u32 before = wish.cursor;
	unsigned int stay;

	if (!page_color_choose_block(&machine->memory, &wish, order, frame, &stay))
		return false;
	/* Moves the cursor as gather_one() does. */
	program->cursor = wish.cursor != before ? wish.cursor :
			  (*frame + (1UL << order)) % machine->memory.colors;
	*looks = PAGE_COLOR_SEARCHED - wish.looks;
	return true;
}

/*
 * The program takes blocks until it has @colors more. Returns the share, in percent, of
 * pages whose color another block had.
 */
static double take(struct machine *machine, struct program *program, unsigned int order,
		   u32 colors, unsigned int *most_looks)
{
	unsigned long size = 1UL << order, frame, pages = 0, shared = 0;
	unsigned int looks;

	for (*most_looks = 0; pages < colors; pages += size) {
		if (!search(machine, program, order, &frame, &looks))
			break;
		*most_looks = looks > *most_looks ? looks : *most_looks;
		page_color_free_clear(machine->memory.free, frame, order);
		for (unsigned long i = frame; i < frame + size; i++)
			shared += machine->taken[i % machine->memory.colors]++ > 0;
		for (unsigned long i = frame; i < frame + size; i += 64)
			hold(machine, program, i % machine->memory.colors / 64,
			     page_color_low_bits(size) << i % 64);
		page_color_live_adjust(machine->live);
	}
	return pages ? 100.0 * shared / pages : 0;
}

/* Whether two programs share hardly a color, since the cache has room for both. */
static bool behind(unsigned int order, u32 colors)
{
	struct machine machine = machine_new(colors);
	struct program first = program_new(colors), other = program_new(colors);
	unsigned int looks;
	double shared;

	take(&machine, &first, order, colors / 10, &looks);
	/* It begins where the first one has ended, as after small pages of both. */
	other.cursor = first.cursor;
	take(&machine, &other, order, colors / 100 * 45, &looks);
	shared = take(&machine, &first, order, colors / 100 * 35, &looks);
	printf("%9u %6u %23.1f %%   %6u\n", colors / PAGES_OF_MIB, 4U << order, shared, looks);
	return shared < 1;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Which colors of each stretch of @size colors are held, and by whom. */
struct kind {
	const char *name;
	bool own;
	bool (*holds)(u32 color, u32 size, struct numbers *numbers);
};

static bool most_of_each(u32 color, u32 size, struct numbers *numbers)
{
	return color % size < size - size / 8;
}

static bool some_anywhere(u32 color, u32 size, struct numbers *numbers)
{
	return numbers_below(numbers, 100) < 30;
}

static bool one_of_each(u32 color, u32 size, struct numbers *numbers)
{
	return color % size == color / size * 7 % size;
}

static void timed(const struct kind *kind, unsigned int order, u32 colors)
{
	enum { SEARCHES = 200 };
	struct machine machine = machine_new(colors);
	struct program program = program_new(colors), other = program_new(colors);
	struct numbers numbers = { .state = 1 };
	unsigned long frame;
	unsigned int looks, all = 0;
	double start;

	for (u32 word = 0; word < page_color_words(colors); word++) {
		u64 mask = 0;

		for (u32 i = 0; i < 64; i++)
			mask |= (u64)kind->holds(64 * word + i, 1U << order, &numbers) << i;
		hold(&machine, kind->own ? &program : &other, word, mask);
	}
	page_color_live_adjust(machine.live);
	start = seconds();
	for (int i = 0; i < SEARCHES; i++) {
		if (!search(&machine, &program, order, &frame, &looks))
			looks = 0;
		all += looks;
	}
	printf("%-40s %6u %8.1f us   %6u\n", kind->name, 4U << order,
	       (seconds() - start) / SEARCHES * 1e6, all / SEARCHES);
}

int main(void)
{
	static const u32 caches[] = { 32768, 4194304 };
	static const unsigned int orders[] = { 4, 9 };
	static const struct kind kinds[] = {
		{ "others hold 7/8 of each stretch", false, most_of_each },
		{ "others hold 30 % of the colors", false, some_anywhere },
		{ "it holds one color of each stretch", true, one_of_each },
		{ "it holds 30 % of the colors", true, some_anywhere },
	};

	bool good = true;

	puts("Of two programs of blocks one has 10 % of the cache when the other takes 45 %. It takes\n"
	     "35 % more: how many of these pages have a color of the other, and the most that one\n"
	     "search looks at.\n\ncache/MiB  block/KiB        shared          places");
	for (int i = 0; i < 4; i++)
		good &= behind(orders[i % 2], caches[i / 2]);
	printf("\nA search among %u colors:\n\n%-40s block/KiB   time      places\n", caches[1], "");
	for (int i = 0; i < 8; i++)
		timed(&kinds[i / 2], orders[i % 2], caches[1]);
	return good ? 0 : 1;
}
