// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The host of two virtual machines: two processes touch as much memory as each machine has,
 * taking turns, after some days of other work. Prints the colors of all of it, in the order
 * of the machine's own frames.
 */
#define _GNU_SOURCE
#include "age.h"
#include "coloring.h"
#include "letters.h"
#include "mixed_load.h"
#include "turns.h"

#define MACHINES 2
/* Pages of a turn: a whole number for both sizes of pages. */
#define TURN (HUGE_PAGE / PAGE)
#define LETTERS 2
#define PER_LINE 1536

static size_t colors, pages;
static uint32_t *color_of[MACHINES];
static struct turns *turns;

/* The half of the colors that is this machine's. */
static void take_set(unsigned int machine)
{
	char list[64];

	snprintf(list, sizeof(list), "%zu-%zu", machine * colors / MACHINES,
		 (machine + 1) * colors / MACHINES - 1);
	lab_write("/proc/thread-self/page_colors", list);
}

static void machine_memory(unsigned int machine, const char *backing, bool sets,
			   struct lab_random *random)
{
	bool huge = !strcmp(backing, "huge");
	char *memory = huge ? any_pages(pages) : small_pages(pages);
	uint32_t *order = lab_map_shared(pages * sizeof(*order));
	static uint64_t frames[TURN];

	lab_run_on(machine);
	for (size_t i = 0; i < pages; i++)
		order[i] = i;
	if (!strcmp(backing, "at-random"))
		lab_shuffle(random, order, pages);
	if (huge && madvise(memory, pages * PAGE, MADV_HUGEPAGE))
		lab_fail("ask for huge pages");
	if (sets)
		take_set(machine);
	for (size_t at = 0; at < pages; at += TURN) {
		turn_wait(turns, machine);
		for (size_t i = at; i < at + TURN; i++)
			touch_page(memory, order[i]);
		turn_pass(turns, machine);
	}
	for (size_t at = 0; at < pages; at += TURN) {
		frames_of(memory + at * PAGE, TURN, frames);
		for (size_t i = 0; i < TURN; i++)
			color_of[machine][at + i] = frames[i] % colors;
	}
}

static void print_colors(unsigned int machine, const char *backing, bool sets)
{
	char line[PER_LINE * LETTERS + 1];

	for (size_t at = 0; at < pages; at += PER_LINE) {
		size_t count = pages - at < PER_LINE ? pages - at : PER_LINE;

		for (size_t i = 0; i < count; i++)
			letters_put(line + i * LETTERS, color_of[machine][at + i], LETTERS);
		line[count * LETTERS] = 0;
		lab_result("{\"backing\":\"%s\",\"sets\":%s,\"machine\":%u,\"colors\":\"%s\"}",
			   backing, sets ? "true" : "false", machine, line);
	}
}

static void host(struct lab_random *random, const char *backing, bool sets)
{
	lab_note("memory %s%s", backing, sets ? ", with sets" : "");
	turns->next = 0;
	for (unsigned int machine = 0; machine < MACHINES; machine++) {
		struct lab_random own = { lab_next(random) };

		if (lab_fork())
			continue;
		machine_memory(machine, backing, sets, &own);
		_exit(0);
	}
	for (unsigned int machine = 0; machine < MACHINES; machine++)
		lab_wait(-1, "a child");
	for (unsigned int machine = 0; machine < MACHINES; machine++)
		print_colors(machine, backing, sets);
}

int main(int argc, char **argv)
{
	static const char *const backings[] = { "in-order", "at-random", "huge" };

	lab_start(argc, argv);
	struct age age = { .random = { lab_number("seed") } };
	const struct age_dose dose = age_dose();
	bool colored = !strcmp(lab_text("coloring"), "on");

	coloring_check();
	colors = lab_number("colors");
	pages = lab_number("frames");
	turns = turns_new(MACHINES);
	for (int machine = 0; machine < MACHINES; machine++)
		color_of[machine] = lab_map_shared(pages * sizeof(**color_of));
	lab_write(THP "enabled", "madvise");
	age_days(&age, &dose, lab_number("days"));
	for (size_t i = 0; i < sizeof(backings) / sizeof(*backings); i++) {
		host(&age.random, backings[i], false);
		if (colored)
			host(&age.random, backings[i], true);
	}
	lab_done();
}
