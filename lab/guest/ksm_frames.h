/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Where the workers' pages are: frames as in /proc/PID/pagemap, nodes as the kernel
 * reports them, and both compared with the machine's layout in the model: node n
 * begins at base + n * size; memory behind the last node was plugged in later, to that
 * node.
 */
#ifndef HUEPAGE_KSM_FRAMES_H
#define HUEPAGE_KSM_FRAMES_H

#include "ksm.h"
#include "ksmd.h"

#include <stdio.h>
#include <stdlib.h>

struct places {
	uint64_t on[MAX_NODES];     /* pages of all workers, by node */
	uint64_t local;             /* of these, on the node of their worker */
	uint64_t merged[MAX_NODES]; /* different frames behind the shared contents */
	uint64_t hot;               /* of these, in memory that was plugged in */
};

static inline int is_hot(uint64_t address)
{
	return address >= base + nodes * size;
}

static inline uint64_t node_by_layout(uint64_t address)
{
	return is_hot(address) ? nodes - 1 : (address - base) / size;
}

static inline void read_frames(int worker, int area, uint64_t *frames)
{
	char path[64];
	size_t length = pages * sizeof(*frames);

	snprintf(path, sizeof(path), "/proc/%d/pagemap", workers[worker].pid);
	int file = open(path, O_RDONLY);
	uint64_t at = (uintptr_t)areas[area] / PAGE * sizeof(*frames);

	if (file < 0 || pread(file, frames, length, at) != (ssize_t)length)
		lab_fail("read %s", path);
	close(file);
	for (uint64_t page = 0; page < pages; page++) {
		if (!(frames[page] >> 63))
			lab_fail("page %ju of worker %d is not in memory", (uintmax_t)page, worker);
		frames[page] &= (1ULL << 55) - 1;
	}
}

static inline void read_nodes(int worker, int area, int *found)
{
	void **addresses = malloc(pages * sizeof(*addresses));

	if (!addresses)
		lab_fail("no memory for addresses");
	for (uint64_t page = 0; page < pages; page++)
		addresses[page] = areas[area] + page * WORDS;
	if (syscall(SYS_move_pages, workers[worker].pid, pages, addresses, NULL, found, 0))
		lab_fail("move_pages of worker %d", worker);
	free(addresses);
}

static inline int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline struct places find_places(int area)
{
	struct places places = { 0 };
	uint64_t shared = contents * copies, count = 0;
	uint64_t *frames = malloc(pages * sizeof(*frames));
	uint64_t *all = malloc(nodes * shared * sizeof(*all));
	int *found = malloc(pages * sizeof(*found));

	if (!frames || !all || !found)
		lab_fail("no memory for frames");
	for (uint64_t worker = 0; worker < nodes; worker++) {
		read_frames(worker, area, frames);
		read_nodes(worker, area, found);
		for (uint64_t page = 0; page < pages; page++) {
			uint64_t node = node_by_layout(frames[page] * PAGE);

			errno = 0;
			if (found[page] != (int)node)
				lab_fail("frame %#jx is on node %d, not %ju as modelled",
					 (uintmax_t)frames[page], found[page], (uintmax_t)node);
			places.on[node]++;
			places.local += node == worker;
			if (page < shared)
				all[count++] = frames[page];
		}
	}
	qsort(all, count, sizeof(*all), by_number);
	for (uint64_t i = 0; i < count; i++) {
		if (i && all[i] == all[i - 1])
			continue;
		places.merged[node_by_layout(all[i] * PAGE)]++;
		places.hot += is_hot(all[i] * PAGE);
	}
	free(frames);
	free(all);
	free(found);
	return places;
}

/* "1,2,3" of the first `nodes` numbers. */
static inline const char *list(const uint64_t *numbers, char text[200])
{
	int length = 0;

	for (uint64_t i = 0; i < nodes; i++)
		length += snprintf(text + length, 200 - length, "%s%ju", i ? "," : "",
				   (uintmax_t)numbers[i]);
	return text;
}

/* What a kernel with merge domains reports of them. */
struct domains {
	uint64_t of[MAX_NODES]; /* by node, the lowest of its domain */
	uint64_t remote;	/* mappings of pages elsewhere than where theirs was */
};

/* Lines as "nodes 0-1,3 shared 5 sharing 6 saved 24576 remote 2". */
static inline struct domains read_domains(void)
{
	struct domains domains = { 0 };
	FILE *file = fopen(KSM "merge_domains", "r");
	char line[400], list[200];
	uint64_t remote;

	if (!file)
		lab_fail("open merge_domains");
	while (fgets(line, sizeof(line), file)) {
		uint64_t lowest = MAX_NODES;

		if (sscanf(line, "nodes %199s shared %*u sharing %*u saved %*u remote %ju", list,
			   &remote) != 2)
			lab_fail("merge_domains says: %s", line);
		domains.remote += remote;
		for (char *part = strtok(list, ","); part; part = strtok(NULL, ",")) {
			uint64_t from, to;

			if (sscanf(part, "%ju-%ju", &from, &to) < 2)
				to = from;
			if (lowest == MAX_NODES)
				lowest = from;
			for (; from <= to && from < MAX_NODES; from++)
				domains.of[from] = lowest;
		}
	}
	fclose(file);
	return domains;
}

/* The counts of ksmd and the places of an area's pages, as one result. */
static inline void report_state(const char *step, int area)
{
	struct ksm_counts counts = ksm_counts();
	struct places places = find_places(area);
	char on[200], merged[200], of[200], more[700] = "";

	if (strcmp(lab_text("distance"), "none")) {
		struct domains domains = read_domains();

		snprintf(more, sizeof(more),
			 ",\"domain_of\":[%s],\"remote\":%ju,\"distance\":%ju,\"unplaced\":%ju,"
			 "\"spanning\":%ju,\"split\":%ju,\"folded\":%ju,\"moved\":%ju",
			 list(domains.of, of), (uintmax_t)domains.remote,
			 (uintmax_t)lab_read_number(KSM "merge_distance"),
			 (uintmax_t)lab_read_number(KSM "merge_unplaced"),
			 (uintmax_t)lab_read_number(KSM "merge_spanning"),
			 (uintmax_t)lab_read_number(KSM "merge_split"),
			 (uintmax_t)lab_read_number(KSM "merge_folded"),
			 (uintmax_t)lab_read_number(KSM "merge_moved"));
	}
	lab_result("{\"step\":\"%s\",\"shared\":%ju,\"sharing\":%ju,\"chains\":%ju,\"dups\":%ju,"
		   "\"on\":[%s],\"local\":%ju,\"merged\":[%s],\"hot\":%ju%s}",
		   step, (uintmax_t)counts.shared, (uintmax_t)counts.sharing,
		   (uintmax_t)counts.chains, (uintmax_t)counts.dups, list(places.on, on),
		   (uintmax_t)places.local, list(places.merged, merged), (uintmax_t)places.hot,
		   more);
}

#endif
