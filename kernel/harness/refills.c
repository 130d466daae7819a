// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Which frames programs get of memory larger than the lab has: alloc.c, blocks.c and
 * files.c of mm/page_color as they are in the kernel, with what they need. Each scenario
 * builds a memory in which a search may take long, or end too early, lets a program ask
 * for runs of pages as the allocator does, and counts what it is given. `refills [NAME]`:
 * all scenarios, or the one of that name.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "numbers.h"
#include "page_color.h"
#include "space.h"

#define BLOCK_ORDER pageblock_order
#define BLOCK (1UL << BLOCK_ORDER)
#define GIB_FRAMES (1UL << 18)

/* Pages of a run, as the list of a CPU asks for at first. */
#define RUN 63
/* Bits of a count of holders. */
#define PLANES PAGE_COLOR_PLANES_MAX

/* A program that was given nothing so often is not going to get anything. */
#define GIVEN_UP 5000

struct machine {
	struct zone zone;
	struct page_color_zone coloring;
	struct page_color_node node;
	struct page_color_free *free;
	unsigned long frames;
	u32 colors;
};

struct program {
	struct mm_struct mm;
	struct page_color_space *space;
	const struct page_color_set *set;
	struct page_color_run run;
	/* Pages that it has mapped, by color. */
	u16 *mapped;
	unsigned long pages;
};

/* The frames that one call has found. */
struct found {
	struct page_color_part parts[PAGE_COLOR_PARTS];
	unsigned int nr;
};

/*
 * What one call has looked at: words of colors, words of frames, and pageblocks. The
 * functions of free.c and choose.c say when they are called.
 */
static struct looks {
	unsigned int words;
	unsigned int copies;
	unsigned int blocks;
} looks;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	looks.words += function == (void *)page_color_wanted;
	looks.copies += function == (void *)page_color_free_word;
	looks.blocks += function == (void *)page_color_free_in_block;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
}

/* What the tested files need of the rest of the kernel. */

struct task_struct harness_task;
struct page_color_node *page_color_nodes[MAX_NUMNODES];

/* All memory of a scenario goes at its end. */
static struct allocated {
	struct allocated *next;
} *allocated;

static void *zeroed(size_t bytes)
{
	/* Locks are aligned to a cache line, and so is the memory behind this header. */
	size_t size = ALIGN(bytes, 64) + 64;
	struct allocated *memory = aligned_alloc(64, size);

	if (!memory) {
		fprintf(stderr, "no %zu bytes of memory\n", bytes);
		exit(1);
	}
	memset(memory, 0, size);
	memory->next = allocated;
	allocated = memory;
	return (char *)memory + 64;
}

static void free_all(void)
{
	while (allocated) {
		struct allocated *next = allocated->next;

		free(allocated);
		allocated = next;
	}
}

void *kvzalloc(size_t bytes, gfp_t gfp)
{
	return zeroed(bytes);
}

void kvfree(const void *memory)
{
}

/* A machine, as core.c makes it, without a free frame and a held color. */
static struct machine *machine_new(u32 colors, unsigned long frames)
{
	unsigned long chunks = DIV_ROUND_UP(frames, PAGE_COLOR_CHUNK);
	struct machine *machine = zeroed(sizeof(*machine));
	struct page_color_free *free;
	struct page_color_live *live;

	free = zeroed(sizeof(*free) + chunks * sizeof(free->chunk[0]));
	free->chunks = chunks;
	free->block_order = BLOCK_ORDER;
	free->lowest = frames;
	for (unsigned long i = 0; i < chunks; i++)
		free->chunk[i] = zeroed(page_color_chunk_bytes(BLOCK_ORDER));
	live = zeroed(page_color_live_bytes(colors, PLANES));
	page_color_live_init(live, colors, PLANES);
	live->lately = zeroed(page_color_lately_bytes(colors));
	page_color_lately_init(live->lately, colors);
	*machine = (struct machine){
		.zone = { .managed = frames, .page_color = &machine->coloring },
		.coloring = {
			.node = 1,
			.memory = {
				.free = free,
				.colors = colors,
				.copies = frames / colors,
			},
		},
		.node = {
			.id = 1,
			.colors = colors,
			.large = colors / PAGE_COLOR_LARGE,
			.direct = true,
			.live = live,
		},
		.free = free,
		.frames = frames,
		.colors = colors,
	};
	page_color_nodes[0] = &machine->node;
	return machine;
}

/* The frames from @first on, in whole words, are free. */
static void make_free(struct machine *machine, unsigned long first, unsigned long nr)
{
	for (unsigned long frame = first; frame < first + nr; frame += 64)
		page_color_free_set(machine->free, frame, 6);
}

/* All of its searches begin there. */
static void begin_at(struct page_color_space *space, u32 color)
{
	for (unsigned int want = 0; want < PAGE_COLOR_WANTS; want++)
		space->cursor[want] = color;
	space->old_cursor = color;
}

/* A program that is large from the beginning, and has no page yet. */
static struct program *program_new(struct machine *machine)
{
	struct program *program = zeroed(sizeof(*program));

	program->mapped = zeroed(machine->colors * sizeof(program->mapped[0]));
	page_color_add_spaces(&program->mm, machine->node.large);
	program->space = page_color_space(&program->mm, 0, PAGE_COLOR_ANON);
	if (!program->space)
		abort();
	program->space->fresh = false;
	return program;
}

/* Pages of the program that are there when a scenario begins. */
static void has_mapped(struct machine *machine, struct program *program, u32 word,
		       u64 mask)
{
	page_color_take(program->space, machine->node.live, word, mask);
	for (; mask; mask &= mask - 1) {
		program->mapped[64 * word + __ffs64(mask)]++;
		program->pages++;
	}
	program->mm.rss_stat[MM_ANONPAGES].count = program->pages;
}

/* One more program holds colors of a word, and has taken them just now. */
static void another_holds(struct machine *machine, u32 word)
{
	page_color_live_add(machine->node.live, word, ~0ULL);
	page_color_lately_take(machine->node.live->lately, word, ~0ULL);
}

/* Adjusts the level of colors that few hold, which changes by one at a time. */
static void settle(struct machine *machine)
{
	for (int i = 0; i < 1 << PLANES; i++)
		page_color_live_adjust(machine->node.live);
}

static bool is_full(const struct machine *machine, u32 word)
{
	for (unsigned long at = 64UL * word; at < machine->frames; at += machine->colors)
		if (page_color_free_word(machine->free, at))
			return false;
	return true;
}

/*
 * Searches for a program as color_refill() of buddy_pcp.h does. Whether anything was found.
 */
static bool refill(struct machine *machine, struct program *program, unsigned int count,
		   struct found *found)
{
	struct page_color_ask ask = { .space = program->space, .set = program->set };

	current->mm = &program->mm;
	current->page_color.whom = &program->mm;
	page_color_run_begin(&program->run, &ask);
	looks = (struct looks){};
	found->nr = page_color_gather(&machine->zone, &ask, 0, count, found->parts);
	return found->nr;
}

/* Searches for a small program, as color_bulk() does. */
static bool refill_small(struct machine *machine, unsigned int count, struct found *found)
{
	looks = (struct looks){};
	found->nr = page_color_gather_small(&machine->zone, count, found->parts);
	return found->nr;
}

/* Searches for a file, as color_refill() does. */
static bool refill_file(struct machine *machine, unsigned int count, struct found *found)
{
	looks = (struct looks){};
	found->nr = page_color_gather_file(&machine->zone, count, found->parts);
	return found->nr;
}

/* Takes the frames that were found. Returns how many. */
static unsigned int take(struct machine *machine, const struct found *found)
{
	unsigned int taken = 0;

	for (unsigned int i = 0; i < found->nr; i++) {
		const struct page_color_part *part = &found->parts[i];

		page_color_free_clear_mask(machine->free, part->frame, part->mask);
		taken += hweight64(part->mask);
	}
	return taken;
}

/* The same for a file: calls page_color_file_low() as color_refill() does. */
static unsigned int take_file(struct machine *machine, const struct found *found)
{
	unsigned int taken = take(machine, found);

	page_color_file_low(&machine->zone);
	return taken;
}

/*
 * The program maps all of a run. Returns how many pages have a color that it had mapped.
 */
static unsigned long map(struct machine *machine, struct program *program,
			 const struct found *found)
{
	unsigned long again = 0;

	program->pages += take(machine, found);
	for (unsigned int i = 0; i < found->nr; i++) {
		const struct page_color_part *part = &found->parts[i];

		for (u64 mask = part->mask; mask; mask &= mask - 1) {
			unsigned long frame = part->frame + __ffs64(mask);

			again += program->mapped[frame % machine->colors]++ > 0;
		}
	}
	program->mm.rss_stat[MM_ANONPAGES].count = program->pages;
	return again;
}

/* As color_is_mixed() of buddy_pcp.h. */
static bool is_mixed(const struct found *found)
{
	for (unsigned int i = 0; i < found->nr; i++)
		if (!found->parts[i].fresh)
			return true;
	return false;
}

/*
 * The program has not used a run, and gives it back as color_free_run() of buddy_pcp.h does
 * with the pages of a list; here its frames have not been taken.
 */
static void give_back(struct program *program, const struct found *found)
{
	if (is_mixed(found))
		return;
	for (unsigned int i = 0; i < found->nr; i++) {
		const struct page_color_part *part = &found->parts[i];

		for (u64 mask = part->mask; mask; mask &= mask - 1)
			page_color_unmark_frames(program->space,
						 part->frame + __ffs64(mask), 1);
	}
}

/* Prints the line of a scenario for one memory. */
__attribute__((format(printf, 3, 4)))
static bool report(bool good, const char *name, const char *figures, ...)
{
	va_list args;

	printf("%s: ", name);
	va_start(args, figures);
	vprintf(figures, args);
	va_end(args);
	puts(good ? ": ok" : ": FAILED");
	free_all();
	return good;
}

/* What a program was given until it had enough. */
struct course {
	unsigned int calls;
	unsigned int vain;
	/* Pages with a color that the program had mapped already. */
	unsigned long again;
};

/*
 * Searches until the program has so many more pages, or has been given nothing too often.
 */
static struct course refill_until(struct machine *machine, struct program *program,
				  unsigned long more)
{
	unsigned long goal = program->pages + more;
	struct course course = {};
	struct found found;

	while (program->pages < goal && course.vain < GIVEN_UP) {
		course.calls++;
		if (refill(machine, program, RUN, &found))
			map(machine, program, &found);
		else
			course.vain++;
	}
	return course;
}

/*
 * The most calls that may find nothing: a word of colors has more copies than one search
 * looks at, and no free frame. The search must get past it, and not spend a call on each
 * such word.
 */
#define MOST_VAIN 4

/*
 * The page cache of a job whose set is the first eight words of colors has all frames of
 * these. Small programs get pages of the other colors, and then a large one takes a page
 * of each of these.
 */
static bool colors_of_a_job(const char *name, u32 colors, unsigned long gib)
{
	enum { CALLS = 100 };
	const u32 gone = BLOCK;
	struct machine *machine = machine_new(colors, gib * GIB_FRAMES);
	struct program *program = program_new(machine);
	unsigned int vain = 0;
	struct course course;
	struct found found;

	for (unsigned long frame = 0; frame < machine->frames; frame += BLOCK)
		if (frame % colors >= gone)
			make_free(machine, frame, BLOCK);
	machine->coloring.cursor = 0;
	for (int i = 0; i < CALLS; i++) {
		if (refill_small(machine, RUN, &found))
			take(machine, &found);
		else
			vain++;
	}
	begin_at(program->space, 0);
	course = refill_until(machine, program, colors - gone);
	return report(course.vain <= MOST_VAIN && vain <= MOST_VAIN, name,
		"%u colors in %lu GiB, %u of them have no free frame: %u of %u calls "
		"gave nothing, for small ones %u of %u",
		colors, gib, gone, course.vain, course.calls, vain, CALLS);
}

/*
 * Searches for page after page, for a program that has a set from now on. Returns how
 * many calls found nothing.
 */
static unsigned int refill_by_set(struct machine *machine, struct program *program,
				  const struct page_color_set *set, int calls)
{
	unsigned int vain = 0;
	struct found found;

	program->set = set;
	begin_at(program->space, 0);
	while (calls--) {
		if (refill(machine, program, 1, &found))
			map(machine, program, &found);
		else
			vain++;
	}
	return vain;
}

/* A set has two words of colors, of which the first has no free frame. */
static bool colors_of_a_set(const char *name, u32 colors, unsigned long gib)
{
	enum { CALLS = 300, MOST = 2 * MOST_VAIN };
	struct machine *machine = machine_new(colors, gib * GIB_FRAMES);
	struct program *program = program_new(machine);
	struct page_color_set *set = zeroed(sizeof(*set) + sizeof(set->ranges[0]));
	unsigned int vain;

	for (unsigned long frame = 0; frame < machine->frames; frame += 64)
		if (frame % colors)
			make_free(machine, frame, 64);
	*set = (struct page_color_set){ .id = 1, .colors = colors, .nr = 1 };
	set->ranges[0] = (struct page_color_range){ 0, 127 };
	vain = refill_by_set(machine, program, set, CALLS);
	/* After a search that finds nothing for a set the next ones are not made. */
	return report(vain <= MOST, name,
		"%u colors in %lu GiB, a set of 128 of which 64 have no free frame: "
		"%u of %u calls gave nothing", colors, gib, vain, CALLS);
}

static bool one_word_takes_all_looks(const char *name)
{
	bool good = true;

	good &= colors_of_a_job(name, 1024, 64);
	good &= colors_of_a_job(name, 8192, 512);
	good &= colors_of_a_set(name, 512, 64);
	return good;
}

/*
 * A set of words that are far apart: words between them must not be passed one by one.
 * Three quarters of the words have no free frame.
 */
static bool words_outside_of_a_set(const char *name)
{
	enum { COLORS = 4194304, COPIES = 4, WORDS = 16, APART = COLORS / 64 / WORDS };
	enum { CALLS = 1000, MOST = 20 };
	struct machine *machine = machine_new(COLORS, (unsigned long)COLORS * COPIES);
	struct program *program = program_new(machine);
	struct page_color_set *set;
	unsigned int vain;

	set = zeroed(sizeof(*set) + WORDS * sizeof(set->ranges[0]));
	*set = (struct page_color_set){ .id = 1, .colors = COLORS, .nr = WORDS };
	for (u32 i = 0; i < WORDS; i++)
		set->ranges[i] = (struct page_color_range){ 64 * APART * i, 64 * APART * i + 63 };
	for (unsigned long frame = 0; frame < machine->frames; frame += 64)
		if (frame % COLORS >= COLORS / 4 * 3)
			make_free(machine, frame, 64);
	vain = refill_by_set(machine, program, set, CALLS);
	return report(vain <= MOST, name,
		"%u colors, a set of %u words of which %u have a free frame: %u of %u calls "
		"gave nothing, of at most %u", COLORS, WORDS, WORDS / 4, vain, CALLS, MOST);
}

/*
 * Whether a color that the program lacks has a free frame. While only this program takes
 * pages there are fewer and fewer, so the search continues at @from, where the last one
 * has ended.
 */
static bool lacks_free_color(const struct machine *machine, const struct program *program,
			     unsigned long *from)
{
	for (; *from < machine->frames; *from += 64) {
		u32 word = *from % machine->colors / 64;

		if (page_color_free_word(machine->free, *from) &
		    ~page_color_held_word(&program->space->held, word))
			return true;
	}
	return false;
}

/*
 * Searches until the program has so many pages, or no color that it lacks has a free
 * frame. Calls that find nothing are failures, since there was something to find.
 */
static struct course take_lacked(struct machine *machine, struct program *program,
				 unsigned long pages)
{
	struct course course = {};
	unsigned long from = 0;
	struct found found;

	while (program->pages < pages && course.vain < GIVEN_UP &&
	       lacks_free_color(machine, program, &from)) {
		course.calls++;
		if (refill(machine, program, RUN, &found))
			course.again += map(machine, program, &found);
		else
			course.vain++;
	}
	return course;
}

static bool is_seldom_vain(const struct course *course)
{
	return 100 * course->vain < course->calls;
}

/*
 * A program holds all colors but those of one place, which five others hold. Searches for
 * what it lacks find nothing at first, and then must continue where they have found
 * something, although colors that few hold are free everywhere.
 */
static bool lacked_colors_are_far(const char *name)
{
	enum { COLORS = 4194304, COPIES = 4, FIRST = 40000, WORDS = 256, OTHERS = 5 };
	/* One search passes 4,096 words. */
	enum { MOST_AGAIN = COLORS / 64 / 4096 * RUN };
	struct machine *machine = machine_new(COLORS, (unsigned long)COLORS * COPIES);
	struct program *program = program_new(machine);
	struct course course;
	u32 word;

	make_free(machine, 0, machine->frames);
	for (word = 0; word < COLORS / 64; word++) {
		if (word - FIRST >= WORDS)
			has_mapped(machine, program, word, ~0ULL);
		for (int i = 0; word - FIRST < WORDS && i < OTHERS; i++)
			another_holds(machine, word);
	}
	settle(machine);
	begin_at(program->space, 0);
	/* Not all of them: after all colors a program begins a new round. */
	course = take_lacked(machine, program, program->pages + 32 * WORDS);
	return report(course.again <= MOST_AGAIN && !course.vain, name,
		"%u colors, %u of them lacked: of half as many pages %lu have a color again, "
		"of at most %u; %u of %u calls gave nothing", COLORS, 64 * WORDS,
		course.again, MOST_AGAIN, course.vain, course.calls);
}

/*
 * Searches for colors that were not taken lately end after some words, and other searches
 * must still find something: the first program has most of the cache, files have most of
 * the memory, the second program has most of what is left, and the third one the rest.
 */
static bool old_searches_leave_the_cursor(const char *name)
{
	enum { COLORS = 4194304, COPIES = 4 };
	struct machine *machine = machine_new(COLORS, (unsigned long)COLORS * COPIES);
	struct program *first = program_new(machine), *second = program_new(machine);
	struct program *third = program_new(machine);
	struct course of_first, of_second, of_third;
	unsigned long files = 0, goal;
	struct found found;

	make_free(machine, 0, machine->frames);
	of_first = take_lacked(machine, first, COLORS / 10 * 6);
	goal = machine->free->count / 10 * 8;
	while (files < goal && refill_file(machine, 8 * RUN, &found))
		files += take_file(machine, &found);
	of_second = take_lacked(machine, second, COLORS / 10 * 5);
	of_third = take_lacked(machine, third, COLORS / 10 * 3);
	return report(is_seldom_vain(&of_first) && is_seldom_vain(&of_second) &&
		is_seldom_vain(&of_third), name,
		"%u colors: of the calls of three programs %u of %u, %u of %u and "
		"%u of %u gave nothing, and %lu, %lu and %lu pages had a color again, while "
		"colors that they lacked were free", COLORS,
		of_first.vain, of_first.calls, of_second.vain, of_second.calls,
		of_third.vain, of_third.calls, of_first.again, of_second.again,
		of_third.again);
}

/*
 * Other programs hold all colors, and have taken one after the other. The first ones may
 * belong to idle programs: they must be found before the others, and without a look at
 * most words.
 */
static bool programs_at_rest_are_found(const char *name)
{
	enum { COLORS = 4194304, COPIES = 4, MOST_LOOKS = 25 };
	const u32 words = COLORS / 64, rest = words / 4;
	struct machine *machine = machine_new(COLORS, (unsigned long)COLORS * COPIES);
	struct program *program = program_new(machine);
	unsigned long all = 0, calls = 0, at_rest = 0;
	struct found found;

	make_free(machine, 0, machine->frames);
	for (u32 word = 0; word < words; word++)
		another_holds(machine, word);
	settle(machine);
	begin_at(program->space, COLORS / 2);
	for (; program->pages < COLORS / 8; calls++) {
		if (!refill(machine, program, RUN, &found))
			break;
		all += looks.words + looks.copies;
		map(machine, program, &found);
	}
	for (u32 color = 0; color < 64 * rest; color++)
		at_rest += program->mapped[color];
	return report(program->pages >= COLORS / 8 && all <= MOST_LOOKS * calls &&
		10 * at_rest >= 9 * program->pages, name,
		"%u colors that others hold: a run takes a look at %.1f places, of at "
		"most %u; %lu of %lu pages have colors of those at rest for longest",
		COLORS, (double)all / calls, MOST_LOOKS, at_rest, program->pages);
}

/*
 * Files have 30 % of a memory with 4 copies of each word, and so all frames of some
 * colors; other programs hold all colors with a free frame. Even if no good color can be
 * found, one call passes no more words than two searches may look at.
 */
static bool words_have_a_bound(const char *name)
{
	enum { COLORS = 4194304, GIB = 64, PERCENT = 30, CALLS = 200, SLACK = 1024 };
	const unsigned int most = 2 * PAGE_COLOR_SEARCHED + SLACK;
	struct machine *machine = machine_new(COLORS, GIB * GIB_FRAMES);
	struct program *program = program_new(machine);
	unsigned int words = 0, words_small = 0, vain = 0, vain_small = 0;
	struct numbers numbers = { .state = 1 };
	struct found found;

	for (unsigned long frame = 0; frame < machine->frames; frame += BLOCK)
		if (numbers_below(&numbers, 100) >= PERCENT)
			make_free(machine, frame, BLOCK);
	for (u32 word = 0; word < COLORS / 64; word++)
		if (!is_full(machine, word))
			another_holds(machine, word);
	settle(machine);
	begin_at(program->space, 0);
	for (int i = 0; i < CALLS; i++) {
		if (refill(machine, program, RUN, &found))
			map(machine, program, &found);
		else
			vain++;
		words = max(words, looks.words);
	}
	for (int i = 0; i < CALLS; i++) {
		if (refill_small(machine, RUN, &found))
			take(machine, &found);
		else
			vain_small++;
		words_small = max(words_small, looks.words);
	}
	return report(words <= most && words_small <= most, name,
		"%u colors in %u GiB: one call passes up to %u words, of small ones up "
		"to %u, of at most %u; %u and %u of %u calls gave nothing", COLORS, GIB,
		words, words_small, most, vain, vain_small, CALLS);
}

/*
 * Files take the lowest frames. All but the last 8 GiB are in use, and one low frame
 * comes free now and then. A call must not look at all pageblocks between that one and
 * the others.
 */
static bool files_have_a_bound(const char *name)
{
	enum { GIB = 1024, FREE_GIB = 8, CALLS = 1000, APART = 50 };
	/* Once on the way up, for each 4,096 pageblocks; never again. */
	enum { MOST_BLOCKS = 512 + 4096 + 64, MOST_IN_VAIN = GIB * 512 / 4096 + 1 };
	struct machine *machine = machine_new(8192, GIB * GIB_FRAMES);
	unsigned int blocks = 0, in_vain = 0, low = 0;
	unsigned long pages = 0;
	struct found found;

	make_free(machine, (GIB - FREE_GIB) * GIB_FRAMES, FREE_GIB * GIB_FRAMES);
	for (int i = 0; i < CALLS; i++) {
		/* Only after calls for files have reached the free memory. */
		if (i && !(i % APART))
			page_color_free_set(machine->free, 1000 + 7 * low++, 0);
		if (refill_file(machine, RUN, &found))
			pages += take_file(machine, &found);
		else
			in_vain++;
		blocks = max(blocks, looks.blocks);
	}
	return report(blocks <= MOST_BLOCKS && in_vain <= MOST_IN_VAIN, name,
		"%u GiB of which the last %u are free, and %u low frames: one call looks "
		"at up to %u pageblocks, of at most %u; %u calls gave %lu pages, %u of "
		"at most %u nothing", GIB, FREE_GIB, low, blocks, MOST_BLOCKS, CALLS,
		pages, in_vain, MOST_IN_VAIN);
}

/*
 * A program has small pages of a row of colors, and then takes huge pages. While there
 * are other stretches, no huge page may have only colors that the program holds, whether
 * it asked for huge pages or small ones do as well.
 */
static bool huge_pages_beside_a_row(const char *name, unsigned int percent,
				    enum page_color_huge huge)
{
	enum { COLORS = 4194304, COPIES = 4, FAULTS = 64 };
	struct machine *machine = machine_new(COLORS, (unsigned long)COLORS * COPIES);
	struct program *program = program_new(machine);
	struct page_color_ask ask = { .space = program->space };
	struct page_color_blocks blocks = { .order = BLOCK_ORDER };
	unsigned int got = 0, own = 0;

	make_free(machine, 0, machine->frames);
	for (u32 word = 0; word < COLORS / 64UL * percent / 100; word++)
		has_mapped(machine, program, word, ~0ULL);
	settle(machine);
	current->mm = &program->mm;
	current->page_color.whom = &program->mm;
	for (int i = 0; i < FAULTS; i++) {
		unsigned int shared = 0;

		current->page_color.huge = huge;
		if (!page_color_gather_blocks(&machine->zone, &ask, 0, &blocks))
			continue;
		got++;
		for (u32 j = 0; j < BLOCK; j++)
			shared += program->mapped[(blocks.frame + j) % COLORS]++ > 0;
		own += shared == BLOCK;
		page_color_free_clear(machine->free, blocks.frame, BLOCK_ORDER);
		page_color_take_block(program->space, blocks.frame, BLOCK_ORDER,
				      blocks.claimed);
	}
	current->page_color.huge = PAGE_COLOR_HUGE;
	return report(!own && got == FAULTS, name,
		"%u colors, small pages have %u %% of them: of %u faults that %s for a "
		"huge page %u got small ones, and %u a huge one of colors that the "
		"program had",
		COLORS, percent, FAULTS,
		huge == PAGE_COLOR_HUGE ? "ask" : "do not ask", FAULTS - got, own);
}

static bool huge_pages_of_free_colors(const char *name)
{
	static const unsigned int percents[] = { 60, 90 };
	bool good = true;

	for (int i = 0; i < 2; i++) {
		good &= huge_pages_beside_a_row(name, percents[i],
						PAGE_COLOR_HUGE);
		good &= huge_pages_beside_a_row(name, percents[i],
						PAGE_COLOR_HUGE_OR_SMALL);
	}
	return good;
}

/* Pages of a program whose color counts as lacked. */
static unsigned long count_lost(const struct machine *machine,
				const struct program *program)
{
	unsigned long lost = 0;

	for (u32 color = 0; color < machine->colors; color++)
		if (!(page_color_held_word(&program->space->held, color / 64) >>
		      color % 64 & 1))
			lost += program->mapped[color];
	return lost;
}

/*
 * Memory is nearly full, and hardly a free frame has a color that the program lacks: runs
 * have pages of colors that it holds, too. One run in @used is mapped; the others go back
 * unused, which must not unmark the color of a page that is mapped.
 */
static bool runs_of_full_memory(const char *name, unsigned int used)
{
	enum { COLORS = 262144, GIB = 64, RUNS = 200 };
	struct machine *machine = machine_new(COLORS, GIB * GIB_FRAMES);
	struct program *program = program_new(machine);
	unsigned long free = machine->frames / 1000, pages = 0, lost;
	struct numbers numbers = { .state = 1 };
	struct found found;

	for (u32 word = 0; word < COLORS / 64; word++)
		has_mapped(machine, program, word, numbers_chance(&numbers));
	while (free) {
		unsigned long frame = numbers_below(&numbers, machine->frames);

		/* One in a thousand has a color that the program lacks. */
		if (program->mapped[frame % COLORS] || numbers_one_in(&numbers, 1000)) {
			page_color_free_set(machine->free, frame, 0);
			free--;
		}
	}
	begin_at(program->space, 0);
	program->space->marked = 0;
	for (unsigned int i = 0; i < RUNS; i++) {
		if (!refill(machine, program, RUN, &found))
			continue;
		for (unsigned int j = 0; j < found.nr; j++)
			pages += hweight64(found.parts[j].mask);
		if (used && i % used == used - 1)
			map(machine, program, &found);
		else
			give_back(program, &found);
	}
	lost = count_lost(machine, program);
	return report(pages && !lost, name,
		"%u colors in %u GiB: after %u runs of %lu pages, of which %s was used, "
		"%lu of %lu mapped pages have a color that counts as lacked", COLORS,
		GIB, RUNS, pages, used ? "each second one" : "none", lost,
		program->pages);
}

static bool starved_runs_given_back(const char *name)
{
	bool good = true;

	good &= runs_of_full_memory(name, 0);
	good &= runs_of_full_memory(name, 2);
	return good;
}

/*
 * Small programs take runs of small pages and blocks in turn: none may have a color that
 * another program holds, or that one of them was given before. Colors between a run and
 * the next block are not given, so only 3/4 are: the cursor passes all colors once.
 */
static bool blocks_of_small_programs(const char *name)
{
	enum { COLORS = 16384, GIB = 1, ORDER = 4, PAGES = COLORS / 2 };
	struct machine *machine = machine_new(COLORS, GIB * GIB_FRAMES);
	u8 *given = zeroed(COLORS);
	unsigned long pages = 0, again = 0, vain = 0;
	struct page_color_blocks blocks = { .order = ORDER };
	const struct page_color_ask nobody = {};
	struct found found;

	make_free(machine, 0, machine->frames);
	memset(given, true, COLORS - PAGES);
	for (u32 word = 0; word < (COLORS - PAGES) / 64; word++)
		another_holds(machine, word);
	while (pages < PAGES / 4 * 3 && vain < GIVEN_UP) {
		struct page_color_part *part = &found.parts[0];

		vain += !refill_small(machine, RUN, &found);
		pages += take(machine, &found);
		for (unsigned int i = 0; i < found.nr; i++)
			for (u64 mask = found.parts[i].mask; mask; mask &= mask - 1)
				again += given[64 * found.parts[i].word +
					       __ffs64(mask)]++ > 0;
		found.nr = page_color_gather_blocks(&machine->zone, &nobody, 0, &blocks);
		vain += !found.nr;
		if (!found.nr)
			continue;
		part->frame = blocks.frame;
		part->mask = page_color_low_bits(1 << ORDER);
		page_color_free_clear_mask(machine->free, part->frame, part->mask);
		pages += 1 << ORDER;
		for (u32 i = 0; i < 1 << ORDER; i++)
			again += given[(part->frame + i) % COLORS]++ > 0;
	}
	return report(!again && !vain, name,
		"%u colors, of which another program holds %u: of %lu pages of small "
		"ones, in runs and in blocks, %lu have a color that was given before, and "
		"%lu calls gave nothing", COLORS, COLORS - PAGES, pages, again, vain);
}

/*
 * A program takes blocks, and more behind each of them. All of them must be free, and
 * have no color that it or another program holds; colors of others, and frames in use,
 * are between them.
 */
static bool blocks_behind_a_block(const char *name)
{
	enum { COLORS = 16384, GIB = 1, ORDER = 4, SIZE = 1 << ORDER, OF_WORD = 64 / SIZE };
	struct machine *machine = machine_new(COLORS, GIB * GIB_FRAMES);
	struct page_color_blocks blocks = { .order = ORDER };
	struct program *program = program_new(machine);
	struct page_color_ask ask = { .space = program->space };
	unsigned int calls = 0, taken = 0, used = 0, shared = 0;
	struct numbers numbers = { .state = 1 };
	bool *others = zeroed(COLORS / 64);

	for (unsigned long frame = 0; frame < machine->frames; frame += SIZE)
		if (!numbers_one_in(&numbers, 4))
			page_color_free_set(machine->free, frame, ORDER);
	for (u32 word = 0; word < COLORS / 64; word++) {
		others[word] = numbers_one_in(&numbers, 4);
		if (others[word])
			another_holds(machine, word);
		for (u32 i = 0; i < OF_WORD; i++)
			if (numbers_one_in(&numbers, 4))
				has_mapped(machine, program, word,
					   page_color_low_bits(SIZE) << i * SIZE);
	}
	program->space->block_cursor = PAGE_COLOR_NO_CURSOR;
	current->mm = &program->mm;
	current->page_color.whom = &program->mm;
	while (taken < COLORS / SIZE / 4 &&
	       page_color_gather_blocks(&machine->zone, &ask, OF_WORD - 1, &blocks)) {
		u64 frames = page_color_low_bits(SIZE) | blocks.more;

		calls++;
		taken += hweight64(frames) / SIZE;
		for (; frames; frames &= frames - 1) {
			unsigned long frame = blocks.frame + __ffs64(frames);
			unsigned long color = frame % COLORS;

			used += !(page_color_free_word(machine->free, frame) & 1);
			shared += program->mapped[color]++ || others[color / 64];
			page_color_free_clear(machine->free, frame, 0);
		}
		page_color_take_block(program->space, blocks.frame, ORDER,
				      blocks.claimed);
	}
	return report(!used && !shared && taken >= COLORS / SIZE / 4 &&
		      taken >= calls + calls / 2, name,
		"%u colors: of %u blocks of %u frames, in %u calls, %u frames were in use, "
		"and %u have a color that somebody has", COLORS, taken, SIZE, calls, used,
		shared);
}

int main(int argc, char **argv)
{
#define SCENARIO(function) { #function, function }
	static const struct {
		const char *name;
		bool (*run)(const char *name);
	} scenarios[] = {
		SCENARIO(one_word_takes_all_looks),
		SCENARIO(words_outside_of_a_set),
		SCENARIO(old_searches_leave_the_cursor),
		SCENARIO(lacked_colors_are_far),
		SCENARIO(programs_at_rest_are_found),
		SCENARIO(words_have_a_bound),
		SCENARIO(files_have_a_bound),
		SCENARIO(huge_pages_of_free_colors),
		SCENARIO(starved_runs_given_back),
		SCENARIO(blocks_of_small_programs),
		SCENARIO(blocks_behind_a_block),
	};
	bool good = true, any = false;

	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
		if (argc > 1 && strcmp(argv[1], scenarios[i].name))
			continue;
		any = true;
		good &= scenarios[i].run(scenarios[i].name);
		fflush(stdout);
	}
	if (!any)
		fprintf(stderr, "there is no scenario of that name\n");
	return good && any ? 0 : 1;
}
