/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* KSM's settings and counts, and ksmd run until nothing more changes. */
#ifndef HUEPAGE_KSMD_H
#define HUEPAGE_KSMD_H

#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KSM "/sys/kernel/mm/ksm/"

struct ksm_counts {
	uint64_t shared, sharing, chains, dups;
};

static inline struct ksm_counts ksm_counts(void)
{
	return (struct ksm_counts){
		lab_read_number(KSM "pages_shared"),
		lab_read_number(KSM "pages_sharing"),
		lab_read_number(KSM "stable_node_chains"),
		lab_read_number(KSM "stable_node_dups"),
	};
}

/*
 * Scans until several full scans in a row found nothing. Each run of ksmd is
 * one full scan. smart_scan skips pages that were not merged before, for
 * several scans: with it "found nothing" would not mean that there is nothing
 * to merge.
 */
static inline struct ksm_counts ksm_settle(void)
{
	struct ksm_counts last = { 0 }, now;
	int quiet = 0;

	lab_write(KSM "smart_scan", "0");
	lab_write(KSM "pages_to_scan", "100000000");
	lab_write(KSM "sleep_millisecs", "10");
	lab_write(KSM "run", "1");
	for (int scans = 0; quiet < 5; scans++, last = now) {
		uint64_t before = lab_read_number(KSM "full_scans");

		if (scans == 100)
			lab_fail("ksmd still merges after %d full scans", scans);
		while (lab_read_number(KSM "full_scans") == before)
			usleep(10000);
		now = ksm_counts();
		quiet = memcmp(&last, &now, sizeof(now)) ? 0 : quiet + 1;
	}
	lab_write(KSM "run", "0");
	return now;
}

/* The errno of writing to one of KSM's files, 0 if it was accepted. */
static inline int ksm_set(const char *name, const char *value)
{
	char path[100];

	snprintf(path, sizeof(path), KSM "%s", name);
	int file = open(path, O_WRONLY);

	if (file < 0)
		lab_fail("open %s", path);
	ssize_t length = strlen(value);
	int error = write(file, value, length) == length ? 0 : errno;

	close(file);
	return error;
}

static inline int ksm_switch(int across)
{
	return ksm_set("merge_across_nodes", across ? "1" : "0");
}

/* As the command line says: by distance, or everywhere or within nodes. */
static inline void ksm_set_up(void)
{
	const char *distance = lab_text("distance");
	int error = strcmp(distance, "none") ? ksm_set("merge_distance", distance) :
					       ksm_switch(lab_number("across"));

	errno = error;
	if (error)
		lab_fail("say what may be merged");
}

#endif
