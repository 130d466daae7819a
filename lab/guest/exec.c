// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Runs a program of the host: its files are this guest's, by 9p, and writes stay in
 * memory. Region 1 is all that it executes from its first instruction to its end, with
 * the processes that it starts. When one of these ends, its mappings and the frames
 * behind them are written to the folder "job".
 *
 * Files of that folder: arguments, environment (each ends with a zero byte), directory;
 * made here: stdout, stderr, mappings.
 */
#define _GNU_SOURCE
#include "coloring.h"
#include "exec_mappings.h"
#include "exec_system.h"
#include "exec_trace.h"

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	coloring_check();
	system_mount();
	system_age();
	lab_note("starting the program");

	struct program program = program_read(JOB);
	FILE *mappings = fopen(JOB "/mappings", "w");

	if (!mappings)
		lab_fail("make the file of mappings");
	int status = trace(&program, mappings);

	mappings_write_zeros(mappings);
	if (fclose(mappings))
		lab_fail("write the file of mappings");
	lab_result("{\"exit\":%d,\"signal\":%d}", WIFEXITED(status) ? WEXITSTATUS(status) : 0,
		   WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	lab_done();
}
