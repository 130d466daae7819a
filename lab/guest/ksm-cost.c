// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What ksmd executes for a page that it scans when there is nothing more to merge:
 * half of the pages are merged, half are different. Region 1: some full scans.
 */
#define _GNU_SOURCE
#include "ksm_frames.h"

#define SCANS 5

int main(int argc, char **argv)
{
	lab_start(argc, argv);
	start_workers();
	ksm_set_up();
	ask_all(FILL, 0);
	ksm_settle();
	uint64_t scans = lab_read_number(KSM "full_scans");
	uint64_t pages_before = lab_read_number(KSM "pages_scanned");

	REGION_BEGIN(1);
	lab_write(KSM "run", "1");
	while (lab_read_number(KSM "full_scans") < scans + SCANS)
		usleep(50000);
	lab_write(KSM "run", "0");
	REGION_END(1);
	lab_result("{\"step\":\"cost\",\"scanned\":%ju}",
		   (uintmax_t)(lab_read_number(KSM "pages_scanned") - pages_before));
	lab_done();
}
