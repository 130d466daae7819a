// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A virtual machine in which one program touches its pages in order, after some days of
 * other work. Prints the frames that the machine's kernel gave it.
 */
#define _GNU_SOURCE
#include "age.h"
#include "coloring.h"
#include "letters.h"
#include "mixed_load.h"

#define LETTERS 4
#define PER_LINE 768

static void program(size_t pages)
{
	char *memory = small_pages(pages), line[PER_LINE * LETTERS + 1];
	static uint64_t frames[PER_LINE];

	lab_run_on(SUBJECT_CPU);
	touch(memory, pages);
	for (size_t at = 0; at < pages; at += PER_LINE) {
		size_t count = pages - at < PER_LINE ? pages - at : PER_LINE;

		frames_of(memory + at * PAGE, count, frames);
		for (size_t i = 0; i < count; i++)
			letters_put(line + i * LETTERS, frames[i], LETTERS);
		line[count * LETTERS] = 0;
		lab_result("{\"frames\":\"%s\"}", line);
	}
}

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	struct age age = { .random = { lab_number("seed") } };
	const struct age_dose dose = age_dose();

	coloring_check();
	age_days(&age, &dose, lab_number("days"));
	pid_t child = lab_fork();

	if (!child) {
		program(lab_number("frames"));
		_exit(0);
	}
	lab_wait(child, "a child");
	lab_done();
}
