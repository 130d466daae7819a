// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * One worker per node reads its pages, before and after KSM merged them.
 * Regions: 1 before, 2 after, once per worker each, in the order of nodes.
 */
#define _GNU_SOURCE
#include "ksm_frames.h"

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	turns = lab_number("turns");
	start_workers();
	ksm_set_up();
	ask_all(FILL, 0);
	lab_note("pages are filled");
	report_state("unmerged", 0);
	ask_all(READ_BEFORE, 0);
	ksm_settle();
	lab_note("pages are merged");
	report_state("merged", 0);
	ask_all(READ_AFTER, 0);
	lab_result("{\"step\":\"verified\",\"wrong\":%ju,\"pages\":%ju}",
		   (uintmax_t)ask_all(VERIFY, 0), (uintmax_t)(pages * nodes));
	lab_done();
}
