// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What happens to merged pages when their environment changes: merge_across_nodes or
 * merge_distance is changed and changed back (event=switch), or memory with merged
 * pages goes offline (event=offline). Every page is verified after each step.
 */
#define _GNU_SOURCE
#include "ksm_frames.h"

#include <dirent.h>

#define MEMORY "/sys/devices/system/memory/"

static void report_wrong(const char *step, int area)
{
	lab_result("{\"step\":\"%s\",\"wrong\":%ju,\"pages\":%ju}", step,
		   (uintmax_t)ask_all(VERIFY, area), (uintmax_t)(pages * nodes));
}

static void switch_knob(int across)
{
	int refused = ksm_switch(!across);
	int kept = lab_read_number(KSM "merge_across_nodes") == (uint64_t)across;

	lab_write(KSM "run", "2");
	report_state("unmerged", 0);
	report_wrong("verified-unmerged", 0);
	int accepted = ksm_switch(!across);

	lab_result("{\"step\":\"switch\",\"refused\":%d,\"kept\":%s,\"accepted\":%d}", refused,
		   kept ? "true" : "false", accepted);
	ksm_settle();
	report_state("merged-again", 0);
	report_wrong("verified", 0);
}

/*
 * Sets another distance while pages are merged: with strict it is refused, else it
 * is accepted and ksmd moves the pages that are in the wrong domain. Contents are
 * read meanwhile.
 */
static void change_distance(const char *to)
{
	char strict[40];

	snprintf(strict, sizeof(strict), "strict %s", to);
	int refused = ksm_set("merge_distance", strict);
	int accepted = ksm_set("merge_distance", to);

	report_state("changed", 0);
	report_wrong("verified-changed", 0);
	ksm_settle();
	lab_result("{\"step\":\"change\",\"refused\":%d,\"accepted\":%d}", refused, accepted);
	report_state("settled", 0);
	report_wrong("verified-settled", 0);
}

/* Changes the distance and changes it back; then all pages are unmerged. */
static void change_distances(void)
{
	change_distance(lab_text("to"));
	change_distance(lab_text("distance"));
	lab_write(KSM "run", "2");
	report_state("unmerged", 0);
	report_wrong("verified-unmerged", 0);
}

/* Blocks of memory that were plugged in, by number; how many there are. */
static uint64_t hot_blocks(uint64_t *blocks, uint64_t room)
{
	char text[32] = "";
	int file = open(MEMORY "block_size_bytes", O_RDONLY);
	struct dirent *entry;
	uint64_t count = 0, number;
	DIR *folder = opendir(MEMORY);

	if (file < 0 || read(file, text, sizeof(text) - 1) <= 0 || !folder)
		lab_fail("read " MEMORY);
	close(file);
	while ((entry = readdir(folder)))
		if (sscanf(entry->d_name, "memory%ju", &number) == 1 &&
		    is_hot(number * strtoull(text, NULL, 16)) && count < room)
			blocks[count++] = number;
	closedir(folder);
	return count;
}

static int online(uint64_t block)
{
	char path[100], state[16] = "";

	snprintf(path, sizeof(path), MEMORY "memory%ju/state", (uintmax_t)block);
	int file = open(path, O_RDONLY);

	if (file < 0 || read(file, state, sizeof(state) - 1) <= 0)
		lab_fail("read %s", path);
	close(file);
	return !strncmp(state, "online", 6);
}

/* The driver plugs the memory in while the guest is already running. */
static uint64_t wait_for_hot(uint64_t *blocks, uint64_t room)
{
	uint64_t expected = lab_number("hot"), count = 0, up = 0;

	for (int turns = 0; turns < 300; turns++) {
		count = hot_blocks(blocks, room);
		up = 0;
		for (uint64_t i = 0; i < count; i++)
			up += online(blocks[i]);
		if (up == expected)
			return count;
		usleep(10000);
	}
	errno = 0;
	lab_fail("%ju of %ju blocks of plugged-in memory are online", (uintmax_t)up,
		 (uintmax_t)expected);
}

/* Others may take pages there while it is emptied: that may need several tries. */
static uint64_t take_offline(uint64_t block)
{
	char path[100];
	uint64_t tries = 0;

	snprintf(path, sizeof(path), MEMORY "memory%ju/state", (uintmax_t)block);
	while (online(block)) {
		int file = open(path, O_WRONLY);

		if (file < 0)
			lab_fail("open %s", path);
		if (write(file, "offline", 7) != 7 && ++tries == 20)
			lab_fail("take memory block %ju offline", (uintmax_t)block);
		close(file);
	}
	return tries;
}

static void lose_memory(uint64_t *blocks, uint64_t count)
{
	uint64_t retries = 0;

	ask(nodes - 1, MOVE, 0, 0);
	for (uint64_t i = 0; i < count; i++)
		retries += take_offline(blocks[i]);
	lab_result("{\"step\":\"offline\",\"blocks\":%ju,\"retries\":%ju}", (uintmax_t)count,
		   (uintmax_t)retries);
	report_state("moved", 0);
	report_wrong("verified-moved", 0);
	ksm_settle();
	report_state("merged-again", 0);
	report_wrong("verified", 0);
	ask_all(FILL, 1);
	ksm_settle();
	report_state("new", 1);
	report_wrong("verified-new", 1);
}

int main(int argc, char **argv)
{
	uint64_t blocks[64], count = 0;

	lab_start(argc, argv);
	int across = lab_number("across"), offline = !strcmp(lab_text("event"), "offline");

	start_workers();
	if (offline)
		count = wait_for_hot(blocks, 64);
	ksm_set_up();
	/*
	 * Of equal pages ksmd keeps one of the process that was the first to declare
	 * its pages mergeable: here that of the last node, which is to lose its
	 * memory.
	 */
	for (uint64_t worker = nodes; worker-- > 0;)
		ask(worker, FILL, 0, 0);
	ksm_settle();
	report_state("merged", 0);
	if (offline) {
		lose_memory(blocks, count);
	} else if (strcmp(lab_text("to"), "none")) {
		change_distances();
	} else {
		switch_knob(across);
		switch_knob(!across);
	}
	lab_done();
}
